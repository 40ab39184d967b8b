/* map.h - which tokens of the target the drafter can say
 *
 * The rule, for every trainer's layout (that of speculators' vocab_mapping.py; it depends on no
 * order of records): ids by falling count, equal counts by rising id, so that ids which never occur
 * fill up from 0; the first N of them, ascending, are the draft vocabulary. Forced ids come before
 * all others.
 *
 *	d2t[i]	int64 [N], an offset: draft id i means target id i + d2t[i]
 *	t2d[t]	bool [V], whether target id t is in the draft vocabulary
 */
#ifndef E3_MAP_H
#define E3_MAP_H

#include <stdint.h>

#include "vocabmap/counts.h"

struct ranking {
	uint64_t vocab;
	uint32_t *id; /* every id of the target's vocabulary, the best first */
	uint64_t forced;
};

/* forced: ids in any order, repetitions allowed, each below the vocabulary. */
struct ints;
void ranking_make(
    struct ranking *r, const struct counts *c, int count_all, const struct ints *forced);
void ranking_free(struct ranking *r);

struct map {
	uint64_t draft, target;
	int64_t *d2t;
	unsigned char *t2d;
};

/* 0 < draft <= target, at least r->forced. */
void map_make(struct map *m, const struct ranking *r, uint64_t draft);
/* What must hold before anything is written: class "internal". */
int map_check(const struct map *m, struct err *e);
void map_free(struct map *m);

/* Tokens that the first n ids of the ranking cover. */
struct count ranking_covered(const struct ranking *r, const struct counts *c, uint64_t n);

#endif
