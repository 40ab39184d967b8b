#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prog.h"
#include "io/flow_int.h"

void tally_add(struct tally *t, const char *name, uint64_t n)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->row[i].name, name) == 0) {
			t->row[i].n += n;
			return;
		}
	}
	t->row = xgrow(t->row, &t->cap, t->n + 1, sizeof(*t->row));
	t->row[t->n++] = (struct tally_row){xstrdup(name), n};
}

void tally_free(struct tally *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->row[i].name);
	free(t->row);
	*t = (struct tally){0};
}

static int by_name(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_name(a, b);
}

void flow_stat_json(struct flow *f, const char *name, const char *json)
{
	for (size_t i = 0; i < f->nextra; i++) {
		if (strcmp(f->extra[i].name, name) == 0) {
			free(f->extra[i].json);
			f->extra[i].json = xstrdup(json);
			return;
		}
	}
	f->extra = xgrow(f->extra, &f->cextra, f->nextra + 1, sizeof(*f->extra));
	f->extra[f->nextra++] = (struct extra){xstrdup(name), xstrdup(json)};
}

void flow_stat(struct flow *f, const char *name, uint64_t n)
{
	struct buf b = {0};

	buf_add_u64(&b, n);
	flow_stat_json(f, name, buf_cstr(&b));
	buf_free(&b);
}

static void add_member(struct buf *to, const char *name, uint64_t n)
{
	buf_addc(to, ',');
	buf_add_json(to, name, strlen(name));
	buf_addc(to, ':');
	buf_add_u64(to, n);
}

/* Sorted by name: the order of first appearance depends on a server's timing in some programs. */
static void add_tally(struct buf *to, const char *name, struct tally *t)
{
	if (t->n > 0)
		qsort(t->row, t->n, sizeof(*t->row), by_name);
	buf_addf(to, ",\"%s\":{", name);
	for (size_t i = 0; i < t->n; i++) {
		size_t at = to->len;

		add_member(to, t->row[i].name, t->row[i].n);
		if (i == 0)
			memmove(to->data + at, to->data + at + 1, --to->len - at); /* the comma */
	}
	buf_addc(to, '}');
}

void flow_stats_text(struct buf *to, const struct flow *f)
{
	struct tally reasons = {0}, counts = {0};

	for (size_t i = 0; i < f->rejected.n; i++)
		tally_add(&reasons, f->rejected.row[i].name, f->rejected.row[i].n);
	for (size_t i = 0; i < f->dropped.n; i++)
		tally_add(&reasons, f->dropped.row[i].name, f->dropped.row[i].n);
	for (size_t i = 0; i < f->counts.n; i++)
		tally_add(&counts, f->counts.row[i].name, f->counts.row[i].n);

	buf_adds(to, "{\"program\":");
	buf_add_json(to, f->program, strlen(f->program));
	buf_adds(to, ",\"version\":\"" E3_VERSION "\"");
	add_member(to, "in", f->t.in);
	add_member(to, "out", f->t.out);
	add_member(to, "rejected", f->t.rejected);
	add_member(to, "dropped", f->t.dropped);
	add_member(to, "resumed", f->t.resumed);
	add_tally(to, "reasons", &reasons);
	add_member(to, "written", f->t.written);
	add_tally(to, "counts", &counts);
	for (size_t i = 0; i < f->nextra; i++) {
		buf_addc(to, ',');
		buf_add_json(to, f->extra[i].name, strlen(f->extra[i].name));
		buf_addc(to, ':');
		buf_adds(to, f->extra[i].json);
	}
	buf_adds(to, "}\n");
	tally_free(&reasons);
	tally_free(&counts);
}

static void add_part(struct buf *to, const char *what, uint64_t n, const struct tally *why)
{
	struct tally_row *row;

	if (n == 0)
		return;
	buf_addf(to, " + %llu %s", (unsigned long long)n, what);
	if (!why || why->n == 0)
		return;
	row = xmemdup(why->row, why->n * sizeof(*row));
	qsort(row, why->n, sizeof(*row), by_count);
	for (size_t i = 0; i < why->n; i++)
		buf_addf(
		    to, "%s%s %llu", i ? ", " : " (", row[i].name, (unsigned long long)row[i].n);
	buf_addc(to, ')');
	free(row);
}

static uint64_t tally_get(const struct tally *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].name, name) == 0)
			return t->row[i].n;
	return 0;
}

uint64_t flow_dropped(const struct flow *f, const char *class)
{
	return tally_get(&f->dropped, class);
}

/* 206 in = 181 out (7 repaired) + 25 rejected (json 9, type 16) */
void flow_summary_text(struct buf *to, const struct flow *f)
{
	const struct flow_totals *t = &f->t;

	buf_addf(to, "%llu in = %llu out", (unsigned long long)t->in, (unsigned long long)t->out);
	if (t->written != t->out && !f->opt.own_output)
		buf_addf(to, " (%llu lines)", (unsigned long long)t->written);
	if (f->opt.shown && tally_get(&f->counts, f->opt.shown) > 0)
		buf_addf(to, " (%llu %s)", (unsigned long long)tally_get(&f->counts, f->opt.shown),
		    f->opt.shown);
	add_part(to, "rejected", t->rejected, &f->rejected);
	add_part(to, "dropped", t->dropped, &f->dropped);
	add_part(to, "resumed", t->resumed, NULL);
}

void flow_progress_show(struct flow *f)
{
	double seconds;
	struct buf b = {0};

	if (!progress_due(f->progress))
		return;
	seconds = progress_seconds(f->progress);
	flow_summary_text(&b, f);
	buf_addf(&b, ", %.0f/s", seconds > 0 ? (double)f->t.in / seconds : 0);
	progress_draw(f->progress, buf_cstr(&b));
	buf_free(&b);
}
