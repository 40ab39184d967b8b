#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "extract/run.h"
#include "json/ids.h"

void item_bad(struct run *r, struct item *it, const struct err *e)
{
	it->state = !it->wrong_at && hosts_has_others(r, it->host) ? READY : BAD;
	it->wrong_at = it->host;
	it->err = *e;
}

int item_permanent(const struct err *why)
{
	return strcmp(why->class, "refused") == 0 || strcmp(why->class, "ids") == 0;
}

void item_free(struct item *it)
{
	buf_free(&it->name);
	claim_free(&it->claim);
	produce_drop(&it->product);
	rec_free(&it->rec);
	ints_free(&it->ids);
	buf_free(&it->mask);
	buf_free(&it->body);
	buf_free(&it->reply);
	free(it->plan);
	free(it);
}

static int read_members(struct item *it, struct err *e)
{
	struct buf id = {0};
	int rc = -1;

	if (rec_parse(&it->rec, it->job->line.p, it->job->line.n, e) < 0)
		return -1;
	it->job->object = 1;
	if (rec_str(&it->rec, "id", &id, e) < 0)
		goto out;
	if (id.len == 0) {
		err_set(e, "type", "id: an empty string");
		goto out;
	}
	it->job->id = (struct span){arena_dup(it->job->arena, id.data, id.len), id.len};
	if (ids_read(&it->ids, rec_get(&it->rec, "input_ids"), "input_ids", e) < 0 ||
	    mask_read(&it->mask, rec_get(&it->rec, "loss_mask"), "loss_mask", e) < 0)
		goto out;
	if (it->ids.n == 0)
		err_set(e, "empty", "input_ids: no tokens");
	else if (it->mask.len != it->ids.n)
		err_set(e, "length", "loss_mask: %zu values for %zu input_ids", it->mask.len,
		    it->ids.n);
	else
		rc = 0;
out:
	buf_free(&id);
	return rc;
}

static int supervised(const struct item *it)
{
	return memchr(it->mask.data, 1, it->mask.len) != NULL;
}

/* The first id that a vocabulary of this size lacks, or n. */
static size_t above(const struct item *it, int64_t vocab)
{
	size_t i = 0;

	while (i < it->ids.n && it->ids.v[i] < vocab)
		i++;
	return i;
}

/* What an earlier run found to be the record's fault. */
static int carried(struct run *r, struct item *it)
{
	const struct carried *c = carry_find(&r->carry, &it->rec);

	if (!c)
		return 0;
	flow_reject(it->job, c->class, "%s", c->reason);
	flow_reject_more(it->job, "\"permanent\":true");
	return 1;
}

/* Whether the servers take so long a record: 1; 0, its verdict is set; -1. */
static int fits(struct run *r, struct item *it, struct err *e)
{
	int64_t context;

	if (hosts_ask(r, e) < 0)
		return -1;
	context = hosts_context(r);
	if (context <= 0 || it->ids.n + 1 <= (uint64_t)context)
		return 1;
	flow_reject(it->job, "long",
	    "input_ids: %zu tokens and one more are over the server's %lld", it->ids.n,
	    (long long)context);
	return 0;
}

/* A record that needs no server: sets its verdict and returns 0; 1 for one to be sent, or -1. */
static int judge(struct run *r, struct item *it, struct err *e)
{
	int64_t vocab = r->plan.config.vocab_size;
	size_t at;
	int done;

	if (read_members(it, &it->job->err) < 0) {
		it->job->verdict = FLOW_REJECT;
		return 0;
	}
	if (!flow_admit(r->flow, it->job))
		return 0;
	done = resume_done(r, it, e);
	if (done != 0) {
		it->job->verdict = FLOW_RESUMED;
		return done < 0 ? -1 : 0;
	}
	if (!supervised(it)) {
		flow_drop(it->job, "unsupervised");
		return 0;
	}
	if (carried(r, it))
		return 0;
	if (vocab > 0 && (at = above(it, vocab)) < it->ids.n) {
		flow_reject(it->job, "range",
		    "input_ids[%zu]: %d is outside the model's vocabulary of %lld", at,
		    (int)it->ids.v[at], (long long)vocab);
		return 0;
	}
	return fits(r, it, e);
}

int item_next(struct run *r, struct err *e)
{
	struct item *it;
	struct flow_held *held;
	int rc = flow_next(r->flow, &held, e);

	if (rc <= 0)
		return rc;
	it = xcalloc(1, sizeof(*it));
	it->held = held;
	it->job = flow_held_job(held);
	it->claim.lock = -1;
	it->state = READY;
	rc = judge(r, it, e);
	if (rc <= 0) {
		if (rc == 0)
			rc = flow_release(r->flow, held, e);
		else
			flow_forget(held);
		item_free(it);
		return rc < 0 ? -1 : 1;
	}
	it->bytes = r->plan.set.hidden > 0 ? plan_bytes(&r->plan, it->ids.n) : 0;
	r->item[(r->head + r->n++) % r->cap] = it;
	return 1;
}
