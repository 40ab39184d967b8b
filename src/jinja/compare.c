/* Equality and order as Python has them: numbers by value across kinds, strings by code points
 * (which is the order of their UTF-8 bytes), lists and tuples element by element. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jinja/rt.h"
#include "jinja/value.h"

static int is_number(const struct value *v)
{
	return v->kind >= V_BOOL && v->kind <= V_FLOAT;
}

static int sign(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Digits with an optional sign, no leading zeros: JSON's. */
static int order_big(const struct value *a, const struct value *b)
{
	int neg = a->u.s.p[0] == '-', c;

	if (neg != (b->u.s.p[0] == '-'))
		return neg ? -1 : 1;
	if (a->u.s.n != b->u.s.n)
		c = a->u.s.n < b->u.s.n ? -1 : 1;
	else
		c = memcmp(a->u.s.p, b->u.s.p, a->u.s.n);
	return sign(neg ? -c : c, 0);
}

/* A double beyond 64 bits is whole, and all its digits are known. */
static int order_big_double(const struct value *big, double d)
{
	char digits[400];
	struct value v;

	if (d != d)
		return 2;
	if (fabs(d) < 9223372036854775808.0)
		return big->u.s.p[0] == '-' ? -1 : 1;
	if (isinf(d))
		return d > 0 ? -1 : 1;
	snprintf(digits, sizeof(digits), "%.0f", d);
	value_str(&v, digits, strlen(digits));
	return order_big(big, &v);
}

/* An int against a double, exactly: doubles beyond 2^63 decide by their sign. */
static int order_int_double(int64_t i, double d)
{
	int64_t whole;

	if (d != d)
		return 2;
	if (d >= 9223372036854775808.0)
		return -1;
	if (d < -9223372036854775808.0)
		return 1;
	whole = (int64_t)d;
	if (i != whole)
		return sign(i, whole);
	return (double)whole == d ? 0 : d > (double)whole ? -1 : 1;
}

static int order_double(double a, double b)
{
	if (a != a || b != b)
		return 2;
	return a < b ? -1 : a > b;
}

static int flipped(int c)
{
	return c == 2 ? 2 : -c;
}

static int order_number(const struct value *a, const struct value *b)
{
	if (a->kind == V_BIG && b->kind == V_BIG)
		return order_big(a, b);
	if (a->kind == V_FLOAT || b->kind == V_FLOAT) {
		if (a->kind == V_BIG)
			return order_big_double(a, b->u.d);
		if (b->kind == V_BIG)
			return flipped(order_big_double(b, a->u.d));
		if (a->kind == V_FLOAT && b->kind == V_FLOAT)
			return order_double(a->u.d, b->u.d);
		if (b->kind == V_FLOAT)
			return order_int_double(a->u.i, b->u.d);
		return flipped(order_int_double(b->u.i, a->u.d));
	}
	if (a->kind == V_BIG)
		return a->u.s.p[0] == '-' ? -1 : 1;
	if (b->kind == V_BIG)
		return b->u.s.p[0] == '-' ? 1 : -1;
	return sign(a->u.i, b->u.i);
}

static int order_str(const struct value *a, const struct value *b)
{
	size_t n = a->u.s.n < b->u.s.n ? a->u.s.n : b->u.s.n;
	int c = n ? memcmp(a->u.s.p, b->u.s.p, n) : 0;

	return c ? sign(c, 0) : sign((int64_t)a->u.s.n, (int64_t)b->u.s.n);
}

static int eq_lists(struct rt *rt, struct list *a, struct list *b)
{
	if (a->n != b->n)
		return 0;
	if (a == b)
		return 1;
	if (rt_step(rt, a->n * 8) < 0)
		return -1;
	list_open(rt, a);
	list_open(rt, b);
	for (size_t i = 0; i < a->n; i++) {
		int eq = value_eq(rt, &a->v[i], &b->v[i]);

		if (eq <= 0)
			return eq;
	}
	return 1;
}

static int eq_dicts(struct rt *rt, struct dict *a, struct dict *b)
{
	int bad;

	if (a->n != b->n)
		return 0;
	if (rt_step(rt, a->n * 32) < 0)
		return -1;
	dict_open(rt, a);
	for (size_t i = 0; i < a->n; i++) {
		const struct value *other = dict_find(rt, b, &a->p[i].key, &bad);
		int eq = other ? value_eq(rt, &a->p[i].val, other) : 0;

		if (eq <= 0)
			return eq;
	}
	return 1;
}

static int eq_ranges(const struct range *a, const struct range *b)
{
	if (a->n != b->n)
		return 0;
	return a->n == 0 || (a->start == b->start && (a->n == 1 || a->step == b->step));
}

static int eq_same_kind(struct rt *rt, const struct value *a, const struct value *b)
{
	switch (a->kind) {
	case V_UNDEF:
	case V_NONE: return 1;
	case V_STR:
		rt->steps += a->u.s.n / 32;
		return a->u.s.n == b->u.s.n &&
		       (a->u.s.n == 0 || memcmp(a->u.s.p, b->u.s.p, a->u.s.n) == 0);
	case V_LIST:
	case V_TUPLE: return eq_lists(rt, a->u.list, b->u.list);
	case V_DICT: return eq_dicts(rt, a->u.dict, b->u.dict);
	case V_RANGE: return eq_ranges(a->u.range, b->u.range);
	default: return a->u.list == b->u.list;
	}
}

int value_eq(struct rt *rt, const struct value *a, const struct value *b)
{
	int eq;

	if (a->kind == V_BIG)
		rt->steps += a->u.s.n / 32;
	if (is_number(a) && is_number(b))
		return order_number(a, b) == 0;
	if (a->kind != b->kind)
		return 0;
	if (rt_step(rt, 0) < 0)
		return -1;
	if (++rt->depth > VALUE_DEPTH)
		return rt_fail(rt, "values nested too deep to compare");
	eq = eq_same_kind(rt, a, b);
	rt->depth--;
	return eq;
}

static int order_lists(struct rt *rt, struct list *a, struct list *b, int *order)
{
	if (rt_step(rt, a->n * 8) < 0)
		return -1;
	list_open(rt, a);
	list_open(rt, b);
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int eq = value_eq(rt, &a->v[i], &b->v[i]);

		if (eq < 0)
			return -1;
		if (!eq)
			return value_order(rt, &a->v[i], &b->v[i], order);
	}
	*order = sign((int64_t)a->n, (int64_t)b->n);
	return 0;
}

int value_order(struct rt *rt, const struct value *a, const struct value *b, int *order)
{
	int rc;

	if (is_number(a) && is_number(b)) {
		*order = order_number(a, b);
		return 0;
	}
	if (a->kind == V_UNDEF || b->kind == V_UNDEF)
		return value_fail_undef(rt, a->kind == V_UNDEF ? a : b);
	if (a->kind == V_STR && b->kind == V_STR) {
		*order = order_str(a, b);
		return rt_step(rt, a->u.s.n);
	}
	if (a->kind != b->kind || (a->kind != V_LIST && a->kind != V_TUPLE))
		return rt_fail(rt, "no order between values of type '%s' and '%s'", value_type(a),
		    value_type(b));
	if (++rt->depth > VALUE_DEPTH)
		return rt_fail(rt, "values nested too deep to compare");
	rc = order_lists(rt, a->u.list, b->u.list, order);
	rt->depth--;
	return rc;
}
