#include "extract/carry.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/lines.h"
#include "serve/lax.h"
#include "json/rec.h"

/* The record's bytes without the reject that flow.h appends. */
static struct hash128 record_of(const struct rec *r)
{
	struct rec_edit without = {.name = "reject"};
	struct buf b = {0};
	struct hash128 h;

	rec_copy(&b, r, &without, 1);
	h = hash128(b.data, b.len);
	buf_free(&b);
	return h;
}

static char *text_of(struct span v)
{
	struct buf b = {0};

	if (v.p)
		json_str(&b, v, NULL);
	return buf_steal(&b);
}

static int compare(const void *a, const void *b)
{
	const struct carried *x = a, *y = b;

	if (x->record.hi != y->record.hi)
		return x->record.hi < y->record.hi ? -1 : 1;
	return (x->record.lo > y->record.lo) - (x->record.lo < y->record.lo);
}

static void take_line(struct carry *c, struct rec *r, const struct line *line)
{
	struct err ignored;
	struct span reject;

	if (line->toolong || rec_parse(r, line->p, line->n, &ignored) < 0)
		return;
	reject = rec_get(r, "reject");
	if (!reject.p || *reject.p != '{' ||
	    !span_eq(lax_get(reject, "program"), "\"e3-extract\"") ||
	    !span_eq(lax_get(reject, "permanent"), "true"))
		return;
	c->v = xgrow(c->v, &c->cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = (struct carried){
	    record_of(r), text_of(lax_get(reject, "class")), text_of(lax_get(reject, "reason"))};
}

int carry_load(struct carry *c, const char *path, struct err *e)
{
	struct rec rec = {0};
	struct line line;
	struct lines *l;
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	l = lines_open(&path, 1, 0, e);
	if (!l)
		return -1;
	while ((rc = lines_next(l, &line, e)) > 0)
		take_line(c, &rec, &line);
	if (c->n > 0)
		qsort(c->v, c->n, sizeof(*c->v), compare);
	rec_free(&rec);
	lines_close(l);
	return rc;
}

const struct carried *carry_find(const struct carry *c, const struct rec *r)
{
	struct carried want;

	if (c->n == 0)
		return NULL;
	want.record = record_of(r);
	return bsearch(&want, c->v, c->n, sizeof(want), compare);
}

void carry_free(struct carry *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].class);
		free(c->v[i].reason);
	}
	free(c->v);
}
