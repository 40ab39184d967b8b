#include "infer/probe.h"

#include <stdio.h>
#include <string.h>

#include "infer/call.h"
#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/report.h"
#include "infer/result.h"
#include "serve/lax.h"
#include "json/ids.h"

#define ASK_MS	  30000
#define TRIAL_MS  300000
#define HEALTH_MS 30000
#define TRIALS	  3 /* refused one after the other, before the run is given up */

/* A trial's prompt, and what is rendered. */
static const char trial_messages[] = "[{\"role\":\"user\",\"content\":\"Hi\"}]";

const char *probe_path(const struct endpoint *ep)
{
	const struct serve_probe *p = &serve_probes[ep->asking];

	switch (ep->stage) {
	case PROBE_RENDER: return SERVE_RENDER_PATH;
	case PROBE_TRIAL: return serve_path(ep->route);
	case PROBE_HEALTH: return serve_health_path(ep->facts.api);
	default: return ep->older ? p->older : p->path;
	}
}

static void send_probe(struct run *r, struct endpoint *ep, uint32_t ms)
{
	call_send(r, &ep->probe, probe_path(ep), ms);
}

static int wanted(const struct endpoint *ep)
{
	return ep->asked.api == API_AUTO || serve_probes[ep->asking].apis & 1u << ep->asked.api;
}

static void ask(struct run *r, struct endpoint *ep)
{
	buf_reset(&ep->probe.body);
	send_probe(r, ep, ASK_MS);
}

void probe_facts(struct run *r, struct endpoint *ep)
{
	if (ep->state != EP_DOWN && ep->state != EP_SUSPECT)
		ep->state = EP_ASKED;
	ep->stage = PROBE_FACTS;
	ep->asking = 0;
	ep->older = 0;
	ep->asked = (struct serve_facts)SERVE_FACTS_NONE;
	ep->untold = (struct err){0};
	ep->asked.api = ep->was_up ? ep->facts.api : (enum serve_api)r->o->api;
	ask(r, ep);
}

void probe_health(struct run *r, struct endpoint *ep)
{
	ep->stage = PROBE_HEALTH;
	buf_reset(&ep->probe.body);
	send_probe(r, ep, HEALTH_MS);
}

/* The trial's messages as --model renders them. -1: its template refuses them. */
static int trial_ids(struct run *r, struct ints *ids)
{
	struct chat_conv conv = {0};
	struct buf text = {0};
	struct rec rec = {0};
	struct err e;
	int rc = 0;

	arena_reset(&r->arena);
	buf_addf(&text, "{\"messages\":%s}", trial_messages);
	if (rec_parse(&rec, text.data, text.len, &e) < 0 ||
	    chat_read(&conv, &rec, &r->arena, &e) < 0 ||
	    chat_prompt(r->chat, r->work, &conv, conv.n, ids, NULL, &e) < 0 || ids->n == 0)
		rc = -1;
	rec_free(&rec);
	buf_free(&text);
	return rc;
}

static void probe_render(struct run *r, struct endpoint *ep)
{
	ep->stage = PROBE_RENDER;
	buf_reset(&ep->probe.body);
	serve_write_render(&ep->probe.body, r->model, SPAN(trial_messages));
	send_probe(r, ep, ASK_MS);
}

void probe_trial(struct run *r, struct endpoint *ep)
{
	struct serve_prompt q = {.messages = SPAN(trial_messages), .max_new_tokens = 1};
	struct ints ids = {0};
	char rid[64];

	ep->stage = PROBE_TRIAL;
	if (serve_takes_ids(ep->route)) {
		if (trial_ids(r, &ids) < 0) {
			ints_reset(&ids);
			ints_push(&ids, 0);
		}
		q.ids = ids.v;
		q.n = ids.n;
	}
	snprintf(
	    rid, sizeof(rid), "e3;%08x;trial;%llu;", r->nonce, (unsigned long long)r->trials++);
	q.rid = rid;
	buf_reset(&ep->probe.body);
	serve_write(&ep->probe.body, ep->plan, &q);
	send_probe(r, ep, TRIAL_MS);
	ints_free(&ids);
}

static int has_others(const struct run *r, const struct endpoint *ep)
{
	for (size_t i = 0; i < r->nep; i++)
		if (r->ep[i] != ep && r->ep[i]->state != EP_LEAVING)
			return 1;
	return 0;
}

/* It can't be used. A server that joins a run of days does not end it, nor does one that leaves, or
 * goes wrong, while others work: what it still owes goes to them. */
static void refuse(struct run *r, struct endpoint *ep, struct err *e)
{
	if (ep->state == EP_LEAVING || (ep->was_up && endpoint_has_others(r, ep))) {
		ep->stage = PROBE_NONE;
		endpoint_is_down(r, ep, e);
		return;
	}
	err_prefix(e, "%s: ", ep->url);
	if (!r->flow || ep->was_up || !has_others(r, ep)) {
		infer_fail(r, e);
		return;
	}
	ep->state = EP_LEAVING;
	ep->stage = PROBE_NONE;
	report_line(r, "%s: left out", e->msg);
}

/* What was asked, and what came; of a host that may be no model server, with what to look at. Returns
 * what call_tell does. */
static int tell(
    const struct endpoint *ep, const struct http_done *d, const char *class, struct err *e)
{
	struct serve_evidence ev = {d->curl, d->sys_errno, d->status, FOUND_SHAPE};
	const char *look = ep->was_up ? NULL : serve_look(&ev);
	struct buf b = {0};
	int loading;

	loading = call_tell(d, class, e);
	err_prefix(e, "%s %s: ", ep->probe.body.len ? "POST" : "GET", probe_path(ep));
	buf_addf(&b, " (%s)", look ? look : "");
	if (look)
		err_suffix(e, buf_cstr(&b));
	buf_free(&b);
	return loading;
}

/* One run is one model: what it was a moment ago, and what the other servers have, must hold. Class
 * "untold" where it does not say. */
static int check_alike(const struct run *r, const struct serve_facts *new, struct err *e)
{
	for (size_t i = 0; i < r->nep; i++) {
		const struct serve_facts *f = &r->ep[i]->facts;

		if (f->api == API_AUTO)
			continue; /* it has said nothing yet */
		if (f->weight_version[0] && !new->weight_version[0])
			return err_set(e, "untold", "does not tell its weights, the run is with %s",
			    f->weight_version);
		if (f->context > 0 && new->context <= 0)
			return err_set(e, "untold",
			    "does not tell its context, the run is with %lld tokens",
			    (long long)f->context);
		if (strcmp(f->weight_version, new->weight_version) != 0)
			return err_set(e, "config", "has weights %s, the run is with %s",
			    new->weight_version, f->weight_version);
		if (f->context != new->context)
			return err_set(e, "config",
			    "has a context of %lld tokens, the run is with %lld",
			    (long long)new->context, (long long)f->context);
	}
	return 0;
}

/* What a server that was not away did not say this time, for one of many reasons, is as it was. */
static void keep_known(struct serve_facts *now, const struct serve_facts *old)
{
	if (!now->served[0])
		memcpy(now->served, old->served, sizeof(now->served));
	if (!now->model[0])
		memcpy(now->model, old->model, sizeof(now->model));
	if (!now->weight_version[0])
		memcpy(now->weight_version, old->weight_version, sizeof(now->weight_version));
	now->context = now->context > 0 ? now->context : old->context;
	now->slots = now->slots > 0 ? now->slots : old->slots;
	now->kv_tokens = now->kv_tokens > 0 ? now->kv_tokens : old->kv_tokens;
}

/* All that was asked is known: does it fit the run, and what will be sent? */
static int accept_facts(struct run *r, struct endpoint *ep, struct err *e)
{
	const struct options *o = r->o;
	struct serve_plan_opt plan = {.want_ids = !o->no_ids, .extra = o->extra};
	const char *served = o->served_model ? o->served_model : ep->asked.served;

	if (ep->state == EP_SUSPECT || ep->state == EP_LEAVING)
		keep_known(&ep->asked, &ep->facts);
	if (ep->asked.api == API_AUTO)
		ep->asked.api = API_OPENAI;
	if (!served[0])
		served = ep->asked.model;
	if (!served[0])
		return err_set(e, "untold",
		    "does not say which model it serves%s%s; --served-model NAME goes on without",
		    ep->untold.msg[0] ? ": " : "", ep->untold.msg);
	if (ep->asked.auto_truncate)
		return err_set(e, "config",
		    "cuts long prompts by itself (--allow-auto-truncate): start it without");
	if (!r->chat && !o->no_ids && ep->asked.api == API_LLAMACPP)
		return err_set(e, "config",
		    "llama.cpp's chat does not give the prompt's ids: give --model DIR, or "
		    "--no-ids");
	if (r->model[0] && strcmp(r->model, served) != 0)
		return err_set(e, "config", "serves %s, the run is with %s", served, r->model);
	if (check_alike(r, &ep->asked, e) < 0)
		return -1;
	snprintf(r->model, sizeof(r->model), "%s", served);
	ep->facts = ep->asked;
	ep->route = serve_route_of(ep->facts.api, r->chat != NULL);
	plan.api = ep->facts.api;
	plan.route = ep->route;
	plan.model = r->model;
	plan.sampling = infer_sampling(o);
	serve_plan_close(ep->plan);
	ep->plan = serve_plan_open(&plan, e);
	return ep->plan ? 0 : -1;
}

/* A server that joins a run, or comes back to it, may tell later what it is. */
static void decline(struct run *r, struct endpoint *ep, struct err *e)
{
	if (r->flow && strcmp(e->class, "untold") == 0) {
		ep->stage = PROBE_NONE;
		endpoint_is_down(r, ep, e);
	} else {
		refuse(r, ep, e);
	}
}

/* Whether an attempt that waits for the verdict ended in this way. */
static int holds(const struct endpoint *ep, enum serve_class class)
{
	for (const struct item *it = ep->limbo; it; it = it->next)
		if (it->outcome.class == class)
			return 1;
	return 0;
}

/* It lives. Whether it works, too, is to be known where it refused a request. */
static void verdict(struct run *r, struct endpoint *ep)
{
	if (holds(ep, CLASS_PERMANENT)) {
		probe_trial(r, ep);
	} else {
		ep->stage = PROBE_NONE;
		endpoint_is_alive(r, ep);
	}
}

static void facts_step(struct run *r, struct endpoint *ep, const struct http_done *d)
{
	const struct serve_probe *p = &serve_probes[ep->asking];
	int told =
	    d->status == 200 && p->read(&ep->asked, (struct span){d->body.data, d->body.len}) == 0;
	struct err e;

	if (!told && p->older && !ep->older) {
		ep->older = 1;
		ask(r, ep);
		return;
	}
	if (!told && ep->asking == 0)
		tell(ep, d, "config", &ep->untold);
	ep->older = 0;
	do
		ep->asking++;
	while (ep->asking < serve_nprobes && !wanted(ep));
	if (ep->asking < serve_nprobes)
		ask(r, ep);
	else if (accept_facts(r, ep, &e) < 0)
		decline(r, ep, &e);
	else if (ep->state == EP_SUSPECT || ep->state == EP_LEAVING)
		verdict(r, ep);
	else if (r->chat && !ep->was_up && serve_renders(ep->facts.api))
		probe_render(r, ep);
	else
		probe_trial(r, ep);
}

/* Prompts are rendered here: it is nothing wrong with the server, but the record is not as served. */
static void render_step(struct run *r, struct endpoint *ep, const struct http_done *d)
{
	struct ints here = {0}, there = {0};
	struct span reply;
	struct err e;

	if (d->status == 200 && lax_whole((struct span){d->body.data, d->body.len}, &reply) == 0 &&
	    ids_read(&there, lax_get(reply, "tokens"), "tokens", &e) == 0 && there.n > 0 &&
	    trial_ids(r, &here) == 0 && !ints_eq(&here, there.v, there.n))
		report_line(r,
		    "%s: renders a test message to other ids than --model %s (%zu there, %zu "
		    "here): is its chat template another? (--template FILE)",
		    ep->url, r->o->model, there.n, here.n);
	ints_free(&here);
	ints_free(&there);
	probe_trial(r, ep);
}

/* Ids of another vocabulary are refused in many words. */
static void advise(
    const struct run *r, const struct endpoint *ep, const struct serve_evidence *ev, struct err *e)
{
	struct buf b = {0};

	if (ev->found == FOUND_NO_IDS)
		buf_adds(&b, " (start it so that it does, give --api, or --no-ids)");
	if (serve_takes_ids(ep->route) && (ev->status == 400 || ev->status == 422))
		buf_addf(&b, " (is --model %s the folder of the model served, %s?)", r->o->model,
		    r->model);
	err_suffix(e, buf_cstr(&b));
	buf_free(&b);
}

/* What came of the trial; what is wrong with it in e. */
static struct serve_outcome judge_trial(struct run *r, const struct endpoint *ep,
    const struct http_done *d, struct serve_evidence *ev, struct err *e)
{
	struct serve_sent sent = {.max_new_tokens = 1,
	    .want_ids = !r->o->no_ids,
	    .want_prompt_ids = !r->o->no_ids && serve_echoes_prompt(ep->facts.api, ep->route),
	    .room = -1};
	struct span body = {d->body.data, d->body.len};
	struct serve_reply reply = {0};
	struct err why;

	*ev = (struct serve_evidence){d->curl, d->sys_errno, d->status, FOUND_GOOD};
	if (d->status == 200) {
		ev->found = serve_reply_read(&reply, ep->route, body, e) < 0
				? FOUND_SHAPE
				: serve_reply_check(&reply, &sent, e);
		if (ev->found == FOUND_GOOD && result_foreign(r, &reply, e))
			ev->found = FOUND_FOREIGN;
	}
	if (d->status != 200 || ev->found == FOUND_SHAPE) {
		why = *e;
		tell(ep, d, "config", e);
		if (d->status == 200)
			err_prefix(e, "%s: ", why.msg);
	}
	serve_reply_free(&reply);
	return serve_classify(ev);
}

static void trial_step(struct run *r, struct endpoint *ep, const struct http_done *d)
{
	struct serve_evidence ev;
	struct err e = {0};
	struct serve_outcome out = judge_trial(r, ep, d, &ev, &e);

	/* an empty answer to a trial is an answer */
	if (out.class == CLASS_OK || ev.found == FOUND_EMPTY) {
		ep->stage = PROBE_NONE;
		ep->refusals = 0;
		if (ep->state == EP_SUSPECT || ep->state == EP_LEAVING)
			endpoint_is_alive(r, ep);
		else
			endpoint_is_up(r, ep);
	} else if (out.class == CLASS_TRANSIENT || out.class == CLASS_BUSY ||
		   out.class == CLASS_OUTAGE || (out.class == CLASS_UNPARSED && ep->was_up)) {
		endpoint_is_down(r, ep, &e);
	} else if (out.class != CLASS_CONFIG && ++ep->refusals < TRIALS) {
		probe_trial(r, ep); /* one odd answer is no proof */
	} else {
		advise(r, ep, &ev, &e);
		err_prefix(&e, "a test request for one token fails: %s: ", out.name);
		refuse(r, ep, &e);
	}
}

/* One that lost connections may have died and come back as another one at once. */
static void health_step(struct run *r, struct endpoint *ep)
{
	if (ep->state == EP_SUSPECT && holds(ep, CLASS_TRANSIENT))
		probe_facts(r, ep);
	else
		verdict(r, ep);
}

/* No answer, or one that says to wait. Every server has the first path: an error there is that of
 * a proxy whose server is away. */
static int is_absent(const struct endpoint *ep, const struct http_done *d, struct err *e)
{
	/* that it renders for nobody tells nothing: the trial does */
	if ((d->curl == 0 && d->status == 200) || ep->stage == PROBE_RENDER)
		return 0;
	if (tell(ep, d, "outage", e)) {
		err_set(e, "loading", "the model is being loaded");
		return 1;
	}
	return d->curl != 0 || (d->status >= 500 && ep->stage == PROBE_FACTS && ep->asking == 0);
}

void probe_done(struct run *r, struct endpoint *ep, struct http_done *d)
{
	struct serve_evidence ev = {d->curl, d->sys_errno, d->status, FOUND_GOOD};
	struct serve_outcome out = serve_classify(&ev);
	struct err e;

	ep->probe.xfer = NULL;
	if (d->curl != 0 && (out.class == CLASS_CONFIG || out.class == CLASS_OURS)) {
		tell(ep, d, "config", &e);
		refuse(r, ep, &e);
		return;
	}
	if (is_absent(ep, d, &e)) {
		ep->stage = PROBE_NONE;
		endpoint_is_down(r, ep, &e);
		return;
	}
	switch (ep->stage) {
	case PROBE_FACTS: facts_step(r, ep, d); break;
	case PROBE_RENDER: render_step(r, ep, d); break;
	case PROBE_TRIAL: trial_step(r, ep, d); break;
	case PROBE_HEALTH: health_step(r, ep); break;
	case PROBE_NONE: break;
	}
}
