#include "jinja/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

#define MAX_WIDTH     100000
#define MAX_PRECISION 300

static void fill(struct text *t, const struct spec *f, size_t n)
{
	for (; n > 0 && !t->bad; n--)
		text_add(t, f->fill.p, f->fill.n, 0);
}

/* Padding before and behind a text of so many characters. */
static void padding(const struct spec *f, size_t len, char by_default, size_t *left, size_t *right)
{
	size_t pad = f->width > (int64_t)len ? (size_t)f->width - len : 0;
	char align = f->align ? f->align : by_default;

	*left = align == '<' ? 0 : align == '^' ? pad / 2 : pad;
	*right = pad - *left;
}

int format_str(struct text *t, const struct value *s, const struct spec *f)
{
	struct span all = {s->u.s.p, s->u.s.n};
	size_t n = s->u.s.n, left, right;

	if (f->width > MAX_WIDTH)
		return rt_fail(t->rt, "a format's width of more than %d", MAX_WIDTH);
	if (f->precision >= 0)
		n = text_offset(all, (size_t)f->precision);
	padding(f, utf8_count(all.p, n), '<', &left, &right);
	fill(t, f, left);
	text_sub(t, s, 0, n);
	fill(t, f, right);
	return 0;
}

/* sign, prefix and digits, with what pads them between for '='. */
static void put_number(struct text *t, const char *head, const char *digits, const struct spec *f)
{
	size_t left, right;

	padding(f, strlen(head) + strlen(digits), '>', &left, &right);
	if (f->align != '=')
		fill(t, f, left);
	text_puts(t, head);
	if (f->align == '=')
		fill(t, f, left);
	text_puts(t, digits);
	fill(t, f, right);
}

/* Groups of `size` digits in the run of digits that s begins with. */
static void group(char *out, size_t room, const char *s, char by, size_t size)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF"), k = 0;

	for (size_t i = 0; i < n && k + 2 < room; i++) {
		if (i > 0 && (n - i) % size == 0)
			out[k++] = by;
		out[k++] = s[i];
	}
	snprintf(out + k, room - k, "%s", s + n);
}

static void digits_of(uint64_t v, unsigned base, int upper, char out[72])
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char tmp[72];
	size_t n = 0, k = 0;

	do {
		tmp[n++] = set[v % base];
		v /= base;
	} while (v);
	while (n > 0)
		out[k++] = tmp[--n];
	out[k] = '\0';
}

static const char *sign_of(int negative, const struct spec *f)
{
	return negative ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "";
}

static int format_int(struct text *t, int64_t v, const struct spec *f)
{
	unsigned base = f->type == 'x' || f->type == 'X' ? 16
			: f->type == 'o'		 ? 8
			: f->type == 'b'		 ? 2
							 : 10;
	char digits[72], grouped[160], head[8], prec[MAX_PRECISION + 80];
	const char *prefix = "";

	digits_of(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, base, f->type == 'X', digits);
	if (f->alt && base != 10)
		prefix = f->type == 'x'	  ? "0x"
			 : f->type == 'X' ? "0X"
			 : f->type == 'o' ? "0o"
					  : "0b";
	snprintf(head, sizeof(head), "%s%s", sign_of(v < 0, f), prefix);
	if (f->group) {
		group(grouped, sizeof(grouped), digits, f->group, base == 10 ? 3 : 4);
		put_number(t, head, grouped, f);
		return 0;
	}
	if (f->precision > (int64_t)strlen(digits)) {
		size_t zeros = (size_t)f->precision - strlen(digits);

		memset(prec, '0', zeros);
		snprintf(prec + zeros, sizeof(prec) - zeros, "%s", digits);
		put_number(t, head, prec, f);
		return 0;
	}
	put_number(t, head, digits, f);
	return 0;
}

static int format_float(struct text *t, double d, const struct spec *f)
{
	char fmt[8], digits[800], grouped[1200];
	int prec = f->precision < 0 ? 6 : (int)f->precision;
	char type = f->type == '%' ? 'f' : f->type ? f->type : 'g';

	if (f->type == '%')
		d *= 100;
	if (f->type == 0 && f->precision < 0) {
		num_repr(fabs(d), digits);
	} else if (!isfinite(d)) {
		snprintf(digits, sizeof(digits), "%s", isnan(d) ? "nan" : "inf");
	} else {
		snprintf(fmt, sizeof(fmt), "%%%s.*%c", f->alt ? "#" : "", type);
		snprintf(digits, sizeof(digits), fmt, prec, fabs(d));
		/* without a type a float looks like one */
		if (f->type == 0 && !strpbrk(digits, ".e"))
			snprintf(digits + strlen(digits), 4, ".0");
	}
	if (f->type == '%')
		snprintf(digits + strlen(digits), 4, "%%");
	if (f->group) {
		group(grouped, sizeof(grouped), digits, f->group, 3);
		put_number(t, sign_of(signbit(d) != 0, f), grouped, f);
	} else {
		put_number(t, sign_of(signbit(d) != 0 && !isnan(d), f), digits, f);
	}
	return 0;
}

static int format_big(struct text *t, const struct value *v, const struct spec *f)
{
	struct value s = *v;
	struct spec right = *f;

	if (f->group || f->sign == '+' || f->sign == ' ' || (f->type && f->type != 'd'))
		return rt_fail(t->rt, "this format of an integer beyond 64 bits");
	s.kind = V_STR;
	right.align = f->align ? f->align : '>';
	right.precision = -1;
	return format_str(t, &s, &right);
}

static int format_char(struct text *t, int64_t cp, const struct spec *f)
{
	char s[4];
	struct value v;
	struct spec right = *f;

	if (cp < 0 || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return rt_fail(t->rt, "no character has this number");
	value_str(&v, s, utf8_encode((uint32_t)cp, s));
	right.align = f->align ? f->align : '>';
	return format_str(t, &v, &right);
}

int format_number(struct text *t, const struct value *v, const struct spec *f)
{
	int whole = !f->type || strchr("dboxXnc", f->type) != NULL;
	struct spec n = *f;

	if (f->width > MAX_WIDTH || f->precision > MAX_PRECISION)
		return rt_fail(t->rt, "a format's width or precision is too large");
	if (f->type && !strchr("dboxXnceEfFgG%", f->type))
		return rt_fail(
		    t->rt, "no format '%c' for a value of type '%s'", f->type, value_type(v));
	if (f->type == 'n')
		n.type = v->kind == V_FLOAT ? 'g' : 'd';
	if (v->kind == V_FLOAT)
		return f->type && whole && f->type != 'n'
			   ? rt_fail(t->rt, "no format '%c' for a float", f->type)
			   : format_float(t, v->u.d, &n);
	if (v->kind == V_BIG)
		return format_big(t, v, &n);
	if (f->type == 'c')
		return format_char(t, v->u.i, &n);
	return whole ? format_int(t, v->u.i, &n) : format_float(t, (double)v->u.i, &n);
}
