#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CHUNK_MIN 512	     /* a held record has an arena of its own, mostly for its id */
#define CHUNK_MAX (4u << 20) /* chunks double up to this; a larger request gets its own size */

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(16) char data[];
};

static void use(struct arena *a, struct arena_chunk *c)
{
	a->top = c;
	a->at = c ? c->data : NULL;
	a->left = c ? c->size : 0;
}

static void add_chunk(struct arena *a, size_t need)
{
	size_t size = a->top ? a->top->size * 2 : CHUNK_MIN;
	struct arena_chunk *c;

	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (size < need)
		size = need;
	c = xmalloc(sizeof(*c) + size);
	c->next = a->top;
	c->size = size;
	use(a, c);
}

void *arena_alloc_more(struct arena *a, size_t n)
{
	size_t need = (n + 15) & ~(size_t)15;

	if (need < n)
		xnomem();
	if (!a->top || need > a->left)
		add_chunk(a, need);
	a->at += need;
	a->left -= need;
	return a->at - need;
}

void *arena_dup(struct arena *a, const void *p, size_t n)
{
	void *q = arena_alloc(a, n);

	if (n > 0)
		memcpy(q, p, n);
	return q;
}

char *arena_strndup(struct arena *a, const char *p, size_t n)
{
	char *s = arena_alloc(a, n + 1);

	if (n > 0)
		memcpy(s, p, n);
	s[n] = '\0';
	return s;
}

size_t arena_size(const struct arena *a)
{
	size_t n = 0;

	for (const struct arena_chunk *c = a->top; c; c = c->next)
		n += c->size;
	return n;
}

static void free_chunks(struct arena_chunk *c, const struct arena_chunk *keep)
{
	while (c) {
		struct arena_chunk *next = c->next;

		if (c != keep)
			free(c);
		c = next;
	}
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *largest = a->top;

	for (struct arena_chunk *c = a->top; c; c = c->next)
		if (c->size > largest->size)
			largest = c;
	free_chunks(a->top, largest);
	if (largest)
		largest->next = NULL;
	use(a, largest);
}

void arena_free(struct arena *a)
{
	free_chunks(a->top, NULL);
	*a = (struct arena){0};
}
