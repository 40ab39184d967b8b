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

/* A block and a row of it may be no larger than this, whoever wrote it. */
#define BLOCK_MOST ((uint64_t)64 << 20)

struct compact_file {
	struct filemap map;
	struct compact c;
	size_t rows_in_block;
	int64_t *rows;	/* ids, then mask */
	char *elements; /* [K][S][H] */
};

/* ---- head ---- */

static int read_shape(struct compact_file *f, struct err *e)
{
	const char *p = f->map.p;
	uint64_t dtype = le_get(p + 12, 4), n = le_get(p + 16, 8), hidden = le_get(p + 24, 8);
	uint64_t slots = le_get(p + 32, 4), flags = le_get(p + 36, 4), rows = le_get(p + 40, 4);
	struct states *s = &f->c.states;
	uint64_t row;

	if (le_get(p + 8, 4) != COMPACT_VERSION)
		return err_set(e, "format", "version %llu of the compact format, known is %d",
		    (unsigned long long)le_get(p + 8, 4), COMPACT_VERSION);
	if (dtype == 0 || dtype >= COMPACT_DTYPES)
		return err_set(e, "format", "unknown dtype %llu", (unsigned long long)dtype);
	s->dtype = compact_dtypes[dtype];
	if (hidden == 0 || hidden > BLOCK_MOST / dtypes[s->dtype].size || slots == 0 ||
	    slots > STATES_SLOTS || flags > 15 || rows == 0)
		return err_set(e, "format", "a head that can't be: %llu layers of %llu",
		    (unsigned long long)slots, (unsigned long long)hidden);
	row = hidden * dtypes[s->dtype].size;
	if (rows > BLOCK_MOST / row)
		return err_set(e, "format", "blocks of %llu rows", (unsigned long long)rows);
	/* every byte of a file stands for at most so many of states */
	if (n > f->map.n || n * slots > f->map.n * COMPACT_MOST / row)
		return err_set(e, "truncated", "%llu tokens can't be in %zu bytes",
		    (unsigned long long)n, f->map.n);
	s->rows = f->c.n = (size_t)n;
	s->hidden = (size_t)hidden;
	s->nslots = (unsigned)slots;
	f->rows_in_block = (size_t)rows;
	f->c.last = (flags & COMPACT_LAST) != 0;
	if (flags & COMPACT_IS_BEFORE)
		f->c.norm = COMPACT_BEFORE;
	else if (flags & COMPACT_IS_AFTER)
		f->c.norm = COMPACT_AFTER;
	return 0;
}

static void read_rows(struct compact_file *f, const char *ids, const char *mask)
{
	size_t n = f->c.n;

	f->rows = xreallocarray(NULL, 2 * n + 1, sizeof(*f->rows));
	for (size_t i = 0; i < n; i++) {
		f->rows[i] = (int64_t)le_get(ids + 4 * i, 4);
		f->rows[n + i] = mask ? (unsigned char)mask[i] : 0;
	}
	f->c.ids = f->rows;
	f->c.mask = mask ? f->rows + n : NULL;
}

/* *at: where the blocks begin. */
static int read_head(struct compact_file *f, size_t *at, struct err *e)
{
	const char *p = f->map.p;
	uint64_t id, ids, mask, end, n;
	int masked;

	if (map_need(&f->map, p, f->map.n < COMPACT_HEAD ? f->map.n : COMPACT_HEAD, e) < 0)
		return -1;
	if (f->map.n >= 8 && memcmp(p, COMPACT_MAGIC, 8) != 0)
		return err_set(e, "format", "no compact file");
	if (f->map.n < COMPACT_HEAD)
		return err_set(e, "truncated", "%zu bytes are no compact file", f->map.n);
	if (read_shape(f, e) < 0)
		return -1;
	n = f->c.n;
	masked = (le_get(p + 36, 4) & COMPACT_MASK) != 0;
	id = le_get(p + 44, 4);
	ids = COMPACT_HEAD + id + compact_pad((size_t)id);
	mask = ids + 4 * n;
	end = mask + (masked ? n : 0);
	end += compact_pad((size_t)end);
	if (end > f->map.n || f->map.n - end < 8)
		return err_set(e, "truncated", "the ids reach over the end of the file");
	if (map_need(&f->map, p, (size_t)end + 8, e) < 0)
		return -1;
	if (le_get(p + end, 8) != hash64(p, (size_t)end, 0))
		return err_set(e, "checksum", "its head has another xxh64 than it says");
	f->c.id = (struct span){p + COMPACT_HEAD, (size_t)id};
	read_rows(f, p + ids, masked ? p + mask : NULL);
	*at = (size_t)end + 8;
	return 0;
}

/* ---- blocks ---- */

struct reading {
	struct pack *pack;
	const char *p, *end;
	unsigned char *planes;
};

static int read_plane(
    struct reading *r, unsigned char *to, size_t n, uint64_t stored, struct err *e)
{
	const char *p = r->p;

	if (stored > n || stored < n / COMPACT_MOST)
		return err_set(e, "format", "a plane of %zu bytes stored in %llu", n,
		    (unsigned long long)stored);
	if (stored > (uint64_t)(r->end - p))
		return err_set(e, "truncated", "a plane reaches over the end of the file");
	r->p += stored;
	if (stored == n) {
		memcpy(to, p, n);
		return 0;
	}
	return unpack_block(r->pack, to, n, p, (size_t)stored, e);
}

static int read_block(struct reading *r, char *to, size_t n, size_t size, struct err *e)
{
	const char *head = r->p;

	if ((size_t)(r->end - r->p) < 8 + 4 * size)
		return err_set(e, "truncated", "the file ends within its blocks");
	r->p += 8 + 4 * size;
	for (size_t k = 0; k < size; k++)
		if (read_plane(r, r->planes + k * n, n, le_get(head + 8 + 4 * k, 4), e) < 0)
			return -1;
	planes_join(to, r->planes, n, size);
	if (hash64(to, n * size, 0) != le_get(head, 8))
		return err_set(e, "checksum", "another xxh64 than it says");
	return 0;
}

static int read_slot(struct compact_file *f, struct reading *r, unsigned slot, struct err *e)
{
	struct states *s = &f->c.states;
	size_t size = dtypes[s->dtype].size, row = s->hidden * size;
	char *to = f->elements + slot * s->rows * row;

	s->slot[slot] = (struct states_slot){.p = to, .stride = row};
	for (size_t i = 0; i < s->rows; i += f->rows_in_block) {
		size_t n = s->rows - i < f->rows_in_block ? s->rows - i : f->rows_in_block;

		if (read_block(r, to + i * row, n * s->hidden, size, e) < 0)
			return err_prefix(e, "layer %u of the file, rows from %zu: ", slot, i);
	}
	return 0;
}

static int read_blocks(struct compact_file *f, size_t at, struct err *e)
{
	const struct states *s = &f->c.states;
	size_t row = s->hidden * dtypes[s->dtype].size;
	size_t most = f->rows_in_block < s->rows ? f->rows_in_block : s->rows;
	struct reading r = {.p = f->map.p + at, .end = f->map.p + f->map.n};
	int rc = 0;

	f->elements = xreallocarray(NULL, s->nslots * s->rows + 1, row);
	r.planes = xreallocarray(NULL, most + 1, row);
	r.pack = pack_open();
	for (unsigned i = 0; rc == 0 && i < s->nslots; i++)
		rc = read_slot(f, &r, i, e);
	if (rc == 0 && r.p != r.end)
		rc = err_set(e, "format", "%zu bytes behind the last block", (size_t)(r.end - r.p));
	pack_close(r.pack);
	free(r.planes);
	return rc;
}

static struct compact_file *take(struct filemap map, struct err *e)
{
	struct compact_file *f = xcalloc(1, sizeof(*f));
	size_t at = 0;

	f->map = map;
	if (read_head(f, &at, e) == 0 && (map.how == MAP_PARTS || read_blocks(f, at, e) == 0))
		return f;
	compact_close(f);
	return NULL;
}

struct compact_file *compact_parse(const void *p, size_t n, struct err *e)
{
	return take((struct filemap){.p = p, .n = n}, e);
}

struct compact_file *compact_open(const char *path, enum map_how how, struct err *e)
{
	struct filemap map;
	struct compact_file *f;

	if (map_open(&map, path, how, e) < 0)
		return NULL;
	f = take(map, e);
	if (!f)
		err_prefix(e, "%s: ", path);
	return f;
}

const struct compact *compact_get(const struct compact_file *f)
{
	return &f->c;
}

const struct filemap *compact_map(const struct compact_file *f)
{
	return &f->map;
}

void compact_close(struct compact_file *f)
{
	if (!f)
		return;
	map_close(&f->map);
	free(f->rows);
	free(f->elements);
	free(f);
}
