/* Methods of strings that answer a question. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/rt.h"
#include "jinja/text.h"
#include "jinja/utable.h"

/* A bound of a slice, of any size; what it is when it is not given. */
static int bound(struct rt *rt, const struct call *c, size_t i, int64_t *at)
{
	const struct value *v = &c->arg[i];

	if (v->kind != V_BIG)
		return arg_given(c, i) ? arg_int(rt, c, i, 0, at) : 0;
	*at = v->u.s.p[0] == '-' ? -INT64_MAX : INT64_MAX;
	return 0;
}

/* The part s[start:end] that find, count, startswith ... look at, as bytes of the string; 0 when
 * start lies behind the end. */
static int part(struct rt *rt, const struct call *c, size_t i, struct span *out, size_t *from)
{
	struct span all = {c->self->u.s.p, c->self->u.s.n};
	int64_t start = 0, end = 0, n;

	*out = all;
	*from = 0;
	if (!arg_given(c, i) && !arg_given(c, i + 1))
		return 1;
	if (rt_step(rt, all.n) < 0)
		return -1;
	n = end = (int64_t)utf8_count(all.p, all.n);
	if (bound(rt, c, i, &start) < 0 || bound(rt, c, i + 1, &end) < 0)
		return -1;
	start = start < 0 ? (start + n < 0 ? 0 : start + n) : start;
	end = end < 0 ? (end + n < 0 ? 0 : end + n) : end > n ? n : end;
	if (start > n || start > end)
		return 0;
	*from = text_offset(all, (size_t)start);
	out->p += *from;
	out->n = text_offset((struct span){out->p, all.n - *from}, (size_t)(end - start));
	return 1;
}

static int ends_match(struct span s, const struct value *x, int suffix)
{
	size_t n = x->u.s.n;

	if (n > s.n)
		return 0;
	return n == 0 || memcmp(suffix ? s.p + s.n - n : s.p, x->u.s.p, n) == 0;
}

/* The argument is a string or a tuple of them. */
static int affix(struct rt *rt, const struct call *c, int suffix, struct value *out)
{
	const struct value *x = &c->arg[0];
	size_t from, n = 1;
	struct span s;
	int some = part(rt, c, 1, &s, &from), yes = 0;

	if (some < 0)
		return -1;
	if (x->kind == V_TUPLE) {
		n = x->u.list->n;
		x = x->u.list->v;
	}
	for (size_t i = 0; i < n && !yes; i++) {
		if (x[i].kind != V_STR)
			return rt_fail(
			    rt, "a string is needed, not a value of type '%s'", value_type(&x[i]));
		yes = some && ends_match(s, &x[i], suffix);
		if (rt_step(rt, x[i].u.s.n) < 0)
			return -1;
	}
	value_bool(out, yes);
	return 0;
}

static int do_startswith(struct rt *rt, const struct call *c, struct value *out)
{
	return affix(rt, c, 0, out);
}

static int do_endswith(struct rt *rt, const struct call *c, struct value *out)
{
	return affix(rt, c, 1, out);
}

/* The character where the argument is found, or -1. */
static int find(struct rt *rt, const struct call *c, int right, int64_t *at)
{
	struct value x;
	struct span s;
	size_t from, hit;
	int some;

	*at = -1;
	if (arg_str(rt, c, 0, &x) < 0)
		return -1;
	some = part(rt, c, 1, &s, &from);
	if (some <= 0)
		return some;
	hit = right ? text_rfind(rt, s, (struct span){x.u.s.p, x.u.s.n})
		    : text_find(rt, s, (struct span){x.u.s.p, x.u.s.n}, 0);
	if (hit != TEXT_NONE)
		*at = (int64_t)utf8_count(c->self->u.s.p, from + hit);
	return rt_step(rt, c->self->u.s.n);
}

static int do_find(struct rt *rt, const struct call *c, struct value *out)
{
	int64_t at;
	int rc = find(rt, c, 0, &at);

	value_int(out, at);
	return rc;
}

static int do_rfind(struct rt *rt, const struct call *c, struct value *out)
{
	int64_t at;
	int rc = find(rt, c, 1, &at);

	value_int(out, at);
	return rc;
}

static int index_of(struct rt *rt, const struct call *c, int right, struct value *out)
{
	int64_t at;

	if (find(rt, c, right, &at) < 0)
		return -1;
	if (at < 0)
		return rt_fail(rt, "the substring is not found");
	value_int(out, at);
	return 0;
}

static int do_index(struct rt *rt, const struct call *c, struct value *out)
{
	return index_of(rt, c, 0, out);
}

static int do_rindex(struct rt *rt, const struct call *c, struct value *out)
{
	return index_of(rt, c, 1, out);
}

static int do_count(struct rt *rt, const struct call *c, struct value *out)
{
	struct value x;
	struct span s;
	size_t from, at = 0, n = 0;
	int some;

	if (arg_str(rt, c, 0, &x) < 0)
		return -1;
	some = part(rt, c, 1, &s, &from);
	if (some < 0)
		return -1;
	if (some && x.u.s.n == 0)
		n = utf8_count(s.p, s.n) + 1;
	while (some && x.u.s.n > 0 &&
	       (at = text_find(rt, s, (struct span){x.u.s.p, x.u.s.n}, at)) != TEXT_NONE) {
		n++;
		at += x.u.s.n;
	}
	value_int(out, (int64_t)n);
	return rt_step(rt, s.n);
}

/* ---- what kind of characters ---- */

static int is_alpha(uint32_t cp)
{
	return u_is(U_ALPHA, cp);
}

static int is_alnum(uint32_t cp)
{
	return u_is(U_ALPHA, cp) || u_is(U_NUMERIC, cp) || u_is(U_DIGIT, cp);
}

static int is_digit(uint32_t cp)
{
	return u_is(U_DIGIT, cp);
}

static int is_decimal(uint32_t cp)
{
	return u_is(U_DECIMAL, cp);
}

static int is_numeric(uint32_t cp)
{
	return u_is(U_NUMERIC, cp);
}

static int is_printable(uint32_t cp)
{
	return u_is(U_PRINTABLE, cp);
}

static int is_ascii(uint32_t cp)
{
	return cp < 0x80;
}

/* All characters are; `empty` is the answer for none. */
static int all(
    struct rt *rt, const struct call *c, int (*is)(uint32_t), int empty, struct value *out)
{
	const struct value *s = c->self;
	int yes = s->u.s.n > 0 || empty;

	for (size_t i = 0; yes && i < s->u.s.n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s->u.s.p + i, s->u.s.n - i, &cp);

		yes = is(cp);
		i += len ? len : 1;
	}
	value_bool(out, yes);
	return rt_step(rt, s->u.s.n);
}

static int do_isalpha(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_alpha, 0, out);
}

static int do_isalnum(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_alnum, 0, out);
}

static int do_isdigit(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_digit, 0, out);
}

static int do_isdecimal(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_decimal, 0, out);
}

static int do_isnumeric(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_numeric, 0, out);
}

static int do_isspace(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, text_is_space, 0, out);
}

static int do_isprintable(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_printable, 1, out);
}

static int do_isascii(struct rt *rt, const struct call *c, struct value *out)
{
	return all(rt, c, is_ascii, 1, out);
}

static int as_test(struct rt *rt, const struct call *c, struct span test, struct value *out)
{
	return test_find(test)->fn(rt, c, out);
}

static int do_islower(struct rt *rt, const struct call *c, struct value *out)
{
	return as_test(rt, c, SPAN("lower"), out);
}

static int do_isupper(struct rt *rt, const struct call *c, struct value *out)
{
	return as_test(rt, c, SPAN("upper"), out);
}

const struct callable methods_str_find[] = {
    {"startswith", do_startswith, "/prefix,start,end", 1},
    {"endswith", do_endswith, "/suffix,start,end", 1},
    {"find", do_find, "/sub,start,end", 1},
    {"rfind", do_rfind, "/sub,start,end", 1},
    {"index", do_index, "/sub,start,end", 1},
    {"rindex", do_rindex, "/sub,start,end", 1},
    {"count", do_count, "/sub,start,end", 1},
    {"isalpha", do_isalpha, "", 0},
    {"isalnum", do_isalnum, "", 0},
    {"isdigit", do_isdigit, "", 0},
    {"isdecimal", do_isdecimal, "", 0},
    {"isnumeric", do_isnumeric, "", 0},
    {"isspace", do_isspace, "", 0},
    {"isprintable", do_isprintable, "", 0},
    {"isascii", do_isascii, "", 0},
    {"islower", do_islower, "", 0},
    {"isupper", do_isupper, "", 0},
    {"isidentifier", method_unsupported, NULL, 0},
    {"istitle", method_unsupported, NULL, 0},
    {0},
};
