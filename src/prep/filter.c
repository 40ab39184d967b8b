#include "prep/filter.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "prep/row.h"
#include "prep/walk.h"

enum { EQ, NE, GE, LE, GT, LT };

static const struct {
	const char *word;
	int op;
} ops[] = {{">=", GE}, {"<=", LE}, {"!=", NE}, {"=", EQ}, {">", GT}, {"<", LT}};

static int number(struct span s, double *x)
{
	s = prep_walk_trim(s);
	return s.n && num_double(s.p, s.n, x) == 0 && isfinite(*x);
}

int prep_filter_parse(struct prep_filter *f, const char *text, struct err *e)
{
	size_t at = strcspn(text, "=!<>");
	const char *v;

	*f = (struct prep_filter){.text = text, .path = {text, at}, .op = -1};
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) && f->op < 0; i++) {
		size_t n = strlen(ops[i].word);

		if (strncmp(text + at, ops[i].word, n) != 0)
			continue;
		v = text + at + n;
		if (*v && strchr("=<>", *v)) /* "==" and "=>" are other languages' */
			break;
		f->op = ops[i].op;
		f->value = prep_walk_trim((struct span){v, strlen(v)});
	}
	if (utf8_valid(text, strlen(text)) < strlen(text))
		return err_set(e, "usage", "filter \"%s\": not UTF-8", text);
	f->path = prep_walk_trim(f->path);
	if (f->op < 0 || !f->path.n)
		return err_set(e, "usage",
		    "filter \"%s\": expected COLUMN, one of = != >= <= > <, and a value", text);
	f->is_number = number(f->value, &f->number);
	if (f->op >= GE && !f->is_number)
		return err_set(e, "usage", "filter \"%s\": its value is no number", text);
	return 0;
}

/* A column, or a member of the object where there is one. */
static struct span get(struct prep_row *r, struct span object, struct span name)
{
	const char *s = arena_strndup(r->arena, name.p, name.n);

	return object.p ? prep_walk_get(object, s) : rec_get(&r->rec, s);
}

/* The JSON value at a path, p NULL where there is none. A name may have dots itself. */
static struct span find(struct prep_row *r, struct span path)
{
	struct span v = {0};

	for (;;) {
		struct span whole = get(r, v, path);
		const char *dot = memchr(path.p, '.', path.n);
		size_t n = dot ? (size_t)(dot - path.p) : path.n;

		if (whole.p || !dot)
			return whole;
		v = get(r, v, (struct span){path.p, n});
		if (!v.p)
			return v;
		if (*v.p == '"' && !prep_inner_json(r, json_text(v, r->arena, NULL), &v))
			return (struct span){0};
		if (*v.p != '{')
			return (struct span){0};
		path = (struct span){dot + 1, path.n - n - 1};
	}
}

/* How a number stands to the filter's: less than 0, 0 or more. Whole ones by all of their digits: ids
 * are longer than a double. */
static int order(const struct prep_filter *f, struct span have, double x)
{
	int64_t a, b;

	have = prep_walk_trim(have);
	if (num_i64(have.p, have.n, &a) == 0 && num_i64(f->value.p, f->value.n, &b) == 0)
		return (a > b) - (a < b);
	return (x > f->number) - (x < f->number);
}

static int holds(const struct prep_filter *f, struct span have, int *none)
{
	double x = 0;
	int is_number = number(have, &x), c;

	if (f->op >= GE && !is_number) {
		*none = 1;
		return 0;
	}
	if (is_number && f->is_number)
		c = order(f, have, x);
	else
		c = !span_same(have, f->value);
	switch (f->op) {
	case GE: return c >= 0;
	case LE: return c <= 0;
	case GT: return c > 0;
	case LT: return c < 0;
	case EQ: return c == 0;
	default: return c != 0;
	}
}

/* Seldom written, so that the workers share the line. */
static void note(const struct prep_filter *f, unsigned char how)
{
	if (f->met && (atomic_load_explicit(f->met, memory_order_relaxed) & how) != how)
		atomic_fetch_or_explicit(f->met, how, memory_order_relaxed);
}

static int passes(struct prep_row *r, const struct prep_filter *f)
{
	struct span v = find(r, f->path);
	int none = span_is_null(v), ok;

	if (!none && *v.p == '"')
		v = json_text(v, r->arena, NULL);
	note(f, none ? FILTER_ASKED : FILTER_ASKED | FILTER_FOUND);
	ok = none ? f->op == NE : holds(f, v, &none);
	if (none)
		prep_count(r, PREP_NO_SCORE, 1);
	prep_note(
	    r, "filter %s: %s%s", f->text, ok ? "passed" : "left out", none ? " (no-score)" : "");
	return ok;
}

const char *prep_filters_fail(struct prep_row *r)
{
	for (size_t i = 0; i < r->rules->nfilters; i++)
		if (!passes(r, &r->rules->filters[i]))
			return r->rules->filters[i].text;
	return NULL;
}
