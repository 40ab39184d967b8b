#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tokenize/tokenize.h"

#define NAME_SHOWN 200 /* bytes of a dataset's name for a person */

struct row {
	struct span dataset;
	uint64_t records, answers, prompts; /* with served ids; of them, what differs */
};

struct drift {
	struct row row[DRIFT_ROWS];
	size_t n;
	struct row others;
};

/* What work leaves for commit in job->user; the dataset's name stands behind the text in job->out. */
enum { HAS_IDS, ANSWERS, PROMPTS, NAME };

struct drift *drift_open(void)
{
	struct drift *d = xcalloc(1, sizeof(*d));

	d->others.dataset = SPAN("(others)");
	return d;
}

void drift_note(struct flow_job *job, struct span dataset, const struct chat_turns *turns)
{
	job->user[HAS_IDS] = 1;
	job->user[ANSWERS] = turns->drift;
	job->user[PROMPTS] = turns->prompt_drift;
	job->user[NAME] = dataset.n;
	buf_add(job->out, dataset.p, dataset.n);
}

static int order(struct span a, struct span b)
{
	int rc = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return rc ? rc : (a.n > b.n) - (a.n < b.n);
}

static struct row *row_of(struct drift *d, struct span dataset)
{
	for (size_t i = 0; i < d->n; i++)
		if (order(d->row[i].dataset, dataset) == 0)
			return &d->row[i];
	if (d->n == DRIFT_ROWS)
		return &d->others;
	d->row[d->n].dataset = (struct span){xstrndup(dataset.p, dataset.n), dataset.n};
	return &d->row[d->n++];
}

void drift_add(struct drift *d, struct flow_job *job)
{
	size_t n = (size_t)job->user[NAME];
	struct row *r;

	if (job->verdict != FLOW_OUT || !job->user[HAS_IDS])
		return;
	job->out->len -= n;
	r = row_of(d, (struct span){job->out->data + job->out->len, n});
	r->records++;
	r->answers += job->user[ANSWERS];
	r->prompts += job->user[PROMPTS];
}

static int by_name(const void *x, const void *y)
{
	return order(((const struct row *)x)->dataset, ((const struct row *)y)->dataset);
}

/* The k-th row to be told, by name, the others last; NULL: there are no more. */
static const struct row *told(const struct drift *d, size_t k)
{
	if (k < d->n)
		return &d->row[k];
	return k == d->n && d->others.records > 0 ? &d->others : NULL;
}

void drift_stat(struct drift *d, struct flow *f)
{
	const struct row *r;
	struct buf b = {0};

	qsort(d->row, d->n, sizeof(*d->row), by_name);
	buf_addc(&b, '{');
	for (size_t k = 0; (r = told(d, k)); k++) {
		buf_adds(&b, k > 0 ? "," : "");
		buf_add_json(&b, r->dataset.p, r->dataset.n);
		buf_addf(&b, ":{\"records\":%llu,\"answers\":%llu,\"prompts\":%llu}",
		    (unsigned long long)r->records, (unsigned long long)r->answers,
		    (unsigned long long)r->prompts);
	}
	buf_addc(&b, '}');
	flow_stat_json(f, "drift", buf_cstr(&b));
	buf_free(&b);
}

int drift_line(const struct drift *d, size_t k, struct err *line)
{
	const struct row *r = told(d, k);
	struct span name;

	if (!r)
		return 0;
	name = r->dataset.n > 0 ? r->dataset : SPAN("(no dataset)");
	err_set(line, "drift",
	    "drift: %.*s: %llu records with served ids, %llu answers and %llu prompts that "
	    "encode to others",
	    name.n < NAME_SHOWN ? (int)name.n : NAME_SHOWN, name.p, (unsigned long long)r->records,
	    (unsigned long long)r->answers, (unsigned long long)r->prompts);
	return 1;
}

void drift_close(struct drift *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free((char *)d->row[i].dataset.p);
	free(d);
}
