/* cache.h - pieces and their tokens, as one thread has met them
 *
 * Most pieces of a text have been seen before. Two tables, of pieces of up to 15 and of 16 to 63
 * bytes; longer ones, or with more tokens than a slot holds, are not kept. A slot holds the piece
 * itself: equality is never left to a hash. The tables begin small, grow with what they are given
 * up to CACHE_SHORT_MAX and CACHE_LONG_MAX slots, and then forget the older of two. */
#ifndef E3_BPE_CACHE_H
#define E3_BPE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Slots, powers of two. A text's pieces fit while their number is below half of it: English of 58
 * MB has 235,000 different ones, Chinese of 14 MB 90,000 long ones. 32 MiB and 16 MiB of
 * memory. */
#define CACHE_SHORT_MAX (1u << 20)
#define CACHE_LONG_MAX	(1u << 17)

enum {
	CACHE_SHORT = 15,
	CACHE_LONG_WORDS = 8,
	CACHE_LONG = 63,
	CACHE_SHORT_IDS = 4,
	CACHE_LONG_IDS = 15,
};

/* A piece, zeros behind it. The last byte of the last word is its length; in a slot, the number of
 * ids is in the upper half of that byte (short) or in the member n (long). */
struct cache_key {
	uint64_t w[2];
};

struct cache_slot {
	uint64_t w[2];
	int32_t id[CACHE_SHORT_IDS];
};

struct cache_long {
	uint64_t w[CACHE_LONG_WORDS]; /* the last byte is the length, 0 in an empty slot */
	int32_t id[CACHE_LONG_IDS];
	int32_t n;
};

struct cache {
	struct cache_slot *slot; /* two neighbours, 64 bytes, are one set */
	size_t slots, used;
	struct cache_long *more; /* likewise */
	size_t mores, more_used;
};

void cache_init(struct cache *c);
void cache_free(struct cache *c);

/* The last eight bytes' mask without the count of ids. */
#define CACHE_COUNT ((uint64_t)0xF << 60)

static inline uint64_t cache_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m =
	    (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* n is 1 to 15. `whole` tells that 16 bytes can be read at p. Lengths are too mixed for branches on
 * them to be foreseen. */
static inline struct cache_key cache_key(const char *p, size_t n, int whole)
{
	static const unsigned char ones[32] = {
	    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
	struct cache_key k = {{0, 0}};
	uint64_t mask[2];

	if (!whole) {
		memcpy(k.w, p, n);
	} else {
		memcpy(k.w, p, 16);
		memcpy(mask, ones + 16 - n, 16);
		k.w[0] &= mask[0];
		k.w[1] &= mask[1];
	}
	k.w[1] |= (uint64_t)n << 56;
	return k;
}

/* The set of the key: the first of two slots. */
static inline size_t cache_set(const struct cache *c, struct cache_key k)
{
	return (size_t)cache_mix(k.w[0], k.w[1]) & (c->slots - 2);
}

/* Which of the two it is can't be foreseen either. */
static inline const struct cache_slot *cache_find(
    const struct cache *c, size_t set, struct cache_key k)
{
	const struct cache_slot *s = &c->slot[set];
	uint64_t first = ((s[0].w[1] ^ k.w[1]) & ~CACHE_COUNT) | (s[0].w[0] ^ k.w[0]);
	uint64_t second = ((s[1].w[1] ^ k.w[1]) & ~CACHE_COUNT) | (s[1].w[0] ^ k.w[0]);

	if (first != 0 && second != 0)
		return NULL;
	return s + (first != 0);
}

/* n ids, at most CACHE_SHORT_IDS. */
void cache_add(struct cache *c, struct cache_key k, const int32_t *id, size_t n);

/* The same for 16 to 63 bytes. */
const struct cache_long *cache_find_long(const struct cache *c, const char *p, size_t n);
void cache_add_long(struct cache *c, const char *p, size_t n, const int32_t *id, size_t ids);

#endif
