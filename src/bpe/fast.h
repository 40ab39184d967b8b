/* fast.h - from text to ids by way of the cache and the core
 *
 * Does what split.h and plain.h do one piece after the other, for a batch of pieces at a time and
 * step by step: where the pieces end and what their keys are, what the cache has, and what it has
 * not, so that in each step the memory of many pieces is on its way. */
#ifndef E3_BPE_FAST_H
#define E3_BPE_FAST_H

#include "base/buf.h"
#include "base/ints.h"
#include "bpe/cache.h"
#include "bpe/core.h"
#include "bpe/split.h"
#include "bpe/window.h"

/* Pieces at a time: enough to hide the way to memory and to have some misses together, few enough
 * that what is known of them stays in the first-level cache. */
#define FAST_BATCH 512

struct fast {
	const struct core *core;
	const struct split_rules *rules;
	window_fn *window;
	size_t batch; /* FAST_BATCH; for tests less, WINDOW at least */
	struct cache cache;
	struct core_work work;
	struct ints made; /* ids of the pieces that the cache had not */
};

void fast_init(struct fast *f, const struct core *core, const struct split_rules *rules);
void fast_free(struct fast *f);

/* Appends the ids of a text without added tokens, and to starts (may be NULL) their offsets. */
void fast_text(struct fast *f, struct span text, struct ints *ids, struct ints *starts);

#endif
