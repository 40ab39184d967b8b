/* sync_file_range, which starts writing back early, is Linux's. */
#define _GNU_SOURCE
#include "tensor/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "io/out.h"
#include "tensor/crc32.h"
#include "tensor/tensor.h"

/* A piece goes through hash, CRC and write before the next is touched, so that it comes from memory
 * once: half of a common second-level cache. Rows shorter than DIRECT are gathered first. */
enum { CHUNK = 256 << 10, DIRECT = 32 << 10 };

/* A part's bytes are handed to the disk as often as this, so that the sync at the end finds most of
 * them there. */
#define WRITEBACK ((uint64_t)8 << 20)

struct save {
	struct out *out; /* NULL: a part, by its descriptor */
	int fd;
	char *path;
	uint64_t written, handed; /* bytes of a part; of them, to the disk */
	int summing;		  /* a CRC is wanted */
	struct hash64_state *hash;
	uint64_t at;
	uint32_t crc;
	size_t held; /* bytes in the buffer, summed but not written */
	char buf[CHUNK];
};

static struct save *start(struct out *out, int fd, const char *path)
{
	struct save *s = xmalloc(sizeof(*s));

	s->out = out;
	s->fd = fd;
	s->path = xstrdup(path);
	s->hash = hash64_begin(0);
	s->at = s->written = s->handed = 0;
	s->crc = 0;
	s->summing = 0;
	s->held = 0;
	return s;
}

struct save *save_open(const char *path, struct err *e)
{
	struct out *out = out_open_own(path, e);

	return out ? start(out, -1, path) : NULL;
}

struct save *save_open_part(const char *path, struct err *e)
{
	int fd;

	/* what stands there under a part's name was left by a run that is no more */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		err_sys(e, "%s", path);
		return NULL;
	}
	return start(NULL, fd, path);
}

static int part_write(struct save *s, const char *p, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t k = write(s->fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_sys(e, "%s", s->path);
		p += k;
		n -= (size_t)k;
		s->written += (uint64_t)k;
	}
	if (s->written - s->handed >= WRITEBACK) {
		/* a hint: where it is not understood the sync does it all */
		sync_file_range(s->fd, (off_t)s->handed, (off_t)(s->written - s->handed),
		    SYNC_FILE_RANGE_WRITE);
		s->handed = s->written;
	}
	return 0;
}

static int emit(struct save *s, const char *p, size_t n, struct err *e)
{
	return s->out ? out_write(s->out, p, n, e) : part_write(s, p, n, e);
}

static int drain(struct save *s, struct err *e)
{
	size_t n = s->held;

	s->held = 0;
	return n > 0 ? emit(s, s->buf, n, e) : 0;
}

static int put(struct save *s, const char *p, size_t n, struct err *e)
{
	hash64_add(s->hash, p, n);
	if (s->summing)
		s->crc = crc32_add(s->crc, p, n);
	s->at += n;
	if (n < DIRECT && n <= CHUNK - s->held) {
		memcpy(s->buf + s->held, p, n);
		s->held += n;
		return 0;
	}
	if (drain(s, e) < 0)
		return -1;
	if (n >= DIRECT)
		return emit(s, p, n, e);
	memcpy(s->buf, p, n);
	s->held = n;
	return 0;
}

int save_write(struct save *s, const void *p, size_t n, struct err *e)
{
	const char *c = p;

	while (n > 0) {
		size_t k = n < CHUNK ? n : CHUNK;

		if (put(s, c, k, e) < 0)
			return -1;
		c += k;
		n -= k;
	}
	return 0;
}

int save_tensor(struct save *s, const struct tensor *t, struct err *e)
{
	for (size_t r = 0; r < t->rows; r++)
		for (unsigned i = 0; i < t->nparts; i++) {
			const struct tensor_part *p = &t->part[i];

			if (p->bytes > 0 && save_write(s, p->p + r * p->stride, p->bytes, e) < 0)
				return -1;
		}
	return 0;
}

uint64_t save_at(const struct save *s)
{
	return s->at;
}

void save_crc_reset(struct save *s)
{
	s->crc = 0;
	s->summing = 1;
}

uint32_t save_crc(struct save *s)
{
	s->summing = 0;
	return s->crc;
}

/* The bytes on disk, or nothing. */
static int end_part(int fd, const char *path, int rc, struct err *e)
{
	if (rc == 0 && fsync(fd) < 0)
		rc = err_sys(e, "%s: cannot sync", path);
	if (close(fd) < 0 && rc == 0)
		rc = err_sys(e, "%s", path);
	if (rc < 0)
		unlink(path);
	return rc;
}

static int end(struct save *s, struct save_sum *sum, int rc, struct err *e)
{
	uint64_t h = hash64_end(s->hash);

	if (sum)
		*sum = (struct save_sum){s->at, h};
	if (!s->out)
		rc = end_part(s->fd, s->path, rc, e);
	else if (rc == 0)
		rc = out_finish(s->out, e);
	else
		out_abort(s->out);
	free(s->path);
	free(s);
	return rc;
}

int save_finish(struct save *s, struct save_sum *sum, struct err *e)
{
	return end(s, sum, drain(s, e), e);
}

void save_abort(struct save *s)
{
	struct err e;

	if (s)
		end(s, NULL, -1, &e);
}
