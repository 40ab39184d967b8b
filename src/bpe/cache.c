#include "bpe/cache.h"

#include <stdlib.h>

#include "base/mem.h"

#define SHORT_FIRST (1u << 12)
#define LONG_FIRST  (1u << 10)

/* Slots come in lines of 64 bytes. */
static void *new_table(size_t bytes)
{
	char *p = aligned_alloc(64, bytes);

	if (!p)
		return xcalloc(SIZE_MAX, 2); /* ends the program */
	memset(p, 0, bytes);
	return p;
}

void cache_init(struct cache *c)
{
	*c = (struct cache){.slots = SHORT_FIRST, .mores = LONG_FIRST};
	c->slot = new_table(c->slots * sizeof(*c->slot));
	c->more = new_table(c->mores * sizeof(*c->more));
}

void cache_free(struct cache *c)
{
	free(c->slot);
	free(c->more);
	*c = (struct cache){0};
}

/* Puts the newest first in its set. */
static void insert(struct cache *c, const struct cache_slot *x)
{
	struct cache_key k = {{x->w[0], x->w[1] & ~CACHE_COUNT}};
	struct cache_slot *s = &c->slot[cache_set(c, k)];

	c->used += s[1].w[1] == 0;
	s[1] = s[0];
	s[0] = *x;
}

static void grow(struct cache *c)
{
	struct cache_slot *old = c->slot;
	size_t n = c->slots;

	c->slots *= 4;
	c->used = 0;
	c->slot = new_table(c->slots * sizeof(*c->slot));
	for (size_t i = 0; i < n; i++)
		if (old[i].w[1])
			insert(c, &old[i]);
	free(old);
}

void cache_add(struct cache *c, struct cache_key k, const int32_t *id, size_t n)
{
	struct cache_slot x = {{k.w[0], k.w[1] | (uint64_t)n << 60}, {0}};

	memcpy(x.id, id, n * sizeof(*id));
	if (2 * c->used > c->slots && c->slots < CACHE_SHORT_MAX)
		grow(c);
	insert(c, &x);
}

static void long_key(uint64_t w[CACHE_LONG_WORDS], const char *p, size_t n)
{
	memset(w, 0, CACHE_LONG_WORDS * sizeof(*w));
	memcpy(w, p, n);
	w[CACHE_LONG_WORDS - 1] |= (uint64_t)n << 56;
}

static size_t long_set(const struct cache *c, const uint64_t w[CACHE_LONG_WORDS])
{
	uint64_t h = 0;

	for (int i = 0; i < CACHE_LONG_WORDS; i += 2)
		h ^= cache_mix(w[i] + h, w[i + 1]);
	return (size_t)h & (c->mores - 2);
}

const struct cache_long *cache_find_long(const struct cache *c, const char *p, size_t n)
{
	const struct cache_long *s;
	uint64_t w[CACHE_LONG_WORDS];

	long_key(w, p, n);
	s = &c->more[long_set(c, w)];
	if (memcmp(s[0].w, w, sizeof(w)) == 0)
		return &s[0];
	return memcmp(s[1].w, w, sizeof(w)) == 0 ? &s[1] : NULL;
}

static void insert_long(struct cache *c, const struct cache_long *x)
{
	struct cache_long *s = &c->more[long_set(c, x->w)];

	c->more_used += s[1].w[CACHE_LONG_WORDS - 1] == 0;
	s[1] = s[0];
	s[0] = *x;
}

static void grow_long(struct cache *c)
{
	struct cache_long *old = c->more;
	size_t n = c->mores;

	c->mores *= 4;
	c->more_used = 0;
	c->more = new_table(c->mores * sizeof(*c->more));
	for (size_t i = 0; i < n; i++)
		if (old[i].w[CACHE_LONG_WORDS - 1])
			insert_long(c, &old[i]);
	free(old);
}

void cache_add_long(struct cache *c, const char *p, size_t n, const int32_t *id, size_t ids)
{
	struct cache_long x = {.n = (int32_t)ids};

	long_key(x.w, p, n);
	memcpy(x.id, id, ids * sizeof(*id));
	if (2 * c->more_used > c->mores && c->mores < CACHE_LONG_MAX)
		grow_long(c);
	insert_long(c, &x);
}
