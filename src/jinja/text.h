/* text.h - strings and where their characters came from
 *
 * A string is a borrowed piece of bytes with one origin, or a piece of a store that knows several.
 * A store only grows behind its end, so strings that share it never change; appending to a string
 * that ends where its store ends costs the new bytes only, which keeps loops of `s = s + x` linear
 * (a store that is full moves to one twice as large).
 */
#ifndef E3_JINJA_TEXT_H
#define E3_JINJA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "jinja/value.h"

struct rt;

struct text_run {
	size_t end; /* in the store */
	uint32_t origin;
};

struct store {
	char *data;
	size_t len, cap;
	struct text_run *run;
	size_t nrun, caprun;
};

/* Building: text_begin, text_add ..., text_end. Errors are kept until text_end. */
struct text {
	struct rt *rt;
	struct store *b;
	size_t at; /* where it begins in the store */
	int bad;
};

void text_begin(struct text *t, struct rt *rt, size_t expect);
void text_append(struct text *t, struct rt *rt, const struct value *s, size_t more);
void text_add(struct text *t, const char *p, size_t n, uint32_t origin);
void text_puts(struct text *t, const char *s);	       /* origin 0 */
void text_addv(struct text *t, const struct value *s); /* a string, with its runs */
void text_sub(struct text *t, const struct value *s, size_t at, size_t n); /* a piece of one */
int text_end(struct text *t, struct value *out);

/* n bytes of s from `at`. */
void text_slice(const struct value *s, size_t at, size_t n, struct value *out);

/* The run of s at byte `at`: bytes to its end and its origin. 0 at the end of s. */
struct text_piece {
	const char *p;
	size_t n;
	uint32_t origin;
};
int text_piece(const struct value *s, size_t at, struct text_piece *out);

int text_concat(struct rt *rt, const struct value *a, const struct value *b, struct value *out);

/* s with & < > " ' escaped and marked safe, as Markup does; a safe string as it is. */
int text_escape(struct rt *rt, const struct value *s, struct value *out);

/* Python's str() and repr(). */
int text_str(struct rt *rt, const struct value *v, struct value *out);
void text_repr(struct text *t, const struct value *v);

/* ---- searching and code points (bytes are valid UTF-8) ---- */

#define TEXT_NONE ((size_t)-1)
size_t text_find(struct rt *rt, struct span hay, struct span needle, size_t from);
size_t text_rfind(struct rt *rt, struct span hay, struct span needle);
int text_is_space(uint32_t cp);			 /* str.isspace of one character */
size_t text_space_left(struct span s);		 /* bytes of white space at the start */
size_t text_space_right(struct span s);		 /* ... at the end */
size_t text_last(struct span s, uint32_t *cp);	 /* the last character: its length; s not empty */
size_t text_offset(struct span s, size_t chars); /* byte offset behind so many characters */

#endif
