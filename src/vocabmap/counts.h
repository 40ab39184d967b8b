/* counts.h - how often each token occurs
 *
 * One pair of counters for each id of the target's vocabulary. Counts of shards add up, so a set
 * may be counted in pieces and the pieces' files merged. The file is NDJSON, a head and then the
 * ids that occur, ascending:
 *
 *	{"target_vocab":163840,"records":88088,"supervised":123,"total":456}
 *	{"id":5,"supervised":7,"total":9}
 */
#ifndef E3_COUNTS_H
#define E3_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"

struct err;

struct count {
	uint64_t supervised, total;
};

struct counts {
	uint64_t vocab; /* ids are below this */
	uint64_t records, supervised, total;
	struct count *id; /* vocab of them; what counts_add took stands here after counts_fold */
	uint32_t *recent; /* of the others by id, then of the supervised by id: each dense, so that
			   * what occurs often stays in a processor's cache */
	uint64_t recent_n;
};

void counts_init(struct counts *c, uint64_t vocab);
void counts_free(struct counts *c);

/* A record's two arrays, and memory that is kept from one record to the next. */
struct counts_in {
	struct span ids, mask; /* JSON text; mask.p may be NULL where it is not needed */
	struct ints v;
	struct buf m;
};

/* Packs the tokens, id + vocab * mask, behind out: checks that the arrays are as long as one
 * another and that ids are below vocab. Without a mask, where it may be missing, nothing is
 * supervised. Classes "missing", "type", "range", "length", "empty". */
int counts_read(
    struct buf *out, struct counts_in *in, uint64_t vocab, int mask_optional, struct err *e);
void counts_in_free(struct counts_in *in);
/* Counts one record of packed tokens. */
void counts_add(struct counts *c, const struct buf *packed);
/* Adds what has been counted to `id`: before anybody looks there. */
void counts_fold(struct counts *c);

void counts_write(struct buf *out, const struct counts *c);
/* Adds a file's counts. With c->vocab 0 the file's own is taken and c initialised. */
int counts_merge(struct counts *c, const char *path, struct err *e);

#endif
