#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tokenize/tokenize.h"

struct row {
	struct span dataset;
	struct drift_counts n;
};

struct drift {
	pthread_mutex_t lock;
	struct row *row;
	size_t n, cap;
};

struct drift *drift_open(void)
{
	struct drift *d = xcalloc(1, sizeof(*d));

	pthread_mutex_init(&d->lock, NULL);
	return d;
}

static int by_name(const void *x, const void *y)
{
	const struct span a = ((const struct row *)x)->dataset,
			  b = ((const struct row *)y)->dataset;
	int rc = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return rc ? rc : (a.n > b.n) - (a.n < b.n);
}

static struct row *row_of(struct drift *d, struct span dataset)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->row[i].dataset.n == dataset.n &&
		    memcmp(d->row[i].dataset.p, dataset.p, dataset.n) == 0)
			return &d->row[i];
	d->row = xgrow(d->row, &d->cap, d->n + 1, sizeof(*d->row));
	d->row[d->n] =
	    (struct row){.dataset = {xstrndup(dataset.p ? dataset.p : "", dataset.n), dataset.n}};
	return &d->row[d->n++];
}

void drift_add(struct drift *d, struct span dataset, struct drift_counts n)
{
	struct row *r;

	pthread_mutex_lock(&d->lock);
	r = row_of(d, dataset);
	r->n.records += n.records;
	r->n.answers += n.answers;
	r->n.prompts += n.prompts;
	pthread_mutex_unlock(&d->lock);
}

static void sort(struct drift *d)
{
	if (d->n > 0)
		qsort(d->row, d->n, sizeof(*d->row), by_name);
}

void drift_json(struct drift *d, struct buf *out)
{
	sort(d);
	buf_addc(out, '{');
	for (size_t i = 0; i < d->n; i++) {
		const struct row *r = &d->row[i];

		buf_adds(out, i > 0 ? "," : "");
		buf_add_json(out, r->dataset.p, r->dataset.n);
		buf_addf(out, ":{\"records\":%llu,\"answers\":%llu,\"prompts\":%llu}",
		    (unsigned long long)r->n.records, (unsigned long long)r->n.answers,
		    (unsigned long long)r->n.prompts);
	}
	buf_addc(out, '}');
}

void drift_text(struct drift *d, struct buf *out)
{
	sort(d);
	for (size_t i = 0; i < d->n; i++)
		buf_addf(out,
		    "drift: %s: %llu records with served ids, %llu answers and %llu prompts that "
		    "encode to others\n",
		    d->row[i].dataset.n > 0 ? d->row[i].dataset.p : "(no dataset)",
		    (unsigned long long)d->row[i].n.records,
		    (unsigned long long)d->row[i].n.answers,
		    (unsigned long long)d->row[i].n.prompts);
}

void drift_close(struct drift *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free((char *)d->row[i].dataset.p);
	free(d->row);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
