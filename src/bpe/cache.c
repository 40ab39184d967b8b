/* madvise: tables of many MiB want huge pages, each access would miss the TLB */
#define _GNU_SOURCE
#include "bpe/cache.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

#define MANY_FIRST (1u << 10)
#define HUGE_PAGE  ((size_t)2 << 20)

/* Zeros, in lines of 64 bytes. Huge pages must be asked for before they are touched. */
static void *new_table(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		xnomem();
#ifdef MADV_HUGEPAGE
	if (bytes >= HUGE_PAGE)
		(void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
	return p;
}

static void free_table(void *p, size_t bytes)
{
	(void)munmap(p, bytes);
}

static struct cache_slot *new_slots(unsigned bits)
{
	return new_table(((size_t)1 << bits) * sizeof(struct cache_slot));
}

static void free_slots(struct cache_slot *slot, unsigned bits)
{
	free_table(slot, ((size_t)1 << bits) * sizeof(*slot));
}

void cache_init(struct cache *c)
{
	*c = (struct cache){
	    .shift = 65 - CACHE_FIRST_BITS,
	    .entries = MANY_FIRST,
	    .last_bits = CACHE_LAST_BITS,
	    .last_entries = CACHE_MANY_LAST,
	    .last_words = CACHE_WORDS_LAST,
	};
	c->slot = new_slots(CACHE_FIRST_BITS);
	c->entry = new_table(c->entries * sizeof(*c->entry));
}

void cache_free(struct cache *c)
{
	if (!c->slot)
		return;
	free_slots(c->slot, 65 - c->shift);
	free_table(c->entry, c->entries * sizeof(*c->entry));
	if (c->word)
		free_table(c->word, c->last_words * sizeof(*c->word));
	*c = (struct cache){0};
}

void cache_add(struct cache *c, struct cache_key k, struct cache_ids ids)
{
	struct cache_slot *s = cache_slots(c, cache_set(c, k));

	c->used += s[1].ids.v[0] == 0;
	s[1] = s[0];
	s[0] = (struct cache_slot){k, ids};
}

void cache_grow(struct cache *c)
{
	struct cache_slot *old = c->slot;
	unsigned bits = 65 - c->shift;

	c->shift -= CACHE_MORE_BITS;
	c->used = 0;
	c->slot = new_slots(bits + CACHE_MORE_BITS);
	for (size_t i = (size_t)1 << bits; i-- > 0;) /* the newer of a set is the first */
		if (old[i].ids.v[0])
			cache_add(c, old[i].key, old[i].ids);
	free_slots(old, bits);
}

uint64_t cache_hash(const char *p, size_t n)
{
	char few[16] = {0};
	uint64_t h = n;

	if (n < 16) {
		memcpy(few, p, n);
		return cache_mix(cache_load(few) ^ h, cache_load(few + 8));
	}
	for (size_t i = 0; i + 16 < n; i += 16)
		h = cache_mix(cache_load(p + i) ^ h, cache_load(p + i + 8));
	return cache_mix(cache_load(p + n - 16) ^ h, cache_load(p + n - 8));
}

static void grow_index(struct cache *c)
{
	struct cache_entry *old = c->entry;
	size_t n = c->entries;

	c->entries *= 4;
	c->entry = new_table(c->entries * sizeof(*c->entry));
	for (size_t i = 0; i < n; i++)
		if (old[i].n)
			*cache_place(c, cache_hash((const char *)(c->word + old[i].at), old[i].n),
			    old[i].n) = old[i];
	free_table(old, n * sizeof(*old));
}

static void forget(struct cache *c)
{
	memset(c->entry, 0, c->entries * sizeof(*c->entry));
	c->entries_used = c->words = 0;
}

void cache_add_long(struct cache *c, const char *p, size_t n, const int32_t *id, size_t ids)
{
	uint64_t hash = cache_hash(p, n);
	size_t words = (n + 3) / 4, need = words + ids;
	struct cache_entry *e;
	int32_t *to;

	if (2 * c->entries_used > c->entries && c->entries < c->last_entries)
		grow_index(c);
	if (c->words + need > c->last_words || 8 * c->entries_used > 7 * c->entries)
		forget(c);
	if (!c->word) /* all of it: what is not touched takes no memory, and nothing is ever moved */
		c->word = new_table(c->last_words * sizeof(*c->word));
	to = c->word + c->words;
	to[words - 1] = 0;
	memcpy(to, p, n);
	memcpy(to + words, id, ids * sizeof(*id));
	e = cache_place(c, hash, n);
	c->entries_used += e->n == 0;
	*e = (struct cache_entry){
	    (uint32_t)(hash >> 32), (uint32_t)c->words, (uint32_t)n, (uint32_t)ids};
	c->words += need;
}
