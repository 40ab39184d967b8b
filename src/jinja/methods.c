/* Methods of dicts, lists and tuples, and which table a value's methods stand in. */
#include <string.h>

#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"

int method_refused(struct rt *rt, const struct call *c, struct value *out)
{
	(void)c;
	(void)out;
	return rt_fail(rt, "a method that the sandbox refuses");
}

int method_unsupported(struct rt *rt, const struct call *c, struct value *out)
{
	(void)out;
	if (c->self->kind == V_NONE)
		return rt_fail(rt, "this function is not supported");
	return rt_fail(
	    rt, "this method of a value of type '%s' is not supported", value_type(c->self));
}

/* ---- dict ---- */

static int dict_get(struct rt *rt, const struct call *c, struct value *out)
{
	int bad;
	const struct value *v = dict_find(rt, c->self->u.dict, &c->arg[0], &bad);

	if (bad)
		return rt_fail(rt, "a value of type '%s' can't be a key", value_type(&c->arg[0]));
	if (v)
		*out = *v;
	else if (c->arg[1].kind != V_MISSING)
		*out = c->arg[1];
	else
		value_none(out);
	return 0;
}

static int view_of(const struct call *c, enum view_kind what, struct value *out)
{
	*out = *c->self;
	out->kind = V_VIEW;
	out->flags = (uint8_t)what;
	return 0;
}

static int dict_keys(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return view_of(c, VIEW_KEYS, out);
}

static int dict_values(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return view_of(c, VIEW_VALUES, out);
}

static int dict_items(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return view_of(c, VIEW_ITEMS, out);
}

static int copy_self(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	*out = *c->self; /* nothing can change either of them */
	return 0;
}

const struct callable methods_dict[] = {
    {"get", dict_get, "/key,default", 1},
    {"keys", dict_keys, "", 0},
    {"values", dict_values, "", 0},
    {"items", dict_items, "", 0},
    {"copy", copy_self, "", 0},
    {"clear", method_refused, NULL, 0},
    {"pop", method_refused, NULL, 0},
    {"popitem", method_refused, NULL, 0},
    {"setdefault", method_refused, NULL, 0},
    {"update", method_refused, NULL, 0},
    {"fromkeys", method_unsupported, NULL, 0},
    {0},
};

/* ---- list, tuple ---- */

static int list_count(struct rt *rt, const struct call *c, struct value *out)
{
	struct list *l = c->self->u.list;
	int64_t n = 0;

	if (rt_step(rt, l->n * 8) < 0)
		return -1;
	list_open(rt, l);
	for (size_t i = 0; i < l->n; i++) {
		int eq = value_eq(rt, &l->v[i], &c->arg[0]);

		if (eq < 0)
			return -1;
		n += eq;
	}
	value_int(out, n);
	return 0;
}

static int list_index(struct rt *rt, const struct call *c, struct value *out)
{
	struct list *l = c->self->u.list;

	if (rt_step(rt, l->n * 8) < 0)
		return -1;
	list_open(rt, l);
	for (size_t i = 0; i < l->n; i++) {
		int eq = value_eq(rt, &l->v[i], &c->arg[0]);

		if (eq < 0)
			return -1;
		if (eq) {
			value_int(out, (int64_t)i);
			return 0;
		}
	}
	return rt_fail(rt, "the value is not in the list");
}

const struct callable methods_list[] = {
    {"count", list_count, "/value", 1},
    {"index", list_index, "/value", 1},
    {"copy", copy_self, "", 0},
    {"append", method_refused, NULL, 0},
    {"clear", method_refused, NULL, 0},
    {"extend", method_refused, NULL, 0},
    {"insert", method_refused, NULL, 0},
    {"pop", method_refused, NULL, 0},
    {"remove", method_refused, NULL, 0},
    {"reverse", method_refused, NULL, 0},
    {"sort", method_refused, NULL, 0},
    {0},
};

const struct callable methods_tuple[] = {
    {"count", list_count, "/value", 1},
    {"index", list_index, "/value", 1},
    {0},
};

const struct callable *method_find(const struct value *of, struct span name)
{
	const struct callable *m;

	switch (of->kind) {
	case V_STR:
		m = callable_find(methods_str, name);
		return m ? m : callable_find(methods_str_find, name);
	case V_DICT: return callable_find(methods_dict, name);
	case V_LIST: return callable_find(methods_list, name);
	case V_TUPLE: return callable_find(methods_tuple, name);
	case V_LOOP: return callable_find(methods_loop, name);
	default: return NULL;
	}
}
