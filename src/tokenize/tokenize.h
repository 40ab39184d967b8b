/* tokenize.h - the parts of e3-tokenize */
#ifndef E3_TOKENIZE_H
#define E3_TOKENIZE_H

#include "base/opt.h"
#include "chat/chat.h"
#include "io/flow.h"

enum on_long { LONG_DROP, LONG_TRUNCATE };
enum bad_utf8 { UTF8_ERROR, UTF8_REPLACE };

struct tok_opts {
	struct flow_opt flow;
	struct opt_list keep;
	const char *model, *template, *date;
	int served_by, mask, on_long, bad_utf8;
	int last_turn_only, extend_left, check_drift, no_special_in_content, hf_compat;
	uint64_t max_len; /* 0: any */
	int show, no_cache;
	/* plain text */
	int text, whole, count, pieces, decode;
};

/* drift.c: how often re-encoding differs, of the records that are written, for each dataset; those
 * whose names come after the first DRIFT_ROWS share a row. */
#define DRIFT_ROWS 100
struct drift;
struct drift *drift_open(void);
/* From work, when all of the output is made: what drift_add takes, in job->out too. */
void drift_note(struct flow_job *job, struct span dataset, const struct chat_turns *turns);
void drift_add(struct drift *d, struct flow_job *job); /* from commit */
/* Statistics "drift":{"DATASET":{"records":N,"answers":N,"prompts":N},...}, by name. */
void drift_stat(struct drift *d, struct flow *f);
/* For a person, after drift_stat: the k-th dataset's line, cleaned as an error is, since a record's
 * words may not write to a terminal; 0: there are no more. */
int drift_line(const struct drift *d, size_t k, struct err *line);
void drift_close(struct drift *d); /* NULL is allowed */

/* record.c: what the work on records shares, and one thread's part of it. */
struct tok {
	const struct tok_opts *opt;
	struct chat *chat;
	struct drift *drift; /* NULL: not asked for */
	int colour;	     /* --show to a terminal */
};
void *tok_thread_open(void *tok, struct err *e);
void tok_thread_close(void *tok, void *thread);
int tok_work(void *tok, void *thread, struct flow_job *job);
int tok_commit(void *tok, struct flow_job *job);

/* show.c: a sequence as a person reads it. */
struct show {
	const struct chat *chat;
	struct span name; /* id */
	const int32_t *ids;
	const uint8_t *mask;
	size_t n;
	int colour;
};
int show(struct buf *out, const struct show *s, struct err *e);

/* text.c: plain text to ids and back; all of the program but its command line. */
int tok_text(const struct tok_opts *o, struct err *e);

#endif
