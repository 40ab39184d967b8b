/* produce.h - from a capture, or a file of another layout, to a new file under a temporary name
 *
 * Everything is checked before anything is written: ids, rows, layers, dtype (by the backend and
 * the plan), then every value (states.h). produce_show gives the file its name; until then it is
 * OUT_DIR/.new-<number>.<end>, which a later run removes. */
#ifndef E3_PRODUCE_H
#define E3_PRODUCE_H

#include "extract/folders.h"
#include "extract/hints.h"
#include "extract/plan.h"
#include "tensor/save.h"

struct product {
	struct buf temporary; /* path; empty: nothing was written */
	struct save_sum sum;
	struct look look; /* of the states as they came */
};

/* number: unique among the products at hand. The sample's layers need no numbers yet. Classes of
 * states_check; "system" where the disk refuses. */
int produce(
    struct product *out, const struct plan *p, struct sample *s, uint64_t number, struct err *e);
/* Renames it to OUT_DIR/name, whose folder is made, and adds that to those to be synced. */
int produce_show(
    struct product *out, const char *out_dir, const char *name, struct folders *f, struct err *e);
void produce_drop(struct product *out); /* removes a temporary file that was not shown; frees */

/* Removes the temporary files of a run that has ended; the folder may be missing. */
void produce_sweep(const char *out_dir);

#endif
