/* index.h - which records go on: 48 bytes a record, no record
 *
 * All choices are made in the order of (key, id, line), which is a function of the records alone:
 * key and id are two hashes of the record's id, key with the user's seed; line is a hash of its
 * bytes. So they do not depend on how the input was cut into files, nor on its order.
 *
 *	index_add() for every record, in input order
 *	verdict = index_decide()	one byte a record, by its number
 *
 * In that order, of records with the same id the first stays; then of those with the same content
 * (if asked for); then of each dataset the first `cap`; then of the weighted datasets the largest
 * numbers that have the weights' proportions: n = floor(w * min(available / w)).
 *
 * Memory: up to 72 bytes a record while it grows, and at the end one more, or 13 with a dedup by
 * content. */
#ifndef E3_MERGE_INDEX_H
#define E3_MERGE_INDEX_H

#include <stdint.h>

#include "base/hash.h"

struct err;
struct index;

struct entry {
	uint64_t key, id, line;
	struct hash128 content;
	uint32_t record; /* its number among those added, from 0 */
	uint16_t dataset;
};

/* What decides between two records, of entries and of what is kept elsewhere. */
struct rank {
	uint64_t key, id, line;
	uint32_t record;
};
int rank_order(const struct rank *a, const struct rank *b); /* as for qsort */

enum choice { CHOICE_KEEP, CHOICE_SAME_ID, CHOICE_SAME_CONTENT, CHOICE_CAP, CHOICE_MIX };

struct limits {
	int by_content;	      /* records with the same content are the same */
	const uint64_t *cap;  /* by dataset; UINT64_MAX: none */
	const double *weight; /* by dataset; negative: none */
	uint16_t datasets;
};

struct index *index_open(void);
void index_add(struct index *x, const struct entry *entry);
/* An array of enum choice, one a record, to be freed; NULL when the weights can't be met: a dataset
 * that has one has no record left (*empty is its number). Gives back the entries' memory. */
uint8_t *index_decide(struct index *x, const struct limits *limits, uint16_t *empty);
void index_close(struct index *x);

#endif
