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

/* drift.c: per dataset, how often re-encoding differs. Threads may add at once. */
struct drift;
struct drift_counts {
	uint64_t records, answers, prompts; /* records with generations; what differed in them */
};
struct drift *drift_open(void);
void drift_add(struct drift *d, struct span dataset, struct drift_counts n);
/* {"DATASET":{"records":N,"answers":N,"prompts":N},...}, by name. */
void drift_json(struct drift *d, struct buf *out);
void drift_text(struct drift *d, struct buf *out); /* for a person: one line a dataset */
void drift_close(struct drift *d);		   /* NULL is allowed */

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

/* show.c: a sequence as a person reads it. */
struct show {
	const struct bpe *bpe;
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
