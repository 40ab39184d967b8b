#include "unit.h"

#include "base/err.h"
#include "io/array.h"
#include "io/lines.h"
#include "tmp.h"

static int setup(void **state)
{
	return tmp_setup(state);
}

static int teardown(void **state)
{
	return tmp_teardown(state);
}

/* What the lines of an input are, one behind the other: "N:TEXT|", with "!" where the line is too
 * long and all of it came in pieces. */
static void read_all(const char *text, size_t max, struct buf *out)
{
	const char *path = tmp_path("in");
	FILE *f = fopen(path, "wb");
	struct err e = {0};
	struct lines *l;
	struct line line;
	const char *p;
	size_t n;
	int rc;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	l = lines_open(&path, 1, max, &e);
	assert_non_null(l);
	lines_arrays(l);
	while ((rc = lines_next(l, &line, &e)) > 0) {
		buf_addf(out, "%s%d:", line.element ? "e" : "", (int)line.number);
		buf_add(out, line.p, line.n);
		if (line.toolong) {
			while ((rc = lines_rest(l, &p, &n, &e)) > 0)
				buf_add(out, p, n);
			assert_int_equal(rc, 0);
			buf_addc(out, '!');
		}
		buf_addc(out, '|');
		lines_ready(l); /* changes nothing */
	}
	assert_int_equal(rc, 0);
	lines_close(l);
}

static void elements(void **state)
{
	static const struct {
		const char *name, *in, *want;
		size_t max;
	} t[] = {
	    {"lines stay lines", "{\"a\":[1,\n2]}\n[3]\n", "1:{\"a\":[1,|2:2]}|3:[3]|", 0},
	    {"two", "[{\"a\":1},{\"b\":[2,3]}]", "e1:{\"a\":1}|e2:{\"b\":[2,3]}|", 0},
	    {"indented", "\n [\n  {\n \"a\": 1\r\n  },\n  2\n]\n", "e1:{  \"a\": 1    }|e2:2|", 0},
	    {"none", " [ ] \n", "", 0},
	    {"byte order mark", "\xef\xbb\xbf[1]", "e1:1|", 0},
	    {"brackets in strings", "[\"a,]}\",\"\\\"],\"]", "e1:\"a,]}\"|e2:\"\\\"],\"|", 0},
	    {"backslashes", "[\"\\\\\",\"\\\\\\\"\"]", "e1:\"\\\\\"|e2:\"\\\\\\\"\"|", 0},
	    {"line end in a string", "[\"a\nb\"]", "e1:\"a\nb\"|", 0},
	    {"comma too many", "[1,]", "e1:1|e2:|", 0},
	    {"only a comma", "[,]", "e1:|e2:|", 0},
	    {"cut in an element", "[1,{\"a\":", "e1:1|e2:{\"a\":|", 0},
	    {"cut behind an element", "[1", "e1:1|e2:|", 0},
	    {"cut behind blanks", "[{\"a\":1}\n ", "e1:{\"a\":1}|e2:|", 0},
	    {"cut behind a comma", "[1,\n", "e1:1|e2:|", 0},
	    {"cut at once", "[", "e1:|", 0},
	    {"two arrays", "[1]\n[2,3]", "e1:1|e2:2|e3:3|", 0},
	    {"empty ones", "[][] [4]", "e1:4|", 0},
	    {"text behind it", "[1]\n{\"a\":2}\nx\n", "e1:1|e2:{\"a\":2}|e3:x|", 0},
	    {"too long", "[1234567,8]", "e1:1234567!|e2:8|", 4},
	    {"too long and last", "[1,\"345678\"]", "e1:1|e2:\"345678\"!|", 4},
	    {"too long and cut", "[1,\"345678", "e1:1|e2:\"345678!|", 4},
	    {"as long as may be", "[1234,5678]", "e1:1234|e2:5678|", 4},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf got = {0};

		read_all(t[i].in, t[i].max, &got);
		assert_bytes(t[i].name, got.data, got.len, t[i].want);
		buf_free(&got);
	}
}

/* An array that is larger than the reader's buffer, elements across its borders. */
static void large(void **state)
{
	struct buf in = {0}, got = {0}, want = {0};

	(void)state;
	buf_addc(&in, '[');
	for (int i = 1; i <= 400; i++) {
		size_t at;

		buf_addc(&in, ' ');
		at = in.len;
		buf_addc(&in, '"');
		for (int k = 0; k < 1000 + i; k++)
			buf_adds(&in, k % 7 ? "x" : "\\\"");
		buf_addc(&in, '"');
		buf_addf(&want, "e%d:", i);
		buf_add(&want, in.data + at, in.len - at);
		buf_addc(&want, '|');
		buf_adds(&in, i < 400 ? " ,\n" : "\n]");
	}
	read_all(buf_cstr(&in), 0, &got);
	assert_true(in.len > (1 << 18));
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	buf_free(&in);
	buf_free(&got);
	buf_free(&want);
}

/* The end is found wherever the text is cut. */
static void pieces(void **state)
{
	char text[] = "{\"a\\\\\\\"],\":[1,[2],{\"b\":\"\\\\\"}]},3]";

	(void)state;
	for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
		struct array a = {0};
		size_t first = array_end(&a, text, cut), n = first;

		if (first == cut)
			n += array_end(&a, text + cut, sizeof(text) - 1 - cut);
		assert_int_equal(n, sizeof(text) - 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(elements),
	    cmocka_unit_test(large),
	    cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests_name("io_array", tests, setup, teardown);
}
