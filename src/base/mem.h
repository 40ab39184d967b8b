/* mem.h - memory, or the end of the program
 *
 * Out of memory and a size that overflows are one function's business: these print
 * "NAME: out of memory" and exit with status 1. Nobody else tests for NULL. */
#ifndef E3_MEM_H
#define E3_MEM_H

#include <stddef.h>

/* That end, for memory that comes by another way - from the system, from a library - and for sizes
 * that overflow before they are asked for. */
_Noreturn void xnomem(void);

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
void *xmemdup(const void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

void *xgrow_more(void *p, size_t *cap, size_t need, size_t size); /* where there is no room */

/* Makes room for `need` elements of `size` bytes in a vector at p whose capacity is *cap: grows
 * it by half at least, so that appending is linear. Returns the vector, maybe moved. */
static inline void *xgrow(void *p, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? p : xgrow_more(p, cap, need, size);
}

#endif
