/* Counting integer arrays agrees with reading them, whatever their length and spelling. */
#include "unit.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/ints.h"
#include "json/ids.h"

static void rows(void **state)
{
	static const struct {
		const char *text;
		int ids;	 /* how many, or -1 for an error */
		int zeros, ones; /* -1: an error */
	} t[] = {
	    {"[]", 0, 0, 0},
	    {"[ ]", 0, 0, 0},
	    {"[0]", 1, 1, 0},
	    {"[1]", 1, 0, 1},
	    {"[1,0,1]", 3, 1, 2},
	    {"[ 1 ,0,\n1 ]", 3, 1, 2},
	    {"[7]", 1, -1, -1},
	    {"[10]", 1, -1, -1},
	    {"[0,11]", 2, -1, -1},
	    {"[101,0]", 2, -1, -1},
	    {"[163839,0,2147483647]", 3, -1, -1},
	    {"[2147483648]", -1, -1, -1},
	    {"[1,99999999999]", -1, -1, -1},
	    {"[-0]", 1, -1, -1},
	    {"[-1]", -1, -1, -1},
	    {"[1.0]", -1, -1, -1},
	    {"[1e3]", -1, -1, -1},
	    {"[true]", -1, -1, -1},
	    {"[\"1\"]", -1, -1, -1},
	    {"[1,[0]]", -1, -1, -1},
	    {"[null]", -1, -1, -1},
	    {"{}", -1, -1, -1},
	    {"1", -1, -1, -1},
	    {"null", -1, -1, -1},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct span v = {t[i].text, strlen(t[i].text)};
		size_t n = 0, zeros = 0, ones = 0;
		struct err e = {0};
		int rc = ids_count(v, "x", &n, &e);

		if (rc != (t[i].ids < 0 ? -1 : 0) || (rc == 0 && (int)n != t[i].ids))
			fail_msg("ids %s: %d, %zu", t[i].text, rc, n);
		if (rc < 0)
			assert_ptr_equal(strstr(e.msg, "x"), e.msg);
		rc = mask_count(v, "y", &zeros, &ones, &e);
		if (rc != (t[i].ones < 0 ? -1 : 0) ||
		    (rc == 0 && ((int)zeros != t[i].zeros || (int)ones != t[i].ones)))
			fail_msg("mask %s: %d, %zu, %zu", t[i].text, rc, zeros, ones);
	}
}

/* Around the sizes of the blocks in which bytes are counted, and of the sums that fit in one. */
static void lengths(void **state)
{
	struct buf ids = {0}, mask = {0};

	(void)state;
	for (size_t n = 1; n < 1500; n += n < 300 ? 1 : 97) {
		size_t got, zeros, ones, want = 0;
		struct err e;

		buf_reset(&ids);
		buf_reset(&mask);
		for (size_t i = 0; i < n; i++) {
			int one = i * i % 7 < 3;

			buf_addf(&ids, "%c%zu", i ? ',' : '[', i * 7919 % 163840);
			buf_addf(&mask, "%c%d", i ? ',' : '[', one);
			want += (size_t)one;
		}
		buf_addc(&ids, ']');
		buf_addc(&mask, ']');
		assert_int_equal(ids_count((struct span){ids.data, ids.len}, "x", &got, &e), 0);
		assert_int_equal(got, n);
		assert_int_equal(
		    mask_count((struct span){mask.data, mask.len}, "x", &zeros, &ones, &e), 0);
		assert_int_equal(ones, want);
		assert_int_equal(zeros, n - want);
	}
	buf_free(&ids);
	buf_free(&mask);
}

/* An id of ten digits is read, wherever it stands. */
static void large_ids(void **state)
{
	static const struct {
		const char *id;
		int ok;
	} t[] = {{"2147483647", 1}, {"2147483648", 0}, {"99999999999", 0}};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t) * 80 * 20; i++) {
		size_t before = i / LEN(t) % 80, after = i / LEN(t) / 80, n = 0;
		struct span v;
		struct err e;

		buf_reset(&b);
		buf_addf(&b, "[%.*s", (int)(before % 4 + 1), "5555");
		for (size_t k = 0; k < before / 4; k++)
			buf_adds(&b, ",7");
		buf_addf(&b, ",%s", t[i % LEN(t)].id);
		for (size_t k = 0; k < after; k++)
			buf_adds(&b, ",7");
		buf_addc(&b, ']');
		v = (struct span){b.data, b.len};
		if ((ids_count(v, "x", &n, &e) == 0) != t[i % LEN(t)].ok ||
		    (ids_plain(v) && !t[i % LEN(t)].ok))
			fail_msg("%.*s", (int)v.n, v.p);
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(large_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
