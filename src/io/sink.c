#include "io/sink.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"

#define BUFFER_SIZE (256u << 10)
#define LEVEL	    3

struct sink {
	int fd;
	char *name;
	unsigned char *buf; /* buf[0..len) is still to be written, or to be compressed */
	size_t len;
	ZSTD_CCtx *z; /* NULL: plain */
	unsigned char *packed;
	size_t packed_size;
	int failed; /* what was to be written then is gone */
};

struct sink *sink_open(int fd, const char *name, int zstd, struct err *e)
{
	struct sink *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->name = xstrdup(name);
	s->buf = xmalloc(BUFFER_SIZE);
	if (!zstd)
		return s;
	s->packed_size = ZSTD_CStreamOutSize();
	s->packed = xmalloc(s->packed_size);
	s->z = ZSTD_createCCtx();
	if (!s->z || ZSTD_isError(ZSTD_CCtx_setParameter(s->z, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->z, ZSTD_c_checksumFlag, 1))) {
		err_set(e, "zstd", "%s: no zstd encoder", name);
		sink_close(s);
		return NULL;
	}
	return s;
}

void sink_close(struct sink *s)
{
	if (!s)
		return;
	ZSTD_freeCCtx(s->z);
	free(s->packed);
	free(s->buf);
	free(s->name);
	free(s);
}

static int refuse(const struct sink *s, struct err *e)
{
	return err_set(e, "system", "%s: an earlier write failed", s->name);
}

/* write(2) to the last byte, also on a descriptor that somebody made non-blocking. */
static int write_all(struct sink *s, const unsigned char *p, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t done = write(s->fd, p, n);

		if (done >= 0) {
			p += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			poll(&(struct pollfd){.fd = s->fd, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			s->failed = 1;
			return err_write(e, s->name);
		}
	}
	return 0;
}

static int compress(struct sink *s, ZSTD_EndDirective how, struct err *e)
{
	ZSTD_inBuffer in = {s->buf, s->len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {s->packed, s->packed_size, 0};

		left = ZSTD_compressStream2(s->z, &out, &in, how);
		if (ZSTD_isError(left)) {
			s->failed = 1;
			return err_set(e, "zstd", "%s: %s", s->name, ZSTD_getErrorName(left));
		}
		if (write_all(s, s->packed, out.pos, e) < 0)
			return -1;
	} while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
	s->len = 0;
	return 0;
}

int sink_write(struct sink *s, const void *p, size_t n, struct err *e)
{
	const unsigned char *from = p;

	if (s->failed)
		return refuse(s, e);
	while (n > 0) {
		size_t room = BUFFER_SIZE - s->len;
		size_t part = n < room ? n : room;

		if (!s->z && s->len == 0 && n >= BUFFER_SIZE)
			return write_all(s, from, n, e);
		memcpy(s->buf + s->len, from, part);
		s->len += part;
		from += part;
		n -= part;
		if (s->len == BUFFER_SIZE &&
		    (s->z ? compress(s, ZSTD_e_continue, e) : sink_flush(s, e)) < 0)
			return -1;
	}
	return 0;
}

int sink_flush(struct sink *s, struct err *e)
{
	size_t n = s->len;

	if (s->failed)
		return refuse(s, e);
	if (s->z || n == 0)
		return 0;
	s->len = 0;
	return write_all(s, s->buf, n, e);
}

int sink_end_frame(struct sink *s, struct err *e)
{
	if (!s->z || s->failed)
		return sink_flush(s, e);
	return compress(s, ZSTD_e_end, e);
}
