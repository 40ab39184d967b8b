/* records.h - the tokenised records that a set was made from, to hold its files against
 *
 * For each id: a fingerprint of the ids, their number, and the mask, a bit a token. Memory: some 70
 * bytes a record and n / 8 for its mask. */
#ifndef E3_RECORDS_H
#define E3_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

struct err;

struct record {
	struct hash128 id, ids;
	size_t n;
	unsigned char *mask; /* bit i % 8 of byte i / 8 */
};

struct records {
	struct record *v; /* open addressing; mask NULL: free */
	size_t n, cap;
	/* Those that get no file: bad ones and those with the id of one before, which are not here,
	 * and those without a supervised token, which are. */
	uint64_t bad, unsupervised;
	struct arena arena;
};

/* An error where none is good. */
int records_load(struct records *s, const char *path, struct err *e);
const struct record *records_find(const struct records *s, struct span id);
int record_mask(const struct record *r, size_t i);
/* Whether these are the record's ids. */
int record_same_ids(const struct record *r, const int64_t *ids, size_t n);
void records_free(struct records *s);

#endif
