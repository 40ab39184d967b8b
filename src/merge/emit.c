/* The second pass: parts out of the spool, sorted, each record to where it was decided. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/item.h"
#include "merge/merge.h"
#include "merge/record.h"

void items_read(struct items *to, const struct buf *bytes)
{
	size_t at = 0;

	while (at < bytes->len) {
		struct item item;

		memcpy(&item, bytes->data + at, sizeof(item));
		at += sizeof(item);
		item.line = bytes->data + at;
		at += item.n;
		to->v = xgrow(to->v, &to->cap, to->n + 1, sizeof(*to->v));
		to->v[to->n++] = item;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return rank_order(&x->rank, &y->rank);
}

static int settle_out(struct merge *m, const struct item *item, struct flow_job *job, struct err *e)
{
	struct buf line = {.data = (char *)(uintptr_t)item->line, .len = item->n};

	set_add(&m->set[item->side], item->dataset, item->tokens, item->response,
	    (struct span){item->line, item->n});
	job->verdict = FLOW_OUT;
	job->written = 1;
	if (item->side == 0)
		job->out = &line;
	else if (out_write(m->out[item->side - 1], item->line, item->n, e) < 0)
		return -1;
	return flow_settle_held(m->flow, job, e);
}

/* Unless it was asked for, a second record with an id is an error of the input. */
static int settle_same_id(struct merge *m, struct flow_job *job, struct err *e)
{
	struct reader r = {0};
	struct arena a = {0};
	struct record rec;
	int rc;

	if (m->o->dedup != DEDUP_NONE) {
		flow_drop(job, "duplicate_id");
		return flow_settle_held(m->flow, job, e);
	}
	job->arena = &a;
	record_read(&r, DEDUP_NONE, job, &rec); /* it was read before: it has an id */
	flow_reject(job, "duplicate", "id: another record has the same, \"%.*s\"",
	    rec.id.n < 200 ? (int)rec.id.n : 200, rec.id.p);
	rc = flow_settle_held(m->flow, job, e);
	reader_free(&r);
	arena_free(&a);
	return rc;
}

static int settle(struct merge *m, const struct item *item, struct err *e)
{
	struct flow_job job = {.file = m->file[item->file],
	    .number = item->number,
	    .element = item->element,
	    .object = 1};

	job.line = (struct span){item->line, item->n - 1};
	switch ((enum choice)m->verdict[item->rank.record]) {
	case CHOICE_KEEP: return settle_out(m, item, &job, e);
	case CHOICE_SAME_ID: return settle_same_id(m, &job, e);
	case CHOICE_SAME_CONTENT:
		flow_drop(&job, m->o->dedup == DEDUP_PROMPT ? "duplicate_prompt" : "duplicate_ids");
		break;
	case CHOICE_CAP: flow_drop(&job, "cap"); break;
	case CHOICE_MIX: flow_drop(&job, "mix"); break;
	}
	return flow_settle_held(m->flow, &job, e);
}

static int emit_part(
    struct merge *m, size_t part, struct buf *bytes, struct items *items, struct err *e)
{
	if (spool_take(m->spool, part, bytes, e) < 0)
		return -1;
	items->n = 0;
	items_read(items, bytes);
	if (!m->o->no_shuffle && items->n > 0)
		qsort(items->v, items->n, sizeof(*items->v), by_rank);
	for (size_t i = 0; i < items->n; i++)
		if (settle(m, &items->v[i], e) < 0)
			return -1;
	return 0;
}

int merge_emit(struct merge *m, struct err *e)
{
	struct items items = {0};
	struct buf bytes = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < spool_parts(m->spool); i++)
		rc = emit_part(m, i, &bytes, &items, e);
	buf_free(&bytes);
	free(items.v);
	return rc;
}
