#include "extract/convert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/prog.h"
#include "extract/index.h"
#include "extract/produce.h"
#include "extract/records.h"
#include "extract/say.h"
#include "extract/stray.h"
#include "extract/verify.h"
#include "json/rec.h"

struct convert {
	const struct extract_opts *o;
	struct setinfo from;
	struct plan plan;
	struct records records;
	struct folders folders;
	int out_lock;
	uint64_t lines;
	uint64_t bytes; /* of the files read */
	uint64_t started;
};

/* What work hands to commit, in job->user[0]. */
struct made {
	struct product product;
	uint64_t n;
};

/* The record's mask, where the file has none. */
static int add_mask(const struct convert *c, struct sample *s, int64_t **own, struct err *e)
{
	const struct record *r;

	if (!c->o->records)
		return 0;
	r = records_find(&c->records, s->id);
	if (!r)
		return err_set(e, "record", "%s has no record of this id", c->o->records);
	if (!record_same_ids(r, s->ids, s->n))
		return err_set(e, "ids", "the file holds other ids than the record");
	*own = xreallocarray(NULL, s->n + 1, sizeof(**own));
	for (size_t i = 0; i < s->n; i++)
		(*own)[i] = record_mask(r, i);
	s->mask = *own;
	return 0;
}

static int convert(const struct convert *c, struct made *m, const struct index_line *l,
    uint64_t number, struct err *e)
{
	struct layout_file f;
	struct buf path = {0};
	int64_t *own = NULL;
	int rc;

	buf_addf(&path, "%s/%s", c->o->convert, l->file.data);
	rc = layout_open(&f, buf_cstr(&path), &c->from, MAP_ALL, e);
	buf_free(&path);
	if (rc < 0 && strcmp(e->class, "system") == 0)
		e->class = "file"; /* one that can't be read is the record's: see work */
	if (rc < 0)
		return -1;
	f.s.id = (struct span){l->id.data, l->id.len};
	f.s.norm = c->plan.delivered;
	if (!c->plan.set.last) {
		f.s.last = 0;
		f.s.states.nslots = f.s.aux;
	}
	rc = verify_line(&f, l, e);
	if (rc < 0)
		err_prefix(e, "%s: ", l->file.data);
	else
		rc = layout_agree(&f, &c->from, e);
	if (rc == 0)
		rc = add_mask(c, &f.s, &own, e);
	if (rc == 0)
		rc = produce(&m->product, &c->plan, &f.s, number, e);
	m->n = f.s.n;
	free(own);
	layout_close(&f);
	return rc;
}

static int work(void *ctx, void *thread, struct flow_job *job)
{
	const struct convert *c = ctx;
	struct index_thread *t = thread;
	struct made *m;

	if (index_job(t, job) < 0)
		return 0;
	m = xcalloc(1, sizeof(*m));
	if (convert(c, m, &t->line, job->record, &job->err) < 0) {
		free(m);
		/* a disk that refuses what is written is no fault of the record */
		return strcmp(job->err.class, "system") == 0 ? -1 : 0;
	}
	job->user[0] = (uint64_t)(uintptr_t)m;
	job->verdict = FLOW_OUT;
	return 0;
}

/* As index_read has found it. */
static uint64_t bytes_of(const struct rec *line)
{
	struct span v = rec_get(line, "bytes");
	uint64_t n = 0;

	return num_u64(v.p, v.n, &n) < 0 ? 0 : n;
}

static int show(struct convert *c, struct made *m, struct flow_job *job)
{
	struct index_line l = {
	    .seq_len = m->n, .bytes = m->product.sum.bytes, .xxh64 = m->product.sum.xxh64};
	struct rec rec = {0};
	int rc;

	buf_add(&l.id, job->id.p, job->id.n);
	layout_name(&l.file, c->plan.set.layout, job->record, c->lines, job->id);
	rc = folder_check(c->out_lock, c->o->out_dir, &job->err);
	if (rc == 0)
		rc = produce_show(
		    &m->product, c->o->out_dir, buf_cstr(&l.file), &c->folders, &job->err);
	if (rc == 0)
		rc = rec_parse(&rec, job->line.p, job->line.n, &job->err);
	if (rc == 0) {
		index_write(job->out, &l, &rec, &c->o->keep);
		buf_addc(job->out, '\n');
		c->lines++;
		c->plan.set.records++;
		c->plan.set.tokens += m->n;
		c->plan.set.bytes += l.bytes;
		c->bytes += bytes_of(&rec);
	}
	rec_free(&rec);
	index_free(&l);
	return rc;
}

static int commit(void *ctx, struct flow_job *job)
{
	struct convert *c = ctx;
	struct made *m = (struct made *)(uintptr_t)job->user[0];
	int rc = 0;

	if (!m)
		return 0;
	if (job->verdict == FLOW_OUT)
		rc = show(c, m, job);
	produce_drop(&m->product);
	free(m);
	return rc;
}

static int open_all(struct convert *c, struct err *e)
{
	struct setinfo there;

	if (setinfo_load(&c->from, c->o->convert, e) < 0 ||
	    plan_convert(&c->plan, c->o, &c->from, e) < 0)
		return -1;
	c->out_lock = folder_lock(c->o->out_dir, e);
	if (c->out_lock < 0)
		return -1;
	if (setinfo_load(&there, c->o->out_dir, e) == 0)
		return err_set(e, "exists", "%s holds a set already", c->o->out_dir);
	if (strcmp(e->class, "missing") != 0 || stray_refuse(c->o->out_dir, e) < 0)
		return -1;
	produce_sweep(c->o->out_dir);
	if (c->o->records)
		return records_load(&c->records, c->o->records, e);
	if (layout_needs_mask(c->plan.set.layout) && c->from.layout == LAYOUT_SPECULATORS)
		return err_set(e, "mask",
		    "layout %s needs loss masks and %s holds none: give the tokenised records "
		    "with --records",
		    layout_word(c->plan.set.layout), c->o->convert);
	return 0;
}

/* All of it: there was no such file before. */
static void take_back(const struct convert *c)
{
	struct buf first = {0};
	uint64_t n = 0;
	struct err e;

	setinfo_remove(c->o->out_dir);
	if (stray_remove(c->o->out_dir, c->plan.set.layout, NULL, &n, &first, &e) < 0)
		say("%s", e.msg);
	buf_free(&first);
}

static void summary(const struct convert *c)
{
	double s = (double)(clock_ms() - c->started) / 1000 + 0.001;
	char from[32], to[32], rate[32];

	num_human(c->bytes, from);
	num_human(c->plan.set.bytes, to);
	num_human((uint64_t)((double)c->bytes / s), rate);
	if (!c->o->flow.quiet && c->bytes > 0)
		say("%llu %s, %s from %s (%.1f %%) in %.1f s: %s/s",
		    (unsigned long long)c->plan.set.records,
		    c->plan.set.records == 1 ? "file" : "files", to, from,
		    100.0 * (double)c->plan.set.bytes / (double)c->bytes, s, rate);
}

static int finish(struct convert *c, struct flow *f, struct err *e)
{
	if (c->plan.set.records == 0) /* as in verify.c */
		return err_set(e, "convert", "no file was converted: the index has no %srecord",
		    flow_totals(f).rejected > 0 ? "good " : "");
	c->plan.set.complete = 1;
	if (folders_sync(&c->folders, e) < 0 || setinfo_save(&c->plan.set, c->o->out_dir, e) < 0)
		return -1;
	summary(c);
	return flow_finish(f, e);
}

int convert_run(const struct extract_opts *o)
{
	static const struct flow_ops ops = {index_thread_open, index_thread_close, work, commit};
	struct convert c = {.o = o, .out_lock = -1, .started = clock_ms()};
	struct flow_opt opt = o->flow;
	struct flow *f = NULL;
	struct err e;
	int rc = -1;

	opt.unique_ids = 1;
	opt.batch = 1; /* a line stands for many megabytes */
	if (open_all(&c, &e) == 0 && (f = flow_open(extract_prog.name, &opt, &e)) &&
	    flow_run(f, &ops, &c, &e) == 0)
		rc = finish(&c, f, &e);
	if (rc < 0) {
		if (f)
			take_back(&c);
		flow_abort(f);
	}
	plan_close(&c.plan);
	records_free(&c.records);
	folders_free(&c.folders);
	if (c.out_lock >= 0)
		close(c.out_lock);
	return rc < 0 ? prog_fail(&e) : EXIT_DONE;
}
