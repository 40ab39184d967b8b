/* hash.h - the hashes of the toolkit: the one door to xxhash
 *
 * XXH64 and XXH3 give the same values on every machine and in every release of the library
 * (xxhash 0.8 froze XXH3), so hashes may stand in files and decide an order. */
#ifndef E3_HASH_H
#define E3_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 with a seed: infer_key, file checksums, and every keyed choice (sampling, shuffling,
 * sharding), where the key is the user's --seed. */
uint64_t hash64(const void *p, size_t n, uint64_t seed);

/* XXH64 over pieces: hash64_begin, _add ..., _end (which frees); _now tells it on the way. */
struct hash64_state;
struct hash64_state *hash64_begin(uint64_t seed);
void hash64_add(struct hash64_state *s, const void *p, size_t n);
uint64_t hash64_now(const struct hash64_state *s);
uint64_t hash64_end(struct hash64_state *s);

/* XXH3 of 128 bits: a fingerprint that stands for its bytes in memory. Two of 10^9 records
 * collide with a probability of 10^-21. */
struct hash128 {
	uint64_t hi, lo;
};
struct hash128 hash128(const void *p, size_t n);

/* Whether record `id` is of shard i of n (--shard I/N): its hash64 with seed 0, modulo n. */
int hash_in_shard(const char *id, size_t len, uint64_t i, uint64_t n);

/* A set of fingerprints in 16 to 43 bytes each. */
struct hashset {
	struct hash128 *slot;
	size_t n, cap;
};
int hashset_add(struct hashset *s, struct hash128 h); /* 1 added, 0 was there */
int hashset_has(const struct hashset *s, struct hash128 h);
void hashset_free(struct hashset *s);

#endif
