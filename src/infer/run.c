#include "infer/run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/prog.h" /* the version */
#include "base/signals.h"
#include "infer/attempt.h"
#include "infer/doubt.h"
#include "infer/dry.h"
#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/item.h"
#include "infer/loop.h"
#include "infer/params.h"
#include "infer/report.h"
#include "io/lines.h"

#define WINDOW	    256
#define OTHERS_MS   5000 /* for the other servers, once one is up */
#define SILENT_MS   5000 /* of the wait for the first one */
#define FAREWELL_MS 2000 /* for aborts, when the run is stopped */

void infer_fail(struct run *r, const struct err *e)
{
	if (!r->failed)
		r->e = *e;
	r->failed = 1;
	r->end = RUN_STOPS;
}

static uint64_t size_of_input(const struct flow_opt *f)
{
	uint64_t sum = 0;
	struct stat st;

	if (f->files.n == 0)
		return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size
									    : 0;
	for (size_t i = 0; i < f->files.n; i++) {
		const char *path = f->files.v[i], *end = strrchr(path, '.');

		if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
		    (end && strcmp(end, ".zst") == 0))
			return 0;
		sum += (uint64_t)st.st_size;
	}
	return sum;
}

/* ---- the phases ---- */

/* Is there any use in waiting for a server? */
static int check_servers(struct run *r)
{
	double patience = r->o->patience;
	size_t up = endpoints_in_state(r, EP_UP) + endpoints_in_state(r, EP_SUSPECT);
	size_t down = endpoints_in_state(r, EP_DOWN);
	const struct endpoint *sick = NULL;
	int hope = up > 0;
	struct err e;

	for (size_t i = 0; i < r->nep; i++) {
		if (r->ep[i]->state != EP_DOWN)
			continue;
		if (strcmp(r->ep[i]->why.class, "loading") == 0)
			hope = 1;
		else
			sick = r->ep[i];
	}
	if (hope)
		r->lost_at = 0;
	if (hope || !sick || down + endpoints_in_state(r, EP_LEAVING) < r->nep)
		return 0;
	if (r->lost_at == 0)
		r->lost_at = r->now;
	if (isnan(patience))
		patience = r->model[0] ? INFINITY : 0;
	if ((double)(r->now - r->lost_at) / 1000 < patience)
		return 0;
	e = sick->why;
	err_prefix(&e, "%s: ", sick->url);
	if (r->nep > 1)
		err_prefix(&e, "none of %zu servers is up: ", r->nep);
	infer_fail(r, &e);
	return -1;
}

/* Until one is up, and the others have said what they serve or had the time to. */
static void wait_for_a_server(struct run *r)
{
	uint64_t first = 0, tell_at;

	r->now = clock_ms(); /* what was read before may have taken minutes */
	tell_at = r->now + SILENT_MS;
	r->starting = 1;
	while (r->end == RUN_GOES_ON && check_servers(r) == 0) {
		if (first == 0 && endpoints_in_state(r, EP_UP) > 0)
			first = r->now;
		if (first && (endpoints_in_state(r, EP_ASKED) == 0 || r->now - first >= OTHERS_MS))
			break;
		if (!first && r->now >= tell_at) {
			report_waiting(r);
			tell_at = UINT64_MAX;
		}
		loop_turn(r);
	}
	r->starting = 0;
}

static void set_window(struct run *r)
{
	size_t all = 0;

	for (size_t i = 0; i < r->nep; i++)
		all += r->ep[i]->limit;
	r->window_max = all + (r->o->window ? (size_t)r->o->window : WINDOW);
}

static int over(const struct run *r)
{
	switch (r->end) {
	case RUN_GOES_ON:
		return r->window == 0 &&
		       (r->input_ended || (r->o->dry_run && r->seq >= r->o->dry_run));
	case RUN_DRAINS: return endpoints_running(r) == 0;
	case RUN_STOPS: break;
	}
	return 1;
}

/* Answers that this input does not ask for would reach training unseen. */
static void check_resumed(struct run *r)
{
	uint64_t absent = r->resume.ids.n - flow_totals(r->flow).resumed;
	struct err e;

	if (absent == 0)
		return;
	err_set(&e, "changed",
	    "%s holds %llu answer%s of records that are not in the input%s: give the whole input, "
	    "take them out of the file, or move it away",
	    r->o->flow.output, (unsigned long long)absent, absent == 1 ? "" : "s",
	    r->o->flow.shard.n > 1 ? ", or of another shard" : "");
	infer_fail(r, &e);
}

static void work(struct run *r)
{
	while (!over(r)) {
		set_window(r);
		check_servers(r);
		loop_turn(r);
		doubt_settle(r);
	}
	if (r->end == RUN_GOES_ON)
		check_resumed(r);
}

/* What is still in flight is broken off, and the servers are told. */
static void farewell(struct run *r)
{
	uint64_t until = clock_ms() + FAREWELL_MS;
	struct err e;

	attempt_cancel_all(r, NULL, 0);
	while (r->aborts && clock_ms() < until && http_wait(r->http, 100, NULL, 0, &e) == 0)
		loop_finish(r);
}

/* ---- opening and closing ---- */

static int open_chat(struct run *r, struct err *e)
{
	struct chat_opt c = {r->o->model, r->o->template, r->o->date,
	    (enum chat_served)r->o->served_by, r->o->no_cache};

	if (!r->o->model)
		return 0;
	r->chat = chat_open(&c, e);
	if (!r->chat)
		return -1;
	r->work = chat_work_open(r->chat);
	return 0;
}

static int open_all(struct run *r, struct err *e)
{
	struct http_opt http = {.key = getenv("E3_API_KEY"), .agent = "e3-infer/" E3_VERSION};
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	r->nonce = (uint32_t)hash64(&t, sizeof(t), (uint64_t)getpid());
	r->random = hash64(&t, sizeof(t), 1) | 1;
	r->now = r->began = clock_ms();
	r->signals = signals_open(SIGUSR1, e);
	if (r->signals < 0 || open_chat(r, e) < 0)
		return -1;
	if (http.key && !http.key[0])
		http.key = NULL;
	r->http = http_open(&http, e);
	return r->http ? 0 : -1;
}

/* Only a replay in a file has turns worth keeping. */
static int open_turns(struct run *r, struct err *e)
{
	const struct options *o = r->o;

	if (o->turns != TURNS_ALL || o->dry_run || !o->flow.output ||
	    strcmp(o->flow.output, "-") == 0)
		return 0;
	return turns_open(&r->turns, o->flow.output, o->resume ? &r->resume.ids : NULL, e);
}

static int interrupted(void *run, struct err *e)
{
	struct run *r = run;

	loop_signals(r);
	return r->end == RUN_GOES_ON ? 0 : err_set(e, "stopped", "interrupted");
}

/* What can be refused without a server is refused before one is asked. */
static int open_output(struct run *r, struct err *e)
{
	const struct options *o = r->o;

	r->sampling_plan = infer_plan(o, e);
	if (!r->sampling_plan || flow_check(&o->flow, e) < 0 ||
	    lines_check(o->flow.files.v, o->flow.files.n, e) < 0)
		return -1;
	r->sampling = r->resume.sampling = serve_plan_sampling(r->sampling_plan);
	if (o->dry_run)
		return 0;
	r->part = part_open(o->flow.output, o->flow.zstd, o->resume, e);
	if (!r->part)
		return -1;
	part_stop_by(r->part, interrupted, r);
	return o->resume ? part_replay(r->part, resume_line, &r->resume, e) : 0;
}

/* Of the servers that are known by now, which are alike. */
static const char *weights_served(const struct run *r)
{
	for (size_t i = 0; i < r->nep; i++)
		if (r->ep[i]->facts.weight_version[0])
			return r->ep[i]->facts.weight_version;
	return "";
}

/* The model is known. What an earlier run left is read before flow opens its files: the rejects are
 * written anew. */
static int begin_output(struct run *r, struct err *e)
{
	const struct options *o = r->o;
	struct flow_opt f = o->flow;

	params_write(&r->params, r);
	if (resume_check_maker(&r->resume, r->model, weights_served(r), e) < 0)
		return err_prefix(e, "%s: ", f.output);
	if (open_turns(r, e) < 0)
		return -1;
	if (o->resume && f.rejects && resume_rejects(&r->resume, f.rejects, e) < 0)
		return -1;
	f.no_progress = 1; /* this program draws its own */
	f.progress = 0;
	r->flow = flow_open("e3-infer", &f, e);
	r->total_bytes = size_of_input(&f);
	r->began = clock_ms();
	return r->flow ? 0 : -1;
}

static void open_progress(struct run *r)
{
	const struct flow_opt *f = &r->o->flow;
	enum progress_when when = f->progress ? PROGRESS_ON : PROGRESS_AUTO;

	if (f->no_progress || (f->quiet && !f->progress))
		when = PROGRESS_OFF;
	r->progress = progress_open(when);
}

/* Records that are left to a later run. */
static void forget_items(struct run *r)
{
	struct item *it;

	doubt_forget(r);
	while ((it = queue_any(&r->queue))) {
		queue_take(&r->queue, it);
		item_forget(r, it);
	}
	for (size_t i = 0; i < r->nep; i++) {
		while ((it = r->ep[i]->limbo)) {
			r->ep[i]->limbo = it->next;
			item_forget(r, it);
		}
	}
}

static void close_all(struct run *r)
{
	forget_items(r);
	progress_close(r->progress);
	while (r->aborts)
		attempt_abort_done(r, r->aborts);
	http_close(r->http);
	for (size_t i = 0; i < r->nep; i++)
		endpoint_free(r->ep[i]);
	free(r->ep);
	flow_abort(r->flow);
	turns_close(&r->turns, 0);
	order_free(&r->order);
	queue_free(&r->queue);
	resume_free(&r->resume);
	chat_work_close(r->work);
	chat_close(r->chat);
	arena_free(&r->arena);
	buf_free(&r->text);
	rec_free(&r->text_rec);
	ints_free(&r->prompt);
	buf_free(&r->params);
	serve_plan_close(r->sampling_plan);
	if (r->signals >= 0)
		close(r->signals);
}

static void say_kept(struct run *r, const struct part *part)
{
	const char *path = part && r->begun ? part_path(part) : NULL;

	if (path)
		report_line(
		    r, "%s keeps what is done; the same command with --resume goes on", path);
}

/* Everything is accounted for: FILE.part becomes FILE, once the rejects and the statistics are in
 * their places. */
static int complete(struct run *r, struct err *e)
{
	struct part *part = r->part;

	if (r->o->dry_run)
		return dry_finish(r, e);
	report_summary(r);
	report_stats(r);
	if (flow_finish(r->flow, e) < 0) {
		say_kept(r, part);
		return -1;
	}
	r->flow = NULL;
	r->part = NULL;
	if (part_finish(part, e) < 0)
		return -1;
	turns_close(&r->turns, 1);
	return 0;
}

/* Then there is nobody to tell. */
static int reader_left(const struct run *r)
{
	return r->failed && err_is_pipe(&r->e);
}

/* A run with rejects replaces the file of the one before, also when it ends early. */
static void keep_rejects(struct run *r)
{
	struct err ignored;

	if (r->flow && r->resume.ncarried && flow_totals(r->flow).rejected > 0)
		resume_keep_rejects(&r->resume, r->o->flow.rejects, r->flow, &ignored);
}

/* FILE.part stays, to be resumed. */
static int give_up(struct run *r, struct err *e)
{
	struct part *part = r->part;

	farewell(r);
	if (!r->failed)
		doubt_write(r);
	keep_rejects(r);
	if (r->flow && !reader_left(r)) {
		report_summary(r);
		if (r->signal)
			report_line(r, "stopped by signal %d", r->signal);
		say_kept(r, part);
	}
	r->part = NULL;
	if (part && part_close(part, e) < 0)
		return -1;
	if (r->failed)
		*e = r->e;
	return r->failed ? -1 : 0;
}

int infer_run(const struct options *o, void (*say)(const char *text), struct err *e)
{
	struct run r = {.o = o, .signals = -1, .say = say, .turns.fd = -1};
	struct err ignored;
	int rc = -1;

	open_progress(&r);
	if (open_all(&r, e) < 0 || open_output(&r, e) < 0 || endpoints_load(&r, e) < 0) {
		rc = r.signal ? 0 : -1;
		goto out;
	}
	wait_for_a_server(&r);
	if (r.end == RUN_GOES_ON && begin_output(&r, e) < 0)
		goto out;
	if (r.end == RUN_GOES_ON)
		work(&r);
	rc = r.end == RUN_GOES_ON ? complete(&r, e) : give_up(&r, e);
out:
	progress_clear(r.progress);
	if (r.part)
		part_close(r.part, &ignored);
	close_all(&r);
	return rc < 0 ? -1 : r.signal;
}
