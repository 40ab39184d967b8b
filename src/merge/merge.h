/* merge.h - many tokenised files into one set
 *
 * Two passes over the records, both sequential. The first (gather.c) reads the inputs on all
 * threads, rejects and drops what can be told from a record alone, notes 48 bytes of each in the
 * index, and puts its line into the spool, into the part that its key falls in. The index then
 * decides on duplicates, caps and weights. The second pass (emit.c) takes the parts in order, sorts
 * each in memory and writes what was kept.
 *
 * The order is that of (hash of the id with the seed, another hash of the id, hash of the line):
 * nothing else. With --no-shuffle it is the input's, and the parts are stretches of it; the choices
 * are the same. */
#ifndef E3_MERGE_MERGE_H
#define E3_MERGE_MERGE_H

#include "io/out.h"
#include "merge/datasets.h"
#include "merge/index.h"
#include "merge/manifest.h"
#include "merge/plan.h"
#include "merge/set.h"
#include "merge/spool.h"

struct merge {
	const struct merge_opts *o;
	const struct plan *plan;
	struct flow *flow;
	struct datasets datasets;
	struct index *index;
	struct spool *spool;
	uint32_t records;  /* in the index and the spool */
	size_t parts;	   /* of a shuffled order: a power of two */
	uint64_t gathered; /* bytes, for the parts of an order that is not */
	const char **file; /* names of the inputs, by number */
	size_t nfiles, cfiles;
	uint8_t *verdict; /* enum choice, by record */
	struct set *set;  /* the main output's, then the splits' */
	struct out **out; /* the splits' */
};

int merge_gather(struct merge *m, struct err *e);
int merge_emit(struct merge *m, struct err *e);

/* The whole program: inputs to outputs and manifest. */
int merge_run(const struct merge_opts *o, const struct plan *plan, struct err *e);

/* --check: holds the manifest's outputs, or the files named instead, against it. Adds a line to
 * `differences` for each thing that differs. */
int merge_check(const struct merge_opts *o, struct buf *differences, struct err *e);

#endif
