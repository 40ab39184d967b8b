#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/err.h"
#include "io/in.h"
#include "io/part.h"
#include "tmp.h"

static const char *const kinds[] = {"a.jsonl", "a.jsonl.zst"};

/* Everything that a file decodes to. */
static struct buf decoded(const char *path)
{
	struct err e = {0};
	struct in *in = in_open(path, &e);
	struct buf b = {0};
	ssize_t n;

	assert_non_null(in);
	while ((n = in_read(in, buf_room(&b, 4096), 4096, &e)) > 0)
		b.len += (size_t)n;
	if (n < 0)
		fail_msg("%s", e.msg);
	in_close(in);
	return b;
}

static void assert_decodes(const char *path, const char *want)
{
	struct buf b = decoded(path);

	assert_string_equal(buf_cstr(&b), want);
	buf_free(&b);
}

static int collect(void *ctx, const char *line, size_t n, uint64_t number, struct err *e)
{
	(void)e;
	buf_addf(ctx, "%llu:%.*s;", (unsigned long long)number, (int)n, line);
	return 0;
}

static void append(struct part *p, const char *line)
{
	struct err e = {0};

	assert_int_equal(part_append(p, line, strlen(line), &e), 0);
}

static struct part *must_open(const char *path, int resume)
{
	struct err e = {0};
	struct part *p = part_open(path, 0, resume, &e);

	if (!p)
		fail_msg("%s", e.msg);
	return p;
}

static void grows_and_is_renamed(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *path = tmp_path(kinds[i]);
		struct part *p = must_open(path, 0);
		char *part = xstrdup(part_path(p));
		struct err e = {0};

		append(p, "one");
		assert_int_equal(part_sync(p, &e), 0);
		assert_decodes(part, "one\n");
		assert_false(tmp_exists(path));
		append(p, "two");
		assert_int_equal(part_finish(p, &e), 0);
		assert_decodes(path, "one\ntwo\n");
		assert_false(tmp_exists(part));
		free(part);
	}
	tmp_clean();
}

static void empty_output(void **state)
{
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *path = tmp_path(kinds[i]);
		struct buf b;

		assert_int_equal(part_finish(must_open(path, 0), &e), 0);
		b = tmp_read(path);
		assert_int_equal(b.len > 0, i); /* an empty zstd frame has bytes */
		buf_free(&b);
		assert_decodes(path, "");
		assert_int_equal(part_finish(must_open(path, 1), &e), 0);
		assert_decodes(path, "");
	}
	tmp_clean();
}

static void goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *path = tmp_path(kinds[i]);
		struct part *p = must_open(path, 1); /* nothing there: starts */
		struct err e = {0};
		struct buf seen = {0};

		append(p, "one");
		append(p, "two");
		assert_int_equal(part_close(p, &e), 0);
		assert_false(tmp_exists(path));

		p = must_open(path, 1);
		assert_int_equal(part_replay(p, collect, &seen, &e), 0);
		assert_string_equal(buf_cstr(&seen), "1:one;2:two;");
		append(p, "three");
		assert_int_equal(part_finish(p, &e), 0);
		assert_decodes(path, "one\ntwo\nthree\n");

		p = must_open(path, 1); /* from the finished file, without a replay */
		append(p, "four");
		assert_false(tmp_exists(path));
		assert_int_equal(part_finish(p, &e), 0);
		assert_decodes(path, "one\ntwo\nthree\nfour\n");
		buf_free(&seen);
	}
	tmp_clean();
}

static int refuses(void *ctx, const char *line, size_t n, uint64_t number, struct err *e)
{
	(void)ctx, (void)line, (void)n;
	return number == 2 ? err_set(e, "json", "no object") : 0;
}

static int stops(void *ctx, struct err *e)
{
	int *asked = ctx;

	return ++*asked == 2 ? err_set(e, "stopped", "enough") : 0;
}

static void replay_is_stopped(void **state)
{
	const char *path = tmp_path("a");
	int asked = 0;

	(void)state;
	tmp_puts(tmp_path("a.part"), "one\ntwo\n"); /* one piece, read twice */
	for (int i = 0; i < 2; i++) {
		struct part *p = must_open(path, 1);
		struct buf seen = {0};
		struct err e = {0};

		part_stop_by(p, stops, &asked);
		assert_int_equal(part_replay(p, collect, &seen, &e), i ? 0 : -1);
		assert_string_equal(buf_cstr(&seen), "1:one;2:two;");
		if (i == 0)
			assert_string_equal(e.msg, "enough");
		assert_int_equal(part_close(p, &e), 0);
		buf_free(&seen);
	}
	assert_int_equal(asked, 4);
	tmp_clean();
}

static void replay_error_names_the_line(void **state)
{
	struct err e = {0};
	struct part *p;
	char want[1100];

	(void)state;
	tmp_puts(tmp_path("a.jsonl.part"), "one\ntwo\nthree\n");
	p = must_open(tmp_path("a.jsonl"), 1);
	assert_int_equal(part_replay(p, refuses, NULL, &e), -1);
	snprintf(want, sizeof(want), "%s:2: no object", part_path(p));
	assert_string_equal(e.msg, want);
	part_close(p, &e);
	tmp_clean();
}

/* With resume a wrong name may be that of any file: it stays as it is, and where it is. */
static void foreign_file_stays(void **state)
{
	static const char *const texts[] = {"{\"torn\":", "one\ntwo\nthree\n", "one\ntwo"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *path = tmp_path("a.jsonl");
		struct err e = {0}, ignored;
		struct part *p;
		struct buf left;

		tmp_puts(path, texts[i]);
		p = must_open(path, 1);
		assert_int_equal(part_replay(p, refuses, NULL, &e), -1);
		assert_int_equal(strncmp(e.msg, path, strlen(path)), 0);
		assert_false(tmp_exists(part_path(p)));
		part_close(p, &ignored);
		left = tmp_read(path);
		assert_string_equal(buf_cstr(&left), texts[i]);
		buf_free(&left);
	}
	tmp_clean();
}

static void set_time(const char *path)
{
	struct timespec t[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void assert_untouched(const char *path, const char *want)
{
	struct buf left = tmp_read(path);
	struct stat st;

	assert_string_equal(buf_cstr(&left), want);
	buf_free(&left);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mtime, 1000);
}

/* What is there is not changed, nor is its time, before the run has begun; FILE.part likewise. */
static void looking_changes_nothing(void **state)
{
	static const char torn[] = "one\ntwo\nthr", whole[] = "one\ntwo\n";
	const char *path = tmp_path("a.jsonl");
	struct err e = {0};
	struct part *p = must_open(path, 1);
	char *part = xstrdup(part_path(p));
	struct stat st;

	(void)state;
	assert_int_equal(part_replay(p, collect, &(struct buf){0}, &e), 0);
	assert_int_equal(part_close(p, &e), 0);
	assert_false(tmp_exists(part)); /* nothing was begun */

	tmp_puts(part, torn);
	set_time(part);
	p = must_open(path, 1);
	assert_int_equal(part_replay(p, refuses, NULL, &e), -1);
	assert_int_equal(part_close(p, &e), 0);
	assert_untouched(part, torn);
	p = must_open(path, 1);
	assert_int_equal(part_replay(p, NULL, NULL, &e), 0);
	assert_int_equal(part_close(p, &e), 0);
	assert_untouched(part, torn);

	assert_int_equal(unlink(part), 0);
	tmp_puts(path, whole);
	set_time(path);
	p = must_open(path, 1);
	assert_int_equal(part_replay(p, NULL, NULL, &e), 0);
	assert_int_equal(part_close(p, &e), 0);
	assert_untouched(path, whole);
	p = must_open(path, 1);
	assert_int_equal(part_finish(p, &e), 0); /* to make it is as old as its last run */
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtime > 1000);
	free(part);
	tmp_clean();
}

/* A file cut at every byte: what is left are the whole lines or frames before the cut. */
static void cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *path = tmp_path(kinds[i]);
		struct part *p = must_open(path, 0);
		char *part = xstrdup(part_path(p));
		size_t ends[4] = {0};
		struct err e = {0};
		struct buf all;

		for (size_t k = 0; k < 3; k++) {
			append(p, k == 1 ? "two with more text" : "one");
			assert_int_equal(part_sync(p, &e), 0);
			all = tmp_read(part);
			ends[k + 1] = all.len;
			buf_free(&all);
		}
		assert_int_equal(part_close(p, &e), 0);
		all = tmp_read(part);
		for (size_t cut = 0; cut <= all.len; cut++) {
			struct buf left;
			size_t k = 3;

			while (ends[k] > cut)
				k--;
			tmp_write(part, all.data, cut);
			p = must_open(path, 1);
			assert_int_equal(part_replay(p, NULL, NULL, &e), 0);
			left = tmp_read(part);
			assert_int_equal(left.len, cut); /* not yet */
			buf_free(&left);
			assert_int_equal(part_begin(p, &e), 0);
			left = tmp_read(part);
			assert_int_equal(left.len, ends[k]);
			buf_free(&left);
			assert_int_equal(part_close(p, &e), 0);
		}
		buf_free(&all);
		free(part);
		tmp_clean();
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *what, *file, *part;
		int resume;
		const char *open, *class, *says;
	} t[] = {
	    {"file", "x\n", NULL, 0, "a", "exists", "--resume"},
	    {"part", NULL, "x\n", 0, "a", "exists", "--resume"},
	    {"both", "x\n", "y\n", 0, "a", "exists", "--resume"},
	    {"both, resuming", "x\n", "y\n", 1, "a", "exists", "remove one"},
	    {"no folder", NULL, NULL, 0, "none/a", "system", "no file can be made"},
	    {"no folder, resuming", NULL, NULL, 1, "none/a", "system", "no file can be made"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct err e = {0};

		if (t[i].file)
			tmp_puts(tmp_path("a"), t[i].file);
		if (t[i].part)
			tmp_puts(tmp_path("a.part"), t[i].part);
		if (part_open(tmp_path(t[i].open), 0, t[i].resume, &e))
			fail_msg("%s: was opened", t[i].what);
		if (strcmp(e.class, t[i].class) != 0 || !strstr(e.msg, t[i].says) ||
		    !strstr(e.msg, t[i].open))
			fail_msg("%s: %s: %s", t[i].what, e.class, e.msg);
		if (t[i].file) {
			struct buf b = tmp_read(tmp_path("a"));

			assert_string_equal(buf_cstr(&b), t[i].file);
			buf_free(&b);
		}
		tmp_clean();
	}
}

static void refuses_the_other_kind(void **state)
{
	struct err e = {0};
	struct part *p = must_open(tmp_path("a.zst"), 0);
	struct buf before, after;

	(void)state;
	append(p, "one");
	assert_int_equal(part_close(p, &e), 0);
	rename(tmp_path("a.zst.part"), tmp_path("a.part"));
	before = tmp_read(tmp_path("a.part"));
	p = must_open(tmp_path("a"), 1);
	assert_int_equal(part_append(p, "two", 3, &e), -1);
	assert_non_null(strstr(e.msg, "is zstd, this run's would be plain"));
	part_close(p, &e);
	after = tmp_read(tmp_path("a.part"));
	assert_int_equal(before.len, after.len);

	tmp_puts(tmp_path("b.zst.part"), "one\n");
	p = must_open(tmp_path("b.zst"), 1);
	assert_int_equal(part_replay(p, NULL, NULL, &e), -1);
	assert_non_null(strstr(e.msg, "is plain, this run's would be zstd"));
	part_close(p, &e);
	buf_free(&before);
	buf_free(&after);
	tmp_clean();
}

/* A frame of another program's that ends within a line must not be joined to the next. */
static void refuses_a_foreign_frame(void **state)
{
	static const unsigned char frame[] = {/* the frame of "ab", stored */
	    0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x02, 0x11, 0x00, 0x00, 'a', 'b'};
	struct err e = {0};
	struct part *p;

	(void)state;
	tmp_write(tmp_path("a.zst.part"), frame, sizeof(frame));
	p = must_open(tmp_path("a.zst"), 1);
	assert_int_equal(part_replay(p, NULL, NULL, &e), -1);
	assert_non_null(strstr(e.msg, "ends within a line"));
	part_close(p, &e);
	tmp_clean();
}

static void second_run_is_locked_out(void **state)
{
	struct err e = {0};
	struct part *p = must_open(tmp_path("a"), 0), *q;

	(void)state;
	for (int resume = 0; resume < 2; resume++) {
		assert_null(part_open(tmp_path("a"), 0, resume, &e));
		assert_string_equal(e.class, "locked");
		assert_non_null(strstr(e.msg, "another run is writing it"));
	}
	assert_int_equal(part_finish(p, &e), 0);
	p = must_open(tmp_path("a"), 1);
	assert_null(part_open(tmp_path("a"), 0, 1, &e));
	assert_string_equal(e.class, "locked");
	assert_int_equal(part_close(p, &e), 0);
	q = must_open(tmp_path("a"), 1); /* the lock went with the first */
	assert_int_equal(part_close(q, &e), 0);
	tmp_clean();
}

static void ticks(void **state)
{
	struct err e = {0};
	struct part *p = must_open(tmp_path("a"), 0);
	struct buf b;

	(void)state;
	assert_int_equal(part_tick(p, 5000, &e), -1);
	append(p, "one");
	assert_int_equal(part_tick(p, 5000, &e), 1000);
	append(p, "two");
	assert_int_equal(part_tick(p, 5999, &e), 1);
	b = tmp_read(part_path(p));
	assert_int_equal(b.len, 0);
	assert_int_equal(part_tick(p, 6000, &e), -1);
	assert_decodes(part_path(p), "one\ntwo\n");
	append(p, "three");
	assert_int_equal(part_tick(p, 9000, &e), 1000);
	assert_int_equal(part_finish(p, &e), 0);
	buf_free(&b);
	tmp_clean();
}

/* A disk that fills up: the error names the file, nothing comes behind the torn line, and the run
 * can go on when there is room. */
static void full_disk(void **state)
{
	struct rlimit old, small = {100000, 100000};
	struct err e = {0};
	struct part *p = must_open(tmp_path("a"), 0);
	char line[1000];
	size_t n = 0;
	struct buf b;

	(void)state;
	memset(line, 'x', sizeof(line));
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	while (part_append(p, line, sizeof(line), &e) == 0 && part_sync(p, &e) == 0)
		n++;
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(n, 99); /* of 1001 bytes */
	assert_string_equal(e.class, "system");
	assert_non_null(strstr(e.msg, part_path(p)));
	assert_int_equal(part_append(p, line, sizeof(line), &e), -1);
	assert_int_equal(part_tick(p, 0, &e), -2);
	assert_int_equal(part_close(p, &e), 0);
	b = tmp_read(tmp_path("a.part"));
	assert_int_equal(b.len, 100000); /* torn */
	buf_free(&b);

	p = must_open(tmp_path("a"), 1);
	append(p, "end");
	assert_int_equal(part_finish(p, &e), 0);
	b = tmp_read(tmp_path("a"));
	assert_int_equal(b.len, 99 * 1001 + 4);
	buf_free(&b);
	tmp_clean();
}

static void through_a_link(void **state)
{
	struct err e = {0};
	struct part *p;

	(void)state;
	assert_int_equal(symlink("real", tmp_path("link")), 0);
	p = must_open(tmp_path("link"), 0);
	append(p, "one");
	assert_int_equal(part_finish(p, &e), 0);
	assert_decodes(tmp_path("real"), "one\n");
	tmp_clean();
}

static void to_a_device(void **state)
{
	struct err e = {0};
	struct part *p = must_open("/dev/full", 0);

	(void)state;
	assert_null(part_path(p));
	assert_int_equal(part_append(p, "one", 3, &e), -1);
	assert_non_null(strstr(e.msg, "/dev/full"));
	assert_int_equal(part_finish(p, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(grows_and_is_renamed),
	    cmocka_unit_test(empty_output),
	    cmocka_unit_test(goes_on),
	    cmocka_unit_test(replay_is_stopped),
	    cmocka_unit_test(replay_error_names_the_line),
	    cmocka_unit_test(foreign_file_stays),
	    cmocka_unit_test(looking_changes_nothing),
	    cmocka_unit_test(cut_at_every_byte),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(refuses_the_other_kind),
	    cmocka_unit_test(refuses_a_foreign_frame),
	    cmocka_unit_test(second_run_is_locked_out),
	    cmocka_unit_test(ticks),
	    cmocka_unit_test(full_disk),
	    cmocka_unit_test(through_a_link),
	    cmocka_unit_test(to_a_device),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
