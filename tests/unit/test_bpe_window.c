/* Windows against the walker: all short strings over what the families tell apart, and random long
 * ones, with each tier of vectors. */
#include "base/buf.h"
#include "bpe/window.h"
#include "unit.h"

static const char *const families[] = {
    "llama3", "qwen2", "qwen3.5", "ling2", "o200k", "kimi", "gpt2", "deepseek3"};

static void compare(const struct split_rules *r, ascii_fn *tier, const char *p, size_t n)
{
	struct split walk, window;
	size_t end[WINDOW * 2];

	split_start(&walk, r, p, n);
	split_start(&window, r, p, n);
	while (window.pos < n) {
		size_t k = window_fill(&window, tier, end, LEN(end));

		assert_true(k > 0);
		for (size_t i = 0; i < k; i++)
			if (split_next(&walk) != end[i])
				fail_msg("%s: '%.*s': %zu, not %zu", r->name, (int)n, p, end[i],
				    walk.pos);
	}
	assert_int_equal(walk.pos, n);
}

static void short_strings(void **state)
{
	static const char *const parts[] = {
	    "a", "B", "1", " ", "\t", "\n", "!", "'", "s", "/", "é"};
	enum { N = LEN(parts), LONGEST = 4 };
	/* the walker takes what is near the end, so the string is followed by plain words */
	static const char behind[] = " some more words so that the window is full of what is known";

	(void)state;
	for (size_t f = 0; f < LEN(families); f++) {
		const struct split_rules *r = split_named(families[f]);
		size_t count = 1;

		for (int i = 0; i < LONGEST; i++)
			count *= N;
		for (size_t code = 0; code < count; code++) {
			char text[100];
			size_t n = 0, rest = code;

			for (int i = 0; i < LONGEST; i++, rest /= N) {
				size_t len = strlen(parts[rest % N]);

				memcpy(text + n, parts[rest % N], len);
				n += len;
			}
			memcpy(text + n, behind, sizeof(behind));
			compare(r, ascii_best(), text, n + sizeof(behind) - 1);
		}
	}
}

static void random_strings(void **state)
{
	static const char *const parts[] = {"a", "b", "C", "word", "Word", "WORD", "12", "345678",
	    " ", "  ", "\t", "\n", "\r\n", "\n\n    ", "!", "//", "'", "'s", "'RE", "'ll", "it's",
	    "/", ".", "\x01", "中", "é", "\u00a0", "\u017f", "            "};
	uint64_t x = 88172645463325252u;

	(void)state;
	for (size_t round = 0; round < 20000; round++) {
		char text[600];
		size_t n = 0;
		const struct split_rules *r = split_named(families[round % LEN(families)]);

		for (size_t i = 0; i < 1 + round % 80; i++) {
			size_t len;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			len = strlen(parts[x % LEN(parts)]);
			memcpy(text + n, parts[x % LEN(parts)], len);
			n += len;
			if (n > sizeof(text) - 20)
				break;
		}
		for (unsigned t = 0; ascii_tier(t); t++)
			compare(r, ascii_tier(t), text, n);
	}
}

static void tiers_agree(void **state)
{
	char text[64];
	struct ascii_masks plain, other;

	(void)state;
	for (unsigned shift = 0; shift < 4; shift++) {
		for (unsigned i = 0; i < 64; i++)
			text[i] = (char)(i + 64 * shift);
		ascii_tier(0)(&plain, text);
		assert_int_equal(plain.high != 0, shift >= 2);
		for (unsigned t = 1; ascii_tier(t); t++) {
			ascii_tier(t)(&other, text);
			assert_memory_equal(&plain, &other, sizeof(plain));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tiers_agree),
	    cmocka_unit_test(random_strings),
	    cmocka_unit_test(short_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
