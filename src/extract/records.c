#include "extract/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ints.h"
#include "base/mem.h"
#include "io/lines.h"
#include "json/ids.h"
#include "json/rec.h"

static struct record *slot(const struct records *s, struct hash128 h)
{
	size_t i = (size_t)h.lo & (s->cap - 1);

	while (s->v[i].mask && (s->v[i].id.hi != h.hi || s->v[i].id.lo != h.lo))
		i = (i + 1) & (s->cap - 1);
	return &s->v[i];
}

static void grow(struct records *s)
{
	struct record *old = s->v;
	size_t n = s->cap;

	s->cap = n ? 2 * n : 64;
	s->v = xcalloc(s->cap, sizeof(*s->v));
	for (size_t i = 0; i < n; i++)
		if (old[i].mask)
			*slot(s, old[i].id) = old[i];
	free(old);
}

struct reading {
	struct rec rec;
	struct buf id, mask;
	struct ints ids;
};

static int add(struct records *s, struct reading *y, const struct line *line, struct err *e)
{
	struct record *r;

	buf_reset(&y->id);
	buf_reset(&y->mask);
	ints_reset(&y->ids);
	if (rec_parse(&y->rec, line->p, line->n, e) < 0 || rec_str(&y->rec, "id", &y->id, e) < 0 ||
	    ids_read(&y->ids, rec_get(&y->rec, "input_ids"), "input_ids", e) < 0 ||
	    mask_read(&y->mask, rec_get(&y->rec, "loss_mask"), "loss_mask", e) < 0)
		return -1;
	if (y->mask.len != y->ids.n)
		return err_set(
		    e, "length", "loss_mask: %zu values for %zu input_ids", y->mask.len, y->ids.n);
	if (4 * (s->n + 1) > 3 * s->cap)
		grow(s);
	r = slot(s, hash128(y->id.data, y->id.len));
	if (r->mask)
		return err_set(e, "duplicate", "id: a record before has the same");
	r->id = hash128(y->id.data, y->id.len);
	r->ids = hash128(y->ids.v, y->ids.n * sizeof(*y->ids.v));
	r->n = y->ids.n;
	r->mask = arena_alloc(&s->arena, r->n / 8 + 1);
	memset(r->mask, 0, r->n / 8 + 1);
	for (size_t i = 0; i < r->n; i++)
		r->mask[i / 8] |= (unsigned char)(y->mask.data[i] << i % 8);
	s->unsupervised += !memchr(y->mask.data, 1, y->mask.len);
	s->n++;
	return 0;
}

int records_load(struct records *s, const char *path, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct reading y = {0};
	struct err why, first;
	struct line line;
	int rc = l ? 1 : -1;

	while (rc > 0 && (rc = lines_next(l, &line, e)) > 0) {
		if ((line.toolong ? err_set(&why, "long", "line too long")
				  : add(s, &y, &line, &why)) == 0)
			continue;
		if (s->bad++ > 0)
			continue;
		first = why;
		err_prefix(&first, "%s:%llu: ", path, (unsigned long long)line.number);
	}
	if (rc == 0 && s->n == 0 && s->bad > 0) {
		*e = first;
		rc = -1;
	}
	rec_free(&y.rec);
	buf_free(&y.id);
	buf_free(&y.mask);
	ints_free(&y.ids);
	if (l)
		lines_close(l);
	return rc;
}

const struct record *records_find(const struct records *s, struct span id)
{
	struct record *r;

	if (s->cap == 0)
		return NULL;
	r = slot(s, hash128(id.p, id.n));
	return r->mask ? r : NULL;
}

int record_mask(const struct record *r, size_t i)
{
	return r->mask[i / 8] >> i % 8 & 1;
}

int record_same_ids(const struct record *r, const int64_t *ids, size_t n)
{
	int32_t *narrow;
	struct hash128 h;
	int fits = n == r->n;

	if (!fits)
		return 0;
	narrow = xreallocarray(NULL, n + 1, sizeof(*narrow));
	for (size_t i = 0; i < n; i++) {
		narrow[i] = (int32_t)ids[i];
		fits &= narrow[i] == ids[i];
	}
	h = hash128(narrow, n * sizeof(*narrow));
	free(narrow);
	return fits && h.hi == r->ids.hi && h.lo == r->ids.lo;
}

void records_free(struct records *s)
{
	free(s->v);
	arena_free(&s->arena);
	*s = (struct records){0};
}
