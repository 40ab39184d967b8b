#include "unit.h"

#include <ctype.h>

#include "base/arena.h"
#include "base/err.h"
#include "prep/text.h"
#include "prep/walk.h"
#include "json/rec.h"

static struct span span(const char *s)
{
	return (struct span){s, strlen(s)};
}

static void surrogates(void **state)
{
	static const struct {
		const char *name, *in, *want;
		size_t n;
	} t[] = {
	    {"none", "\"abc\\n\\u00e9\"", "\"abc\\n\\u00e9\"", 0},
	    {"high alone", "\"\\ud83d\"", "\"\\ufffd\"", 1},
	    {"low alone", "\"\\uDE00\"", "\"\\ufffd\"", 1},
	    {"a pair", "\"\\ud83d\\uDE00\"", "\"\\ud83d\\uDE00\"", 0},
	    {"high, high, low", "\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"", 1},
	    {"low, high", "\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"", 2},
	    {"escaped backslash", "\"\\\\ud83d\"", "\"\\\\ud83d\"", 0},
	    {"and one more", "\"\\\\\\ud83d\"", "\"\\\\\\ufffd\"", 1},
	    {"not a half", "\"\\ud7ff\\ue000\"", "\"\\ud7ff\\ue000\"", 0},
	    {"cut", "\\ud8", "\\ud8", 0},
	    {"at the end", "\\ud83d", "\\ufffd", 1},
	    {"high and a cut low", "\\ud83d\\ude0", "\\ufffd\\ude0", 1},
	};
	struct arena a = {0};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		/* at all offsets of the blocks that are looked through at once */
		for (size_t pad = 0; pad < 140; pad++) {
			struct span s;

			buf_reset(&b);
			for (size_t k = 0; k < pad; k++)
				buf_addc(&b, ' ');
			buf_adds(&b, t[i].in);
			s = (struct span){b.data, b.len};
			assert_int_equal(prep_fix_surrogates(&s, &a), t[i].n);
			assert_bytes(t[i].name, s.p + pad, s.n - pad, t[i].want);
			arena_reset(&a);
		}
	}
	buf_free(&b);
	arena_free(&a);
}

static void not_numbers(void **state)
{
	static const struct {
		const char *in, *want;
		size_t n;
	} t[] = {
	    {"{\"a\":NaN}", "{\"a\":null}", 1},
	    {"[Infinity,-Infinity, NaN]", "[null,null, null]", 3},
	    {"[\"NaN\",\"\\\"NaN\"]", "[\"NaN\",\"\\\"NaN\"]", 0},
	    {"\"NaN", "\"NaN", 0},
	};
	struct arena a = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct span s = span(t[i].in);

		assert_int_equal(prep_fix_nan(&s, &a), t[i].n);
		assert_bytes(t[i].in, s.p, s.n, t[i].want);
	}
	arena_free(&a);
}

enum { DECODED, LITERAL, SLASHES, ALL_ASCII, LETTERS, BAR, SPELLINGS };

/* The text as a literal in one of the ways that JSON has, or decoded, behind some blanks. */
static struct prep_text spelled(struct buf *b, const char *text, size_t pad, int how)
{
	static const char bar[] = "\xef\xbd\x9c";

	buf_reset(b);
	if (how != DECODED)
		buf_addc(b, '"');
	for (size_t k = 0; k < pad; k++)
		buf_addc(b, ' ');
	for (; *text; text++) {
		if (how == SLASHES && *text == '/')
			buf_adds(b, "\\/");
		else if ((how == ALL_ASCII && !(*text & 0x80)) ||
			 (how == LETTERS && isalpha((unsigned char)*text)))
			buf_addf(b, "\\u00%02X", (unsigned)*text);
		else if (how == BAR && !strncmp(text, bar, 3))
			text += 2, buf_adds(b, pad % 2 ? "\\uff5c" : "\\uFF5C");
		else if (how != DECODED && *text == '\\')
			buf_adds(b, "\\\\");
		else
			buf_addc(b, *text);
	}
	if (how != DECODED)
		buf_addc(b, '"');
	buf_cstr(b);
	return how == DECODED ? prep_text_plain((struct span){b->data, b->len})
			      : prep_text_of((struct span){b->data, b->len});
}

static void marks(void **state)
{
	static const struct {
		const char *text;
		size_t special, think, think_end;
		int call;
	} t[] = {
	    {"", 0, 0, 0, 0},
	    {"a < b [1] <| x |>", 0, 0, 0, 0},
	    {"<|im_end|>", 1, 0, 0, 0},
	    {"<|im_end|><|im_user|> [EOS]", 3, 0, 0, 0},
	    {"<|begin_of_thought|> <|end_of_solution|>", 0, 0, 0, 0},
	    {"<|||> <|im end|> <|im_end", 0, 0, 0, 0},
	    {"<\xef\xbd\x9cUser\xef\xbd\x9c>", 1, 0, 0, 0},
	    {"[EOF] [BOS]", 1, 0, 0, 0},
	    {"<think>a</think>b</think>", 0, 1, 2, 0},
	    {"</think>", 0, 0, 1, 0},
	    {"</think> and more than fills a block", 0, 0, 1, 0},
	    {"<tool_call>{}</tool_call>", 0, 0, 0, 1},
	    {"<function=bash>", 0, 0, 0, 1},
	    {"<|tool_call_begin|>", 1, 0, 0, 1},
	    {"\\u003cthink> \\/ \\<think> <\\/think>", 0, 1, 0, 0},
	};
	struct arena a = {0};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++)
		/* at all offsets of the blocks that are looked through at once */
		for (size_t pad = 0; pad < 40; pad++)
			for (int how = 0; how < SPELLINGS; how++) {
				struct prep_text text = spelled(&b, t[i].text, pad, how);
				struct prep_marks m;

				prep_marks_of(&text, &a, &m);
				if (m.special != t[i].special || m.think != t[i].think ||
				    m.think_end != t[i].think_end)
					fail_msg("%s, %d: %zu %zu %zu", b.data, how, m.special,
					    m.think, m.think_end);
				if (prep_has_call(prep_text_decode(&text, &a)) != t[i].call)
					fail_msg("%s, %d: call", b.data, how);
				arena_reset(&a);
			}
	arena_free(&a);
	buf_free(&b);
}

static void lines(void **state)
{
	static const struct {
		const char *in, *want;
	} t[] = {
	    {"{\"a\": 1}", "{\"a\": 1}"},
	    {"{\n  \"a b\": [1.0,\r\n\t2],\n \"c\": \"x\\n y\" }\n",
		"{\"a b\":[1.0,2],\"c\":\"x\\n y\"}"},
	};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&b);
		prep_add_json(&b, span(t[i].in));
		assert_bytes(t[i].in, b.data, b.len, t[i].want);
	}
	buf_free(&b);
}

static void walks(void **state)
{
	struct span v = SPAN("{\"a\" : [1, \"x]\\\"\" ,{ }], \"b\":null,\"a\":\"last\"}"), key, val;
	struct prep_walk w;
	struct buf b = {0};

	(void)state;
	prep_walk_open(&w, v);
	while (prep_walk_member(&w, &key, &val)) {
		buf_add(&b, key.p, key.n);
		buf_addc(&b, '=');
		buf_add(&b, val.p, val.n);
		buf_addc(&b, ';');
	}
	assert_bytes("members", b.data, b.len, "a=[1, \"x]\\\"\" ,{ }];b=null;a=\"last\";");
	val = prep_walk_get(v, "a");
	assert_bytes("the last", val.p, val.n, "\"last\"");
	assert_null(prep_walk_get(v, "c").p);
	buf_free(&b);
}

static void finds(void **state)
{
	struct span s = SPAN("aab<think");

	(void)state;
	assert_ptr_equal(prep_find(s, "ab"), s.p + 1);
	assert_null(prep_find(s, "<think>"));
	assert_null(prep_find((struct span){0}, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(surrogates),
	    cmocka_unit_test(not_numbers),
	    cmocka_unit_test(marks),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(walks),
	    cmocka_unit_test(finds),
	};

	return cmocka_run_group_tests_name("prep_text", tests, NULL, NULL);
}
