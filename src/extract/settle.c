#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/prog.h"
#include "extract/run.h"

/* The order that a kill at any moment survives: a file is synced (produce), gets its name, its
 * folder is synced, then come its line and the sync of that, and only then the source goes. A file
 * without a line is removed by the next run and made again.
 *
 * A sync costs some milliseconds whatever there is to sync, so records take these steps together:
 * as many as come within BATCH_MS, at most BATCH_MOST; at once when nothing else is under way. */
enum { BATCH_MS = 250 };

/* ---- a name, and a place in the batch ---- */

static int show(struct run *r, struct item *it, struct err *e)
{
	layout_name(&it->name, r->plan.set.layout, it->job->record, r->lines, it->job->id);
	if (folder_check(r->out_lock, r->o->out_dir, e) < 0 ||
	    produce_show(&it->product, r->o->out_dir, buf_cstr(&it->name), &r->folders, e) < 0)
		return -1;
	r->lines++;
	if (r->nshown == 0)
		r->shown_at = clock_ms();
	r->shown[r->nshown++] = it;
	return 0;
}

/* ---- the batch ---- */

static int add_line(struct run *r, struct item *it, struct err *e)
{
	struct save_sum sum = it->product.sum;
	struct index_line line = {
	    .file = it->name, .seq_len = it->ids.n, .bytes = sum.bytes, .xxh64 = sum.xxh64};
	struct buf text = {0};
	int rc;

	buf_add(&line.id, it->job->id.p, it->job->id.n);
	index_write(&text, &line, &it->rec, &r->o->keep);
	rc = part_append(r->part, text.data, text.len, e);
	buf_free(&text);
	buf_free(&line.id);
	return rc;
}

static void count(struct run *r, struct item *it)
{
	uint64_t bytes = it->product.sum.bytes;

	r->made++;
	r->tokens += it->ids.n;
	r->bytes += bytes;
	r->plan.set.records++;
	r->plan.set.tokens += it->ids.n;
	r->plan.set.bytes += bytes;
	flow_job_count(it->job, "tokens", it->ids.n);
	flow_job_count(it->job, "bytes", bytes);
	it->job->verdict = FLOW_OUT;
}

static int write_lines(struct run *r, struct err *e)
{
	int rc = folders_sync(&r->folders, e);

	for (size_t i = 0; rc == 0 && i < r->nshown; i++)
		rc = add_line(r, r->shown[i], e);
	return rc < 0 ? -1 : part_sync(r->part, e);
}

/* Of an index that can't be gone on with (a pipe, a device) nothing would ever remove it; of
 * another the next run does, by what stands there. */
static void take_back(const struct run *r, const struct item *it)
{
	struct buf path = {0};

	buf_addf(&path, "%s/%.*s", r->o->out_dir, (int)it->name.len, it->name.data);
	if (!part_path(r->part))
		unlink(buf_cstr(&path));
	buf_free(&path);
}

int settle_shown(struct run *r, struct err *e)
{
	int rc = r->nshown > 0 ? write_lines(r, e) : 0, written = rc == 0;

	for (size_t i = 0; i < r->nshown; i++) {
		struct item *it = r->shown[i];

		if (rc == 0 && r->dump)
			rc = claim_remove(r->dump, &it->claim, e);
		if (rc == 0) {
			count(r, it);
			rc = flow_release(r->flow, it->held, e);
		} else {
			flow_forget(it->held);
		}
		if (!written)
			take_back(r, it);
		item_free(it);
	}
	r->nshown = 0;
	return rc;
}

int64_t settle_tick(const struct run *r)
{
	uint64_t waited = clock_ms() - r->shown_at;

	if (r->nshown == 0)
		return -1;
	return waited < BATCH_MS ? (int64_t)(BATCH_MS - waited) : 0;
}

/* ---- the window ---- */

/* A run whose records all fail stops, when as many in a row have failed as are sent at once. */
static int failed_in_row(struct run *r, const struct err *why, struct err *e)
{
	uint64_t limit = r->o->concurrency * r->nhosts;

	if (++r->fails_in_row < (limit > FAILS_LEAST ? limit : FAILS_LEAST))
		return 0;
	return err_set(e, "rejects", "%llu records in a row have failed, the last one: %s",
	    (unsigned long long)r->fails_in_row, why->msg);
}

static int reject(struct run *r, struct item *it, struct err *e)
{
	struct err why = it->err;
	int rc;

	it->job->verdict = FLOW_REJECT;
	it->job->err = it->err;
	if (item_permanent(&why))
		flow_reject_more(it->job, "\"permanent\":true");
	rc = flow_release(r->flow, it->held, e);
	item_free(it);
	return rc < 0 ? -1 : failed_in_row(r, &why, e);
}

static int settle_one(struct run *r, struct item *it, struct err *e)
{
	int rc;

	if (it->state == BAD)
		return reject(r, it, e);
	r->fails_in_row = 0;
	rc = show(r, it, e);
	if (rc < 0) {
		flow_forget(it->held);
		item_free(it);
	}
	return rc < 0 || r->nshown < BATCH_MOST ? rc : settle_shown(r, e);
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
	return settle_tick(r) == 0 ? settle_shown(r, e) : 0;
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
			flow_forget(it->held);
			item_free(it);
		}
	}
	r->n = 0;
	return rc < 0 ? rc : settle_shown(r, e);
}
