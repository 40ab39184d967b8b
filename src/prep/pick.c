#include "prep/pick.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

/* One row of the sample; its record is spool[at .. at + n). */
struct kept {
	uint64_t key, record;
	struct flow_held *held;
	off_t at;
	size_t n;
};

struct prep_pick {
	int dedup;
	struct hashset seen;
	uint64_t sample;
	struct kept *heap; /* the one that would go first on top */
	size_t n, cap;
	int fd;
	off_t end;
};

static int open_spool(struct err *e)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	snprintf(path, sizeof(path), "%s/e3-prep.XXXXXX", dir);
	fd = mkstemp(path);
	if (fd < 0)
		return err_sys(
		    e, "a temporary file in %s, for the sample (TMPDIR names another)", dir);
	unlink(path);
	return fd;
}

struct prep_pick *prep_pick_open(int dedup, uint64_t sample, struct err *e)
{
	struct prep_pick *p = xcalloc(1, sizeof(*p));

	p->dedup = dedup;
	p->sample = sample;
	p->fd = -1;
	if (sample) {
		p->fd = open_spool(e);
		if (p->fd < 0) {
			prep_pick_close(p);
			return NULL;
		}
	}
	return p;
}

void prep_pick_close(struct prep_pick *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	hashset_free(&p->seen);
	free(p->heap);
	free(p);
}

/* ---- the temporary file ---- */

static int spool_put(struct prep_pick *p, struct kept *k, struct buf *b, struct err *e)
{
	size_t done = 0;

	k->at = p->end;
	k->n = b->len;
	while (done < b->len) {
		ssize_t n = pwrite(p->fd, b->data + done, b->len - done, p->end + (off_t)done);

		if (n < 0 && errno != EINTR)
			return err_sys(e, "the temporary file of the sample (TMPDIR)");
		if (n > 0)
			done += (size_t)n;
	}
	p->end += (off_t)done;
	buf_reset(b);
	return 0;
}

static int spool_get(struct prep_pick *p, const struct kept *k, struct buf *b, struct err *e)
{
	size_t done = 0;

	buf_room(b, k->n);
	while (done < k->n) {
		ssize_t n = pread(p->fd, b->data + done, k->n - done, k->at + (off_t)done);

		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			return err_sys(e, "the temporary file of the sample (TMPDIR)");
		if (n > 0)
			done += (size_t)n;
	}
	b->len = k->n;
	return 0;
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
	if (spool_put(p, k, job->out, &job->err) < 0)
		return -1;
	k->held = flow_hold(job);
	flow_held_forget(k->held);
	return 0;
}

static int sample(struct prep_pick *p, struct flow *f, struct flow_job *job)
{
	struct kept k = {.key = job->user[PREP_USER_KEY], .record = job->record}, out;

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
	out = p->heap[0];
	p->heap[0] = k;
	sift_down(p->heap, p->n);
	flow_drop(flow_held_job(out.held), "sample");
	return flow_release(f, out.held, &job->err);
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

int prep_pick_finish(struct prep_pick *p, struct flow *f, struct err *e)
{
	if (p->n)
		qsort(p->heap, p->n, sizeof(*p->heap), by_record);
	for (size_t i = 0; i < p->n; i++) {
		struct kept *k = &p->heap[i];

		if (spool_get(p, k, flow_held_job(k->held)->out, e) < 0 ||
		    flow_release(f, k->held, e) < 0)
			return -1;
	}
	return 0;
}
