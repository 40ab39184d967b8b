/* core_int.h - the tables of core.h (private to core*.c) */
#ifndef E3_BPE_CORE_INT_H
#define E3_BPE_CORE_INT_H

#include "bpe/core.h"
#include "bpe/vocab.h"

#define NO_MERGE INT32_MAX

enum {
	ORDER_BYTE = -1,       /* a single byte: there is no merge to undo */
	ORDER_UNKNOWN = -2,    /* no text becomes it by merging */
	FILTER_BITS = 1 << 23, /* 1 MiB: stays in the second-level cache */
};

struct core_token {
	int32_t order;	     /* of the merge that makes it from its own bytes, or ORDER_ */
	int32_t left, right; /* the halves of that merge */
	int32_t prefix;	     /* the longest token that it begins with, or -1 */
	uint32_t len;
};

/* A double-array trie of the tokens that merging can make: the child of state s for byte c is
 * base[s] + c, if check of that is s. State 0 is the root. */
struct core_state {
	uint32_t base, check;
	int32_t token; /* -1: no token ends here */
};

/* The merge that makes a token from its own bytes. A token may have other merges, but their halves
 * never come to stand side by side: what merging does inside a token's bytes does not depend on
 * what is around them, until it reaches across their ends. */
struct core_pair {
	int32_t left, right; /* left is -1 in an empty slot */
	int32_t order;
};

struct core {
	const struct vocab *vocab;
	struct core_token *token; /* by id */
	struct core_state *state;
	size_t states; /* with 256 unused ones at the end, so that base + c is always inside */
	struct core_pair *pair; /* open addressing, at least half of it empty */
	size_t pair_slots;
	uint64_t *filter; /* bit of a pair's hash: not set, no such pair */
	int mapped;	  /* the tables belong to store.h */
	int unmade;	  /* there are tokens that only a whole piece becomes */
};

/* Whether merging leaves the pair (a, b) apart up to `limit`, which is NO_MERGE or an order. */
int core_compatible(const struct core *c, int32_t a, int32_t b, int32_t limit);
void core_add_pair(struct core *c, struct core_pair x);

/* A token and its bytes, for sorting by them. */
struct core_named {
	struct span s;
	int32_t id;
};

/* Fills c->state from the tokens that merging can make, sorted by their bytes, and their prefix. */
void core_build_trie(struct core *c, const struct core_named *sorted, size_t n);

#endif
