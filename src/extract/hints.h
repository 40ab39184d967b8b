/* hints.h - what looks wrong and can't be proved: warnings, each once a run
 *
 * - A layer whose rows are much smaller than the layer's before it: states mostly grow with depth,
 * so the layers may have come in another order or be others than was said.
 * - The last state after the norm has rows of nearly equal size, before it they differ; the other
 *   way round, --norm may be wrong.
 *
 * Judged over the first HINT_RECORDS records of at least HINT_TOKENS tokens. Row 0 is left out: it
 * is huge in many models. */
#ifndef E3_EXTRACT_HINTS_H
#define E3_EXTRACT_HINTS_H

#include "extract/plan.h"

#define HINT_RECORDS 8
#define HINT_TOKENS  16

/* Of one record: mean size of a row by slot, and the smallest and largest of the last one. */
struct look {
	size_t rows;
	double rms[STATES_SLOTS];
	double last_min, last_max;
};
void look_at(struct look *l, const struct states *s);

struct hints {
	unsigned records;
	double rms[STATES_SLOTS];
	double spread; /* sum of largest / smallest */
};
/* Takes a record's look; says what there is to say when there are enough. */
void hints_add(struct hints *h, const struct plan *p, const struct look *l);

#endif
