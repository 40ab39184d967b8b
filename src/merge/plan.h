/* plan.h - what the command line asks for, beyond single numbers
 *
 *	--cap DATASET=N, --mix DATASET=W	numbers for datasets
 *	--split NAME=FRACTION:FILE		a share of the conversations goes to FILE
 *
 * The side of a conversation is a function of its id alone, not of --seed: what was held out for
 * one epoch's order is held out for all. */
#ifndef E3_MERGE_PLAN_H
#define E3_MERGE_PLAN_H

#include "base/buf.h"
#include "io/flow.h"

/* Which records are the same. */
enum dedup { DEDUP_NONE, DEDUP_ID, DEDUP_IDS, DEDUP_PROMPT };
#define DEDUP_WORDS "none|id|ids|prompt"

struct merge_opts {
	struct flow_opt flow;
	uint64_t seed, min_len, max_len, min_response, memory;
	int no_shuffle, dedup;
	struct opt_list cap, mix, split;
	const char *manifest, *check, *tmp_dir;
};

struct quota {
	struct span dataset;
	double number;
};

struct split {
	struct span name;
	double fraction;
	const char *file;
};

struct plan {
	struct quota *cap, *mix;
	size_t ncap, nmix;
	struct split *split;
	size_t nsplit;
};

/* -1 is misuse. Borrows from the options. */
int plan_make(struct plan *p, const struct merge_opts *o, struct err *e);
/* 0: the main output; k: split[k - 1]. */
size_t plan_side(const struct plan *p, struct span conversation);
void plan_free(struct plan *p);

#endif
