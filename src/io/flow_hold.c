#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/flow_int.h"

struct flow_held {
	struct flow_job job;
	char *line;
	struct buf out;
	struct arena arena;
};

/* Makes the copy own everything that the original only borrowed, but for the output. */
static struct flow_held *held_new(const struct flow_job *job)
{
	struct flow_held *h = xmalloc(sizeof(*h));
	struct span line = job->line, id = job->id;

	h->job = *job;
	h->out = (struct buf){0};
	h->arena = (struct arena){0};
	h->line = xmemdup(line.p, line.n);
	h->job.line = (struct span){h->line, line.n};
	if (id.n > 0)
		h->job.id.p = arena_dup(&h->arena, id.p, id.n);
	h->job.arena = &h->arena;
	h->job.out = &h->out;
	return h;
}

static void held_free(struct flow_held *h)
{
	free(h->line);
	buf_free(&h->out);
	buf_free(&h->job.more);
	arena_free(&h->arena);
	free(h);
}

struct flow_held *flow_hold(struct flow_job *job)
{
	struct flow_held *h = held_new(job);

	h->out = *job->out;
	*job->out = (struct buf){0};
	job->more = (struct buf){0}; /* the copy has it */
	job->verdict = FLOW_HOLD;
	return h;
}

struct flow_job *flow_held_job(struct flow_held *h)
{
	return &h->job;
}

void flow_held_forget(struct flow_held *h)
{
	free(h->line);
	h->line = NULL;
	h->job.line = (struct span){0};
}

int flow_settle_held(struct flow *f, struct flow_job *job, struct err *e)
{
	int rc;

	f->t.held--;
	rc = flow_settle(f, job, e);
	flow_progress_show(f);
	return rc;
}

int flow_release(struct flow *f, struct flow_held *h, struct err *e)
{
	int rc;

	if (h->job.verdict == FLOW_HOLD)
		h->job.verdict = FLOW_NONE; /* released, it can't be kept again */
	rc = flow_settle_held(f, &h->job, e);
	held_free(h);
	return rc;
}

void flow_forget(struct flow *f, struct flow_held *h)
{
	(void)f; /* which still counts it as held: a sum that would be checked fails */
	held_free(h);
}

int flow_next(struct flow *f, struct flow_held **out, struct err *e)
{
	struct line line;
	struct flow_job job = {0};
	int rc;

	while ((rc = lines_next(f->lines, &line, e)) > 0) {
		f->read++;
		if (!line.toolong)
			break;
		if (flow_settle_long(f, &line, e) < 0)
			return -1;
	}
	if (rc <= 0)
		return rc;
	job.line = (struct span){line.p, line.n};
	job.file = line.file;
	job.number = line.number;
	job.element = line.element;
	job.record = f->read - 1;
	f->t.in++;
	f->t.held++;
	*out = held_new(&job);
	return 1;
}

int flow_ready(const struct flow *f)
{
	return lines_ready(f->lines);
}
