#include "extract/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pipe.h"
#include "base/prog.h"
#include "base/progress.h"
#include "base/signals.h"
#include "extract/say.h"
#include "extract/stray.h"

enum { WINDOW_LEAST = 64, WAIT_MAX_MS = 500, INPUT_POLL_MS = 20, FILL_MS = 100, THREADS_LEAST = 4 };

#define REPLY_JSON_MAX ((size_t)2 << 30) /* states as JSON: some 12 bytes a value */

int run_fail(struct run *r, const struct err *e)
{
	if (!r->failed)
		r->err = *e;
	r->failed = 1;
	if (!atomic_load(&r->stop))
		atomic_store(&r->stop, 1);
	return -1;
}

/* ---- what is done in one turn of the loop ---- */

static int may_read(const struct run *r)
{
	return r->n < r->cap && !r->input_ended && !atomic_load(&r->stop);
}

/* Reads as long as there is room and something to read; but not for long: what is done already takes
 * no room, and there may be hours of it. */
static int fill(struct run *r, struct err *e)
{
	uint64_t end = clock_ms() + FILL_MS;
	int rc = 1;

	while (rc > 0 && may_read(r) && flow_ready(r->flow) && clock_ms() < end) {
		rc = item_next(r, e);
		r->input_ended = rc == 0;
	}
	return rc < 0 ? -1 : 0;
}

static int may_send(const struct run *r)
{
	/* the first record goes alone: what is wrong with the server shows before it is kept busy
	 */
	return r->plan.adopted || r->flying + r->at_work == 0;
}

static int send_ready(struct run *r, struct err *e)
{
	uint64_t now = clock_ms();

	for (size_t i = 0; i < r->n && may_send(r); i++) {
		struct item *it = r->item[(r->head + i) % r->cap];
		struct host *h;
		int room;

		if (it->state != READY || it->not_before > now)
			continue;
		h = host_choose(r, it);
		if (!h)
			continue;
		room = disk_room(r, it, e);
		if (room <= 0)
			return room;
		if (item_send(r, it, h, e) < 0)
			return -1;
	}
	return 0;
}

static int wait_ms(const struct run *r, int64_t tick)
{
	int ms = tick >= 0 && tick < WAIT_MAX_MS ? (int)tick : WAIT_MAX_MS;

	if (!may_read(r))
		return ms;
	return flow_ready(r->flow) ? 0 : ms < INPUT_POLL_MS ? ms : INPUT_POLL_MS;
}

int run_interrupted(void *run, struct err *e)
{
	struct run *r = run;
	int sig = signals_next(r->signals);

	if (sig != 0 && r->signal == 0) {
		r->signal = sig;
		atomic_store(&r->stop, 1);
		if (r->flying + r->at_work > 0)
			say("stopping when the %llu records under way are done; once more to "
			    "stop at once",
			    (unsigned long long)(r->flying + r->at_work));
	} else if (sig != 0) {
		atomic_store(&r->stop, 2);
	}
	return r->signal ? err_set(e, "stopped", "interrupted") : 0;
}

static int turn(struct run *r, struct err *e)
{
	struct pollfd fds[2] = {
	    {.fd = pool_fd(r->pool), .events = POLLIN}, {.fd = r->signals, .events = POLLIN}};
	struct http_done d;
	struct item *it;

	if (!r->failed && r->flying + r->at_work == 0 && settle_shown(r, e) < 0)
		return -1;
	if (http_wait(r->http, wait_ms(r, settle_tick(r)), fds, 2, e) < 0) {
		atomic_store(&r->stop, 2);
		return -1;
	}
	while (http_next(r->http, &d))
		item_reply(r, &d);
	hosts_watch(r);
	while ((it = pool_take(r->pool)))
		item_worked(r, it);
	return r->failed ? 0 : settle(r, e);
}

/* ---- progress ---- */

static void show(struct run *r, struct progress *p)
{
	double s = (double)(clock_ms() - r->started) / 1000 + 0.001;
	double rate = (double)r->tokens / s;
	unsigned long long resumed = flow_totals(r->flow).resumed;
	char bytes[32], text[200];
	size_t n;

	if (!progress_due(p))
		return;
	num_human((uint64_t)((double)r->bytes / s), bytes);
	n = (size_t)snprintf(text, sizeof(text),
	    "%llu records, %.0f tokens/s, %s/s, %llu under way", (unsigned long long)r->made, rate,
	    bytes, (unsigned long long)(r->flying + r->at_work));
	if (resumed > 0)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %llu resumed", resumed);
	if (r->forecast.tokens > r->tokens && rate > 0)
		snprintf(text + n, sizeof(text) - n, ", %.1f h left",
		    (double)(r->forecast.tokens - r->tokens) / rate / 3600);
	progress_draw(p, text);
}

static int work_left(const struct run *r)
{
	if (atomic_load(&r->stop))
		return atomic_load(&r->stop) < 2 && r->flying + r->at_work > 0;
	return !r->input_ended || r->n > 0;
}

static void loop(struct run *r)
{
	struct progress *p = progress_open(r->o->flow.progress	    ? PROGRESS_ON
					   : r->o->flow.no_progress ? PROGRESS_OFF
								    : PROGRESS_AUTO);
	struct err e;

	while (work_left(r)) {
		int rc = 0;

		if (!atomic_load(&r->stop))
			rc = fill(r, &e) < 0 ? -1 : send_ready(r, &e);
		if (rc == 0 && work_left(r))
			rc = turn(r, &e);
		/* what is under way is waited for: a server may not survive a client that leaves */
		if (rc < 0 && strcmp(e.class, "stopped") != 0)
			run_fail(r, &e);
		run_interrupted(r, &e); /* also where the input has ended: by the same Ctrl-C */
		show(r, p);
		forecast_hours(r);
	}
	progress_close(p);
}

/* ---- beginning and end ---- */

/* They wait for the disk's syncs more than they work. */
static size_t pool_threads(const struct extract_opts *o)
{
	size_t n = o->flow.threads ? (size_t)o->flow.threads : pipe_processors();

	return o->flow.threads || n > THREADS_LEAST ? n : THREADS_LEAST;
}

static int open_all(struct run *r, struct err *e)
{
	const struct extract_opts *o = r->o;
	struct http_opt http = {.agent = "e3-extract",
	    .key = getenv("E3_API_KEY"),
	    .max_reply = o->backend == BACKEND_JSON ? REPLY_JSON_MAX : 0};
	struct flow_opt flow = o->flow;

	clock_gettime(CLOCK_REALTIME, &r->start_time);
	r->signals = signals_open(0, e);
	if (r->signals < 0 || plan_open(&r->plan, o, e) < 0)
		return -1;
	if (o->dump_dir && !(r->dump = dumpdir_open(o->dump_dir, o->server_dump_dir, e)))
		return -1;
	flow.own_output = 1;
	flow.unique_ids = 1;
	flow.no_progress = 1; /* this program draws its own */
	flow.progress = 0;
	r->flow = flow_open(extract_prog.name, &flow, e);
	r->http = r->flow ? http_open(&http, e) : NULL;
	if (!r->http)
		return -1;
	hosts_open(r);
	/* a run that goes on may have nothing to send, see item.c; but --redo gives up files that are
	 * there, which only servers of the set's model make again */
	if ((!o->resume || o->redo) && hosts_ask(r, e) < 0)
		return -1;
	if (resume_open(r, e) < 0 || sweep_begin(r, e) < 0)
		return -1;
	if (o->resume && o->flow.rejects && !o->retry_rejects &&
	    carry_load(&r->carry, o->flow.rejects, e) < 0)
		return -1;
	r->cap = 2 * (size_t)o->concurrency * r->nhosts;
	r->cap = r->cap > WINDOW_LEAST ? r->cap : WINDOW_LEAST;
	r->item = xcalloc(r->cap, sizeof(struct item *));
	r->pool = pool_open(pool_threads(o), work_item, r, e);
	if (!r->pool)
		return -1;
	forecast_read(r);
	forecast_say(r);
	r->started = clock_ms();
	return 0;
}

static void summary(const struct run *r)
{
	double s = (double)(clock_ms() - r->started) / 1000 + 0.001;
	char total[32], rate[32];

	num_human(r->bytes, total);
	num_human((uint64_t)((double)r->bytes / s), rate);
	if (!r->o->flow.quiet)
		say("%llu %s, %llu tokens, %s in %.1f s: %.0f tokens/s, %s/s",
		    (unsigned long long)r->made, r->made == 1 ? "file" : "files",
		    (unsigned long long)r->tokens, total, s, (double)r->tokens / s, rate);
}

/* With the counts. A resumed run that had nothing left to send knows the set from its manifest
 * only, which an earlier one may have left without them. */
static int save_manifest(const struct run *r, int complete, struct err *e)
{
	struct setinfo set = r->plan.adopted ? r->plan.set : r->old;

	if (!r->plan.adopted && !r->resuming)
		return 0;
	set.records = r->plan.set.records;
	set.tokens = r->plan.set.tokens;
	set.bytes = r->plan.set.bytes;
	set.complete = complete;
	return setinfo_save(&set, r->o->out_dir, e);
}

/* Its input is not all that the set holds: neither index nor manifest may look finished, what an
 * earlier run with another input finished neither. */
static void unfinish(struct run *r)
{
	struct err ignored;

	part_begin(r->part, &ignored);
	save_manifest(r, 0, &ignored);
}

/* The input is accounted for: manifest, then rejects and statistics, and the index last. */
static int finish(struct run *r, struct err *e)
{
	struct part *part = r->part;
	struct flow *f = r->flow;

	if (r->made == 0 && flow_totals(f).rejected > 0 && r->lines == 0 && r->sent > 0)
		return err_set(e, "rejects", "no record came through; the rejects say why");
	if (resume_ended(r, e) < 0) {
		unfinish(r);
		return -1;
	}
	if (save_manifest(r, 1, e) < 0)
		return -1;
	summary(r);
	if (flow_finish(f, e) < 0)
		return -1;
	r->flow = NULL;
	r->part = NULL;
	return part_finish(part, e);
}

/* A set without a line is nothing to go on with, and would only be in the way of the next run. */
static void close_index(struct run *r)
{
	struct buf first = {0};
	uint64_t n = 0;
	struct err e;

	if (r->part && r->plan.set.records == 0) {
		/* the manifest last: without it files would not be known to be ours */
		if (!r->resuming &&
		    stray_remove(r->o->out_dir, r->plan.set.layout, NULL, &n, &first, &e) == 0)
			setinfo_remove(r->o->out_dir);
		if (part_path(r->part))
			unlink(part_path(r->part));
	}
	part_close(r->part, &e);
	buf_free(&first);
}

/* What is under way when a run is stopped at once is let go before the window is. */
static void stop_work(struct run *r)
{
	http_close(r->http);
	pool_close(r->pool);
	r->http = NULL;
	r->pool = NULL;
}

static void close_all(struct run *r)
{
	struct err e;

	atomic_store(&r->stop, 2);
	stop_work(r);
	settle_rest(r, &e);
	folders_free(&r->folders);
	carry_free(&r->carry);
	flow_abort(r->flow);
	close_index(r);
	hosts_close(r);
	dumpdir_close(r->dump);
	done_free(&r->done);
	hashset_free(&r->files);
	plan_close(&r->plan);
	free(r->item);
	if (r->out_lock >= 0)
		close(r->out_lock);
	if (r->signals >= 0)
		close(r->signals);
}

int run_extract(const struct extract_opts *o)
{
	struct run r = {.o = o, .signals = -1, .out_lock = -1};
	int status = EXIT_DONE;
	struct err e;

	if (open_all(&r, &e) < 0) {
		if (!r.signal)
			run_fail(&r, &e);
	} else {
		loop(&r);
		stop_work(&r);
		if (settle_rest(&r, &e) < 0)
			run_fail(&r, &e);
		if (sweep_end(&r, &e) < 0)
			run_fail(&r, &e);
		if (!r.failed && !r.signal && finish(&r, &e) < 0)
			run_fail(&r, &e);
	}
	if (r.failed)
		status = prog_fail(&r.err);
	else if (r.signal && r.started > 0)
		summary(&r);
	close_all(&r);
	return r.signal ? 128 + r.signal : status;
}
