/* lines: what is a line, of files, pipes and FIFOs. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/hash.h"
#include "frames.h"
#include "io/in.h"
#include "io/lines.h"
#include "io/out.h"
#include "tmp.h"

/* Shows the lines as NUMBER:TEXT; and long ones as NUMBER!TEXT+TEXT; */
static void show_lines(struct buf *b, struct lines *l, int ask_rest)
{
	struct err e = {0};
	struct line line;
	int rc;

	while ((rc = lines_next(l, &line, &e)) > 0) {
		const char *p;
		size_t n;

		buf_addf(b, "%llu%c", (unsigned long long)line.number, line.toolong ? '!' : ':');
		buf_add(b, line.p, line.n);
		while (ask_rest && line.toolong && lines_rest(l, &p, &n, &e) > 0) {
			buf_addc(b, '+');
			buf_add(b, p, n);
		}
		buf_addc(b, ';');
	}
	if (rc < 0)
		fail_msg("%s", e.msg);
}

static void line_rows(void **state)
{
	static const struct {
		const char *in, *want, *without_rest; /* without_rest NULL: the same */
	} t[] = {
	    {"", "", NULL},
	    {"\n\n", "", NULL},
	    {"a\nb\n", "1:a;2:b;", NULL},
	    {"a\nb", "1:a;2:b;", NULL},
	    {"a\r\nb\r\n", "1:a;2:b;", NULL},
	    {"a\rb\r\r\n", "1:a\rb\r;", NULL},
	    {"a\r", "1:a\r;", NULL},
	    {"a\n\n \t\r\n\r\nb\n", "1:a;5:b;", NULL},
	    {" a \n", "1: a ;", NULL},
	    {"\xef\xbb\xbf"
	     "a\n\xef\xbb\xbf"
	     "b\n",
		"1:a;2:\xef\xbb\xbf"
		"b;",
		NULL},
	    {"\xef\xbb\xbf", "", NULL},
	    {"\xef\xbb\n", "1:\xef\xbb;", NULL},
	    {"\xef\xbb", "1:\xef\xbb;", NULL},
	    {"\xef\xbb\xbf\r\na\n", "2:a;", NULL},
	    {"\xff", "1:\xff;", NULL},
	    {"\xfe\n\xff\xfe\n", "1:\xfe;2:\xff\xfe;", NULL},
	    {"12345678\n", "1:12345678;", NULL},
	    {"12345678\r\n", "1:12345678;", NULL},
	    {"12345678", "1:12345678;", NULL},
	    {"123456789\nb\n", "1!12345678+9;2:b;", "1!12345678;2:b;"},
	    {"123456789\r\nb\n", "1!12345678+9\r;2:b;", "1!12345678;2:b;"},
	    {"123456789", "1!12345678+9;", "1!12345678;"},
	    {"b\n123456789", "1:b;2!12345678+9;", "1:b;2!12345678;"},
	    {"\xef\xbb\xbf"
	     "12345678\nb\n",
		"1:12345678;2:b;", NULL},
	    {"\xef\xbb\xbf"
	     "123456789\nb\n",
		"1!12345678+9;2:b;", "1!12345678;2:b;"},
	    {"a\n1234567890abcdefghij\n\nb", "1:a;2!12345678+90abcdefghij;4:b;",
		"1:a;2!12345678;4:b;"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t) * 2; i++) {
		const char *in = t[i / 2].in, *want = t[i / 2].want;
		int ask_rest = i % 2 == 0;
		const char *paths[] = {tmp_path("a"), tmp_path("b")};
		struct buf got = {0}, twice = {0};
		struct err e = {0};
		struct lines *l;

		if (!ask_rest && t[i / 2].without_rest)
			want = t[i / 2].without_rest;
		tmp_puts(paths[0], in);
		tmp_puts(paths[1], in);
		l = lines_open(paths, 2, 8, &e);
		show_lines(&got, l, ask_rest);
		lines_close(l);
		buf_addf(&twice, "%s%s", want, want);
		if (strcmp(buf_cstr(&got), buf_cstr(&twice)) != 0)
			fail_msg("'%s': got '%s', want '%s'", in, got.data, twice.data);
		buf_free(&got);
		buf_free(&twice);
	}
	tmp_clean();
}

static void what_has_no_lines_is_refused(void **state)
{
	static const struct {
		const char *in, *why;
	} t[] = {
	    {"\xff\xfe{", "UTF-16 (it begins with FF FE): iconv -f UTF-16 -t UTF-8 FILE | ..."},
	    {"\xff\xfe", "UTF-16 (it begins with FF FE): iconv -f UTF-16 -t UTF-8 FILE | ..."},
	    {"\xfe\xff{\n", "UTF-16 (it begins with FE FF): iconv -f UTF-16 -t UTF-8 FILE | ..."},
	    {"\x1f\x8b\x08", "gzip: zcat FILE | ..."},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const char *paths[] = {tmp_path("a"), tmp_path("b")};
		struct err e = {0};
		struct line line;
		struct lines *l;

		tmp_puts(paths[0], "x\n");
		tmp_puts(paths[1], t[i].in);
		l = lines_open(paths, 2, 0, &e);
		assert_int_equal(lines_next(l, &line, &e), 1);
		assert_int_equal(lines_next(l, &line, &e), -1);
		assert_string_equal(e.class, "encoding");
		if (strncmp(e.msg, paths[1], strlen(paths[1])) != 0 || !strstr(e.msg, t[i].why))
			fail_msg("%s", e.msg);
		lines_close(l);
	}
}

static void nul_is_a_byte(void **state)
{
	const char *paths[] = {tmp_path("a")};
	struct err e = {0};
	struct lines *l;
	struct line line;

	(void)state;
	tmp_write(paths[0], "a\0b\n\0\n", 6);
	l = lines_open(paths, 1, 0, &e);
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_int_equal(line.n, 3);
	assert_memory_equal(line.p, "a\0b", 3);
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_int_equal(line.n, 1);
	assert_int_equal(lines_next(l, &line, &e), 0);
	assert_int_equal(lines_next(l, &line, &e), 0);
	lines_close(l);
	tmp_clean();
}

/* Lines of many lengths, around the sizes at which buffers grow, plain and compressed. */
static void lengths(void **state)
{
	static const char *const names[] = {"a", "a.zst"};
	struct err e = {0};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		const char *paths[] = {tmp_path(names[k])};
		struct out *o = out_open(paths[0], 0, &e);
		char *x = xmalloc(2000000);
		struct lines *l;
		struct line line;
		uint64_t seen = 0;

		memset(x, 'x', 2000000);
		for (size_t n = 1; n < 1500000; n = n * 3 / 2 + 1) {
			assert_int_equal(out_write(o, x, n, &e), 0);
			assert_int_equal(out_write(o, "\n", 1, &e), 0);
		}
		assert_int_equal(out_finish(o, &e), 0);
		l = lines_open(paths, 1, 0, &e);
		for (size_t n = 1; n < 1500000; n = n * 3 / 2 + 1) {
			assert_int_equal(lines_next(l, &line, &e), 1);
			assert_int_equal(line.number, ++seen);
			assert_int_equal(line.n, n);
			assert_memory_equal(line.p, x, n);
			assert_false(line.toolong);
		}
		assert_int_equal(lines_next(l, &line, &e), 0);
		lines_close(l);
		free(x);
	}
	tmp_clean();
}

/* A pipe whose writer dawdles: lines come when they are there, not when a buffer is full. */
static void from_a_slow_pipe(void **state)
{
	int fd[2], answer[2], saved = dup(STDIN_FILENO), status;
	struct err e = {0};
	struct line line;
	struct lines *l;
	pid_t child;
	char c;

	(void)state;
	assert_int_equal(pipe(fd) + pipe(answer), 0);
	child = fork();
	if (child == 0) {
		close(answer[1]);
		/* UTF-8's mark in two pieces, as far as a moment parts them */
		if (write(fd[1], "\xef", 1) != 1 || poll(NULL, 0, 20) != 0 ||
		    write(fd[1],
			"\xbb\xbf"
			"a\nb\n",
			6) != 6 ||
		    read(answer[0], &c, 1) != 1 || write(fd[1], "c\n", 2) != 2)
			_exit(1);
		_exit(0);
	}
	close(fd[1]);
	dup2(fd[0], STDIN_FILENO);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK); /* as some parents leave it */
	l = lines_open(NULL, 0, 0, &e);
	assert_false(lines_ready(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_string_equal(line.file, "standard input");
	assert_int_equal(line.n, 1);
	assert_true(lines_ready(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_false(lines_ready(l));
	assert_false(lines_readable(l));
	assert_int_equal(
	    write(answer[1], "x", 1), 1); /* both lines came before the third was written */
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_memory_equal(line.p, "c", 1);
	assert_int_equal(line.number, 3);
	assert_int_equal(lines_next(l, &line, &e), 0);
	lines_close(l);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd[0]);
	close(answer[0]);
	close(answer[1]);
}

/* What can be read without waiting: bytes in the pipe, frames that came together, the end. */
static void whether_there_is_something_to_read(void **state)
{
	int fd[2], saved = dup(STDIN_FILENO);
	struct err e = {0};
	struct line line;
	struct lines *l;
	struct in *in;
	char got[8];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	l = lines_open(NULL, 0, 0, &e);
	assert_false(lines_readable(l)); /* not opened yet */
	assert_int_equal(write(fd[1], "a\nb\n", 4), 4);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_false(lines_readable(l));
	/* a line whose end is still to come */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write(fd[1], "cd", 2), 2);
		assert_false(lines_readable(l));
	}
	assert_int_equal(write(fd[1], "e\nf", 3), 3);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_memory_equal(line.p, "cdcde", line.n);
	assert_int_equal(line.n, 5);
	assert_false(lines_readable(l));
	lines_close(l);

	l = lines_open(NULL, 0, 3, &e); /* one that is too long is there without its end */
	assert_int_equal(write(fd[1], "abcd", 4), 4);
	assert_false(lines_readable(l));
	assert_int_equal(write(fd[1], "e", 1), 1);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_true(line.toolong);
	lines_close(l);

	l = lines_open(NULL, 0, 0, &e); /* what can't be read is told by lines_next, each time */
	assert_int_equal(write(fd[1], "\xff\xfe", 2), 2);
	for (int i = 0; i < 2; i++) {
		assert_true(lines_readable(l));
		assert_int_equal(lines_next(l, &line, &e), -1);
		assert_string_equal(e.class, "encoding");
	}
	lines_close(l);

	in = in_open(NULL, &e);
	assert_false(in_ready(in));
	assert_int_equal(write(fd[1], FRAME_AB FRAME_AB, 22), 22);
	for (int i = 0; i < 2; i++) {
		assert_true(in_ready(in));
		assert_int_equal(in_read(in, got, sizeof(got), &e), 2);
	}
	assert_false(in_ready(in));
	in_close(in);

	l = lines_open(NULL, 0, 0, &e);
	close(fd[1]);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 0);
	assert_true(lines_readable(l));
	lines_close(l);
	dup2(saved, STDIN_FILENO);
	close(saved);
}

/* The end of a file, and blanks before it, are no reason to wait for the first line of the next. */
static void whether_the_next_file_has_begun(void **state)
{
	const char *paths[] = {tmp_path("lines"), tmp_path("fifo"), tmp_path("last")};
	struct err e = {0};
	struct line line;
	struct lines *l;
	int fd;

	(void)state;
	tmp_puts(paths[0], "a\n \r\n\n\t");
	tmp_puts(paths[2], "c");
	assert_int_equal(mkfifo(paths[1], 0600), 0);
	l = lines_open(paths, 3, 0, &e);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_false(lines_readable(l));
	assert_false(lines_readable(l));
	fd = open(paths[1], O_WRONLY);
	assert_false(lines_readable(l)); /* a writer, and nothing written */
	assert_int_equal(write(fd, "\nb\n", 3), 3);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_memory_equal(line.p, "b", 1);
	assert_int_equal(line.number, 2);
	assert_string_equal(line.file, paths[1]);
	assert_false(lines_readable(l));
	close(fd);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_string_equal(line.file, paths[2]);
	assert_true(lines_readable(l));
	assert_int_equal(lines_next(l, &line, &e), 0);
	lines_close(l);
	tmp_clean();
}

/* A blank line that is too long is told like any other, whoever asks first. */
static void blank_and_too_long(void **state)
{
	static const char *const texts[] = {
	    "a\n    \nb\n", "a\n    \r\nb\n", "a\n   \r\nb\n", "a\n    ", "a\n   "};
	static const int toolong[] = {1, 1, 0, 1, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *path = tmp_path("blank");
		struct err e = {0};
		struct line line = {0};
		struct lines *l;
		int n = 0;

		tmp_puts(path, texts[i]);
		l = lines_open(&path, 1, 3, &e);
		while (lines_readable(l) && lines_next(l, &line, &e) > 0)
			n += line.toolong;
		assert_int_equal(n, toolong[i]);
		lines_close(l);
	}
	tmp_clean();
}

static void read_errors_name_the_file(void **state)
{
	const char *paths[] = {tmp_path("good"), tmp_path("torn.zst")};
	struct err e = {0};
	struct lines *l;
	struct line line;

	(void)state;
	tmp_puts(paths[0], "a\n");
	tmp_write(paths[1], FRAME_AB, 10);
	l = lines_open(paths, 2, 0, &e);
	assert_int_equal(lines_next(l, &line, &e), 1);
	assert_int_equal(lines_next(l, &line, &e), -1);
	assert_non_null(strstr(e.msg, "torn.zst: the zstd frame ends early"));
	lines_close(l);
	tmp_clean();
}

/* What was read of each file: records, and a hash of the text that does not see compression. */
static void digests(void **state)
{
	static const char *const texts[] = {"{}\n\n[1]\r\n", "", "x"};
	static const uint64_t records[] = {2, 0, 1};
	char path[3][1024];
	const char *paths[3];
	const struct lines_file *f;
	struct err e = {0};
	struct lines *l;
	struct line line;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct out *o;

		snprintf(path[i], sizeof(path[i]), "%s",
		    tmp_path(i == 0   ? "a.zst"
			     : i == 1 ? "b"
				      : "c"));
		paths[i] = path[i];
		o = out_open(paths[i], 0, &e);
		assert_int_equal(out_write(o, texts[i], strlen(texts[i]), &e), 0);
		assert_int_equal(out_finish(o, &e), 0);
	}
	l = lines_open(paths, 3, 0, &e);
	lines_want_digests(l);
	while (lines_next(l, &line, &e) > 0)
		;
	f = lines_files(l, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(f[i].name, paths[i]);
		assert_int_equal(f[i].records, records[i]);
		assert_int_equal(f[i].bytes, strlen(texts[i]));
		assert_int_equal(f[i].xxh64, hash64(texts[i], strlen(texts[i]), 0));
	}
	lines_close(l);
	tmp_clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(line_rows),
	    cmocka_unit_test(what_has_no_lines_is_refused),
	    cmocka_unit_test(nul_is_a_byte),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(from_a_slow_pipe),
	    cmocka_unit_test(whether_there_is_something_to_read),
	    cmocka_unit_test(whether_the_next_file_has_begun),
	    cmocka_unit_test(blank_and_too_long),
	    cmocka_unit_test(read_errors_name_the_file),
	    cmocka_unit_test(digests),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
