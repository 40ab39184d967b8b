#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "extract/run.h"
#include "serve/outcome.h"
#include "serve/request.h"
#include "json/rec.h"

enum { PAUSE_MS = 500, PAUSE_MAX_MS = 30000, BUSY_MAX_MS = 4000 };

static enum serve_route route_of(const struct run *r)
{
	return r->o->backend == BACKEND_VLLM ? ROUTE_STATES_VLLM : ROUTE_STATES_SGLANG;
}

int item_send(struct run *r, struct item *it, struct host *h, struct err *e)
{
	struct serve_prompt prompt = {.ids = it->ids.v, .n = it->ids.n, .rid = it->rid};
	struct http_req req = {.user = it};
	struct buf url = {0};

	snprintf(it->rid, sizeof(it->rid), "%s%s-%llu-%u", r->mine, r->tag,
	    (unsigned long long)it->job->record, it->sent++);
	buf_reset(&it->body);
	buf_reset(&it->reply);
	it->file[0] = '\0';
	it->states = (struct span){0};
	serve_write(&it->body, h->plan, &prompt);
	buf_addf(&url, "%s%s", h->url, serve_path(route_of(r)));
	req.url = buf_cstr(&url);
	req.body = (struct span){it->body.data, it->body.len};
	it->xfer = http_start(r->http, &req, e);
	buf_free(&url);
	if (!it->xfer)
		return -1;
	it->host = h;
	it->state = FLYING;
	if (h->running++ == 0)
		h->heard_at = clock_ms();
	r->flying++;
	r->sent++;
	return 0;
}

/* ---- back ---- */

static void landed(struct run *r, struct item *it)
{
	it->xfer = NULL;
	r->flying--;
	it->host->running--;
	buf_free(&it->body);
}

uint64_t items_received(const struct run *r, const struct host *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct item *it = r->item[(r->head + i) % r->cap];

		if (it->state == FLYING && it->host == h)
			n += http_received(it->xfer);
	}
	return n;
}

void items_recall(struct run *r, struct host *h)
{
	for (size_t i = 0; i < r->n; i++) {
		struct item *it = r->item[(r->head + i) % r->cap];

		if (it->state != FLYING || it->host != h)
			continue;
		http_cancel(r->http, it->xfer);
		landed(r, it);
		it->state = READY;
	}
}

static void work(struct run *r, struct item *it, int discard)
{
	it->discard = discard;
	it->after = it->state;
	it->state = AT_WORK;
	r->at_work++;
	pool_put(r->pool, it);
}

void item_fail_run(struct run *r, struct item *it, const struct err *why)
{
	struct err e = *why;

	it->err = *why;
	it->state = READY; /* it may be good after what is wrong has been mended */
	err_prefix(&e, "%s: ", it->host->url);
	run_fail(r, &e);
}

/* An attempt that counts: again after a pause, or the record's end. */
static void charge(struct run *r, struct item *it, const struct err *why)
{
	it->err = *why;
	host_fails(r, it->host, why->msg);
	if (++it->attempts >= r->o->max_attempts) {
		err_prefix(&it->err, "after %u attempts: ", it->attempts);
		it->state = BAD;
		return;
	}
	it->not_before = clock_ms() + doubled(PAUSE_MS, it->attempts - 1, PAUSE_MAX_MS);
	it->state = READY;
}

static void busy(struct run *r, struct item *it, const struct http_done *d, const struct err *why)
{
	uint64_t pause = doubled(PAUSE_MS, it->turned_away++, BUSY_MAX_MS);

	host_is_full(it->host, why->msg);
	if (it->turned_away > CAPACITY_FREE) {
		charge(r, it, why);
		return;
	}
	if (d->retry_after > 0 && d->retry_after <= CAPACITY_PAUSE_MAX &&
	    (uint64_t)d->retry_after * 1000 > pause)
		pause = (uint64_t)d->retry_after * 1000;
	it->state = READY;
	it->not_before = clock_ms() + pause;
}

/* A plug-in that can't write its folder answers so to every request. */
static void server_error(
    struct run *r, struct item *it, const struct http_done *d, const struct err *why)
{
	struct err e;

	charge(r, it, why);
	if (it->state != BAD || d->status != 500 || r->o->backend != BACKEND_DUMP ||
	    it->host->dumped)
		return;
	e = it->err;
	err_prefix(&e, "no dump has come from it, can it write its folder (E3_DUMP_DIR)? ");
	item_fail_run(r, it, &e);
}

/* These are about the key, the address or the model's name, whatever the record is. */
static int is_hosts(int status)
{
	return status == 401 || status == 403 || status == 404;
}

static void turned_away(
    struct run *r, struct item *it, const struct http_done *d, const struct err *why)
{
	if (!is_hosts(d->status))
		item_bad(r, it, why);
	else if (!r->plan.adopted)
		item_fail_run(r, it, why);
	else
		charge(r, it, why); /* of a gateway, say, while the server behind it is away */
}

static void act(struct run *r, struct item *it, struct http_done *d, struct serve_outcome out,
    const struct err *why)
{
	switch (out.class) {
	case CLASS_OK: break;
	case CLASS_PERMANENT: turned_away(r, it, d, why); break;
	case CLASS_TRANSIENT: server_error(r, it, d, why); break;
	case CLASS_BUSY: busy(r, it, d, why); break;
	case CLASS_UNPARSED: charge(r, it, why); break;
	case CLASS_OUTAGE:
		it->state = READY;
		host_down(it->host, out.name);
		break;
	case CLASS_CONFIG:
	case CLASS_OURS:
		if (out.class == CLASS_OURS || !r->plan.adopted || !hosts_has_others(r, it->host)) {
			item_fail_run(r, it, why);
		} else {
			it->state = READY;
			host_leave_out(it->host, why->msg);
		}
		break;
	}
}

/* Where the states are: a file's name, or a span of the reply, which the item then keeps. */
static int find_states(struct run *r, struct item *it, struct http_done *d,
    const struct serve_reply *reply, struct err *e)
{
	struct buf path = {0};
	int rc = 0;

	if (r->o->backend == BACKEND_JSON) {
		it->reply = d->body;
		d->body = (struct buf){0};
		it->states = reply->states;
	} else if (r->o->backend == BACKEND_DUMP) {
		snprintf(it->file, sizeof(it->file), "%s" DUMP_END, it->rid);
	} else if (json_str(&path, reply->states_path, NULL) < 0) {
		rc = err_set(e, "no-file",
		    "no hidden_states_path in the reply: start the server with the hidden-states "
		    "connector");
	} else {
		rc = dumpdir_name(r->dump, (struct span){path.data, path.len}, it->file, e);
	}
	buf_free(&path);
	return rc;
}

static enum serve_found check(
    struct run *r, struct item *it, struct http_done *d, struct serve_reply *reply, struct err *e)
{
	struct serve_sent sent = {.ids = it->ids.v,
	    .n = it->ids.n,
	    .max_new_tokens = 1,
	    .rid = r->o->backend == BACKEND_VLLM ? NULL : it->rid,
	    .room = serve_room(&it->host->facts),
	    .weights = it->host->facts.weight_version};
	enum serve_found found;

	if (serve_reply_read(reply, route_of(r), (struct span){d->body.data, d->body.len}, e) < 0)
		return FOUND_SHAPE;
	found = serve_reply_check(reply, &sent, e);
	if (found == FOUND_GOOD && r->o->backend == BACKEND_VLLM && !reply->has_prompt_ids) {
		err_set(e, "ids",
		    "no prompt_token_ids in the reply: the server can't show what it ran");
		found = FOUND_NO_IDS;
	}
	if (found == FOUND_MISMATCH)
		e->class = "ids";
	return found;
}

/* Status 200: to the pool, or what is wrong. The file of an answer that can't be used is removed.
 */
static void answered(struct run *r, struct item *it, struct http_done *d)
{
	struct serve_reply reply = {0};
	struct serve_evidence ev = {.status = d->status};
	struct err e = {0}, path;
	int located;

	ev.found = check(r, it, d, &reply, &e);
	located = ev.found != FOUND_SHAPE &&
		  find_states(r, it, d, &reply, ev.found == FOUND_GOOD ? &e : &path) == 0;
	if (ev.found == FOUND_GOOD && located) {
		host_good(r, it->host, d->seconds);
		work(r, it, 0);
	} else if (ev.found == FOUND_GOOD) {
		/* before the first record is through, what is wrong is wrong for all */
		if (r->plan.adopted)
			item_bad(r, it, &e);
		else
			item_fail_run(r, it, &e);
	} else if (ev.found == FOUND_MISMATCH) {
		item_bad(r, it, &e);
	} else {
		act(r, it, d, serve_classify(&ev), &e);
	}
	if (ev.found != FOUND_GOOD && located && it->file[0])
		work(r, it, 1);
	serve_reply_free(&reply);
}

static void refused(struct run *r, struct item *it, struct http_done *d)
{
	struct serve_evidence ev = {
	    .curl = d->curl, .sys_errno = d->sys_errno, .status = d->status, .found = FOUND_SHAPE};
	struct serve_outcome out;
	struct buf text = {0};
	struct err e;

	if (d->curl == 0 && serve_error_read(&text, (struct span){d->body.data, d->body.len}))
		ev.found = FOUND_LOADING;
	out = serve_classify(&ev);
	if (d->curl != 0)
		err_set(&e, "server", "%s: %s", out.name, d->why);
	else
		err_set(&e,
		    out.class == CLASS_PERMANENT && !is_hosts(d->status) ? "refused" : "server",
		    "%s: status %d: %s", out.name, d->status, buf_cstr(&text));
	act(r, it, d, out, &e);
	buf_free(&text);
}

void item_reply(struct run *r, struct http_done *d)
{
	struct item *it = d->user;

	landed(r, it);
	it->host->heard_at = clock_ms();
	it->host->received = 0;
	if (d->curl == 0 && d->status == 200)
		answered(r, it, d);
	else
		refused(r, it, d);
	buf_free(&d->body);
}
