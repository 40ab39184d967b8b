#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "extract/run.h"
#include "extract/say.h"
#include "serve/lax.h"
#include "serve/request.h"

enum {
	PROBE_MS = 20000,
	PAUSE_FIRST_MS = 1000,
	PAUSE_MAX_MS = 30000,
	OUTAGE_MAX_MS = 600000,	 /* all servers gone for so long: the run ends, to be resumed */
	HANG_MS = OUTAGE_MAX_MS, /* without an answer; where others work, which wait for it: */
	HANG_LEAST_MS = 60000,	 /* from here on, and so many times the longest answer */
	HANG_TIMES = 4,
};

static enum serve_api api_of(const struct run *r)
{
	return r->o->backend == BACKEND_VLLM ? API_VLLM : API_SGLANG;
}

/* ---- what a server says of itself ---- */

static int fetch(
    struct run *r, const char *url, const char *path, struct http_done *d, struct err *e)
{
	struct buf full = {0};
	struct http_req req = {.timeout_ms = PROBE_MS};
	struct pollfd signals = {.fd = r->signals, .events = POLLIN};
	int rc = 0;

	buf_addf(&full, "%s%s", url, path);
	req.url = buf_cstr(&full);
	if (!http_start(r->http, &req, e))
		rc = -1;
	while (rc == 0 && !http_next(r->http, d))
		if (http_wait(r->http, -1, &signals, 1, e) < 0 || run_interrupted(r, e) < 0)
			rc = -1;
	if (rc == 0 && d->curl != 0) {
		rc = err_set(e, "server", "%s: %s", full.data, d->why);
		buf_free(&d->body);
	}
	buf_free(&full);
	return rc;
}

/* Settings by which a long record, or the like of one before, comes with too few rows: they are
 * told early, and found by the record's own check. */
static void say_pieces(const char *url, struct span settings)
{
	struct span chunk = lax_get(settings, "chunked_prefill_size");
	uint64_t n;

	if (span_eq(lax_get(settings, "disable_radix_cache"), "false"))
		say("%s: its prefix cache is on (--disable-radix-cache turns it off): records "
		    "whose "
		    "beginning it has seen will lack rows",
		    url);
	if (chunk.p && num_u64(chunk.p, chunk.n, &n) == 0 && n > 0)
		say("%s: it prefills in chunks of %llu (--chunked-prefill-size -1 turns that off): "
		    "longer "
		    "records will lack rows",
		    url, (unsigned long long)n);
}

/* SGLang's settings, read before the first hour of its time is spent. */
static int check_settings(const struct run *r, const char *url, struct span body, struct err *e)
{
	struct span v, capture, aux;

	if (lax_whole(body, &v) < 0 || *v.p != '{')
		return 0;
	if (lax_is(lax_get(v, "speculative_algorithm"), "EAGLE"))
		return err_set(e, "server",
		    "%s was started with speculative algorithm EAGLE, which captures the last "
		    "layer only: start it "
		    "with EAGLE3",
		    url);
	/* since 0.5.23 --enable-return-aux-hidden-states does for both */
	capture = lax_get(v, "enable_return_hidden_states");
	aux = lax_get(v, "enable_return_aux_hidden_states");
	if (r->o->backend == BACKEND_JSON && capture.p && span_eq(capture, "false") &&
	    !(aux.p && span_eq(aux, "true")))
		return err_set(
		    e, "server", "%s was started without --enable-return-hidden-states", url);
	say_pieces(url, v);
	return 0;
}

static int probe(struct run *r, struct host *h, const struct serve_probe *p, struct err *e)
{
	struct http_done d;
	int rc = 0;

	if (fetch(r, h->url, p->path, &d, e) < 0)
		return -1;
	if (d.status != 200 && p->older) {
		buf_free(&d.body);
		if (fetch(r, h->url, p->older, &d, e) < 0)
			return -1;
	}
	if (d.status == 200) {
		struct span body = {d.body.data, d.body.len};

		p->read(&h->facts, body);
		rc = check_settings(r, h->url, body, e);
	}
	buf_free(&d.body);
	return rc;
}

static int ask(struct run *r, struct host *h, struct err *e)
{
	struct serve_plan_opt opt = {.api = api_of(r),
	    .want_ids = 1,
	    .route = r->o->backend == BACKEND_VLLM ? ROUTE_STATES_VLLM : ROUTE_STATES_SGLANG,
	    .sampling = {.max_new_tokens = 1,
		.temperature = NAN,
		.top_p = NAN,
		.min_p = NAN,
		.top_k = SERVE_UNSET}};

	h->facts = (struct serve_facts)SERVE_FACTS_NONE;
	for (size_t i = 0; i < serve_nprobes; i++)
		if (serve_probes[i].apis & 1u << api_of(r) && probe(r, h, &serve_probes[i], e) < 0)
			return -1;
	opt.model = h->facts.served[0] ? h->facts.served : NULL;
	if (r->o->backend == BACKEND_VLLM && !opt.model)
		return err_set(
		    e, "server", "%s: no model in /v1/models: is this a vLLM server?", h->url);
	h->plan = serve_plan_open(&opt, e);
	return h->plan ? 0 : -1;
}

/* One set is of one model. */
static int check_alike(const struct host *a, const struct host *b, struct err *e)
{
	const char *wa = a->facts.weight_version, *wb = b->facts.weight_version;

	if (strcmp(a->facts.served, b->facts.served) != 0)
		return err_set(e, "server", "%s serves %s, %s serves %s: one set is of one model",
		    a->url, a->facts.served, b->url, b->facts.served);
	if (wa[0] && wb[0] && strcmp(wa, wb) != 0)
		return err_set(e, "server", "%s has weights %s, %s has %s: one set is of one model",
		    a->url, wa, b->url, wb);
	return 0;
}

/* One that is given twice is one. */
static void add(struct run *r, char *url)
{
	size_t i = 0;

	while (i < r->nhosts && strcmp(r->host[i].url, url) != 0)
		i++;
	if (i < r->nhosts)
		free(url);
	else
		r->host[r->nhosts++].url = url;
}

void hosts_open(struct run *r)
{
	r->host = xcalloc(r->o->servers.n, sizeof(*r->host));
	for (size_t i = 0; i < r->o->servers.n; i++)
		add(r, http_base_url(r->o->servers.v[i]));
	for (size_t i = 0; i < r->nhosts; i++)
		capacity_begin(&r->host[i].capacity, (size_t)r->o->concurrency);
}

/* For the manifest. */
static void name_server(struct run *r)
{
	const struct serve_facts *f = &r->host[0].facts;
	struct setinfo *set = &r->plan.set;

	snprintf(set->server_version, sizeof(set->server_version), "%s", f->version);
	snprintf(set->weight_version, sizeof(set->weight_version), "%s", f->weight_version);
	snprintf(set->model, sizeof(set->model), "%s", f->model[0] ? f->model : f->served);
}

int hosts_ask(struct run *r, struct err *e)
{
	if (r->asked)
		return 0;
	for (size_t i = 0; i < r->nhosts; i++)
		if (ask(r, &r->host[i], e) < 0 || check_alike(&r->host[0], &r->host[i], e) < 0)
			return -1;
	r->asked = 1;
	name_server(r);
	return r->resuming ? setinfo_same(&r->old, &r->plan.set, e) : 0;
}

void hosts_close(struct run *r)
{
	for (size_t i = 0; i < r->nhosts; i++) {
		serve_plan_close(r->host[i].plan);
		free(r->host[i].url);
	}
	free(r->host);
}

int64_t hosts_context(const struct run *r)
{
	int64_t least = -1;

	for (size_t i = 0; i < r->nhosts; i++) {
		int64_t c = r->host[i].facts.context;

		if (c > 0 && (least < 0 || c < least))
			least = c;
	}
	return least;
}

/* ---- who may be sent to ---- */

/* A server that was down gets one request, to show whether it is back. */
static size_t limit(const struct host *h)
{
	size_t n = capacity_now(&h->capacity);

	if (h->down_since > 0)
		return 1;
	return h->facts.slots > 0 && (size_t)h->facts.slots < n ? (size_t)h->facts.slots : n;
}

int hosts_has_others(const struct run *r, const struct host *h)
{
	for (size_t i = 0; i < r->nhosts; i++)
		if (&r->host[i] != h && !r->host[i].out && r->host[i].down_since == 0)
			return 1;
	return 0;
}

struct host *host_choose(struct run *r, const struct item *it)
{
	struct host *best = NULL;
	const struct host *spared =
	    it->wrong_at && hosts_has_others(r, it->wrong_at) ? it->wrong_at : NULL;
	uint64_t now = clock_ms();

	for (size_t i = 0; i < r->nhosts; i++) {
		struct host *h = &r->host[i];

		if (!h->out && h != spared && h->not_before <= now && h->running < limit(h) &&
		    (!best || h->running < best->running ||
			(h->running == best->running && h->fails < best->fails)))
			best = h;
	}
	return best;
}

void host_leave_out(struct host *h, const char *why)
{
	if (!h->out)
		say("%s: nothing more is sent to it: %s", h->url, why);
	h->out = 1;
}

void host_right(struct item *it)
{
	struct host *other = it->wrong_at;
	struct err e = it->err;

	it->host->wrong = 0;
	if (!other || other == it->host || ++other->wrong < FAILS_LEAST)
		return;
	err_prefix(&e,
	    "%u records in a row were wrong that another server did right, the last one: ",
	    other->wrong);
	host_leave_out(other, e.msg);
}

void host_good(struct run *r, struct host *h, double seconds)
{
	r->longest = seconds > r->longest ? seconds : r->longest;
	if (h->down_since > 0) {
		say("%s is back", h->url);
		capacity_begin(&h->capacity, (size_t)h->capacity.most);
	}
	capacity_answered(&h->capacity);
	h->down_since = 0;
	h->hung = 0;
	h->pauses = 0;
	h->fails = 0;
	h->last_good = clock_ms();
}

uint64_t doubled(uint64_t ms, unsigned times, uint64_t most)
{
	while (times-- > 0 && ms < most)
		ms *= 2;
	return ms < most ? ms : most;
}

/* since: when it was last known to be well. */
static void down(struct host *h, uint64_t since, const char *why)
{
	uint64_t now = clock_ms();

	if (h->down_since == 0) {
		h->down_since = since;
		say("%s: %s; waiting for it", h->url, why);
	}
	err_set(&h->why, "server", "%s: %s", h->url, why);
	if (h->not_before <= now)
		h->not_before = now + doubled(PAUSE_FIRST_MS, h->pauses++, PAUSE_MAX_MS);
}

void host_down(struct host *h, const char *why)
{
	down(h, clock_ms(), why);
}

/* It is asked again later each time: while it has a record, those behind that one wait. */
static void hangs(struct run *r, struct host *h, uint64_t now)
{
	struct buf why = {0};

	buf_addf(&why, "no answer to %zu %s in %llu s", h->running,
	    h->running == 1 ? "request" : "requests",
	    (unsigned long long)(now - h->heard_at) / 1000);
	items_recall(r, h);
	down(h, h->heard_at, buf_cstr(&why));
	h->not_before = now + doubled(HANG_LEAST_MS, h->hung++, HANG_MS);
	buf_free(&why);
}

/* Before it hangs; a queue of long prompts, or a disk, may hold up all that it has. */
static uint64_t patience(const struct run *r, const struct host *h)
{
	double ms = HANG_TIMES * 1000 * r->longest;

	if (ms == 0 || ms > HANG_MS || (!h->hung && !hosts_has_others(r, h)))
		return HANG_MS;
	return ms > HANG_LEAST_MS ? (uint64_t)ms : HANG_LEAST_MS;
}

/* A reply of gigabytes may be under way for longer than that. */
static int receives(const struct run *r, struct host *h)
{
	uint64_t sum = items_received(r, h), had = h->received;

	h->received = sum;
	return sum > had;
}

/* The server that went last, when none is left, nor to be asked now whether it is back. */
static const struct host *all_gone(const struct run *r, uint64_t now)
{
	const struct host *last = NULL;

	for (size_t i = 0; i < r->nhosts; i++) {
		const struct host *h = &r->host[i];

		if (h->running > 0)
			return NULL;
		if (!h->out && (h->down_since == 0 || now - h->down_since < OUTAGE_MAX_MS ||
				   h->not_before <= now))
			return NULL;
		if (!h->out && (!last || h->down_since > last->down_since))
			last = h;
	}
	return last;
}

void hosts_watch(struct run *r)
{
	uint64_t now = clock_ms();
	const struct host *gone;
	struct err e;

	for (size_t i = 0; i < r->nhosts; i++) {
		struct host *h = &r->host[i];

		if (h->running == 0 || now - h->heard_at < patience(r, h))
			continue;
		if (receives(r, h))
			h->heard_at = now;
		else
			hangs(r, h, now);
	}
	gone = all_gone(r, now);
	if (gone && r->n > 0) {
		e = gone->why;
		err_suffix(&e, "; away for ten minutes: resume when it is back");
		run_fail(r, &e);
	}
}

void host_is_full(struct host *h, const char *why)
{
	int none = capacity_refused(&h->capacity, h->running);

	if (h->capacity.refused == CAPACITY_MANY && !h->told_full++)
		say("%s: turns requests away, fewer are sent at once: %s", h->url, why);
	if (none)
		host_down(h, why);
}

void host_fails(struct run *r, struct host *h, const char *why)
{
	if (h->fails++ == 0)
		h->failing_since = clock_ms();
	for (size_t i = 0; i < r->nhosts && h->fails >= FAILS_LEAST; i++)
		if (r->host[i].last_good > h->failing_since) {
			host_down(h, why);
			return;
		}
}
