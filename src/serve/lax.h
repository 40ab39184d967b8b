/* lax.h - a reply's JSON, walked without a tree
 *
 * Servers' replies are read leniently where it costs nothing: NaN, odd numbers, lone surrogates or
 * bytes that are not UTF-8 in a member that nobody needs must not cost an answer of ten minutes.
 * Strict is what tells a whole reply from a cut one: strings end, brackets match, nothing follows.
 * Any depth; nothing is allocated; spans point into the text.
 */
#ifndef E3_SERVE_LAX_H
#define E3_SERVE_LAX_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

#define LAX_DEPTH 1024 /* as deep as brackets are told apart */

/* The one value that text consists of, without the blanks around it. -1: cut, or something else. */
int lax_whole(struct span text, struct span *value);

/* Walks a value that lax_whole (or these) gave: members of an object, elements of an array. */
struct lax {
	const char *p, *end;
};
void lax_begin(struct lax *s, struct span value);
int lax_member(struct lax *s, struct span *key, struct span *val); /* 1, 0 at the end */
int lax_element(struct lax *s, struct span *val);		   /* 1, 0 at the end */

/* Members by name, the last of a repeated one; p NULL where there is none, or null. */
struct lax_field {
	const char *name;
	size_t at; /* offset of a struct span in `into` */
};
void lax_fields(struct span object, const struct lax_field *f, size_t n, void *into);
struct span lax_get(struct span object, const char *name);

/* Whether a value is strict JSON in UTF-8: what may be decoded, or put into a record. */
int lax_strict(struct span v, struct err *e);

int64_t lax_int(struct span v, int64_t otherwise); /* also of a whole float: 12.0 */
int lax_is(struct span v, const char *s);	   /* the JSON string s */
/* A strict string decoded and cut to fit; empty where it is none. Control characters become '?'. */
void lax_text(char *out, size_t size, struct span v);

#endif
