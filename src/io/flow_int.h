/* flow_int.h - what the parts of flow share; private to them
 *
 *	flow.c		options, opening, the end
 *	flow_run.c	batches of lines on threads
 *	flow_hold.c	records that outlive their turn
 *	flow_settle.c	the one place where a verdict is counted and written
 *	flow_reject.c	the text of a reject
 *	flow_stat.c	counters, the summary line, --stats
 */
#ifndef E3_FLOW_INT_H
#define E3_FLOW_INT_H

#include "base/hash.h"
#include "base/progress.h"
#include "io/flow.h"
#include "io/lines.h"
#include "io/out.h"

/* Named numbers, in the order of their first appearance. Names are copied. */
struct tally {
	struct tally_row {
		char *name;
		uint64_t n;
	} * row;
	size_t n, cap;
};

void tally_add(struct tally *t, const char *name, uint64_t n);
void tally_free(struct tally *t);

struct extra {
	char *name, *json;
};

struct flow {
	char *program;
	struct flow_opt opt;
	struct lines *lines;
	struct out *out, *rejects;
	struct hashset ids;
	uint64_t read; /* records that came from lines; the reader's alone while threads run */
	struct flow_totals t;
	struct tally rejected, dropped, counts;
	struct extra *extra;
	size_t nextra, cextra;
	struct buf text; /* of the reject at hand */
	struct progress *progress;
};

/* Before the job's line is lost: counts it, writes its output or its reject. Uses only what commit
 * may use. */
int flow_settle(struct flow *f, const struct flow_job *job, struct err *e);
/* A line of which lines holds only the beginning: its job, a reject but for other shards; and what
 * settles it, handing all of a reject's line to the rejects. */
struct flow_job flow_long_job(const struct flow *f, const struct line *line);
int flow_settle_long(
    struct flow *f, const struct line *line, const struct flow_job *job, struct err *e);
/* Fails the run with the place before job->err. */
int flow_fail(const struct flow_job *job, struct err *e);

/* The reject's line, with its LF, into to. */
void reject_text(struct buf *to, const char *program, const struct flow_job *job);
/* `"reject":{...}}` and LF */
void reject_end(struct buf *to, const char *program, const struct flow_job *job);

void flow_stats_text(struct buf *to, const struct flow *f);
void flow_progress_show(struct flow *f);

#endif
