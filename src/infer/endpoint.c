#include "infer/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prog.h"
#include "infer/adapt.h"
#include "infer/attempt.h"
#include "infer/infer.h"
#include "infer/probe.h"
#include "infer/report.h"
#include "io/lines.h"

#define PROBE_FIRST_MS 1000
#define PROBE_LAST_MS  30000
#define RAMP_PER_MS    0.0001 /* 10% a second */
#define LONE_MS	       30000  /* how long a suspect of poison has its server alone */
#define MANY	       8      /* failures at once that are an outage, whatever the server says */

#define LIMIT_UNKNOWN 32 /* at once, where neither the user nor the server says */
#define LIMIT_DEFAULT 256

const char *endpoint_state_name(const struct endpoint *ep)
{
	static const char *const names[EP_STATES] = {"asked", "up", "suspect", "down", "leaving"};

	return names[ep->state];
}

struct endpoint *endpoint_new(const char *url)
{
	struct endpoint *ep = xcalloc(1, sizeof(*ep));

	ep->url = http_base_url(url);
	ep->facts = ep->asked = (struct serve_facts)SERVE_FACTS_NONE;
	ep->probe = (struct call){.kind = CALL_PROBE, .ep = ep};
	ep->metrics = (struct call){.kind = CALL_METRICS, .ep = ep};
	ep->preemptions = -1;
	return ep;
}

void endpoint_free(struct endpoint *ep)
{
	serve_plan_close(ep->plan);
	buf_free(&ep->probe.body);
	buf_free(&ep->metrics.body);
	free(ep->url);
	free(ep);
}

/* ---- the list of servers ---- */

static struct endpoint *find(struct run *r, const struct endpoint *like)
{
	for (size_t i = 0; i < r->nep; i++)
		if (strcmp(r->ep[i]->url, like->url) == 0)
			return r->ep[i];
	return NULL;
}

/* One that was taken from the list is on it again, perhaps before it had finished what it has. */
static void welcome(struct run *r, struct endpoint *ep)
{
	if (ep->probe.xfer)
		ep->state = ep->limbo || ep->stage == PROBE_HEALTH ? EP_SUSPECT : EP_ASKED;
	else if (ep->running && ep->pauses == 0)
		ep->state = EP_UP;
	else
		probe_facts(r, ep);
}

static void add(struct run *r, const char *url, struct opt_list *seen)
{
	struct endpoint *new = endpoint_new(url), *old = find(r, new);

	if (old) {
		endpoint_free(new);
		new = old;
		if (new->state == EP_LEAVING)
			welcome(r, new);
	} else {
		r->ep = xgrow(r->ep, &r->cep, r->nep + 1, sizeof(struct endpoint *));
		r->ep[r->nep++] = new;
		probe_facts(r, new);
	}
	opt_list_add(seen, new->url);
}

static int read_servers(const char *path, struct opt_list *urls, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct line line;
	int rc;

	if (!l)
		return -1;
	while ((rc = lines_next(l, &line, e)) > 0) {
		char *url;

		if (*line.p == '#')
			continue;
		url = xstrndup(line.p, line.n);
		url[strcspn(url, " \t#")] = '\0';
		rc = http_check_url(url, e);
		if (rc == 0)
			opt_list_add(urls, url); /* which owns it */
		if (rc < 0) {
			free(url);
			err_prefix(e, "%s:%llu: ", path, (unsigned long long)line.number);
			break;
		}
	}
	lines_close(l);
	return rc < 0 || urls->n ? rc : err_set(e, "config", "%s: names no server", path);
}

static int listed(const struct opt_list *l, const char *url)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], url) == 0)
			return 1;
	return 0;
}

/* Nothing is taken of a list that is not right to its end. */
int endpoints_load(struct run *r, struct err *e)
{
	struct opt_list urls = {.owned = 1}, seen = {0};
	int rc = r->o->servers_file ? read_servers(r->o->servers_file, &urls, e) : 0;

	for (size_t i = 0; i < r->o->servers.n; i++) /* checked with the options */
		opt_list_add(&urls, xstrdup(r->o->servers.v[i]));
	for (size_t i = 0; rc == 0 && i < urls.n; i++)
		add(r, urls.v[i], &seen);
	for (size_t i = 0; rc == 0 && i < r->nep; i++)
		if (!listed(&seen, r->ep[i]->url))
			r->ep[i]->state = EP_LEAVING;
	opt_list_free(&urls);
	opt_list_free(&seen);
	return rc;
}

/* ---- choosing ---- */

double endpoint_most(const struct endpoint *ep)
{
	double takes = (double)capacity_now(&ep->capacity);

	return ep->allowed < takes ? ep->allowed : takes;
}

static int has_room(const struct endpoint *ep, const struct item *it)
{
	if (ep->state != EP_UP || ep->lone)
		return 0;
	if (it->crashes >= CRASHES_ALONE)
		return ep->running == 0;
	return (double)ep->running < endpoint_most(ep);
}

/* Each request is a descriptor; some are left for files, probes and look-ups. */
static size_t most_at_once(void)
{
	size_t files = http_max_files();

	return files > 64 ? files - 64 : SIZE_MAX;
}

struct endpoint *endpoint_choose(struct run *r, const struct item *it)
{
	struct endpoint *best = NULL;

	if (endpoints_running(r) >= most_at_once())
		return NULL;
	/* a conversation stays where its beginning is in the cache */
	if (it->conv.answers && it->ep && has_room(it->ep, it))
		return it->ep;
	for (size_t i = 0; i < r->nep; i++) {
		struct endpoint *ep = r->ep[i];

		if (has_room(ep, it) && (!best || ep->outstanding < best->outstanding))
			best = ep;
	}
	return best;
}

size_t endpoints_running(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nep; i++)
		n += r->ep[i]->running;
	return n;
}

size_t endpoints_in_state(const struct run *r, int state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nep; i++)
		n += r->ep[i]->state == (enum ep_state)state;
	return n;
}

/* ---- transitions ---- */

static size_t limit_of(const struct run *r, const struct endpoint *ep)
{
	size_t n = (size_t)r->o->concurrency, most = most_at_once();

	if (n == 0 && ep->facts.slots > 0)
		n = ep->facts.slots < LIMIT_DEFAULT ? (size_t)ep->facts.slots : LIMIT_DEFAULT;
	if (n == 0)
		n = LIMIT_UNKNOWN;
	return n < most ? n : most;
}

void endpoint_is_up(struct run *r, struct endpoint *ep)
{
	ep->limit = limit_of(r, ep);
	ep->allowed = ep->was_up ? (double)ep->limit / 2 : (double)ep->limit;
	if (ep->allowed < 1)
		ep->allowed = 1;
	capacity_begin(&ep->capacity, ep->limit);
	if (ep->was_up)
		report_line(r, "%s: up again", ep->url);
	else
		report_server(r, ep);
	ep->state = EP_UP;
	ep->was_up = 1;
	ep->moved_at = r->now;
	ep->lived_at = 0;
	ep->figures = FIGURES_UNKNOWN;
	ep->unheard = 0;
}

/* Empties the limbo: each by what its attempt's end was. Only a SUSPECT or LEAVING server has one,
 * and a probe under way with it, whose every end comes here. */
static void settle_limbo(struct run *r, struct endpoint *ep, int alive)
{
	struct item *it = ep->limbo, *next;

	ep->limbo = NULL;
	ep->nlost = 0;
	for (; it; it = next) {
		next = it->next;
		it->next = NULL;
		if (it->outcome.class == CLASS_PERMANENT)
			alive ? attempt_refuse(r, it) : attempt_pardon(r, it);
		else if (alive)
			attempt_charge(r, it);
		else
			attempt_crashed(r, it);
	}
}

void endpoint_is_alive(struct run *r, struct endpoint *ep)
{
	if (ep->nlost >= MANY && ep->nlost > ep->running) {
		struct err why;

		err_set(&why, "outage", "%zu requests lost at once", ep->nlost);
		endpoint_is_down(r, ep, &why);
		return;
	}
	if (ep->state == EP_SUSPECT)
		ep->state = EP_UP;
	ep->refuses = 0;
	settle_limbo(r, ep, 1);
}

/* The next probe comes later with each one that failed; that many requests were lost at once
 * counts as one. */
static void set_probe_time(struct run *r, struct endpoint *ep)
{
	uint64_t pause = PROBE_FIRST_MS;

	if (ep->state == EP_DOWN && r->now < ep->probe_at)
		return;
	for (unsigned i = 0; i < ep->pauses && pause < PROBE_LAST_MS; i++)
		pause *= 2;
	ep->pauses++;
	ep->probe_at = r->now + (pause < PROBE_LAST_MS ? pause : PROBE_LAST_MS);
}

void endpoint_is_down(struct run *r, struct endpoint *ep, const struct err *why)
{
	unsigned worked = ep->state == EP_UP || ep->state == EP_SUSPECT;

	if (worked || (r->flow && (!ep->why.class || strcmp(ep->why.class, why->class) != 0)))
		report_line(r, "%s: down: %s", ep->url, why->msg);
	ep->outages += worked;
	r->n.outages += worked;
	ep->why = *why;
	ep->streak = 0;
	set_probe_time(r, ep);
	if (ep->state != EP_LEAVING)
		ep->state = EP_DOWN;
	settle_limbo(r, ep, 0);
}

int endpoint_fails(struct run *r, struct endpoint *ep, const struct err *why)
{
	struct err e;

	if (ep->state != EP_UP)
		return ep->state == EP_DOWN;
	if (++ep->streak < MANY || ep->streak < ep->running)
		return 0;
	err_set(
	    &e, "outage", "%zu requests failed in a row, the last one: %s", ep->streak, why->msg);
	endpoint_is_down(r, ep, &e);
	return 1;
}

int endpoint_refuses(struct endpoint *ep)
{
	return ep->refuses++ > 0;
}

int endpoint_has_others(const struct run *r, const struct endpoint *ep)
{
	for (size_t i = 0; i < r->nep; i++)
		if (r->ep[i] != ep && r->ep[i]->state == EP_UP)
			return 1;
	return 0;
}

void endpoint_is_full(struct run *r, struct endpoint *ep, const struct err *why)
{
	struct err e = *why;
	int none;

	if (ep->state != EP_UP)
		return;
	none = capacity_refused(&ep->capacity, ep->running);
	if (ep->capacity.refused == CAPACITY_MANY && !ep->told_full++ && !r->o->flow.quiet)
		report_line(
		    r, "%s: turns requests away, fewer are sent at once: %s", ep->url, why->msg);
	if (none) {
		err_prefix(&e, "turns every request away: ");
		endpoint_is_down(r, ep, &e);
	}
}

void endpoint_answers(struct endpoint *ep)
{
	ep->ok++;
	ep->streak = 0;
	ep->refuses = 0;
	ep->pauses = 0;
	ep->lived_at = 0;
	capacity_answered(&ep->capacity);
}

/* Those that began together are out of time together. */
static int out_of_time(const struct run *r, const struct item *it)
{
	return r->o->timeout > 0 && (double)(r->now - it->started) >= r->o->timeout * 1000;
}

void endpoint_suspect(struct run *r, struct endpoint *ep, struct item *it)
{
	it->next = ep->limbo;
	ep->limbo = it;
	ep->nlost += it->outcome.class != CLASS_PERMANENT && !out_of_time(r, it);
	if (ep->state == EP_DOWN || ep->state == EP_ASKED) {
		settle_limbo(r, ep, 0);
		return;
	}
	if (ep->state == EP_UP)
		ep->state = EP_SUSPECT;
	if (!ep->probe.xfer)
		probe_health(r, ep);
}

static uint64_t tick(struct run *r, struct endpoint *ep)
{
	uint64_t next = UINT64_MAX, t;

	if (ep->state == EP_DOWN && !ep->probe.xfer) {
		if (r->now >= ep->probe_at)
			probe_facts(r, ep);
		else
			next = ep->probe_at;
	}
	if (ep->lone && r->now - ep->lone->started >= LONE_MS) {
		ep->lone->crashes = 0;
		ep->lone->alone = 0;
		ep->lone = NULL;
	}
	if (ep->state == EP_UP && !r->o->adaptive && ep->allowed < (double)ep->limit) {
		ep->allowed += (double)ep->limit * RAMP_PER_MS * (double)(r->now - ep->moved_at);
		if (ep->allowed > (double)ep->limit)
			ep->allowed = (double)ep->limit;
		next = r->now + 100;
	}
	ep->moved_at = r->now;
	t = adapt_tick(r, ep);
	return t < next ? t : next;
}

uint64_t endpoints_tick(struct run *r)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < r->nep; i++) {
		uint64_t t = tick(r, r->ep[i]);

		if (t < next)
			next = t;
	}
	return next;
}
