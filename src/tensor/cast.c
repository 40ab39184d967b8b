#include "tensor/cast.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "tensor/half.h"

struct overflow {
	uint64_t n;
	unsigned slot; /* of the first */
	size_t row;
};

static void cast_row(
    char *out, enum dtype to, const char *in, const struct states *s, uint64_t *over)
{
	size_t from_size = dtypes[s->dtype].size, to_size = dtypes[to].size;

	for (size_t i = 0; i < s->hidden; i++) {
		float x = half_load(s->dtype, in + i * from_size);

		half_store(to, out + i * to_size, x);
		*over += isfinite(x) && !isfinite(half_load(to, out + i * to_size));
	}
}

char *states_cast(struct states *s, enum dtype to, struct err *e)
{
	size_t row = s->hidden * dtypes[to].size;
	char *own = xreallocarray(NULL, s->nslots * s->rows + 1, row);
	struct overflow o = {0};

	for (unsigned k = 0; k < s->nslots; k++)
		for (size_t r = 0; r < s->rows; r++) {
			uint64_t over = 0;

			cast_row(own + (k * s->rows + r) * row, to,
			    s->slot[k].p + r * s->slot[k].stride, s, &over);
			if (over > 0 && o.n == 0) {
				o.slot = k;
				o.row = r;
			}
			o.n += over;
		}
	if (o.n > 0) {
		err_set(e, "overflow",
		    "%llu values are too large for %s, the first in slot %u, row %zu of %zu",
		    (unsigned long long)o.n, dtypes[to].name, o.slot, o.row, s->rows);
		free(own);
		return NULL;
	}
	for (unsigned k = 0; k < s->nslots; k++) {
		s->slot[k].p = own + k * s->rows * row;
		s->slot[k].stride = row;
	}
	s->dtype = to;
	return own;
}
