/* pick.h - which of the converted rows go on: duplicates out, and a sample
 *
 * Duplicates: the first of equal rows stays; texts are equal as characters, calls and tools as they
 * are spelled in the record. Sample: the N rows with the smallest keyed hashes of their converted
 * conversation, so that it depends neither on the order of the rows nor on their spelling; of equal
 * ones the earlier. What is in the sample is known only at the end, so the records wait in an
 * unnamed temporary file ($TMPDIR, else /tmp) and leave in input order.
 *
 * Memory: up to 64 bytes for each row that is no duplicate, if duplicates are looked for (43, but 64
 * while the table grows); up to 48 bytes for each row of the sample. */
#ifndef E3_PREP_PICK_H
#define E3_PREP_PICK_H

#include <stdint.h>

#include "io/flow.h"

struct prep_pick;

/* sample 0: no sample. NULL where the temporary file can't be made. */
struct prep_pick *prep_pick_open(int dedup, uint64_t sample, struct err *e);
/* From commit, for a job whose verdict is FLOW_OUT. */
int prep_pick_take(struct prep_pick *p, struct flow *f, struct flow_job *job);
/* Behind flow_run: releases the sample. */
int prep_pick_finish(struct prep_pick *p, struct flow *f, struct err *e);
void prep_pick_close(struct prep_pick *p);

/* What work leaves for commit in job->user. */
enum { PREP_USER_HI, PREP_USER_LO, PREP_USER_KEY, PREP_USER_FORMAT };

#endif
