/* The same ids whatever finds the pieces, wherever they lie, and whatever the cache has seen: all
 * kinds of vectors, offsets, and threads with caches of their own, against the plain way. */
#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "bpe/bpe.h"
#include "bpe/fast.h"
#include "bpe/model.h"
#include "unit.h"

#define DEMO "pipelines/demo/model"

static const char *const words[] = {"the", " quick", " brown", "Fox", " it's", " 12345", "\n\n",
    "    ", "\t", "中文模型", "。", "日本語のテキスト", " привет", " नमस्ते", "!?", " //", "é",
    "\u2764\ufe0f", "x", " internationalisation-of-everything", "漢字漢字漢字漢字漢字漢字", "\r\n",
    "'LL", "HTTPResponse", "  \u3000"};

static void fill(struct buf *b, size_t n, uint64_t x)
{
	while (b->len < n) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		buf_adds(b, words[x % LEN(words)]);
		if (x >> 32 & 1) /* many different ones, so that the cache has to grow */
			buf_addf(b, " w%llx", (unsigned long long)(x >> 40 & 0xFFFFF));
	}
}

static uint64_t hash_of(const struct bpe *b, struct bpe_work *w, const char *p, size_t n)
{
	struct ints ids = {0};
	struct err e = {0};
	uint64_t h;

	assert_int_equal(bpe_encode(b, w, (struct bpe_text){p, n, 0}, &ids, NULL, &e), 0);
	h = hash64(ids.v, ids.n * sizeof(*ids.v), 0);
	ints_free(&ids);
	return h;
}

static struct bpe *open_demo(void)
{
	struct err e = {0};
	struct bpe *b = bpe_open_uncached(DEMO, &e);

	if (!b)
		fail_msg("%s", e.msg);
	assert_non_null(b->core);
	return b;
}

static uint64_t plain_hash(struct bpe *b, const char *p, size_t n)
{
	struct core *core = b->core;
	struct bpe_work *w;
	uint64_t h;

	b->core = NULL;
	w = bpe_work_open(b);
	h = hash_of(b, w, p, n);
	bpe_work_close(w);
	b->core = core;
	return h;
}

static void vectors_and_offsets(void **state)
{
	struct bpe *b = open_demo();
	struct buf text = {0};

	(void)state;
	fill(&text, 8000, 1);
	for (size_t at = 0; at < 70; at += 1 + at / 8) {
		const char *p = text.data + at;
		size_t n = text.len - at;
		uint64_t want;

		while (n > 0 && (*p & 0xC0) == 0x80)
			p++, n--;
		want = plain_hash(b, p, n);
		for (unsigned t = 0; window_tier(t); t++) {
			struct bpe_work *w;

			setenv("E3_VECTORS", window_tier_name(t), 1);
			w = bpe_work_open(b);
			for (int warm = 0; warm < 2; warm++)
				assert_int_equal(hash_of(b, w, p, n), want);
			bpe_work_close(w);
		}
	}
	unsetenv("E3_VECTORS");
	buf_free(&text);
	bpe_close(b);
}

struct job {
	const struct bpe *b;
	const struct buf *text;
	uint64_t hash[2];
};

static void *encode_twice(void *arg)
{
	struct job *j = arg;
	struct bpe_work *w = bpe_work_open(j->b);

	for (int i = 0; i < 2; i++)
		j->hash[i] = hash_of(j->b, w, j->text->data, j->text->len);
	bpe_work_close(w);
	return NULL;
}

/* So many different pieces that the slots grow and some are forgotten. */
static void threads_and_full_caches(void **state)
{
	enum { THREADS = 3 };
	struct bpe *b = open_demo();
	struct buf text = {0};
	struct job job[THREADS];
	pthread_t thread[THREADS];
	uint64_t want;

	(void)state;
	fill(&text, 1 << 20, 7);
	want = plain_hash(b, text.data, text.len);
	for (size_t i = 0; i < THREADS; i++) {
		job[i] = (struct job){.b = b, .text = &text};
		assert_int_equal(pthread_create(&thread[i], NULL, encode_twice, &job[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_int_equal(job[i].hash[0], want);
		assert_int_equal(job[i].hash[1], want);
	}
	buf_free(&text);
	bpe_close(b);
}

/* Whatever comes together, and with a cache that forgets nearly all. */
static void batches_and_bounds(void **state)
{
	static const size_t batch[] = {WINDOW, WINDOW + 1, 127, FAST_BATCH};
	struct bpe *b = open_demo();
	struct buf text = {0};
	uint64_t want;

	(void)state;
	fill(&text, 1 << 20, 3);
	want = plain_hash(b, text.data, text.len);
	for (size_t i = 0; i < 2 * LEN(batch); i++) {
		struct fast f;
		struct ints ids = {0};

		fast_init(&f, b->core, b->split);
		f.batch = batch[i / 2];
		if (i & 1) {
			f.cache.last_bits = CACHE_FIRST_BITS;
			f.cache.last_entries = f.cache.entries;
			f.cache.last_words = 4 * CACHE_LONG;
		}
		fast_text(&f, (struct span){text.data, text.len}, &ids, NULL);
		assert_int_equal(hash64(ids.v, ids.n * sizeof(*ids.v), 0), want);
		if (i & 1)
			assert_int_equal(f.cache.shift, 65 - CACHE_FIRST_BITS);
		else
			assert_true(f.cache.shift < 65 - CACHE_FIRST_BITS);
		fast_free(&f);
		ints_free(&ids);
	}
	buf_free(&text);
	bpe_close(b);
}

/* Two pieces of one set that begin alike: the first look may miss the second, the other not. */
static void pieces_that_begin_alike(void **state)
{
	struct cache c;
	struct cache_key a = cache_key("eightbytesAAAAAA", 11), b = a;
	const int32_t one = 1, two = 2;
	size_t set;

	(void)state;
	cache_init(&c);
	set = cache_set(&c, a);
	do /* eight bytes and a few: other keys of the same set */
		b.w[1]++;
	while (cache_set(&c, b) != set);
	cache_add(&c, a, cache_pack(&one, 1));
	cache_add(&c, b, cache_pack(&two, 1));
	assert_null(cache_find(&c, set, a)); /* behind b */
	assert_int_equal(cache_seek(&c, a)->v[0] & 0xFFFFFFF, 1);
	assert_int_equal(cache_seek(&c, b)->v[0] & 0xFFFFFFF, 2);
	b.w[0]++;
	assert_null(cache_seek(&c, b));
	cache_free(&c);
}

/* The index of long pieces forgets all when it is full, and goes on. */
static void long_pieces_are_forgotten(void **state)
{
	struct cache c;
	char piece[64] = "a piece of more than fifteen bytes, number ........";
	const size_t n = strlen(piece);

	(void)state;
	cache_init(&c);
	for (int32_t i = 0; i < 400000; i++) {
		const struct cache_entry *e;
		int32_t ids[3] = {i, i + 1, i + 2};

		for (int k = 0; k < 8; k++)
			piece[n - 8 + (size_t)k] = (char)('a' + (i >> 3 * k & 7));
		cache_add_long(&c, piece, n, ids, 3);
		e = cache_candidate(&c, cache_hash(piece, n), n);
		assert_non_null(e);
		assert_true(cache_is(&c, e, piece));
		assert_memory_equal(cache_ids(&c, e), ids, sizeof(ids));
	}
	assert_true(c.words <= CACHE_WORDS_LAST && c.entries <= CACHE_MANY_LAST);
	cache_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(vectors_and_offsets),
	    cmocka_unit_test(threads_and_full_caches),
	    cmocka_unit_test(batches_and_bounds),
	    cmocka_unit_test(pieces_that_begin_alike),
	    cmocka_unit_test(long_pieces_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
