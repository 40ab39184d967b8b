/* cache.h - pieces and their tokens, as one thread has met them
 *
 * Most pieces of a text have been seen before. Two tables: slots for pieces of up to 15 bytes that
 * are up to four tokens, and an index into one growing block of memory for what is longer. Both
 * hold the piece itself: equality is never left to a hash.
 *
 * A look-up waits for memory, so it is done in steps, for many pieces each, and the next step's
 * memory is asked for in the step before: cache_key and cache_set, then cache_find; cache_hash,
 * then cache_candidate, then cache_is. A small table before the large one, to spare that way, was
 * tried: its misses, one in fifteen, can't be foreseen and cost more than it saved.
 *
 * Sets are two slots and forget the older. The slots begin few, and are more when half of them are
 * used; the index grows with what it is given and, when its bounds are reached, forgets
 * all. */
#ifndef E3_BPE_CACHE_H
#define E3_BPE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Slots at first, then, and at last: 128 KiB, 2 MiB and 32 MiB. English of 58 MB has 235,000
 * different pieces. To put the whole vocabulary there beforehand was tried: most of it never comes,
 * and it costs more than it saves, the first time as well as later. */
enum {
	CACHE_FIRST_BITS = 12,
	CACHE_MORE_BITS = 4,
	CACHE_LAST_BITS = 20,
};

/* Where Han is not cut out (qwen2, o200k), Chinese of 24 MB has 220,000 different long pieces, that
 * are 3.8 million words with their ids, Japanese of 36 MB 4.5 million; what does not fit is as slow
 * as the first time. Two threads and the tables stay below 150 MB. */
#define CACHE_MANY_LAST	 (1u << 18) /* entries of the index: 4 MiB */
#define CACHE_WORDS_LAST (9u << 19) /* of 4 bytes, in the block: 18 MiB */

enum {
	CACHE_SHORT = 15,
	CACHE_IDS = 4,
	CACHE_LONG = 1023, /* bytes; longer pieces don't come twice */
};

/* A piece, zeros behind it. The last byte of the last word is its length. */
struct cache_key {
	uint64_t w[2];
};

/* One to four ids; how many is in the upper four bits of the first. */
struct cache_ids {
	uint32_t v[CACHE_IDS];
};

#define CACHE_COUNT 28 /* bits of an id, VOCAB_MAX_ID has fewer */

struct cache_slot {
	struct cache_key key;
	struct cache_ids ids;
};

struct cache_entry {
	uint32_t tag; /* upper half of the hash */
	uint32_t at;  /* in the block: the piece, zeros up to a whole word, then its ids */
	uint32_t n;   /* bytes; 0: empty */
	uint32_t ids;
};

struct cache {
	struct cache_slot *slot; /* two neighbours, 64 bytes, are one set */
	unsigned shift;		 /* 65 less the bits of their number */
	size_t used;
	struct cache_entry *entry;
	size_t entries, entries_used;
	int32_t *word;
	size_t words;
	/* bounds: the constants above, or smaller, for tests */
	unsigned last_bits;
	size_t last_entries, last_words;
};

void cache_init(struct cache *c);
void cache_free(struct cache *c); /* which may be zeros */

/* Whether it is time for cache_grow: before a batch, since sets change. */
static inline int cache_is_full(const struct cache *c)
{
	return c->shift > 65 - c->last_bits && c->used > (size_t)1 << (64 - c->shift);
}

/* Makes the slots more. */
void cache_grow(struct cache *c);

static inline uint64_t cache_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m =
	    (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t cache_load(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* n is 1 to 15, and 16 bytes can be read at p. Lengths are too mixed for branches on them to be
 * foreseen. */
static inline struct cache_key cache_key(const char *p, size_t n)
{
	static const unsigned char ones[32] = {
	    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
	const char *mask = (const char *)ones + 16 - n;

	return (struct cache_key){{cache_load(p) & cache_load(mask),
	    (cache_load(p + 8) & cache_load(mask + 8)) | (uint64_t)n << 56}};
}

/* Of a key, the number of its set. */
static inline size_t cache_set(const struct cache *c, struct cache_key k)
{
	uint64_t hash = (k.w[0] * 0x9E3779B97F4A7C15u + k.w[1]) * 0xD6E8FEB86659FD93u;

	return (size_t)(hash >> c->shift);
}

static inline struct cache_slot *cache_slots(const struct cache *c, size_t set)
{
	return &c->slot[2 * set];
}

/* Which of the two it is can't be foreseen, so it is no branch, and the first eight bytes decide:
 * NULL may also mean that both slots begin alike, see cache_seek. */
static inline const struct cache_ids *cache_find(
    const struct cache *c, size_t set, struct cache_key k)
{
	const struct cache_slot *s = cache_slots(c, set);

	s += s->key.w[0] != k.w[0];
	return ((s->key.w[0] ^ k.w[0]) | (s->key.w[1] ^ k.w[1])) == 0 ? &s->ids : NULL;
}

/* NULL: it is not there. */
static inline const struct cache_ids *cache_seek(const struct cache *c, struct cache_key k)
{
	const struct cache_slot *s = cache_slots(c, cache_set(c, k));

	for (int i = 0; i < 2; i++)
		if (s[i].key.w[0] == k.w[0] && s[i].key.w[1] == k.w[1])
			return &s[i].ids;
	return NULL;
}

/* Writes all of CACHE_IDS; returns how many there are. */
static inline size_t cache_unpack(int32_t *to, const struct cache_ids *ids)
{
	uint32_t first = ids->v[0];

	memcpy(to, ids, sizeof(*ids));
	to[0] = (int32_t)(first & ((1u << CACHE_COUNT) - 1));
	return first >> CACHE_COUNT;
}

/* n is 1 to CACHE_IDS. */
static inline struct cache_ids cache_pack(const int32_t *id, size_t n)
{
	struct cache_ids x = {{0}};

	memcpy(x.v, id, n * sizeof(*id));
	x.v[0] |= (uint32_t)n << CACHE_COUNT;
	return x;
}

/* Puts a key that is not there first in its set. */
void cache_add(struct cache *c, struct cache_key k, struct cache_ids ids);

/* n is 1 to CACHE_LONG. */
uint64_t cache_hash(const char *p, size_t n);

/* The entry of this hash and length, or the empty one that it would be. */
static inline struct cache_entry *cache_place(const struct cache *c, uint64_t hash, size_t n)
{
	size_t i = (size_t)hash & (c->entries - 1);

	while (c->entry[i].n != 0 && (c->entry[i].n != n || c->entry[i].tag != hash >> 32))
		i = (i + 1) & (c->entries - 1);
	return &c->entry[i];
}

/* The entry that the piece is in, if it is there, or NULL. */
static inline const struct cache_entry *cache_candidate(
    const struct cache *c, uint64_t hash, size_t n)
{
	const struct cache_entry *e = cache_place(c, hash, n);

	return e->n ? e : NULL;
}

/* Whether it is. */
static inline int cache_is(const struct cache *c, const struct cache_entry *e, const char *p)
{
	return memcmp(c->word + e->at, p, e->n) == 0;
}

static inline const int32_t *cache_ids(const struct cache *c, const struct cache_entry *e)
{
	return c->word + e->at + (e->n + 3) / 4;
}

/* The ids of a piece, which takes the place of one with the same hash; more than the block has room
 * for are not kept. */
void cache_add_long(struct cache *c, const char *p, size_t n, const int32_t *id, size_t ids);

#endif
