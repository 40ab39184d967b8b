/* Normalisation, and where its bytes came from. */
#include "bpe/moves.h"
#include "bpe/nfc.h"
#include "bpe/unicode.h"
#include "unit.h"

static const struct {
	const char *name, *text, *normal;
} rows[] = {
    {"ASCII", "plain", "plain"},
    {"a composed letter", "\u00c5", "\u00c5"},
    {"a letter and a mark", "xA\u030ay", "x\u00c5y"},
    {"a singleton", "\u212b", "\u00c5"},
    {"two marks in order", "a\u0323\u0302", "\u1ead"},
    {"two marks out of order", "a\u0302\u0323", "\u1ead"},
    {"a mark of the same class is in the way", "a\u0300\u0301", "\u00e0\u0301"},
    {"a mark at the start", "\u0301a", "\u0301a"},
    {"a composition exclusion", "\u0958", "\u0915\u093c"},
    {"a mark that falls apart", "\u0344", "\u0308\u0301"},
    {"Hangul jamo", "\u1112\u1161\u11ab", "한"},
    {"a syllable and a jamo", "\uac00\u11a8", "각"},
    {"no trailing consonant", "\uac00\u11a7", "\uac00\u11a7"},
    {"a full syllable and a jamo", "각\u11a8", "각\u11a8"},
    {"a starter pair", "\u0b47\u0b3e", "\u0b4b"},
    /* U+0898 (14.0) has class 230 today; for Unicode 9.0 it is unassigned */
    {"a mark newer than the tables", "a\u0898\u0323", "a\u0898\u0323"},
};

static void normalises(void **state)
{
	struct buf out = {0};

	(void)state;
	assert_string_equal(nfc_version, "9.0.0");
	assert_string_equal(uni_version, "16.0.0");
	for (size_t i = 0; i < LEN(rows); i++) {
		buf_reset(&out);
		nfc_apply(&out, NULL, rows[i].text, strlen(rows[i].text));
		assert_bytes(rows[i].name, out.data, out.len, rows[i].normal);
	}
	buf_free(&out);
}

static void quick_check_finds_what_may_change(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		size_t n = strlen(rows[i].text);

		if (strcmp(rows[i].text, rows[i].normal) != 0)
			assert_true(nfc_quick(rows[i].text, n) < n);
	}
	assert_int_equal(nfc_quick("a\u00e9中🙂", 10), 10);
	assert_int_equal(nfc_quick("ab\u0301", 4), 2);
}

static void tells_where_bytes_came_from(void **state)
{
	static const char text[] = "abA\u030ac\u0301de"; /* a b [A ring] [c acute] d e */
	static const size_t want[] = {0, 1, 2, 2, 5, 5, 8, 9};
	struct moves m = {0};
	struct buf out = {0};
	size_t hint = 0;

	(void)state;
	buf_adds(&out, "before");
	nfc_apply(&out, &m, text, sizeof(text) - 1);
	assert_int_equal(out.len - 6, LEN(want));
	for (size_t i = 0; i < LEN(want); i++)
		assert_int_equal(moves_origin(&m, i, &hint), want[i]);
	moves_free(&m);
	buf_free(&out);
}

static void many_marks_cost_no_square(void **state)
{
	struct buf text = {0}, out = {0};

	(void)state;
	buf_adds(&text, "a");
	for (size_t i = 0; i < 200000; i++)
		buf_adds(&text, i % 2 ? "\u0323" : "\u0301");
	nfc_apply(&out, NULL, text.data, text.len);
	assert_memory_equal(out.data, "\u1ea1\u0323", 5);
	buf_free(&text);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(normalises),
	    cmocka_unit_test(quick_check_finds_what_may_change),
	    cmocka_unit_test(tells_where_bytes_came_from),
	    cmocka_unit_test(many_marks_cost_no_square),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
