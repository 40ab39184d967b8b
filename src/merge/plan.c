#include "merge/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/utf8.h"

#define NUMBER_MAX 1e15 /* whole numbers up to here are exact, and no set is as large */

/* "a=1,b=2": it would be b's number, of a dataset "a=1,b", and found out at the end of the input. */
static int names_many(const char *s)
{
	const char *eq = strchr(s, '='), *comma = eq ? strchr(eq, ',') : NULL;
	double number;

	return comma && strchr(comma, '=') &&
	       num_double(eq + 1, (size_t)(comma - eq - 1), &number) == 0;
}

static int read_quota(struct quota *q, const char *option, const char *s, int whole, struct err *e)
{
	const char *eq = strrchr(s, '=');
	size_t n = eq ? strlen(eq + 1) : 0;
	uint64_t count = 0;

	if (!eq || eq == s)
		return err_set(e, "usage", "--%s: expected DATASET=%s, not '%s'", option,
		    whole ? "N" : "W", s);
	if (names_many(s))
		return err_set(e, "usage",
		    "--%s: expected one dataset, not '%s': give --%s once for each", option, s,
		    option);
	q->dataset = (struct span){s, (size_t)(eq - s)};
	if (whole) {
		if (num_u64(eq + 1, n, &count) < 0 || (double)count > NUMBER_MAX)
			return err_set(
			    e, "usage", "--%s: expected a whole number, not '%s'", option, eq + 1);
		q->number = (double)count;
	} else if (num_double(eq + 1, n, &q->number) < 0 ||
		   !(q->number >= 0 && q->number <= NUMBER_MAX)) {
		return err_set(
		    e, "usage", "--%s: expected a weight of 0 or more, not '%s'", option, eq + 1);
	}
	return 0;
}

static int same(struct span a, struct span b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static int read_quotas(
    struct quota **to, size_t *n, const char *option, const struct opt_list *l, struct err *e)
{
	*to = xcalloc(l->n, sizeof(**to));
	for (*n = 0; *n < l->n; ++*n) {
		struct quota *q = &(*to)[*n];

		if (read_quota(q, option, l->v[*n], strcmp(option, "cap") == 0, e) < 0)
			return -1;
		for (size_t i = 0; i < *n; i++)
			if (same((*to)[i].dataset, q->dataset))
				return err_set(e, "usage", "--%s: dataset named twice: '%s'",
				    option, l->v[*n]);
	}
	return 0;
}

static int read_split(struct split *to, const char *s, struct err *e)
{
	const char *eq = strchr(s, '='), *colon = eq ? strchr(eq, ':') : NULL;

	if (!colon || eq == s || colon[1] == '\0')
		return err_set(e, "usage", "--split: expected NAME=FRACTION:FILE, not '%s'", s);
	to->name = (struct span){s, (size_t)(eq - s)};
	to->file = colon + 1;
	if (num_double(eq + 1, (size_t)(colon - eq - 1), &to->fraction) < 0 ||
	    !(to->fraction >= 0 && to->fraction <= 1))
		return err_set(e, "usage", "--split: expected a fraction from 0 to 1: '%s'", s);
	if (span_eq(to->name, "train"))
		return err_set(e, "usage", "--split: 'train' is the name of the main output");
	return 0;
}

static int read_splits(struct plan *p, const struct opt_list *l, struct err *e)
{
	double sum = 0;

	p->split = xcalloc(l->n, sizeof(*p->split));
	for (size_t i = 0; i < l->n; i++) {
		if (read_split(&p->split[i], l->v[i], e) < 0)
			return -1;
		p->nsplit++;
		sum += p->split[i].fraction;
		for (size_t k = 0; k < i; k++)
			if (same(p->split[k].name, p->split[i].name))
				return err_set(
				    e, "usage", "--split: name used twice: '%s'", l->v[i]);
	}
	return sum <= 1 + 1e-9 ? 0 : err_set(e, "usage", "--split: the fractions are more than 1");
}

static int check_lengths(const struct merge_opts *o, struct err *e)
{
	if (o->min_len > o->max_len)
		return err_set(e, "usage", "--min-len is more than --max-len");
	if (o->min_response > o->max_len)
		return err_set(e, "usage", "--min-response is more than --max-len");
	return 0;
}

static int is_json(const char *name, struct err *e)
{
	size_t n = strlen(name);

	if (utf8_valid(name, n) < n)
		return err_set(
		    e, "usage", "%s: not UTF-8, so that no --manifest can name it", name);
	return 0;
}

/* What stands in a manifest as it was given. */
static int check_names(const struct merge_opts *o, struct err *e)
{
	const struct opt_list *lists[] = {&o->flow.files, &o->cap, &o->mix, &o->split};

	if (o->flow.output && is_json(o->flow.output, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (is_json(lists[i]->v[k], e) < 0)
				return -1;
	return 0;
}

int plan_make(struct plan *p, const struct merge_opts *o, struct err *e)
{
	*p = (struct plan){0};
	if (check_lengths(o, e) < 0 || (o->manifest && check_names(o, e) < 0))
		return -1;
	if (read_quotas(&p->cap, &p->ncap, "cap", &o->cap, e) < 0 ||
	    read_quotas(&p->mix, &p->nmix, "mix", &o->mix, e) < 0)
		return -1;
	return read_splits(p, &o->split, e);
}

void plan_free(struct plan *p)
{
	free(p->cap);
	free(p->mix);
	free(p->split);
	*p = (struct plan){0};
}

size_t plan_side(const struct plan *p, struct span conversation)
{
	/* any seed that no order uses by default; "split" in ASCII */
	uint64_t h = hash64(conversation.p, conversation.n, 0x73706c6974u);
	double at = (double)(h >> 11) * 0x1p-53, end = 0;

	for (size_t i = 0; i < p->nsplit; i++) {
		end += p->split[i].fraction;
		if (at < end)
			return i + 1;
	}
	return 0;
}
