#include "infer/loop.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "infer/adapt.h"
#include "infer/attempt.h"
#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/item.h"
#include "infer/pace.h"
#include "infer/probe.h"
#include "infer/report.h"

#define HELD_MAX       ((uint64_t)256 << 20) /* bytes of records read ahead */
#define READ_BATCH     256		     /* records between two looks at the servers */
#define WAIT_MS	       1000
#define ABORT_LOOK_MS  20  /* between two looks at a retry that waits for its abort ... */
#define BUDGET_LOOK_MS 100 /* ... and for the budget */
#define PROGRESS_MS    200
#define INPUT_LOOK_MS  100 /* between two looks at an input that is not polled */

/* ---- signals ---- */

static void on_signal(struct run *r, int sig)
{
	struct err e;

	if (sig == SIGUSR1) {
		report_state(r);
	} else if (sig == SIGHUP) {
		if (endpoints_load(r, &e) < 0)
			report_line(r, "servers stay as they were: %s", e.msg);
		else
			report_line(r, "servers read again: %zu", r->nep);
	} else if (r->end == RUN_GOES_ON) {
		r->signal = sig;
		r->end = RUN_DRAINS;
		report_line(r, "stopping: %zu requests in flight are waited for; again: at once",
		    endpoints_running(r));
	} else {
		r->end = RUN_STOPS;
	}
}

void loop_signals(struct run *r)
{
	int sig;

	while ((sig = signals_next(r->signals)))
		on_signal(r, sig);
}

/* ---- the input ---- */

static int has_room(const struct run *r)
{
	if (r->starting || r->input_ended || r->end != RUN_GOES_ON || r->held_bytes >= HELD_MAX)
		return 0;
	if (r->o->ordered && r->seq - r->order.first >= r->window_max)
		return 0;
	if (r->o->dry_run && r->seq >= r->o->dry_run)
		return 0;
	return r->window < r->window_max;
}

static void read_some(struct run *r)
{
	struct flow_held *held;
	struct err e;
	int n = 0, rc;

	while (n++ < READ_BATCH && has_room(r) && flow_ready(r->flow)) {
		rc = flow_next(r->flow, &held, &e);
		if (rc < 0)
			infer_fail(r, &e);
		if (rc == 0)
			r->input_ended = 1;
		if (rc <= 0)
			return;
		item_take(r, held);
	}
}

/* ---- starting ---- */

/* Those over the budget come behind all that is fresh: one by one they would take days. */
static int retry_allowed(const struct run *r, const struct item *it)
{
	return it->attempts == 0 || pace_retry_allowed(r->n.retries, r->n.requests) ||
	       r->queue.fresh.n == 0;
}

/* The next that has waited long enough; those that may not go yet are put off, so that they do not
 * stand before others. */
static struct item *due(struct run *r)
{
	struct item *it;

	while ((it = queue_due(&r->queue, r->now))) {
		if (!it->aborting && retry_allowed(r, it))
			return it;
		queue_take(&r->queue, it);
		it->not_before = r->now + (it->aborting ? ABORT_LOOK_MS : BUDGET_LOOK_MS);
		queue_wait(&r->queue, it);
	}
	return NULL;
}

static struct item *pick(struct run *r, struct endpoint **ep)
{
	struct item *it = due(r);

	if (it && (*ep = endpoint_choose(r, it)))
		return it;
	it = queue_first(&r->queue);
	if (it && (*ep = endpoint_choose(r, it)))
		return it;
	it = queue_last(&r->queue);
	if (it && queue_next_time(&r->queue) > r->now && (*ep = endpoint_choose(r, it)))
		return it;
	return NULL;
}

static void start_some(struct run *r)
{
	struct endpoint *ep;
	struct item *it;

	while (r->end == RUN_GOES_ON && (it = pick(r, &ep))) {
		queue_take(&r->queue, it);
		attempt_start(r, ep, it);
	}
}

/* ---- finishing ---- */

void loop_finish(struct run *r)
{
	struct http_done d;

	while (http_next(r->http, &d)) {
		struct call *c = d.user;

		switch (c->kind) {
		case CALL_ATTEMPT: attempt_done(r, c->item, &d); break;
		case CALL_ABORT: attempt_abort_done(r, c); break;
		case CALL_PROBE: probe_done(r, c->ep, &d); break;
		case CALL_METRICS: adapt_done(r, c->ep, &d); break;
		case CALL_KINDS: break;
		}
		buf_free(&d.body);
	}
}

/* What is due is done; returns when something will be. */
static int wait_ms(struct run *r)
{
	uint64_t until = r->now +
			 (r->o->flow.progress || isatty(STDERR_FILENO) ? PROGRESS_MS : WAIT_MS),
		 t;
	struct err e;
	int64_t sync;

	t = endpoints_tick(r);
	if (t < until)
		until = t;
	t = queue_next_time(&r->queue);
	/* one that is due already waits for room, which a transfer's end makes */
	if (t > r->now && t < until)
		until = t;
	if (r->part) {
		sync = part_tick(r->part, r->now, &e);
		if (sync < -1)
			infer_fail(r, &e);
		else if (sync >= 0 && r->now + (uint64_t)sync < until)
			until = r->now + (uint64_t)sync;
	}
	return until > r->now && (!r->input_ended || r->window > 0) ? (int)(until - r->now) : 0;
}

/* Then it is polled. Of others, a FIFO say, the descriptor is not known here. */
static int reads_stdin(const struct opt_list *files)
{
	return files->n == 0 || (files->n == 1 && strcmp(files->v[0], "-") == 0);
}

void loop_turn(struct run *r)
{
	struct pollfd fds[2] = {
	    {.fd = r->signals, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	int more, ms, polled = 0;
	struct err e;

	r->now = clock_ms();
	read_some(r);
	start_some(r); /* which makes room, where it rejects */
	more = has_room(r) && flow_ready(r->flow);
	if (r->failed)
		return;
	ms = wait_ms(r);
	if (more)
		ms = 0;
	else if (has_room(r) && !(polled = reads_stdin(&r->o->flow.files)) && ms > INPUT_LOOK_MS)
		ms = INPUT_LOOK_MS;
	if (http_wait(r->http, ms, fds, polled ? 2 : 1, &e) < 0)
		infer_fail(r, &e);
	r->now = clock_ms();
	loop_finish(r);
	loop_signals(r);
	report_progress(r);
}
