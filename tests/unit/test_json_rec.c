#include "unit.h"

#include <ctype.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/ints.h"
#include "base/mem.h"
#include "json/ids.h"
#include "json/ids_fast.h"
#include "json/rec.h"

static struct span text(const char *s)
{
	return (struct span){s, strlen(s)};
}

static void parse_accepts(void **state)
{
	static const char *const good[] = {
	    "{}",
	    " { } \r",
	    "{\"a\":1}",
	    "{\"a\":[1,2,{\"b\":[]}],\"c\":{}}",
	    "{\"a\":-0.5e+10,\"b\":1E400,\"c\":123456789012345678901234567890}",
	    "{\"\\ud83d\":\"\\ud83d\"}",
	    "{\"a\":\"\\u0000\\\"\\\\\\/\\b\\f\\n\\r\\t\"}",
	    "{\"a\":true,\"a\":false,\"a\":null}",
	    "{\"\xe4\xb8\xad\":\"\xf0\x9f\x98\x80\xe2\x80\xa8\"}",
	    "{ \"a\" : [ 1 , 2 ] , \"b\" : 3 }",
	    "{\"long\":\"0123456789abcdef0123456789abcdef\\\"\"}",
	};
	struct rec r = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(good); i++)
		if (rec_parse(&r, good[i], strlen(good[i]), &e) < 0)
			fail_msg("%s: %s", good[i], e.msg);
	rec_free(&r);
}

static void parse_refuses(void **state)
{
	static const struct {
		const char *line, *class, *message;
	} bad[] = {
	    {"", "json", "it ends at byte 0"},
	    {"[1]", "type", "expected a JSON object, not an array"},
	    {"null", "type", "not null"},
	    {"17", "type", "not a number"},
	    {"nul", "json", "expected a value"},
	    {"[1", "json", "ends"},
	    {"{", "json", "ends at byte 1"},
	    {"{\"a\"", "json", "':'"},
	    {"{\"a\":", "json", "a value"},
	    {"{\"a\":1", "json", "',' or '}'"},
	    {"{\"a\":1,", "json", "a key"},
	    {"{\"a\":1,}", "json", "a key"},
	    {"{\"a\":[1,]}", "json", "a value"},
	    {"{\"a\":[1 2]}", "json", "',' or ']'"},
	    {"{\"a\":01}", "json", "leading 0"},
	    {"{\"a\":1.}", "json", "a digit"},
	    {"{\"a\":-}", "json", "a digit"},
	    {"{\"a\":1e}", "json", "a digit"},
	    {"{\"a\":NaN}", "json", "a value"},
	    {"{\"a\":Infinity}", "json", "a value"},
	    {"{\"a\":\"x", "json", "the end of a string"},
	    {"{\"a\":\"\t\"}", "json", "control character"},
	    {"{\"a\":\"\\x\"}", "json", "an escape"},
	    {"{\"a\":\"\\u12g4\"}", "json", "hex"},
	    {"{\"a\":1}x", "json", "nothing behind"},
	    {"{\"a\":1}{\"b\":2}", "json", "nothing behind"},
	    {"{'a':1}", "json", "double quotes"},
	    {"{a:1}", "json", "double quotes"},
	    {"{\"a\":\"\xff\"}", "utf8", "byte 7"},
	    {"{\"a\":\"\xed\xa0\x80\"}", "utf8", "byte 7"},
	    {"{\"a\":\"\xc0\x80\"}", "utf8", "byte 7"},
	};
	struct rec r = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		if (rec_parse(&r, bad[i].line, strlen(bad[i].line), &e) == 0)
			fail_msg("%s: accepted", bad[i].line);
		assert_string_equal(e.class, bad[i].class);
		if (!strstr(e.msg, bad[i].message))
			fail_msg("%s: '%s' lacks '%s'", bad[i].line, e.msg, bad[i].message);
	}
	/* a raw NUL inside a string, and behind the object */
	assert_int_equal(rec_parse(&r, "{\"a\":\"\0\"}", 9, &e), -1);
	assert_int_equal(rec_parse(&r, "{\"a\":1}\0", 8, &e), -1);
	rec_free(&r);
}

static void depth_is_bounded(void **state)
{
	struct rec r = {0};
	struct buf b = {0};
	struct err e;

	(void)state;
	for (int deep = JSON_MAX_DEPTH - 1; deep <= JSON_MAX_DEPTH; deep++) {
		buf_reset(&b);
		buf_adds(&b, "{\"a\":");
		for (int i = 0; i < deep; i++)
			buf_addc(&b, '[');
		for (int i = 0; i < deep; i++)
			buf_addc(&b, ']');
		buf_addc(&b, '}');
		assert_int_equal(rec_parse(&r, b.data, b.len, &e), deep < JSON_MAX_DEPTH ? 0 : -1);
	}
	buf_free(&b);
	rec_free(&r);
}

static void every_cut_is_refused(void **state)
{
	static const char line[] =
	    "{\"id\":\"a\\u00e9\",\"n\":[1,-2.5e3,true,null],\"o\":{\"k\":\"\xe4\xb8\xad\"}}";
	struct rec r = {0};
	struct err e;

	(void)state;
	assert_int_equal(rec_parse(&r, line, sizeof(line) - 1, &e), 0);
	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		/* exact copies, so that the sanitizer sees a read past the end */
		char *copy = malloc(n ? n : 1);

		memcpy(copy, line, n);
		assert_int_equal(rec_parse(&r, copy, n, &e), -1);
		free(copy);
	}
	rec_free(&r);
}

static void get_reads_like_python(void **state)
{
	static const char line[] = "{\"a\":1,\"b\":2,\"a\":3,\"\\u0063\":4,\"x\\\"y\":5}";
	struct rec r = {0};
	struct err e;

	(void)state;
	assert_int_equal(rec_parse(&r, line, strlen(line), &e), 0);
	assert_true(span_eq(rec_get(&r, "a"), "3"));
	assert_true(span_eq(rec_get(&r, "b"), "2"));
	assert_true(span_eq(rec_get(&r, "c"), "4"));
	assert_true(span_eq(rec_get(&r, "x\"y"), "5"));
	assert_null(rec_get(&r, "d").p);
	rec_free(&r);
}

static void copy_changes_only_what_it_is_told(void **state)
{
	static const struct {
		const char *line, *name, *value, *want;
	} rows[] = {
	    {"{\"a\":1.0,\"b\":[1 , 2]}", "a", "7", "{\"a\":7,\"b\":[1 , 2]}"},
	    {"{ \"a\" : 1e5 , \"b\" : 2 } ", "b", "7", "{ \"a\" : 1e5 , \"b\" : 7 } "},
	    {"{\"a\":1}", "c", "[]", "{\"a\":1,\"c\":[]}"},
	    {"{}", "c", "[]", "{\"c\":[]}"},
	    {"{ }", "c", "[]", "{ \"c\":[]}"},
	    {" { } ", "z", NULL, " { } "},
	    {"{\"a\":1,\"b\":2,\"c\":3}", "b", NULL, "{\"a\":1,\"c\":3}"},
	    {"{\"a\":1,\"b\":2,\"c\":3}", "a", NULL, "{\"b\":2,\"c\":3}"},
	    {"{\"a\":1,\"b\":2,\"c\":3}", "c", NULL, "{\"a\":1,\"b\":2}"},
	    {"{\"a\":1}", "a", NULL, "{}"},
	    {"{\"a\":1}", "z", NULL, "{\"a\":1}"},
	    {"{\"a\":1,\"b\":2,\"a\":3}", "a", "0", "{\"a\":0,\"b\":2,\"a\":0}"},
	    {"{\"a\":1,\"b\":2,\"a\":3}", "a", NULL, "{\"b\":2}"},
	    {"{\"\\u0061\":1}", "a", "2", "{\"\\u0061\":2}"},
	    {"{\"n\":12345678901234567890123,\"f\":1.10}", "x", "1",
		"{\"n\":12345678901234567890123,\"f\":1.10,\"x\":1}"},
	};
	struct rec r = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct rec_edit edit = {rows[i].name, {0}};
		struct buf b = {0};

		if (rows[i].value)
			edit.value = text(rows[i].value);
		assert_int_equal(rec_parse(&r, rows[i].line, strlen(rows[i].line), &e), 0);
		rec_copy(&b, &r, &edit, 1);
		assert_bytes(rows[i].line, b.data, b.len, rows[i].want);
		buf_free(&b);
	}
	rec_free(&r);
}

static void strings_decode(void **state)
{
	static const struct {
		const char *json, *want;
		size_t lone;
	} rows[] = {
	    {"\"\"", "", 0},
	    {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\tb\"", "a\"\\/\b\f\n\r\tb", 0},
	    {"\"\\u00e9\\u4e2d\\ud83d\\ude00\"", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 0},
	    {"\"\\ud83d\"", "\xef\xbf\xbd", 1},
	    {"\"\\ude00\"", "\xef\xbf\xbd", 1},
	    {"\"\\ud83dx\"", "\xef\xbf\xbdx", 1},
	    {"\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 1},
	    {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 1},
	    {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd\x41", 1},
	    {"\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf b = {0};
		size_t lone = 0;

		assert_int_equal(json_str(&b, text(rows[i].json), &lone), 0);
		assert_bytes(rows[i].json, b.data, b.len, rows[i].want);
		assert_int_equal(lone, rows[i].lone);
		buf_free(&b);
	}
	assert_int_equal(json_str(NULL, text("17"), NULL), -1);
}

/* Past the string that begins at p, or NULL and in *bad where it is none. */
static const char *string_end(const char *p, const char *end, const char **bad)
{
	for (p++; p < end && *p != '"' && (unsigned char)*p >= 0x20; p++) {
		if (*p != '\\' || (++p < end && *p && strchr("\"\\/bfnrt", *p)))
			continue;
		*bad = p;
		for (int i = 0; p < end && *p == 'u' && i < 4; i++)
			if (++*bad == end || !isxdigit((unsigned char)**bad))
				return NULL;
		if (p == end || *p != 'u')
			return NULL;
		p = *bad;
	}
	*bad = p;
	return p < end && *p == '"' ? p + 1 : NULL;
}

/* Strings of pieces at random: the scanner looks at 64 bytes at once, and must find what a look at
 * one after the other does. */
static void strings_end_where_they_do(void **state)
{
	static const char *const piece[] = {"plain text of some length, and then ", "x", "xyz",
	    "\\n", "\\t", "\\\\", "\\\\\\\\\\\\", "\\\"", "\\u00e9", "\\/", "\\\\\"", "\xc3\xa9",
	    "\"", "\\", "\\x", "\\u12", "\n", "\\\n"};
	struct rec r = {0};
	struct buf b = {0};
	uint32_t seed = 1;

	(void)state;
	for (int k = 0; k < 200000; k++) {
		const char *want, *bad = NULL;
		char *line;
		size_t n;
		struct err e;

		buf_reset(&b);
		buf_adds(&b, "\"");
		for (uint32_t i = seed % 30 + 1; i > 0; i--) {
			seed = seed * 1664525 + 1013904223;
			/* the last few pieces end a string */
			buf_adds(&b, piece[(seed >> 8) % (i < 3 ? LEN(piece) : LEN(piece) - 6)]);
		}
		line = xmemdup(b.data, b.len); /* exactly, so that a step over the end is seen */
		n = b.len;
		want = string_end(line, line + n, &bad);
		if (json_end((struct span){line, n}, NULL) != want)
			fail_msg("%.*s", (int)n, line);
		if (!want) {
			size_t at = 0;
			char *mark;

			rec_parse(&r, line, n, &e);
			mark = strstr(e.msg, "byte ");
			assert_non_null(mark);
			at = (size_t)strtoul(mark + 5, NULL, 10);
			if (at != (size_t)(bad - line) + (bad < line + n))
				fail_msg("%.*s: %s", (int)n, line, e.msg);
		}
		free(line);
	}
	rec_free(&r);
	buf_free(&b);
}

static void wholes(void **state)
{
	static const struct {
		const char *in, *whole; /* NULL: none */
		int end;		/* of the value at its start; 0: none */
	} t[] = {
	    {" {\"a\":1}\n", "{\"a\":1}", 0},
	    {"{\"a\":[1, {}]} ", "{\"a\":[1, {}]}", 13},
	    {"\"x\"", "\"x\"", 3},
	    {"12", "12", 2},
	    {"", NULL, 0},
	    {" ", NULL, 0},
	    {"1,2", NULL, 1},
	    {"1}", NULL, 1},
	    {"{} {}", NULL, 2},
	    {"{'a':1}", NULL, 0},
	    {"{\"a\":1", NULL, 0},
	    {"NaN", NULL, 0},
	};
	struct buf deep = {0};
	struct span v;

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const char *end = json_end(text(t[i].in), NULL);
		int ok = json_whole(text(t[i].in), &v, NULL);

		if (ok != (t[i].whole != NULL) || (end ? end - t[i].in : 0) != t[i].end)
			fail_msg("'%s': %d", t[i].in, ok);
		if (ok)
			assert_bytes(t[i].in, v.p, v.n, t[i].whole);
	}
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_addc(&deep, '[');
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_addc(&deep, ']');
	assert_false(json_whole((struct span){deep.data, deep.len}, &v, NULL));
	assert_true(json_whole((struct span){deep.data + 1, deep.len - 2}, &v, NULL));
	buf_free(&deep);
}

static void ids_are_exact(void **state)
{
	static const struct {
		const char *json, *error;
		size_t n;
		int32_t last;
	} rows[] = {
	    {"[]", NULL, 0, 0},
	    {"[ ]", NULL, 0, 0},
	    {"[0]", NULL, 1, 0},
	    {"[ 1 , 2 ,\t3 ]", NULL, 3, 3},
	    {"[2147483647]", NULL, 1, 2147483647},
	    {"[-0]", NULL, 1, 0},
	    {"[2147483648]", "ids[0]", 0, 0},
	    {"[4294967297]", "ids[0]", 0, 0},
	    {"[99999999999999999999]", "ids[0]", 0, 0},
	    {"[1,-1]", "ids[1]: expected a token id, not -1", 0, 0},
	    {"[1,2.0]", "ids[1]: expected a token id, not 2.0", 0, 0},
	    {"[1,2,true]", "ids[2]: expected a token id, not true", 0, 0},
	    {"[1e3]", "ids[0]", 0, 0},
	    {"[[1]]", "ids[0]", 0, 0},
	    {"{}", "ids: expected an array of integers, not an object", 0, 0},
	    {"null", "ids: missing", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct ints v = {0};
		struct err e = {0};
		int rc = ids_read(&v, text(rows[i].json), "ids", &e);

		assert_int_equal(rc, rows[i].error ? -1 : 0);
		if (rows[i].error && !strstr(e.msg, rows[i].error))
			fail_msg("%s: '%s'", rows[i].json, e.msg);
		if (!rows[i].error) {
			assert_int_equal(v.n, rows[i].n);
			if (v.n)
				assert_int_equal(v.v[v.n - 1], rows[i].last);
		}
		ints_free(&v);
	}
}

static void masks_are_zero_or_one(void **state)
{
	static const struct {
		const char *json, *error, *want;
	} rows[] = {
	    {"[]", NULL, "[]"},
	    {"[0, 1 ,1]", NULL, "[0,1,1]"},
	    {"[0,2]", "mask[1]: expected 0 or 1", NULL},
	    {"[10]", "mask[0]", NULL},
	    {"[1.0]", "mask[0]", NULL},
	    {"[true]", "mask[0]", NULL},
	    {"\"01\"", "not a string", NULL},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf b = {0}, again = {0};
		struct err e = {0};
		int rc = mask_read(&b, text(rows[i].json), "mask", &e);

		assert_int_equal(rc, rows[i].error ? -1 : 0);
		if (rows[i].error && !strstr(e.msg, rows[i].error))
			fail_msg("%s: '%s'", rows[i].json, e.msg);
		if (rows[i].want) {
			mask_write(&again, (const uint8_t *)b.data, b.len);
			assert_bytes(rows[i].json, again.data, again.len, rows[i].want);
		}
		buf_free(&b);
		buf_free(&again);
	}
}

static void ids_write_reads_back(void **state)
{
	int32_t v[] = {0, 9, 10, 99, 100, 105, 999, 1000, 9999, 10000, 10203, 100000, 163839,
	    99999999, 100000000, 2147483647};
	struct buf b = {0};

	(void)state;
	ids_write(&b, v, LEN(v));
	assert_bytes("ids", b.data, b.len,
	    "[0,9,10,99,100,105,999,1000,9999,10000,10203,100000,163839,99999999,100000000,"
	    "2147483647]");
	buf_free(&b);
}

/* All numbers of digits, and all that six of them can be: against the C library. */
static void ids_write_every_number(void **state)
{
	char want[16];

	(void)state;
	for (int64_t v = 0; v <= INT32_MAX; v += v < 2000000 ? 1 : v / 1000) {
		int32_t id = (int32_t)v;
		struct buf b = {0};
		int n = snprintf(want, sizeof(want), "[%d]", (int)id);

		ids_write(&b, &id, 1);
		if (b.len != (size_t)n || memcmp(b.data, want, b.len) != 0)
			fail_msg("%s is written as %s", want, buf_cstr(&b));
		buf_free(&b);
	}
}

/* Many at once: all that are below 10^6, others between them, any number of them. */
static void ids_write_many(void **state)
{
	enum { MANY = 1000 };
	int32_t v[MANY];
	struct buf b = {0}, want = {0};

	(void)state;
	for (int32_t first = 0; first < 1010000; first += MANY - 3) {
		size_t n = first % 7 ? MANY : (size_t)first % MANY;

		buf_reset(&b);
		buf_reset(&want);
		buf_adds(&want, "[");
		for (size_t i = 0; i < n; i++) {
			v[i] = first % 5 == 0 && i % 61 == 3 ? INT32_MAX - (int32_t)i
							     : first + (int32_t)i;
			buf_addf(&want, "%s%d", i > 0 ? "," : "", (int)v[i]);
		}
		buf_adds(&want, "]");
		ids_write(&b, v, n);
		assert_bytes("ids", b.data, b.len, buf_cstr(&want));
	}
	buf_free(&b);
	buf_free(&want);
}

/* Each way to write eight at once, which ids_write takes the best of: all numbers of up to six
 * digits at each place, and none that has more. */
static void ids_put_by_each_tier(void **state)
{
	char got[IDS_PUT_ROOM + 64], want[64], *p;
	ids_put_fn *put;

	(void)state;
	for (unsigned tier = 0; (put = ids_put_tier(tier)); tier++) {
		for (int32_t i = 0; i < 1000000; i++) {
			int32_t v[8] = {i, i ^ 1, i / 10, i / 100, i % 1000, 999999 - i, i % 7, i};
			int n = snprintf(want, sizeof(want), "%d,%d,%d,%d,%d,%d,%d,%d,", v[0], v[1],
			    v[2], v[3], v[4], v[5], v[6], v[7]);

			p = got;
			assert_int_equal(put(&p, v, 8), 8);
			if (p - got != n || memcmp(got, want, (size_t)n) != 0)
				fail_msg("tier %u: %s", tier, want);
			v[i % 8] = i % 3 ? 1000000 + i : INT32_MAX;
			p = got;
			assert_int_equal(put(&p, v, 8), 0);
			assert_ptr_equal(p, got);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parse_accepts),
	    cmocka_unit_test(parse_refuses),
	    cmocka_unit_test(depth_is_bounded),
	    cmocka_unit_test(every_cut_is_refused),
	    cmocka_unit_test(get_reads_like_python),
	    cmocka_unit_test(copy_changes_only_what_it_is_told),
	    cmocka_unit_test(strings_decode),
	    cmocka_unit_test(strings_end_where_they_do),
	    cmocka_unit_test(wholes),
	    cmocka_unit_test(ids_are_exact),
	    cmocka_unit_test(masks_are_zero_or_one),
	    cmocka_unit_test(ids_write_reads_back),
	    cmocka_unit_test(ids_write_every_number),
	    cmocka_unit_test(ids_write_many),
	    cmocka_unit_test(ids_put_by_each_tier),
	};

	return cmocka_run_group_tests_name("json_rec", tests, NULL, NULL);
}
