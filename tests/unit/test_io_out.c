#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/in.h"
#include "io/out.h"
#include "io/path.h"
#include "tmp.h"

static struct out *must_open(const char *path, int zstd)
{
	struct err e = {0};
	struct out *o = out_open(path, zstd, &e);

	if (!o)
		fail_msg("%s", e.msg);
	return o;
}

static void put(struct out *o, const char *s)
{
	struct err e = {0};

	assert_int_equal(out_write(o, s, strlen(s), &e), 0);
}

static void finish(struct out *o)
{
	struct err e = {0};

	if (out_finish(o, &e) < 0)
		fail_msg("%s", e.msg);
}

static void assert_file(const char *path, const char *want)
{
	struct buf b = tmp_read(path);

	assert_non_null(b.data);
	assert_string_equal(buf_cstr(&b), want);
	buf_free(&b);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void appears_when_finished(void **state)
{
	const char *path = tmp_path("a");
	struct err e = {0};
	mode_t mask = umask(027);
	struct out *o = must_open(path, 0);

	(void)state;
	put(o, "new\n");
	assert_int_equal(out_flush(o, &e), 0);
	assert_false(tmp_exists(path));
	finish(o);
	umask(mask);
	assert_file(path, "new\n");
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(tmp_clean(), 1);
}

static void replaces_whole(void **state)
{
	const char *path = tmp_path("a");
	struct out *o;

	(void)state;
	tmp_puts(path, "old\n");
	chmod(path, 0604);
	o = must_open(path, 0);
	put(o, "new\n");
	assert_file(path, "old\n");
	finish(o);
	assert_file(path, "new\n");
	assert_int_equal(mode_of(path), 0604);
	assert_int_equal(tmp_clean(), 1);
}

static void aborted_is_as_if_never(void **state)
{
	const char *path = tmp_path("a");
	struct out *o;

	(void)state;
	out_abort(NULL);
	o = must_open(path, 0);
	put(o, "new\n");
	out_abort(o);
	assert_int_equal(tmp_clean(), 0);
	tmp_puts(path, "old\n");
	o = must_open(path, 1);
	put(o, "new\n");
	out_abort(o);
	assert_file(path, "old\n");
	assert_int_equal(tmp_clean(), 1);
}

static void killed_is_as_if_never(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		put(must_open(tmp_path("a"), 0), "new\n");
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(tmp_clean(), 0);
}

/* Its reader goes on with the old bytes. */
static void over_an_input(void **state)
{
	const char *path = tmp_path("a");
	struct err e = {0};
	struct out *o;
	struct in *in;
	char c;

	(void)state;
	tmp_puts(path, "xyz");
	in = in_open(path, &e);
	o = must_open(path, 0);
	assert_int_equal(in_read(in, &c, 1, &e), 1);
	put(o, "new");
	finish(o);
	assert_int_equal(in_read(in, &c, 1, &e), 1);
	assert_int_equal(c, 'y');
	in_close(in);
	assert_file(path, "new");
	tmp_clean();
}

static void through_links(void **state)
{
	struct out *o;
	struct err e;
	char *s;

	(void)state;
	assert_int_equal(symlink("b", tmp_path("a")), 0);
	assert_int_equal(symlink("c", tmp_path("b")), 0);
	o = must_open(tmp_path("a"), 0); /* c is not there yet */
	put(o, "one");
	finish(o);
	assert_file(tmp_path("c"), "one");
	o = must_open(tmp_path("a"), 0);
	put(o, "two");
	finish(o);
	assert_file(tmp_path("c"), "two");
	s = path_follow(tmp_path("a"));
	assert_string_equal(s, tmp_path("c"));
	free(s);
	assert_int_equal(symlink("loop", tmp_path("loop")), 0);
	assert_null(out_open(tmp_path("loop"), 0, &e));
	assert_non_null(strstr(e.msg, "loop: Too many levels of symbolic links"));
	assert_int_equal(tmp_clean(), 4);
}

/* What stands in the place of a file that a program names itself goes; what it leads to stays. */
static void over_what_has_the_name(void **state)
{
	char *path = xstrdup(tmp_path("a"));
	struct stat st;
	struct err e;
	struct out *o;

	(void)state;
	tmp_puts(tmp_path("far"), "far");
	for (int i = 0; i < 4; i++) {
		assert_int_equal(i == 0	  ? symlink("far", path)
				 : i == 1 ? symlink("none/nothing", path)
				 : i == 2 ? symlink("a", path)
					  : mkfifo(path, 0600),
		    0);
		assert_int_equal(out_check_own(path, &e), 0);
		o = out_open_own(path, &e);
		assert_non_null(o);
		put(o, "new");
		finish(o);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | mode_of(tmp_path("far")));
		assert_file(path, "new");
		assert_file(tmp_path("far"), "far");
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(out_check_own(path, &e), -1);
	assert_null(out_open_own(path, &e));
	assert_int_equal(rmdir(path), 0);
	free(path);
	assert_int_equal(tmp_clean(), 1);
}

static void cannot_open(void **state)
{
	static const struct {
		const char *path, *says;
	} t[] = {
	    {"none/a", "No such file or directory"},
	    {"none/", "No such file or directory"},
	    {"", "Is a directory"}, /* the folder itself */
	    {"file/a", "Not a directory"},
	};
	struct err e = {0};

	(void)state;
	tmp_puts(tmp_path("file"), "");
	for (size_t i = 0; i < LEN(t); i++) {
		assert_null(out_open(tmp_path(t[i].path), 0, &e));
		if (!strstr(e.msg, t[i].says) || !strstr(e.msg, tmp_path(t[i].path)))
			fail_msg("%s: %s", t[i].path, e.msg);
	}
	assert_null(out_open("", 0, &e));
	assert_non_null(strstr(e.msg, "No such file or directory"));
	assert_int_equal(tmp_clean(), 1);
}

static void full_device(void **state)
{
	struct err e = {0};

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct out *o = must_open("/dev/full", zstd);

		put(o, "a");
		assert_int_equal(out_finish(o, &e), -1);
		assert_string_equal(e.msg, "/dev/full: No space left on device");
	}
	finish(must_open("/dev/null", 0));
}

static void to_a_fifo(void **state)
{
	const char *path = tmp_path("fifo");
	struct err e = {0};
	struct out *o;
	char got[8];
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	o = must_open(path, 0);
	put(o, "ab");
	assert_int_equal(read(fd, got, sizeof(got)), -1); /* nothing yet */
	assert_int_equal(out_flush(o, &e), 0);
	assert_int_equal(read(fd, got, sizeof(got)), 2);
	put(o, "c");
	out_abort(o); /* what was given is given */
	assert_int_equal(read(fd, got, sizeof(got)), 1);
	close(fd);
	tmp_clean();
}

/* The bytes do not depend on how they were cut into calls, nor on flushes. */
static void compresses_the_same(void **state)
{
	struct buf text = {0}, first = {0}, back = {0};
	struct err e = {0};
	struct in *in;
	ssize_t n;

	(void)state;
	for (int i = 0; text.len < 1000000; i++)
		buf_addf(&text, "{\"id\":\"%d\",\"n\":%d}\n", i, i * i % 1000);
	for (size_t step = 1000000; step > 10; step /= 7) {
		const char *path = tmp_path(step % 2 ? "a.zst" : "a");
		struct out *o = must_open(path, step % 2 == 0);
		struct buf got;

		for (size_t at = 0; at < text.len; at += step) {
			size_t part = text.len - at < step ? text.len - at : step;

			assert_int_equal(out_write(o, text.data + at, part, &e), 0);
			assert_int_equal(step % 3 ? out_flush(o, &e) : 0, 0);
		}
		finish(o);
		got = tmp_read(path);
		if (!first.data)
			first = tmp_read(path);
		assert_int_equal(got.len, first.len);
		assert_memory_equal(got.data, first.data, got.len);
		buf_free(&got);
	}
	assert_true(first.len < text.len / 3);
	in = in_open(tmp_path("a"), &e);
	while ((n = in_read(in, buf_room(&back, 10000), 10000, &e)) > 0)
		back.len += (size_t)n;
	in_close(in);
	assert_int_equal(back.len, text.len);
	assert_memory_equal(back.data, text.data, text.len);
	buf_free(&text);
	buf_free(&first);
	buf_free(&back);
	tmp_clean();
}

static void large_and_small_writes(void **state)
{
	struct buf want = {0}, got;
	struct out *o = must_open(tmp_path("a"), 0);
	struct err e = {0};

	(void)state;
	for (size_t n = 1; n < 3000000; n = n * 5 + 3) {
		size_t at = want.len;

		for (size_t i = 0; i < n; i++)
			buf_addc(&want, (char)('a' + (i + n) % 26));
		assert_int_equal(out_write(o, want.data + at, n, &e), 0);
		assert_int_equal(out_write(o, "", 0, &e), 0);
	}
	finish(o);
	got = tmp_read(tmp_path("a"));
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	buf_free(&got);
	buf_free(&want);
	tmp_clean();
}

static void empty_outputs(void **state)
{
	struct err e = {0};
	struct in *in;
	char c;

	(void)state;
	finish(must_open(tmp_path("a"), 0));
	assert_file(tmp_path("a"), "");
	finish(must_open(tmp_path("a.zst"), 0));
	in = in_open(tmp_path("a.zst"), &e);
	assert_int_equal(in_read(in, &c, 1, &e), 0);
	assert_true(in_compressed(in));
	in_close(in);
	tmp_clean();
}

static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* A write fails, and there is room again when the file is finished: it has a hole. */
static void not_after_a_failed_write(void **state)
{
	enum { MANY = 600000 };
	char *noise = xmalloc(MANY);
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		noise[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
	signal(SIGXFSZ, SIG_IGN);
	for (int zstd = 0; zstd < 2; zstd++) {
		struct err e = {0};
		struct out *o;

		tmp_puts(tmp_path("a"), "whole");
		o = must_open(tmp_path("a"), zstd);
		limit_files(100000);
		assert_int_equal(out_write(o, noise, MANY, &e), -1);
		limit_files(RLIM_INFINITY);
		assert_int_equal(out_finish(o, &e), -1);
		assert_non_null(strstr(e.msg, "/a: an earlier write failed"));
		assert_file(tmp_path("a"), "whole");
		tmp_clean();
	}
	signal(SIGXFSZ, SIG_DFL);
	free(noise);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(appears_when_finished),
	    cmocka_unit_test(replaces_whole),
	    cmocka_unit_test(aborted_is_as_if_never),
	    cmocka_unit_test(killed_is_as_if_never),
	    cmocka_unit_test(over_an_input),
	    cmocka_unit_test(through_links),
	    cmocka_unit_test(over_what_has_the_name),
	    cmocka_unit_test(cannot_open),
	    cmocka_unit_test(full_device),
	    cmocka_unit_test(not_after_a_failed_write),
	    cmocka_unit_test(to_a_fifo),
	    cmocka_unit_test(compresses_the_same),
	    cmocka_unit_test(large_and_small_writes),
	    cmocka_unit_test(empty_outputs),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
