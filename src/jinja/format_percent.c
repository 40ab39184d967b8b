/* "..." % values, Python's old way of formatting, also behind the filter format. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/format.h"

struct percent {
	struct rt *rt;
	struct text t;
	const struct value *fmt, *args;
	const char *p;
	size_t n, i;
	size_t next; /* of the values */
	int safe, named;
};

static int bad(struct percent *f, const char *what)
{
	return rt_fail(f->rt, "format: %s", what);
}

/* The next value: of a tuple, or the one that is no tuple. */
static int next_arg(struct percent *f, struct value *out)
{
	int tuple = f->args->kind == V_TUPLE;
	size_t n = tuple ? f->args->u.list->n : 1;

	if (f->next >= n)
		return bad(f, "not enough values");
	*out = tuple ? f->args->u.list->v[f->next] : *f->args;
	f->next++;
	return 0;
}

/* %(name) */
static int named_arg(struct percent *f, struct value *out)
{
	const char *end = memchr(f->p + f->i, ')', f->n - f->i);
	size_t n = end ? (size_t)(end - f->p) - f->i : 0;
	const struct value *v;

	if (!end)
		return bad(f, "a name without its end");
	if (f->args->kind != V_DICT)
		return bad(f, "a name needs a mapping");
	v = dict_find_str(f->rt, f->args->u.dict, f->p + f->i, n);
	if (!v)
		return bad(f, "a name that the mapping has not");
	*out = *v;
	f->i += n + 1;
	f->named = 1;
	return 0;
}

static char peek(const struct percent *f)
{
	return f->i < f->n ? f->p[f->i] : '\0';
}

/* Digits or "*". */
static int read_number(struct percent *f, int64_t *out)
{
	struct value v;

	if (peek(f) == '*') {
		f->i++;
		if (next_arg(f, &v) < 0)
			return -1;
		if (!value_is_int(&v, out) || *out < -100000 || *out > 100000)
			return bad(f, "* needs a small integer");
		return 0;
	}
	for (*out = 0; peek(f) >= '0' && peek(f) <= '9'; f->i++)
		*out = *out > 1000000 ? *out : *out * 10 + (peek(f) - '0');
	return 0;
}

static int read_spec(struct percent *f, struct spec *s)
{
	static const char space[] = " ", zero[] = "0";
	int left = 0, zeros = 0;

	*s = (struct spec){.fill = {space, 1}, .align = '>', .precision = -1};
	for (; peek(f) && strchr("-+ #0", peek(f)); f->i++) {
		left |= peek(f) == '-';
		zeros |= peek(f) == '0';
		s->alt |= peek(f) == '#';
		if (peek(f) == '+' || (peek(f) == ' ' && s->sign != '+'))
			s->sign = peek(f);
	}
	if (read_number(f, &s->width) < 0)
		return -1;
	if (s->width < 0) {
		left = 1;
		s->width = -s->width;
	}
	if (peek(f) == '.') {
		f->i++;
		if (read_number(f, &s->precision) < 0)
			return -1;
		if (s->precision < 0)
			s->precision = 0;
	}
	while (peek(f) && strchr("hlL", peek(f)))
		f->i++;
	if (zeros && !left) {
		s->align = '=';
		s->fill.p = zero;
	}
	if (left)
		s->align = '<';
	s->type = peek(f);
	f->i++;
	return 0;
}

static int put_text(struct percent *f, const struct value *v, struct spec *s)
{
	struct value str;
	struct text repr;

	if (s->align == '=')
		s->align = '>';
	s->fill = SPAN(" ");
	if (s->type == 's') {
		if (text_str(f->rt, v, &str) < 0 || (f->safe && text_escape(f->rt, &str, &str) < 0))
			return -1;
	} else {
		text_begin(&repr, f->rt, 32);
		text_repr(&repr, v);
		if (text_end(&repr, &str) < 0)
			return -1;
	}
	return format_str(&f->t, &str, s);
}

/* The whole number that a float is cut to. */
static int whole_part(struct percent *f, double d, struct value *out)
{
	char text[400];
	int n;

	if (!isfinite(d))
		return bad(f, "a float that is no number as an integer");
	if (fabs(d) < 9e18) {
		value_int(out, (int64_t)d);
		return 0;
	}
	n = snprintf(text, sizeof(text), "%.0f", d);
	value_str(out, memcpy(rt_alloc(f->rt, (size_t)n), text, (size_t)n), (size_t)n);
	out->kind = V_BIG;
	return 0;
}

static int put_integer(struct percent *f, const struct value *v, struct spec *s)
{
	struct value whole = *v;

	if (s->type == 'i' || s->type == 'u')
		s->type = 'd';
	if (v->kind == V_FLOAT && s->type != 'd')
		return bad(f, "an integer is needed");
	if (v->kind == V_FLOAT && whole_part(f, v->u.d, &whole) < 0)
		return -1;
	return format_number(&f->t, &whole, s);
}

static int put_value(struct percent *f, const struct value *v, struct spec *s)
{
	if (s->type == 's' || s->type == 'r')
		return put_text(f, v, s);
	if (s->type == 'c' && v->kind == V_STR) {
		if (utf8_count(v->u.s.p, v->u.s.n) != 1)
			return bad(f, "%c needs one character");
		s->precision = -1;
		return put_text(f, v, (s->type = 's', s));
	}
	if (!s->type || !strchr("diuoxXeEfFgGc", s->type))
		return bad(f, "a conversion that does not exist");
	if (v->kind < V_BOOL || v->kind > V_FLOAT)
		return rt_fail(
		    f->rt, "format: a number is needed, not a value of type '%s'", value_type(v));
	if (strchr("diuoxXc", s->type))
		return put_integer(f, v, s);
	return format_number(&f->t, v, s);
}

/* Behind a "%". */
static int conversion(struct percent *f)
{
	struct value v = {.kind = V_MISSING};
	struct spec s;

	if (peek(f) == '(') {
		f->i++;
		if (named_arg(f, &v) < 0)
			return -1;
	}
	if (read_spec(f, &s) < 0)
		return -1;
	if (s.type == '%') {
		text_puts(&f->t, "%");
		return 0;
	}
	if (v.kind == V_MISSING && next_arg(f, &v) < 0)
		return -1;
	return put_value(f, &v, &s);
}

/* What Python takes for a mapping here: it may be left unused. */
static int has_items(const struct value *v)
{
	return v->kind == V_DICT || v->kind == V_LIST || v->kind == V_RANGE || v->kind == V_UNDEF;
}

int format_percent(
    struct rt *rt, const struct value *fmt, const struct value *args, struct value *out)
{
	struct percent f = {.rt = rt,
	    .fmt = fmt,
	    .args = args,
	    .p = fmt->u.s.p,
	    .n = fmt->u.s.n,
	    .safe = fmt->flags & STR_SAFE};

	text_begin(&f.t, rt, f.n + 32);
	while (f.i < f.n && !f.t.bad) {
		const char *hit = memchr(f.p + f.i, '%', f.n - f.i);
		size_t to = hit ? (size_t)(hit - f.p) : f.n;

		text_sub(&f.t, fmt, f.i, to - f.i);
		f.i = to + 1;
		if (hit && conversion(&f) < 0)
			return -1;
	}
	if (args->kind == V_TUPLE ? f.next < args->u.list->n
				  : f.next == 0 && !f.named && !has_items(args))
		return bad(&f, "not all values are used");
	if (text_end(&f.t, out) < 0)
		return -1;
	out->flags |= fmt->flags & STR_SAFE;
	return 0;
}
