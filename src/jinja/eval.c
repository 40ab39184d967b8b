#include "jinja/eval.h"

#include <string.h>

#include "jinja/memo.h"
#include "jinja/text.h"

static int eval_const(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	(void)rt;
	(void)f;
	*out = n->value;
	return 0;
}

static int eval_name(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value *slot = frame_slot(f, n->var);

	*out = *slot;
	if (rt->note)
		memo_read(rt, f, n, slot);
	if (out->kind == V_MISSING)
		value_undef(out, UNDEF_NAME, n->name.p, n->name.n);
	return 0;
}

static size_t list_length(const struct node *n)
{
	size_t len = 0;

	for (; n; n = n->next)
		len++;
	return len;
}

static int eval_list(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	enum vkind kind = n->kind == N_LIST ? V_LIST : V_TUPLE;
	struct value *v = value_list(rt, kind, list_length(n->list), out);

	for (n = n->list; n; n = n->next)
		if (eval(rt, f, n, v++) < 0)
			return -1;
	return 0;
}

static int eval_dict(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct dict *d = dict_new(rt, list_length(n->list) / 2);

	*out = (struct value){.kind = V_DICT, .u.dict = d};
	for (const struct node *k = n->list; k; k = k->next->next) {
		struct value key, val;

		if (eval(rt, f, k, &key) < 0 || eval(rt, f, k->next, &val) < 0)
			return -1;
		rt->at = k;
		if (dict_set(rt, d, &key, &val) < 0)
			return -1;
	}
	return 0;
}

int eval_truth(struct rt *rt, struct frame *f, const struct node *n)
{
	struct value v;
	struct memo_mark since;
	int yes;

	if (!rt->note)
		return eval(rt, f, n, &v) < 0 ? -1 : value_truth(rt, &v);
	since = memo_mark(rt->note);
	if (eval(rt, f, n, &v) < 0)
		return -1;
	yes = value_truth(rt, &v);
	if (memo_outer(rt->note, f, &since))
		memo_truth(rt, n, &since, yes);
	return yes;
}

static int eval_cond(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	static const char hint[] = "an inline if without else was false";
	int yes = eval_truth(rt, f, n->a);

	if (yes < 0)
		return -1;
	if (rt->note)
		memo_skip(rt);
	if (yes)
		return eval(rt, f, n->b, out);
	if (n->c)
		return eval(rt, f, n->c, out);
	value_undef(out, UNDEF_HINT, hint, sizeof(hint) - 1);
	return 0;
}

/* and, or: the operand that decides is the value. */
static int eval_logic(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	if (eval(rt, f, n->a, out) < 0)
		return -1;
	if (value_truth(rt, out) == (n->kind == N_OR)) {
		if (rt->note)
			memo_skip(rt);
		return 0;
	}
	return eval(rt, f, n->b, out);
}

static int eval_not(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	int yes = eval_truth(rt, f, n->a);

	if (yes < 0)
		return -1;
	value_bool(out, !yes);
	return 0;
}

static int eval_unary(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value a;

	if (eval(rt, f, n->a, &a) < 0)
		return -1;
	rt->at = n;
	return arith_unary(rt, n->kind, &a, out);
}

static int eval_binary(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value a, b;

	if (eval(rt, f, n->a, &a) < 0 || eval(rt, f, n->b, &b) < 0)
		return -1;
	rt->at = n;
	return arith_binary(rt, n->kind, &a, &b, out);
}

static int eval_concat(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value part;
	struct text t;

	if (eval(rt, f, n->list, &part) < 0 || text_str(rt, &part, out) < 0)
		return -1;
	for (n = n->list->next; n; n = n->next) {
		if (eval(rt, f, n, &part) < 0 || text_str(rt, &part, &part) < 0)
			return -1;
		rt->at = n;
		text_append(&t, rt, out, part.u.s.n);
		text_addv(&t, &part);
		if (text_end(&t, out) < 0)
			return -1;
	}
	out->flags &= (uint8_t)~STR_SAFE;
	return 0;
}

static int compare(struct rt *rt, enum compare_op op, const struct value *a, const struct value *b)
{
	int order, rc;

	switch (op) {
	case CMP_EQ: return value_eq(rt, a, b);
	case CMP_IN: return value_contains(rt, b, a);
	case CMP_NE:
	case CMP_NOT_IN:
		rc = op == CMP_NE ? value_eq(rt, a, b) : value_contains(rt, b, a);
		return rc < 0 ? -1 : !rc;
	default: break;
	}
	if (value_order(rt, a, b, &order) < 0)
		return -1;
	if (order == 2)
		return 0;
	return op == CMP_LT   ? order < 0
	       : op == CMP_LE ? order <= 0
	       : op == CMP_GT ? order > 0
			      : order >= 0;
}

static int eval_compare(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value a, b;
	int yes = 1;

	if (eval(rt, f, n->a, &a) < 0)
		return -1;
	for (const struct node *o = n->list; o; o = o->next) {
		if (eval(rt, f, o->a, &b) < 0)
			return -1;
		rt->at = n;
		yes = compare(rt, o->op, &a, &b);
		if (yes < 0)
			return -1;
		if (!yes && o->next && rt->note)
			memo_skip(rt);
		if (!yes)
			break;
		a = b;
	}
	value_bool(out, yes);
	return 0;
}

static int eval_attr(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value of;

	if (eval(rt, f, n->a, &of) < 0)
		return -1;
	rt->at = n;
	if (n->extra & ATTR_KEY && attr_key(rt, &of, n->name, out))
		return 0;
	if (attr_get(rt, &of, n->name, out) < 0)
		return -1;
	if (rt->note && (of.kind == V_NAMESPACE || of.kind == V_LOOP))
		memo_member(rt, f, n, &of, out);
	return 0;
}

static int eval_item(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct value of, at;

	if (eval(rt, f, n->a, &of) < 0 || eval(rt, f, n->b, &at) < 0)
		return -1;
	rt->at = n;
	return item_get(rt, &of, &at, out);
}

static int eval_slice(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	const struct node *const part[3] = {n->b, n->c, n->d};
	struct value of, bound[3];

	if (eval(rt, f, n->a, &of) < 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		value_none(&bound[i]);
		if (part[i] && eval(rt, f, part[i], &bound[i]) < 0)
			return -1;
	}
	rt->at = n;
	return slice_get(rt, &of, bound, out);
}

static int eval_called(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	return eval_call(rt, f, n, out, 0);
}

typedef int eval_fn(struct rt *rt, struct frame *f, const struct node *n, struct value *out);

static eval_fn *const by_kind[N_KINDS] = {
    [N_CONST] = eval_const,
    [N_NAME] = eval_name,
    [N_TUPLE] = eval_list,
    [N_LIST] = eval_list,
    [N_DICT] = eval_dict,
    [N_COND] = eval_cond,
    [N_AND] = eval_logic,
    [N_OR] = eval_logic,
    [N_NOT] = eval_not,
    [N_NEG] = eval_unary,
    [N_POS] = eval_unary,
    [N_ADD] = eval_binary,
    [N_SUB] = eval_binary,
    [N_MUL] = eval_binary,
    [N_DIV] = eval_binary,
    [N_FLOORDIV] = eval_binary,
    [N_MOD] = eval_binary,
    [N_POW] = eval_binary,
    [N_CONCAT] = eval_concat,
    [N_COMPARE] = eval_compare,
    [N_ATTR] = eval_attr,
    [N_ITEM] = eval_item,
    [N_SLICE] = eval_slice,
    [N_CALL] = eval_called,
    [N_FILTER] = eval_filter,
    [N_TEST] = eval_test,
};

static int eval_noted(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	struct memo_mark since = memo_mark(rt->note);
	int rc = by_kind[n->kind](rt, f, n, out);

	if (rc == 0 && memo_outer(rt->note, f, &since))
		memo_value(rt, n, &since, out);
	return rc;
}

int eval(struct rt *rt, struct frame *f, const struct node *n, struct value *out)
{
	int rc;

	rt->at = n;
	if (rt_step(rt, 0) < 0)
		return -1;
	if (++rt->nest > rt->max.depth * NEST)
		return rt_fail(rt, "evaluation nested deeper than %u", rt->max.depth * NEST);
	rc = rt->note ? eval_noted(rt, f, n, out) : by_kind[n->kind](rt, f, n, out);
	rt->nest--;
	return rc;
}
