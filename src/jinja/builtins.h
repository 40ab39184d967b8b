/* builtins.h - what templates can call: filters, tests, global functions, methods
 *
 * One const table each. A callable's parameters stand in its table entry, so that binding and its
 * errors are one function (call_bind).
 */
#ifndef E3_JINJA_BUILTINS_H
#define E3_JINJA_BUILTINS_H

#include "jinja/value.h"

#define MAX_PARAMS 6

struct kwarg {
	struct span name;
	struct value v;
};

struct args {
	const struct value *v;
	size_t n;
	const struct kwarg *kw;
	size_t nkw;
};

struct call {
	const struct value *self;     /* a filter's or test's operand, a method's object */
	struct value arg[MAX_PARAMS]; /* V_MISSING: not given */
	const struct args *raw;
};

struct callable {
	const char *name;
	int (*fn)(struct rt *rt, const struct call *c, struct value *out);
	const char *params; /* "a,b,c"; "/a,b,c": not by name; NULL: it reads call.raw itself */
	uint8_t min;	    /* so many of them must be given */
};

const struct callable *filter_find(struct span name);
const struct callable *test_find(struct span name);
const struct callable *func_find(struct span name);

/* The method of a value, or NULL. fn may be method_refused (the sandbox's) or method_unsupported:
 * Python has it, we don't. */
const struct callable *method_find(const struct value *of, struct span name);
int attr_is_key(struct span name); /* no dict has it as an attribute */
int method_refused(struct rt *rt, const struct call *c, struct value *out);
int method_unsupported(struct rt *rt, const struct call *c, struct value *out);

/* The tables, each ended by an entry without a name. */
extern const struct callable filters_text[], filters_seq[], filters_number[], filters_pick[];
extern const struct callable methods_str[], methods_str_find[], methods_dict[], methods_list[],
    methods_tuple[], methods_loop[];

const struct callable *callable_find(const struct callable *table, struct span name);

/* ---- for the functions in the tables ---- */

/* The argument as a string (text_str), an int, a flag; or what it is when it was not given. */
int arg_int(struct rt *rt, const struct call *c, size_t i, int64_t or_else, int64_t *out);
int arg_truth(struct rt *rt, const struct call *c, size_t i, int or_else);
int arg_str(struct rt *rt, const struct call *c, size_t i, struct value *out); /* must be one */
int arg_given(const struct call *c, size_t i);				       /* and not None */

/* Follows "a.b.0" into a value, as the attribute argument of filters does. */
int attr_path(struct rt *rt, const struct value *of, const struct value *path, struct value *out);

/* Strings in lower case, other values as they are: how filters ignore case. */
int fold_case(struct rt *rt, struct value *v);

/* A stable sort of n values by their keys. */
int sort_values(struct rt *rt, struct value *v, struct value *key, size_t n, int reverse);

int tojson(struct rt *rt, const struct call *c, struct value *out);
/* "..." % args, str.format */
int format_percent(
    struct rt *rt, const struct value *fmt, const struct value *args, struct value *out);
int format_braces(
    struct rt *rt, const struct value *fmt, const struct args *args, struct value *out);

#endif
