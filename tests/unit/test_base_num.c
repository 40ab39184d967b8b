/* num and utf8: text to numbers and code points, and back. */
#include "unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/utf8.h"

static void integers(void **state)
{
	static const struct {
		const char *text;
		int u64_rc;
		uint64_t u64;
		int i64_rc;
		int64_t i64;
		int size_rc;
		uint64_t size;
	} t[] = {
	    {"0", 0, 0, 0, 0, 0, 0},
	    {"007", 0, 7, 0, 7, 0, 7},
	    {"64", 0, 64, 0, 64, 0, 64},
	    {"", -1, 0, -1, 0, -1, 0},
	    {"-", -1, 0, -1, 0, -1, 0},
	    {"+", -1, 0, -1, 0, -1, 0},
	    {"-1", -1, 0, 0, -1, -1, 0},
	    {"+1", -1, 0, 0, 1, -1, 0},
	    {"--1", -1, 0, -1, 0, -1, 0},
	    {" 1", -1, 0, -1, 0, -1, 0},
	    {"1 ", -1, 0, -1, 0, -1, 0},
	    {"1.0", -1, 0, -1, 0, -1, 0},
	    {"0x10", -1, 0, -1, 0, -1, 0},
	    {"9223372036854775807", 0, INT64_MAX, 0, INT64_MAX, 0, INT64_MAX},
	    {"9223372036854775808", 0, (uint64_t)INT64_MAX + 1, -1, 0, 0, (uint64_t)INT64_MAX + 1},
	    {"-9223372036854775808", -1, 0, 0, INT64_MIN, -1, 0},
	    {"-9223372036854775809", -1, 0, -1, 0, -1, 0},
	    {"18446744073709551615", 0, UINT64_MAX, -1, 0, 0, UINT64_MAX},
	    {"18446744073709551616", -1, 0, -1, 0, -1, 0},
	    {"99999999999999999999", -1, 0, -1, 0, -1, 0},
	    {"1K", -1, 0, -1, 0, 0, 1024},
	    {"64M", -1, 0, -1, 0, 0, 64u << 20},
	    {"3G", -1, 0, -1, 0, 0, (uint64_t)3 << 30},
	    {"2T", -1, 0, -1, 0, 0, (uint64_t)2 << 40},
	    {"1k", -1, 0, -1, 0, -1, 0},
	    {"K", -1, 0, -1, 0, -1, 0},
	    {"1KK", -1, 0, -1, 0, -1, 0},
	    {"16777215T", -1, 0, -1, 0, 0, (uint64_t)16777215 << 40},
	    {"16777216T", -1, 0, -1, 0, -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		size_t n = strlen(t[i].text);
		uint64_t u = 0, size = 0;
		int64_t s = 0;

		if (num_u64(t[i].text, n, &u) != t[i].u64_rc || u != t[i].u64)
			fail_msg("num_u64 %s: %" PRIu64, t[i].text, u);
		if (num_i64(t[i].text, n, &s) != t[i].i64_rc || s != t[i].i64)
			fail_msg("num_i64 %s: %" PRId64, t[i].text, s);
		if (num_size(t[i].text, n, &size) != t[i].size_rc || size != t[i].size)
			fail_msg("num_size %s: %" PRIu64, t[i].text, size);
	}
	assert_int_equal(num_u64("12345", 3, &(uint64_t){0}), 0);
}

static void doubles(void **state)
{
	static const struct {
		const char *text;
		int rc;
		double want;
	} t[] = {
	    {"1", 0, 1},
	    {"-0.5", 0, -0.5},
	    {"1e3", 0, 1000},
	    {"1E400", 0, INFINITY},
	    {"-1e400", 0, -INFINITY},
	    {"1e-400", 0, 0},
	    {"0.1000000000000000055511151231257827021181583404541015625", 0, 0.1},
	    {"0."
	     "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	     "1",
		0, 0.1},
	    {"", -1, 0},
	    {"nan", -1, 0},
	    {"inf", -1, 0},
	    {"0x1p3", -1, 0},
	    {" 1", -1, 0},
	    {"1 ", -1, 0},
	    {"1e", -1, 0},
	    {"1.2.3", -1, 0},
	    {".", -1, 0},
	    {"1,5", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		double x = 0;

		if (num_double(t[i].text, strlen(t[i].text), &x) != t[i].rc ||
		    (t[i].rc == 0 && x != t[i].want))
			fail_msg("%s: %g", t[i].text, x);
	}
}

/* What Python 3 prints for repr(x). */
static void repr_like_python(void **state)
{
	static const struct {
		double x;
		const char *want;
	} t[] = {
	    {0.0, "0.0"},
	    {-0.0, "-0.0"},
	    {1, "1.0"},
	    {-1.5, "-1.5"},
	    {100, "100.0"},
	    {0.1, "0.1"},
	    {1.0 / 3, "0.3333333333333333"},
	    {2.0 / 3, "0.6666666666666666"},
	    {0.1 + 0.2, "0.30000000000000004"},
	    {1e-4, "0.0001"},
	    {1.5e-4, "0.00015"},
	    {1e-5, "1e-05"},
	    {1.25e-7, "1.25e-07"},
	    {1e15, "1000000000000000.0"},
	    {1e16, "1e+16"},
	    {123456789012345680.0, "1.2345678901234568e+17"},
	    {9007199254740993.0, "9007199254740992.0"},
	    {1e22, "1e+22"},
	    {1e23, "1e+23"},
	    {1e100, "1e+100"},
	    {0x1p-24, "5.960464477539063e-08"},
	    {0x1p-44, "5.684341886080802e-14"},
	    {0x1p-45, "2.842170943040401e-14"},
	    {-0x1p89, "-6.189700196426902e+26"},
	    {5e-324, "5e-324"},
	    {DBL_MIN, "2.2250738585072014e-308"},
	    {DBL_MAX, "1.7976931348623157e+308"},
	    {-DBL_MAX, "-1.7976931348623157e+308"},
	    {INFINITY, "inf"},
	    {-INFINITY, "-inf"},
	    {NAN, "nan"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		char s[32];
		size_t n = num_repr(t[i].x, s);

		assert_bytes(t[i].want, s, n, t[i].want);
		assert_int_equal(s[n], '\0');
	}
}

/* Whatever the bits, the digits read back as the same number. */
static void repr_reads_back(void **state)
{
	uint64_t bits = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double x, y;
		char s[32];
		size_t n;

		bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
		memcpy(&x, &bits, sizeof(x));
		if (!isfinite(x))
			continue;
		n = num_repr(x, s);
		assert_true(n < 32);
		if (num_double(s, n, &y) < 0 || x != y)
			fail_msg("%a: %s", x, s);
	}
}

static void human_sizes(void **state)
{
	static const struct {
		uint64_t n;
		const char *want;
	} t[] = {
	    {0, "0 bytes"},
	    {1023, "1023 bytes"},
	    {57344, "56.0 KiB"},
	    {1536u << 20, "1.5 GiB"},
	    {(uint64_t)11 << 40, "11.0 TiB"},
	    {UINT64_MAX, "16.0 EiB"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		char s[32];
		size_t n = num_human(t[i].n, s);

		assert_bytes(t[i].want, s, n, t[i].want);
	}
}

/* Rows of Unicode's table 3-7 and the examples of chapter 3.9; want is the text repaired, '?' for
 * U+FFFD. */
static void utf8_rows(void **state)
{
	static const struct {
		const char *in, *want;
		size_t valid; /* bytes before the first that is not */
	} t[] = {
	    {"", "", 0},
	    {"ascii, longer than eight", "ascii, longer than eight", 24},
	    {"\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf", 4},
	    {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 12},
	    {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8},
	    {"a\x80z", "a?z", 1},
	    {"\xc0\xaf", "??", 0},	     /* overlong */
	    {"\xe0\x9f\xbf", "???", 0},	     /* overlong */
	    {"\xf0\x8f\xbf\xbf", "????", 0}, /* overlong */
	    {"\xed\xa0\x80", "???", 0},	     /* surrogate */
	    {"\xf4\x90\x80\x80", "????", 0}, /* above U+10FFFF */
	    {"\xf5\xfe\xff", "???", 0},
	    {"12345678\xe2\x82", "12345678?", 8}, /* cut */
	    {"\xf0\x9f\x98", "?", 0},
	    {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "????A", 0}, /* table 3-11 */
	    {"\xf0\x80\x80\x41", "???A", 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf got = {0}, want = {0};
		size_t n = strlen(t[i].in), bad = 0;

		for (const char *p = t[i].want; *p; p++) {
			if (*p == '?' && ++bad)
				buf_adds(&want, "\xef\xbf\xbd");
			else
				buf_addc(&want, *p);
		}
		assert_int_equal(utf8_valid(t[i].in, n), t[i].valid);
		assert_int_equal(utf8_repair(&got, t[i].in, n), bad);
		assert_bytes(t[i].want, got.data, got.len, buf_cstr(&want));
		buf_free(&got);
		buf_free(&want);
	}
}

/* utf8_valid, which takes many at once, against one character after the other. */
static void utf8_runs(void **state)
{
	static const char bytes[] =
	    "aaaaaaaa\xe4\xb8\xad\xe4\xb8\xad\xed\xe0\xa0\xc3\xa9\xf0\x9f\x98\x80";
	uint64_t x = 1;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		char text[100];
		size_t n = 0, want = 0, len;

		while (n < sizeof(text) - 8) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			len = 1 + (x >> 60) % 8;
			memcpy(text + n, bytes + (x >> 33) % (sizeof(bytes) - 8), len);
			n += len;
		}
		while ((len = utf8_len(text + want, n - want)) > 0)
			want += len;
		assert_int_equal(utf8_valid(text, n), want);
	}
}

/* The same, over hundreds of valid bytes of all lengths, of which most have one byte changed. */
static void utf8_blocks(void **state)
{
	static const uint32_t from[] = {
	    0, 0x20, 0x80, 0x800, 0xd700, 0xe000, 0x4e00, 0x10000, 0x10f000};
	static const char odd[] = "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee"
				  "\xef\xf0\xf1\xf4\xf5\xff";
	uint64_t x = 1;
	size_t whole = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		char text[300];
		size_t n = 0, want = 0, len;
		unsigned few;

		x = x * 6364136223846793005u + 1442695040888963407u;
		few = (unsigned)(x >> 60); /* kinds of characters */
		while (n < sizeof(text) - 4) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			n += utf8_encode(
			    from[(x >> 40) % (1 + few % LEN(from))] + (uint32_t)(x >> 56),
			    text + n);
		}
		n -= x % 200;
		if (x >> 62)
			text[(x >> 20) % n] = odd[(x >> 32) % (sizeof(odd) - 1)];
		while ((len = utf8_len(text + want, n - want)) > 0)
			want += len;
		whole += want == n;
		assert_int_equal(utf8_valid(text, n), want);
	}
	assert_true(whole > 20000);
}

static void utf8_every_code_point(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		uint32_t back = 0;
		char s[4];
		size_t n;

		if (cp >= 0xd800 && cp < 0xe000)
			continue;
		n = utf8_encode(cp, s);
		if (n != (cp < 0x80	    ? 1u
			     : cp < 0x800   ? 2u
			     : cp < 0x10000 ? 3u
					    : 4u) ||
		    utf8_decode(s, n, &back) != n || back != cp || utf8_len(s, n - 1) != 0 ||
		    utf8_count(s, n) != 1)
			fail_msg("U+%04X", cp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integers),
	    cmocka_unit_test(doubles),
	    cmocka_unit_test(repr_like_python),
	    cmocka_unit_test(repr_reads_back),
	    cmocka_unit_test(human_sizes),
	    cmocka_unit_test(utf8_rows),
	    cmocka_unit_test(utf8_runs),
	    cmocka_unit_test(utf8_blocks),
	    cmocka_unit_test(utf8_every_code_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
