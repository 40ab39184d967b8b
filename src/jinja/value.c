#include "jinja/value.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"
#include "json/val.h"

void value_undef(struct value *out, enum undef_kind kind, const char *p, size_t n)
{
	*out = (struct value){.kind = V_UNDEF, .flags = (uint8_t)kind, .u.s = {p, n, NULL}};
}

struct value *value_list(struct rt *rt, enum vkind kind, size_t n, struct value *out)
{
	struct list *l = rt_alloc(rt, sizeof(*l));

	*l = (struct list){.v = rt_array(rt, n, sizeof(*l->v)), .n = n};
	*out = (struct value){.kind = (uint8_t)kind, .u.list = l};
	return l->v;
}

void value_of_json(struct rt *rt, const struct jval *j, struct value *out)
{
	switch (j->kind) {
	case J_NULL: value_none(out); break;
	case J_FALSE:
	case J_TRUE: value_bool(out, j->kind == J_TRUE); break;
	case J_INT: value_int(out, j->u.i); break;
	case J_REAL: value_float(out, j->u.d); break;
	case J_STR:
		value_str(out, j->u.s.p, j->u.s.n);
		out->origin = j->origin;
		break;
	case J_BIG:
		value_str(out, j->u.s.p, j->u.s.n);
		out->kind = V_BIG;
		break;
	case J_ARR:
		*out = (struct value){.kind = V_LIST, .u.list = rt_alloc(rt, sizeof(struct list))};
		*out->u.list = (struct list){.n = j->u.arr.n, .src = j, .of = j};
		break;
	case J_OBJ:
		*out = (struct value){.kind = V_DICT, .u.dict = rt_alloc(rt, sizeof(struct dict))};
		*out->u.dict = (struct dict){.n = j->u.obj.n, .src = j, .of = j};
		break;
	}
}

void list_open(struct rt *rt, struct list *l)
{
	const struct jval *src = l->src;

	if (!src)
		return;
	l->v = rt_array(rt, l->n, sizeof(*l->v));
	for (size_t i = 0; i < l->n; i++)
		value_of_json(rt, &src->u.arr.v[i], &l->v[i]);
	l->src = NULL;
}

const char *value_type(const struct value *v)
{
	static const char *const name[] = {
	    [V_MISSING] = "missing",
	    [V_UNDEF] = "Undefined",
	    [V_NONE] = "None",
	    [V_BOOL] = "bool",
	    [V_INT] = "int",
	    [V_BIG] = "int",
	    [V_FLOAT] = "float",
	    [V_STR] = "str",
	    [V_LIST] = "list",
	    [V_TUPLE] = "tuple",
	    [V_DICT] = "dict",
	    [V_RANGE] = "range",
	    [V_VIEW] = "dict view",
	    [V_ITER] = "generator",
	    [V_NAMESPACE] = "namespace",
	    [V_MACRO] = "macro",
	    [V_FUNC] = "function",
	    [V_METHOD] = "method",
	    [V_LOOP] = "loop",
	};

	return name[v->kind];
}

int value_truth(struct rt *rt, const struct value *v)
{
	size_t n;

	switch (v->kind) {
	case V_MISSING:
	case V_UNDEF:
	case V_NONE: return 0;
	case V_BOOL:
	case V_INT: return v->u.i != 0;
	case V_FLOAT: return v->u.d != 0;
	case V_STR: return v->u.s.n > 0;
	case V_LIST:
	case V_TUPLE: return v->u.list->n > 0;
	case V_DICT:
	case V_VIEW: return v->u.dict->n > 0;
	case V_RANGE: return v->u.range->n > 0;
	case V_LOOP: return value_len(rt, v, &n) < 0 ? 0 : n > 0;
	default: return 1;
	}
}

int value_is_int(const struct value *v, int64_t *i)
{
	if (v->kind != V_INT && v->kind != V_BOOL)
		return 0;
	*i = v->u.i;
	return 1;
}

int value_is_str(const struct value *v, const char *s)
{
	size_t n = strlen(s);

	return v->kind == V_STR && v->u.s.n == n && memcmp(v->u.s.p, s, n) == 0;
}

/* CPython keeps one object each of None, the bools and the ints from -5 to 256. */
int value_same(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case V_NONE: return 1;
	case V_BOOL: return a->u.i == b->u.i;
	case V_INT: return a->u.i == b->u.i && a->u.i >= -5 && a->u.i <= 256;
	case V_STR: return a->u.s.p == b->u.s.p && a->u.s.n == b->u.s.n;
	case V_FLOAT:
	case V_BIG:
	case V_UNDEF: return 0;
	default: return a->u.list == b->u.list;
	}
}

int value_len(struct rt *rt, const struct value *v, size_t *n)
{
	switch (v->kind) {
	case V_UNDEF: *n = 0; return 0;
	case V_STR: *n = utf8_count(v->u.s.p, v->u.s.n); return rt_step(rt, v->u.s.n);
	case V_LIST:
	case V_TUPLE: *n = v->u.list->n; return 0;
	case V_DICT:
	case V_VIEW: *n = v->u.dict->n; return 0;
	case V_RANGE: *n = v->u.range->n; return 0;
	case V_LOOP: return loop_length(rt, v->u.loop, n);
	default: return rt_fail(rt, "a value of type '%s' has no length", value_type(v));
	}
}

int value_contains(struct rt *rt, const struct value *seq, const struct value *item)
{
	struct iter mem, *it;
	struct value v;
	int bad = 0, more;

	if (seq->kind == V_STR) {
		struct span hay = {seq->u.s.p, seq->u.s.n}, needle = {item->u.s.p, item->u.s.n};

		if (item->kind != V_STR)
			return rt_fail(rt, "'in' a string needs a string on its left, not '%s'",
			    value_type(item));
		return rt_step(rt, 0) < 0 ? -1 : text_find(rt, hay, needle, 0) != TEXT_NONE;
	}
	if (seq->kind == V_DICT || (seq->kind == V_VIEW && seq->flags == VIEW_KEYS)) {
		int found = dict_find(rt, seq->u.dict, item, &bad) != NULL;

		if (bad)
			return rt_fail(rt, "a value of type '%s' can't be a key", value_type(item));
		return found;
	}
	it = iter_open(rt, seq, &mem);
	if (!it)
		return -1;
	while ((more = iter_next(rt, it, &v)) > 0) {
		int eq = value_same(&v, item) ? 1 : value_eq(rt, &v, item);

		if (eq != 0)
			return eq;
	}
	return more;
}

int value_fail_undef(struct rt *rt, const struct value *v)
{
	struct value in = {.kind = (uint8_t)v->origin};
	int n = v->u.s.n > 200 ? 200 : (int)v->u.s.n;

	switch (v->flags) {
	case UNDEF_NAME: return rt_fail(rt, "'%.*s' is undefined", n, v->u.s.p);
	case UNDEF_ATTR:
		return rt_fail(rt, "a value of type '%s' has no attribute '%.*s'", value_type(&in),
		    n, v->u.s.p);
	case UNDEF_ELEM:
		return rt_fail(rt, "a value of type '%s' has no element %lld", value_type(&in),
		    (long long)v->u.s.n);
	case UNDEF_UNSAFE:
		return rt_fail(rt, "the sandbox refuses attribute '%.*s' of a value of type '%s'",
		    n, v->u.s.p, value_type(&in));
	default: return rt_fail(rt, "%.*s", n, v->u.s.p);
	}
}
