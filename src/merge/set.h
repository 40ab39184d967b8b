/* set.h - what is told of a set of records: counts, tokens, lengths, by dataset, and a hash */
#ifndef E3_MERGE_SET_H
#define E3_MERGE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

struct set_counts {
	uint64_t records, tokens, response;
};

#define SET_BINS 33 /* records of 0 tokens, of 1, of 2 and 3, of 4 to 7 ... */

struct set {
	struct set_counts all;
	struct set_counts *dataset; /* by number */
	size_t ndatasets, cap;
	uint32_t shortest, longest;
	uint64_t bin[SET_BINS];
	uint64_t bytes;
	struct hash64_state *hash;
};

void set_init(struct set *s, int hash); /* without hash, s->hash is NULL */
/* line: with its LF. */
void set_add(struct set *s, uint16_t dataset, uint32_t tokens, uint32_t response, struct span line);
/* The records that have a length below the bin's end; the last bin's end is 2^32. */
uint64_t set_bin_end(size_t bin);
void set_free(struct set *s);

#endif
