/* states.h - hidden states of one record, and whether they are any good
 *
 * A record's states are `nslots` layers of [rows, hidden], wherever each lies: slot k, row r is
 * `hidden` elements at slot[k].p + r * slot[k].stride. Aux layers come first, ascending, then the
 * last state where there is one. All formats are read into this and written from it, with no copy.
 *
 *	vLLM's [S, K, H]:	K slots in one tensor, stride K * H * size
 *	a trainer's [S, A*H] and [S, H]: A slots in the one, one in the other
 */
#ifndef E3_STATES_H
#define E3_STATES_H

#include <stddef.h>

#include "tensor/tensor.h"

#define STATES_SLOTS TENSOR_PARTS

struct states_slot {
	const char *p;
	size_t stride;
	int layer; /* for messages; STATES_LAST for the last state */
};

enum { STATES_LAST = -1, STATES_NONE = -2 }; /* no number of a layer */

struct states {
	enum dtype dtype; /* bf16, f16 or f32 */
	size_t rows, hidden;
	unsigned nslots;
	struct states_slot slot[STATES_SLOTS];
};

/* Appends the k slots that t, of contiguous bytes, holds as [rows, k, H], [rows, k * H] or
 * [1, rows, k * H]. The caller has set `rows`, the number of ids; `hidden`, where it is not known,
 * is 0 and set by the first call. Errors: class "rows" (not one row an id), "layers" (another
 * number of slots or another width than k * hidden), "dtype", "shape". The layers of the new slots
 * are 0, to be set. */
int states_add(struct states *s, const struct tensor *t, unsigned k, struct err *e);

/* Slots [first, first + n) side by side: a tensor [rows, n * hidden]; the caller may add axes. */
struct tensor states_tensor(const struct states *s, const char *name, unsigned first, unsigned n);

/* One pass. Errors, with layer and row in the message: class "nonfinite" (NaN or Inf), "zero" (a
 * row whose elements are all 0), "constant" (all rows of a slot equal bit for bit; not for one row,
 * nor for the layer `embedding`, or STATES_NONE), "twice" (two slots equal bit
 * for bit in all rows). */
int states_check(const struct states *s, int embedding, struct err *e);

/* Root mean square of one row: what the hints about norm and depth are made of. */
double states_rms(const struct states *s, unsigned slot, size_t row);

#endif
