#include "base/ints.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
