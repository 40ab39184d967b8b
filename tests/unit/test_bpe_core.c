/* Three ways of merging against each other: reading from left to right, a heap, looking for the
 * best pair. On random vocabularies, since real ones are tame. */
#include <stdio.h>

#include "base/err.h"
#include "bpe/core.h"
#include "bpe/plain.h"
#include "bpe/vocab.h"
#include "unit.h"

/* xorshift64*: the same numbers on every machine */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Du;
}

static void put(struct vocab *v, const char *p, size_t n)
{
	struct err e = {0};
	struct vocab_entry x = {.id = (int32_t)v->n, .n = (uint32_t)n, .kind = TOKEN_TEXT};

	assert_int_equal(vocab_put(v, x, p, &e), 0);
}

/* Bytes, and `more` tokens over "ab" and "c", each made of two before it, in an order that need not
 * suit their merging: of 16 vocabularies `wild` get the odd one that no training would give. */
static void make_vocab(struct vocab *v, enum vocab_rule rule, size_t more, int wild, uint64_t *r)
{
	char words[64][64];
	size_t n = 3, at[128][2];
	struct err e = {0};

	*v = (struct vocab){.rule = rule};
	for (int i = 0; i < 256; i++)
		put(v, &(char){(char)i}, 1);
	strcpy(words[0], "a");
	strcpy(words[1], "b");
	strcpy(words[2], "c");
	for (size_t tries = 0; n < 3 + more && tries < 200; tries++) {
		size_t i = next_random(r) % n, k = next_random(r) % n, same = 0;
		char both[128];

		snprintf(both, sizeof(both), "%s%s", words[i], words[k]);
		while (same < n && strcmp(words[same], both) != 0)
			same++;
		if (same < n || strlen(both) > 20)
			continue;
		at[n][0] = i;
		at[n][1] = k;
		strcpy(words[n++], both);
	}
	for (size_t i = 3; i < n; i++)
		put(v, words[wild ? n + 2 - i : i], strlen(words[wild ? n + 2 - i : i]));
	assert_int_equal(vocab_finish(v, &e), 0);
	for (size_t i = 3; rule == VOCAB_MERGES && i < n; i++) {
		size_t k = wild ? 3 + next_random(r) % (n - 3) : i, left = strlen(words[at[k][0]]);

		assert_int_equal(
		    vocab_merge(v, (struct span){words[k], strlen(words[k])}, left, (int32_t)i, &e),
		    0);
	}
}

static void compare(const struct vocab *v, const struct core *c, const char *p, size_t n)
{
	static struct plain w;
	static struct core_work cw;
	struct ints one = {0}, two = {0};
	int32_t *three = calloc(n, sizeof(*three));

	plain_merge_heap(v, &w, p, n, &two, NULL);
	if (n < 1000) /* its time goes with the square */
		plain_merge_linear(v, &w, p, n, &one, NULL);
	else
		ints_add(&one, two.v, two.n);
	assert_true(ints_eq(&two, one.v, one.n));
	if (c) {
		size_t k = core_piece(c, &cw, p, n, three);

		if (!ints_eq(&one, three, k))
			fail_msg("'%.*s' differs", (int)n, p);
	}
	free(three);
	ints_free(&one);
	ints_free(&two);
	plain_free(&w);
	free(cw.dead);
	cw = (struct core_work){0};
}

static void three_ways_agree(void **state)
{
	uint64_t r = 20240501;
	size_t cores = 0, wild_cores = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		int wild = round % 16 == 15;
		struct vocab v;
		struct core *c;

		make_vocab(
		    &v, round % 2 ? VOCAB_MERGES : VOCAB_RANKS, 1 + next_random(&r) % 40, wild, &r);
		c = core_build(&v);
		if (wild)
			wild_cores += c != NULL;
		else
			cores += c != NULL;
		for (int i = 0; i < 60; i++) {
			char text[300];
			size_t n = 1 + next_random(&r) % (i < 50 ? 24 : 300);

			for (size_t k = 0; k < n; k++)
				text[k] = "abc"[next_random(&r) % (round % 3 ? 3 : 2)];
			compare(&v, c, text, n);
		}
		core_free(c);
		vocab_free(&v);
	}
	/* out of 281 and 19: most of the tame ones, and few of the others */
	assert_true(cores > 250);
	assert_true(wild_cores < 15);
}

static void add_times(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_adds(b, s);
}

static void long_pieces_agree(void **state)
{
	uint64_t r = 7;
	struct buf runs = {0}, fibonacci = {0}, before = {0};
	struct vocab v;
	struct core *c;

	(void)state;
	do {
		make_vocab(&v, VOCAB_RANKS, 40, 0, &r);
		c = core_build(&v);
		if (!c)
			vocab_free(&v);
	} while (!c);
	add_times(&runs, "a", 100000);
	compare(&v, c, runs.data, runs.len);
	add_times(&runs, "ab", 50000);
	compare(&v, c, runs.data, runs.len);
	buf_adds(&fibonacci, "a");
	buf_adds(&before, "b");
	while (fibonacci.len < 100000) {
		struct buf last = fibonacci;

		fibonacci = (struct buf){0};
		buf_add(&fibonacci, last.data, last.len);
		buf_add(&fibonacci, before.data, before.len);
		buf_free(&before);
		before = last;
	}
	compare(&v, c, fibonacci.data, fibonacci.len);
	buf_free(&runs);
	buf_free(&fibonacci);
	buf_free(&before);
	core_free(c);
	vocab_free(&v);
}

/* All pairs of bytes, each followed by the same few bytes, which don't fit into the holes that they
 * leave: the trie is laid out in seconds all the same, or this takes minutes. */
static void children_that_fit_nowhere(void **state)
{
	static const char next[] = "\x00\x01\x03\x07\x0c\x14\x1e\x2c\x41";
	struct vocab v = {.rule = VOCAB_RANKS};
	struct err e = {0};
	struct core *c;
	uint64_t r = 3;

	(void)state;
	for (int i = 0; i < 256; i++)
		put(&v, &(char){(char)i}, 1);
	for (int i = 0; i < 65536; i++)
		put(&v, (char[]){(char)(i >> 8), (char)i}, 2);
	for (int i = 0; i < 65536 * 9; i++)
		put(&v, (char[]){(char)(i / 9 >> 8), (char)(i / 9), next[i % 9]}, 3);
	assert_int_equal(vocab_finish(&v, &e), 0);
	c = core_build(&v);
	assert_non_null(c);
	for (int i = 0; i < 1000; i++) {
		char text[300];

		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = k % 3 == 2 ? next[next_random(&r) % 9] : (char)next_random(&r);
		compare(&v, c, text, sizeof(text));
	}
	core_free(c);
	vocab_free(&v);
}

static void refuses_what_it_can_not_do(void **state)
{
	struct vocab v = {.rule = VOCAB_MERGES};
	struct err e = {0};

	(void)state;
	/* "abc" would merge before its half "ab" is there */
	for (int i = 0; i < 256; i++)
		put(&v, &(char){(char)i}, 1);
	put(&v, "ab", 2);
	put(&v, "abc", 3);
	assert_int_equal(vocab_finish(&v, &e), 0);
	assert_int_equal(vocab_merge(&v, SPAN("abc"), 2, 0, &e), 0);
	assert_int_equal(vocab_merge(&v, SPAN("ab"), 1, 1, &e), 0);
	assert_null(core_build(&v));
	vocab_free(&v);
	/* no token for a byte */
	v = (struct vocab){.rule = VOCAB_MERGES};
	put(&v, "a", 1);
	assert_int_equal(vocab_finish(&v, &e), 0);
	assert_null(core_build(&v));
	vocab_free(&v);
	/* more than 16 MiB of tokens, whose trie would take twelve times as much */
	v = (struct vocab){.rule = VOCAB_RANKS};
	for (int i = 0; i < 256; i++)
		put(&v, &(char){(char)i}, 1);
	for (int i = 0; i < (16 << 20) / 2048; i++) {
		char token[2048];

		memset(token, 'a', sizeof(token));
		snprintf(token, sizeof(token), "%d", i);
		put(&v, token, sizeof(token));
	}
	assert_int_equal(vocab_finish(&v, &e), 0);
	assert_null(core_build(&v));
	vocab_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(three_ways_agree),
	    cmocka_unit_test(long_pieces_agree),
	    cmocka_unit_test(children_that_fit_nowhere),
	    cmocka_unit_test(refuses_what_it_can_not_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
