/* Any bytes as an input file: what in reads does not depend on the size of the reads, and lines
 * splits it as the plainest splitter does. */
#define _GNU_SOURCE		 /* memfd_create, memmem */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_getFrameHeader */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"
#include "io/in.h"
#include "io/lines.h"

#define TEXT_MAX   (1u << 20) /* a few bytes of zstd may stand for gigabytes */
#define LONGEST	   40
#define WINDOW_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(int ok)
{
	if (!ok)
		abort();
}

/* The text of the file, read in pieces; what ended it: 0 the end, 1 TEXT_MAX, -1 an error. */
static int read_all(struct buf *to, const char *path, size_t piece)
{
	struct err e = {0};
	struct in *in = in_open(path, &e);
	ssize_t n = 0;

	check(in != NULL);
	while (to->len < TEXT_MAX && (n = in_read(in, buf_room(to, piece), piece, &e)) > 0)
		to->len += (size_t)n;
	if (n < 0)
		check(e.class && strncmp(e.msg, path, strlen(path)) == 0);
	in_close(in);
	if (to->len > TEXT_MAX)
		to->len = TEXT_MAX;
	return n < 0 ? -1 : n > 0;
}

static int blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!memchr(" \t\r", p[i], 3))
			return 0;
	return 1;
}

/* Lines as lines_next and lines_rest hand them out: "NUMBER:TEXT" and LF. */
static void split_plainly(struct buf *to, const char *p, size_t n)
{
	uint64_t number = 0;

	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3, n -= 3;
	while (n > 0) {
		const char *lf = memchr(p, '\n', n);
		size_t whole = lf ? (size_t)(lf - p) + 1 : n, len = lf ? whole - 1 : n;
		size_t bare = lf && len > 0 && p[len - 1] == '\r' ? len - 1 : len;

		number++;
		if (bare > LONGEST || !blank(p, bare)) {
			buf_addf(to, "%llu:", (unsigned long long)number);
			buf_add(to, p, bare > LONGEST ? len : bare);
			buf_addc(to, '\n');
		}
		p += whole;
		n -= whole;
	}
}

/* arrays: elements of an array are lines too. ask: whether lines_next would block is asked each time. */
static int split(struct buf *to, const char *path, int arrays, int ask)
{
	struct err e = {0};
	struct lines *l = lines_open(&path, 1, LONGEST, &e);
	struct line line;
	int rc = 0;

	check(l != NULL);
	if (arrays)
		lines_arrays(l);
	while (to->len < TEXT_MAX && (!ask || lines_readable(l)) &&
	       (rc = lines_next(l, &line, &e)) > 0) {
		const char *p;
		size_t n;

		check(line.toolong ? line.n == LONGEST : line.n <= LONGEST);
		buf_addf(to, "%llu:", (unsigned long long)line.number);
		buf_add(to, line.p, line.n);
		while (line.toolong && to->len < TEXT_MAX && (rc = lines_rest(l, &p, &n, &e)) > 0)
			buf_add(to, p, n);
		buf_addc(to, '\n');
	}
	lines_close(l);
	return rc;
}

/* A text that lines refuses by its first bytes. */
static int foreign(const struct buf *text)
{
	return text->len >= 2 &&
	       (memcmp(text->data, "\xff\xfe", 2) == 0 || memcmp(text->data, "\xfe\xff", 2) == 0 ||
		   memcmp(text->data, "\x1f\x8b", 2) == 0);
}

/* A frame whose memory AddressSanitizer takes a second to mark: tests/cli/hostile.bats has such. */
static int large_window(const uint8_t *data, size_t n)
{
	const uint8_t *end = data + n, *p = data;
	ZSTD_frameHeader h;

	for (; (p = memmem(p, (size_t)(end - p), "\x28\xb5\x2f\xfd", 4)); p++)
		if (ZSTD_getFrameHeader(&h, p, (size_t)(end - p)) == 0 && h.windowSize > WINDOW_MAX)
			return 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf large = {0}, small = {0}, want = {0}, got = {0};
	char path[64];
	size_t same;
	int fd, rc, again;

	if (large_window(data, n))
		return 0;
	fd = memfd_create("input", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = read_all(&large, path, 1u << 16);
	again = read_all(&small, path, 7);
	same = large.len < small.len ? large.len : small.len;
	/* how much comes before an error is open, here and below, so that one may end by TEXT_MAX */
	check(again == rc || large.len == TEXT_MAX || small.len == TEXT_MAX);
	check(rc < 0 || again < 0 || large.len == small.len);
	check(same == 0 || memcmp(large.data, small.data, same) == 0);
	if (foreign(&large)) {
		check(split(&got, path, 0, 0) < 0);
		rc = -1;
	} else if (split(&got, path, 0, 0) == 0 && rc == 0) {
		split_plainly(&want, large.data, large.len);
		check(got.len == want.len &&
		      (got.len == 0 || memcmp(got.data, want.data, got.len) == 0));
	}
	buf_reset(&small);
	check(split(&small, path, 1, 0) >= 0 || rc != 0);
	if (rc == 0 && large.len > 0 && !memchr(large.data, '[', large.len))
		check(small.len == got.len &&
		      (got.len == 0 || memcmp(small.data, got.data, got.len) == 0));
	buf_reset(&want);
	check((split(&want, path, 0, 1) < 0) == (rc < 0) || want.len >= TEXT_MAX ||
	      large.len == TEXT_MAX);
	check(rc != 0 ||
	      (want.len == got.len && (got.len == 0 || memcmp(want.data, got.data, got.len) == 0)));
	buf_free(&large);
	buf_free(&small);
	buf_free(&want);
	buf_free(&got);
	close(fd);
	return 0;
}
