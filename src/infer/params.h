/* params.h - what infer_key covers beside the record: all that shapes an answer
 *
 * The sampling stands in each generation, and is compared as text when a run is resumed. The other
 * options are in the key only: which of them an earlier run had is found by trying them.
 */
#ifndef E3_INFER_PARAMS_H
#define E3_INFER_PARAMS_H

#include "base/buf.h"

struct item;
struct run;

/* The run's own. */
void params_write(struct buf *out, const struct run *r);
/* Appends the options with which an earlier run answered a record of this id; nothing where it was
 * another record, or another template or --date, or --model where this run has none. */
void params_difference(struct buf *out, const struct run *r, const struct item *it);

#endif
