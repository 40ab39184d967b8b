/* e3-extract's small parts: names of files, layers, the index, what a layout refuses. */

#include "base/err.h"
#include "extract/index.h"
#include "extract/layout.h"
#include "extract/manifest.h"
#include "unit.h"
#include "json/rec.h"

/* ---- names ---- */

#define LONG200                                                                            \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"1234567890123456789012345678901234567890"
#define LONG150                                                                            \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"1234567890123456789012345678901234567890123456789012345678901234567890"

static const struct {
	enum layout layout;
	uint64_t i, k;
	const char *id, *want;
} names[] = {
    {LAYOUT_SEED, 0, 9, "x", "rows_0-2000/data_0.pt"},
    {LAYOUT_SEED, 1999, 9, "x", "rows_0-2000/data_1999.pt"},
    {LAYOUT_SPECFORGE, 2000, 9, "x", "rows_2000-4000/data_2000.ckpt"},
    {LAYOUT_SPECFORGE, 88087, 9, "x", "rows_88000-90000/data_88087.ckpt"},
    {LAYOUT_SPECULATORS, 5, 3, "x", "hidden_states/hs_3.safetensors"},
    /* the folders are the first byte of xxh64 of the id */
    {LAYOUT_MODELOPT, 0, 0, "a", "d2/a.pt"},
    {LAYOUT_MODELOPT, 0, 0, "B1_glaive/17#turn2", "a0/B1_glaive%2F17%23turn2.pt"},
    {LAYOUT_MODELOPT, 0, 0, ".x", "ed/%2Ex.pt"},
    {LAYOUT_MODELOPT, 0, 0, "a.b-c", "0e/a.b-c.pt"},
    {LAYOUT_MODELOPT, 0, 0, "\xc3\xa9%", "9c/%C3%A9%25.pt"},
    {LAYOUT_MODELOPT, 0, 0, LONG200, "76/" LONG200 ".pt"},
    {LAYOUT_MODELOPT, 0, 0, LONG200 "x", "e1/" LONG150 "-e1ff5ed42daac78d.pt"},
};

static void file_names(void **state)
{
	(void)state;
	for (size_t n = 0; n < LEN(names); n++) {
		struct buf b = {0};
		struct span id = {names[n].id, strlen(names[n].id)};

		layout_name(&b, names[n].layout, names[n].i, names[n].k, id);
		assert_bytes(names[n].id, b.data, b.len, names[n].want);
		assert_true(layout_owns(names[n].layout, buf_cstr(&b)));
		buf_free(&b);
	}
}

static const struct {
	enum layout layout;
	const char *name;
	int owned;
} owned[] = {
    {LAYOUT_SEED, "manifest.json", 0},
    {LAYOUT_SEED, "notes.txt", 0},
    {LAYOUT_SEED, "data_1.pt", 0},
    {LAYOUT_SEED, "rows_0-2000/data_.pt", 0},
    {LAYOUT_SEED, "rows_0-2000/data_1.ckpt", 0},
    {LAYOUT_SEED, "rows_0-2000/other.pt", 0},
    {LAYOUT_SEED, "other/data_1.pt", 0},
    {LAYOUT_SEED, ".new-12.pt", 1},
    {LAYOUT_SEED, ".new-12.ckpt", 0},
    {LAYOUT_SEED, ".new-.pt", 0},
    {LAYOUT_SEED, ".data.99.1.tmp", 1},
    {LAYOUT_SEED, ".tmp", 0},
    {LAYOUT_SEED, "x.tmp", 0},
    {LAYOUT_SPECULATORS, "hidden_states/hs_1.safetensors", 1},
    {LAYOUT_SPECULATORS, "hidden_states/hs_1.safetensors.lock", 0},
    {LAYOUT_SPECULATORS, "data-00000.arrow", 0},
    {LAYOUT_SPECULATORS, "hs_1.safetensors", 0},
    {LAYOUT_MODELOPT, "a/x.pt", 0},
    {LAYOUT_MODELOPT, "d2t.pt", 0},
    {LAYOUT_MODELOPT, "ab/x.pt", 1},
};

/* What a resumed run may delete, and what it must never touch. */
static void ownership(void **state)
{
	(void)state;
	for (size_t n = 0; n < LEN(owned); n++)
		if (layout_owns(owned[n].layout, owned[n].name) != owned[n].owned)
			fail_msg("%s %s", layout_word(owned[n].layout), owned[n].name);
}

/* ---- what a layout can't hold ---- */

static void refusals(void **state)
{
	static const struct {
		enum layout layout;
		unsigned aux;
		int last;
		enum norm norm;
		int good;
	} rows[] = {
	    {LAYOUT_SEED, 3, 0, NORM_UNSAID, 1},
	    {LAYOUT_SEED, 5, 1, NORM_BEFORE, 1},
	    {LAYOUT_SEED, 5, 1, NORM_UNSAID, 1},
	    {LAYOUT_MODELOPT, 4, 1, NORM_BEFORE, 1},
	    {LAYOUT_MODELOPT, 4, 1, NORM_AFTER, 1},
	    {LAYOUT_MODELOPT, 4, 0, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_AFTER, 1},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_BEFORE, 0},
	    {LAYOUT_SPECFORGE, 4, 1, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 0, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_UNSAID, 0},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_BEFORE, 1},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_AFTER, 0},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_UNSAID, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e;

		assert_int_equal(
		    layout_refuse(rows[i].layout, rows[i].aux, rows[i].last, rows[i].norm, &e),
		    rows[i].good ? 0 : -1);
	}
}

/* ---- layers ---- */

static void layers(void **state)
{
	static const char *const good[] = {
	    "2", "0,1", "2,30,58", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"};
	static const char *const bad[] = {"", ",", "2,", "2,2", "3,2", "x", "-1", "2.5", "2 3",
	    "100001", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"};
	struct setinfo s = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(good); i++) {
		struct buf b = {0};

		assert_int_equal(
		    setinfo_read_layers(&s, (struct span){good[i], strlen(good[i])}, &e), 0);
		setinfo_layers(&b, &s);
		assert_bytes(good[i], b.data, b.len, good[i]);
		buf_free(&b);
	}
	for (size_t i = 0; i < LEN(bad); i++)
		if (setinfo_read_layers(&s, (struct span){bad[i], strlen(bad[i])}, &e) == 0)
			fail_msg("\"%s\" was read", bad[i]);
}

/* ---- the index ---- */

static void index_lines(void **state)
{
	static const char in[] = "{\"dataset\":\"d\",\"n\":1.50,\"id\":\"old\"}";
	static const char want[] =
	    "{\"id\":\"a\\\"b\",\"file\":\"f/x.pt\",\"seq_len\":3,\"bytes\":99,"
	    "\"xxh64\":\"00000000deadbeef\",\"n\":1.50,\"dataset\":\"d\"}";
	const char *names_kept[] = {"n", "nothing", "dataset"};
	struct opt_list keep = {.v = names_kept, .n = 3, .cap = 3};
	struct index_line l = {.seq_len = 3, .bytes = 99, .xxh64 = 0xdeadbeef}, back = {0};
	struct rec from = {0}, r = {0};
	struct buf b = {0};
	struct err e;

	(void)state;
	buf_adds(&l.id, "a\"b");
	buf_adds(&l.file, "f/x.pt");
	assert_int_equal(rec_parse(&from, in, sizeof(in) - 1, &e), 0);
	index_write(&b, &l, &from, &keep);
	assert_bytes("line", b.data, b.len, want);
	assert_int_equal(rec_parse(&r, b.data, b.len, &e), 0);
	assert_int_equal(index_read(&back, &r, &e), 0);
	assert_bytes("id", back.id.data, back.id.len, "a\"b");
	assert_int_equal(back.bytes, 99);
	assert_int_equal(back.xxh64, 0xdeadbeef);
	rec_free(&from);
	rec_free(&r);
	buf_free(&b);
	index_free(&l);
	index_free(&back);
}

#define LINE(file, bytes, hash)                                                                   \
	"{\"id\":\"a\",\"file\":\"" file "\",\"seq_len\":3,\"bytes\":" bytes ",\"xxh64\":\"" hash \
	"\"}"

static void bad_index_lines(void **state)
{
	static const char *const bad[] = {LINE("/etc/passwd", "1", "0000000000000000"),
	    LINE("../x", "1", "0000000000000000"), LINE("a/../../x", "1", "0000000000000000"),
	    LINE("", "1", "0000000000000000"), LINE("x\\u0000y", "1", "0000000000000000"),
	    LINE("x", "-1", "0000000000000000"), LINE("x", "1.5", "0000000000000000"),
	    LINE("x", "1", "000000000000000"), LINE("x", "1", "000000000000000G"),
	    LINE("x", "1", "000000000000000A"), "{\"id\":\"a\"}"};
	struct index_line l = {0};
	struct rec r = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		assert_int_equal(rec_parse(&r, bad[i], strlen(bad[i]), &e), 0);
		if (index_read(&l, &r, &e) == 0)
			fail_msg("%s was read", bad[i]);
	}
	rec_free(&r);
	index_free(&l);
}

static void done_set(void **state)
{
	struct done_set s = {0};
	struct index_line l = {0};

	(void)state;
	assert_null(done_find(&s, SPAN("x")));
	for (int i = 0; i < 1000; i++) {
		buf_reset(&l.id);
		buf_addf(&l.id, "id/%d", i);
		buf_reset(&l.file);
		buf_addf(&l.file, "f%d", i);
		assert_int_equal(done_add(&s, &l), 1);
	}
	assert_int_equal(done_add(&s, &l), 0);
	assert_int_equal(s.n, 1000);
	assert_string_equal(done_find(&s, SPAN("id/77"))->file, "f77");
	assert_string_equal(done_find(&s, SPAN("id/999"))->file, "f999");
	assert_null(done_find(&s, SPAN("id/1000")));
	done_free(&s);
	index_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(file_names),
	    cmocka_unit_test(ownership), cmocka_unit_test(refusals), cmocka_unit_test(layers),
	    cmocka_unit_test(index_lines), cmocka_unit_test(bad_index_lines),
	    cmocka_unit_test(done_set)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
