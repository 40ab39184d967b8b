/* infer.h - a run of e3-infer: what its parts share
 *
 *	conv.c tools.c	one conversation: what is asked next
 *	item.c		one record in the window, from the input to its verdict
 *	queue.c		which record is next: longest first, retries when their time has come
 *	endpoint.c	a server: its state, who may be sent to it
 *	probe.c		asking a server what it is, and whether it works
 *	call.c		sending: an attempt, an abort, a probe, a look at the metrics
 *	attempt.c	one request: out, back, and what its end means
 *	result.c	a reply as a message and a generation
 *	doubt.c		whether the first answers fit the model folder
 *	params.c	what shapes an answer beside the record
 *	resume.c	what an earlier run left: done records, carried rejects
 *	turns.c		finished turns of unfinished conversations
 *	adapt.c		--adaptive: how many at once
 *	pace.c		how long a retry waits, and how many there may be
 *	order.c		--ordered
 *	report.c	progress, state on SIGUSR1, the summary
 *	dry.c		--dry-run
 *	loop.c		one turn: read, start, wait, finish
 *	run.c		the phases of a run
 *
 * One thread, one loop: read, start, wait, finish. A record is in exactly one place: the ready
 * queue, the waiting heap, in flight at one endpoint, in an endpoint's limbo (its attempt has
 * ended, and what that means depends on whether the server still lives), or in doubt.
 */
#ifndef E3_INFER_H
#define E3_INFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/progress.h"
#include "chat/chat.h"
#include "http/http.h"
#include "infer/conv.h"
#include "infer/options.h"
#include "infer/order.h"
#include "infer/queue.h"
#include "infer/resume.h"
#include "infer/turns.h"
#include "io/flow.h"
#include "io/part.h"
#include "serve/capacity.h"
#include "serve/facts.h"
#include "serve/outcome.h"
#include "serve/reply.h"
#include "serve/request.h"
#include "json/rec.h"

struct run;
struct endpoint;
struct item;

/* What a transfer was for: its user pointer. */
enum call_kind { CALL_ATTEMPT, CALL_ABORT, CALL_PROBE, CALL_METRICS, CALL_KINDS };

struct call {
	enum call_kind kind;
	struct endpoint *ep;
	struct item *item; /* of an attempt, or of an abort whose record waits for it, else NULL */
	struct http_xfer *xfer;
	struct buf body;   /* what is being sent */
	struct call *next; /* of the aborts */
};

/* ---- a record in the window ---- */

#define RID_MAX	      160
#define CRASHES_ALONE 3 /* in flight at so many crashes: a suspect of poison */

struct item {
	struct flow_held *held;
	struct flow_job *job;
	struct rec rec;
	struct conv conv;
	uint64_t seq, key;
	uint64_t expect;  /* bytes: the longer the sooner */
	struct call call; /* the request in flight */
	char rid[RID_MAX];
	size_t prompt_n;	      /* ids in it; 0: messages were sent */
	int dropped;		      /* its answer, by a policy */
	enum status last;	      /* of its answers */
	uint64_t started, not_before; /* ms */
	unsigned attempts;	      /* that counted */
	unsigned sent;		      /* requests, for the rid */
	unsigned unparsed;	      /* of the attempts: replies that made no sense */
	unsigned turned_away;	      /* by a busy server; no attempts */
	int aborting;		      /* an abort of the last request is on its way */
	struct endpoint *ep;	      /* where it is, or was last: a conversation stays there */
	/* poison */
	unsigned crashes, lone_deaths;
	int alone;		 /* it has, or had when its attempt ended, its server to itself */
	struct carried *carried; /* its reject of an earlier run, or NULL */
	/* why the last attempt failed, for the reject */
	struct serve_outcome outcome;
	int status;
	struct buf body;
	struct err *why;	  /* job->err */
	struct item *next, *prev; /* in flight, or in a limbo or in doubt (next) */
	size_t at;		  /* in a heap */
};

/* ---- a server ---- */

enum ep_state {
	EP_ASKED, /* being probed; nothing is sent to it */
	EP_UP,
	EP_SUSPECT, /* an attempt ended oddly: is it alive? Nothing new is sent meanwhile */
	EP_DOWN,    /* paused until the next probe */
	EP_LEAVING, /* no longer in the servers file: finishes what it has */
	EP_STATES
};

enum probe_stage { PROBE_NONE, PROBE_FACTS, PROBE_RENDER, PROBE_TRIAL, PROBE_HEALTH };

/* Whether it tells its figures at /metrics, as found since it is up. */
enum ep_figures { FIGURES_UNKNOWN, FIGURES_TOLD, FIGURES_NONE };

struct endpoint {
	char *url;
	enum ep_state state;
	struct serve_facts facts;
	struct serve_plan *plan;
	enum serve_route route;
	/* load */
	size_t limit;	/* how many at once, when all is well */
	double allowed; /* of them now: the ramp and the controller */
	struct capacity capacity;
	size_t running;
	uint64_t outstanding; /* bytes expected of what it runs */
	struct item *lone;    /* of what it runs: a suspect of poison, alone */
	/* probing */
	struct call probe;
	enum probe_stage stage;
	size_t asking; /* which probe */
	int older;     /* its older name */
	struct serve_facts asked;
	struct err untold; /* what came in place of the model's name */
	uint64_t probe_at; /* ms; of EP_DOWN */
	unsigned pauses;   /* times that it was found down since its last good answer */
	unsigned refusals; /* trials, likewise */
	int was_up;	   /* it has passed a probe before */
	struct err why;	   /* why it is down */
	/* what ended oddly since it became suspect */
	struct item *limbo;
	size_t nlost;  /* of them: not by --timeout */
	size_t streak; /* errors answered since its last good answer */
	int refuses;   /* and whether it has refused a request */
	int told_full; /* that it turns requests away has been said */
	/* controller */
	struct call metrics;
	uint64_t metrics_at, hold_until, moved_at;
	enum ep_figures figures;
	unsigned unheard;   /* how often they did not come, of FIGURES_UNKNOWN */
	int told_none;	    /* that there are none has been said */
	double preemptions; /* so far; -1: not known */
	double motion;	    /* of serve_load, at the last look */
	uint64_t lived_at;  /* when it last was seen to make tokens; 0: begins with the next look */
	/* counts */
	uint64_t ok, failed, outages, prompt_tokens, completion_tokens;
};

/* ---- the run ---- */

enum run_end { RUN_GOES_ON, RUN_DRAINS, RUN_STOPS };

struct counts {
	uint64_t requests, retries, turned_away, outages, statuses[STATUS_N], answers, foreign,
	    odd_ends;
	uint64_t output[STATUS_N]; /* of the last answers of what was written */
	uint64_t prompt_tokens, completion_tokens, out_bytes;
};

struct run {
	const struct options *o;
	void (*say)(const char *text);
	struct flow *flow;
	struct part *part;
	struct turns_file turns;
	struct http *http;
	struct chat *chat; /* NULL without --model */
	struct chat_work *work;
	/* of the request or the answer at hand: prompt.h */
	struct arena arena;
	struct buf text;
	struct rec text_rec;
	struct ints prompt;
	struct endpoint **ep;
	size_t nep, cep;
	struct queue queue;
	struct order order;
	struct resume resume;
	char model[256];   /* what the servers serve */
	struct buf params; /* what infer_key covers beside the record: params.h */
	struct serve_plan *sampling_plan;
	struct span sampling; /* what is asked for, as JSON: the plan's */
	int starting;	      /* no server is known yet: nothing is read */
	int begun;	      /* a record was not found done: the output is FILE.part */
	uint64_t seq;	      /* records read */
	size_t window;	      /* records in the program */
	size_t window_max;
	uint64_t held_bytes;
	int input_ended;
	enum run_end end;
	int signal; /* that ended it */
	int failed; /* e says why */
	struct err e;
	uint32_t nonce;
	uint64_t random; /* state of the jitter */
	uint64_t now, began;
	struct item *flying;  /* in flight, the latest first */
	struct item *doubted; /* doubt.h */
	size_t ndoubted;
	int32_t odd_end;     /* the last token that ended an answer and ends no turn in --model */
	struct call *aborts; /* on their way */
	uint64_t trials;
	uint64_t total_bytes, read_bytes; /* of the input; total 0: not known */
	uint64_t earlier_bytes;		  /* of those read: what an earlier run has settled */
	int signals;			  /* descriptor */
	struct counts n;
	struct progress *progress;
	uint64_t lost_at; /* since when no server is up, or 0 */
};

/* Ends the run: the first reason stays. */
void infer_fail(struct run *r, const struct err *e);

#endif
