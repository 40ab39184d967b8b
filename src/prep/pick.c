#include "prep/pick.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/temp.h"

/* One row of the sample. What the end needs of it waits in the temporary file: how many counters
 * it has, these, and its record; n bytes at `at`. */
struct kept {
	uint64_t key, record, at;
	size_t n;
};

struct prep_pick {
	int dedup;
	struct hashset seen;
	uint64_t sample;
	struct kept *heap; /* the one that would go first on top */
	size_t n, cap;
	struct temp *temp;
	struct buf text;
};

struct prep_pick *prep_pick_open(int dedup, uint64_t sample, struct err *e)
{
	struct prep_pick *p = xcalloc(1, sizeof(*p));

	p->dedup = dedup;
	p->sample = sample;
	if (sample && !(p->temp = temp_open(NULL, "TMPDIR", e))) {
		prep_pick_close(p);
		return NULL;
	}
	return p;
}

void prep_pick_close(struct prep_pick *p)
{
	if (!p)
		return;
	temp_close(p->temp);
	hashset_free(&p->seen);
	buf_free(&p->text);
	free(p->heap);
	free(p);
}

/* ---- the heap ---- */

static int before(const struct kept *a, const struct kept *b)
{
	return a->key != b->key ? a->key < b->key : a->record < b->record;
}

static void swap(struct kept *a, struct kept *b)
{
	struct kept t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct kept *h, size_t i)
{
	for (; i && before(&h[(i - 1) / 2], &h[i]); i = (i - 1) / 2)
		swap(&h[(i - 1) / 2], &h[i]);
}

static void sift_down(struct kept *h, size_t n)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(&h[child], &h[child + 1]))
			child++;
		if (!before(&h[i], &h[child]))
			break;
		swap(&h[i], &h[child]);
		i = child;
	}
}

/* ---- one row ---- */

static int keep(struct prep_pick *p, struct flow_job *job, struct kept *k)
{
	struct buf *b = &p->text;

	buf_reset(b);
	buf_add(b, &job->ncount, sizeof(job->ncount));
	buf_add(b, job->count, job->ncount * sizeof(job->count[0]));
	buf_add(b, job->out->data, job->out->len);
	job->verdict = FLOW_HOLD;
	k->n = b->len;
	return temp_append(p->temp, b->data, b->len, &k->at, &job->err);
}

static int sample(struct prep_pick *p, struct flow *f, struct flow_job *job)
{
	struct kept k = {.key = job->user[PREP_USER_KEY], .record = job->record};
	struct flow_job out = {0};

	if (p->n == p->sample && !before(&k, &p->heap[0]))
		return flow_drop(job, "sample");
	if (keep(p, job, &k) < 0)
		return -1;
	if (p->n < p->sample) {
		p->heap = xgrow(p->heap, &p->cap, p->n + 1, sizeof(*p->heap));
		p->heap[p->n++] = k;
		sift_up(p->heap, p->n - 1);
		return 0;
	}
	p->heap[0] = k;
	sift_down(p->heap, p->n);
	flow_drop(&out, "sample");
	return flow_settle_held(f, &out, &job->err);
}

int prep_pick_take(struct prep_pick *p, struct flow *f, struct flow_job *job)
{
	struct hash128 h = {job->user[PREP_USER_HI], job->user[PREP_USER_LO]};

	if (p->dedup && !hashset_add(&p->seen, h))
		return flow_drop(job, "duplicate");
	return p->sample ? sample(p, f, job) : 0;
}

static int by_record(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->record < y->record ? -1 : x->record > y->record;
}

static int release(struct prep_pick *p, struct flow *f, const struct kept *k, struct err *e)
{
	struct flow_job job = {.verdict = FLOW_OUT, .record = k->record};
	struct buf out;
	size_t at = sizeof(job.ncount);

	buf_reset(&p->text);
	if (temp_read(p->temp, buf_room(&p->text, k->n), k->n, k->at, e) < 0)
		return -1;
	p->text.len = k->n;
	memcpy(&job.ncount, p->text.data, at);
	memcpy(job.count, p->text.data + at, job.ncount * sizeof(job.count[0]));
	at += job.ncount * sizeof(job.count[0]);
	out = (struct buf){.data = p->text.data + at, .len = p->text.len - at};
	job.out = &out;
	return flow_settle_held(f, &job, e);
}

int prep_pick_finish(struct prep_pick *p, struct flow *f, struct err *e)
{
	if (p->n)
		qsort(p->heap, p->n, sizeof(*p->heap), by_record);
	for (size_t i = 0; i < p->n; i++)
		if (release(p, f, &p->heap[i], e) < 0)
			return -1;
	return 0;
}
