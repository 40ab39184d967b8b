#include "infer/attempt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "infer/adapt.h"
#include "infer/call.h"
#include "infer/doubt.h"
#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/item.h"
#include "infer/pace.h"
#include "infer/prompt.h"
#include "infer/result.h"

#define UNPARSED_MAX   3 /* the first, and two more */
#define BUSY_DOUBLINGS 4 /* of the pause: a slot may be free at any moment */
#define ABORT_MS       5000
#define BODY_KEPT      ((size_t)64 << 10) /* of a reply, for a reject */
#define FOREIGN_ONE_IN 10

/* ---- out ---- */

/* The parts end with a character that is in none of them: SGLang aborts by prefix. The run's nonce
 * keeps a resumed run from meeting its own orphans. */
static void make_rid(const struct run *r, struct item *it)
{
	struct span id = it->job->id;
	char safe[81];
	size_t n = id.n < sizeof(safe) - 1 ? id.n : sizeof(safe) - 1;

	for (size_t i = 0; i < n; i++)
		safe[i] =
		    isalnum((unsigned char)id.p[i]) || strchr("._/-", id.p[i]) ? id.p[i] : '_';
	safe[n] = '\0';
	snprintf(it->rid, sizeof(it->rid), "e3;%08x;%llu;%s;t%zu;a%u;", r->nonce,
	    (unsigned long long)it->seq, safe, it->conv.answers, it->sent++);
}

static void write_body(const struct run *r, const struct endpoint *ep, struct item *it)
{
	struct serve_prompt q = {.rid = it->rid};
	struct buf messages = {0};

	buf_reset(&it->call.body);
	if (serve_takes_ids(ep->route)) {
		q.ids = r->prompt.v;
		q.n = r->prompt.n;
	} else {
		conv_messages(&it->conv, &messages);
		q.messages = (struct span){messages.data, messages.len};
		q.tools = rec_get(&it->rec, "tools");
		q.kwargs = rec_get(&it->rec, "chat_template_kwargs");
	}
	serve_write(&it->call.body, ep->plan, &q);
	buf_fit(&it->call.body); /* it stays for minutes */
	buf_free(&messages);
}

static void fly(struct run *r, struct item *it)
{
	it->prev = NULL;
	it->next = r->flying;
	if (it->next)
		it->next->prev = it;
	r->flying = it;
}

static void land(struct run *r, struct item *it)
{
	struct endpoint *ep = it->ep;

	if (it->prev)
		it->prev->next = it->next;
	else
		r->flying = it->next;
	if (it->next)
		it->next->prev = it->prev;
	it->next = it->prev = NULL;
	it->call.xfer = NULL;
	if (ep->lone == it)
		ep->lone = NULL;
	ep->running--;
	ep->outstanding -= it->expect;
}

/* The finished turns of a replay that has grown out of the context are as good as any. */
static void not_sent(struct run *r, struct item *it)
{
	if (strcmp(it->why->class, "long") == 0 && it->conv.answers > 0) {
		conv_cut(&it->conv, "prompt_too_long");
		doubt_verdict(r, it);
	} else {
		item_reject(r, it, 1);
	}
}

void attempt_start(struct run *r, struct endpoint *ep, struct item *it)
{
	if (prompt_make(r, ep, it, it->why) < 0) {
		not_sent(r, it);
		return;
	}
	it->prompt_n = r->prompt.n;
	make_rid(r, it);
	write_body(r, ep, it);
	it->call.ep = it->ep = ep;
	call_send(r, &it->call, serve_path(ep->route), (uint32_t)(r->o->timeout * 1000));
	if (!it->call.xfer) { /* the run ends; the record is left to a later one */
		attempt_pardon(r, it);
		return;
	}
	it->started = r->now;
	r->n.requests++;
	r->n.retries += it->attempts > 0;
	ep->running++;
	ep->outstanding += it->expect;
	fly(r, it);
	it->alone = it->crashes >= CRASHES_ALONE;
	if (it->alone)
		ep->lone = it;
}

/* ---- aborts ---- */

void attempt_abort(struct run *r, struct endpoint *ep, struct item *it, const char *rid)
{
	struct call *c;

	if (!serve_must_abort(ep->facts.api))
		return; /* the others end a request when its connection ends */
	c = xcalloc(1, sizeof(*c));
	*c = (struct call){.kind = CALL_ABORT, .ep = ep, .item = it};
	serve_write_abort(&c->body, rid);
	call_send(r, c, SERVE_ABORT_PATH, ABORT_MS);
	if (!c->xfer) {
		buf_free(&c->body);
		free(c);
		return;
	}
	c->next = r->aborts;
	r->aborts = c;
	if (it)
		it->aborting++;
}

/* ---- what an end means ---- */

void attempt_pardon(struct run *r, struct item *it)
{
	it->not_before = r->now + pace_jitter(&r->random, 100);
	if (it->crashes >= CRASHES_ALONE)
		queue_suspect(&r->queue, it);
	else
		queue_wait(&r->queue, it);
}

void attempt_refuse(struct run *r, struct item *it)
{
	it->attempts++;
	item_reject(r, it, 1);
}

void attempt_crashed(struct run *r, struct item *it)
{
	if (it->alone && ++it->lone_deaths >= 2) {
		err_set(it->why, "poison",
		    "the server died or hung %u times with this record alone in flight",
		    it->lone_deaths);
		item_reject(r, it, 1);
		return;
	}
	it->crashes++;
	attempt_pardon(r, it);
}

void attempt_charge(struct run *r, struct item *it)
{
	unsigned cap = (unsigned)r->o->max_attempts;
	uint64_t pause;

	it->attempts++;
	if (it->outcome.class == CLASS_UNPARSED && ++it->unparsed >= UNPARSED_MAX)
		cap = it->attempts;
	if (it->attempts >= cap) {
		err_prefix(it->why, "given up after %u attempt%s: ", it->attempts,
		    it->attempts == 1 ? "" : "s");
		item_reject(r, it, 0);
		return;
	}
	pause = pace_backoff(&r->random, r->o->backoff * 1000, it->attempts);
	if (it->not_before > r->now + pause)
		pause = it->not_before - r->now; /* Retry-After */
	it->not_before = r->now + pause;
	queue_wait(&r->queue, it);
}

static void wait_for_room(struct run *r, struct item *it)
{
	unsigned n = it->turned_away < BUSY_DOUBLINGS ? it->turned_away : BUSY_DOUBLINGS;
	uint64_t until = r->now + pace_backoff(&r->random, r->o->backoff * 1000, n);

	if (it->not_before < until) /* else Retry-After */
		it->not_before = until;
	queue_wait(&r->queue, it);
}

static void turned_away(struct run *r, struct item *it)
{
	r->n.turned_away++;
	if (++it->turned_away > CAPACITY_FREE)
		attempt_charge(r, it);
	else
		wait_for_room(r, it);
}

/* ---- back ---- */

static void keep_body(struct item *it, const struct http_done *d)
{
	buf_reset(&it->body);
	buf_add(&it->body, d->body.data, d->body.len < BODY_KEPT ? d->body.len : BODY_KEPT);
}

/* A model may make an id that is padding of its vocabulary once in a long while; one answer in ten
 * is another model. */
static int is_foreign(struct run *r, const struct serve_reply *reply, struct err *e)
{
	return result_foreign(r, reply, e) && ++r->n.foreign * FOREIGN_ONE_IN > r->n.answers;
}

/* A body of status 200 against what was asked. */
static enum serve_found check(
    struct run *r, struct item *it, struct span body, struct serve_reply *reply)
{
	struct endpoint *ep = it->ep;
	struct serve_sent sent = {
	    .n = it->prompt_n,
	    .rid = ep->route == ROUTE_SGLANG ? it->rid : NULL,
	    .max_new_tokens = r->o->max_new_tokens,
	    .want_ids = !r->o->no_ids,
	    .want_prompt_ids = !r->o->no_ids && serve_echoes_prompt(ep->facts.api, ep->route),
	    .room = serve_room(&ep->facts),
	    .weights = ep->facts.weight_version,
	};
	enum serve_found found;

	reply->sent = prompt_text(it);
	if (serve_reply_read(reply, ep->route, body, it->why) < 0)
		return FOUND_SHAPE;
	if (reply->sent.p && !reply->echoed) {
		if (prompt_sent(r, it, it->why) < 0)
			infer_fail(r, it->why);
		sent.ids = r->prompt.v;
	}
	found = serve_reply_check(reply, &sent, it->why);
	return found == FOUND_GOOD && is_foreign(r, reply, it->why) ? FOUND_FOREIGN : found;
}

/* What became of it; what is wrong in it->why. */
static enum serve_found look(
    struct run *r, struct item *it, const struct http_done *d, struct serve_reply *reply)
{
	if (d->curl == 0 && d->status == 200)
		return check(r, it, (struct span){d->body.data, d->body.len}, reply);
	return call_tell(d, "transient", it->why) ? FOUND_LOADING : FOUND_GOOD;
}

/* The next turn, or the end of the record. */
static void take_answer(struct run *r, struct item *it, struct result *a)
{
	struct turn turn = {
	    .id = it->job->id,
	    .key = it->key,
	    .after = it->conv.sum,
	    .message = {a->message.data, a->message.len},
	    .generation = {a->generation.data, a->generation.len},
	};
	struct err e;

	conv_answer(&it->conv, turn.message, turn.generation, a->status != STATUS_OK);
	it->last = a->status;
	it->attempts = it->unparsed = it->turned_away = it->crashes = it->lone_deaths = 0;
	if (it->conv.done) {
		doubt_verdict(r, it);
		return;
	}
	if (turns_note(&r->turns, &turn, &e) < 0)
		infer_fail(r, &e);
	it->not_before = r->now;
	queue_wait(&r->queue, it);
}

static void finish(
    struct run *r, struct item *it, const struct serve_reply *reply, const struct http_done *d)
{
	struct endpoint *ep = it->ep;
	struct result a;

	buf_free(&it->body);
	if (result_make(r, it, reply, &a, it->why) < 0) {
		keep_body(it, d);
		it->outcome = (struct serve_outcome){CLASS_UNPARSED, "foreign token ids"};
		it->why->class = "unparsed";
		attempt_charge(r, it);
		return;
	}
	endpoint_answers(ep);
	if (reply->retractions > 0)
		adapt_retracted(r, ep);
	r->n.prompt_tokens += reply->prompt_tokens > 0 ? (uint64_t)reply->prompt_tokens : 0;
	r->n.completion_tokens +=
	    reply->completion_tokens > 0 ? (uint64_t)reply->completion_tokens : 0;
	r->n.answers++;
	r->n.statuses[a.status]++;
	if (r->o->policy[a.status] > POLICY_KEEP)
		keep_body(it, d);
	switch ((enum policy)r->o->policy[a.status]) {
	case POLICY_UNSAID:
	case POLICY_KEEP: take_answer(r, it, &a); break;
	case POLICY_DROP:
		err_set(it->why, infer_statuses[a.status], "the answer is %s",
		    infer_statuses[a.status]);
		it->attempts++;
		it->dropped = 1;
		doubt_verdict(r, it);
		break;
	case POLICY_RETRY:
		it->outcome = (struct serve_outcome){CLASS_TRANSIENT, infer_statuses[a.status]};
		err_set(it->why, infer_statuses[a.status], "the answer is %s",
		    infer_statuses[a.status]);
		attempt_charge(r, it);
		break;
	}
	result_free(&a);
	doubt_settle(r);
}

/* 401, 403 and 404 on every request are the run's fault, not the record's. */
static int may_be_config(int status)
{
	return status == 401 || status == 403 || status == 404;
}

static void dispose(struct run *r, struct item *it, const struct http_done *d)
{
	struct endpoint *ep = it->ep;

	it->why->class = serve_class_name(it->outcome.class);
	switch (it->outcome.class) {
	case CLASS_OK: break;
	case CLASS_PERMANENT:
		it->why->class = "refused";
		if (endpoint_refuses(ep) || may_be_config(d->status))
			endpoint_suspect(r, ep, it);
		else
			attempt_refuse(r, it);
		break;
	case CLASS_TRANSIENT:
	case CLASS_UNPARSED:
		if (d->curl != 0 && it->outcome.class == CLASS_TRANSIENT)
			endpoint_suspect(r, ep, it);
		else if (endpoint_fails(r, ep, it->why))
			attempt_pardon(r, it);
		else
			attempt_charge(r, it);
		break;
	case CLASS_BUSY:
		endpoint_is_full(r, ep, it->why);
		turned_away(r, it);
		break;
	case CLASS_OUTAGE:
		attempt_pardon(r, it);
		endpoint_is_down(r, ep, it->why);
		break;
	case CLASS_CONFIG:
	case CLASS_OURS:
		if (d->curl == 0)
			err_prefix(it->why, "%s: ", it->outcome.name);
		attempt_pardon(r, it);
		if (it->outcome.class == CLASS_CONFIG && endpoint_has_others(r, ep)) {
			endpoint_is_down(r, ep, it->why);
			break;
		}
		err_prefix(it->why, "%s: ", ep->url);
		infer_fail(r, it->why);
		break;
	}
}

void attempt_done(struct run *r, struct item *it, struct http_done *d)
{
	struct serve_reply reply = {0};
	struct serve_evidence ev = {d->curl, d->sys_errno, d->status, FOUND_GOOD};

	land(r, it);
	it->not_before = 0;
	if (d->retry_after > 0 && d->retry_after <= CAPACITY_PAUSE_MAX)
		it->not_before = r->now + (uint64_t)d->retry_after * 1000;
	ev.found = look(r, it, d, &reply);
	it->outcome = serve_classify(&ev);
	it->status = d->status;
	if (it->outcome.class == CLASS_OK) {
		finish(r, it, &reply, d);
	} else {
		keep_body(it, d);
		it->ep->failed++;
		/* what came whole has ended at the server too */
		if (d->curl != 0 && it->outcome.class != CLASS_OUTAGE)
			attempt_abort(r, it->ep, it, it->rid);
		dispose(r, it, d);
	}
	serve_reply_free(&reply);
}

void attempt_cancel_all(struct run *r, struct endpoint *ep, int crashed)
{
	struct item *it = r->flying, *next;

	for (; it; it = next) {
		next = it->next;
		if (ep && it->ep != ep)
			continue;
		http_cancel(r->http, it->call.xfer);
		land(r, it);
		attempt_abort(r, it->ep, NULL, it->rid);
		if (crashed)
			attempt_crashed(r, it);
		else
			attempt_pardon(r, it);
	}
}

void attempt_abort_done(struct run *r, struct call *c)
{
	struct call **p = &r->aborts;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	if (c->item)
		c->item->aborting--;
	buf_free(&c->body);
	free(c);
}
