#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pipe.h"
#include "io/flow_int.h"

#define BATCH_BYTES (256u << 10)
#define BATCH_JOBS  256
#define KEEP_BYTES  (4u << 20) /* memory that a batch may keep from one use to the next */

/* Consecutive lines, which go through the threads together: one alone would cost more in locks
 * than in work. */
struct batch {
	struct buf text; /* the lines, one behind the other */
	struct flow_job job[BATCH_JOBS];
	struct buf out[BATCH_JOBS];
	size_t n;
	size_t failed; /* the job whose work ended the run, or n */
	struct arena ids;
};

struct thread {
	void *own; /* the program's */
	struct arena arena;
};

struct run {
	struct flow *f;
	const struct flow_ops *ops;
	void *ctx;
	struct thread *thread;
	size_t threads;
	struct arena commit;
	struct line toolong; /* the line at which the reading paused */
	int paused;
};

static void *batch_new(void *ctx)
{
	(void)ctx;
	return xcalloc(1, sizeof(struct batch));
}

static void batch_free(void *ctx, void *item)
{
	struct batch *b = item;

	(void)ctx;
	for (size_t i = 0; i < BATCH_JOBS; i++) {
		buf_free(&b->out[i]);
		buf_free(&b->job[i].more);
	}
	buf_free(&b->text);
	arena_free(&b->ids);
	free(b);
}

/* Empties a batch that was written, and gives back what one large record made it grow to. */
static void batch_reset(struct batch *b)
{
	size_t kept = 0;

	arena_reset(&b->ids);
	buf_reset(&b->text);
	if (b->text.cap > KEEP_BYTES)
		buf_free(&b->text);
	for (size_t i = 0; i < BATCH_JOBS; i++) {
		buf_reset(&b->out[i]);
		kept += b->out[i].cap;
		if (kept > KEEP_BYTES) {
			kept -= b->out[i].cap;
			buf_free(&b->out[i]);
		}
	}
	b->n = 0;
}

static void job_init(struct batch *b, const struct line *line, uint64_t record)
{
	struct flow_job *job = &b->job[b->n];

	buf_reset(&job->more);
	job->line = (struct span){NULL, line->n};
	job->file = line->file;
	job->number = line->number;
	job->element = line->element;
	job->record = record;
	job->verdict = FLOW_NONE;
	job->object = 0;
	job->id = (struct span){0};
	job->err.class = NULL;
	job->err.msg[0] = '\0';
	job->out = &b->out[b->n++];
	job->written = 0;
	job->ncount = 0;
	memset(job->user, 0, sizeof(job->user));
	buf_add(&b->text, line->p, line->n);
}

/* The text has stopped moving: the lines' places can be told. */
static void place_lines(struct batch *b)
{
	const char *p = buf_cstr(&b->text); /* no null pointer where all lines are empty */

	for (size_t i = 0; i < b->n; i++) {
		b->job[i].line.p = p;
		p += b->job[i].line.n;
	}
}

/* A batch ends early where the next line would have to be waited for, so that a filter in the
 * middle of a slow pipeline passes on what it has; and before a line that is too long, which is
 * settled between two runs of the pipeline, since it has to be read while it is written. */
static int batch_read(void *ctx, void *item, struct err *e)
{
	struct run *r = ctx;
	struct batch *b = item;
	struct line line;
	size_t most = BATCH_JOBS;
	int rc = 1;

	if (r->f->opt.batch > 0 && r->f->opt.batch < most)
		most = (size_t)r->f->opt.batch;
	batch_reset(b);
	if (r->paused)
		return 0;
	while (
	    b->n < most && b->text.len < BATCH_BYTES && (b->n == 0 || lines_ready(r->f->lines))) {
		rc = lines_next(r->f->lines, &line, e);
		if (rc <= 0)
			break;
		r->f->read++;
		if (line.toolong) {
			r->toolong = line;
			r->paused = 1;
			break;
		}
		job_init(b, &line, r->f->read - 1);
	}
	place_lines(b);
	b->failed = b->n;
	return rc < 0 ? -1 : b->n > 0;
}

static int inside(struct span a, struct span b)
{
	return (uintptr_t)a.p >= (uintptr_t)b.p && (uintptr_t)a.p + a.n <= (uintptr_t)b.p + b.n;
}

static int batch_work(void *ctx, size_t number, void *item, struct err *e)
{
	struct run *r = ctx;
	struct batch *b = item;
	struct thread *t = &r->thread[number];

	(void)e;
	for (size_t i = 0; i < b->n; i++) {
		struct flow_job *job = &b->job[i];

		job->arena = &t->arena;
		if (r->ops->work(r->ctx, t->own, job) < 0) {
			b->failed = i; /* a matter for its turn: those before it are good */
			break;
		}
		if (job->id.n > 0 && !inside(job->id, job->line))
			job->id.p = arena_dup(&b->ids, job->id.p, job->id.n);
		arena_reset(&t->arena);
	}
	return 0;
}

/* The program failed: at a record, if the system is not to blame. */
static int end_run(const struct flow_job *job, struct err *e)
{
	if (!job->err.class || strcmp(job->err.class, "system") != 0)
		return flow_fail(job, e);
	*e = job->err;
	return -1;
}

static int commit(struct run *r, struct flow_job *job, struct err *e)
{
	struct flow *f = r->f;
	int rc = 0;

	f->t.in++;
	flow_admit(f, job);
	if (r->ops->commit) {
		job->arena = &r->commit;
		rc = r->ops->commit(r->ctx, job);
		arena_reset(&r->commit);
	}
	return rc < 0 ? end_run(job, e) : flow_settle(f, job, e);
}

/* A line that no thread has seen. */
static int settle_long(struct run *r, struct err *e)
{
	struct flow_job job = flow_long_job(r->f, &r->toolong);
	struct buf none = {0};

	job.out = &none;
	if (r->ops->commit && r->ops->commit(r->ctx, &job) < 0)
		return end_run(&job, e);
	return flow_settle_long(r->f, &r->toolong, &job, e);
}

static int batch_write(void *ctx, void *item, struct err *e)
{
	struct run *r = ctx;
	struct batch *b = item;

	for (size_t i = 0; i < b->failed; i++)
		if (commit(r, &b->job[i], e) < 0)
			return -1;
	if (b->failed < b->n)
		return end_run(&b->job[b->failed], e);
	flow_progress_show(r->f);
	return r->f->out ? out_flush(r->f->out, e) : 0;
}

static int threads_open(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->threads && r->ops->thread_open; i++) {
		r->thread[i].own = r->ops->thread_open(r->ctx, e);
		if (!r->thread[i].own)
			return -1;
	}
	return 0;
}

static void threads_close(struct run *r)
{
	for (size_t i = 0; i < r->threads; i++) {
		if (r->thread[i].own && r->ops->thread_close)
			r->ops->thread_close(r->ctx, r->thread[i].own);
		arena_free(&r->thread[i].arena);
	}
	free(r->thread);
	arena_free(&r->commit);
}

int flow_run(struct flow *f, const struct flow_ops *ops, void *ctx, struct err *e)
{
	static const struct pipe_ops batches = {
	    batch_new, batch_free, batch_read, batch_work, batch_write};
	struct run r = {.f = f, .ops = ops, .ctx = ctx};
	int rc;

	r.threads = f->opt.threads ? (size_t)f->opt.threads : pipe_processors();
	r.thread = xcalloc(r.threads, sizeof(*r.thread));
	rc = threads_open(&r, e);
	do {
		if (rc == 0 && r.paused)
			rc = settle_long(&r, e);
		r.paused = 0;
		if (rc == 0)
			rc = pipe_run(&batches, &r, r.threads, e);
	} while (rc == 0 && r.paused);
	threads_close(&r);
	return rc;
}
