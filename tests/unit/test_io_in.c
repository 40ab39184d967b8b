/* in: bytes and frames as they come. */
#include "unit.h"

#include "base/err.h"
#include "frames.h"
#include "io/in.h"
#include "io/lines.h"
#include "io/out.h"
#include "io/temp.h"
#include "tmp.h"

static void streams(void **state)
{
	static const struct {
		const char *name, *in;
		size_t n;
		const char *want, *class; /* class NULL: no error */
	} t[] = {
	    {"empty", "", 0, "", NULL},
	    {"plain", "abc\n", 4, "abc\n", NULL},
	    {"begins like a frame",
		"\x28\xb5\x2f"
		"abc",
		6,
		"\x28\xb5\x2f"
		"abc",
		NULL},
	    {"part of a magic", "\x28\xb5\x2f", 3, "\x28\xb5\x2f", NULL},
	    {"begins like a skippable one", "P*Mabc", 6, "P*Mabc", NULL},
	    {"frame", FRAME_AB, 11, "ab", NULL},
	    {"empty frame", FRAME_EMPTY, 9, "", NULL},
	    {"frames", FRAME_AB FRAME_EMPTY FRAME_AB, 31, "abab", NULL},
	    {"skippable", SKIPPABLE, 11, "", NULL},
	    {"skippable, frame", SKIPPABLE FRAME_AB, 22, "ab", NULL},
	    {"frame, skippable, frame", FRAME_AB SKIPPABLE FRAME_AB, 33, "abab", NULL},
	    {"large window", FRAME_28, 10, "xxx", NULL},
	    {"garbage behind", FRAME_AB "abcd", 15, "ab", "zstd"},
	    {"garbage inside",
		"\x28\xb5\x2f\xfd\x20\x02\x17\x00\x00"
		"abcd",
		13, "", "zstd"},
	    {"torn in the next magic", FRAME_AB "\x28\xb5", 13, "ab", "torn"},
	    {"torn skippable", SKIPPABLE, 9, "", "torn"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const char *path = tmp_path("in");
		struct err e = {0};
		struct buf got = {0};
		struct in *in;
		ssize_t n;

		tmp_write(path, t[i].in, t[i].n);
		in = in_open(path, &e);
		assert_non_null(in);
		assert_string_equal(in_name(in), path);
		while ((n = in_read(in, buf_room(&got, 1), 1, &e)) > 0)
			got.len += (size_t)n;
		assert_bytes(t[i].name, got.data, got.len, t[i].want);
		if ((n < 0) != (t[i].class != NULL))
			fail_msg("%s: returned %d", t[i].name, (int)n);
		if (n < 0 &&
		    (strcmp(e.class, t[i].class) != 0 || strncmp(e.msg, path, strlen(path)) != 0))
			fail_msg("%s: %s: %s", t[i].name, e.class, e.msg);
		in_close(in);
		buf_free(&got);
	}
	tmp_clean();
}

/* Where in the file it is, and what is to be done. */
static void places(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *says;
	} t[] = {
	    {FRAME_AB "abcd", 15, "what follows its first 11 bytes is no zstd frame"},
	    {FRAME_AB FRAME_AB "\0\0\0\0\0", 27,
		"what follows its first 22 bytes is no zstd frame but a zero: padding is to be cut "
		"off (head -c 22)"},
	    {FRAME_AB "\0", 12, "no zstd frame but a zero"},
	    {FRAME_AB "\x28\xb5\x2f\xfd\x20\x02\x17\x00\x00"
		      "abcd",
		24, "the zstd frame at byte 11: "},
	    {FRAME_AB FRAME_SHORT, 25, "at byte 11: 2 bytes, and its header says 4"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const char *path = tmp_path("in");
		struct err e = {0};
		struct in *in;
		ssize_t n;
		char c;

		tmp_write(path, t[i].in, t[i].n);
		in = in_open(path, &e);
		assert_non_null(in);
		while ((n = in_read(in, &c, 1, &e)) > 0)
			;
		assert_int_equal(n, -1);
		assert_string_equal(e.class, "zstd");
		if (!strstr(e.msg, t[i].says))
			fail_msg("%s, not %s", e.msg, t[i].says);
		in_close(in);
	}
	tmp_clean();
}

/* Cut anywhere, a compressed file is an error, but for the cuts at which it is a shorter file. */
static void torn_frames(void **state)
{
	struct err e = {0};
	struct out *o = out_open(tmp_path("a.zst"), 0, &e);
	struct buf all;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		char s[32];
		int n = snprintf(s, sizeof(s), "line %d\n", i * i);

		assert_int_equal(out_write(o, s, (size_t)n, &e), 0);
	}
	assert_int_equal(out_finish(o, &e), 0);
	all = tmp_read(tmp_path("a.zst"));
	for (size_t cut = 4; cut < all.len; cut += all.len / 97 + 1) {
		char piece[5000];
		struct in *in;
		ssize_t n;

		tmp_write(tmp_path("b"), all.data, cut);
		in = in_open(tmp_path("b"), &e);
		while ((n = in_read(in, piece, sizeof(piece), &e)) > 0)
			;
		assert_int_equal(n, -1);
		assert_string_equal(e.class, "torn");
		assert_non_null(strstr(e.msg, "ends early"));
		assert_int_equal(in_whole(in), 0);
		assert_true(in_compressed(in));
		in_close(in);
	}
	buf_free(&all);
	tmp_clean();
}

static void cannot_open(void **state)
{
	struct err e = {0};

	(void)state;
	assert_null(in_open(tmp_path("none"), &e));
	assert_non_null(strstr(e.msg, "none: No such file or directory"));
	assert_null(in_open(tmp_dir, &e));
	assert_non_null(strstr(e.msg, ": Is a directory"));
	assert_null(lines_open((const char *const[]){"-", tmp_path("none")}, 2, 0, &e));
	assert_non_null(strstr(e.msg, "none: No such file or directory"));
	assert_null(lines_open((const char *const[]){tmp_dir}, 1, 0, &e));
	assert_non_null(strstr(e.msg, ": Is a directory"));
	in_close(NULL);
	lines_close(NULL);
}

/* ---- lines ---- */

static void temporary_file(void **state)
{
	struct err e = {0};
	struct temp *t = temp_open(tmp_dir, "TMPDIR", &e);
	uint64_t at[3];
	char got[8] = {0};

	(void)state;
	assert_int_equal(tmp_clean(), 0); /* it has no name */
	assert_int_equal(temp_append(t, "abc", 3, &at[0], &e), 0);
	assert_int_equal(temp_append(t, "", 0, &at[1], &e), 0);
	assert_int_equal(temp_append(t, "defg", 4, &at[2], &e), 0);
	assert_int_equal(temp_read(t, got, 4, at[2], &e), 0);
	assert_string_equal(got, "defg");
	assert_int_equal(temp_read(t, got, 3, at[0], &e), 0);
	assert_string_equal(got, "abcg");
	assert_int_equal(temp_read(t, got, 5, at[2], &e), -1); /* behind the end */
	assert_non_null(strstr(e.msg, "(TMPDIR names another folder)"));
	temp_close(t);
	temp_close(NULL);
	assert_null(temp_open(tmp_path("none"), "TMPDIR", &e));
	setenv("TMPDIR", tmp_path("none"), 1);
	assert_null(temp_open(NULL, "TMPDIR", &e));
	assert_non_null(strstr(e.msg, "none (TMPDIR names another folder): No such file"));
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(streams),
	    cmocka_unit_test(places),
	    cmocka_unit_test(torn_frames),
	    cmocka_unit_test(cannot_open),
	    cmocka_unit_test(temporary_file),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
