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

static struct flow_held *held_new(const struct line *line, uint64_t record)
{
	struct flow_held *h = xcalloc(1, sizeof(*h));

	h->line = xmemdup(line->p, line->n);
	h->job = (struct flow_job){.line = {h->line, line->n},
	    .file = line->file,
	    .number = line->number,
	    .element = line->element,
	    .record = record,
	    .arena = &h->arena,
	    .out = &h->out};
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

struct flow_job *flow_held_job(struct flow_held *h)
{
	return &h->job;
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

/* The flow still counts it as held: a sum that would be checked fails. */
void flow_forget(struct flow_held *h)
{
	held_free(h);
}

int flow_next(struct flow *f, struct flow_held **out, struct err *e)
{
	struct flow_job job;
	struct line line;
	int rc;

	while ((rc = lines_next(f->lines, &line, e)) > 0) {
		f->read++;
		if (!line.toolong)
			break;
		job = flow_long_job(f, &line);
		if (flow_settle_long(f, &line, &job, e) < 0)
			return -1;
	}
	if (rc <= 0)
		return rc;
	f->t.in++;
	f->t.held++;
	*out = held_new(&line, f->read - 1);
	return 1;
}

int flow_ready(const struct flow *f)
{
	return lines_readable(f->lines);
}
