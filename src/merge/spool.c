#define _GNU_SOURCE /* madvise: huge pages make a GB of memory 500 faults and not 250,000 */
#include "merge/spool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/temp.h"

/* Memory is cut into chunks, of which each part has a chain. They come out of slabs, which the
 * kernel may back by huge pages, and are used again after each spill. */
#define CHUNK_SIZE (64u << 10)
#define SLAB_SIZE  (32u << 20)
#define HUGE_PAGE  (2u << 20)

struct chunk {
	struct chunk *next;
	size_t len;
	char data[CHUNK_SIZE - sizeof(struct chunk *) - sizeof(size_t)];
};

struct run {
	uint64_t at;
	size_t n;
};

struct part {
	struct chunk *first, *last;
	struct run *run;
	size_t nrun, crun;
	uint64_t bytes;
};

struct spool {
	struct part *part;
	size_t n, cap;
	char **slab;
	size_t nslab, cslab, used; /* `used` bytes of the last slab */
	struct chunk *free;
	size_t chunks, limit; /* there are, and may be, before what is in them goes to disk */
	const char *dir;
	struct temp *temp;
};

struct spool *spool_open(uint64_t memory, const char *dir)
{
	struct spool *s = xcalloc(1, sizeof(*s));

	s->limit = (size_t)(memory / CHUNK_SIZE);
	s->dir = dir;
	return s;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->part[i].run);
	for (size_t i = 0; i < s->nslab; i++)
		free(s->slab[i]);
	free(s->slab);
	free(s->part);
	temp_close(s->temp);
	free(s);
}

/* ---- memory ---- */

static void add_slab(struct spool *s)
{
	char *slab = aligned_alloc(HUGE_PAGE, SLAB_SIZE);

	if (!slab)
		slab = xmalloc(SLAB_SIZE); /* which ends the program where there is no memory */
	madvise(slab, SLAB_SIZE, MADV_HUGEPAGE); /* advice: may fail */
	s->slab = xgrow(s->slab, &s->cslab, s->nslab + 1, sizeof(*s->slab));
	s->slab[s->nslab++] = slab;
	s->used = 0;
}

static struct chunk *new_chunk(struct spool *s)
{
	struct chunk *c = s->free;

	if (c) {
		s->free = c->next;
	} else {
		if (s->nslab == 0 || s->used == SLAB_SIZE)
			add_slab(s);
		c = (struct chunk *)(void *)(s->slab[s->nslab - 1] + s->used);
		s->used += CHUNK_SIZE;
	}
	s->chunks++;
	c->next = NULL;
	c->len = 0;
	return c;
}

static void free_chain(struct spool *s, struct part *p)
{
	while (p->first) {
		struct chunk *c = p->first;

		p->first = c->next;
		c->next = s->free;
		s->free = c;
		s->chunks--;
	}
	p->last = NULL;
}

/* ---- disk ---- */

static int spill_part(struct spool *s, struct part *p, struct err *e)
{
	struct run r = {0};
	uint64_t at;

	for (struct chunk *c = p->first; c; c = c->next) {
		if (temp_append(s->temp, c->data, c->len, &at, e) < 0)
			return -1;
		if (r.n == 0)
			r.at = at;
		r.n += c->len;
	}
	if (r.n == 0)
		return 0;
	p->run = xgrow(p->run, &p->crun, p->nrun + 1, sizeof(*p->run));
	p->run[p->nrun++] = r;
	free_chain(s, p);
	return 0;
}

static int spill(struct spool *s, struct err *e)
{
	if (!s->temp && !(s->temp = temp_open(s->dir, "--tmp-dir", e)))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (spill_part(s, &s->part[i], e) < 0)
			return -1;
	return 0;
}

/* ---- in and out ---- */

static int append(struct spool *s, size_t part, const char *p, size_t n, struct err *e)
{
	s->part[part].bytes += n;
	while (n > 0) {
		struct part *to = &s->part[part];
		size_t room = to->last ? sizeof(to->last->data) - to->last->len : 0, some;

		if (room == 0) {
			struct chunk *c;

			if (s->chunks >= s->limit && spill(s, e) < 0)
				return -1;
			c = new_chunk(s);
			if (to->last)
				to->last->next = c;
			else
				to->first = c;
			to->last = c;
			room = sizeof(c->data);
		}
		some = n < room ? n : room;
		memcpy(to->last->data + to->last->len, p, some);
		to->last->len += some;
		p += some;
		n -= some;
	}
	return 0;
}

int spool_add(struct spool *s, size_t part, const struct span *pieces, size_t n, struct err *e)
{
	if (part >= s->n) {
		s->part = xgrow(s->part, &s->cap, part + 1, sizeof(*s->part));
		while (s->n <= part)
			s->part[s->n++] = (struct part){0};
	}
	for (size_t i = 0; i < n; i++)
		if (append(s, part, pieces[i].p, pieces[i].n, e) < 0)
			return -1;
	return 0;
}

size_t spool_parts(const struct spool *s)
{
	return s->n;
}

int spool_take(struct spool *s, size_t part, struct buf *into, struct err *e)
{
	struct part *p = &s->part[part];

	buf_reset(into);
	buf_room(into, (size_t)p->bytes);
	for (size_t i = 0; i < p->nrun; i++) {
		if (temp_read(s->temp, into->data + into->len, p->run[i].n, p->run[i].at, e) < 0)
			return -1;
		into->len += p->run[i].n;
	}
	for (const struct chunk *c = p->first; c; c = c->next)
		buf_add(into, c->data, c->len);
	free_chain(s, p);
	free(p->run);
	*p = (struct part){0};
	return 0;
}
