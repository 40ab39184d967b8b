/* Integer arrays that are long enough to be read many elements at a time: the same as by the
 * grammar, wherever something that is not plain stands. */

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "unit.h"
#include "json/ids.h"

static const char *const odd[] = {
    "", " 7", "7 ", "-0", "2147483647", "123456789", "99999999", "100000000", "\t\n7", "0"};
static const char *const bad[] = {
    "1.5", "-1", "x", "2147483648", "", "1e3", "true", "[1]", "99999999999", "1:2"};

/* Of element i: of up to as many digits as the base has. */
static size_t value(size_t i, int base)
{
	return i * i * i * 7919 % (size_t)base;
}

/* [v, v, ...] of n elements of changing length, the one at `at` replaced. Exactly as many bytes as
 * it takes, so that a step over the end is seen. */
static struct span array(size_t n, size_t at, const char *with, int base)
{
	struct buf b = {0};
	struct span s;

	buf_addc(&b, '[');
	for (size_t i = 0; i < n; i++) {
		buf_adds(&b, i > 0 ? "," : "");
		if (i == at)
			buf_adds(&b, with);
		else
			buf_add_u64(&b, value(i, base));
	}
	buf_addc(&b, ']');
	s = (struct span){xmemdup(b.data, b.len), b.len};
	buf_free(&b);
	return s;
}

static const size_t lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 100, 200};

static void plain(void **state)
{
	(void)state;
	for (size_t k = 0; k < LEN(lengths); k++)
		for (int base = 2; base < 200000000; base = base * 7 + 1) {
			struct span s = array(lengths[k], SIZE_MAX, "", base);
			struct ints v = {0};
			struct err e;

			ints_push(&v, 42); /* what is there stays */
			assert_int_equal(ids_read(&v, s, "v", &e), 0);
			assert_int_equal(v.n, lengths[k] + 1);
			assert_int_equal(v.v[0], 42);
			for (size_t i = 0; i < lengths[k]; i++)
				assert_int_equal(v.v[i + 1], value(i, base));
			ints_free(&v);
			free((void *)(uintptr_t)s.p);
		}
}

static int32_t value_of(const char *text)
{
	return (int32_t)strtol(text, NULL, 10);
}

static void not_plain(void **state)
{
	(void)state;
	for (size_t at = 0; at < 70; at++)
		for (size_t k = 1; k < LEN(odd); k++) {
			struct span s = array(70, at, odd[k], 50000);
			struct ints v = {0};
			struct err e;

			assert_int_equal(ids_read(&v, s, "v", &e), 0);
			assert_int_equal(v.n, 70);
			for (size_t i = 0; i < 70; i++)
				assert_int_equal(
				    v.v[i], i == at ? value_of(odd[k]) : (int32_t)value(i, 50000));
			ints_free(&v);
			free((void *)(uintptr_t)s.p);
		}
}

static void refused(void **state)
{
	(void)state;
	for (size_t at = 0; at < 70; at++)
		for (size_t k = 0; k < LEN(bad); k++) {
			struct span s = array(70, at, bad[k], 50000), m = array(70, at, bad[k], 2);
			struct ints v = {0};
			struct buf b = {0};
			struct err e;
			char where[20];

			snprintf(where, sizeof(where), "v[%zu]:", at);
			if (ids_read(&v, s, "v", &e) == 0 ||
			    strncmp(e.msg, where, strlen(where)) != 0)
				fail_msg("%s at %zu: %s", bad[k], at, e.msg);
			if (mask_read(&b, m, "v", &e) == 0 ||
			    strncmp(e.msg, where, strlen(where)) != 0)
				fail_msg("mask, %s at %zu: %s", bad[k], at, e.msg);
			ints_free(&v);
			buf_free(&b);
			free((void *)(uintptr_t)s.p);
			free((void *)(uintptr_t)m.p);
		}
}

static void masks(void **state)
{
	(void)state;
	for (size_t k = 0; k < LEN(lengths); k++)
		for (size_t at = 0; at <= lengths[k]; at++) {
			struct span s = array(lengths[k], at, at % 2 ? " 1 " : "0", 2);
			struct buf b = {0};
			struct err e;

			buf_addc(&b, '#');
			assert_int_equal(mask_read(&b, s, "m", &e), 0);
			assert_int_equal(b.len, lengths[k] + 1);
			for (size_t i = 0; i < lengths[k]; i++)
				assert_int_equal(b.data[i + 1], i == at ? at % 2 : value(i, 2));
			buf_free(&b);
			free((void *)(uintptr_t)s.p);
		}
}

static void a_mask_of_two(void **state)
{
	(void)state;
	for (size_t at = 0; at < 70; at++)
		for (int blank = 0; blank < 2; blank++) {
			struct span s = array(70, at, blank ? " 2" : "2", 2);
			struct buf b = {0};
			struct err e;

			assert_int_equal(mask_read(&b, s, "m", &e), -1);
			buf_free(&b);
			free((void *)(uintptr_t)s.p);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(plain), cmocka_unit_test(not_plain),
	    cmocka_unit_test(refused), cmocka_unit_test(masks), cmocka_unit_test(a_mask_of_two)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
