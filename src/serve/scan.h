/* scan.h - a reply's JSON, walked without a tree
 *
 * Servers' replies are read leniently where it costs nothing: NaN, odd numbers, lone surrogates or
 * bytes that are not UTF-8 in a member that nobody needs must not cost an answer of ten minutes.
 * Strict is what tells a whole reply from a cut one: strings end, brackets match, nothing follows.
 * Depth at most SCAN_DEPTH; nothing is allocated; spans point into the text.
 */
#ifndef E3_SERVE_SCAN_H
#define E3_SERVE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SCAN_DEPTH 1024

/* The one value that text consists of, without the blanks around it. -1: cut, or something else. */
int scan_whole(struct span text, struct span *value);

/* Walks a value that scan_whole (or these) gave: members of an object, elements of an array. */
struct scan {
	const char *p, *end;
};
void scan_begin(struct scan *s, struct span value);
int scan_member(struct scan *s, struct span *key, struct span *val); /* 1, 0 at the end */
int scan_element(struct scan *s, struct span *val);		     /* 1, 0 at the end */

/* Members by name, the last of a repeated one; p NULL where there is none, or null. */
struct scan_field {
	const char *name;
	size_t at; /* offset of a struct span in `into` */
};
void scan_fields(struct span object, const struct scan_field *f, size_t n, void *into);
struct span scan_get(struct span object, const char *name);

int64_t scan_int(struct span v, int64_t otherwise); /* also of a whole float: 12.0 */
double scan_num(struct span v, double otherwise);
int scan_is(struct span v, const char *s); /* the JSON string s */
/* A string decoded and cut to fit; empty where it is none. Control characters become '?'. */
void scan_text(char *out, size_t size, struct span v);

#endif
