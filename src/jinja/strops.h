/* strops.h - Python's str methods, for methods and filters alike
 *
 * Every string that comes out keeps the origins of what it was made from.
 */
#ifndef E3_JINJA_STROPS_H
#define E3_JINJA_STROPS_H

#include "jinja/value.h"

enum strip_side { STRIP_LEFT = 1, STRIP_RIGHT = 2, STRIP_BOTH = 3 };
enum str_case { CASE_LOWER, CASE_UPPER, CASE_CAPITALIZE, CASE_TITLE, CASE_SWAP };

/* chars NULL: white space, else the set of characters. */
int str_strip(struct rt *rt, const struct value *s, const struct value *chars, enum strip_side side,
    struct value *out);
int str_case(struct rt *rt, const struct value *s, enum str_case to, struct value *out);

struct str_replacement {
	struct value old, new;
	int64_t count; /* at most; below 0: all */
};
int str_replace(
    struct rt *rt, const struct value *s, const struct str_replacement *r, struct value *out);

struct str_cuts {
	const struct value *sep; /* NULL: runs of white space */
	int64_t max;		 /* cuts at most; below 0: all */
	int right;		 /* from the right end */
};
int str_split(struct rt *rt, const struct value *s, const struct str_cuts *cuts, struct value *out);
int str_lines(struct rt *rt, const struct value *s, int keep_ends, struct value *out);
int str_join(struct rt *rt, const struct value *sep, const struct value *items, int convert,
    struct value *out);

#endif
