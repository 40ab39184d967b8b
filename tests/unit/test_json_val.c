#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/rec.h"
#include "json/val.h"

static struct span text(const char *s)
{
	return (struct span){s, strlen(s)};
}

/* Parsed and written again: what json.dumps(json.loads(x), ensure_ascii=False) gives. */
static void reads_and_writes_like_python(void **state)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
	    {"null", "null"},
	    {" [ true , false ] ", "[true, false]"},
	    {"{\"a\":1,\"b\":[],\"c\":{}}", "{\"a\": 1, \"b\": [], \"c\": {}}"},
	    {"[1.0,1e5,1E400,-1e400,1e-7,0.1,1e16,123456789.125]",
		"[1.0, 100000.0, Infinity, -Infinity, 1e-07, 0.1, 1e+16, 123456789.125]"},
	    {"[-0,-0.0,0]", "[0, -0.0, 0]"},
	    {"[9223372036854775807,-9223372036854775808]",
		"[9223372036854775807, -9223372036854775808]"},
	    {"[9223372036854775808,-123456789012345678901234567890]",
		"[9223372036854775808, -123456789012345678901234567890]"},
	    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\": 3, \"b\": 2}"},
	    {"\"\\u00e9\\ud83d\\ude00\\u2028\\u007f\\u0001/\"",
		"\"\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xa8\x7f\\u0001/\""},
	    {"\"\\ud83d\"", "\"\xef\xbf\xbd\""},
	    {"[NaN,Infinity,-Infinity]", "[NaN, Infinity, -Infinity]"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct arena a = {0};
		struct buf b = {0};
		struct jval v;
		struct err e;

		if (val_parse(&v, text(rows[i].in), 1, &a, NULL, &e) < 0)
			fail_msg("%s: %s", rows[i].in, e.msg);
		val_write(&b, &v, NULL);
		assert_bytes(rows[i].in, b.data, b.len, rows[i].want);
		buf_free(&b);
		arena_free(&a);
	}
}

static void refuses(void **state)
{
	static const char *const bad[] = {"", "[", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1 2",
	    "NaN", "Infinity", "tru", "'a'", "\"\t\"", "\"\\ud8\"", "{1:2}", "\xff"};

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		struct arena a = {0};
		struct jval v;
		struct err e;

		if (val_parse(&v, text(bad[i]), 0, &a, NULL, &e) == 0)
			fail_msg("%s: accepted", bad[i]);
		assert_string_equal(e.class, "json");
		arena_free(&a);
	}
}

static void many_repeated_keys(void **state)
{
	struct arena a = {0};
	struct buf b = {0};
	struct jval v;
	struct err e;

	(void)state;
	buf_addc(&b, '{');
	for (int i = 0; i < 3000; i++)
		buf_addf(&b, "%s\"k%d\":%d", i ? "," : "", i % 1000, i);
	buf_addc(&b, '}');
	assert_int_equal(val_parse(&v, (struct span){b.data, b.len}, 0, &a, NULL, &e), 0);
	assert_int_equal(v.u.obj.n, 1000);
	assert_true(span_eq(v.u.obj.m[0].key, "k0"));
	assert_int_equal(v.u.obj.m[0].val.u.i, 2000);
	assert_int_equal(val_get(&v, "k999")->u.i, 2999);
	buf_free(&b);
	arena_free(&a);
}

static void depth_is_bounded(void **state)
{
	(void)state;
	for (int deep = JSON_MAX_DEPTH; deep <= JSON_MAX_DEPTH + 1; deep++) {
		struct arena a = {0};
		struct buf b = {0};
		struct jval v;
		struct err e;

		for (int i = 0; i < deep; i++)
			buf_addc(&b, '[');
		for (int i = 0; i < deep; i++)
			buf_addc(&b, ']');
		assert_int_equal(val_parse(&v, (struct span){b.data, b.len}, 0, &a, NULL, &e),
		    deep > JSON_MAX_DEPTH ? -1 : 0);
		buf_free(&b);
		arena_free(&a);
	}
}

static void styles(void **state)
{
	static const struct {
		struct val_style st;
		const char *want;
	} rows[] = {
	    {{.indent = -1}, "{\"b\": [1, {}], \"a\": \"\xc3\xa9\xf0\x9f\x98\x80\"}"},
	    {{.indent = -1, .item = ",", .key = ":"},
		"{\"b\":[1,{}],\"a\":\"\xc3\xa9\xf0\x9f\x98\x80\"}"},
	    {{.indent = -1, .ascii = 1}, "{\"b\": [1, {}], \"a\": \"\\u00e9\\ud83d\\ude00\"}"},
	    {{.indent = -1, .sort = 1}, "{\"a\": \"\xc3\xa9\xf0\x9f\x98\x80\", \"b\": [1, {}]}"},
	    {{.indent = 2},
		"{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"\xc3\xa9\xf0\x9f\x98\x80\"\n}"},
	};
	struct arena a = {0};
	struct jval v;
	struct err e;

	(void)state;
	assert_int_equal(
	    val_parse(&v, text("{\"b\":[1,{}],\"a\":\"\\u00e9\\ud83d\\ude00\"}"), 0, &a, NULL, &e),
	    0);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf b = {0};

		val_write(&b, &v, &rows[i].st);
		assert_bytes("style", b.data, b.len, rows[i].want);
		buf_free(&b);
	}
	arena_free(&a);
}

static void lone_surrogates_are_counted(void **state)
{
	struct arena a = {0};
	struct jval v;
	struct err e;
	size_t lone = 0;

	(void)state;
	assert_int_equal(
	    val_parse(&v, text("{\"\\udc00\":[\"\\ud83d\",\"\\ud83d\\ude00\"]}"), 0, &a, &lone, &e),
	    0);
	assert_int_equal(lone, 2);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_and_writes_like_python),
	    cmocka_unit_test(refuses),
	    cmocka_unit_test(many_repeated_keys),
	    cmocka_unit_test(depth_is_bounded),
	    cmocka_unit_test(styles),
	    cmocka_unit_test(lone_surrogates_are_counted),
	};

	return cmocka_run_group_tests_name("json_val", tests, NULL, NULL);
}
