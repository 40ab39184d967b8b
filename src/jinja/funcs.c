/* Global functions, and the attributes of `loop`. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"

#define MAX_RANGE 100000 /* the sandbox's */

static int do_range(struct rt *rt, const struct call *c, struct value *out)
{
	int two = c->arg[1].kind != V_MISSING;
	struct range *r = rt_alloc(rt, sizeof(*r));
	uint64_t span, n = 0;

	*r = (struct range){.step = 1};
	if (arg_int(rt, c, 0, 0, two ? &r->start : &r->stop) < 0 ||
	    (two && arg_int(rt, c, 1, 0, &r->stop) < 0) || arg_int(rt, c, 2, 1, &r->step) < 0)
		return -1;
	if (r->step == 0)
		return rt_fail(rt, "a range's step can't be 0");
	if (r->step > 0 ? r->start < r->stop : r->start > r->stop) {
		span = r->step > 0 ? (uint64_t)r->stop - (uint64_t)r->start
				   : (uint64_t)r->start - (uint64_t)r->stop;
		n = (span - 1) / (r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step) + 1;
	}
	if (n > MAX_RANGE)
		return rt_fail(rt, "a range of more than %d numbers", MAX_RANGE);
	r->n = (size_t)n;
	*out = (struct value){.kind = V_RANGE, .u.range = r};
	return 0;
}

/* dict(mapping or pairs, **named) */
static int fill_dict(struct rt *rt, const struct args *a, struct dict *d)
{
	struct value key, all;

	if (a->n > 1)
		return rt_fail(rt, "at most one argument by position");
	if (a->n == 1 && a->v[0].kind == V_DICT) {
		struct dict *from = a->v[0].u.dict;

		dict_open(rt, from);
		for (size_t i = 0; i < from->n; i++)
			if (dict_set(rt, d, &from->p[i].key, &from->p[i].val) < 0)
				return -1;
	} else if (a->n == 1) {
		struct iter mem, *it = iter_open(rt, &a->v[0], &mem);
		struct value pair;
		int more = -1;

		while (it && (more = iter_next(rt, it, &pair)) > 0) {
			if (iter_list(rt, &pair, V_LIST, &all) < 0)
				return -1;
			if (all.u.list->n != 2)
				return rt_fail(rt, "a dict is made of pairs");
			if (dict_set(rt, d, &all.u.list->v[0], &all.u.list->v[1]) < 0)
				return -1;
		}
		if (more < 0)
			return -1;
	}
	for (size_t i = 0; i < a->nkw; i++) {
		value_str(&key, a->kw[i].name.p, a->kw[i].name.n);
		if (dict_set(rt, d, &key, &a->kw[i].v) < 0)
			return -1;
	}
	return 0;
}

static int do_dict(struct rt *rt, const struct call *c, struct value *out)
{
	*out = (struct value){.kind = V_DICT, .u.dict = dict_new(rt, c->raw->nkw)};
	return fill_dict(rt, c->raw, out->u.dict);
}

static int do_namespace(struct rt *rt, const struct call *c, struct value *out)
{
	*out = (struct value){.kind = V_NAMESPACE, .u.dict = dict_new(rt, c->raw->nkw)};
	out->u.dict->born = rt->iteration;
	out->u.dict->number = ++rt->spaces;
	return fill_dict(rt, c->raw, out->u.dict);
}

static int do_raise(struct rt *rt, const struct call *c, struct value *out)
{
	struct value s;

	(void)out;
	if (text_str(rt, &c->arg[0], &s) < 0)
		return -1;
	return rt_fail(rt, "the template raises: %.*s", s.u.s.n > 800 ? 800 : (int)s.u.s.n,
	    s.u.s.n ? s.u.s.p : "");
}

/* The format for C's strftime: what Python answers for a time without a zone and without
 * fractions of a second (%z, %Z, %f) is put in. Ends with a dot, so that an empty result can be
 * told from one that has no room. */
static int c_format(const struct value *s, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->u.s.n; i++) {
		char c = s->u.s.p[i], next = i + 1 < s->u.s.n ? s->u.s.p[i + 1] : '\0';

		if (n + 10 > room || c == '\0')
			return -1;
		if (c == '%' && (next == 'z' || next == 'Z' || next == 'f')) {
			n += (size_t)snprintf(out + n, room - n, "%s", next == 'f' ? "000000" : "");
			i++;
			continue;
		}
		out[n++] = c;
		if (c == '%' && next == '%')
			out[n++] = s->u.s.p[++i];
	}
	out[n++] = '.';
	out[n] = '\0';
	return 0;
}

static int do_strftime(struct rt *rt, const struct call *c, struct value *out)
{
	char fmt[200], text[1000];
	time_t now = (time_t)rt->env->now;
	struct value s;
	struct tm tm;
	size_t n;

	if (arg_str(rt, c, 0, &s) < 0)
		return -1;
	if (rt->env->now == JINJA_NO_TIME)
		return rt_fail(rt, "the template asks for today's date, and none is given");
	if (c_format(&s, fmt, sizeof(fmt)) < 0 || !gmtime_r(&now, &tm))
		return rt_fail(rt, "a time that can't be written");
	n = strftime(text, sizeof(text), fmt, &tm);
	if (n == 0)
		return rt_fail(rt, "a time that can't be written");
	value_str(out, memcpy(rt_alloc(rt, n), text, n), n - 1);
	return 0;
}

static const struct callable funcs[] = {
    {"range", do_range, "start,stop,step", 1},
    {"dict", do_dict, NULL, 0},
    {"namespace", do_namespace, NULL, 0},
    {"raise_exception", do_raise, "message", 1},
    {"strftime_now", do_strftime, "format", 1},
    {"cycler", method_unsupported, NULL, 0},
    {"joiner", method_unsupported, NULL, 0},
    {"lipsum", method_unsupported, NULL, 0},
    {0},
};

const struct callable *func_find(struct span name)
{
	return callable_find(funcs, name);
}

/* ---- loop ---- */

static int loop_cycle(struct rt *rt, const struct call *c, struct value *out)
{
	if (c->raw->n == 0)
		return rt_fail(rt, "cycle needs something to cycle through");
	*out = c->raw->v[(c->self->u.loop->count - 1) % c->raw->n];
	return 0;
}

static int loop_changed(struct rt *rt, const struct call *c, struct value *out)
{
	struct loop *l = c->self->u.loop;
	struct value all, *v = value_list(rt, V_TUPLE, c->raw->n, &all);
	int same;

	memcpy(v, c->raw->v, c->raw->n * sizeof(*v));
	same = l->changed.kind == V_MISSING ? 0 : value_eq(rt, &l->changed, &all);
	if (same < 0)
		return -1;
	l->changed = all;
	value_bool(out, !same);
	return 0;
}

const struct callable methods_loop[] = {
    {"cycle", loop_cycle, NULL, 0},
    {"changed", loop_changed, NULL, 0},
    {0},
};

static void neighbour(const struct value *v, const char *hint, struct value *out)
{
	if (v->kind == V_MISSING)
		value_undef(out, UNDEF_HINT, hint, strlen(hint));
	else
		*out = *v;
}

static int loop_numbers(struct rt *rt, struct loop *l, struct span name, struct value *out)
{
	int64_t index = (int64_t)l->count;
	size_t n = 0;

	if (span_eq(name, "index"))
		value_int(out, index);
	else if (span_eq(name, "index0"))
		value_int(out, index - 1);
	else if (span_eq(name, "depth"))
		value_int(out, 1);
	else if (span_eq(name, "depth0"))
		value_int(out, 0);
	else if (span_eq(name, "length") || span_eq(name, "revindex") ||
		 span_eq(name, "revindex0")) {
		if (loop_length(rt, l, &n) < 0)
			return -1;
		value_int(out, span_eq(name, "length")	   ? (int64_t)n
			       : span_eq(name, "revindex") ? (int64_t)n - index + 1
							   : (int64_t)n - index);
	} else {
		return 0;
	}
	return 1;
}

int loop_attr(struct rt *rt, struct loop *l, struct span name, struct value *out)
{
	if (span_eq(name, "first")) {
		value_bool(out, l->count == 1);
		return 1;
	}
	if (span_eq(name, "previtem")) {
		neighbour(&l->prev, "the first item has none before it", out);
		return 1;
	}
	if (span_eq(name, "last") || span_eq(name, "nextitem")) {
		if (loop_peek(rt, l) < 0)
			return -1;
		if (name.n == 4)
			value_bool(out, l->next.kind == V_MISSING);
		else
			neighbour(&l->next, "the last item has none behind it", out);
		return 1;
	}
	return loop_numbers(rt, l, name, out);
}
