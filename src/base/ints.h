/* ints.h - a vector of token ids
 *
 * Ids are int32_t: every vocabulary in use is far below 2^31. A zeroed struct is empty. */
#ifndef E3_INTS_H
#define E3_INTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct ints {
	int32_t *v;
	size_t n, cap;
};

/* Room for n more at the returned end. */
static inline int32_t *ints_room(struct ints *a, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(a->n, n, &need))
		xnomem();
	a->v = xgrow(a->v, &a->cap, need, sizeof(*a->v));
	return a->v + a->n;
}

static inline void ints_push(struct ints *a, int32_t x)
{
	*ints_room(a, 1) = x;
	a->n++;
}

void ints_add(struct ints *a, const int32_t *v, size_t n);
int ints_eq(const struct ints *a, const int32_t *v, size_t n);
void ints_reset(struct ints *a);
void ints_free(struct ints *a);

#endif
