/* run.h - a run of extraction: what its parts share
 *
 *	run.c		the loop: read, send, wait, take back, settle
 *	item.c		one record in the window, from the input to its verdict
 *	host.c		a server: what it is, whether it may be sent to
 *	send.c		one request: out, back, and what its end means
 *	work.c		what the threads do: wait for the file, check, write
 *	settle.c	verdicts in input order: rename, index line, source removed
 *	resume.c	what an earlier run left
 *	redo.c		which of it is to be made again
 *	sweep.c		requests' names, by which files that nobody waits for are found and deleted
 *	disk.c		space: forecast, back-pressure, the stop before the disk is full
 *
 * One loop on one thread, and a pool that checks and writes. A record in the window is in one
 * state; only AT_WORK belongs to the pool. The window is a ring in input order; its head is settled
 * first, so that the index keeps the order of the input.
 *
 * Memory: the window (twice what is in flight, and 64) of records with their ids; states are
 * mapped, not held.
 */
#ifndef E3_EXTRACT_RUN_H
#define E3_EXTRACT_RUN_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "extract/carry.h"
#include "extract/dumpdir.h"
#include "extract/index.h"
#include "extract/plan.h"
#include "extract/pool.h"
#include "extract/produce.h"
#include "http/http.h"
#include "io/flow.h"
#include "io/part.h"
#include "serve/capacity.h"
#include "serve/facts.h"
#include "serve/reply.h"
#include "json/rec.h"

enum item_state {
	READY,	 /* to be sent when its time has come (not_before) */
	FLYING,	 /* at a server */
	AT_WORK, /* in the pool */
	GOOD,	 /* written under a temporary name, waits for its turn */
	BAD,	 /* err says why */
};

#define BATCH_MOST  64
#define FAILS_LEAST 8 /* failures in a row that a run of little concurrency bears, too */

struct item {
	struct flow_held *held;
	struct flow_job *job;
	struct rec rec;
	enum item_state state;
	struct ints ids;
	struct buf mask; /* bytes 0 and 1 */
	uint64_t bytes;	 /* expected on disk; 0 while the hidden size is not known */
	/* the request */
	struct host *host;
	struct host *wrong_at; /* that did it wrong, or NULL */
	struct buf body;
	struct http_xfer *xfer; /* while FLYING */
	char rid[64];
	unsigned attempts; /* that counted */
	unsigned sent;
	uint64_t not_before;  /* ms */
	unsigned turned_away; /* by a busy server; no attempts */
	/* the reply and what was made of it */
	char file[256];	  /* in the dump directory; empty: none */
	struct buf reply; /* of sglang-json: the whole of it */
	struct span states;
	struct claim claim;
	struct product product;
	struct buf name;   /* of its file, once it is shown */
	struct plan *plan; /* of the first record: adopted by it, not yet by the run */
	int discard;	   /* only claim and remove the file; then the item is in state `after` */
	enum item_state after;
	int came;   /* the server's file was there, whole */
	int failed; /* of the work; err */
	struct err err;
};

struct host {
	char *url;
	struct serve_facts facts;
	struct serve_plan *plan;
	size_t running;
	uint64_t not_before; /* ms: it is down until then */
	uint64_t down_since; /* 0: it is up */
	struct err why;	     /* of it being down */
	unsigned pauses;     /* how often it was found down in a row */
	unsigned fails;	     /* answers in a row that were no good, */
	uint64_t failing_since;
	uint64_t last_good;
	uint64_t heard_at; /* an answer, or the first request since it had none */
	uint64_t received; /* bytes of what it runs, when that was last looked at */
	unsigned hung;	   /* times, since its last good answer */
	struct capacity capacity;
	int told_full;	/* that it turns requests away has been said */
	int dumped;	/* a file of this run has come from it */
	unsigned wrong; /* records in a row that another did right */
	int out;	/* nothing is sent to it any more */
};

/* What the input holds, where it is in files that can be read twice; records 0: not known. */
struct forecast {
	uint64_t records, tokens;
	int said, hours_said;
};

struct run {
	const struct extract_opts *o;
	struct plan plan;
	struct dumpdir *dump;
	struct flow *flow;
	struct part *part;
	struct http *http;
	struct pool *pool;
	struct host *host;
	size_t nhosts;
	int asked; /* they were, and are alike */
	int signals, out_lock;
	char mine[24]; /* how the ids of this set's requests begin, whatever run they are of */
	char tag[9];   /* makes them unique among runs */
	/* the window: item[(head + i) % cap], i < n */
	struct item **item;
	size_t head, n, cap;
	int input_ended;
	/* records whose files have their names, and not yet their lines */
	struct item *shown[BATCH_MOST];
	size_t nshown;
	uint64_t shown_at; /* ms: the first of them */
	struct folders folders;
	struct carry carry; /* rejects of the run that is gone on with */
	struct done_set done;
	struct hashset files; /* of the index that is gone on with */
	struct setinfo old;   /* of the set that is gone on with */
	int resuming;
	/* counts */
	uint64_t lines; /* of the index: the number of the next */
	uint64_t at_work, flying, sent;
	uint64_t made, tokens, bytes; /* of this run */
	uint64_t fails_in_row, good;
	double longest; /* seconds that a good answer took */
	struct forecast forecast;
	struct hints hints;
	uint64_t started;	    /* ms */
	struct timespec start_time; /* of the wall clock, for --sweep */
	/* how it ends */
	atomic_int stop; /* non-zero: nothing new is sent; 2: waiting threads give up too */
	int signal;
	int failed;
	struct err err;
};

int run_extract(const struct extract_opts *o); /* the exit status */

/* The first error that ends the run; nothing new is sent after it. Returns -1. */
int run_fail(struct run *r, const struct err *e);

/* Takes a signal that has come: -1 once there was one, which ends the run. */
int run_interrupted(void *run, struct err *e);

/* item.c: 1 one more in the window, 0 none now, -1. */
int item_next(struct run *r, struct err *e);
void item_free(struct item *it);
/* What one server did wrong another may do right; what two did wrong is the record's end. */
void item_bad(struct run *r, struct item *it, const struct err *e);
/* Whether it is the record's own fault: then a resumed run does not try it again. */
int item_permanent(const struct err *why);

/* host.c */
void hosts_open(struct run *r);
/* What they say of themselves, once, and whether they serve the set's model: before the first record
 * that is to be sent. A run that finds all done asks nobody. */
int hosts_ask(struct run *r, struct err *e);
void hosts_close(struct run *r);
struct host *host_choose(struct run *r, const struct item *it);
void host_down(struct host *h, const char *why);
uint64_t doubled(uint64_t ms, unsigned times, uint64_t most); /* a pause, after so many */
/* Lets go of those that hang, and of what they have. When all are gone for too long the run fails. */
void hosts_watch(struct run *r);
void host_is_full(struct host *h, const char *why);	       /* it turned one away */
void host_good(struct run *r, struct host *h, double seconds); /* that the answer took */
/* An answer that is no good. A server that always fails is free first, and would take most of what is
 * sent: after FAILS_LEAST in a row, while another serves, it is down. */
void host_fails(struct run *r, struct host *h, const char *why);
/* The item is made. A server that did FAILS_LEAST records wrong, one after the other, which another
 * did right, is sent nothing more: waiting would not mend it. */
void host_right(struct item *it);
void host_leave_out(struct host *h, const char *why);
int hosts_has_others(const struct run *r, const struct host *h); /* that work */
int64_t hosts_context(const struct run *r); /* the longest prompt that any server takes; -1 */

/* send.c */
void item_fail_run(struct run *r, struct item *it, const struct err *why); /* its server's fault */
int item_send(struct run *r, struct item *it, struct host *h, struct err *e);
void item_reply(struct run *r, struct http_done *d);
uint64_t items_received(const struct run *r, const struct host *h); /* bytes, of what it runs */
void items_recall(struct run *r, struct host *h); /* to be sent again; they pay nothing */

/* work.c: for the pool; and what the loop does with an item that came back */
void work_item(void *ctx, void *item);
void item_worked(struct run *r, struct item *it);

/* settle.c: the head of the window, as far as it is decided; and, at the end of a run that stops
 * early, whatever is decided. What is not is forgotten: a resumed run will send it. */
int settle(struct run *r, struct err *e);
int settle_rest(struct run *r, struct err *e);
/* Lines for all that has been shown; ms until that is due, or -1. */
int settle_shown(struct run *r, struct err *e);
int64_t settle_tick(const struct run *r);

/* redo.c: lines of the index that --redo lists leave it where their files are not good. */
int redo(struct run *r, struct err *e);

/* resume.c */
int resume_open(struct run *r, struct err *e);
/* Whether the record's file is there and holds these ids: 1, 0 not done, -1. */
int resume_done(struct run *r, const struct item *it, struct err *e);
/* Of an input that was read to its end: -1 where the index has lines that are none of its. */
int resume_ended(const struct run *r, struct err *e);

/* sweep.c */
int sweep_begin(struct run *r, struct err *e); /* names the run; the out-dir is there and locked */
/* While nothing is under way: deletes the files of this set's requests. */
int sweep_mine(struct run *r, struct err *e);
/* The same, and waits some seconds for those that are being written. */
int sweep_end(struct run *r, struct err *e);

/* disk.c */
void forecast_read(struct run *r);
void forecast_say(struct run *r);
/* Once, when the rate can be measured: how long the rest takes. */
void forecast_hours(struct run *r);
/* Whether this record may be sent now: 1, 0 later, -1 never (the run is to stop). */
int disk_room(struct run *r, const struct item *it, struct err *e);

#endif
