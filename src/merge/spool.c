#include "merge/spool.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/temp.h"

struct run {
	uint64_t at;
	size_t n;
};

struct part {
	struct buf mem;
	struct run *run;
	size_t nrun, crun;
	uint64_t on_disk;
};

struct spool {
	struct part *part;
	size_t n, cap;
	uint64_t limit, used; /* of bytes in memory */
	const char *dir;
	struct temp *temp;
};

/* A buffer may be half as large again as what it holds. */
struct spool *spool_open(uint64_t memory, const char *dir)
{
	struct spool *s = xcalloc(1, sizeof(*s));

	s->limit = memory / 3 * 2;
	s->dir = dir;
	return s;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		buf_free(&s->part[i].mem);
		free(s->part[i].run);
	}
	free(s->part);
	temp_close(s->temp);
	free(s);
}

static int spill_part(struct spool *s, struct part *p, struct err *e)
{
	struct run r = {.n = p->mem.len};

	if (r.n == 0)
		return 0;
	if (temp_append(s->temp, p->mem.data, r.n, &r.at, e) < 0)
		return -1;
	p->run = xgrow(p->run, &p->crun, p->nrun + 1, sizeof(*p->run));
	p->run[p->nrun++] = r;
	p->on_disk += r.n;
	buf_reset(&p->mem);
	return 0;
}

static int spill(struct spool *s, struct err *e)
{
	if (!s->temp && !(s->temp = temp_open(s->dir, "--tmp-dir", e)))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (spill_part(s, &s->part[i], e) < 0)
			return -1;
	s->used = 0;
	return 0;
}

int spool_add(struct spool *s, size_t part, const struct span *pieces, size_t n, struct err *e)
{
	if (part >= s->n) {
		s->part = xgrow(s->part, &s->cap, part + 1, sizeof(*s->part));
		while (s->n <= part)
			s->part[s->n++] = (struct part){0};
	}
	for (size_t i = 0; i < n; i++) {
		buf_add(&s->part[part].mem, pieces[i].p, pieces[i].n);
		s->used += pieces[i].n;
	}
	return s->used > s->limit ? spill(s, e) : 0;
}

size_t spool_parts(const struct spool *s)
{
	return s->n;
}

uint64_t spool_bytes(const struct spool *s, size_t part)
{
	return s->part[part].on_disk + s->part[part].mem.len;
}

int spool_take(struct spool *s, size_t part, struct buf *into, struct err *e)
{
	struct part *p = &s->part[part];

	buf_reset(into);
	if (p->nrun > 0)
		buf_room(into, (size_t)spool_bytes(s, part));
	for (size_t i = 0; i < p->nrun; i++) {
		if (temp_read(s->temp, buf_room(into, p->run[i].n), p->run[i].n, p->run[i].at, e) <
		    0)
			return -1;
		into->len += p->run[i].n;
	}
	if (p->nrun == 0) {
		buf_free(into);
		*into = p->mem;
	} else {
		buf_add(into, p->mem.data, p->mem.len);
		buf_free(&p->mem);
	}
	s->used -= into->len - p->on_disk;
	free(p->run);
	*p = (struct part){0};
	return 0;
}
