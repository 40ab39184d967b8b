/* Filters over sequences. */
#include <math.h>
#include <string.h>

#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/strops.h"
#include "jinja/text.h"

static void undef_hint(struct value *out, const char *hint)
{
	value_undef(out, UNDEF_HINT, hint, strlen(hint));
}

static int do_length(struct rt *rt, const struct call *c, struct value *out)
{
	size_t n;

	if (value_len(rt, c->self, &n) < 0)
		return -1;
	value_int(out, (int64_t)n);
	return 0;
}

static int do_list(struct rt *rt, const struct call *c, struct value *out)
{
	return iter_list(rt, c->self, V_LIST, out);
}

static int do_default(struct rt *rt, const struct call *c, struct value *out)
{
	int falsy = arg_truth(rt, c, 1, 0) && !value_truth(rt, c->self);

	if (c->self->kind != V_UNDEF && !falsy)
		*out = *c->self;
	else if (c->arg[0].kind == V_MISSING)
		value_str(out, "", 0);
	else
		*out = c->arg[0];
	return 0;
}

static int do_first(struct rt *rt, const struct call *c, struct value *out)
{
	struct iter mem, *it = iter_open(rt, c->self, &mem);
	int more = it ? iter_next(rt, it, out) : -1;

	if (more == 0)
		undef_hint(out, "first of an empty sequence");
	return more < 0 ? -1 : 0;
}

static int can_reverse(const struct value *v)
{
	return v->kind != V_ITER && v->kind != V_LOOP && iter_can(v);
}

static int do_last(struct rt *rt, const struct call *c, struct value *out)
{
	struct value all, at;

	if (c->self->kind == V_UNDEF) {
		undef_hint(out, "last of an empty sequence");
		return 0;
	}
	if (!can_reverse(c->self))
		return rt_fail(
		    rt, "a value of type '%s' can't be walked backwards", value_type(c->self));
	all = *c->self;
	if ((all.kind == V_DICT || all.kind == V_VIEW) && iter_list(rt, c->self, V_LIST, &all) < 0)
		return -1;
	value_int(&at, -1);
	if (item_get(rt, &all, &at, out) < 0)
		return -1;
	if (out->kind == V_UNDEF && out->flags == UNDEF_ELEM)
		undef_hint(out, "last of an empty sequence");
	return 0;
}

static int next_reversed(struct rt *rt, struct iter *it, struct value *out)
{
	struct list *l = it->over.u.list;

	(void)rt;
	if (it->i >= l->n)
		return 0;
	*out = l->v[l->n - ++it->i];
	return 1;
}

static int do_reverse(struct rt *rt, const struct call *c, struct value *out)
{
	struct value all, bound[3];

	if (c->self->kind == V_STR) {
		value_none(&bound[0]);
		value_none(&bound[1]);
		value_int(&bound[2], -1);
		return slice_get(rt, c->self, bound, out);
	}
	if (iter_list(rt, c->self, V_LIST, &all) < 0)
		return -1;
	if (can_reverse(c->self)) {
		iter_new(rt, &all, next_reversed, out);
		return 0;
	}
	value_int(&bound[2], -1);
	value_none(&bound[0]);
	value_none(&bound[1]);
	return slice_get(rt, &all, bound, out);
}

/* ---- items, dictsort ---- */

static int next_item(struct rt *rt, struct iter *it, struct value *out)
{
	struct value view = it->over;

	if (it->over.kind == V_UNDEF)
		return 0;
	if (it->over.kind != V_DICT)
		return rt_fail(rt, "items of a value of type '%s', which is no mapping",
		    value_type(&it->over));
	if (!it->from) {
		view.kind = V_VIEW;
		view.flags = VIEW_ITEMS;
		it->from = iter_open(rt, &view, rt_alloc(rt, sizeof(*it->from)));
	}
	return iter_next(rt, it->from, out);
}

static int do_items(struct rt *rt, const struct call *c, struct value *out)
{
	iter_new(rt, c->self, next_item, out);
	return 0;
}

static int do_dictsort(struct rt *rt, const struct call *c, struct value *out)
{
	int cased = arg_truth(rt, c, 0, 0), by_value;
	struct value view, *key;

	if (c->self->kind == V_UNDEF)
		return value_fail_undef(rt, c->self);
	if (c->self->kind != V_DICT)
		return rt_fail(rt, "dictsort of a value of type '%s'", value_type(c->self));
	by_value = value_is_str(&c->arg[1], "value");
	if (c->arg[1].kind != V_MISSING && !by_value && !value_is_str(&c->arg[1], "key"))
		return rt_fail(rt, "dictsort is by 'key' or 'value'");
	view = *c->self;
	view.kind = V_VIEW;
	view.flags = VIEW_ITEMS;
	if (iter_list(rt, &view, V_LIST, out) < 0)
		return -1;
	key = rt_array(rt, out->u.list->n, sizeof(*key));
	for (size_t i = 0; i < out->u.list->n; i++) {
		key[i] = out->u.list->v[i].u.list->v[by_value];
		if (!cased && fold_case(rt, &key[i]) < 0)
			return -1;
	}
	return sort_values(rt, out->u.list->v, key, out->u.list->n, arg_truth(rt, c, 2, 0));
}

/* ---- sort, unique, min, max ---- */

/* The parts of "a,b.c": what sort compares, one after the other. */
static int sort_key(struct rt *rt, const struct value *item, const struct value *paths, int cased,
    struct value *out)
{
	struct value *v = value_list(rt, V_LIST, paths->u.list->n, out);

	for (size_t i = 0; i < paths->u.list->n; i++)
		if (attr_path(rt, item, &paths->u.list->v[i], &v[i]) < 0 ||
		    (!cased && fold_case(rt, &v[i]) < 0))
			return -1;
	return 0;
}

static int do_sort(struct rt *rt, const struct call *c, struct value *out)
{
	struct value paths, comma = STR_LITERAL(","), *key;
	struct str_cuts cuts = {.sep = &comma, .max = -1};
	int cased = arg_truth(rt, c, 1, 0);

	if (c->arg[2].kind == V_STR) {
		if (str_split(rt, &c->arg[2], &cuts, &paths) < 0)
			return -1;
	} else {
		*value_list(rt, V_LIST, 1, &paths) = c->arg[2];
	}
	if (iter_list(rt, c->self, V_LIST, out) < 0)
		return -1;
	key = rt_array(rt, out->u.list->n, sizeof(*key));
	for (size_t i = 0; i < out->u.list->n; i++)
		if (sort_key(rt, &out->u.list->v[i], &paths, cased, &key[i]) < 0)
			return -1;
	return sort_values(rt, out->u.list->v, key, out->u.list->n, arg_truth(rt, c, 0, 0));
}

/* Their keys: an attribute, without case. */
struct keyed {
	struct value path;
	int cased;
	struct dict *seen;
};

static int item_key(
    struct rt *rt, const struct keyed *k, const struct value *item, struct value *out)
{
	if (attr_path(rt, item, &k->path, out) < 0)
		return -1;
	return k->cased ? 0 : fold_case(rt, out);
}

static int next_unique(struct rt *rt, struct iter *it, struct value *out)
{
	struct keyed *k = it->how;
	struct iter *from = iter_source(rt, it);
	struct value key;
	int more = -1, bad;

	while (from && (more = iter_next(rt, from, out)) > 0) {
		if (item_key(rt, k, out, &key) < 0)
			return -1;
		if (dict_find(rt, k->seen, &key, &bad))
			continue;
		return dict_set(rt, k->seen, &key, &key) < 0 ? -1 : 1;
	}
	return more;
}

static struct keyed keyed_args(struct rt *rt, const struct call *c)
{
	return (struct keyed){.path = c->arg[1], .cased = arg_truth(rt, c, 0, 0)};
}

static int do_unique(struct rt *rt, const struct call *c, struct value *out)
{
	struct keyed *k = rt_alloc(rt, sizeof(*k));

	*k = keyed_args(rt, c);
	k->seen = dict_new(rt, 0);
	iter_new(rt, c->self, next_unique, out)->how = k;
	return 0;
}

static int extreme(struct rt *rt, const struct call *c, int want, struct value *out)
{
	struct iter mem, *it = iter_open(rt, c->self, &mem);
	struct keyed k = keyed_args(rt, c);
	struct value item, key, best;
	int more = it ? iter_next(rt, it, out) : -1, order;

	if (more == 0)
		undef_hint(out, "the least or greatest of an empty sequence");
	if (more <= 0 || item_key(rt, &k, out, &best) < 0)
		return more == 0 ? 0 : -1;
	while ((more = iter_next(rt, it, &item)) > 0) {
		if (item_key(rt, &k, &item, &key) < 0 || value_order(rt, &key, &best, &order) < 0)
			return -1;
		if (order == want) {
			*out = item;
			best = key;
		}
	}
	return more;
}

static int do_min(struct rt *rt, const struct call *c, struct value *out)
{
	return extreme(rt, c, -1, out);
}

static int do_max(struct rt *rt, const struct call *c, struct value *out)
{
	return extreme(rt, c, 1, out);
}

static int do_sum(struct rt *rt, const struct call *c, struct value *out)
{
	struct iter mem, *it = iter_open(rt, c->self, &mem);
	struct value item, part, sum;
	int more = -1;

	value_int(&sum, 0);
	if (c->arg[1].kind != V_MISSING)
		sum = c->arg[1];
	if (sum.kind == V_STR)
		return rt_fail(rt, "sum of strings: use join");
	while (it && (more = iter_next(rt, it, &item)) > 0) {
		if (attr_path(rt, &item, &c->arg[0], &part) < 0 ||
		    arith_binary(rt, N_ADD, &sum, &part, &item) < 0)
			return -1;
		sum = item;
	}
	*out = sum;
	return more;
}

/* ---- batch, slice ---- */

static int next_batch(struct rt *rt, struct iter *it, struct value *out)
{
	const struct value *arg = it->how;
	struct iter *from = iter_source(rt, it);
	struct value *v, item;
	int64_t size = arg[0].u.i;
	size_t n = 0, cap = 4;
	int more = from ? 1 : -1;

	v = rt_array(rt, cap, sizeof(*v));
	/* as Jinja2's loop has it, a size of 0 gives an empty list and then one of all */
	while (from && (it->i || size) && (n == 0 || (int64_t)n != size) &&
	       (more = iter_next(rt, from, &item)) > 0) {
		if (n == cap) {
			struct value *grown = rt_array(rt, cap *= 2, sizeof(*grown));

			memcpy(grown, v, n * sizeof(*v));
			v = grown;
		}
		v[n++] = item;
	}
	if (more < 0 || (n == 0 && (it->i || size)))
		return more < 0 ? -1 : 0;
	it->i++;
	if (arg[1].kind == V_NONE || size <= (int64_t)n) {
		value_list(rt, V_LIST, 0, out);
		*out->u.list = (struct list){.v = v, .n = n};
		return 1;
	}
	if (rt_room(rt, (size_t)size, sizeof(*v)) < 0)
		return -1;
	v = memcpy(value_list(rt, V_LIST, (size_t)size, out), v, n * sizeof(*v));
	for (; (int64_t)n < size; n++)
		v[n] = arg[1];
	return 1;
}

static int do_batch(struct rt *rt, const struct call *c, struct value *out)
{
	struct value *arg = rt_array(rt, 2, sizeof(*arg));
	int64_t size = -1; /* what is no number is never reached: one batch of all */

	if (!value_is_int(&c->arg[0], &size) && c->arg[0].kind == V_FLOAT &&
	    c->arg[0].u.d == floor(c->arg[0].u.d) && fabs(c->arg[0].u.d) < 1e15)
		size = (int64_t)c->arg[0].u.d;
	value_int(&arg[0], size);
	value_none(&arg[1]);
	if (arg_given(c, 1))
		arg[1] = c->arg[1];
	iter_new(rt, c->self, next_batch, out)->how = arg;
	return 0;
}

static int do_attr(struct rt *rt, const struct call *c, struct value *out)
{
	struct value name;

	if (arg_str(rt, c, 0, &name) < 0)
		return -1;
	if (c->self->kind == V_DICT &&
	    !method_find(c->self, (struct span){name.u.s.p, name.u.s.n})) {
		value_undef(out, UNDEF_ATTR, name.u.s.p, name.u.s.n);
		out->origin = V_DICT;
		return 0;
	}
	return attr_get(rt, c->self, (struct span){name.u.s.p, name.u.s.n}, out);
}

const struct callable filters_seq[] = {
    {"length", do_length, "", 0},
    {"count", do_length, "", 0},
    {"list", do_list, "", 0},
    {"default", do_default, "default_value,boolean", 0},
    {"d", do_default, "default_value,boolean", 0},
    {"first", do_first, "", 0},
    {"last", do_last, "", 0},
    {"reverse", do_reverse, "", 0},
    {"items", do_items, "", 0},
    {"dictsort", do_dictsort, "case_sensitive,by,reverse", 0},
    {"sort", do_sort, "reverse,case_sensitive,attribute", 0},
    {"unique", do_unique, "case_sensitive,attribute", 0},
    {"min", do_min, "case_sensitive,attribute", 0},
    {"max", do_max, "case_sensitive,attribute", 0},
    {"sum", do_sum, "attribute,start", 0},
    {"batch", do_batch, "linecount,fill_with", 1},
    {"attr", do_attr, "name", 1},
    {0},
};
