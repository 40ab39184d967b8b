#include <string.h>

#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/memo.h"
#include "jinja/text.h"

struct frame *frame_new(struct rt *rt, struct frame *outer, size_t slots)
{
	struct frame *f = rt_alloc(rt, sizeof(*f) + slots * sizeof(f->slot[0]));

	f->outer = outer;
	for (size_t i = 0; i < slots; i++)
		f->slot[i].kind = V_MISSING;
	return f;
}

void scope_enter(struct rt *rt, struct frame *f, const struct scope *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct load *l = &s->load[i];

		switch (l->action) {
		case LOAD_UNSET: f->slot[l->slot].kind = V_MISSING; break;
		case LOAD_GLOBAL: f->slot[l->slot] = rt->global[l->global]; break;
		case LOAD_ALIAS: f->slot[l->slot] = *frame_slot(f, l->from); break;
		default: break;
		}
	}
	if (rt->note)
		memo_enter(rt, f, s);
}

void scope_leave(struct frame *f, const struct scope *s)
{
	for (size_t i = 0; i < s->n; i++)
		f->slot[s->load[i].slot].kind = V_MISSING;
}

/* ---- assignments ---- */

static int namespace_of(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	*out = *frame_slot(f, n->a->var);
	rt->at = n;
	if (out->kind == V_NAMESPACE)
		return 0;
	return rt_fail(rt, "can't set an attribute of '%.*s', which is no namespace",
	    n->a->name.n > 64 ? 64 : (int)n->a->name.n, n->a->name.p);
}

/* Refuses a target that is no namespace before the value is evaluated. */
static int check_namespaces(struct rt *rt, struct frame *f, const struct node *target)
{
	struct value ns;

	if (target->kind == N_NSREF)
		return namespace_of(rt, f, target, &ns);
	if (target->kind == N_TUPLE)
		for (const struct node *t = target->list; t; t = t->next)
			if (check_namespaces(rt, f, t) < 0)
				return -1;
	return 0;
}

static int unpack(struct rt *rt, struct frame *f, const struct node *target, const struct value *v)
{
	struct value item;
	struct iter mem, *it = iter_open(rt, v, &mem);
	int more;

	if (!it)
		return -1;
	for (const struct node *t = target->list; t; t = t->next) {
		more = iter_next(rt, it, &item);
		if (more < 0)
			return -1;
		if (!more)
			return rt_fail(rt, "not enough values to unpack");
		if (assign(rt, f, t, &item) < 0)
			return -1;
	}
	more = iter_next(rt, it, &item);
	return more > 0 ? rt_fail(rt, "too many values to unpack") : more;
}

int assign(struct rt *rt, struct frame *f, const struct node *target, const struct value *v)
{
	struct value ns, name;

	if (target->kind == N_NAME) {
		struct value *slot = frame_slot(f, target->var);

		*slot = *v;
		if (rt->note)
			memo_set(rt, slot);
		return 0;
	}
	if (target->kind == N_TUPLE)
		return unpack(rt, f, target, v);
	if (namespace_of(rt, f, target, &ns) < 0)
		return -1;
	if (rt->note)
		memo_set_member(rt, f, target, &ns);
	value_str(&name, target->name.p, target->name.n);
	return dict_set(rt, ns.u.dict, &name, v);
}

static int exec_set(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;

	if (check_namespaces(rt, f, n->a) < 0 || eval(rt, f, n->b, &v) < 0)
		return -1;
	rt->at = n;
	return assign(rt, f, n->a, &v);
}

/* ---- blocks whose text is kept ---- */

/* Runs the body, filters its text. */
static int captured_body(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct capture c;
	int flow;

	scope_enter(rt, f, &n->scope[0]);
	rt_capture(rt, &c);
	flow = exec_list(rt, f, n->list);
	if (flow != FLOW_NEXT) {
		rt_drop(rt, &c);
		return flow;
	}
	rt_captured(rt, &c, out);
	if (n->b && eval_block_filter(rt, f, n->b, out) < 0)
		return -1;
	return FLOW_NEXT;
}

static int exec_set_block(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;
	int flow;

	if (check_namespaces(rt, f, n->a) < 0)
		return -1;
	flow = captured_body(rt, f, n, &v);
	if (flow != FLOW_NEXT)
		return flow;
	rt->at = n;
	if (assign(rt, f, n->a, &v) < 0)
		return -1;
	scope_leave(f, &n->scope[0]);
	return FLOW_NEXT;
}

static int exec_filter_block(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;
	int flow = captured_body(rt, f, n, &v);

	if (flow != FLOW_NEXT)
		return flow;
	scope_leave(f, &n->scope[0]);
	rt->at = n;
	if (v.kind != V_STR)
		return rt_fail(rt, "the filter of a block gives a value of type '%s', not a string",
		    value_type(&v));
	return rt_print(rt, &v);
}

static int exec_generation(struct rt *rt, struct frame *f, const struct node *n)
{
	uint32_t outer = rt->generation;
	int flow;

	rt->generation = ORIGIN_GENERATION;
	scope_enter(rt, f, &n->scope[0]);
	flow = exec_list(rt, f, n->list);
	scope_leave(f, &n->scope[0]);
	rt->generation = outer;
	return flow;
}

static int exec_with(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;
	int flow;

	scope_enter(rt, f, &n->scope[0]);
	for (const struct node *s = n->b; s; s = s->next)
		if (eval(rt, f, s->b, &v) < 0 || assign(rt, f, s->a, &v) < 0)
			return -1;
	flow = exec_list(rt, f, n->list);
	scope_leave(f, &n->scope[0]);
	return flow;
}

/* ---- control ---- */

int eval_loop_filter(struct rt *rt, struct frame *f, const struct node *loop, struct value *item)
{
	return assign(rt, f, loop->d, item) < 0 ? -1 : eval_truth(rt, f, loop->c);
}

/* The body, its variables set; run or, if it was run before, done again. */
static int loop_body(struct rt *rt, struct frame *f, const struct node *n, const struct value *item)
{
	int flow;

	if (!rt->env->memo || rt->note)
		return exec_list(rt, f, n->list);
	if (memo_begin(rt, f, n, item, &flow))
		return flow;
	flow = exec_list(rt, f, n->list);
	memo_end(rt, flow);
	return flow;
}

/* The iterations. *through: some body ran to its end. */
static int run_loop(
    struct rt *rt, struct frame *f, const struct node *n, struct loop *l, int *through)
{
	struct value item;
	int more;

	while ((more = loop_next(rt, l, &item)) > 0) {
		int flow;

		rt->at = n;
		if (assign(rt, f, n->a, &item) < 0)
			return -1;
		scope_enter(rt, f, &n->scope[0]);
		if (n->var.slot != NO_SLOT) {
			f->slot[n->var.slot] = (struct value){.kind = V_LOOP, .u.loop = l};
			if (rt->note)
				memo_set(rt, &f->slot[n->var.slot]);
		}
		flow = loop_body(rt, f, n, &item);
		if (flow < 0)
			return -1;
		if (flow == FLOW_BREAK)
			break;
		if (flow == FLOW_NEXT)
			*through = 1;
	}
	return more < 0 ? -1 : 0;
}

static int exec_for(struct rt *rt, struct frame *f, const struct node *n)
{
	struct loop *l = rt_alloc(rt, sizeof(*l));
	struct value over;
	int through = 0, flow = FLOW_NEXT;

	if (eval(rt, f, n->b, &over) < 0)
		return -1;
	rt->at = n;
	*l = (struct loop){.node = n->c ? n : NULL, .frame = f};
	if (n->c)
		scope_enter(rt, f, &n->scope[1]);
	if (loop_open(rt, l, &over) < 0 || run_loop(rt, f, n, l, &through) < 0)
		return -1;
	scope_leave(f, &n->scope[0]);
	/* so it is in Jinja2: a loop whose first iteration breaks has its else too */
	if (!through && n->els) {
		scope_enter(rt, f, &n->scope[2]);
		flow = exec_list(rt, f, n->els);
		scope_leave(f, &n->scope[2]);
	}
	return flow;
}

static int exec_if(struct rt *rt, struct frame *f, const struct node *n)
{
	for (const struct node *b = n->list; b; b = b->next) {
		int yes = b->a ? eval_truth(rt, f, b->a) : 1;

		if (yes < 0)
			return -1;
		if (yes)
			return exec_list(rt, f, b->list);
	}
	return FLOW_NEXT;
}

static int exec_macro(struct rt *rt, struct frame *f, const struct node *n)
{
	struct macro *m = rt_alloc(rt, sizeof(*m));

	*m = (struct macro){n, f};
	*frame_slot(f, n->a->var) = (struct value){.kind = V_MACRO, .u.macro = m};
	if (rt->note)
		memo_set(rt, frame_slot(f, n->a->var));
	return FLOW_NEXT;
}

/* Nothing escapes what is added to it. */
static int is_bare(const struct value *v)
{
	return v->kind == V_STR && !(v->flags & STR_SAFE);
}

/* a + b + c ...: bare strings are printed one after the other, without making their sum. */
static int print_sum(struct rt *rt, struct frame *f, const struct node *n)
{
	const struct node **term;
	struct value *v, sum;
	size_t last = 0;
	int bare = 1;

	for (const struct node *p = n->a; p->kind == N_ADD; p = p->a)
		last++;
	term = rt_array(rt, last + 1, sizeof(*term));
	v = rt_array(rt, last + 1, sizeof(*v));
	term[0] = n->a;
	for (size_t i = last; i > 0; i--, term[0] = term[0]->a)
		term[i] = term[0];
	for (size_t i = 0; i <= last; i++) {
		if (rt_step(rt, 0) < 0 || eval(rt, f, i > 0 ? term[i]->b : term[0], &v[i]) < 0)
			return -1;
		if (bare && is_bare(&v[i]))
			continue;
		for (size_t k = bare ? 1 : i; k <= i; k++) {
			rt->at = term[k];
			if (arith_binary(rt, N_ADD, &v[0], &v[k], &sum) < 0)
				return -1;
			v[0] = sum;
		}
		bare = 0;
	}
	rt->at = n;
	for (size_t i = 0; i <= (bare ? last : 0); i++)
		if (rt_print(rt, &v[i]) < 0)
			return -1;
	return 0;
}

static int exec_print(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;

	if (n->a->kind == N_CALL)
		return eval_call(rt, f, n->a, &v, 1);
	if (n->a->kind == N_ADD)
		return print_sum(rt, f, n);
	if (eval(rt, f, n->a, &v) < 0)
		return -1;
	rt->at = n;
	return rt_print(rt, &v);
}

static int exec_one(struct rt *rt, struct frame *f, const struct node *n)
{
	switch (n->kind) {
	case N_DATA: return rt_emit(rt, n->name.p, n->name.n, 0);
	case N_PRINT: return exec_print(rt, f, n);
	case N_FOR: return exec_for(rt, f, n);
	case N_IF: return exec_if(rt, f, n);
	case N_SET: return exec_set(rt, f, n);
	case N_SET_BLOCK: return exec_set_block(rt, f, n);
	case N_MACRO: return exec_macro(rt, f, n);
	case N_FILTER_BLOCK: return exec_filter_block(rt, f, n);
	case N_GENERATION: return exec_generation(rt, f, n);
	case N_WITH: return exec_with(rt, f, n);
	case N_BREAK: return FLOW_BREAK;
	default: return FLOW_CONTINUE;
	}
}

int exec_list(struct rt *rt, struct frame *f, const struct node *n)
{
	int flow = FLOW_NEXT;

	if (++rt->nest > rt->max.depth * NEST)
		return rt_fail(rt, "evaluation nested deeper than %u", rt->max.depth * NEST);
	for (; n && flow == FLOW_NEXT; n = n->next) {
		rt->at = n;
		flow = rt_step(rt, 0) < 0 ? -1 : exec_one(rt, f, n);
	}
	rt->nest--;
	return flow;
}
