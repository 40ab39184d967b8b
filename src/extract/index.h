/* index.h - the index record, a line for each file:
 *
 *	{"id":"A/1","file":"rows_0-2000/data_1.ckpt","seq_len":512,"bytes":123,"xxh64":"0123456789abcdef"}
 *
 * and behind these whatever --keep carried over. file is relative to the out-dir. */
#ifndef E3_INDEX_H
#define E3_INDEX_H

#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/opt.h"
#include "io/flow.h"
#include "json/rec.h"

struct err;

struct index_line {
	struct buf id, file; /* decoded */
	uint64_t seq_len, bytes, xxh64;
};

/* Without a line feed. `from` may be NULL; members of `keep` that it lacks are left out. */
void index_write(struct buf *out, const struct index_line *l, const struct rec *from,
    const struct opt_list *keep);
/* Class "missing", "type", "index". A file that leaves the out-dir is refused. */
int index_read(struct index_line *l, const struct rec *r, struct err *e);
void index_free(struct index_line *l);

/* For programs that read an index as a flow does: what a thread of it needs (flow_ops), and the
 * beginning of its work, which sets the job's id, or its verdict to a reject and returns -1. */
struct index_thread {
	struct rec rec;
	struct index_line line;
};
void *index_thread_open(void *ctx, struct err *e);
void index_thread_close(void *ctx, void *thread);
int index_job(struct index_thread *t, struct flow_job *job);

/* Whether a name for --keep is one of the index record's own. */
int index_member(const char *name);

/* Records that are done, by id: 32 bytes and the file's name each. */
struct done {
	struct hash128 id;
	char *file;
	int met; /* in this run's input; for the caller */
};
struct done_set {
	struct done *v; /* open addressing; file NULL: free */
	size_t n, cap;
};
int done_add(struct done_set *s, const struct index_line *l); /* 0: the id was there */
struct done *done_find(const struct done_set *s, struct span id);
void done_free(struct done_set *s);

#endif
