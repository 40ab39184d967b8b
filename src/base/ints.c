#include "base/ints.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int32_t *ints_room(struct ints *a, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(a->n, n, &need))
		xnomem();
	a->v = xgrow(a->v, &a->cap, need, sizeof(*a->v));
	return a->v + a->n;
}

void ints_push(struct ints *a, int32_t x)
{
	*ints_room(a, 1) = x;
	a->n++;
}

void ints_add(struct ints *a, const int32_t *v, size_t n)
{
	if (n == 0)
		return;
	memcpy(ints_room(a, n), v, n * sizeof(*v));
	a->n += n;
}

int ints_eq(const struct ints *a, const int32_t *v, size_t n)
{
	return a->n == n && (n == 0 || memcmp(a->v, v, n * sizeof(*v)) == 0);
}

void ints_reset(struct ints *a)
{
	a->n = 0;
}

void ints_free(struct ints *a)
{
	free(a->v);
	*a = (struct ints){0};
}
