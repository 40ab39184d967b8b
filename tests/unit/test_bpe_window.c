/* Windows against the walker: all short strings over what the families tell apart, every code point
 * between others, and random long strings, with each kind of vectors. */
#include "base/buf.h"
#include "base/utf8.h"
#include "bpe/window.h"
#include "unit.h"

#ifndef EVERY
#define EVERY 1 /* one of how many: more where the processor is an emulated one */
#endif

static const char *const families[] = {
    "llama3", "qwen2", "qwen3.5", "ling2", "o200k", "kimi", "gpt2", "smollm2", "deepseek3"};

static unsigned tiers(void)
{
	unsigned n = 0;

	while (window_tier(n))
		n++;
	return n;
}

static void compare(const struct split_rules *r, unsigned tier, const char *p, size_t n)
{
	struct split walk, window;
	uint32_t end[WINDOW * 2];

	split_start(&walk, r, p, n);
	split_start(&window, r, p, n);
	while (window.pos < n) {
		size_t from = window.pos,
		       k = window_fill(&window, window_tier(tier), end, LEN(end));

		assert_true(k > 0);
		for (size_t i = 0; i < k; i++)
			if (split_next(&walk) != end[i])
				fail_msg("%s, %s: '%.*s' from %zu: %u, not %zu", r->name,
				    window_tier_name(tier), (int)n, p, from, end[i], walk.pos);
	}
	assert_int_equal(walk.pos, n);
}

/* One of each kind that a family tells from others. */
static const char *const parts[] = {"a", "B", "1", " ", "\t", "\n", "!", "'", "s", "/", "\x01", "é",
    "É", "ſ", "中", "の", "・", "〇", "、", "\u3000", "\u0301", "½", "\u200d", "ǅ"};

static void short_strings(void **state)
{
	enum { N = LEN(parts), LONGEST = 4 };
	/* the walker takes what is near the end, so the string is followed by plain words */
	static const char behind[] = " some more words so that the window is full of what is known";

	(void)state;
	for (size_t f = 0; f < LEN(families); f++) {
		const struct split_rules *r = split_named(families[f]);
		size_t count = 1;

		for (int i = 0; i < LONGEST; i++)
			count *= N;
		for (size_t code = 0; code < count; code += EVERY) {
			char text[100];
			size_t n = 0, rest = code;

			for (int i = 0; i < LONGEST; i++, rest /= N) {
				size_t len = strlen(parts[rest % N]);

				memcpy(text + n, parts[rest % N], len);
				n += len;
			}
			memcpy(text + n, behind, sizeof(behind));
			compare(r, (unsigned)code % tiers(), text, n + sizeof(behind) - 1);
		}
	}
}

/* A short string at every place of a window. */
static void every_place(void **state)
{
	static const char *const strings[] = {"it's", "x\n  \n y", "12345", "\u2764\ufe0f!",
	    "!!\u0301a", "はAPIは", "中文。", "  中", "\u00a0\u00a0é", "DON'Tの", "}\n//", "ア・イ",
	    "\r\n\r\n\t x"};

	(void)state;
	for (size_t i = 0; i < LEN(strings); i++)
		for (size_t at = 0; at < 130; at++) {
			char text[300];
			size_t n = strlen(strings[i]);

			memset(text, 'w', sizeof(text));
			for (size_t k = 0; k < sizeof(text); k += 5)
				text[k] = ' ';
			memcpy(text + at, strings[i], n);
			for (size_t f = 0; f < LEN(families); f++)
				for (unsigned t = 0; window_tier(t); t++) {
					compare(split_named(families[f]), t, text, sizeof(text));
					compare(split_named(families[f]), t, text, at + n);
				}
		}
}

static void every_code_point(void **state)
{
	static const char *const around[][2] = {{"a", "B b"}, {"!", "!a"}, {" ", "'s x"},
	    {"1", "23"}, {"'", "a"}, {"\n", "\n x"}, {"中", "のx"}, {"!! ", " !"}};

	(void)state;
	for (uint32_t cp = 0x80; cp < 0x32000; cp += EVERY) {
		char text[400];
		size_t n = 0;

		if (cp >= 0xD800 && cp < 0xE000)
			continue;
		for (size_t i = 0; i < LEN(around); i++) {
			memcpy(text + n, around[i][0], strlen(around[i][0]));
			n += strlen(around[i][0]);
			n += utf8_encode(cp, text + n);
			memcpy(text + n, around[i][1], strlen(around[i][1]));
			n += strlen(around[i][1]);
		}
		memcpy(text + n, " and behind", 11);
		for (size_t f = 0; f < LEN(families); f++)
			compare(split_named(families[f]), tiers() - 1, text, n + 11);
	}
}

static void random_strings(void **state)
{
	static const char *const more[] = {"a", "b", "C", "word", "Word", "WORD", "12", "345678",
	    " ", "  ", "\t", "\n", "\r\n", "\n\n    ", "!", "//", "'", "'s", "'RE", "'ll", "it's",
	    "/", ".", "\x01", "中", "é", "\u00a0", "\u017f", "            ", "中文模型", "のは",
	    "コード", "。", "привет", "Мир", "नमस्ते", "😀", "\u2764\ufe0f", "٣", "ªº"};
	uint64_t x = 88172645463325252u;

	(void)state;
	for (size_t round = 0; round < 40000; round += EVERY) {
		char text[600];
		size_t n = 0;
		const struct split_rules *r = split_named(families[round % LEN(families)]);

		for (size_t i = 0; i < 1 + round % 80 && n < sizeof(text) - 30; i++) {
			const char *part;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			part = x % 3 ? more[x / 3 % LEN(more)] : parts[x / 3 % LEN(parts)];
			memcpy(text + n, part, strlen(part));
			n += strlen(part);
		}
		for (unsigned t = 0; window_tier(t); t++)
			compare(r, t, text, n);
	}
}

/* E3_VECTORS takes a slower one, and what is no name changes nothing. */
static void chosen_by_name(void **state)
{
	window_fn *best;

	(void)state;
	unsetenv("E3_VECTORS");
	best = window_best();
	for (unsigned t = 0; window_tier(t); t++) {
		setenv("E3_VECTORS", window_tier_name(t), 1);
		assert_ptr_equal(window_best(), window_tier(t));
	}
	setenv("E3_VECTORS", "none such", 1);
	assert_ptr_equal(window_best(), best);
	unsetenv("E3_VECTORS");
	assert_ptr_equal(window_tier(0), window_plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_strings),
	    cmocka_unit_test(every_place),
	    cmocka_unit_test(every_code_point),
	    cmocka_unit_test(short_strings),
	    cmocka_unit_test(chosen_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
