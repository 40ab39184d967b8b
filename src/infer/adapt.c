#include "infer/adapt.h"

#include "infer/attempt.h"
#include "infer/call.h"
#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/report.h"

#define ASK_MS	      10000
#define HEALTH_MS     25000 /* SGLang's waits 20 s for a token */
#define ADAPTIVE_MS   5000
#define WATCH_MS      30000
#define HOLD_MS	      60000
#define HANG_MS	      300000
#define UNHEARD_MAX   3 /* times that a busy server may be too late with its first figures */
#define CACHE_FULL    0.90
#define CACHE_SHARE   0.9
#define FIRST_SAMPLES 20 /* answers before their mean length says something */

/* One that was taken off the list because it hangs must be seen to, too. */
static int watched(const struct endpoint *ep)
{
	return ep->state == EP_UP || (ep->state == EP_LEAVING && ep->running > 0);
}

uint64_t adapt_tick(struct run *r, struct endpoint *ep)
{
	int none = ep->figures == FIGURES_NONE;

	if (!watched(ep) || ep->metrics.xfer)
		return UINT64_MAX;
	if (ep->metrics_at == 0)
		ep->metrics_at = r->now + ADAPTIVE_MS; /* short runs need not ask */
	if (r->now >= ep->metrics_at) {
		ep->metrics_at = r->now + (r->o->adaptive && !none ? ADAPTIVE_MS : WATCH_MS);
		call_send(r, &ep->metrics,
		    none ? serve_health_path(ep->facts.api) : SERVE_METRICS_PATH,
		    none ? HEALTH_MS : ASK_MS);
	}
	return ep->metrics_at;
}

static void shrink(struct run *r, struct endpoint *ep)
{
	if (!r->o->adaptive || r->now < ep->hold_until)
		return;
	ep->allowed *= 0.8;
	ep->hold_until = r->now + HOLD_MS;
}

void adapt_retracted(struct run *r, struct endpoint *ep)
{
	shrink(r, ep);
}

/* What fits into the cache: each request holds its prompt and, on the mean, half its answer. */
static double cache_bound(const struct run *r, const struct endpoint *ep)
{
	double n = (double)r->n.answers, mean;

	if (ep->facts.kv_tokens <= 0 || r->n.answers < FIRST_SAMPLES)
		return (double)ep->limit;
	mean = ((double)r->n.prompt_tokens + (double)r->n.completion_tokens / 2) / n;
	return mean > 0 ? CACHE_SHARE * (double)ep->facts.kv_tokens / mean : (double)ep->limit;
}

static double clamp(double x, double low, double high)
{
	if (x > high)
		x = high;
	return x < low ? low : x;
}

static void control(struct run *r, struct endpoint *ep, const struct serve_load *l)
{
	double many = l->running * 0.05 > 2 ? l->running * 0.05 : 2;
	double step = ep->allowed * 0.05 > 1 ? ep->allowed * 0.05 : 1;

	if (l->preemptions > ep->preemptions && ep->preemptions >= 0)
		shrink(r, ep);
	else if (l->waiting > many)
		ep->allowed -= l->waiting;
	else if (l->waiting <= 0 && l->cache < CACHE_FULL && r->now >= ep->hold_until)
		ep->allowed += step;
	ep->allowed = clamp(ep->allowed, 1, clamp(cache_bound(r, ep), 1, (double)ep->limit));
}

/* Requests, but neither a token nor an answer since HANG_MS. */
static void watch(struct run *r, struct endpoint *ep, double motion)
{
	struct err why;

	if (motion != ep->motion || ep->running == 0 || ep->lived_at == 0) {
		ep->motion = motion;
		ep->lived_at = r->now;
		return;
	}
	if (r->now - ep->lived_at < HANG_MS)
		return;
	err_set(&why, "outage", "%zu request%s, and no %s in %d s", ep->running,
	    ep->running == 1 ? "" : "s",
	    ep->figures == FIGURES_TOLD ? "token" : "answer, not even about its health,",
	    HANG_MS / 1000);
	ep->lived_at = r->now;
	attempt_cancel_all(r, ep, 1);
	endpoint_is_down(r, ep, &why);
}

static void has_no_figures(struct run *r, struct endpoint *ep)
{
	ep->figures = FIGURES_NONE;
	ep->lived_at = 0;
	if (!ep->told_none++ && !r->o->flow.quiet)
		report_line(r,
		    "%s: no figures at " SERVE_METRICS_PATH ": a hang shows only at %s%s", ep->url,
		    serve_health_path(ep->facts.api),
		    r->o->adaptive ? ", and --adaptive has no effect" : "");
}

static int told(const struct http_done *d, struct serve_load *l)
{
	return d->curl == 0 && d->status == 200 &&
	       serve_load_read(l, (struct span){d->body.data, d->body.len}) > 0;
}

static void figures_came(struct run *r, struct endpoint *ep, const struct serve_load *l)
{
	ep->figures = FIGURES_TOLD;
	if (r->o->adaptive && ep->state == EP_UP)
		control(r, ep, l);
	ep->preemptions = l->preemptions;
	if (l->motion >= 0)
		watch(r, ep, l->motion);
	else
		ep->lived_at = 0; /* it answers, and does not count tokens */
}

static void health_came(struct run *r, struct endpoint *ep, const struct http_done *d)
{
	if (d->curl == 0 && d->status < 500)
		ep->lived_at = 0;
	watch(r, ep, ep->motion);
}

void adapt_done(struct run *r, struct endpoint *ep, struct http_done *d)
{
	struct serve_load l;

	ep->metrics.xfer = NULL;
	if (!watched(ep))
		return;
	if (ep->figures == FIGURES_NONE)
		health_came(r, ep, d);
	else if (told(d, &l))
		figures_came(r, ep, &l);
	else if (ep->figures == FIGURES_UNKNOWN && (d->curl == 0 || ++ep->unheard == UNHEARD_MAX))
		has_no_figures(r, ep);
	else if (ep->figures == FIGURES_TOLD && d->curl != 0)
		watch(r, ep, ep->motion); /* one that answers nobody makes no token either */
}
