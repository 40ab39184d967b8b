#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

/* Values of the xxHash specification's reference program. */
static void known_values(void **state)
{
	static const struct {
		const char *text;
		uint64_t h64, hi, lo;
	} t[] = {
	    {"", 0xef46db3751d8e999, 0x99aa06d3014798d8, 0x6001c324468d497f},
	    {"a", 0xd24ec4f1a98c6e5b, 0xa96faf705af16834, 0xe6c632b61e964e1f},
	    {"abc", 0x44bc2cf5ad770999, 0x06b05ab6733a6185, 0x78af5f94892f3950},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct hash128 h = hash128(t[i].text, strlen(t[i].text));

		assert_int_equal(hash64(t[i].text, strlen(t[i].text), 0), t[i].h64);
		assert_int_equal(h.hi, t[i].hi);
		assert_int_equal(h.lo, t[i].lo);
	}
	assert_int_not_equal(hash64("abc", 3, 1), hash64("abc", 3, 0));
}

static void in_pieces(void **state)
{
	char text[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 31);
	for (size_t step = 1; step < 100; step += 7) {
		struct hash64_state *s = hash64_begin(42);

		hash64_add(s, NULL, 0);
		for (size_t at = 0; at < sizeof(text); at += step)
			hash64_add(
			    s, text + at, at + step < sizeof(text) ? step : sizeof(text) - at);
		assert_int_equal(hash64_end(s), hash64(text, sizeof(text), 42));
	}
}

/* Written down here: shards of one run may be made by programs of different versions. */
static void shards_stay_what_they_are(void **state)
{
	static const uint64_t known[] = {2, 2, 0, 1, 3, 0}; /* xxhsum -H64 says so */

	(void)state;
	for (size_t i = 0; i < LEN(known); i++) {
		char id[8];
		size_t n = (size_t)snprintf(id, sizeof(id), "d/%zu", i);

		assert_true(hash_in_shard(id, n, known[i], 4));
	}
}

static void shards_are_a_partition(void **state)
{
	size_t in[8] = {0};

	(void)state;
	for (int k = 0; k < 8000; k++) {
		char id[32];
		size_t n = (size_t)snprintf(id, sizeof(id), "B1_glaive/%d", k), found = 0;

		assert_true(hash_in_shard(id, n, 0, 0));
		assert_true(hash_in_shard(id, n, 0, 1));
		for (uint64_t i = 0; i < 8; i++) {
			if (hash_in_shard(id, n, i, 8)) {
				found++;
				in[i]++;
			}
		}
		assert_int_equal(found, 1);
	}
	for (size_t i = 0; i < 8; i++)
		assert_in_range(in[i], 850, 1150);
}

static void set_of_fingerprints(void **state)
{
	struct hashset s = {0};
	struct hash128 zero = {0, 0};

	(void)state;
	assert_false(hashset_has(&s, zero));
	assert_true(hashset_add(&s, zero));
	assert_false(hashset_add(&s, zero));
	assert_true(hashset_has(&s, zero));
	for (uint64_t i = 1; i <= 50000; i++)
		assert_true(hashset_add(&s, hash128(&i, sizeof(i))));
	for (uint64_t i = 1; i <= 50000; i++)
		assert_false(hashset_add(&s, hash128(&i, sizeof(i))));
	for (uint64_t i = 50001; i <= 60000; i++)
		assert_false(hashset_has(&s, hash128(&i, sizeof(i))));
	assert_int_equal(s.n, 50001);
	assert_in_range(s.cap * sizeof(*s.slot) / s.n, 16, 43); /* bytes each, as the header says */
	hashset_free(&s);
	assert_null(s.slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known_values),
	    cmocka_unit_test(in_pieces),
	    cmocka_unit_test(shards_stay_what_they_are),
	    cmocka_unit_test(shards_are_a_partition),
	    cmocka_unit_test(set_of_fingerprints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
