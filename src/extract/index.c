#include "extract/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "json/rec.h"

int index_member(const char *name)
{
	static const char *const own[] = {"id", "file", "seq_len", "bytes", "xxh64"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(own[i], name) == 0)
			return 1;
	return 0;
}

void index_write(struct buf *out, const struct index_line *l, const struct rec *from,
    const struct opt_list *keep)
{
	buf_adds(out, "{\"id\":");
	buf_add_json(out, l->id.data, l->id.len);
	buf_adds(out, ",\"file\":");
	buf_add_json(out, l->file.data, l->file.len);
	buf_addf(out, ",\"seq_len\":%llu,\"bytes\":%llu,\"xxh64\":\"",
	    (unsigned long long)l->seq_len, (unsigned long long)l->bytes);
	buf_add_hex64(out, l->xxh64);
	buf_addc(out, '"');
	for (size_t i = 0; from && i < keep->n; i++) {
		struct span v = rec_get(from, keep->v[i]);

		if (!v.p)
			continue;
		buf_addc(out, ',');
		buf_add_json(out, keep->v[i], strlen(keep->v[i]));
		buf_addc(out, ':');
		buf_add(out, v.p, v.n);
	}
	buf_addc(out, '}');
}

static int number(const struct rec *r, const char *name, uint64_t *out, struct err *e)
{
	struct span v = rec_get(r, name);

	if (span_is_null(v))
		return err_set(e, "missing", "%s: missing", name);
	if (num_u64(v.p, v.n, out) < 0)
		return err_set(e, "type", "%s: expected a size, not %s", name, json_kind(v));
	return 0;
}

static int hex(const struct rec *r, uint64_t *out, struct err *e)
{
	struct buf b = {0};
	int ok;

	*out = 0;
	if (rec_str(r, "xxh64", &b, e) < 0) {
		buf_free(&b);
		return -1;
	}
	ok = b.len == 16;
	for (size_t i = 0; ok && i < 16; i++) {
		const char *digits = "0123456789abcdef", *d = strchr(digits, b.data[i]);

		ok = d && b.data[i];
		*out = *out << 4 | (uint64_t)(ok ? d - digits : 0);
	}
	buf_free(&b);
	return ok ? 0 : err_set(e, "type", "xxh64: expected 16 lower-case hex digits");
}

static int inside(const char *file)
{
	size_t n = strlen(file);

	return n > 0 && file[0] != '/' && strncmp(file, "../", 3) != 0 && !strstr(file, "/../");
}

int index_read(struct index_line *l, const struct rec *r, struct err *e)
{
	buf_reset(&l->id);
	buf_reset(&l->file);
	if (rec_str(r, "id", &l->id, e) < 0 || rec_str(r, "file", &l->file, e) < 0 ||
	    number(r, "seq_len", &l->seq_len, e) < 0 || number(r, "bytes", &l->bytes, e) < 0 ||
	    hex(r, &l->xxh64, e) < 0)
		return -1;
	if (strlen(buf_cstr(&l->file)) != l->file.len || !inside(l->file.data))
		return err_set(
		    e, "index", "file: \"%s\" is not a path inside the set's folder", l->file.data);
	return 0;
}

void index_free(struct index_line *l)
{
	buf_free(&l->id);
	buf_free(&l->file);
}

/* ---- an index as a flow's input ---- */

void *index_thread_open(void *ctx, struct err *e)
{
	(void)ctx;
	(void)e;
	return xcalloc(1, sizeof(struct index_thread));
}

void index_thread_close(void *ctx, void *thread)
{
	struct index_thread *t = thread;

	(void)ctx;
	rec_free(&t->rec);
	index_free(&t->line);
	free(t);
}

int index_job(struct index_thread *t, struct flow_job *job)
{
	const struct buf *id = &t->line.id;

	job->verdict = FLOW_REJECT;
	if (rec_parse(&t->rec, job->line.p, job->line.n, &job->err) < 0)
		return -1;
	job->object = 1;
	if (index_read(&t->line, &t->rec, &job->err) < 0)
		return -1;
	job->id = (struct span){arena_dup(job->arena, id->data, id->len), id->len};
	return 0;
}

/* ---- the done set ---- */

static struct done *slot(const struct done_set *s, struct hash128 h)
{
	size_t i = (size_t)h.lo & (s->cap - 1);

	while (s->v[i].file && (s->v[i].id.hi != h.hi || s->v[i].id.lo != h.lo))
		i = (i + 1) & (s->cap - 1);
	return &s->v[i];
}

static void grow(struct done_set *s)
{
	struct done_set big = {.n = s->n, .cap = s->cap ? 2 * s->cap : 64};

	big.v = xcalloc(big.cap, sizeof(*big.v));
	for (size_t i = 0; i < s->cap; i++)
		if (s->v[i].file)
			*slot(&big, s->v[i].id) = s->v[i];
	free(s->v);
	*s = big;
}

int done_add(struct done_set *s, const struct index_line *l)
{
	struct hash128 h = hash128(l->id.data, l->id.len);
	struct done *d;

	if (4 * (s->n + 1) > 3 * s->cap)
		grow(s);
	d = slot(s, h);
	if (d->file)
		return 0;
	*d = (struct done){h, xstrndup(l->file.data, l->file.len), 0};
	s->n++;
	return 1;
}

struct done *done_find(const struct done_set *s, struct span id)
{
	struct done *d;

	if (s->cap == 0)
		return NULL;
	d = slot(s, hash128(id.p, id.n));
	return d->file ? d : NULL;
}

void done_free(struct done_set *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->v[i].file);
	free(s->v);
	*s = (struct done_set){0};
}
