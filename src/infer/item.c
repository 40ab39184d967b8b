#include "infer/item.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "infer/infer.h"
#include "infer/params.h"

static void item_free(struct run *r, struct item *it)
{
	for (struct call *c = r->aborts; c; c = c->next)
		if (c->item == it)
			c->item = NULL;
	rec_free(&it->rec);
	conv_free(&it->conv);
	buf_free(&it->call.body);
	buf_free(&it->body);
	free(it);
}

static int append(void *run, const char *line, size_t n, struct err *e)
{
	struct run *r = run;

	r->n.out_bytes += n + 1;
	return r->part ? part_append(r->part, line, n, e) : 0;
}

/* Tells order, whether or not there is a line, and gives the record back to flow. */
static void settle(struct run *r, struct item *it)
{
	int rc = 0, out = it->job->verdict == FLOW_OUT;
	struct buf line = *it->job->out;
	struct err e = {0};

	*it->job->out = (struct buf){0}; /* flow only counts it */
	it->job->written = (uint64_t)out;
	if (r->o->ordered)
		rc = order_tell(&r->order, it->seq, out ? &line : NULL, append, r, &e);
	else if (out)
		rc = append(r, line.data, line.len, &e);
	buf_free(&line);
	r->window--;
	r->held_bytes -= it->job->line.n;
	if (rc < 0) {
		flow_forget(it->held); /* unsettled, for a later run */
		infer_fail(r, &e);
	} else {
		/* what waits for its turn may never be written */
		if (it->carried && !(out && r->o->ordered))
			it->carried->settled = 1;
		if (flow_release(r->flow, it->held, &e) < 0)
			infer_fail(r, &e);
	}
	item_free(r, it);
}

void item_forget(struct run *r, struct item *it)
{
	r->window--;
	flow_forget(it->held);
	item_free(r, it);
}

void item_out(struct run *r, struct item *it)
{
	conv_output(&it->conv, &it->rec, it->key, it->job->out);
	it->job->verdict = FLOW_OUT;
	r->n.output[it->last]++;
	settle(r, it);
}

/* The members that this program adds to a reject: status, attempts, the server's words, and the
 * turns that were finished. */
static void add_members(struct item *it, int permanent)
{
	struct buf b = {0}, body = {0};

	if (it->status)
		buf_addf(&b, "\"status\":%d,", it->status);
	buf_addf(&b, "\"attempts\":%u,\"infer_key\":\"", it->attempts);
	buf_add_hex64(&b, it->key);
	buf_addc(&b, '"');
	if (permanent)
		buf_adds(&b, ",\"permanent\":true");
	if (it->body.len) {
		utf8_repair(&body, it->body.data, it->body.len);
		buf_adds(&b, ",\"body\":");
		buf_add_json(&b, body.data, body.len);
	}
	if (it->conv.turns == TURNS_ALL && it->conv.answers) {
		buf_adds(&b, ",\"progress\":");
		conv_progress(&it->conv, &b);
	}
	flow_reject_more(it->job, buf_cstr(&b));
	buf_free(&b);
	buf_free(&body);
}

void item_reject(struct run *r, struct item *it, int permanent)
{
	it->job->verdict = FLOW_REJECT;
	add_members(it, permanent);
	settle(r, it);
}

/* The first record that is not found done: FILE becomes FILE.part. */
static void begin(struct run *r)
{
	struct err e;

	if (r->begun)
		return;
	r->begun = 1;
	if (r->part && part_begin(r->part, &e) < 0)
		infer_fail(r, &e);
}

/* Class and words of a record that never reaches a server. */
static void refuse(struct run *r, struct item *it)
{
	it->job->verdict = FLOW_REJECT;
	settle(r, it);
}

static int read_id(struct item *it)
{
	struct buf id = {0};
	int rc = rec_str(&it->rec, "id", &id, it->why);

	if (rc == 0 && id.len == 0)
		rc = err_set(it->why, "type", "id: empty");
	if (rc == 0)
		it->job->id = (struct span){arena_dup(it->job->arena, id.data, id.len), id.len};
	buf_free(&id);
	return rc;
}

/* An earlier run came to the verdict. */
static void settle_again(struct run *r, struct item *it)
{
	r->earlier_bytes += it->job->line.n + 1;
	settle(r, it);
}

static void carry(struct run *r, struct item *it, const struct carried *c)
{
	err_set(&it->job->err, c->class, "%s", c->reason);
	it->job->verdict = FLOW_REJECT;
	flow_reject_more(it->job, c->more);
	settle_again(r, it);
}

/* The run ends before the output is touched, or where it stands. */
static void changed(struct run *r, struct item *it)
{
	struct buf how = {0};

	params_difference(&how, r, it);
	err_set(it->why, "changed",
	    "%s:%llu: %s has an answer of this id, made with%s: give the same, or write elsewhere",
	    it->job->file, (unsigned long long)it->job->number, r->o->flow.output,
	    how.len ? buf_cstr(&how) : " another record, --model, template or --date");
	infer_fail(r, it->why);
	item_forget(r, it);
	buf_free(&how);
}

/* Either may be the later one, or go on from the other: a run that was killed left its turns and no
 * rejects. */
static void resume_turns(struct run *r, struct item *it, const char *rejected)
{
	struct err ignored;

	turns_resume(&r->turns, it->job->id, it->key, &it->conv);
	if (conv_resume(&it->conv, (struct span){rejected, strlen(rejected)}) == 0)
		turns_resume(&r->turns, it->job->id, it->key, &it->conv);
	if (it->conv.done) { /* by a version that pairs results in another way */
		conv_free(&it->conv);
		conv_open(&it->conv, &it->rec, (enum turns)r->o->turns, &ignored);
	}
}

/* What an earlier run says of the record. 1: it is settled. */
static int settle_earlier(struct run *r, struct item *it)
{
	struct carried *c = it->carried = resume_carried(&r->resume, it->job->id);

	if (c && c->key != it->key)
		c = NULL;
	switch (resume_find(&r->resume, it->job->id, it->key)) {
	case RESUME_DONE:
		it->job->verdict = FLOW_RESUMED;
		settle_again(r, it);
		return 1;
	case RESUME_CHANGED: changed(r, it); return 1;
	case RESUME_NEW: break;
	}
	if (c && c->permanent && !r->o->retry_rejects) {
		carry(r, it, c);
		return 1;
	}
	resume_turns(r, it, c && c->progress ? c->progress : "");
	return 0;
}

/* -1: it->why says what is wrong with the record. */
static int read_record(struct run *r, struct item *it)
{
	struct flow_job *job = it->job;

	if (rec_parse(&it->rec, job->line.p, job->line.n, it->why) < 0)
		return -1;
	job->object = 1;
	if (read_id(it) < 0)
		return -1;
	it->key = resume_key(job->line, (struct span){r->params.data, r->params.len});
	return conv_open(&it->conv, &it->rec, (enum turns)r->o->turns, it->why);
}

void item_take(struct run *r, struct flow_held *held)
{
	struct item *it = xcalloc(1, sizeof(*it));
	int rc;

	it->held = held;
	it->job = flow_held_job(held);
	it->why = &it->job->err;
	it->seq = r->seq++;
	it->call = (struct call){.kind = CALL_ATTEMPT, .item = it};
	r->window++;
	r->held_bytes += it->job->line.n;
	r->read_bytes += it->job->line.n + 1;
	rc = read_record(r, it);
	if (rc < 0) {
		it->job->verdict = FLOW_REJECT;
		begin(r);
	}
	if (!flow_admit(r->flow, it->job)) {
		settle(r, it);
	} else if (rc < 0) {
		refuse(r, it);
	} else if (!settle_earlier(r, it)) {
		/* what was dropped is the best guess at what will come */
		it->expect = it->job->line.n + 4 * it->conv.dropped_bytes;
		it->job->verdict = FLOW_HOLD;
		begin(r);
		queue_add(&r->queue, it);
	}
}
