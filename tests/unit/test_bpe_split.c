/* Where each family's expression cuts: a table of texts, and the recognition of spellings. */
#include "base/buf.h"
#include "bpe/split.h"
#include "unit.h"

struct row {
	const char *family, *text, *pieces; /* bars between pieces */
};

static const struct row rows[] = {
    {"gpt2", "Hello world's DON'T 123456", "Hello| world|'s| DON|'|T| 123456"},
    {"gpt2", "a  b\n\n  c  ", "a| | b|\n\n | c|  "},
    {"gpt2", "a!!\n?", "a|!!|\n|?"},
    {"smollm2", "a 123  b", "a| |1|2|3| | b"},
    {"smollm2", "x  1", "x|  |1"}, /* look-ahead ends before the digit */
    {"llama3", "I'LL 12345 x", "I|'LL| |123|45| x"},
    {"llama3", "'\u017f'RE\u2019s", "'\u017f|'RE|\u2019s"},
    {"llama3", "e\u0301 a\u0301", "e|\u0301| a|\u0301"}, /* marks are no letters here */
    {"llama3", "!\n\n/ \n  x", "!\n\n|/| \n| | x"},
    {"qwen2", "123 a", "1|2|3| a"},
    {"qwen3.5", "e\u0301 \u0301", "e\u0301| \u0301"},
    {"ling2", "I'll 12\r\n\r\n x", "I|'ll| |1|2|\r\n\r\n| x"},
    {"o200k", "HelloWorld HTTPResponse camelCase", "Hello|World| HTTPResponse| camel|Case"},
    {"o200k", "can'ts CAN'T 's's", "can't|s| CAN'T| '|s's"},
    {"o200k", "\u0301ABC", "\u0301|ABC"}, /* a lone mark is a lower-case run by itself */
    {"o200k", "}\n///doc a/\n", "}\n///|doc| a|/\n"},
    {"o200k", "AB中CD", "AB中|CD"},
    {"kimi", "}\n///doc", "}\n|///|doc"},
    {"kimi", "AB中CD中's", "AB|中|CD|中|'s"},
    {"kimi", "1〇2〇〇\u2f00!\u2f00", "1〇2|〇〇\u2f00|!\u2f00"},
    {"kimi", "\t中\tx 中", "\t|中|\tx| |中"},
    {"deepseek3", "a12345b中・の!abc\u0301", "a|123|45|b|中|・|の|!abc|\u0301"},
    {"deepseek3", "x\x01\x01y\u200b1", "x|\x01|\x01y|\u200b|1"}, /* what no alternative takes */
    {"deepseek3", "a  1  中", "a|  |1|  |中"},
};

static void cuts_where_the_expression_does(void **state)
{
	struct buf got = {0};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		const struct split_rules *rules = split_named(rows[i].family);
		size_t at = 0;
		struct split s;

		assert_non_null(rules);
		buf_reset(&got);
		split_start(&s, rules, rows[i].text, strlen(rows[i].text));
		while (s.pos < s.n) {
			size_t end = split_next(&s);

			if (at > 0)
				buf_addc(&got, '|');
			buf_add(&got, rows[i].text + at, end - at);
			at = end;
		}
		assert_bytes(rows[i].family, got.data, got.len, rows[i].pieces);
	}
	buf_free(&got);
}

static void knows_expressions_by_their_spelling(void **state)
{
	static const char *const numbers = "\\p{N}{1,3}", *const cjk = "[一-龥぀-ゟ゠-ヿ]+";
	const char *third = split_named("deepseek3")->pattern[2];
	char raw[400];
	size_t n = 0;

	(void)state;
	assert_string_equal(split_find(&(const char *){split_byte_level()}, 1, 0)->name, "gpt2");
	assert_string_equal(split_find(&(const char *){split_byte_level()}, 1, 1)->name, "smollm2");
	assert_null(split_find(&(const char *){"\\p{L}+"}, 1, 0));
	assert_null(split_find((const char *const[]){numbers, cjk}, 2, 0));
	assert_string_equal(
	    split_find((const char *const[]){numbers, cjk, third}, 3, 0)->name, "deepseek3");
	/* the model's file has CR and LF themselves where others have escapes */
	for (const char *p = third; *p; p++) {
		int escape = p[0] == '\\' && (p[1] == 'r' || p[1] == 'n');

		raw[n++] = (char)(!escape ? *p : p[1] == 'r' ? '\r' : '\n');
		p += escape;
	}
	raw[n] = '\0';
	assert_true(n < strlen(third));
	assert_non_null(split_find((const char *const[]){numbers, cjk, raw}, 3, 0));
	raw[n - 1] = 'x';
	assert_null(split_find((const char *const[]){numbers, cjk, raw}, 3, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cuts_where_the_expression_does),
	    cmocka_unit_test(knows_expressions_by_their_spelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
