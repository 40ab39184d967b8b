/* The tests behind `is`. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"
#include "jinja/utable.h"

static int answer(struct value *out, int yes)
{
	if (yes < 0)
		return -1;
	value_bool(out, yes);
	return 0;
}

static int is_defined(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind != V_UNDEF);
}

static int is_undefined(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_UNDEF);
}

static int is_none(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_NONE);
}

static int is_boolean(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_BOOL);
}

static int is_true(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_BOOL && c->self->u.i);
}

static int is_false(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_BOOL && !c->self->u.i);
}

static int is_integer(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_INT || c->self->kind == V_BIG);
}

static int is_float(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_FLOAT);
}

static int is_number(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind >= V_BOOL && c->self->kind <= V_FLOAT);
}

static int is_string(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_STR);
}

static int is_mapping(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_DICT);
}

static int is_iterable(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, iter_can(c->self));
}

/* What has a length and an index. */
static int is_sequence(struct rt *rt, const struct call *c, struct value *out)
{
	int k = c->self->kind;

	(void)rt;
	return answer(out, k == V_UNDEF || k == V_STR || k == V_LIST || k == V_TUPLE ||
			       k == V_DICT || k == V_RANGE);
}

static int is_callable(struct rt *rt, const struct call *c, struct value *out)
{
	int k = c->self->kind;

	(void)rt;
	return answer(
	    out, k == V_FUNC || k == V_METHOD || k == V_MACRO || k == V_LOOP || k == V_UNDEF);
}

static int is_escaped(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, c->self->kind == V_STR && (c->self->flags & STR_SAFE));
}

static int is_sameas(struct rt *rt, const struct call *c, struct value *out)
{
	(void)rt;
	return answer(out, value_same(c->self, &c->arg[0]));
}

static int is_in(struct rt *rt, const struct call *c, struct value *out)
{
	return answer(out, value_contains(rt, &c->arg[0], c->self));
}

static int remainder_is(
    struct rt *rt, const struct value *v, const struct value *by, int64_t want, struct value *out)
{
	struct value rest, wanted;

	if (arith_binary(rt, N_MOD, v, by, &rest) < 0)
		return -1;
	value_int(&wanted, want);
	return answer(out, value_eq(rt, &rest, &wanted));
}

static int is_odd(struct rt *rt, const struct call *c, struct value *out)
{
	struct value two = {.kind = V_INT, .u.i = 2};

	return remainder_is(rt, c->self, &two, 1, out);
}

static int is_even(struct rt *rt, const struct call *c, struct value *out)
{
	struct value two = {.kind = V_INT, .u.i = 2};

	return remainder_is(rt, c->self, &two, 0, out);
}

static int is_divisibleby(struct rt *rt, const struct call *c, struct value *out)
{
	return remainder_is(rt, c->self, &c->arg[0], 0, out);
}

/* str.islower, str.isupper: some cased character, none of the other kind. */
static int all_cased(struct rt *rt, const struct call *c, int lower, struct value *out)
{
	struct value s;
	int some = 0;

	if (text_str(rt, c->self, &s) < 0 || rt_step(rt, s.u.s.n) < 0)
		return -1;
	for (size_t i = 0; i < s.u.s.n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s.u.s.p + i, s.u.s.n - i, &cp);

		if (lower ? u_is_lower(cp) : u_is_upper(cp))
			some = 1;
		else if (u_is(U_CASED, cp))
			return answer(out, 0);
		i += len ? len : 1;
	}
	return answer(out, some);
}

static int is_lower(struct rt *rt, const struct call *c, struct value *out)
{
	return all_cased(rt, c, 1, out);
}

static int is_upper(struct rt *rt, const struct call *c, struct value *out)
{
	return all_cased(rt, c, 0, out);
}

static int is_filter(struct rt *rt, const struct call *c, struct value *out)
{
	struct span name = {c->self->u.s.p, c->self->u.s.n};

	(void)rt;
	return answer(out, c->self->kind == V_STR && filter_find(name) != NULL);
}

static int is_test(struct rt *rt, const struct call *c, struct value *out)
{
	struct span name = {c->self->u.s.p, c->self->u.s.n};

	(void)rt;
	return answer(out, c->self->kind == V_STR && test_find(name) != NULL);
}

static int is_eq(struct rt *rt, const struct call *c, struct value *out)
{
	return answer(out, value_eq(rt, c->self, &c->arg[0]));
}

static int is_ne(struct rt *rt, const struct call *c, struct value *out)
{
	int eq = value_eq(rt, c->self, &c->arg[0]);

	return eq < 0 ? -1 : answer(out, !eq);
}

static int ordered(struct rt *rt, const struct call *c, int less, int equal, struct value *out)
{
	int order;

	if (value_order(rt, c->self, &c->arg[0], &order) < 0)
		return -1;
	return answer(out, order == less || (equal && order == 0));
}

static int is_lt(struct rt *rt, const struct call *c, struct value *out)
{
	return ordered(rt, c, -1, 0, out);
}

static int is_le(struct rt *rt, const struct call *c, struct value *out)
{
	return ordered(rt, c, -1, 1, out);
}

static int is_gt(struct rt *rt, const struct call *c, struct value *out)
{
	return ordered(rt, c, 1, 0, out);
}

static int is_ge(struct rt *rt, const struct call *c, struct value *out)
{
	return ordered(rt, c, 1, 1, out);
}

static const struct callable tests[] = {
    {"defined", is_defined, "", 0},
    {"undefined", is_undefined, "", 0},
    {"none", is_none, "", 0},
    {"boolean", is_boolean, "", 0},
    {"true", is_true, "", 0},
    {"false", is_false, "", 0},
    {"integer", is_integer, "", 0},
    {"float", is_float, "", 0},
    {"number", is_number, "", 0},
    {"string", is_string, "", 0},
    {"mapping", is_mapping, "", 0},
    {"iterable", is_iterable, "", 0},
    {"sequence", is_sequence, "", 0},
    {"callable", is_callable, "", 0},
    {"escaped", is_escaped, "", 0},
    {"sameas", is_sameas, "other", 1},
    {"in", is_in, "seq", 1},
    {"odd", is_odd, "", 0},
    {"even", is_even, "", 0},
    {"divisibleby", is_divisibleby, "num", 1},
    {"lower", is_lower, "", 0},
    {"upper", is_upper, "", 0},
    {"filter", is_filter, "", 0},
    {"test", is_test, "", 0},
    {"eq", is_eq, "other", 1},
    {"equalto", is_eq, "other", 1},
    {"==", is_eq, "other", 1},
    {"ne", is_ne, "other", 1},
    {"!=", is_ne, "other", 1},
    {"lt", is_lt, "other", 1},
    {"lessthan", is_lt, "other", 1},
    {"<", is_lt, "other", 1},
    {"le", is_le, "other", 1},
    {"<=", is_le, "other", 1},
    {"gt", is_gt, "other", 1},
    {"greaterthan", is_gt, "other", 1},
    {">", is_gt, "other", 1},
    {"ge", is_ge, "other", 1},
    {">=", is_ge, "other", 1},
    {0},
};

const struct callable *test_find(struct span name)
{
	return callable_find(tests, name);
}
