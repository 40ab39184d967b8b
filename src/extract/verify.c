#include "extract/verify.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/prog.h"
#include "extract/index.h"
#include "extract/records.h"
#include "extract/say.h"
#include "json/rec.h"

static int check_record(
    const struct verify_set *v, const struct sample *s, struct span id, struct err *e)
{
	const struct record *r;

	if (!v->records)
		return 0;
	r = records_find(v->records, id);
	if (!r)
		return err_set(e, "record", "--records has no record of this id");
	if (!record_same_ids(r, s->ids, s->n))
		return err_set(e, "ids", "the file holds other ids than the record");
	for (size_t i = 0; s->mask && i < s->n; i++)
		if (s->mask[i] != record_mask(r, i))
			return err_set(e, "mask", "loss_mask[%zu] is not the record's", i);
	return 0;
}

static int check_values(const struct verify_set *v, struct states *s, struct err *e)
{
	for (unsigned i = 0; i < s->nslots; i++)
		s->slot[i].layer = i < v->set.nlayers ? v->set.layer[i] : STATES_LAST;
	return states_check(s, setinfo_embedding(&v->set), e);
}

int verify_line(const struct layout_file *f, const struct index_line *l, struct err *e)
{
	struct span all = layout_bytes(f);

	if (all.n != l->bytes)
		return err_set(e, "size", "the file has %zu bytes, its line says %llu", all.n,
		    (unsigned long long)l->bytes);
	if (hash64(all.p, all.n, 0) != l->xxh64)
		return err_set(e, "checksum", "the file's xxh64 is not that of its line");
	if (f->s.n != l->seq_len)
		return err_set(e, "length", "the file has %zu ids, its line says %llu", f->s.n,
		    (unsigned long long)l->seq_len);
	return 0;
}

static int check_open(
    const struct verify_set *v, struct layout_file *f, const struct index_line *l, struct err *e)
{
	if (verify_line(f, l, e) < 0)
		return -1;
	if (v->set.layout == LAYOUT_MODELOPT && v->set.last && f->s.norm != v->set.norm)
		return err_set(e, "norm", "hidden_states_prenorm is not what the manifest says");
	if (layout_check(f, e) < 0 || layout_agree(f, &v->set, e) < 0 ||
	    check_values(v, &f->s.states, e) < 0)
		return -1;
	return check_record(v, &f->s, (struct span){l->id.data, l->id.len}, e);
}

int verify_file(const struct verify_set *v, const struct index_line *l, struct err *e)
{
	struct layout_file f;
	struct buf path = {0};
	int rc;

	buf_addf(&path, "%s/%s", v->dir, l->file.data);
	rc = layout_open(&f, buf_cstr(&path), &v->set, MAP_ALL, e);
	if (rc == 0) {
		rc = check_open(v, &f, l, e);
		layout_close(&f);
	}
	buf_free(&path);
	return rc;
}

static void bad_line(struct flow_job *job, const struct rec *rec, const struct err *why)
{
	struct buf v = {0};

	buf_adds(&v, "{\"class\":");
	buf_add_json(&v, why->class, strlen(why->class));
	buf_adds(&v, ",\"reason\":");
	buf_add_json(&v, why->msg, strlen(why->msg));
	buf_addc(&v, '}');
	rec_copy(job->out, rec, &(struct rec_edit){"verify", {v.data, v.len}}, 1);
	buf_addc(job->out, '\n');
	buf_free(&v);
}

/* ---- a whole set ---- */

struct verify {
	struct verify_set set;
	uint64_t found; /* records that have a line */
};

static int work(void *ctx, void *thread, struct flow_job *job)
{
	const struct verify_set *v = &((const struct verify *)ctx)->set;
	struct index_thread *t = thread;
	struct err why;

	if (index_job(t, job) < 0)
		return 0;
	job->user[0] = v->records && records_find(v->records, job->id);
	if (verify_file(v, &t->line, &why) == 0)
		return flow_drop(job, "found good");
	job->verdict = FLOW_OUT;
	bad_line(job, &t->rec, &why);
	return 0;
}

static int commit(void *ctx, struct flow_job *job)
{
	struct verify *v = ctx;

	v->found += job->user[0];
	return 0;
}

/* They may have been rejected; or their lines have been lost. */
static void say_missing(const struct verify *v, const struct extract_opts *o, uint64_t checked)
{
	const struct setinfo *set = &v->set.set;
	const struct records *r = v->set.records;
	uint64_t all = r ? r->n + r->bad : 0, want = r ? r->n - r->unsupervised : 0;

	if (o->flow.quiet)
		return;
	if (v->found < want)
		say("%llu of the %llu records of %s have no line in the index",
		    (unsigned long long)(want - v->found), (unsigned long long)all, o->records);
	else if (!r && set->complete && checked < set->records)
		say("%llu of the %llu files of %s have no line in the index",
		    (unsigned long long)(set->records - checked), (unsigned long long)set->records,
		    o->verify);
}

/* The bad ones are the output, so that the good ones are what was dropped: nobody has to know. */
static int finish(const struct extract_opts *o, struct flow *f, struct err *e)
{
	struct flow_totals t = flow_totals(f);

	if (flow_finish(f, e) < 0) {
		flow_abort(f);
		return -1;
	}
	if (t.out > 0)
		return err_set(e, "verify", "%llu of %llu files are not good",
		    (unsigned long long)t.out, (unsigned long long)t.in);
	if (t.dropped == 0) /* the index is lost, or it is another file: no set is empty */
		return err_set(e, "verify", "no file was checked: the index has no %srecord",
		    t.rejected > 0 ? "good " : "");
	if (!o->flow.quiet)
		say("%s: all %llu files of the index are good", o->verify,
		    (unsigned long long)t.dropped);
	return 0;
}

int verify_run(const struct extract_opts *o)
{
	static const struct flow_ops ops = {index_thread_open, index_thread_close, work, commit};
	struct verify v = {.set.dir = o->verify};
	struct records records = {0};
	struct flow_opt opt = o->flow;
	struct flow *f = NULL;
	struct err e;
	int rc = -1;

	opt.unique_ids = 1;
	opt.batch = 1; /* a line stands for many megabytes */
	if (o->records)
		v.set.records = &records;
	if (setinfo_load(&v.set.set, o->verify, &e) == 0 &&
	    (!o->records || records_load(&records, o->records, &e) == 0) &&
	    (f = flow_open(extract_prog.name, &opt, &e)) && flow_run(f, &ops, &v, &e) == 0) {
		say_missing(&v, o, flow_totals(f).out + flow_totals(f).dropped);
		rc = finish(o, f, &e);
	} else {
		flow_abort(f);
	}
	records_free(&records);
	return rc < 0 ? prog_fail(&e) : EXIT_DONE;
}
