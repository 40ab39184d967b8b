/* rec.h - the lazy record: a line scanned once, its members as spans of the line
 *
 * A record is one JSON object (RFC 8259) in UTF-8. rec_parse checks the whole line - grammar,
 * UTF-8, nesting at most JSON_MAX_DEPTH - and notes where the top-level members stand, without
 * decoding anything. What a program does not ask for is passed on byte for byte: numbers keep their
 * spelling, keys their order, big integers their digits. Lone surrogate escapes and any number are
 * legal here; they cost only who decodes them. NaN and Infinity are no JSON and are refused.
 *
 * A repeated key means its last value, at its first place, as Python reads it; keys are compared
 * after undoing escapes.
 *
 *	struct rec r = {0};
 *	for each line {
 *		if (rec_parse(&r, line, n, &e) < 0) -> e.class "json" or "utf8"
 *		v = rec_get(&r, "input_ids");		a span, or p NULL
 *	}
 *	rec_free(&r);
 *
 * Spans point into the line.
 */
#ifndef E3_REC_H
#define E3_REC_H

#include "base/buf.h"

struct arena;
struct err;

#define JSON_MAX_DEPTH 2048

struct rec_member {
	struct span key; /* between its quotes, as spelled */
	struct span val; /* the value's bytes */
};

struct rec {
	struct span line;
	struct rec_member *m;
	size_t n, cap;
	int surrogate; /* it has escapes of surrogates, in pairs or alone */
	int escaped;   /* it has keys with escapes */
};

int rec_parse(struct rec *r, const char *p, size_t n, struct err *e);
void rec_free(struct rec *r);

struct span rec_get(const struct rec *r, const char *name); /* p is NULL where there is none */
int span_is_null(struct span v);			    /* no such member, or null */

/* A copy of the record in which members are changed: a value that is there is replaced in place,
 * a new one is added at the end; value.p NULL takes the member away (all its repetitions). All
 * other bytes stay. */
struct rec_edit {
	const char *name;
	struct span value; /* JSON text */
};
void rec_copy(struct buf *out, const struct rec *r, const struct rec_edit *edits, size_t n);

/* Decodes a JSON string to UTF-8. A surrogate without its other half becomes U+FFFD and is counted
 * in *lone (may be NULL). -1: not a string. */
int json_str(struct buf *out, struct span v, size_t *lone);
/* The same of a literal that is known to be one, without a copy where it has no escapes: else in the
 * arena. */
struct span json_text(struct span v, struct arena *a, size_t *lone);
/* The same two of what stands between the quotes of a literal, or of a piece of it that cuts no
 * escape. */
static inline struct span json_inside(struct span v)
{
	return (struct span){v.p + 1, v.n - 2};
}
void json_piece(struct buf *out, struct span s, size_t *lone);
struct span json_piece_text(struct span s, struct arena *a, size_t *lone);

/* As json_str for a member that must be a string: class "missing" or "type", message
 * "NAME: expected a string, not a number". */
int rec_str(const struct rec *r, const char *name, struct buf *out, struct err *e);

/* JSON inside of text that is known to be UTF-8. json_whole: whether the text is one value; *v is
 * it, without the blanks around. json_end: past the value that the text begins with, or NULL.
 * *surrogate as in struct rec; may be NULL. */
int json_whole(struct span text, struct span *v, int *surrogate);
const char *json_end(struct span text, int *surrogate);

/* "an object", "a string", "null" ...: for messages. */
const char *json_kind(struct span v);

#endif
