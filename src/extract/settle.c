#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/prog.h"
#include "extract/run.h"

/* The order that a kill at any moment survives: the file is synced (produce), gets its name, then
 * its line, and only then the source goes. A file without a line is removed by the next run and
 * made again. */
static int publish(struct run *r, struct item *it, struct err *e)
{
	struct index_line line = {
	    .seq_len = it->ids.n, .bytes = it->product.sum.bytes, .xxh64 = it->product.sum.xxh64};
	struct buf text = {0};
	int rc = -1;

	buf_add(&line.id, it->job->id.p, it->job->id.n);
	layout_name(&line.file, r->plan.set.layout, it->job->record, r->lines, it->job->id);
	if (produce_show(&it->product, &r->plan, buf_cstr(&line.file), e) < 0)
		goto out;
	index_write(&text, &line, &it->rec, &r->o->keep);
	if (part_append(r->part, text.data, text.len, e) < 0)
		goto out;
	r->lines++;
	r->made++;
	r->tokens += it->ids.n;
	r->bytes += it->product.sum.bytes;
	r->plan.set.records++;
	r->plan.set.tokens += it->ids.n;
	r->plan.set.bytes += it->product.sum.bytes;
	rc = r->dump ? claim_remove(r->dump, &it->claim, e) : 0;
	flow_job_count(it->job, "tokens", it->ids.n);
	flow_job_count(it->job, "bytes", it->product.sum.bytes);
	it->job->verdict = FLOW_OUT;
out:
	buf_free(&text);
	index_free(&line);
	return rc;
}

/* A run whose records all fail stops, when as many in a row have failed as are sent at once. */
static int failed_in_row(struct run *r, const struct item *it, struct err *e)
{
	uint64_t limit = r->o->concurrency * r->nhosts;

	if (++r->fails_in_row < (limit > FAILS_LEAST ? limit : FAILS_LEAST))
		return 0;
	return err_set(e, "rejects", "%llu records in a row have failed, the last one: %s",
	    (unsigned long long)r->fails_in_row, it->err.msg);
}

static int settle_one(struct run *r, struct item *it, struct err *e)
{
	struct flow_held *held = it->held;
	int rc = 0, bad = it->state == BAD;

	if (bad) {
		it->job->verdict = FLOW_REJECT;
		it->job->err = it->err;
	} else {
		rc = publish(r, it, e);
		r->fails_in_row = 0;
	}
	if (rc == 0)
		rc = flow_release(r->flow, held, e);
	else
		flow_forget(r->flow, held);
	if (rc == 0 && bad)
		rc = failed_in_row(r, it, e);
	item_free(it);
	return rc;
}

int settle(struct run *r, struct err *e)
{
	while (r->n > 0) {
		struct item *it = r->item[r->head];

		if (it->state != GOOD && it->state != BAD)
			break;
		r->head = (r->head + 1) % r->cap;
		r->n--;
		if (settle_one(r, it, e) < 0)
			return -1;
	}
	return 0;
}

int settle_rest(struct run *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct item *it = r->item[(r->head + i) % r->cap];

		/* in a run that has failed a reject would only fail again */
		if (rc == 0 && (it->state == GOOD || (it->state == BAD && !r->failed))) {
			rc = settle_one(r, it, e);
		} else {
			flow_forget(r->flow, it->held);
			item_free(it);
		}
	}
	r->n = 0;
	return rc;
}
