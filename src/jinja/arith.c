/* Python's operators. Integers that leave 64 bits are an error, never another number. */
#include <math.h>
#include <string.h>

#include "jinja/eval.h"
#include "jinja/text.h"

static const char *symbol(enum node_kind op)
{
	static const char *const names[] = {[N_ADD - N_ADD] = "+",
	    [N_SUB - N_ADD] = "-",
	    [N_MUL - N_ADD] = "*",
	    [N_DIV - N_ADD] = "/",
	    [N_FLOORDIV - N_ADD] = "//",
	    [N_MOD - N_ADD] = "%",
	    [N_POW - N_ADD] = "**"};

	return names[op - N_ADD];
}

static int too_big(struct rt *rt)
{
	return rt_fail(rt, "an integer beyond 64 bits, which is not supported in arithmetic");
}

static int by_zero(struct rt *rt)
{
	return rt_fail(rt, "division by zero");
}

static int int_pow(struct rt *rt, int64_t base, int64_t exp, struct value *out)
{
	int64_t r = 1;

	if (exp < 0) {
		if (base == 0)
			return by_zero(rt);
		value_float(out, pow((double)base, (double)exp));
		return 0;
	}
	while (exp > 0) {
		if ((exp & 1) && __builtin_mul_overflow(r, base, &r))
			return too_big(rt);
		exp >>= 1;
		if (exp > 0 && __builtin_mul_overflow(base, base, &base))
			return too_big(rt);
	}
	value_int(out, r);
	return 0;
}

/* Towards minus infinity; the remainder has the divisor's sign. */
static int int_divide(struct rt *rt, enum node_kind op, int64_t a, int64_t b, struct value *out)
{
	int64_t q, r;

	if (b == 0)
		return by_zero(rt);
	if (b == -1) {
		if (op == N_FLOORDIV && a == INT64_MIN)
			return too_big(rt);
		value_int(out, op == N_MOD ? 0 : -a);
		return 0;
	}
	q = a / b;
	r = a % b;
	if (r != 0 && (r < 0) != (b < 0)) {
		q--;
		r += b;
	}
	value_int(out, op == N_MOD ? r : q);
	return 0;
}

static int int_op(struct rt *rt, enum node_kind op, int64_t a, int64_t b, struct value *out)
{
	int64_t r;
	int over;

	switch (op) {
	case N_ADD: over = __builtin_add_overflow(a, b, &r); break;
	case N_SUB: over = __builtin_sub_overflow(a, b, &r); break;
	case N_MUL: over = __builtin_mul_overflow(a, b, &r); break;
	case N_POW: return int_pow(rt, a, b, out);
	case N_DIV:
		if (b == 0)
			return by_zero(rt);
		value_float(out, (double)((long double)a / (long double)b));
		return 0;
	default: return int_divide(rt, op, a, b, out);
	}
	if (over)
		return too_big(rt);
	value_int(out, r);
	return 0;
}

/* As CPython's float_divmod. */
static int float_divide(struct rt *rt, enum node_kind op, double a, double b, struct value *out)
{
	double mod, div, whole;

	if (b == 0)
		return by_zero(rt);
	mod = fmod(a, b);
	div = (a - mod) / b;
	if (mod != 0) {
		if ((b < 0) != (mod < 0)) {
			mod += b;
			div -= 1;
		}
	} else {
		mod = copysign(0.0, b);
	}
	whole = floor(div);
	if (div - whole > 0.5)
		whole += 1;
	if (div == 0)
		whole = copysign(0.0, a / b);
	value_float(out, op == N_MOD ? mod : whole);
	return 0;
}

static int float_op(struct rt *rt, enum node_kind op, double a, double b, struct value *out)
{
	switch (op) {
	case N_ADD: value_float(out, a + b); return 0;
	case N_SUB: value_float(out, a - b); return 0;
	case N_MUL: value_float(out, a * b); return 0;
	case N_DIV:
		if (b == 0)
			return by_zero(rt);
		value_float(out, a / b);
		return 0;
	case N_POW:
		if (a == 0 && b < 0)
			return by_zero(rt);
		if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
			return rt_fail(rt, "a power that is a complex number");
		value_float(out, pow(a, b));
		if (isinf(out->u.d) && isfinite(a) && isfinite(b))
			return rt_fail(rt, "the result of ** is too large");
		return 0;
	default: return float_divide(rt, op, a, b, out);
	}
}

int arith_repeat(struct rt *rt, const struct value *s, int64_t times, struct value *out)
{
	struct text t;

	text_begin(&t, rt, 0);
	if (times > 0 && s->u.s.n > 0 && rt_room(rt, s->u.s.n, (size_t)times) < 0)
		return -1;
	for (int64_t i = 0; s->u.s.n > 0 && i < times && !t.bad; i++)
		text_addv(&t, s);
	if (text_end(&t, out) < 0)
		return -1;
	out->flags |= s->flags & STR_SAFE;
	return 0;
}

static int repeat_list(struct rt *rt, const struct value *l, int64_t times, struct value *out)
{
	size_t n = l->u.list->n;
	struct value *v;

	if (times < 0 || n == 0)
		times = 0;
	if (rt_room(rt, n * sizeof(*v), (size_t)times) < 0 ||
	    rt_step(rt, n * sizeof(*v) * (size_t)times) < 0)
		return -1;
	list_open(rt, l->u.list);
	v = value_list(rt, l->kind, n * (size_t)times, out);
	for (int64_t i = 0; i < times; i++)
		memcpy(v + (size_t)i * n, l->u.list->v, n * sizeof(*v));
	return 0;
}

static int join_lists(
    struct rt *rt, const struct value *a, const struct value *b, struct value *out)
{
	size_t n = a->u.list->n, m = b->u.list->n;
	struct value *v;

	if (rt_room(rt, n + m, sizeof(*v)) < 0 || rt_step(rt, (n + m) * sizeof(*v)) < 0)
		return -1;
	list_open(rt, a->u.list);
	list_open(rt, b->u.list);
	v = value_list(rt, a->kind, n + m, out);
	if (n > 0)
		memcpy(v, a->u.list->v, n * sizeof(*v));
	if (m > 0)
		memcpy(v + n, b->u.list->v, m * sizeof(*v));
	return 0;
}

/* A safe string escapes what is added to it, on either side. */
static int add_texts(struct rt *rt, const struct value *a, const struct value *b, struct value *out)
{
	struct value left, right;

	if (!((a->flags | b->flags) & STR_SAFE))
		return text_concat(rt, a, b, out);
	if (text_escape(rt, a, &left) < 0 || text_escape(rt, b, &right) < 0 ||
	    text_concat(rt, &left, &right, out) < 0)
		return -1;
	out->flags |= STR_SAFE;
	return 0;
}

static int is_sequence(const struct value *v)
{
	return v->kind == V_LIST || v->kind == V_TUPLE;
}

static int repeat(struct rt *rt, const struct value *seq, int64_t times, struct value *out)
{
	return seq->kind == V_STR ? arith_repeat(rt, seq, times, out)
				  : repeat_list(rt, seq, times, out);
}

/* + * % of what is no number; 1: none of them. */
static int sequence_op(struct rt *rt, enum node_kind op, const struct value *a,
    const struct value *b, struct value *out)
{
	int64_t times;

	if (op == N_ADD && a->kind == b->kind) {
		if (a->kind == V_STR)
			return add_texts(rt, a, b, out);
		if (is_sequence(a))
			return join_lists(rt, a, b, out);
	}
	if (op == N_MUL && (a->kind == V_STR || is_sequence(a)) && value_is_int(b, &times))
		return repeat(rt, a, times, out);
	if (op == N_MUL && (b->kind == V_STR || is_sequence(b)) && value_is_int(a, &times))
		return repeat(rt, b, times, out);
	if (op == N_MOD && a->kind == V_STR)
		return format_percent(rt, a, b, out);
	return 1;
}

static int number(const struct value *v, double *d)
{
	if (v->kind == V_FLOAT)
		*d = v->u.d;
	else if (v->kind == V_INT || v->kind == V_BOOL)
		*d = (double)v->u.i;
	else
		return 0;
	return 1;
}

int arith_binary(struct rt *rt, enum node_kind op, const struct value *a, const struct value *b,
    struct value *out)
{
	int64_t i, j;
	double x, y;
	int rc;

	if (a->kind == V_UNDEF)
		return value_fail_undef(rt, a);
	if (value_is_int(a, &i) && value_is_int(b, &j))
		return int_op(rt, op, i, j, out);
	if (number(a, &x) && number(b, &y))
		return float_op(rt, op, x, y, out);
	rc = sequence_op(rt, op, a, b, out);
	if (rc <= 0)
		return rc;
	if (b->kind == V_UNDEF)
		return value_fail_undef(rt, b);
	if (a->kind == V_BIG || b->kind == V_BIG)
		return too_big(rt);
	return rt_fail(rt, "no '%s' of values of type '%s' and '%s'", symbol(op), value_type(a),
	    value_type(b));
}

/* The digits of an integer with the other sign; an int again when it fits. */
static void flip_sign(struct rt *rt, const struct value *v, struct value *out)
{
	size_t n = v->u.s.n;
	char *p;

	*out = *v;
	if (v->u.s.p[0] == '-') {
		out->u.s.p++;
		out->u.s.n--;
		return;
	}
	p = rt_alloc(rt, n + 1);
	p[0] = '-';
	memcpy(p + 1, v->u.s.p, n);
	out->u.s.p = p;
	out->u.s.n = n + 1;
	if (n == 19 && memcmp(v->u.s.p, "9223372036854775808", n) == 0)
		value_int(out, INT64_MIN);
}

static void negate(struct rt *rt, const struct value *a, struct value *out)
{
	struct value lowest = {.kind = V_BIG, .u.s = {.p = "-9223372036854775808", .n = 20}};

	if (a->kind == V_FLOAT)
		value_float(out, -a->u.d);
	else if (a->kind == V_BIG)
		flip_sign(rt, a, out);
	else if (a->u.i == INT64_MIN)
		flip_sign(rt, &lowest, out);
	else
		value_int(out, -a->u.i);
}

int arith_unary(struct rt *rt, enum node_kind op, const struct value *a, struct value *out)
{
	if (a->kind == V_UNDEF)
		return value_fail_undef(rt, a);
	if (a->kind < V_BOOL || a->kind > V_FLOAT)
		return rt_fail(rt, "no sign of a value of type '%s'", value_type(a));
	if (op == N_NEG) {
		negate(rt, a, out);
		return 0;
	}
	*out = *a;
	if (a->kind == V_BOOL)
		out->kind = V_INT;
	return 0;
}
