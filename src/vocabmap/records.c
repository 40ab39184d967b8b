#include "vocabmap/records.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/flow.h"
#include "vocabmap/counts.h"
#include "json/rec.h"

struct records {
	struct counts *counts;
	int count_all;
};

struct thread {
	struct rec rec;
	struct counts_in in;
};

static void *thread_open(void *ctx, struct err *e)
{
	(void)ctx;
	(void)e;
	return xcalloc(1, sizeof(struct thread));
}

static void thread_close(void *ctx, void *thread)
{
	struct thread *t = thread;

	(void)ctx;
	rec_free(&t->rec);
	counts_in_free(&t->in);
	free(t);
}

/* An id is not needed here, but where there is one it must be the only one of its kind. */
static int read_id(const struct rec *rec, struct flow_job *job)
{
	struct buf id = {0};
	int rc = 0;

	if (!span_is_null(rec_get(rec, "id")))
		rc = rec_str(rec, "id", &id, &job->err);
	if (rc == 0 && id.len > 0)
		job->id = (struct span){arena_dup(job->arena, id.data, id.len), id.len};
	buf_free(&id);
	return rc;
}

/* The packed tokens travel in job->out, which with own_output goes nowhere else. */
static int work(void *ctx, void *thread, struct flow_job *job)
{
	const struct records *r = ctx;
	struct thread *t = thread;
	struct rec *rec = &t->rec;

	job->verdict = FLOW_REJECT;
	if (rec_parse(rec, job->line.p, job->line.n, &job->err) < 0)
		return 0;
	job->object = 1;
	if (read_id(rec, job) < 0)
		return 0;
	t->in.ids = rec_get(rec, "input_ids");
	t->in.mask = rec_get(rec, "loss_mask");
	if (counts_read(job->out, &t->in, r->counts->vocab, r->count_all, &job->err) == 0)
		job->verdict = FLOW_OUT;
	return 0;
}

static int commit(void *ctx, struct flow_job *job)
{
	const struct records *r = ctx;

	if (job->verdict == FLOW_OUT)
		counts_add(r->counts, job->out);
	buf_reset(job->out);
	return 0;
}

int records_count(struct flow *f, struct counts *c, int count_all, struct err *e)
{
	static const struct flow_ops ops = {thread_open, thread_close, work, commit};
	struct records r = {c, count_all};

	if (flow_run(f, &ops, &r, e) < 0)
		return -1;
	counts_fold(c);
	return 0;
}
