#include "vocabmap/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/lines.h"
#include "json/ids.h"
#include "json/rec.h"

void counts_init(struct counts *c, uint64_t vocab)
{
	*c = (struct counts){.vocab = vocab};
	c->id = xcalloc(vocab, sizeof(*c->id));
	c->recent = xcalloc(2 * vocab, sizeof(*c->recent));
}

void counts_free(struct counts *c)
{
	free(c->id);
	free(c->recent);
	*c = (struct counts){0};
}

/* ---- records ---- */

/* Tokens that are packed at once: loops of constant length, of which compilers make vectors. */
enum { STEP = 16 };

/* The id, and with a mask of 1 the limit more; returns whether an id is over the limit. */
static uint32_t pack_step(uint32_t *to, const int32_t *ids, const char *mask, uint32_t limit)
{
	uint32_t v[STEP], over = 0;
	unsigned char m[STEP];

	memcpy(v, ids, sizeof(v));
	memcpy(m, mask, sizeof(m));
	for (int i = 0; i < STEP; i++)
		over |= v[i] >= limit;
	for (int i = 0; i < STEP; i++)
		v[i] += limit & -(uint32_t)m[i];
	memcpy(to, v, sizeof(v));
	return over;
}

static int range_error(const struct counts_in *in, uint64_t vocab, struct err *e)
{
	size_t i = 0;

	while ((uint64_t)in->v.v[i] < vocab)
		i++;
	return err_set(e, "range", "input_ids[%zu]: %d is outside the target vocabulary of %llu", i,
	    (int)in->v.v[i], (unsigned long long)vocab);
}

static int pack(struct buf *out, const struct counts_in *in, uint64_t vocab, struct err *e)
{
	static const char none[STEP];
	const int32_t *v = in->v.v;
	const char *mask = in->m.len > 0 ? in->m.data : NULL;
	size_t n = in->v.n, i = 0;
	uint32_t *to = (void *)buf_room(out, n * sizeof(*to));
	uint32_t over = 0, limit = (uint32_t)vocab;

	for (; n - i >= STEP; i += STEP)
		over |= pack_step(to + i, v + i, mask ? mask + i : none, limit);
	for (; i < n; i++) {
		over |= (uint32_t)v[i] >= limit;
		to[i] = (uint32_t)v[i] + (mask && mask[i] ? limit : 0);
	}
	if (over)
		return range_error(in, vocab, e);
	out->len += n * sizeof(*to);
	return 0;
}

int counts_read(
    struct buf *out, struct counts_in *in, uint64_t vocab, int mask_optional, struct err *e)
{
	int masked = !(mask_optional && span_is_null(in->mask));

	ints_reset(&in->v);
	buf_reset(&in->m);
	if (ids_read(&in->v, in->ids, "input_ids", e) < 0)
		return -1;
	if (masked && mask_read(&in->m, in->mask, "loss_mask", e) < 0)
		return -1;
	if (in->v.n == 0)
		return err_set(e, "empty", "input_ids: no tokens");
	if (masked && in->m.len != in->v.n)
		return err_set(
		    e, "length", "loss_mask: %zu values for %zu input_ids", in->m.len, in->v.n);
	return pack(out, in, vocab, e);
}

void counts_in_free(struct counts_in *in)
{
	ints_free(&in->v);
	buf_free(&in->m);
}

void counts_add(struct counts *c, const struct buf *packed)
{
	const uint32_t *t = (const void *)packed->data;
	size_t n = packed->len / sizeof(*t);

	/* no count of 32 bits can have overflowed before */
	if (c->recent_n + n > UINT32_MAX)
		counts_fold(c);
	for (size_t i = 0; i < n; i++)
		c->recent[t[i]]++;
	c->recent_n += n;
	c->records++;
}

void counts_fold(struct counts *c)
{
	for (uint64_t i = 0; i < c->vocab && c->recent_n > 0; i++) {
		uint64_t others = c->recent[i], supervised = c->recent[c->vocab + i];

		c->id[i].supervised += supervised;
		c->id[i].total += others + supervised;
		c->supervised += supervised;
		c->total += others + supervised;
	}
	memset(c->recent, 0, 2 * c->vocab * sizeof(*c->recent));
	c->recent_n = 0;
}

/* ---- files ---- */

void counts_write(struct buf *out, const struct counts *c)
{
	buf_addf(out,
	    "{\"target_vocab\":%llu,\"records\":%llu,\"supervised\":%llu,\"total\":%llu}\n",
	    (unsigned long long)c->vocab, (unsigned long long)c->records,
	    (unsigned long long)c->supervised, (unsigned long long)c->total);
	for (uint64_t i = 0; i < c->vocab; i++)
		if (c->id[i].total > 0)
			buf_addf(out, "{\"id\":%llu,\"supervised\":%llu,\"total\":%llu}\n",
			    (unsigned long long)i, (unsigned long long)c->id[i].supervised,
			    (unsigned long long)c->id[i].total);
}

struct reading {
	struct rec rec;
	struct counts file; /* what the head says; sums of the lines in `sum` */
	struct count sum;
	int headed;
};

static int number(const struct rec *r, const char *name, uint64_t *out, struct err *e)
{
	struct span v = rec_get(r, name);

	if (!v.p || num_u64(v.p, v.n, out) < 0)
		return err_set(e, "counts", "%s: expected a count", name);
	return 0;
}

static int read_head(struct counts *c, struct reading *r, struct err *e)
{
	struct counts *f = &r->file;

	if (number(&r->rec, "target_vocab", &f->vocab, e) < 0 ||
	    number(&r->rec, "records", &f->records, e) < 0 ||
	    number(&r->rec, "supervised", &f->supervised, e) < 0 ||
	    number(&r->rec, "total", &f->total, e) < 0)
		return err_prefix(e, "no counts file: ");
	if (f->vocab == 0 || f->vocab > INT32_MAX)
		return err_set(e, "counts", "target_vocab: %llu is no vocabulary size",
		    (unsigned long long)f->vocab);
	if (c->vocab == 0)
		counts_init(c, f->vocab);
	if (c->vocab != f->vocab)
		return err_set(e, "counts", "counts of a target vocabulary of %llu, expected %llu",
		    (unsigned long long)f->vocab, (unsigned long long)c->vocab);
	r->headed = 1;
	return 0;
}

static int read_line(struct counts *c, struct reading *r, struct err *e)
{
	struct count k;
	uint64_t id;

	if (!r->headed)
		return read_head(c, r, e);
	if (number(&r->rec, "id", &id, e) < 0 ||
	    number(&r->rec, "supervised", &k.supervised, e) < 0 ||
	    number(&r->rec, "total", &k.total, e) < 0)
		return -1;
	if (id >= c->vocab || k.supervised > k.total)
		return err_set(
		    e, "counts", "id %llu: not a count of this vocabulary", (unsigned long long)id);
	c->id[id].supervised += k.supervised;
	c->id[id].total += k.total;
	r->sum.supervised += k.supervised;
	r->sum.total += k.total;
	return 0;
}

static int check_sums(struct counts *c, const struct reading *r, const char *path, struct err *e)
{
	if (!r->headed)
		return err_set(e, "counts", "%s: no counts file: it is empty", path);
	if (r->sum.supervised != r->file.supervised || r->sum.total != r->file.total)
		return err_set(
		    e, "counts", "%s: its lines do not add up to its head: cut short?", path);
	c->records += r->file.records;
	c->supervised += r->file.supervised;
	c->total += r->file.total;
	return 0;
}

int counts_merge(struct counts *c, const char *path, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct reading r = {0};
	struct line line;
	int rc;

	if (!l)
		return -1;
	while ((rc = lines_next(l, &line, e)) > 0) {
		if (line.toolong)
			rc = err_set(e, "counts", "line too long");
		else if (rec_parse(&r.rec, line.p, line.n, e) == 0)
			rc = read_line(c, &r, e);
		else
			rc = -1;
		if (rc < 0) {
			err_prefix(e, "%s:%llu: ", path, (unsigned long long)line.number);
			break;
		}
	}
	if (rc == 0)
		rc = check_sums(c, &r, path, e);
	rec_free(&r.rec);
	lines_close(l);
	return rc;
}
