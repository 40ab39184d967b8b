/* sim.h - the stand-in server's own structures
 *
 * One thread. A request becomes a job when its headers are there (conn.c), is read by the code of
 * its endpoint (ask.c), which either replies at once or asks for an answer; the engine (engine.c)
 * gives it a slot, draws the answer, waits as long as a server would take, and hands the job back;
 * then the reply is written (reply.c) and sent as its faults demand (wire.c).
 *
 *	NEW -> READ -> [QUEUED ->] RUNNING -> DONE -> SENT
 */
#ifndef E3_SIM_SIM_H
#define E3_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ints.h"
#include "base/opt.h"
#include "sim/answer.h"
#include "sim/fault.h"
#include "sim/states.h"
#include "sim/timer.h"

struct MHD_Connection;
struct MHD_Daemon;
struct bpe;
struct bpe_work;
struct chat;
struct chat_work;
struct rec;

enum sim_api { SIM_ALL, SIM_SGLANG, SIM_VLLM, SIM_OPENAI };

struct sim_opts {
	const char *model;
	int no_cache;
	uint64_t port;
	const char *host;
	int api; /* enum sim_api */
	const char *served_model, *weight_version;
	const char *dump_dir;
	uint64_t hidden;
	struct opt_list layers;
	int norm; /* 0 before, 1 after */
	uint64_t slots, max_queued, context, median;
	double latency, tokens_per_second, call_rate;
	uint64_t seed;
	struct opt_list faults;
	int list_faults;
};

/* Which request body and reply an endpoint speaks. */
enum ask { ASK_SGLANG, ASK_COMPLETION, ASK_CHAT };

enum timer_kind { T_JOB, T_STATES, T_REOPEN, T_SWEEP };

enum job_state { JOB_NEW, JOB_READ, JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_SENT, JOB_GONE };

struct reply {
	int status;
	const char *type;     /* Content-Type */
	uint64_t retry_after; /* seconds; 0: no such header */
	const char *location;
	struct buf body;
};

struct job {
	/* the connection */
	struct sim *sim;
	struct MHD_Connection *conn;
	int fd;
	int suspended;
	int looks;	 /* that found its client gone */
	int paced;	 /* the wait before the next byte of a trickle is over */
	struct buf body; /* of the request */
	int post;
	enum job_state state;
	/* all jobs, and those that wait for a slot */
	struct job *next, *prev, *queue_next;
	struct timer timer;
	/* the request */
	uint64_t number; /* of the requests for generation, from 1; 0: another */
	struct fault_hits faults;
	enum ask ask;
	struct buf rid, model;
	struct ints prompt;
	struct answer_want want;
	int want_ids, want_prompt_ids, want_states;
	/* the answer */
	struct ints out;
	int stopped, aborted;
	struct buf states_path; /* vLLM's file; empty: none */
	int states_lock;	/* its lock, or -1 */
	/* the reply */
	struct reply reply;
};

struct sim {
	const struct sim_opts *opt;
	struct bpe *bpe; /* NULL where chat has it */
	const struct bpe *tok;
	struct bpe_work *bpe_work;
	struct chat *chat; /* NULL: the folder has no template; no_template says more */
	struct err no_template;
	struct chat_work *chat_work;
	struct vocab *vocab;
	struct states_spec states;
	struct fault_plan plan;
	struct buf name; /* the served model's */
	uint64_t context;

	struct MHD_Daemon *daemon;
	int listen, port, signals;
	int draining;
	uint64_t now, loading_until, storm_until;

	struct job *jobs;
	struct job *queue, **queue_end;
	struct timers timers;
	struct timer reopen, sweep;
	size_t running, waiting, open;
	uint64_t opened_at, slots_at;
	struct {
		uint64_t requests, health, done, aborted, gone, prompt_tokens, tokens, refused,
		    peak;
		uint64_t slot_ns; /* that requests have run, up to slots_at */
	} count;
};

/* ---- sim.c ---- */

int sim_open(struct sim *s, const struct sim_opts *opt, struct err *e);
void sim_close(struct sim *s);
int sim_serve(struct sim *s, struct err *e); /* until a signal: 0, or -1 */
uint64_t sim_clock(void);		     /* ns, monotonic */

/* ---- engine.c: slots, queue, time ---- */

int engine_full(const struct sim *s); /* as many wait as may */
/* 1: the answer is ready; 0: it will be, and the connection is to be suspended. */
int engine_submit(struct sim *s, struct job *j);
void engine_turn(struct sim *s);      /* does what is due */
int engine_wait(const struct sim *s); /* ms until the next thing is, -1: nothing */
/* Ends a job before its time, by its client or an abort. */
void engine_drop(struct sim *s, struct job *j);
/* Aborts those whose rid begins with the prefix, or all; how many. */
size_t engine_abort(struct sim *s, const char *prefix, size_t n);
void engine_forget(struct sim *s); /* all jobs, at once, without a reply */
void engine_crash(struct sim *s, uint64_t ms);
void engine_flush(struct sim *s);		       /* writes the states that are still due */
void engine_after_reply(struct sim *s, struct job *j); /* what a server does then: writes states */

/* ---- ask.c: request bodies ---- */

/* Fills the job. -1: the reply holds the refusal. */
int ask_read(struct sim *s, struct job *j);

/* ---- render.c: the model's chat template ---- */

/* 0 also where the folder has no template: then render_prompt refuses. Opens the tokenizer. */
int render_open(struct sim *s, struct err *e);
int render_prompt(struct sim *s, const struct rec *r, struct arena *a, struct ints *ids,
    struct err *e); /* of the members messages, tools, chat_template_kwargs */
void render_close(struct sim *s);

/* ---- reply.c: reply bodies ---- */

void reply_answer(const struct sim *s, struct job *j);
void reply_error(const struct sim *s, struct job *j, int status, const char *message);

/* ---- info.c: every other endpoint ---- */

/* 0: no such endpoint. */
int info_reply(struct sim *s, struct job *j, const char *method, const char *path);
/* Finds the endpoint that generates; 0: it is none of them. */
int info_ask(const struct sim *s, const char *path, enum ask *ask);

/* ---- wire.c: replies onto the wire, right or wrong ---- */

/* The faults that need no answer: 1 when the reply is filled or the connection ended. */
int wire_refuse(struct sim *s, struct job *j);
void wire_spoil(struct job *j); /* turns a right body into a wrong one */
/* MHD_YES or MHD_NO, as the access handler has to return it. */
int wire_send(struct sim *s, struct job *j);
void wire_reset(int fd); /* the peer sees a reset, now */

/* ---- conn.c: connections ---- */

int conn_open(struct sim *s, struct err *e);
int conn_listen(struct sim *s, struct err *e); /* again on the port of the first time */
void conn_refuse(struct sim *s);	       /* closes the listening socket */
int conn_loop(struct sim *s, struct err *e);
void conn_suspend(struct job *j);
void conn_resume(struct job *j); /* if it is suspended */
void conn_close(struct sim *s);

#endif
