#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "io/pack.h"
#include "tensor/compact.h"
#include "tensor/compact_int.h"
#include "tensor/le.h"
#include "tensor/planes.h"
#include "tensor/save.h"

/* A block is some 1 MiB: large enough for its head and code tables not to count, small enough to
 * stay in a second-level cache. TRY: of a plane, to see whether packing is worth it. */
enum { BLOCK = 1 << 20, TRY = 16 << 10 };

static void pad(struct buf *b)
{
	le_put(b, 0, (int)compact_pad(b->len));
}

static uint32_t flags_of(const struct compact *c)
{
	uint32_t f = (c->last ? COMPACT_LAST : 0u) | (c->mask ? COMPACT_MASK : 0u);

	if (c->norm == COMPACT_BEFORE)
		return f | COMPACT_IS_BEFORE;
	return c->norm == COMPACT_AFTER ? f | COMPACT_IS_AFTER : f;
}

static size_t rows_of_block(const struct states *s)
{
	size_t rows = BLOCK / (s->hidden * dtypes[s->dtype].size);

	return rows > 0 ? rows : 1;
}

static uint32_t number_of(enum dtype dtype)
{
	uint32_t i = 1;

	while (compact_dtypes[i] != dtype)
		i++;
	return i;
}

static int write_head(struct save *f, const struct compact *c, struct err *e)
{
	const struct states *s = &c->states;
	struct buf b = {0};
	int rc = 0;

	buf_add(&b, COMPACT_MAGIC, 8);
	le_put(&b, COMPACT_VERSION, 4);
	le_put(&b, number_of(s->dtype), 4);
	le_put(&b, c->n, 8);
	le_put(&b, s->hidden, 8);
	le_put(&b, s->nslots, 4);
	le_put(&b, flags_of(c), 4);
	le_put(&b, rows_of_block(s), 4);
	le_put(&b, c->id.n, 4);
	buf_add(&b, c->id.p, c->id.n);
	pad(&b);
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		if (c->ids[i] < 0 || c->ids[i] > UINT32_MAX)
			rc = err_set(e, "range", "input_ids[%zu]: %lld is no token id", i,
			    (long long)c->ids[i]);
		else
			le_put(&b, (uint64_t)c->ids[i], 4);
	for (size_t i = 0; c->mask && i < c->n; i++)
		le_put(&b, c->mask[i] != 0, 1);
	pad(&b);
	le_put(&b, hash64(b.data, b.len, 0), 8);
	if (rc == 0)
		rc = save_write(f, b.data, b.len, e);
	buf_free(&b);
	return rc;
}

struct writing {
	struct pack *pack;
	char *rows;	       /* a block as it is */
	unsigned char *planes; /* the same in planes */
	char *packed;	       /* as long */
};

/* Bytes of the plane as stored: packed into `to`, or all of them. */
static size_t pack_plane(struct writing *w, char *to, const unsigned char *plane, size_t n)
{
	size_t k;

	if (n > 2 * TRY && pack_block(w->pack, to, TRY - TRY / 32, plane, TRY) == 0)
		return n;
	k = pack_block(w->pack, to, n - n / 32 - 1, plane, n);
	return k == 0 || k < n / COMPACT_MOST + 1 ? n : k;
}

static int write_block(
    struct save *f, struct writing *w, size_t elements, size_t size, struct err *e)
{
	struct buf head = {0};
	size_t stored[4];
	char *at = w->packed;
	int rc;

	planes_split(w->planes, w->rows, elements, size);
	le_put(&head, hash64(w->rows, elements * size, 0), 8);
	for (size_t k = 0; k < size; k++) {
		stored[k] = pack_plane(w, at, w->planes + k * elements, elements);
		le_put(&head, stored[k], 4);
		if (stored[k] < elements)
			at += stored[k];
	}
	rc = save_write(f, head.data, head.len, e);
	buf_free(&head);
	at = w->packed;
	for (size_t k = 0; rc == 0 && k < size; k++)
		if (stored[k] == elements) {
			rc = save_write(f, w->planes + k * elements, elements, e);
		} else {
			rc = save_write(f, at, stored[k], e);
			at += stored[k];
		}
	return rc;
}

static int write_slot(
    struct save *f, struct writing *w, const struct states *s, unsigned slot, struct err *e)
{
	size_t size = dtypes[s->dtype].size, row = s->hidden * size, block = rows_of_block(s);

	for (size_t r = 0; r < s->rows; r += block) {
		size_t n = s->rows - r < block ? s->rows - r : block;

		for (size_t i = 0; i < n; i++)
			memcpy(w->rows + i * row, s->slot[slot].p + (r + i) * s->slot[slot].stride,
			    row);
		if (write_block(f, w, n * s->hidden, size, e) < 0)
			return -1;
	}
	return 0;
}

int compact_write(struct save *f, const struct compact *c, struct err *e)
{
	const struct states *s = &c->states;
	size_t bytes = rows_of_block(s) * s->hidden * dtypes[s->dtype].size;
	struct writing w;
	int rc = write_head(f, c, e);

	w.pack = pack_open();
	w.rows = xmalloc(bytes);
	w.planes = xmalloc(bytes);
	w.packed = xmalloc(bytes);
	for (unsigned i = 0; rc == 0 && i < s->nslots; i++)
		rc = write_slot(f, &w, s, i, e);
	pack_close(w.pack);
	free(w.rows);
	free(w.planes);
	free(w.packed);
	return rc;
}
