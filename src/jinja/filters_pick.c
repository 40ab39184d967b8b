/* map, select, reject, selectattr, rejectattr: generators that ask other filters and tests. */
#include <string.h>

#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"

struct pick {
	struct args args; /* as given; kept beyond the call */
	size_t used;	  /* of them: the attribute, the name of the filter or test */
	int by_attr, negate;
	const struct callable *callee; /* NULL: truth, or the attribute */
	struct value path, or_else;
};

static const struct kwarg *named(const struct args *a, const char *name)
{
	for (size_t i = 0; i < a->nkw; i++)
		if (span_eq(a->kw[i].name, name))
			return &a->kw[i];
	return NULL;
}

static int find_callee(
    struct rt *rt, struct pick *p, const struct callable *(*find)(struct span), const char *what)
{
	const struct value *name = &p->args.v[p->used++];

	if (name->kind == V_STR)
		p->callee = find((struct span){name->u.s.p, name->u.s.n});
	if (!p->callee)
		return rt_fail(rt, "no %s named '%.*s'", what,
		    name->kind != V_STR ? 1
		    : name->u.s.n > 64	? 64
					: (int)name->u.s.n,
		    name->kind == V_STR ? name->u.s.p : "?");
	return 0;
}

/* The first item is asked for: opens what is walked, unless it is false. 0: nothing there. */
static int start(struct rt *rt, struct iter *it)
{
	if (it->from)
		return 1;
	if (!value_truth(rt, &it->over))
		return 0;
	return iter_source(rt, it) ? 1 : -1;
}

static int ask(struct rt *rt, const struct pick *p, const struct value *item, struct value *out)
{
	struct args rest = p->args;

	rest.v += p->used;
	rest.n -= p->used;
	return call_bound(rt, p->callee, item, &rest, out);
}

/* ---- map ---- */

static int prepare_map(struct rt *rt, struct pick *p)
{
	const struct kwarg *attr = named(&p->args, "attribute"), *def = named(&p->args, "default");

	if (p->args.n == 0 && attr) {
		if (p->args.nkw > 1 + (size_t)(def != NULL))
			return rt_fail(rt, "map by attribute takes no other argument than default");
		p->path = attr->v;
		p->by_attr = 1;
		value_none(&p->or_else);
		if (def)
			p->or_else = def->v;
		return 0;
	}
	if (p->args.n == 0)
		return rt_fail(rt, "map needs a filter or an attribute");
	return find_callee(rt, p, filter_find, "filter");
}

static int next_map(struct rt *rt, struct iter *it, struct value *out)
{
	struct pick *p = it->how;
	int fresh = !it->from, more = start(rt, it);
	struct value item;

	if (more <= 0)
		return more;
	if (fresh && prepare_map(rt, p) < 0)
		return -1;
	more = iter_next(rt, it->from, &item);
	if (more <= 0)
		return more;
	if (!p->by_attr)
		return ask(rt, p, &item, out) < 0 ? -1 : 1;
	if (attr_path(rt, &item, &p->path, out) < 0)
		return -1;
	if (out->kind == V_UNDEF && p->or_else.kind != V_NONE)
		*out = p->or_else;
	return 1;
}

/* ---- select and its like ---- */

static int prepare_select(struct rt *rt, struct pick *p)
{
	if (p->by_attr) {
		if (p->args.n == 0)
			return rt_fail(rt, "the name of an attribute is missing");
		p->path = p->args.v[p->used++];
	}
	return p->args.n > p->used ? find_callee(rt, p, test_find, "test") : 0;
}

static int next_selected(struct rt *rt, struct iter *it, struct value *out)
{
	struct pick *p = it->how;
	int fresh = !it->from, more = start(rt, it);
	struct value what, yes;

	if (more <= 0)
		return more;
	if (fresh && prepare_select(rt, p) < 0)
		return -1;
	while ((more = iter_next(rt, it->from, out)) > 0) {
		what = *out;
		if (p->by_attr && attr_path(rt, out, &p->path, &what) < 0)
			return -1;
		yes = what;
		if (p->callee && ask(rt, p, &what, &yes) < 0)
			return -1;
		if (value_truth(rt, &yes) != p->negate)
			return 1;
	}
	return more;
}

static int pick(struct rt *rt, const struct call *c,
    int (*next)(struct rt *, struct iter *, struct value *), int flags, struct value *out)
{
	struct pick *p = rt_alloc(rt, sizeof(*p));
	struct value *v = rt_array(rt, c->raw->n, sizeof(*v));
	struct kwarg *kw = rt_array(rt, c->raw->nkw, sizeof(*kw));

	if (c->raw->n > 0)
		memcpy(v, c->raw->v, c->raw->n * sizeof(*v));
	if (c->raw->nkw > 0)
		memcpy(kw, c->raw->kw, c->raw->nkw * sizeof(*kw));
	*p = (struct pick){
	    .args = {v, c->raw->n, kw, c->raw->nkw}, .by_attr = flags & 1, .negate = flags >> 1};
	iter_new(rt, c->self, next, out)->how = p;
	return 0;
}

static int do_map(struct rt *rt, const struct call *c, struct value *out)
{
	return pick(rt, c, next_map, 0, out);
}

static int do_select(struct rt *rt, const struct call *c, struct value *out)
{
	return pick(rt, c, next_selected, 0, out);
}

static int do_selectattr(struct rt *rt, const struct call *c, struct value *out)
{
	return pick(rt, c, next_selected, 1, out);
}

static int do_reject(struct rt *rt, const struct call *c, struct value *out)
{
	return pick(rt, c, next_selected, 2, out);
}

static int do_rejectattr(struct rt *rt, const struct call *c, struct value *out)
{
	return pick(rt, c, next_selected, 3, out);
}

const struct callable filters_pick[] = {
    {"map", do_map, NULL, 0},
    {"select", do_select, NULL, 0},
    {"selectattr", do_selectattr, NULL, 0},
    {"reject", do_reject, NULL, 0},
    {"rejectattr", do_rejectattr, NULL, 0},
    {0},
};
