/* value.h - what templates compute with: Python's values
 *
 * A struct value is 32 bytes and copied freely; what it points to lives in the rendering's arena
 * (or in the template, or in the context) and never changes once a template can see it: the
 * sandbox refuses every method that would change a list or a dict. Only namespaces, loops and
 * iterators change.
 *
 * Context trees become values a container at a time, when a template first looks inside.
 *
 * Knows the language's semantics, not its syntax.
 */
#ifndef E3_JINJA_VALUE_H
#define E3_JINJA_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct rt;
struct jval;
struct store;
struct callable;

enum vkind {
	V_MISSING, /* no value: an argument not given, a variable not set; templates never see it */
	V_UNDEF,
	V_NONE,
	V_BOOL,
	V_INT,
	V_BIG, /* an integer beyond 64 bits: its digits */
	V_FLOAT,
	V_STR,
	V_LIST,
	V_TUPLE,
	V_DICT,
	V_RANGE,
	V_VIEW, /* dict.keys(), .values(), .items() */
	V_ITER, /* a generator: can be walked once */
	V_NAMESPACE,
	V_MACRO,
	V_FUNC,	  /* a global function */
	V_METHOD, /* a method with its object */
	V_LOOP,
};

enum {
	STR_RUNS = 1, /* several origins: they stand in the store */
	STR_SAFE = 2, /* Markup: + and some methods escape what they add */
};

enum undef_kind { UNDEF_NAME, UNDEF_ATTR, UNDEF_ELEM, UNDEF_HINT, UNDEF_UNSAFE };
enum view_kind { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS };

struct value {
	uint8_t kind;
	uint8_t flags;	 /* V_STR: STR_*; V_UNDEF: undef_kind; V_VIEW: view_kind */
	uint32_t origin; /* V_STR without STR_RUNS; V_UNDEF: the vkind it was looked for in */
	union {
		int64_t i; /* V_BOOL, V_INT */
		double d;
		struct {
			const char *p;
			size_t n;
			struct store *b; /* where it lives when built here; else NULL */
		} s; /* V_STR, V_BIG; V_UNDEF: the name (UNDEF_ELEM: the index in n) */
		struct list *list; /* V_LIST, V_TUPLE */
		struct dict *dict; /* V_DICT, V_VIEW, V_NAMESPACE */
		struct range *range;
		struct iter *iter;
		struct macro *macro;
		struct loop *loop;
		struct bound *bound;
		const struct callable *func;
	} u;
};

struct list {
	struct value *v;
	size_t n;
	const struct jval *src; /* not looked into yet */
	const struct jval *of;	/* what it is of the context, or NULL */
};

struct range {
	int64_t start, stop, step;
	size_t n;
};

struct bound {
	struct value self;
	const struct callable *method;
};

struct macro {
	const struct node *def;
	struct frame *outer;
};

/* A constant for static tables and initialisers. */
#define STR_LITERAL(text)                                                        \
	{                                                                        \
		.kind = V_STR, .u = {.s = {.p = (text), .n = sizeof(text) - 1} } \
	}

static inline void value_none(struct value *out)
{
	*out = (struct value){.kind = V_NONE};
}

static inline void value_bool(struct value *out, int b)
{
	*out = (struct value){.kind = V_BOOL, .u.i = b};
}

static inline void value_int(struct value *out, int64_t i)
{
	*out = (struct value){.kind = V_INT, .u.i = i};
}

static inline void value_float(struct value *out, double d)
{
	*out = (struct value){.kind = V_FLOAT, .u.d = d};
}

/* Borrowed. */
static inline void value_str(struct value *out, const char *p, size_t n)
{
	*out = (struct value){.kind = V_STR, .u.s = {p, n, NULL}};
}

void value_undef(struct value *out, enum undef_kind kind, const char *p, size_t n);
void value_of_json(struct rt *rt, const struct jval *j, struct value *out);

/* A list or tuple of n values to be filled in. */
struct value *value_list(struct rt *rt, enum vkind kind, size_t n, struct value *out);
void list_open(struct rt *rt, struct list *l); /* makes its elements from src */

const char *value_type(const struct value *v); /* Python's name of the type, for messages */
int value_truth(struct rt *rt, const struct value *v);
int value_is_int(const struct value *v, int64_t *i); /* an int of 64 bits, or a bool */
int value_is_str(const struct value *v, const char *s);
int value_same(const struct value *a, const struct value *b); /* Python's `is` */

/* 1, 0, or -1 for an error. */
int value_eq(struct rt *rt, const struct value *a, const struct value *b);
int value_contains(struct rt *rt, const struct value *seq, const struct value *item);

/* a OP b as -1, 0, 1 in *order; 2 where a float is not a number. Returns -1 for kinds that have
 * no order. */
int value_order(struct rt *rt, const struct value *a, const struct value *b, int *order);

/* Python's len(). */
int value_len(struct rt *rt, const struct value *v, size_t *n);

/* Fails with what is undefined about v. */
int value_fail_undef(struct rt *rt, const struct value *v);

/* ---- dicts: insertion order, any hashable key ---- */

struct pair {
	struct value key, val;
};

struct dict {
	struct pair *p;
	size_t n, cap;
	uint32_t *slot; /* index into p plus 1, by hash; NULL while it is small */
	size_t nslot;
	const struct jval *src; /* not looked into yet */
	const struct jval *of;	/* what it is of the context, or NULL */
	uint32_t born, number;	/* a namespace: memo.h's iteration that made it, which one it is */
};

struct dict *dict_new(struct rt *rt, size_t cap);
void dict_read(struct rt *rt, struct dict *d);

/* Before its pairs are looked at. */
static inline void dict_open(struct rt *rt, struct dict *d)
{
	if (d->src)
		dict_read(rt, d);
}

/* The value of a key or NULL. A key that can't be hashed: NULL and *bad is 1. */
struct value *dict_find(struct rt *rt, struct dict *d, const struct value *key, int *bad);
struct value *dict_find_str(struct rt *rt, struct dict *d, const char *p, size_t n);
int dict_set(struct rt *rt, struct dict *d, const struct value *key, const struct value *val);
int value_hash(struct rt *rt, const struct value *v, uint64_t *hash); /* -1: not hashable */

#endif
