/* plain.h - merging a piece into tokens, done the plain way
 *
 * The rule of vocab.h as it is written, with no cache and no cleverness: the yardstick that
 * everything faster is measured against. plain_merge_linear looks through all pairs for each merge;
 * plain_merge_heap keeps them in a heap, n log n, for pieces of any length. */
#ifndef E3_BPE_PLAIN_H
#define E3_BPE_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/ints.h"

struct vocab;

/* One symbol of a piece. */
struct plain_part {
	int32_t id, order, merged; /* order and result of its merge with the next one */
	uint32_t at, next, prev;   /* where it begins; its neighbours */
};

struct plain_try {
	int32_t order;
	uint32_t part, left_end, right_end; /* it is stale unless both parts still end there */
};

/* Scratch of one thread. */
struct plain {
	struct plain_part *part;
	size_t part_cap;
	struct plain_try *heap;
	size_t n, heap_cap;
};

void plain_free(struct plain *w);

/* Appends the tokens of the piece p[0..n), n < 2^31, and to starts (may be NULL) their offsets in
 * it. A byte without a token, which the list of merges allows, gives none. */
void plain_piece(const struct vocab *v, struct plain *w, const char *p, size_t n, struct ints *ids,
    struct ints *starts);

/* The same without the shortcut for whole pieces, by one or the other method. */
void plain_merge_linear(const struct vocab *v, struct plain *w, const char *p, size_t n,
    struct ints *ids, struct ints *starts);
void plain_merge_heap(const struct vocab *v, struct plain *w, const char *p, size_t n,
    struct ints *ids, struct ints *starts);

#endif
