/* vocab.h - the tokens of a model and how pieces become them, as the folder gives them
 *
 * Two rules of merging, both from single bytes up, always the best pair, leftmost on ties:
 *	VOCAB_RANKS   tiktoken: two neighbours merge when their concatenation is a token; the lower
 *		      rank is the better one. The rank is the id.
 *	VOCAB_MERGES  Hugging Face: two neighbours merge when their pair is in the list of merges;
 *		      the earlier is the better one.
 * and `whole`: a piece that is a token is that token, before any merging.
 *
 * Built by vocab_put in any order of ids, vocab_finish, vocab_merge and vocab_name; read-only
 * after. */
#ifndef E3_BPE_VOCAB_H
#define E3_BPE_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

enum vocab_rule { VOCAB_RANKS, VOCAB_MERGES };

struct vocab_pair {
	int32_t left, right; /* left is -1 in an empty slot */
	int32_t order, id;   /* the lower order merges first */
};

enum {
	TOKEN_TEXT = 1,	 /* pieces of text become it; else it only has a name */
	TOKEN_ADDED = 2, /* it is an added token */
};

struct vocab_entry {
	int32_t id;
	uint32_t at, n; /* its bytes */
	unsigned kind;	/* TOKEN_ bits */
};

struct vocab {
	enum vocab_rule rule;
	int whole;
	struct buf bytes;
	struct vocab_entry *entry; /* by id after vocab_finish; n = 0: no token */
	size_t n, cap;
	int32_t *slot; /* open addressing by the hash of the bytes; -1 is empty */
	size_t slots;
	struct vocab_pair *pair;  /* open addressing by the pair */
	size_t pairs, pair_slots; /* at least half of them empty */
	int mapped;		  /* slot belongs to store.h */
	int32_t byte[256];	  /* the token of each byte, or -1 */
};

#define VOCAB_MAX_ID (1 << 24)
#define VOCAB_HOLES  (1 << 16)

/* Class "vocab" on an id above VOCAB_MAX_ID. */
int vocab_put(struct vocab *v, struct vocab_entry x, const char *p, struct err *e);
/* Class "vocab" where an id or a token stands twice, or ids have more holes than tokens by
 * VOCAB_HOLES: tables are as long as the highest id. */
int vocab_finish(struct vocab *v, struct err *e);
/* An added token: a name for an id, which may be a token already. */
int vocab_name(struct vocab *v, int32_t id, struct span name, struct err *e);
/* A merge of the tokens both[0..left) and both[left..n); a later one replaces an earlier one of the
 * same pair. Class "vocab" when one of the three is no token. */
int vocab_merge(struct vocab *v, struct span both, size_t left, int32_t order, struct err *e);
void vocab_free(struct vocab *v);

/* The token with these bytes, or -1. */
int32_t vocab_find(const struct vocab *v, const char *p, size_t n);
/* What the pair merges to by the list, or NULL. */
const struct vocab_pair *vocab_find_pair(const struct vocab *v, int32_t left, int32_t right);
struct span vocab_bytes(const struct vocab *v, int32_t id); /* p NULL: none */

#endif
