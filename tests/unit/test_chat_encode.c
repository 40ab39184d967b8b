/* Prompts that begin alike are encoded from the last added token of their common part on: the ids
 * are those of the text alone, whatever the added tokens are like. */
#include "unit.h"

#include "base/err.h"
#include "chat/impl.h"
#include "folder.h"

#define PAIRS 4000

#define TOK(id, name, flags) "{\"id\":" #id ",\"content\":\"" name "\"" flags "}"
#define NORMAL		     ",\"normalized\":true"
#define WORD		     ",\"single_word\":true"

static const struct {
	const char *name, *added, *normalizer;
	const char *pieces[8]; /* of the texts */
} rows[] = {
    {"nothing odd", "[" TOK(256, "<e>", "") "," TOK(257, "<f>", "") "]", "null",
	{"<e>", "<f>", "<", "e>", "a", " "}},
    {"runs of spaces",
	"[" TOK(256, "  ", "") "," TOK(257, "   ", "") "," TOK(258, "      ", "") "]", "null",
	{" ", "  ", "    ", "a", "\n"}},
    {"runs of spaces, normalized",
	"[" TOK(256, "  ", NORMAL) "," TOK(257, "   ", NORMAL) "," TOK(258, "a ", "") "]", "null",
	{" ", "  ", "    ", "a", "\n"}},
    {"one inside another", "[" TOK(256, "bc", "") "," TOK(257, "abcde", "") "]", "null",
	{"a", "bc", "c", "d", "e", "x"}},
    {"one inside another that is not normalized",
	"[" TOK(256, "bc", NORMAL) "," TOK(257, "abcde", "") "," TOK(258, "xy", "") "]", "null",
	{"a", "bc", "c", "d", "e", "x"}},
    {"white space taken",
	"[" TOK(256, "<e>", ",\"lstrip\":true,\"rstrip\":true") "," TOK(257, "  ", "") "]", "null",
	{"<e>", " ", "  ", "\u3000", "\u3001", "\n"}},
    {"white space taken that another begins with",
	"[" TOK(256, "<e>", ",\"rstrip\":true") "," TOK(257, " abcdef", "") "]", "null",
	{"<e>", " ", "abcde", "f", "x"}},
    {"white space taken that none begins with",
	"[" TOK(256, "<e>", ",\"lstrip\":true,\"rstrip\":true") "," TOK(257, "a  ", "") "]", "null",
	{"<e>", " ", "  ", "\u3000", "\u3001", "a"}},
    {"words", "[" TOK(256, "foo", "") "," TOK(257, "bar", WORD) "," TOK(258, "<e>", "") "]", "null",
	{"foo", "bar", "<e>", " ", "\u00e9", "b"}},
    {"words, normalized", "[" TOK(256, "foo", NORMAL) "," TOK(257, "bar", WORD NORMAL) "]", "null",
	{"foo", "bar", " ", "\u00e9", "b"}},
    {"a normal form", "[" TOK(65, "A", NORMAL) "," TOK(256, "<e>", "") "]", "{\"type\":\"NFC\"}",
	{"A", "\u0334", "\u030a", "<e>", "x"}},
};

static unsigned next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

/* Keeps some pieces of the text before, and adds others. */
static void change(struct buf *text, const char *const *piece, uint64_t *seed)
{
	size_t n = 0, add = next_random(seed) % 6;

	text->len = text->len > 0 ? next_random(seed) % (text->len + 1) : 0;
	while (text->len > 0 && ((unsigned char)text->data[text->len - 1] & 0x80))
		text->len--;
	while (n < LEN(rows[0].pieces) && piece[n])
		n++;
	for (size_t i = 0; i < 1 + add; i++)
		buf_adds(text, piece[next_random(seed) % n]);
}

static void encode_pairs(const struct chat *c, size_t row, unsigned how)
{
	struct chat_work *w = chat_work_open(c), *fresh = chat_work_open(c);
	struct buf *text = &w->prompt.text;
	uint64_t seed = row;
	struct err e = {0};

	for (int i = 0; i < PAIRS; i++) {
		struct ints ids = {0}, starts = {0};
		struct bpe_text t;

		change(text, rows[row].pieces, &seed);
		t = (struct bpe_text){text->data, text->len, 0};
		assert_int_equal(bpe_encode(c->bpe, fresh->bpe, t, &ids, &starts, &e), 0);
		assert_int_equal(chat_encode_prompt(w, how, &e), 0);
		if (!ints_eq(&w->ids, ids.v, ids.n))
			fail_msg("%s: '%.*s'", rows[row].name, (int)t.n, t.p);
		assert_true(how == 0 || ints_eq(&w->starts, starts.v, starts.n));
		ints_free(&ids);
		ints_free(&starts);
	}
	chat_work_close(w);
	chat_work_close(fresh);
}

static void keeps_no_more_than_stands(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct chat_opt opt = {.model = tmp_dir};
		struct err e = {0};
		struct chat *c;

		folder_write(rows[i].added, rows[i].normalizer, "");
		c = chat_open(&opt, &e);
		if (!c)
			fail_msg("%s: %s", rows[i].name, e.msg);
		encode_pairs(c, i, 0);
		encode_pairs(c, i, ENC_STARTS);
		chat_close(c);
	}
}

/* The template's marks are marks, also where a message's blanks stand before and behind them. */
static void cuts_at_the_template_s_marks(void **state)
{
	static const struct {
		const char *added, *text[2][3]; /* each by message, template, message */
		const char *ids;
	} cuts[] = {
	    {"[" TOK(256, "<e>", "") "]", {{"a ", "<e>", " b"}, {"<e>", "<e>", ""}},
		"97 32 256 32 98 60 101 62 256"},
	    {"[" TOK(256, "<e>", ",\"lstrip\":true,\"rstrip\":true") "]",
		{{"a ", "<e>", " b"}, {"<e>x ", "<e>", ""}}, "97 256 98 60 101 62 120 256"},
	    {"[" TOK(256, "<e>", ",\"rstrip\":true") "," TOK(257, " b", "") "]",
		{{"a", "<e> b", ""}, {"", "", ""}}, "97 256 257"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(cuts); i++) {
		struct chat_opt opt = {.model = tmp_dir};
		struct err e = {0};
		struct chat *c;
		struct chat_work *w;
		struct buf got = {0};

		folder_write(cuts[i].added, "null", "");
		c = chat_open(&opt, &e);
		assert_non_null(c);
		w = chat_work_open(c);
		for (size_t k = 0; k < 6; k++) {
			const char *s = cuts[i].text[k / 3][k % 3];

			chat_put(
			    &w->prompt, s, strlen(s), k % 3 == 1 ? 0 : ORIGIN(k / 3, SLOT_CONTENT));
		}
		if (chat_encode_prompt(w, ENC_NO_SPECIAL_IN_CONTENT, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
		for (size_t k = 0; k < w->ids.n; k++)
			buf_addf(&got, "%s%d", k > 0 ? " " : "", (int)w->ids.v[k]);
		assert_bytes(cuts[i].added, got.data, got.len, cuts[i].ids);
		buf_free(&got);
		chat_work_close(w);
		chat_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_no_more_than_stands),
	    cmocka_unit_test(cuts_at_the_template_s_marks),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
