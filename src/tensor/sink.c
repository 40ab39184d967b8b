#include "tensor/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/out.h"
#include "tensor/crc32.h"
#include "tensor/tensor.h"

/* A piece goes through hash, CRC and write before the next is touched, so that it comes from memory
 * once: half of a common second-level cache. Rows shorter than DIRECT are gathered first. */
enum { CHUNK = 256 << 10, DIRECT = 32 << 10 };

struct sink {
	struct out *out;
	struct hash64_state *hash;
	uint64_t at;
	uint32_t crc;
	size_t held; /* bytes in the buffer, summed but not written */
	char buf[CHUNK];
};

struct sink *sink_open(const char *path, struct err *e)
{
	struct out *out = out_open(path, 0, e);
	struct sink *s;

	if (!out)
		return NULL;
	s = xmalloc(sizeof(*s));
	s->out = out;
	s->hash = hash64_begin(0);
	s->at = 0;
	s->crc = 0;
	s->held = 0;
	return s;
}

static int drain(struct sink *s, struct err *e)
{
	size_t n = s->held;

	s->held = 0;
	return n > 0 ? out_write(s->out, s->buf, n, e) : 0;
}

static int put(struct sink *s, const char *p, size_t n, struct err *e)
{
	hash64_add(s->hash, p, n);
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
		return out_write(s->out, p, n, e);
	memcpy(s->buf, p, n);
	s->held = n;
	return 0;
}

int sink_write(struct sink *s, const void *p, size_t n, struct err *e)
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

int sink_zeros(struct sink *s, size_t n, struct err *e)
{
	static const char zeros[64];

	while (n > 0) {
		size_t k = n < sizeof(zeros) ? n : sizeof(zeros);

		if (put(s, zeros, k, e) < 0)
			return -1;
		n -= k;
	}
	return 0;
}

int sink_tensor(struct sink *s, const struct tensor *t, struct err *e)
{
	for (size_t r = 0; r < t->rows; r++)
		for (unsigned i = 0; i < t->nparts; i++) {
			const struct tensor_part *p = &t->part[i];

			if (sink_write(s, p->p + r * p->stride, p->bytes, e) < 0)
				return -1;
		}
	return 0;
}

uint64_t sink_at(const struct sink *s)
{
	return s->at;
}

void sink_crc_reset(struct sink *s)
{
	s->crc = 0;
}

uint32_t sink_crc(const struct sink *s)
{
	return s->crc;
}

static struct out *dismantle(struct sink *s, struct sink_sum *sum)
{
	struct out *out = s->out;
	uint64_t h = hash64_end(s->hash);

	if (sum)
		*sum = (struct sink_sum){s->at, h};
	free(s);
	return out;
}

int sink_finish(struct sink *s, struct sink_sum *sum, struct err *e)
{
	int rc = drain(s, e);
	struct out *out = dismantle(s, sum);

	if (rc < 0) {
		out_abort(out);
		return -1;
	}
	return out_finish(out, e);
}

void sink_abort(struct sink *s)
{
	if (s)
		out_abort(dismantle(s, NULL));
}
