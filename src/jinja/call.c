#include <string.h>

#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/memo.h"
#include "jinja/text.h"

/* In the arena: calls nest deep, so their frames on the stack must be small. */
struct arg_list {
	struct value *v;
	struct kwarg *kw;
	size_t n, nkw;
};

/* ---- arguments as they are written ---- */

static int add_star(struct rt *rt, const struct value *v, struct arg_list *a)
{
	struct value all, *grown;

	if (iter_list(rt, v, V_LIST, &all) < 0)
		return -1;
	grown = rt_array(rt, a->n + all.u.list->n, sizeof(*grown));
	memcpy(grown, a->v, a->n * sizeof(*grown));
	if (all.u.list->n > 0)
		memcpy(grown + a->n, all.u.list->v, all.u.list->n * sizeof(*grown));
	a->n += all.u.list->n;
	a->v = grown;
	return 0;
}

static int add_starstar(struct rt *rt, const struct value *v, struct arg_list *a)
{
	struct dict *d = v->u.dict;
	struct kwarg *grown;

	if (v->kind != V_DICT)
		return rt_fail(rt, "** needs a dict, not a value of type '%s'", value_type(v));
	dict_open(rt, d);
	grown = rt_array(rt, a->nkw + d->n, sizeof(*grown));
	if (a->nkw > 0)
		memcpy(grown, a->kw, a->nkw * sizeof(*grown));
	for (size_t i = 0; i < d->n; i++) {
		const struct value *k = &d->p[i].key;

		if (k->kind != V_STR)
			return rt_fail(rt, "** needs strings as keys");
		grown[a->nkw++] = (struct kwarg){{k->u.s.p, k->u.s.n}, d->p[i].val};
	}
	a->kw = grown;
	return 0;
}

static void arg_room(struct rt *rt, const struct node *list, struct arg_list *a)
{
	size_t n = 0, named = 0;

	for (; list; list = list->next) {
		n += list->kind != N_KEYWORD;
		named += list->kind == N_KEYWORD;
	}
	*a = (struct arg_list){.v = rt_array(rt, n, sizeof(*a->v))};
	a->kw = named ? rt_array(rt, named, sizeof(*a->kw)) : NULL;
}

static int eval_args(struct rt *rt, struct frame *f, const struct node *list, struct arg_list *a)
{
	struct value star, starstar;

	star.kind = starstar.kind = V_MISSING;
	arg_room(rt, list, a);
	for (const struct node *n = list; n; n = n->next) {
		struct value *to;

		if (n->kind == N_KEYWORD) {
			a->kw[a->nkw].name = n->name;
			to = &a->kw[a->nkw++].v;
		} else {
			to = n->kind == N_STAR	     ? &star
			     : n->kind == N_STARSTAR ? &starstar
						     : &a->v[a->n++];
		}
		if (eval(rt, f, n->kind >= N_KEYWORD ? n->a : n, to) < 0)
			return -1;
	}
	if (star.kind != V_MISSING && add_star(rt, &star, a) < 0)
		return -1;
	return starstar.kind == V_MISSING ? 0 : add_starstar(rt, &starstar, a);
}

static struct args args_of(const struct arg_list *a)
{
	return (struct args){a->v, a->n, a->kw, a->nkw};
}

/* ---- builtins ---- */

/* The number of a parameter in "a,b,c", or MAX_PARAMS. */
static size_t param_index(const char *params, struct span name)
{
	size_t i = 0;

	while (*params) {
		size_t n = strcspn(params, ",");

		if (n == name.n && memcmp(params, name.p, n) == 0)
			return i;
		params += n + (params[n] == ',');
		i++;
	}
	return MAX_PARAMS;
}

static size_t param_count(const char *params)
{
	size_t n = *params != '\0';

	for (; *params; params++)
		n += *params == ',';
	return n;
}

static int bind(struct rt *rt, const struct callable *what, const struct args *args, struct call *c)
{
	const char *params = what->params + (what->params[0] == '/');
	size_t n = param_count(params);

	if (params > what->params && args->nkw > 0)
		return rt_fail(rt, "'%s' takes no arguments by name", what->name);
	if (args->n > n)
		return rt_fail(
		    rt, "'%s' takes at most %zu arguments, %zu are given", what->name, n, args->n);
	for (size_t i = 0; i < MAX_PARAMS; i++) {
		if (i < args->n)
			c->arg[i] = args->v[i];
		else
			c->arg[i].kind = V_MISSING;
	}
	for (size_t k = 0; k < args->nkw; k++) {
		const struct span name = args->kw[k].name;
		size_t i = param_index(params, name);

		if (i == MAX_PARAMS || c->arg[i].kind != V_MISSING)
			return rt_fail(rt, "'%s' has no argument '%.*s', or has it already",
			    what->name, name.n > 64 ? 64 : (int)name.n, name.p);
		c->arg[i] = args->kw[k].v;
	}
	for (size_t i = 0; i < what->min; i++)
		if (c->arg[i].kind == V_MISSING)
			return rt_fail(rt, "'%s' needs %d arguments", what->name, what->min);
	return 0;
}

int call_bound(struct rt *rt, const struct callable *what, const struct value *self,
    const struct args *args, struct value *out)
{
	struct call c;
	struct value result;

	c.self = self;
	c.raw = args;
	if (what->params && bind(rt, what, args, &c) < 0)
		return -1;
	if (what->fn(rt, &c, &result) < 0)
		return -1;
	*out = result;
	return 0;
}

/* ---- macros ---- */

static const struct kwarg *find_kw(const struct args *args, struct span name)
{
	for (size_t i = 0; i < args->nkw; i++)
		if (span_same(args->kw[i].name, name))
			return &args->kw[i];
	return NULL;
}

/* Fills the parameters; `*used` counts the keywords that were parameters. What is not given stays
 * V_MISSING. */
static size_t fill_params(
    struct frame *f, const struct node *def, const struct args *args, size_t *used)
{
	size_t i = 0;

	for (const struct node *p = def->b; p; p = p->next, i++) {
		const struct kwarg *kw;

		if (i < args->n) {
			*frame_slot(f, p->var) = args->v[i];
			continue;
		}
		kw = find_kw(args, p->name);
		if (kw)
			*frame_slot(f, p->var) = kw->v;
		*used += kw != NULL;
	}
	return i;
}

static int is_param(const struct node *def, size_t given, struct span name)
{
	size_t i = 0;

	for (const struct node *p = def->b; p; p = p->next, i++)
		if (i >= given && span_same(p->name, name))
			return 1;
	return 0;
}

/* caller, kwargs, varargs: their slots follow the parameters'. */
static int fill_special(
    struct rt *rt, struct frame *f, const struct node *def, const struct args *args, size_t params)
{
	static const char hint[] = "no caller is defined";
	struct value *slot = &f->slot[params];

	if (def->extra & MACRO_CALLER) {
		const struct kwarg *kw = find_kw(args, SPAN("caller"));

		if (kw)
			*slot = kw->v;
		else
			value_undef(slot, UNDEF_HINT, hint, sizeof(hint) - 1);
		slot++;
	}
	if (def->extra & MACRO_KWARGS) {
		struct dict *d = dict_new(rt, args->nkw);

		for (size_t i = 0; i < args->nkw; i++) {
			struct value name;

			value_str(&name, args->kw[i].name.p, args->kw[i].name.n);
			if (!is_param(def, args->n, args->kw[i].name) &&
			    dict_set(rt, d, &name, &args->kw[i].v) < 0)
				return -1;
		}
		*slot++ = (struct value){.kind = V_DICT, .u.dict = d};
	}
	if (def->extra & MACRO_VARARGS) {
		size_t n = args->n > params ? args->n - params : 0;
		struct value *v = value_list(rt, V_TUPLE, n, slot);

		for (size_t i = 0; i < n; i++)
			v[i] = args->v[params + i];
	}
	return 0;
}

static int bind_macro(
    struct rt *rt, struct frame *f, const struct node *def, const struct args *args)
{
	size_t used = 0, params = fill_params(f, def, args, &used);
	int caller = (def->extra & MACRO_CALLER) && find_kw(args, SPAN("caller"));
	int name = def->name.n > 64 ? 64 : (int)def->name.n;

	if (args->n > params && !(def->extra & MACRO_VARARGS))
		return rt_fail(rt, "macro '%.*s' takes at most %zu arguments, %zu are given", name,
		    def->name.p, params, args->n);
	if (used + (size_t)caller < args->nkw && !(def->extra & MACRO_KWARGS))
		return rt_fail(rt, "macro '%.*s' is given an argument by a name that it has not",
		    name, def->name.p);
	if (fill_special(rt, f, def, args, params) < 0)
		return -1;
	scope_enter(rt, f, &def->scope[0]);
	for (const struct node *p = def->b; p; p = p->next) {
		struct value *slot = frame_slot(f, p->var);
		struct value v;

		if (slot->kind != V_MISSING)
			continue;
		if (!p->a)
			value_undef(&v, UNDEF_NAME, p->name.p, p->name.n);
		else if (eval(rt, f, p->a, &v) < 0)
			return -1;
		*slot = v;
	}
	return 0;
}

static int call_macro(struct rt *rt, const struct macro *m, const struct args *args)
{
	struct frame *f = frame_new(rt, m->outer, m->def->slots);
	int rc;

	if (++rt->calls > rt->max.depth)
		return rt_fail(rt, "macros call one another deeper than %u", rt->max.depth);
	if (rt->note)
		memo_skip(rt); /* its branches */
	rc = bind_macro(rt, f, m->def, args) < 0 ? -1 : exec_list(rt, f, m->def->list);
	rt->calls--;
	return rc < 0 ? -1 : 0;
}

static int macro_text(
    struct rt *rt, const struct macro *m, const struct args *args, struct value *out)
{
	struct capture c;

	rt_capture(rt, &c);
	if (call_macro(rt, m, args) < 0)
		return -1;
	rt_captured(rt, &c, out);
	return 0;
}

/* ---- calls ---- */

int call_value(
    struct rt *rt, const struct value *callee, const struct args *args, struct value *out)
{
	struct value none;

	switch (callee->kind) {
	case V_MACRO: return macro_text(rt, callee->u.macro, args, out);
	case V_FUNC: value_none(&none); return call_bound(rt, callee->u.func, &none, args, out);
	case V_METHOD:
		return call_bound(rt, callee->u.bound->method, &callee->u.bound->self, args, out);
	case V_UNDEF: return value_fail_undef(rt, callee);
	default: return rt_fail(rt, "a value of type '%s' can't be called", value_type(callee));
	}
}

static int finish(struct rt *rt, const struct value *v, int print)
{
	return print ? rt_print(rt, v) : 0;
}

/* x.name(...) where name is a method of x: without making the bound method. 1: not so. */
static int call_method(
    struct rt *rt, struct frame *f, const struct node *n, struct value *callee, struct value *out)
{
	const struct callable *m;
	struct arg_list a;
	struct value self;
	struct args args;

	if (eval(rt, f, n->a->a, &self) < 0)
		return -1;
	rt->at = n->a;
	m = method_find(&self, n->a->name);
	if (!m || m->fn == method_refused)
		return attr_get(rt, &self, n->a->name, callee) < 0 ? -1 : 1;
	if (eval_args(rt, f, n->list, &a) < 0)
		return -1;
	rt->at = n->a;
	args = args_of(&a);
	return call_bound(rt, m, &self, &args, out);
}

int eval_call(struct rt *rt, struct frame *f, const struct node *n, struct value *out, int print)
{
	struct value callee;
	struct arg_list a;
	struct args args;
	int rc;

	if (n->a->kind == N_ATTR) {
		rc = call_method(rt, f, n, &callee, out);
		if (rc <= 0)
			return rc < 0 ? -1 : finish(rt, out, print);
	} else if (eval(rt, f, n->a, &callee) < 0) {
		return -1;
	}
	if (eval_args(rt, f, n->list, &a) < 0)
		return -1;
	rt->at = n;
	args = args_of(&a);
	if (print && callee.kind == V_MACRO)
		return call_macro(rt, callee.u.macro, &args);
	return call_value(rt, &callee, &args, out) < 0 ? -1 : finish(rt, out, print);
}

static int no_such(struct rt *rt, const struct node *n)
{
	return rt_fail(rt, "no %s named '%.*s'", n->kind == N_FILTER ? "filter" : "test",
	    n->name.n > 100 ? 100 : (int)n->name.n, n->name.p);
}

static int apply(struct rt *rt, struct frame *f, const struct node *n, const struct value *operand,
    struct value *out)
{
	struct arg_list a;
	struct args args;

	if (eval_args(rt, f, n->list, &a) < 0)
		return -1;
	rt->at = n;
	if (!n->callee)
		return no_such(rt, n);
	args = args_of(&a);
	return call_bound(rt, n->callee, operand, &args, out);
}

int eval_filter(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value operand;

	return eval(rt, f, n->a, &operand) < 0 ? -1 : apply(rt, f, n, &operand, out);
}

int eval_test(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	return eval_filter(rt, f, n, out);
}

int eval_block_filter(struct rt *rt, struct frame *f, const struct node *n, struct value *text)
{
	struct value operand;

	if (n->a && eval_block_filter(rt, f, n->a, text) < 0)
		return -1;
	operand = *text;
	return apply(rt, f, n, &operand, text);
}
