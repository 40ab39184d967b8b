/* safetensors: what is written, what is read back, and every lie that a header can tell. */

#include "base/err.h"
#include "tensor/save.h"
#include "tensor/st.h"
#include "tmp.h"
#include "unit.h"

static const int64_t ids[3] = {1, -2, 3};
static const uint16_t halves[6] = {1, 2, 3, 4, 5, 6};

static void header_bytes(void **state)
{
	static const char want[] =
	    "{\"a\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]},"
	    "\"b\\n\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[24,36]}}";
	uint64_t dim[2] = {2, 3};
	struct tensor t[2] = {
	    tensor_1d("a", DT_I64, 3, ids), tensor_flat("b\n", DT_BF16, 2, dim, halves)};
	struct buf b = {0};

	(void)state;
	st_header(&b, t, 2);
	assert_int_equal(b.len % 8, 0);
	assert_int_equal((unsigned char)b.data[0], b.len - 8);
	assert_memory_equal(b.data + 8, want, sizeof(want) - 1);
	for (size_t i = 8 + sizeof(want) - 1; i < b.len; i++)
		assert_int_equal(b.data[i], ' ');
	buf_free(&b);
}

static void round_trip(void **state)
{
	uint64_t dim[3] = {1, 2, 3}, none[2] = {0, 5};
	struct tensor t[3] = {tensor_flat("h", DT_BF16, 3, dim, halves),
	    tensor_flat("none", DT_F32, 2, none, NULL), tensor_1d("ids", DT_I64, 3, ids)};
	const char *path = tmp_path("a.safetensors");
	struct save_sum sum;
	struct save *s;
	const struct tensor *r;
	struct st *f;
	struct err e;

	(void)state;
	s = save_open(path, &e);
	assert_non_null(s);
	assert_int_equal(st_write(s, t, 3, &e), 0);
	assert_int_equal(save_finish(s, &sum, &e), 0);
	f = st_open(path, MAP_ALL, &e);
	assert_non_null(f);
	assert_int_equal(st_map(f)->n, sum.bytes);
	assert_int_equal(st_count(f), 3);
	r = st_get(f, "ids");
	assert_non_null(r);
	assert_int_equal(r->ndim, 1);
	assert_memory_equal(tensor_data(r), ids, sizeof(ids));
	r = st_get(f, "none");
	assert_int_equal(r->dim[1], 5);
	assert_null(st_get(f, "nobody"));
	st_close(f);
}

/* A file from its header's text and some data. */
static struct st *parse(const char *head, const char *data, size_t n, struct err *e)
{
	static _Alignas(8) char file[4096];
	uint64_t len = strlen(head);

	memcpy(file, &len, 8);
	memcpy(file + 8, head, len);
	memcpy(file + 8 + len, data, n);
	return st_parse(file, 8 + len + n, e);
}

#define T(name, dtype, shape, offsets) \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static const struct {
	const char *name, *head;
	size_t data;
	const char *class; /* NULL: good */
} headers[] = {
    {"empty", "{}", 0, NULL},
    {"one", "{" T("a", "U8", "[4]", "[0,4]") "}", 4, NULL},
    {"scalar", "{" T("a", "I64", "[]", "[0,8]") "}", 8, NULL},
    {"metadata", "{\"__metadata__\":{\"k\":\"v\"}," T("a", "U8", "[4]", "[0,4]") "}", 4, NULL},
    {"order of data", "{" T("a", "U8", "[2]", "[2,4]") "," T("b", "U8", "[2]", "[0,2]") "}", 4,
	NULL},
    {"cut short", "{" T("a", "U8", "[4]", "[0,4]") "}", 3, "truncated"},
    {"bytes behind", "{" T("a", "U8", "[4]", "[0,4]") "}", 5, "format"},
    {"a gap", "{" T("a", "U8", "[2]", "[1,3]") "}", 3, "format"},
    {"an overlap", "{" T("a", "U8", "[2]", "[0,2]") "," T("b", "U8", "[2]", "[1,3]") "}", 3,
	"format"},
    {"the same bytes twice", "{" T("a", "U8", "[2]", "[0,2]") "," T("b", "U8", "[2]", "[0,2]") "}",
	2, "format"},
    {"a name twice", "{" T("a", "U8", "[2]", "[0,2]") "," T("a", "U8", "[2]", "[2,4]") "}", 4,
	"format"},
    {"size is not shape", "{" T("a", "I64", "[2]", "[0,8]") "}", 8, "format"},
    {"size is more than shape", "{" T("a", "I64", "[1]", "[0,16]") "}", 16, "format"},
    {"shape overflows", "{" T("a", "I64", "[4294967296,4294967296]", "[0,0]") "}", 0, "format"},
    {"empty by a huge shape", "{" T("a", "I64", "[0,9223372036854775807]", "[0,0]") "}", 0, NULL},
    {"negative size", "{" T("a", "U8", "[-4]", "[0,4]") "}", 4, "format"},
    {"backward offsets", "{" T("a", "U8", "[4]", "[4,0]") "}", 4, "format"},
    {"huge offsets", "{" T("a", "U8", "[4]", "[9223372036854775803,9223372036854775807]") "}", 4,
	"truncated"},
    {"unknown dtype behind the end", "{" T("a", "F8_E4M3", "[4]", "[0,4]") "}", 3, "truncated"},
    {"a gap before an unknown dtype", "{" T("a", "F8_E4M3", "[3]", "[1,4]") "}", 4, "format"},
    {"a dtype that is none", "{\"a\":{\"dtype\":5,\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
	"format"},
    {"no dtype", "{\"a\":{\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "format"},
    {"negative size of five", "{" T("a", "U8", "[1,1,1,1,-4]", "[0,4]") "}", 4, "format"},
    {"no shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", 4, "format"},
    {"no object", "{\"a\":5}", 0, "format"},
    {"metadata of numbers", "{\"__metadata__\":{\"k\":5}}", 0, "format"},
    {"NUL in a name", "{" T("a\\u0000", "U8", "[4]", "[0,4]") "}", 4, "format"},
    {"an array", "[]", 0, "format"},
    {"blank before", " {}", 0, "format"},
    {"no JSON", "{\"a\":", 0, "format"},
};

static void lies(void **state)
{
	static const char data[16];

	(void)state;
	for (size_t i = 0; i < LEN(headers); i++) {
		struct err e = {0};
		struct st *f = parse(headers[i].head, data, headers[i].data, &e);

		if (!headers[i].class != !!f)
			fail_msg("%s: %s", headers[i].name, f ? "was read" : e.msg);
		if (!f)
			assert_string_equal(e.class, headers[i].class);
		st_close(f);
	}
}

/* Of a model's shard: what can't be handed out takes its place in the file and no more. */
static void unknown_tensors(void **state)
{
	static const char head[] = "{" T("fp8", "F8_E4M3", "[2]", "[0,2]") "," T("scale", "F8_E8M0",
	    "[1]", "[2,3]") "," T("conv", "U8", "[1,1,1,1,1]", "[3,4]") "," T("norm", "BF16", "[2]",
	    "[4,8]") "," T("packed", "U32", "[1]", "[8,12]") "}";
	static const char data[] = "aabcNNNNdddd";
	struct err e = {0};
	struct st *f = parse(head, data, 12, &e);
	const struct tensor *t;

	(void)state;
	if (!f)
		fail_msg("%s", e.msg);
	assert_int_equal(st_count(f), 1);
	assert_null(st_get(f, "fp8"));
	assert_null(st_get(f, "conv"));
	t = st_get(f, "norm");
	assert_non_null(t);
	assert_memory_equal(tensor_data(t), "NNNN", 4);
	st_close(f);
}

static void lengths(void **state)
{
	static const uint64_t bad[] = {0, 1, (16u << 20) + 1, UINT64_MAX, 3};
	_Alignas(8) char file[10] = "........{}";
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		memcpy(file, &bad[i], 8);
		assert_null(st_parse(file, sizeof(file), &e));
	}
	assert_null(st_parse(file, 7, &e));
	assert_string_equal(e.class, "truncated");
}

static void meta(void **state)
{
	struct err e;
	struct st *f = parse("{\"__metadata__\":{\"norm\":\"after\",\"x\":\"\"}}", "", 0, &e);

	(void)state;
	assert_true(span_eq(st_meta(f, "norm"), "after"));
	assert_null(st_meta(f, "layers").p);
	st_close(f);
}

/* The size that a file will have is known as soon as its header is there. */
static void expect(void **state)
{
	static const char head[] =
	    "{" T("a", "U8", "[4]", "[0,4]") "," T("b", "U8", "[3]", "[4,7]") "}";
	char file[8 + sizeof(head)];
	uint64_t len = sizeof(head) - 1, size = 1;
	struct err e;

	(void)state;
	memcpy(file, &len, 8);
	memcpy(file + 8, head, len);
	for (size_t n = 0; n < 8 + len; n++) {
		assert_int_equal(st_expect(file, n, &size, &e), 0);
		assert_int_equal(size, 0);
	}
	assert_int_equal(st_expect(file, 8 + len, &size, &e), 0);
	assert_int_equal(size, 8 + len + 7);
	memset(file, 0xff, 8);
	assert_int_equal(st_expect(file, 8 + len, &size, &e), -1);
}

static void no_file(void **state)
{
	struct err e = {0};

	(void)state;
	assert_null(st_open(tmp_path("missing"), MAP_ALL, &e));
	assert_string_equal(e.class, "system");
	assert_int_equal(mkfifo(tmp_path("fifo"), 0600), 0);
	assert_null(st_open(tmp_path("fifo"), MAP_ALL, &e)); /* and does not wait for a writer */
	assert_null(st_open(tmp_dir, MAP_ALL, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(header_bytes),
	    cmocka_unit_test(round_trip), cmocka_unit_test(lies), cmocka_unit_test(unknown_tensors),
	    cmocka_unit_test(lengths), cmocka_unit_test(meta), cmocka_unit_test(expect),
	    cmocka_unit_test(no_file)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
