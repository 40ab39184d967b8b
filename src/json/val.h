/* val.h - a JSON value as a tree, read as Python's json.loads reads it
 *
 * For what templates see: integers of any size keep their digits, 1.0 stays a float, 1e400 is inf,
 * "-0" is 0, keys keep their order, a repeated key keeps its first place and its last value, a lone
 * surrogate escape is U+FFFD (counted), NUL is a character. The tree lives in the caller's arena;
 * strings without escapes point into the text, which must live as long.
 */
#ifndef E3_VAL_H
#define E3_VAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct arena;
struct err;

enum jkind { J_NULL, J_FALSE, J_TRUE, J_INT, J_BIG, J_REAL, J_STR, J_ARR, J_OBJ };

struct jval {
	enum jkind kind;
	uint32_t origin; /* of a string: where its characters came from, for spans; 0 is nowhere.
			  * Set by chat/, carried by jinja/; json/ leaves it 0. */
	union {
		int64_t i;     /* J_INT */
		double d;      /* J_REAL */
		struct span s; /* J_STR decoded; J_BIG its digits with sign */
		struct {
			struct jval *v;
			size_t n;
		} arr;
		struct {
			struct jmember *m;
			size_t n;
		} obj;
	} u;
};

struct jmember {
	struct span key;
	struct jval val;
};

/* The text must be one whole JSON value. Also accepts Python's NaN, Infinity, -Infinity when
 * `lax`, as json.loads does. `lone` (may be NULL) counts replaced surrogates. Class "json". */
int val_parse(
    struct jval *out, struct span text, int lax, struct arena *a, size_t *lone, struct err *e);

struct jval *val_get(const struct jval *obj, const char *key); /* NULL: no object, no such key */
int val_is_str(const struct jval *v, const char *s);

/* Python's json.dumps(v, ensure_ascii=False). style NULL: ", " and ": ", on one line. */
struct val_style {
	const char *item,
	    *key;   /* separators; NULL: Python's, "," with an indent, else ", "; ": " */
	int indent; /* spaces a level; -1: none */
	int ascii;  /* ensure_ascii */
	int sort;   /* sort_keys, by code point */
};
void val_write(struct buf *out, const struct jval *v, const struct val_style *style);

#endif
