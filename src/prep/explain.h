/* explain.h - what became of one row, for --explain
 *
 * The whole input is read, since duplicates and the sample depend on the other rows; nothing is
 * written but the account.
 *
 * Memory, if duplicates are looked for or there is a sample: 32 bytes for each row that is no
 * duplicate, besides what pick.h says of duplicates. */
#ifndef E3_PREP_EXPLAIN_H
#define E3_PREP_EXPLAIN_H

#include <stdint.h>

#include "io/flow.h"
#include "prep/row.h"

struct prep_explain;

struct prep_explain *prep_explain_open(
    const struct prep_rules *rules, uint64_t row, int dedup, uint64_t sample);
/* Where the row's steps go; NULL for other rows. */
struct buf *prep_explain_trace(struct prep_explain *x, const struct flow_job *job);
int prep_explain_commit(struct prep_explain *x, struct flow_job *job);
/* -1: there is no such row, or it can't be printed. */
int prep_explain_print(struct prep_explain *x, struct err *e);
void prep_explain_close(struct prep_explain *x);

#endif
