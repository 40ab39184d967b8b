/* torch's files: the archive's bytes, what comes back, and damage of every kind. */

#include "base/err.h"
#include "tensor/crc32.h"
#include "tensor/le.h"
#include "tensor/pickle.h"
#include "tensor/pt.h"
#include "tensor/save.h"
#include "tensor/zip.h"
#include "tensor/zip_int.h"
#include "tmp.h"
#include "unit.h"

static const int64_t ids[3] = {1, -2, 3};
/* [2, 3, 2]: two rows of three layers of two */
static const uint16_t states[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static struct buf written(int (*write)(struct save *, struct err *))
{
	const char *path = tmp_path("x.pt");
	struct err e;
	struct save *s = save_open(path, &e);

	assert_non_null(s);
	assert_int_equal(write(s, &e), 0);
	assert_int_equal(save_finish(s, NULL, &e), 0);
	return tmp_read(path);
}

static int write_dict(struct save *s, struct err *e)
{
	struct tensor aux = {.name = "aux",
	    .dtype = DT_BF16,
	    .ndim = 2,
	    .dim = {2, 4},
	    .rows = 2,
	    .nparts = 1,
	    .part = {{(const char *)states, 8, 12}}};
	struct tensor swapped = {.name = "swapped",
	    .dtype = DT_BF16,
	    .ndim = 2,
	    .dim = {2, 4},
	    .rows = 2,
	    .nparts = 2,
	    .part = {{(const char *)states + 4, 4, 12}, {(const char *)states, 4, 12}}};
	struct pt_item items[] = {
	    {.key = "ids", .kind = PT_TENSOR, .tensor = tensor_1d("ids", DT_I64, 3, ids)},
	    {.key = "aux", .kind = PT_TENSOR, .tensor = aux},
	    {.key = "swapped", .kind = PT_TENSOR, .tensor = swapped},
	    {.key = "id", .kind = PT_STR, .str = SPAN("x/1")},
	    {.key = "n", .kind = PT_INT, .num = -70000},
	    {.key = "pre", .kind = PT_BOOL, .num = 1},
	};

	return pt_write_dict(s, items, LEN(items), e);
}

static int write_bare(struct save *s, struct err *e)
{
	struct tensor t = tensor_1d(NULL, DT_I64, 3, ids);

	return pt_write_tensor(s, &t, e);
}

static int write_counts(struct save *s, struct err *e)
{
	static struct pt_count c[2500];

	for (int i = 0; i < 2500; i++)
		c[i] = (struct pt_count){i * 3, (int64_t)i * 10000000};
	return pt_write_counts(s, c, LEN(c), e);
}

static void dict(void **state)
{
	static const uint16_t aux[] = {1, 2, 3, 4, 7, 8, 9, 10},
			      swapped[] = {3, 4, 1, 2, 9, 10, 7, 8};
	struct buf b = written(write_dict);
	struct err e;
	struct pt *f = pt_parse(b.data, b.len, &e);

	(void)state;
	assert_non_null(f);
	assert_int_equal(pt_check(f, &e), 0);
	assert_false(pt_bare(f));
	assert_int_equal(pt_count(f), 6);
	assert_memory_equal(tensor_data(pt_tensor(f, "ids")), ids, sizeof(ids));
	assert_memory_equal(tensor_data(pt_tensor(f, "aux")), aux, sizeof(aux));
	assert_memory_equal(tensor_data(pt_tensor(f, "swapped")), swapped, sizeof(swapped));
	assert_int_equal(pt_tensor(f, "aux")->dim[1], 4);
	assert_true(span_eq(pt_get(f, "id")->str, "x/1"));
	assert_int_equal(pt_get(f, "n")->num, -70000);
	assert_int_equal(pt_get(f, "pre")->kind, PT_BOOL);
	assert_null(pt_tensor(f, "id"));
	assert_null(pt_get(f, "nobody"));
	/* what mmap wants: the data on multiples of 64 */
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
		    ((const char *)tensor_data(&pt_at(f, i)->tensor) - b.data) % 64, 0);
	pt_close(f);
	buf_free(&b);
}

static void bare_and_counts(void **state)
{
	struct buf b = written(write_bare);
	struct err e;
	struct pt *f = pt_parse(b.data, b.len, &e);

	(void)state;
	assert_true(pt_bare(f));
	assert_memory_equal(tensor_data(&pt_at(f, 0)->tensor), ids, sizeof(ids));
	pt_close(f);
	buf_free(&b);
	b = written(write_counts);
	f = pt_parse(b.data, b.len, &e);
	assert_int_equal(pt_count(f), 2500);
	assert_int_equal(pt_at(f, 2499)->number, 2499 * 3);
	assert_int_equal(pt_at(f, 2499)->num, 24990000000);
	pt_close(f);
	buf_free(&b);
}

static void same_bytes(void **state)
{
	struct buf a = written(write_dict), b = written(write_dict);

	(void)state;
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	buf_free(&a);
	buf_free(&b);
}

/* No cut and no changed byte may crash the reader; a cut is always seen, a changed value by its
 * CRC. */
static void damage(void **state)
{
	struct buf b = written(write_dict);
	struct err e;
	size_t unseen = 0;

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		struct pt *f = pt_parse(b.data, n, &e);

		if (f)
			fail_msg("cut to %zu of %zu bytes it was read", n, b.len);
	}
	for (size_t i = 0; i < b.len; i++) {
		struct pt *f;

		b.data[i] ^= 0x41;
		f = pt_parse(b.data, b.len, &e);
		unseen += f && pt_check(f, &e) == 0;
		pt_close(f);
		b.data[i] ^= 0x41;
	}
	/* paddings, dates, and the local headers' copies are of no consequence */
	assert_in_range(unseen, 1, b.len / 2);
	buf_free(&b);
}

static void data_is_under_the_crc(void **state)
{
	struct buf b = written(write_dict);
	struct err e;
	struct pt *f = pt_parse(b.data, b.len, &e);
	size_t at = (size_t)((const char *)tensor_data(pt_tensor(f, "aux")) - b.data);

	(void)state;
	b.data[at] ^= 1;
	assert_int_equal(pt_check(f, &e), -1);
	assert_string_equal(e.class, "checksum");
	pt_close(f);
	buf_free(&b);
}

/* The archive with its directory's first entry, which is data.pkl's, n times more. */
static struct buf repeated(const struct buf *b, size_t n)
{
	const char *end = b->data + b->len - 22;
	size_t at = (size_t)le_get(end + 16, 4), size = (size_t)le_get(end + 12, 4);
	size_t one = 46 + (size_t)(le_get(b->data + at + 28, 2) + le_get(b->data + at + 30, 2));
	size_t count = n + (size_t)le_get(end + 10, 2);
	struct buf out = {0};
	char tail[22];

	memcpy(tail, end, sizeof(tail));
	memcpy(tail + 8, &(uint16_t){(uint16_t)count}, 2);
	memcpy(tail + 10, &(uint16_t){(uint16_t)count}, 2);
	memcpy(tail + 12, &(uint32_t){(uint32_t)(size + n * one)}, 4);
	buf_add(&out, b->data, at + size);
	while (n-- > 0)
		buf_add(&out, b->data + at, one);
	buf_add(&out, tail, sizeof(tail));
	return out;
}

/* A small file that holds much, by naming the same bytes again and again, or by a value a byte. */
static void bombs(void **state)
{
	static const struct {
		size_t n;
		const char *want;
	} t[] = {{0, NULL}, {900, "the zip archive's records overlap"},
	    {1000, "a zip archive of 1008 records, at most 1000 are read"}};
	struct buf b = written(write_dict), pkl = {0};
	struct arena a = {0};
	struct err e;
	struct pv v;

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf big = repeated(&b, t[i].n);
		struct pt *f = pt_parse(big.data, big.len, &e);

		assert_int_equal(f == NULL, t[i].want != NULL);
		if (!f)
			assert_string_equal(e.msg, t[i].want);
		pt_close(f);
		buf_free(&big);
	}
	buf_add(&pkl, "\x80\x02", 2);
	for (size_t i = 0; i <= PICKLE_MOST; i++)
		buf_addc(&pkl, ')');
	buf_addc(&pkl, '.');
	assert_int_equal(pickle_read(&v, (struct span){pkl.data, pkl.len}, &a, &e), -1);
	assert_string_equal(e.msg, "pickle: more than a million values");
	arena_free(&a);
	buf_free(&pkl);
	buf_free(&b);
}

/* The same archive with Zip64 fields for all that may stand in one, behind a field that is none. */
static struct buf as_zip64(const struct buf *b)
{
	const char *end = b->data + b->len - END_BYTES, *p = b->data + le_get(end + 16, 4);
	const uint64_t n = le_get(end + 10, 2), at = le_get(end + 16, 4);
	struct buf out = {0};
	uint64_t stop;

	buf_add(&out, b->data, at);
	for (uint64_t i = 0; i < n; i++) {
		const size_t name = le_get(p + 28, 2);

		buf_add(&out, p, 20);
		le_put(&out, ZIP_BIG, 4);
		le_put(&out, ZIP_BIG, 4);
		le_put(&out, name, 2);
		le_put(&out, 5 + 28, 2);
		buf_add(&out, p + 32, 10);
		le_put(&out, ZIP_BIG, 4);
		buf_add(&out, p + ENTRY_BYTES, name);
		buf_add(&out, "\x77\x77\1\0x", 5);
		le_put(&out, ZIP64_TAG, 2);
		le_put(&out, 24, 2);
		le_put(&out, le_get(p + 24, 4), 8);
		le_put(&out, le_get(p + 20, 4), 8);
		le_put(&out, le_get(p + 42, 4), 8);
		p += ENTRY_BYTES + name;
	}
	stop = out.len;
	le_put(&out, ZIP_END64, 4);
	le_put(&out, END64_BYTES - 12, 8);
	buf_add(&out, "-\0-\0\0\0\0\0\0\0\0\0", 12);
	le_put(&out, n, 8);
	le_put(&out, n, 8);
	le_put(&out, stop - at, 8);
	le_put(&out, at, 8);
	le_put(&out, ZIP_LOCATOR, 4);
	le_put(&out, 0, 4);
	le_put(&out, stop, 8);
	le_put(&out, 1, 4);
	le_put(&out, ZIP_END, 4);
	le_put(&out, 0, 4);
	le_put(&out, ZIP_MANY, 2);
	le_put(&out, ZIP_MANY, 2);
	le_put(&out, ZIP_BIG, 4);
	le_put(&out, ZIP_BIG, 4);
	le_put(&out, 0, 2);
	return out;
}

static void reads_zip64(void **state)
{
	enum { LOCATOR = END_BYTES + LOCATOR_BYTES, END64 = LOCATOR + END64_BYTES };
	static const struct {
		size_t back; /* from the end, of the byte that changes */
		char to;
		const char *want;
	} t[] = {{LOCATOR, 0, "no Zip64 locator"}, {LOCATOR - 15, 0x7f, "no Zip64 end record"},
	    {END64, 0, "no Zip64 end record"},
	    {END64 - 33, 0x7f, "the zip directory reaches over the end of the file"},
	    {END64 + 26, 16, "the zip directory is damaged"},
	    {END64 + 26, 25, "the zip directory is damaged"}};
	struct buf plain = written(write_dict), b = as_zip64(&plain);
	struct err e;
	struct pt *f = pt_parse(b.data, b.len, &e);

	(void)state;
	if (!f)
		fail_msg("%s", e.msg);
	assert_int_equal(pt_check(f, &e), 0);
	assert_int_equal(pt_count(f), 6);
	assert_memory_equal(tensor_data(pt_tensor(f, "ids")), ids, sizeof(ids));
	pt_close(f);
	for (size_t i = 0; i < LEN(t); i++) {
		char *at = b.data + b.len - t[i].back, was = *at;

		*at = t[i].to;
		assert_null(pt_parse(b.data, b.len, &e));
		assert_string_equal(e.msg, t[i].want);
		*at = was;
	}
	assert_null(pt_parse(b.data + b.len - END_BYTES, END_BYTES, &e));
	assert_string_equal(e.msg, "no Zip64 locator");
	buf_free(&plain);
	buf_free(&b);
}

static int write_many(struct save *s, struct err *e)
{
	struct zip_writer w;
	int rc = 0;

	zip_begin(&w, s);
	for (int i = 0; i < 70000 && rc == 0; i++)
		rc = zip_record(&w, "x", 0, e) < 0 ? -1 : zip_record_end(&w, e);
	rc = rc < 0 ? rc : zip_end(&w, e);
	zip_free(&w);
	return rc;
}

/* A record that says to be of 4 GiB and to begin behind 5, without their bytes. */
static int write_large(struct save *s, struct err *e)
{
	struct zip_writer w;

	zip_begin(&w, s);
	assert_int_equal(zip_record(&w, "big", 4ull << 30, e), 0);
	w.start = 5ull << 30;
	assert_int_equal(zip_record_end(&w, e), 0);
	assert_int_equal(zip_end(&w, e), 0);
	zip_free(&w);
	return 0;
}

static void writes_zip64(void **state)
{
	struct buf b = written(write_many);
	const char *p;
	struct err e;

	(void)state;
	assert_null(pt_parse(b.data, b.len, &e));
	assert_string_equal(e.msg, "a zip archive of 70000 records, at most 1000 are read");
	buf_free(&b);
	b = written(write_large);
	p = b.data;
	assert_int_equal(le_get(p + 4, 2), 45);
	assert_int_equal(le_get(p + 18, 4), ZIP_BIG);
	assert_int_equal(le_get(p + LOCAL_BYTES + 3, 4), ZIP64_TAG | 16 << 16);
	p += 64; /* the data would be here */
	assert_int_equal(le_get(p, 4), ZIP_DESCRIPTOR);
	assert_int_equal(le_get(p + 8, 8), 4ull << 30);
	assert_int_equal(le_get(p + 16, 8), 4ull << 30);
	p += 24;
	assert_int_equal(le_get(p, 4), ZIP_ENTRY);
	assert_int_equal(le_get(p + 6, 2), 45);
	assert_int_equal(le_get(p + 20, 4), ZIP_BIG);
	assert_int_equal(le_get(p + 24, 4), ZIP_BIG);
	assert_int_equal(le_get(p + 30, 2), 28);
	assert_int_equal(le_get(p + 42, 4), ZIP_BIG);
	p += ENTRY_BYTES + 3;
	assert_int_equal(le_get(p, 4), ZIP64_TAG | 24 << 16);
	assert_int_equal(le_get(p + 4, 8), 4ull << 30);
	assert_int_equal(le_get(p + 12, 8), 4ull << 30);
	assert_int_equal(le_get(p + 20, 8), 5ull << 30);
	assert_int_equal(le_get(p + 28, 4), ZIP_END);
	buf_free(&b);
}

/* A bit at a time: what all faster ways must agree with. */
static uint32_t slow(uint32_t crc, const unsigned char *p, size_t n)
{
	crc = ~crc;
	for (; n > 0; n--, p++) {
		crc ^= *p;
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void crc(void **state)
{
	unsigned char data[600];

	(void)state;
	assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_add(0, NULL, 0), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i * 7 >> 3);
	for (size_t n = 0; n <= 500; n++)
		for (size_t at = 0; at < 17; at++) {
			uint32_t whole = slow(1, data + at, n);

			assert_int_equal(crc32_add(1, data + at, n), whole);
			assert_int_equal(
			    crc32_add(crc32_add(1, data + at, n / 3), data + at + n / 3, n - n / 3),
			    whole);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(dict),
	    cmocka_unit_test(bare_and_counts), cmocka_unit_test(same_bytes),
	    cmocka_unit_test(damage), cmocka_unit_test(data_is_under_the_crc),
	    cmocka_unit_test(bombs), cmocka_unit_test(reads_zip64), cmocka_unit_test(writes_zip64),
	    cmocka_unit_test(crc)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
