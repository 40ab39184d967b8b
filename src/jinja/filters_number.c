/* Filters that make numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/rt.h"
#include "jinja/strops.h"
#include "jinja/text.h"
#include "jinja/utable.h"

/* The text of a number: stripped, any script's digits as ASCII, without underscores, which may
 * stand between digits. NULL: none. */
static char *number_text(struct rt *rt, const struct value *s, size_t *n)
{
	struct value in;
	char *out, last = '\0';

	*n = 0;
	if (str_strip(rt, s, NULL, STRIP_BOTH, &in) < 0)
		return NULL;
	out = rt_array(rt, in.u.s.n + 2, 1);
	for (size_t i = 0; i < in.u.s.n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(in.u.s.p + i, in.u.s.n - i, &cp);
		int digit = cp < 0x80 ? -1 : u_decimal(cp);

		if (cp >= 0x80 && digit < 0)
			return NULL;
		if (cp == '_' && (last == '\0' || strchr("_+-", last) || i + 1 == in.u.s.n))
			return NULL;
		last = digit < 0 ? (char)cp : (char)('0' + digit);
		if (cp != '_')
			out[(*n)++] = last;
		i += len ? len : 1;
	}
	out[*n] = '\0';
	return *n > 0 ? out : NULL;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* Digits as an int, or as a V_BIG where they do not fit: 1, 0 when they are none, -1. */
static int digits_value(struct rt *rt, struct span d, int64_t base, int neg, struct value *out)
{
	int64_t v = 0; /* counts down: the lowest int has no positive counterpart */
	char *big;
	int over = 0;

	for (size_t i = 0; i < d.n; i++) {
		int x = digit_of(d.p[i]);

		if (x >= base)
			return 0;
		over |= __builtin_mul_overflow(v, base, &v) || __builtin_sub_overflow(v, x, &v);
	}
	if (!over && (neg || v != INT64_MIN)) {
		value_int(out, neg ? v : -v);
		return 1;
	}
	if (base != 10)
		return rt_fail(rt, "an integer beyond 64 bits in base %lld", (long long)base);
	while (d.n > 1 && *d.p == '0') {
		d.p++;
		d.n--;
	}
	big = rt_alloc(rt, d.n + 1);
	big[0] = '-';
	memcpy(big + 1, d.p, d.n);
	value_str(out, big + !neg, d.n + (size_t)neg);
	out->kind = V_BIG;
	return 1;
}

/* What "0x", "0o" or "0b" says. */
static int64_t prefix_base(struct span d)
{
	if (d.n < 3 || d.p[0] != '0')
		return 0;
	return (d.p[1] | 32) == 'x' ? 16 : (d.p[1] | 32) == 'o' ? 8 : (d.p[1] | 32) == 'b' ? 2 : 0;
}

/* Python's int(str, base): 1, 0 when it is no integer, -1. */
static int parse_int(struct rt *rt, const struct value *s, int64_t base, struct value *out)
{
	struct span d = {.n = 0};
	int64_t prefix;
	int neg;

	d.p = number_text(rt, s, &d.n);
	if (!d.p)
		return 0;
	neg = *d.p == '-';
	if (*d.p == '-' || *d.p == '+')
		d = (struct span){d.p + 1, d.n - 1};
	prefix = prefix_base(d);
	if (prefix && (base == prefix || base == 0)) {
		base = prefix;
		d = (struct span){d.p + 2, d.n - 2};
	}
	return d.n > 0 ? digits_value(rt, d, base ? base : 10, neg, out) : 0;
}

/* Python's float(str). */
static int parse_float(struct rt *rt, const struct value *s, double *d)
{
	static const char *const names[] = {"inf", "infinity", "nan"};
	size_t n;
	char *text = number_text(rt, s, &n), *p = text;

	if (!text)
		return 0;
	if (num_double(text, n, d) == 0)
		return 1;
	if (*p == '+' || *p == '-') {
		p++;
		n--;
	}
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 32 : p[i]);
	for (size_t i = 0; i < 3; i++) {
		if (!span_eq((struct span){p, n}, names[i]))
			continue;
		*d = i == 2 ? (double)NAN : *text == '-' ? -HUGE_VAL : HUGE_VAL;
		return 1;
	}
	return 0;
}

/* Python's int(float): digits of any length. 0: not finite. */
static int truncate_float(struct rt *rt, double d, struct value *out)
{
	char text[400];
	int n;

	if (!isfinite(d))
		return 0;
	if (d > -9e18 && d < 9e18) {
		value_int(out, (int64_t)d);
		return 1;
	}
	n = snprintf(text, sizeof(text), "%.0f", d);
	value_str(out, memcpy(rt_alloc(rt, (size_t)n), text, (size_t)n), (size_t)n);
	out->kind = V_BIG;
	return 1;
}

static int do_int(struct rt *rt, const struct call *c, struct value *out)
{
	const struct value *v = c->self;
	int64_t base = 10;
	double d;
	int rc = 0;

	if (c->arg[1].kind != V_MISSING && !value_is_int(&c->arg[1], &base))
		base = -1; /* as any base that does not exist: not an integer */
	if (v->kind == V_UNDEF)
		return value_fail_undef(rt, v);
	if (v->kind == V_STR) {
		if (base == 0 || (base >= 2 && base <= 36))
			rc = parse_int(rt, v, base, out);
		if (rc == 0 && parse_float(rt, v, &d))
			rc = truncate_float(rt, d, out);
	} else if (v->kind == V_FLOAT) {
		if (isinf(v->u.d))
			return rt_fail(rt, "int of an infinite float");
		rc = truncate_float(rt, v->u.d, out);
	} else if (v->kind == V_BOOL || v->kind == V_INT || v->kind == V_BIG) {
		*out = *v;
		if (v->kind == V_BOOL)
			out->kind = V_INT;
		rc = 1;
	}
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	value_int(out, 0);
	if (c->arg[0].kind != V_MISSING)
		*out = c->arg[0];
	return 0;
}

static int to_float(struct rt *rt, const struct value *v, double *d)
{
	switch (v->kind) {
	case V_FLOAT: *d = v->u.d; return 1;
	case V_BOOL:
	case V_INT: *d = (double)v->u.i; return 1;
	case V_BIG:
	case V_STR: return parse_float(rt, v, d);
	default: return 0;
	}
}

static int do_float(struct rt *rt, const struct call *c, struct value *out)
{
	double d;

	if (c->self->kind == V_UNDEF)
		return value_fail_undef(rt, c->self);
	if (to_float(rt, c->self, &d)) {
		value_float(out, d);
		return 0;
	}
	value_float(out, 0);
	if (c->arg[0].kind != V_MISSING)
		*out = c->arg[0];
	return 0;
}

static int do_abs(struct rt *rt, const struct call *c, struct value *out)
{
	const struct value *v = c->self;
	int64_t i;

	if (v->kind == V_UNDEF)
		return value_fail_undef(rt, v);
	if (v->kind == V_FLOAT) {
		value_float(out, fabs(v->u.d));
		return 0;
	}
	if (v->kind == V_BIG) {
		*out = *v;
		if (v->u.s.p[0] == '-') {
			out->u.s.p++;
			out->u.s.n--;
		}
		return 0;
	}
	if (!value_is_int(v, &i) || i == INT64_MIN)
		return rt_fail(rt, "abs of a value of type '%s'", value_type(v));
	value_int(out, i < 0 ? -i : i);
	return 0;
}

/* round(x, n) by the decimal digits of x, halves to even, as Python and printf have them. */
static double round_common(double d, int64_t digits)
{
	char text[400];

	if (!isfinite(d) || digits > 300)
		return d;
	if (digits >= 0) {
		snprintf(text, sizeof(text), "%.*f", (int)digits, d);
		return strtod(text, NULL);
	}
	if (digits < -308)
		return copysign(0.0, d);
	double unit = pow(10, (double)-digits);
	return nearbyint(d / unit) * unit;
}

static int do_round(struct rt *rt, const struct call *c, struct value *out)
{
	int64_t digits;
	double d, unit;

	if (arg_int(rt, c, 0, 0, &digits) < 0)
		return -1;
	if (c->self->kind == V_UNDEF)
		return value_fail_undef(rt, c->self);
	if (c->self->kind == V_STR || !to_float(rt, c->self, &d))
		return rt_fail(rt, "round of a value of type '%s'", value_type(c->self));
	if (c->arg[1].kind == V_MISSING || value_is_str(&c->arg[1], "common")) {
		if (c->self->kind != V_FLOAT && digits >= 0) {
			*out = *c->self;
			if (out->kind == V_BOOL)
				out->kind = V_INT;
		} else {
			value_float(out, round_common(d, digits));
			if (c->self->kind != V_FLOAT)
				value_int(out, (int64_t)out->u.d);
		}
		return 0;
	}
	if (!value_is_str(&c->arg[1], "ceil") && !value_is_str(&c->arg[1], "floor"))
		return rt_fail(rt, "round is by 'common', 'ceil' or 'floor'");
	unit = pow(10, (double)digits);
	d *= unit;
	d = value_is_str(&c->arg[1], "ceil") ? ceil(d) : floor(d);
	value_float(out, d / unit);
	return 0;
}

const struct callable filters_number[] = {
    {"int", do_int, "default,base", 0},
    {"float", do_float, "default", 0},
    {"abs", do_abs, "", 0},
    {"round", do_round, "precision,method", 0},
    {0},
};
