#include "jinja/iter.h"

#include <string.h>

#include "base/utf8.h"
#include "jinja/eval.h"
#include "jinja/memo.h"
#include "jinja/rt.h"
#include "jinja/text.h"

static int next_list(struct rt *rt, struct iter *it, struct value *out)
{
	struct list *l = it->over.u.list;

	if (it->i >= l->n)
		return 0;
	list_open(rt, l);
	*out = l->v[it->i++];
	return 1;
}

static void view_item(struct rt *rt, const struct pair *p, enum view_kind what, struct value *out)
{
	struct value *v;

	if (what != VIEW_ITEMS) {
		*out = what == VIEW_KEYS ? p->key : p->val;
		return;
	}
	v = value_list(rt, V_TUPLE, 2, out);
	v[0] = p->key;
	v[1] = p->val;
}

static int next_dict(struct rt *rt, struct iter *it, struct value *out)
{
	struct dict *d = it->over.u.dict;

	if (it->i >= d->n)
		return 0;
	dict_open(rt, d);
	view_item(rt, &d->p[it->i++], it->over.kind == V_DICT ? VIEW_KEYS : it->over.flags, out);
	return 1;
}

static int next_char(struct rt *rt, struct iter *it, struct value *out)
{
	size_t left = it->over.u.s.n - it->i, n;

	(void)rt;
	if (left == 0)
		return 0;
	n = utf8_len(it->over.u.s.p + it->i, left);
	text_slice(&it->over, it->i, n ? n : 1, out);
	out->flags &= (uint8_t)~STR_SAFE; /* iter(Markup) gives plain strings */
	it->i += out->u.s.n;
	return 1;
}

static int next_range(struct rt *rt, struct iter *it, struct value *out)
{
	const struct range *r = it->over.u.range;

	(void)rt;
	if (it->i >= r->n)
		return 0;
	value_int(out, r->start + (int64_t)it->i++ * r->step);
	return 1;
}

static int next_none(struct rt *rt, struct iter *it, struct value *out)
{
	(void)rt;
	(void)it;
	(void)out;
	return 0;
}

static int (*next_of(const struct value *v))(struct rt *, struct iter *, struct value *)
{
	switch (v->kind) {
	case V_UNDEF: return next_none;
	case V_STR: return next_char;
	case V_LIST:
	case V_TUPLE: return next_list;
	case V_DICT:
	case V_VIEW: return next_dict;
	case V_RANGE: return next_range;
	default: return NULL;
	}
}

int iter_can(const struct value *v)
{
	return v->kind == V_ITER || v->kind == V_LOOP || next_of(v) != NULL;
}

struct iter *iter_open(struct rt *rt, const struct value *v, struct iter *mem)
{
	if (v->kind == V_ITER) {
		if (rt->note && v->u.iter->born != rt->iteration)
			memo_spoil(rt);
		return v->u.iter;
	}
	*mem = (struct iter){.next = next_of(v), .over = *v};
	if (mem->next)
		return mem;
	rt_fail(rt, "a value of type '%s' can't be iterated", value_type(v));
	return NULL;
}

int iter_next(struct rt *rt, struct iter *it, struct value *out)
{
	int rc;

	if (it->done)
		return 0;
	if (rt_step(rt, 0) < 0)
		return -1;
	rc = it->next(rt, it, out);
	if (rc <= 0)
		it->done = 1;
	return rc;
}

struct iter *iter_new(struct rt *rt, const struct value *over,
    int (*next)(struct rt *, struct iter *, struct value *), struct value *out)
{
	struct iter *it = rt_alloc(rt, sizeof(*it));

	*it = (struct iter){.next = next, .over = *over, .born = rt->iteration};
	*out = (struct value){.kind = V_ITER, .u.iter = it};
	return it;
}

struct iter *iter_source(struct rt *rt, struct iter *it)
{
	if (!it->from)
		it->from = iter_open(rt, &it->over, rt_alloc(rt, sizeof(*it->from)));
	return it->from;
}

int iter_list(struct rt *rt, const struct value *v, enum vkind kind, struct value *out)
{
	size_t n = 0, cap = 8;
	struct value *items;
	struct iter mem, *it;
	int more;

	if (v->kind == V_LIST || v->kind == V_TUPLE) {
		list_open(rt, v->u.list);
		items = value_list(rt, kind, v->u.list->n, out);
		if (v->u.list->n > 0)
			memcpy(items, v->u.list->v, v->u.list->n * sizeof(*items));
		return rt_step(rt, v->u.list->n * sizeof(*items));
	}
	it = iter_open(rt, v, &mem);
	if (!it)
		return -1;
	items = rt_array(rt, cap, sizeof(*items));
	while ((more = iter_next(rt, it, &items[n])) > 0) {
		if (++n == cap) {
			struct value *grown = rt_array(rt, cap *= 2, sizeof(*grown));

			memcpy(grown, items, n * sizeof(*grown));
			items = grown;
		}
	}
	if (more < 0)
		return -1;
	value_list(rt, kind, 0, out);
	out->u.list->v = items;
	out->u.list->n = n;
	return 0;
}

/* ---- for loops ---- */

int loop_open(struct rt *rt, struct loop *l, const struct value *over)
{
	l->over = *over;
	l->it = iter_open(rt, over, &l->mem);
	return l->it ? 0 : -1;
}

/* The next item that the loop's filter lets through. */
static int pull(struct rt *rt, struct loop *l, struct value *out)
{
	int rc;

	while ((rc = iter_next(rt, l->it, out)) > 0) {
		int pass = l->node ? eval_loop_filter(rt, l->frame, l->node, out) : 1;

		if (pass != 0)
			return pass;
	}
	return rc;
}

int loop_peek(struct rt *rt, struct loop *l)
{
	int rc;

	if (l->peeked)
		return 0;
	l->peeked = 1;
	rc = pull(rt, l, &l->next);
	if (rc == 0)
		l->next.kind = V_MISSING;
	return rc < 0 ? -1 : 0;
}

int loop_next(struct rt *rt, struct loop *l, struct value *out)
{
	int rc = 1;

	if (l->peeked && l->next.kind != V_MISSING) {
		*out = l->next;
		l->peeked = 0;
	} else {
		l->peeked = 0;
		rc = pull(rt, l, out);
	}
	if (rc <= 0)
		return rc;
	l->count++;
	l->prev = l->cur;
	l->cur = *out;
	return 1;
}

/* What is left, as a list that is walked from now on. */
static int drain(struct rt *rt, struct loop *l, size_t *n)
{
	size_t cap = 8;
	struct value *items = rt_array(rt, cap, sizeof(*items)), rest;
	int rc;

	*n = 0;
	while ((rc = pull(rt, l, &items[*n])) > 0) {
		if (++*n == cap) {
			struct value *grown = rt_array(rt, cap *= 2, sizeof(*grown));

			memcpy(grown, items, *n * sizeof(*grown));
			items = grown;
		}
	}
	if (rc < 0)
		return -1;
	value_list(rt, V_LIST, 0, &rest);
	*rest.u.list = (struct list){.v = items, .n = *n};
	l->node = NULL;
	l->it = iter_open(rt, &rest, &l->mem);
	return 0;
}

int loop_length(struct rt *rt, struct loop *l, size_t *n)
{
	if (!l->has_length) {
		if (!l->node && l->over.kind != V_ITER) {
			if (value_len(rt, &l->over, &l->length) < 0)
				return -1;
		} else {
			if (drain(rt, l, &l->length) < 0)
				return -1;
			l->length += l->count + (l->peeked && l->next.kind != V_MISSING);
		}
		l->has_length = 1;
	}
	*n = l->length;
	return 0;
}
