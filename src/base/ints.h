/* ints.h - a vector of token ids
 *
 * Ids are int32_t: every vocabulary in use is far below 2^31. A zeroed struct is empty. */
#ifndef E3_INTS_H
#define E3_INTS_H

#include <stddef.h>
#include <stdint.h>

struct ints {
	int32_t *v;
	size_t n, cap;
};

int32_t *ints_room(struct ints *a, size_t n); /* room for n more at the returned end */
void ints_push(struct ints *a, int32_t x);
void ints_add(struct ints *a, const int32_t *v, size_t n);
int ints_eq(const struct ints *a, const int32_t *v, size_t n);
void ints_reset(struct ints *a);
void ints_free(struct ints *a);

#endif
