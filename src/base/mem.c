#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"

_Noreturn void xnomem(void)
{
	fprintf(stderr, "%s: out of memory\n", prog_name);
	exit(EXIT_FAILED);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		xnomem();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		xnomem();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		xnomem();
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		xnomem();
	return p;
}

void *xmemdup(const void *p, size_t n)
{
	void *q = xmalloc(n);

	if (n > 0)
		memcpy(q, p, n);
	return q;
}

char *xstrndup(const char *s, size_t n)
{
	char *p = xmalloc(n + 1);

	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

void *xgrow_more(void *p, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap + *cap / 2;

	if (want < need)
		want = need;
	if (want < 16)
		want = 16;
	*cap = want;
	return xreallocarray(p, want, size);
}
