/* Where added tokens stand in a text, and how much of the text says so. */
#include "unit.h"

#include "base/err.h"
#include "bpe/bpe.h"
#include "folder.h"

#define NFC	   "{\"type\":\"NFC\"}"
#define EOS	   "{\"id\":256,\"content\":\"<e>\""
#define ONE(flags) "[" EOS flags "}]"
#define TWO(name)  "[" EOS "},{\"id\":257,\"content\":\"" name "\"}]"
#define ALSO(more) "[" EOS ",\"normalized\":true}" more "]"
#define ANGSTROM   "[{\"id\":256,\"content\":\"\u212b\",\"normalized\":true}]"

static void put_mark(struct buf *out, const struct bpe_mark *m, size_t i)
{
	buf_addf(
	    out, "%s%zu:%d@%zu-%zu", i > 0 ? " " : "", m->number, (int)m->id, m->begin, m->end);
	if (m->name != m->begin || m->name_end != m->end)
		buf_addf(out, "(%zu-%zu)", m->name, m->name_end);
	if (m->reach < SIZE_MAX)
		buf_addf(out, "<%zu", m->reach);
}

/* NUMBER:ID@BEGIN-END<REACH, with its name's place where that is another; no REACH: SIZE_MAX. */
static void marks_added_tokens(void **state)
{
	static const struct {
		const char *name, *added, *normalizer, *text, *marks;
	} rows[] = {
	    {"none", "[]", "null", "ab", ""},
	    {"plain", ONE(""), "null", "a<e><e>b<e>", "1:256@1-4<4 2:256@4-7<7 4:256@8-11<11"},
	    {"blanks", ONE(",\"lstrip\":true,\"rstrip\":true"), "null", "a \t<e>\n <e>\u00e9",
		"1:256@1-8(3-6)<9 2:256@8-11<13"},
	    {"blanks up to the end", ONE(",\"rstrip\":true"), "null", "<e> ", "0:256@0-4(0-3)<5"},
	    {"words", ONE(",\"single_word\":true"), "null", "a<e> <e>", "5:256@5-8"},
	    {"one begins with another", TWO("<e>b"), "null", "<e><e>bc<e>",
		"0:256@0-3<4 1:257@3-7<7 3:256@8-11<12"},
	    {"one is in another", TWO("a<e>bc"), "null", "a<e>b<e>", "1:256@1-4<6 3:256@5-8<8"},
	    {"normalized", ANGSTROM, NFC, "xA\u030ayA\u030a", "1:256@1-4 3:256@5-8"},
	    {"normalized, in its normal form", ALSO(""), NFC, "x<e>", "1:256@1-4"},
	    {"normalized, by a form that changes nothing", ALSO(""), "null", "x<e>y",
		"1:256@1-4<4"},
	    {"normalized, and one that is not", ALSO(",{\"id\":257,\"content\":\"<e>b\"}"), "null",
		"<e><e>b<e><", "0:256@0-3<7 1:257@3-7<7 2:256@7-10<12"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct bpe_text t = {rows[i].text, strlen(rows[i].text), 0};
		struct err e = {0};
		struct bpe *m;
		struct bpe_work *w;
		struct ints ids = {0};
		struct buf got = {0};

		folder_write(rows[i].added, rows[i].normalizer, NULL);
		m = bpe_open_uncached(tmp_dir, &e);
		if (!m)
			fail_msg("%s: %s", rows[i].name, e.msg);
		w = bpe_work_open(m);
		for (int round = 0; round < 2; round++) { /* behind ids that are there already */
			const struct bpe_mark *k;
			size_t n;

			assert_int_equal(bpe_encode(m, w, t, &ids, NULL, &e), 0);
			k = bpe_marks(w, &n);
			buf_reset(&got);
			for (size_t j = 0; j < n; j++)
				put_mark(&got, &k[j], j);
			assert_bytes(rows[i].name, got.data, got.len, rows[i].marks);
		}
		ints_free(&ids);
		buf_free(&got);
		bpe_work_close(w);
		bpe_close(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(marks_added_tokens),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
