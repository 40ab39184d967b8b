/* arena.h - memory that goes all at once
 *
 *	struct arena a = {0};
 *	for each record: { p = arena_alloc(&a, n); ...; arena_reset(&a); }
 *	arena_free(&a);
 *
 * Memory is aligned to 16 and not cleared. A reset keeps one chunk, the largest, so that a loop
 * settles at the size of its largest record. */
#ifndef E3_ARENA_H
#define E3_ARENA_H

#include <stddef.h>

#include "base/mem.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *top;
	char *at;    /* of the top chunk; aligned */
	size_t left; /* bytes from there; a multiple of 16 */
};

void *arena_alloc_more(struct arena *a, size_t n); /* where the top chunk may not do */

static inline void *arena_alloc(struct arena *a, size_t n)
{
	size_t need = (n + 15) & ~(size_t)15;
	char *p = a->at;

	if (n == 0 || n > a->left)
		return arena_alloc_more(a, n);
	a->at += need;
	a->left -= need;
	return p;
}

/* The product checked. */
static inline void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		xnomem();
	return arena_alloc(a, bytes);
}

void *arena_dup(struct arena *a, const void *p, size_t n);
char *arena_strndup(struct arena *a, const char *p, size_t n);
/* Bytes held: what a bound on a hostile input is checked against. */
size_t arena_size(const struct arena *a);
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

#endif
