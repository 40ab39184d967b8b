#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prog.h"

#define MS	  1000000u
#define SWEEP_NS  1000000000u
#define REOPEN_NS 1000000000u

enum { RID_IN_NAME = 200, GONE_LOOKS = 2 };

/* A file of states that is written after its reply, while its lock is held. */
struct late {
	struct timer timer;
	struct ints ids;
	struct fault_hits faults;
	char *path;
	int lock;
};

/* ---- states of vLLM's kind ---- */

/* Names the file and takes its lock, as the scheduler does when it first sees the request: by the
 * request's id, and eight random digits that nobody can guess from it. */
static void states_begin(struct sim *s, struct job *j)
{
	uint64_t random = hash64(&j->number, sizeof(j->number), s->opt->seed);
	size_t n = j->rid.len < RID_IN_NAME ? j->rid.len : RID_IN_NAME;
	struct err e;

	buf_addf(&j->states_path, "%s/cmpl-", s->opt->dump_dir);
	for (size_t i = 0; i < n; i++)
		buf_addc(&j->states_path, j->rid.data[i] == '/' ? '_' : j->rid.data[i]);
	buf_addf(&j->states_path, "-0-%08lx.safetensors", (unsigned long)(random & 0xffffffff));
	if (j->faults.on[F_HS_UNLOCKED])
		return;
	j->states_lock = states_lock(buf_cstr(&j->states_path), &e);
	if (j->states_lock < 0)
		prog_warn("%s", e.msg);
}

static void late_end(struct sim *s, struct late *l)
{
	struct err e;

	timer_stop(&s->timers, &l->timer);
	/* vLLM only logs a failed write, too */
	if (states_write_vllm(&s->states, &l->ids, &l->faults, l->path, &e) < 0)
		prog_warn("%s", e.msg);
	if (l->lock >= 0)
		close(l->lock);
	ints_free(&l->ids);
	free(l->path);
	free(l);
}

/* From here on nothing keeps the file from being written: not the client's going, either. */
static void states_end(struct sim *s, struct job *j)
{
	uint64_t wait = j->faults.on[F_HS_LATE] ? j->faults.arg[F_HS_LATE] * MS : 0;
	struct late *l = xcalloc(1, sizeof(*l));

	l->timer.kind = T_STATES;
	l->timer.owner = l;
	l->faults = j->faults;
	l->path = xstrdup(buf_cstr(&j->states_path));
	l->lock = j->states_lock;
	ints_add(&l->ids, j->prompt.v, j->prompt.n);
	j->states_lock = -1;
	timer_set(&s->timers, &l->timer, s->now + wait);
}

void engine_after_reply(struct sim *s, struct job *j)
{
	if (j->states_path.len > 0 && j->state == JOB_SENT)
		states_end(s, j);
}

void engine_flush(struct sim *s)
{
	struct timer *t;

	while ((t = timer_due(&s->timers, UINT64_MAX)))
		if (t->kind == T_STATES)
			late_end(s, t->owner);
}

/* ---- slots ---- */

/* Taken or given back, by s->now. */
static void take_slots(struct sim *s, int n)
{
	s->count.slot_ns += s->running * (s->now - s->slots_at);
	s->slots_at = s->now;
	s->running = n < 0 ? s->running - 1 : s->running + 1;
}

static void make_answer(struct sim *s, struct job *j)
{
	const struct fault_hits *f = &j->faults;

	if (f->on[F_CUT_PROMPT])
		j->prompt.n = (j->prompt.n + 1) / 2;
	j->want.repeat = f->on[F_REPEAT];
	j->want.bad_call = f->on[F_BAD_CALL];
	j->want.blank = f->on[F_BLANK];
	j->want.think_only = f->on[F_THINK_ONLY];
	j->want.ignore_stop |= f->on[F_LENGTH] | f->on[F_REPEAT];
	j->stopped = answer_make(s->vocab, &j->want, &j->prompt, &j->out);
	if (f->on[F_NO_STOP]) { /* an answer cut at its length, too: no fault is lost */
		j->out.n -= j->stopped && j->out.n > 0;
		j->stopped = 1;
	}
	if (f->on[F_EMPTY])
		j->out.n = 0;
	j->aborted = f->on[F_ABORT];
}

#define LONGEST_MS 1e9 /* as far as time is reckoned with here */

static uint64_t duration(const struct sim *s, const struct job *j)
{
	double ms = s->opt->latency;

	if (s->opt->tokens_per_second > 0)
		ms += 1000.0 * (double)j->out.n / s->opt->tokens_per_second;
	if (j->faults.on[F_SLOW])
		ms *= (double)j->faults.arg[F_SLOW];
	return (uint64_t)((ms < LONGEST_MS ? ms : LONGEST_MS) * (double)MS);
}

static void finish(struct sim *s, struct job *j)
{
	timer_stop(&s->timers, &j->timer);
	take_slots(s, -1);
	j->state = JOB_DONE;
	s->count.done++;
	s->count.prompt_tokens += j->prompt.n;
	s->count.tokens += j->out.n;
}

/* Gives the job a slot; 1 when it is done on the spot. */
static int start(struct sim *s, struct job *j)
{
	uint64_t wait;

	j->state = JOB_RUNNING;
	take_slots(s, 1);
	if (s->running > s->count.peak)
		s->count.peak = s->running;
	make_answer(s, j);
	if (j->want_states && j->ask == ASK_COMPLETION)
		states_begin(s, j);
	if (j->faults.on[F_STALL])
		return 0;
	wait = duration(s, j);
	if (wait == 0) {
		finish(s, j);
		return 1;
	}
	timer_set(&s->timers, &j->timer, s->now + wait);
	return 0;
}

static int slot_free(const struct sim *s)
{
	return s->opt->slots == 0 || s->running < s->opt->slots;
}

static void start_queued(struct sim *s)
{
	while (s->queue && slot_free(s)) {
		struct job *j = s->queue;

		s->queue = j->queue_next;
		if (!s->queue)
			s->queue_end = &s->queue;
		s->waiting--;
		if (start(s, j))
			conn_resume(j);
	}
}

int engine_full(const struct sim *s)
{
	return s->opt->max_queued > 0 && !slot_free(s) && s->waiting >= s->opt->max_queued;
}

int engine_submit(struct sim *s, struct job *j)
{
	s->now = sim_clock();
	if (!s->sweep.at)
		timer_set(&s->timers, &s->sweep, s->now + SWEEP_NS);
	if (slot_free(s) && !s->queue)
		return start(s, j);
	j->state = JOB_QUEUED;
	j->queue_next = NULL;
	*s->queue_end = j;
	s->queue_end = &j->queue_next;
	s->waiting++;
	return 0;
}

static void unqueue(struct sim *s, struct job *j)
{
	struct job **at = &s->queue;

	while (*at != j)
		at = &(*at)->queue_next;
	*at = j->queue_next;
	if (s->queue_end == &j->queue_next)
		s->queue_end = at;
	s->waiting--;
}

void engine_drop(struct sim *s, struct job *j)
{
	timer_stop(&s->timers, &j->timer);
	if (j->state == JOB_QUEUED)
		unqueue(s, j);
	if (j->state == JOB_RUNNING)
		take_slots(s, -1);
	/* a real server, too, writes the file of a request whose client has gone */
	if (j->states_path.len > 0 && (j->state == JOB_RUNNING || j->state == JOB_DONE))
		states_end(s, j);
	if (j->states_lock >= 0)
		close(j->states_lock); /* the lock file stays, an orphan as real servers leave it */
	j->states_lock = -1;
	j->state = JOB_GONE;
	start_queued(s);
}

size_t engine_abort(struct sim *s, const char *prefix, size_t n)
{
	size_t found = 0;

	for (struct job *j = s->jobs; j; j = j->next) {
		if ((j->state != JOB_QUEUED && j->state != JOB_RUNNING) || j->rid.len < n ||
		    memcmp(j->rid.data, prefix, n) != 0)
			continue;
		if (j->state == JOB_QUEUED) {
			unqueue(s, j);
			take_slots(s, 1); /* finish gives it back */
		}
		finish(s, j);
		j->aborted = 1;
		s->count.aborted++;
		conn_resume(j);
		found++;
	}
	start_queued(s);
	return found;
}

void engine_forget(struct sim *s)
{
	s->queue = NULL;
	s->queue_end = &s->queue;
	s->waiting = s->running = 0;
	for (struct job *j = s->jobs; j; j = j->next) {
		timer_stop(&s->timers, &j->timer);
		j->state = JOB_GONE;
		conn_resume(j);
	}
}

/* A dying process: every request is cut, and nothing listens for a while. A connection that waits for
 * its next request stays: the HTTP library has no list of them. */
void engine_crash(struct sim *s, uint64_t ms)
{
	conn_refuse(s);
	s->reopen.kind = T_REOPEN;
	timer_set(&s->timers, &s->reopen, s->now + ms * MS);
	for (struct job *j = s->jobs; j; j = j->next)
		wire_reset(j->fd);
	engine_forget(s);
}

/* ---- time ---- */

/* Clients that hung up while they waited. A real server looks every few seconds, too. Only the third
 * look believes it: the abort that follows a closed connection finds its request, whenever the first
 * one was. */
static void sweep(struct sim *s)
{
	char c;

	for (struct job *j = s->jobs; j; j = j->next) {
		if (!j->suspended || (j->state != JOB_QUEUED && j->state != JOB_RUNNING) ||
		    recv(j->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) != 0 || j->looks++ < GONE_LOOKS)
			continue;
		engine_drop(s, j);
		s->count.gone++;
		conn_resume(j);
	}
	if (s->open > 0)
		timer_set(&s->timers, &s->sweep, s->now + SWEEP_NS);
}

/* The port may have become another program's: any connection takes one. */
static void reopen(struct sim *s)
{
	struct err e;

	if (s->draining || conn_listen(s, &e) == 0)
		return;
	prog_warn("%s", e.msg);
	timer_set(&s->timers, &s->reopen, s->now + REOPEN_NS);
}

static void fire(struct sim *s, struct timer *t)
{
	struct job *j = t->owner;

	switch (t->kind) {
	case T_SWEEP: sweep(s); break;
	case T_REOPEN: reopen(s); break;
	case T_STATES: late_end(s, t->owner); break;
	default:
		if (j->state == JOB_RUNNING) {
			finish(s, j);
			start_queued(s);
		}
		conn_resume(j); /* a reply to write, or the next byte of a trickle */
	}
}

void engine_turn(struct sim *s)
{
	struct timer *t;

	s->now = sim_clock();
	while ((t = timer_due(&s->timers, s->now)))
		fire(s, t);
}

int engine_wait(const struct sim *s)
{
	uint64_t due, now = sim_clock();

	if (!timer_next(&s->timers, &due))
		return -1;
	/* rounded up, not to spin through the last millisecond */
	return due > now ? (int)((due - now + MS - 1) / MS) : 0;
}
