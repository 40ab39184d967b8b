#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

struct hash64_state {
	XXH64_state_t *xx;
};

uint64_t hash64(const void *p, size_t n, uint64_t seed)
{
	return XXH64(p, n, seed);
}

struct hash64_state *hash64_begin(uint64_t seed)
{
	struct hash64_state *s = xmalloc(sizeof(*s));

	s->xx = XXH64_createState();
	if (!s->xx)
		xnomem();
	XXH64_reset(s->xx, seed);
	return s;
}

void hash64_add(struct hash64_state *s, const void *p, size_t n)
{
	if (n > 0)
		XXH64_update(s->xx, p, n);
}

uint64_t hash64_now(const struct hash64_state *s)
{
	return XXH64_digest(s->xx);
}

uint64_t hash64_end(struct hash64_state *s)
{
	uint64_t h = XXH64_digest(s->xx);

	XXH64_freeState(s->xx);
	free(s);
	return h;
}

struct hash128 hash128(const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);

	return (struct hash128){h.high64, h.low64};
}

int hash_in_shard(const char *id, size_t len, uint64_t i, uint64_t n)
{
	return n <= 1 || hash64(id, len, 0) % n == i;
}

/* Open addressing, at most 3/4 full. The all-zero fingerprint marks a free slot; a real one of
 * zero is stored as 1, at the price of one more collision in 2^128. */
static struct hash128 real(struct hash128 h)
{
	if (h.hi == 0 && h.lo == 0)
		h.lo = 1;
	return h;
}

static struct hash128 *find(const struct hashset *s, struct hash128 h)
{
	size_t i = h.lo & (s->cap - 1);

	while (s->slot[i].hi | s->slot[i].lo) {
		if (s->slot[i].hi == h.hi && s->slot[i].lo == h.lo)
			break;
		i = (i + 1) & (s->cap - 1);
	}
	return &s->slot[i];
}

static void grow(struct hashset *s)
{
	struct hashset big = {.n = s->n, .cap = s->cap ? s->cap * 2 : 64};

	big.slot = xcalloc(big.cap, sizeof(*big.slot));
	for (size_t i = 0; i < s->cap; i++)
		if (s->slot[i].hi | s->slot[i].lo)
			*find(&big, s->slot[i]) = s->slot[i];
	free(s->slot);
	*s = big;
}

int hashset_add(struct hashset *s, struct hash128 h)
{
	struct hash128 *at;

	if (s->n + 1 > s->cap - s->cap / 4)
		grow(s);
	h = real(h);
	at = find(s, h);
	if (at->hi | at->lo)
		return 0;
	*at = h;
	s->n++;
	return 1;
}

int hashset_has(const struct hashset *s, struct hash128 h)
{
	const struct hash128 *at;

	if (s->cap == 0)
		return 0;
	at = find(s, real(h));
	return (at->hi | at->lo) != 0;
}

void hashset_free(struct hashset *s)
{
	free(s->slot);
	*s = (struct hashset){0};
}
