/* flow.h - what every filter does: records in, records out, and nothing lost between
 *
 * The one place where records are counted. Each input record leaves by exactly one verdict, and
 * flow_finish refuses to succeed unless
 *
 *	in = out + rejected + dropped + resumed
 *
 * A filter is a work function from one line to a verdict. flow_run reads the input in order, runs
 * work on -j threads, and commits the results in input order, so that the output does not depend on
 * the number of threads:
 *
 *	struct flow *f = flow_open("e3-prep", &opts.flow, &e);
 *	if (!f || flow_run(f, &ops, ctx, &e) < 0 || flow_finish(f, &e) < 0)
 *		...		(the caller then calls flow_abort(f) and prints e)
 *
 * Programs that drive a server or hold an index (infer, extract, merge) pull and settle themselves:
 * flow_next, then flow_admit where ids are to be unique or sharded, then flow_release for every
 * record they got, in any order. They may leave the output to themselves (flow_opt.own_output).
 *
 * Rejects. A verdict FLOW_REJECT with --rejects goes to that file: the line with the member
 *	"reject":{"program":P,"class":C,"reason":R,"file":F,"line":N}
 * appended where it is a JSON object (job.object), in place of one from before; else
 *	{"raw":TEXT,"reject":{...}}
 * or {"raw_base64":...} where it is not UTF-8 or too long. But for that older member every input
 * byte can be had back. Without
 * --rejects the first one ends the run with "FILE:LINE: REASON" and a word on --rejects, or with
 * "FILE: element N: REASON" where the file is an array ("line" is then that N); a file that begins
 * with an array or with a lone brace, which no program takes for lines, is told so instead. Over
 * --max-rejects the run fails. The file appears when the run ends, also when it fails.
 *
 * Statistics (--stats): one JSON object
 *	{"program","version","in","out","rejected","dropped","resumed","reasons":{CLASS:N},"written",
 *	 "counts":{NAME:N}, then what flow_stat and flow_stat_json added}
 * where reasons are those of rejects and drops together, and written is the number of output lines.
 *
 * flow_run, flow_next and flow_release are for one thread, or for commit; the threads of flow_run
 * are its own.
 *
 * Memory: the lines in flight and their output: at most 2 a thread and 2 batches, each of 256 KiB
 * or one longest line.
 */
#ifndef E3_FLOW_H
#define E3_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

/* The options that all filters share; flow_opts is their table for opt_prog.common. */
struct flow_opt {
	struct opt_list files;
	const char *output;   /* -o */
	int zstd;	      /* -z */
	uint64_t threads;     /* -j; 0: the processors this process may use */
	const char *rejects;  /* --rejects */
	uint64_t max_rejects; /* --max-rejects; FLOW_NO_LIMIT */
	const char *stats;    /* --stats */
	uint64_t max_line;    /* --max-line; 0: LINES_MAX_DEFAULT */
	int quiet;	      /* -q */
	int progress, no_progress;
	/* set by the program, not by the user: */
	int arrays;		/* an input may be a JSON array of records (lines.h) */
	int digests;		/* flow_files tells bytes and hashes */
	int own_output;		/* no -o handling here; flow_job.out is not used */
	int report;		/* -o is not the records again: it may not replace them either */
	int unique_ids;		/* a second record with the same job.id is rejected: "duplicate" */
	const char *shown;	/* the count that the summary tells beside out, or NULL */
	uint64_t batch;		/* records that a thread takes at once; 0: many, for short work */
	struct opt_shard shard; /* records of other shards are dropped: "shard" */
	/* Further files that it writes, "-" for standard output; and that it reads beside the
	 * records. */
	struct opt_list outputs, inputs;
	struct opt_list beside; /* flow_beside; to be freed */
};

#define FLOW_THREADS_MAX 1024
#define FLOW_NO_LIMIT	 UINT64_MAX
#define FLOW_OPT_DEFAULT                     \
	{                                    \
		.max_rejects = FLOW_NO_LIMIT \
	}

extern const struct opt flow_opts[];

enum flow_verdict {
	FLOW_NONE, /* not yet; leaving a record so is a bug that ends the run */
	FLOW_OUT,
	FLOW_REJECT, /* err says why */
	FLOW_DROP,   /* on request: too long, duplicate, nothing supervised; err.class says which */
	FLOW_RESUMED, /* found done by --resume */
	FLOW_HOLD,    /* the program keeps the record: flow_settle_held */
};

#define FLOW_COUNTS 24 /* different counters that one record may touch */
#define FLOW_USER   4

/* One record on its way. */
struct flow_job {
	/* from flow, for work to read */
	struct span line;
	const char *file;    /* as long as the flow */
	uint64_t number;     /* line in its file, from 1; of an array, the element */
	int element;	     /* the file is an array */
	uint64_t record;     /* records before it in the whole input */
	struct arena *arena; /* memory for this record, gone when work or commit returns; of a held
			      * record, when it is released */
	/* from work, for flow */
	enum flow_verdict verdict;
	int object;	  /* the line was found to be one whole JSON object */
	struct span id;	  /* in the line or the arena (flow keeps a copy); empty: none */
	struct err err;	  /* for FLOW_REJECT and FLOW_DROP */
	struct buf *out;  /* whole lines to write, for FLOW_OUT; empty when work begins */
	uint64_t written; /* how many lines that is; 0 with text in out means 1; without text, lines
			   * that the program wrote itself */
	struct {
		const char *name;
		uint64_t n;
	} count[FLOW_COUNTS];
	size_t ncount;
	uint64_t
	    user[FLOW_USER]; /* from work to commit: fingerprints, lengths; 0 when work begins */
	struct buf more;     /* flow_reject_more */
};

/* Adds n to a named counter of the statistics, should the record end as FLOW_OUT; behind flow_drop,
 * should it end so. The name is static. */
void flow_job_count(struct flow_job *job, const char *name, uint64_t n);

/* Short forms for the ends of a work function; each returns 0. flow_drop forgets the counters so
 * far. flow_reject takes its text from a format; where job->err was filled by a module, set the
 * verdict alone. */
int flow_reject(struct flow_job *job, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int flow_drop(struct flow_job *job, const char *class);

/* Adds to the reject object of a record, should it be rejected: JSON members, such as
 * "\"status\":500". */
void flow_reject_more(struct flow_job *job, const char *members);

struct flow_ops {
	/* One a thread, or NULL. */
	void *(*thread_open)(void *ctx, struct err *e);
	void (*thread_close)(void *ctx, void *thread);
	/* Many at once; must set job->verdict and return 0, or return -1 with job->err to end the
	 * run (a failure of the program, not of the record). */
	int (*work)(void *ctx, void *thread, struct flow_job *job);
	/* One at a time, in input order, before the record is counted and written, after the checks
	 * of shard and duplicate ids; may be NULL. May change the verdict. -1 with job->err ends the run.
	 * A line that is too long comes here without having been to work. */
	int (*commit)(void *ctx, struct flow_job *job);
};

struct flow;

/* Refuses, with class "usage", what would lose a file: an output that is named twice, or that is an
 * input; but -o, unless it is a report, may name one of the records' files. Refuses also outputs for
 * which no file can be made, before the run's work is done. flow_open begins with it; a program
 * that has much to do before calls it first. */
int flow_check(const struct flow_opt *opt, struct err *e);
/* Adds the name of a file that the program makes without being told to, such as FILE.part: no output
 * and no input may have it. */
void flow_beside(struct flow_opt *opt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct flow *flow_open(const char *program, const struct flow_opt *opt, struct err *e);
int flow_run(struct flow *f, const struct flow_ops *ops, void *ctx, struct err *e);

/* What commit has set to FLOW_HOLD, the program keeping what it needs of it: settles a job that the
 * caller has made, with file, number and verdict; for a reject line, object and err, for a drop
 * err.class, for output out or written, and counts. In any order, in commit or before flow_finish. */
int flow_settle_held(struct flow *f, struct flow_job *job, struct err *e);

/* By hand: 1 a record, with a copy of its line, 0 the end, -1. Lines that are too long are settled
 * inside. */
struct flow_held;
int flow_next(struct flow *f, struct flow_held **out, struct err *e);
struct flow_job *flow_held_job(struct flow_held *h);
/* Settles it as its job says, and frees it: every one, in any order, before flow_finish. */
int flow_release(struct flow *f, struct flow_held *h, struct err *e);
/* Frees it without a verdict: for a run that ends early, before flow_abort. */
void flow_forget(struct flow_held *h);
/* Whether there is a whole line to read, or the end: flow_next will not wait. */
int flow_ready(const struct flow *f);
/* The checks of shard and duplicate ids, by job->id; for records that came from flow_next. 1: the
 * record goes on; 0: it is to be released, its verdict is set. A record without an id is of the
 * shard of its line's hash, so that one shard rejects it. */
int flow_admit(struct flow *f, struct flow_job *job);

/* What was read of each input; bytes and hashes only with flow_opt.digests, whole when the input is
 * at its end. */
struct lines_file;
const struct lines_file *flow_files(const struct flow *f, size_t *n);

/* Adds a member to the statistics: a number, or JSON text. A name given again replaces. */
void flow_stat(struct flow *f, const char *name, uint64_t n);
void flow_stat_json(struct flow *f, const char *name, const char *json);

/* Counts so far, for progress lines and checks. */
struct flow_totals {
	uint64_t in, out, rejected, dropped, resumed, written;
	uint64_t held; /* given out and not yet released */
};
struct flow_totals flow_totals(const struct flow *f);
/* What the summary line says behind the program's name. */
void flow_summary_text(struct buf *to, const struct flow *f);
/* Records that were dropped for a reason: flow_drop's class. */
uint64_t flow_dropped(const struct flow *f, const char *class);

/* Whether this value of a member "reject" is what a run that refused the record wrote: an object that
 * begins with "program". A record may have a member of its own of that name. */
int flow_is_reject(struct span v);

/* Checks the sum, publishes rejects, statistics and output, in this order, and prints the summary
 * line (unless -q). Frees f on success; on -1 the caller calls flow_abort. */
int flow_finish(struct flow *f, struct err *e);
/* No output appears; the rejects so far do. Held records may be left; they are lost to memory, not
 * to the input. NULL is allowed. */
void flow_abort(struct flow *f);

#endif
