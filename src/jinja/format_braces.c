/* str.format, as the sandbox lets it: fields are looked up like attributes and items. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/format.h"

struct braces {
	struct rt *rt;
	struct text t;
	const struct args *args;
	int safe;
	int64_t next; /* of {}; -1 once a number was given */
};

static int bad(struct braces *f, const char *what)
{
	return rt_fail(f->rt, "format: %s", what);
}

static int is_number(struct span s, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || *out > 100000000)
			return 0;
		*out = *out * 10 + (s.p[i] - '0');
	}
	return s.n > 0;
}

/* The argument that a field begins with: a number, a name, or the next one. */
static int first_arg(struct braces *f, struct span name, struct value *out)
{
	int64_t i;

	if (name.n == 0) {
		if (f->next < 0)
			return bad(f, "fields with and without a number");
		i = f->next++;
	} else if (is_number(name, &i)) {
		if (f->next > 0)
			return bad(f, "fields with and without a number");
		f->next = -1;
	} else {
		for (size_t k = 0; k < f->args->nkw; k++) {
			if (span_same(f->args->kw[k].name, name)) {
				*out = f->args->kw[k].v;
				return 0;
			}
		}
		return bad(f, "a name that is not given");
	}
	if ((uint64_t)i >= f->args->n)
		return bad(f, "not enough values");
	*out = f->args->v[i];
	return 0;
}

/* .name or [index], again and again. */
static int look_up(struct braces *f, struct span rest, struct value *v)
{
	while (rest.n > 0) {
		int item = rest.p[0] == '[';
		struct value in = *v, key;
		size_t n = 1;
		int64_t i;

		if (!item && rest.p[0] != '.')
			return bad(f, "a field that can't be read");
		while (
		    n < rest.n && (item ? rest.p[n] != ']' : rest.p[n] != '.' && rest.p[n] != '['))
			n++;
		if (n == 1 || (item && n == rest.n))
			return bad(f, "a field that can't be read");
		if (item) {
			value_str(&key, rest.p + 1, n - 1);
			if (is_number((struct span){rest.p + 1, n - 1}, &i))
				value_int(&key, i);
			if (item_get(f->rt, &in, &key, v) < 0)
				return -1;
			n++;
		} else if (attr_get(f->rt, &in, (struct span){rest.p + 1, n - 1}, v) < 0) {
			return -1;
		}
		rest = (struct span){rest.p + n, rest.n - n};
	}
	return 0;
}

static int64_t number_at(struct span *s)
{
	int64_t v = 0;

	for (; s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9'; s->p++, s->n--)
		v = v > 1000000 ? v : v * 10 + (s->p[0] - '0');
	return v;
}

static int take(struct span *s, const char *set)
{
	char c = s->n > 0 ? s->p[0] : '\0';

	if (!c || !strchr(set, c))
		return 0;
	s->p++;
	s->n--;
	return c;
}

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static int read_spec(struct braces *f, struct span s, int number, struct spec *out)
{
	size_t first = s.n ? utf8_len(s.p, s.n) : 0;
	int filled = first && s.n > first && strchr("<>^=", s.p[first]);

	*out = (struct spec){.fill = SPAN(" "), .precision = -1};
	if (filled) {
		out->fill = (struct span){s.p, first};
		s = (struct span){s.p + first, s.n - first};
	}
	out->align = (char)take(&s, "<>^=");
	out->sign = (char)take(&s, "+- ");
	out->alt = take(&s, "#") != 0;
	if (take(&s, "0")) {
		if (!filled)
			out->fill = SPAN("0");
		if (!out->align && number)
			out->align = '=';
	}
	out->width = number_at(&s);
	out->group = (char)take(&s, ",_");
	if (take(&s, ".")) {
		if (s.n == 0 || s.p[0] < '0' || s.p[0] > '9')
			return bad(f, "a precision is missing");
		out->precision = number_at(&s);
	}
	out->type = (char)take(&s, "bcdeEfFgGnosxX%");
	return s.n > 0 ? bad(f, "a specification that can't be read") : 0;
}

static int put(struct braces *f, const struct value *v, struct span spec)
{
	struct value s;
	struct spec how;

	if (spec.n == 0) {
		if (text_str(f->rt, v, &s) < 0 || (f->safe && text_escape(f->rt, &s, &s) < 0))
			return -1;
		text_addv(&f->t, &s);
		return 0;
	}
	if (memchr(spec.p, '{', spec.n))
		return bad(f, "fields inside a specification are not supported");
	if (read_spec(f, spec, v->kind != V_STR, &how) < 0)
		return -1;
	if (v->kind == V_STR) {
		if ((how.type && how.type != 's') || how.align == '=' || how.sign || how.alt)
			return bad(f, "a specification that is not for strings");
		if (f->safe && text_escape(f->rt, v, &s) < 0)
			return -1;
		return format_str(&f->t, f->safe ? &s : v, &how);
	}
	if (v->kind >= V_BOOL && v->kind < V_FLOAT && how.precision >= 0 &&
	    (!how.type || strchr("dboxXnc", how.type)))
		return bad(f, "precision is not allowed in an integer's specification");
	if (v->kind >= V_BOOL && v->kind <= V_FLOAT)
		return format_number(&f->t, v, &how);
	return rt_fail(f->rt, "format: no specification for a value of type '%s'", value_type(v));
}

/* name!conversion:spec */
static int field(struct braces *f, struct span s)
{
	size_t name = 0, first = 0, n;
	struct value v;
	char conversion = 0;
	struct text repr;

	while (name < s.n && s.p[name] != '!' && s.p[name] != ':') {
		if (s.p[name] == '[')
			while (name < s.n && s.p[name] != ']')
				name++;
		name += name < s.n;
	}
	while (first < name && s.p[first] != '.' && s.p[first] != '[')
		first++;
	if (first_arg(f, (struct span){s.p, first}, &v) < 0 ||
	    look_up(f, (struct span){s.p + first, name - first}, &v) < 0)
		return -1;
	n = name;
	if (n < s.n && s.p[n] == '!') {
		if (n + 1 >= s.n || !strchr("rs", s.p[n + 1]) || (n + 2 < s.n && s.p[n + 2] != ':'))
			return bad(f, "a conversion that does not exist");
		conversion = s.p[n + 1];
		n += 2;
	}
	if (conversion == 's' && text_str(f->rt, &v, &v) < 0)
		return -1;
	if (conversion == 'r') {
		text_begin(&repr, f->rt, 32);
		text_repr(&repr, &v);
		if (text_end(&repr, &v) < 0)
			return -1;
	}
	return put(f, &v, (struct span){s.p + n + (n < s.n), s.n - n - (n < s.n)});
}

/* The field that begins behind a brace at `at`: the offset of its closing brace, or TEXT_NONE. */
static size_t field_end(const struct value *fmt, size_t at)
{
	int open = 1;

	for (; at < fmt->u.s.n; at++) {
		open += fmt->u.s.p[at] == '{';
		open -= fmt->u.s.p[at] == '}';
		if (open == 0)
			return at;
	}
	return TEXT_NONE;
}

int format_braces(
    struct rt *rt, const struct value *fmt, const struct args *args, struct value *out)
{
	struct braces f = {.rt = rt, .args = args, .safe = fmt->flags & STR_SAFE};
	const char *p = fmt->u.s.p;
	size_t n = fmt->u.s.n, from = 0;

	text_begin(&f.t, rt, n + 32);
	for (size_t i = 0; i < n && !f.t.bad; i++) {
		size_t end;

		if (p[i] != '{' && p[i] != '}')
			continue;
		text_sub(&f.t, fmt, from, i - from);
		if (i + 1 < n && p[i + 1] == p[i]) {
			text_sub(&f.t, fmt, i, 1);
			from = ++i + 1;
			continue;
		}
		end = p[i] == '{' ? field_end(fmt, i + 1) : TEXT_NONE;
		if (end == TEXT_NONE)
			return bad(&f, "a single brace");
		if (field(&f, (struct span){p + i + 1, end - i - 1}) < 0)
			return -1;
		from = end + 1;
		i = end;
	}
	text_sub(&f.t, fmt, from, n - from);
	if (text_end(&f.t, out) < 0)
		return -1;
	out->flags |= fmt->flags & STR_SAFE;
	return 0;
}
