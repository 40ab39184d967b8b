/* fast.h - from text to ids by way of the cache and the core
 *
 * Does what split.h and plain.h do one piece after the other, for many pieces at a time, so that
 * the cache's memory is on its way while keys are still made. */
#ifndef E3_BPE_FAST_H
#define E3_BPE_FAST_H

#include "base/buf.h"
#include "base/ints.h"
#include "bpe/cache.h"
#include "bpe/core.h"
#include "bpe/split.h"
#include "bpe/window.h"

struct fast {
	const struct core *core;
	const struct split_rules *rules;
	ascii_fn *classify;
	struct cache cache;
	struct core_work work;
};

void fast_init(struct fast *f, const struct core *core, const struct split_rules *rules);
void fast_free(struct fast *f);

/* Appends the ids of a text without added tokens, and to starts (may be NULL) their offsets. */
void fast_text(struct fast *f, struct span text, struct ints *ids, struct ints *starts);

#endif
