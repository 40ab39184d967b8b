#include "merge/datasets.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static int order(struct span a, const char *b)
{
	size_t n = strlen(b);
	int c = memcmp(a.p, b, a.n < n ? a.n : n);

	return c ? c : (a.n > n) - (a.n < n);
}

/* Where in the sorted row the name is (*found), or belongs. */
static size_t place(const struct datasets *d, struct span name, int *found)
{
	size_t lo = 0, hi = d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = order(name, d->name[d->sorted[mid]]);

		if (c == 0) {
			*found = 1;
			return mid;
		}
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	*found = 0;
	return lo;
}

int datasets_find(const struct datasets *d, struct span name)
{
	int found;
	size_t at = place(d, name, &found);

	return found ? d->sorted[at] : -1;
}

int datasets_add(struct datasets *d, struct span name, struct err *e)
{
	int found;
	size_t at = place(d, name, &found);

	if (found)
		return d->sorted[at];
	if (d->n == DATASETS_MAX)
		return err_set(e, "range", "dataset: more than %d different names", DATASETS_MAX);
	d->name = xgrow(d->name, &d->cap, d->n + 1, sizeof(*d->name));
	d->sorted = xgrow(d->sorted, &d->csorted, d->n + 1, sizeof(*d->sorted));
	memmove(d->sorted + at + 1, d->sorted + at, (d->n - at) * sizeof(*d->sorted));
	d->sorted[at] = (uint16_t)d->n;
	d->name[d->n] = xstrndup(name.p, name.n);
	return (int)d->n++;
}

void datasets_free(struct datasets *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->name[i]);
	free(d->name);
	free(d->sorted);
	*d = (struct datasets){0};
}
