#include "io/in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

#define RAW_SIZE       (128u << 10)
#define WINDOW_LOG_MAX 31
#define MAGIC_SIZE     4
#define HEADER_MAX     18 /* of a frame: RFC 8878, 3.1.1 */

enum format { UNKNOWN, PLAIN, ZSTD };

struct in {
	int fd;
	char *name;
	int unmet; /* a FIFO that perhaps nobody has opened for writing yet */
	enum format format;
	unsigned char *raw; /* raw[at..len) is read and not yet used */
	size_t at, len;
	uint64_t left;	/* bytes that may still be read */
	uint64_t used;	/* bytes of the file before raw[at] */
	uint64_t whole; /* bytes of the file that are whole frames */
	ZSTD_DCtx *z;
	int in_frame;
	unsigned char header[HEADER_MAX]; /* how the frame begins, as far as it was used */
	size_t nheader;
	uint64_t made;		     /* bytes that came of the frame */
	struct hash64_state *digest; /* of what was handed out, or NULL */
	uint64_t bytes;
	int more; /* the decoder may hold output although its input is used up */
};

static int open_file(struct in *in, const char *path, struct err *e)
{
	struct stat st;

	/* a FIFO without a writer would keep the caller from its signals */
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (in->fd < 0)
		return err_sys(e, "%s", path);
	if (fstat(in->fd, &st) < 0)
		return err_sys(e, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return err_sys(e, "%s", path);
	}
	in->unmet = S_ISFIFO(st.st_mode);
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice: may fail */
	return 0;
}

struct in *in_open(const char *path, struct err *e)
{
	struct in *in = xcalloc(1, sizeof(*in));
	int standard = !path || strcmp(path, "-") == 0;

	in->name = xstrdup(standard ? "standard input" : path);
	in->fd = STDIN_FILENO;
	in->left = UINT64_MAX;
	if (!standard && open_file(in, path, e) < 0) {
		in_close(in);
		return NULL;
	}
	in->raw = xmalloc(RAW_SIZE);
	return in;
}

void in_close(struct in *in)
{
	if (!in)
		return;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	ZSTD_freeDCtx(in->z);
	if (in->digest)
		hash64_end(in->digest);
	free(in->raw);
	free(in->name);
	free(in);
}

static void await(const struct in *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* read(2), also on a descriptor that is non-blocking. */
static ssize_t read_some(struct in *in, void *to, size_t n, struct err *e)
{
	if (n > in->left)
		n = (size_t)in->left;
	if (in->unmet)
		await(in); /* without a writer it would read as if it had ended */
	in->unmet = 0;
	while (n > 0) {
		ssize_t got = read(in->fd, to, n);

		if (got >= 0) {
			in->left -= (uint64_t)got;
			return got;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			await(in);
		else if (errno != EINTR)
			return err_sys(e, "%s", in->name);
	}
	return 0;
}

/* Whether p[0..n), n <= MAGIC_SIZE, may be the beginning of a frame. */
static int like_magic(const unsigned char *p, size_t n)
{
	static const unsigned char frame[MAGIC_SIZE] = {0x28, 0xb5, 0x2f, 0xfd};
	static const unsigned char skippable[MAGIC_SIZE] = {0x50, 0x2a, 0x4d, 0x18};
	unsigned char first = n > 0 ? p[0] & 0xf0 : 0x50;

	return memcmp(p, frame, n) == 0 ||
	       (first == 0x50 && (n < 2 || memcmp(p + 1, skippable + 1, n - 1) == 0));
}

/* Reads no more than it takes to tell, so that a line typed on a terminal is passed on at once. */
static int find_format(struct in *in, struct err *e)
{
	while (in->len < MAGIC_SIZE && like_magic(in->raw, in->len)) {
		ssize_t got = read_some(in, in->raw + in->len, RAW_SIZE - in->len, e);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		in->len += (size_t)got;
	}
	in->format = in->len >= MAGIC_SIZE && like_magic(in->raw, MAGIC_SIZE) ? ZSTD : PLAIN;
	if (in->format == ZSTD) {
		in->z = ZSTD_createDCtx();
		if (!in->z)
			return err_set(e, "zstd", "%s: no memory for the decoder", in->name);
		ZSTD_DCtx_setParameter(in->z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	return 0;
}

/* Tapes and block copies pad a file with zeros: what else might be lost there is for the user to
 * say. */
static int refuse(const struct in *in, size_t rc, struct err *e)
{
	unsigned long long whole = in->whole;

	if (ZSTD_getErrorCode(rc) != ZSTD_error_prefix_unknown)
		return err_set(e, "zstd", "%s: the zstd frame at byte %llu: %s", in->name, whole,
		    ZSTD_getErrorName(rc));
	if (in->raw[in->at] != 0)
		return err_set(e, "zstd", "%s: what follows its first %llu bytes is no zstd frame",
		    in->name, whole);
	return err_set(e, "zstd",
	    "%s: what follows its first %llu bytes is no zstd frame but a zero: padding is to be "
	    "cut off (head -c %llu)",
	    in->name, whole, whole);
}

/* The decoder looks at the length that a frame has in its header only where it is given room for all
 * of it, or where the last block is not empty. */
static int end_frame(struct in *in, struct err *e)
{
	unsigned long long want = ZSTD_getFrameContentSize(in->header, in->nheader);

	if (want < ZSTD_CONTENTSIZE_ERROR && want != in->made)
		return err_set(e, "zstd",
		    "%s: the zstd frame at byte %llu: %llu bytes, and its header says %llu",
		    in->name, (unsigned long long)in->whole, (unsigned long long)in->made, want);
	in->whole = in->used;
	in->made = in->nheader = 0;
	return 0;
}

static int decode(struct in *in, ZSTD_outBuffer *out, struct err *e)
{
	ZSTD_inBuffer from = {in->raw + in->at, in->len - in->at, 0};
	size_t had = out->pos, rc = ZSTD_decompressStream(in->z, out, &from);

	if (ZSTD_isError(rc))
		return refuse(in, rc, e);
	for (size_t i = 0; i < from.pos && in->nheader < HEADER_MAX; i++)
		in->header[in->nheader++] = in->raw[in->at + i];
	in->made += out->pos - had;
	in->at += from.pos;
	in->used += from.pos;
	in->in_frame = rc != 0;
	in->more = in->in_frame && out->pos == out->size;
	return in->in_frame ? 0 : end_frame(in, e);
}

static ssize_t read_zstd(struct in *in, void *to, size_t n, struct err *e)
{
	ZSTD_outBuffer out = {to, n, 0};

	while (out.pos == 0) {
		if (in->at == in->len && !in->more) {
			ssize_t got = read_some(in, in->raw, RAW_SIZE, e);

			if (got < 0)
				return -1;
			if (got == 0 && in->in_frame)
				return err_set(e, "torn",
				    "%s: the zstd frame ends early: the file was cut", in->name);
			if (got == 0)
				return 0;
			in->at = 0;
			in->len = (size_t)got;
		}
		if (decode(in, &out, e) < 0)
			return -1;
	}
	return (ssize_t)out.pos;
}

static ssize_t read_any(struct in *in, void *to, size_t n, struct err *e)
{
	if (in->format == UNKNOWN && find_format(in, e) < 0)
		return -1;
	if (in->format == ZSTD)
		return read_zstd(in, to, n, e);
	if (in->at == in->len)
		return read_some(in, to, n, e);
	if (n > in->len - in->at)
		n = in->len - in->at;
	memcpy(to, in->raw + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

ssize_t in_read(struct in *in, void *to, size_t n, struct err *e)
{
	ssize_t got = read_any(in, to, n, e);

	if (got > 0 && in->digest) {
		hash64_add(in->digest, to, (size_t)got);
		in->bytes += (uint64_t)got;
	}
	return got;
}

int in_ready(const struct in *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return in->at < in->len || in->more || poll(&p, 1, 0) != 0;
}

void in_want_digest(struct in *in)
{
	in->digest = hash64_begin(0);
}

struct in_digest in_digest(const struct in *in)
{
	return (struct in_digest){in->bytes, hash64_now(in->digest)};
}

const char *in_name(const struct in *in)
{
	return in->name;
}

uint64_t in_whole(const struct in *in)
{
	return in->whole;
}

void in_limit(struct in *in, uint64_t bytes)
{
	in->left = bytes;
}

int in_compressed(const struct in *in)
{
	return in->format == ZSTD;
}
