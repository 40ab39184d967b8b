/* --check: a set held against its manifest. */
#include <stdlib.h>

#include "base/mem.h"
#include "merge/merge.h"
#include "merge/record.h"

struct check {
	struct datasets datasets;
	struct set set;
};

/* The dataset's name and the line's LF travel in job->out, which is not written. */
static int work(void *ctx, void *thread, struct flow_job *job)
{
	struct record r;

	(void)ctx;
	job->verdict = FLOW_REJECT;
	if (record_read(thread, DEDUP_NONE, job, &r) < 0)
		return 0;
	job->user[0] = r.tokens;
	job->user[1] = r.response;
	job->user[2] = r.dataset.n;
	buf_add(job->out, r.dataset.p, r.dataset.n);
	buf_add(job->out, job->line.p, job->line.n);
	buf_addc(job->out, '\n');
	job->verdict = FLOW_OUT;
	return 0;
}

static int commit(void *ctx, struct flow_job *job)
{
	struct check *c = ctx;
	size_t n = (size_t)job->user[2];
	int dataset;

	if (job->verdict != FLOW_OUT)
		return 0;
	dataset = datasets_add(&c->datasets, (struct span){job->out->data, n}, &job->err);
	if (dataset < 0)
		return -1;
	set_add(&c->set, (uint16_t)dataset, (uint32_t)job->user[0], (uint32_t)job->user[1],
	    (struct span){job->out->data + n, job->out->len - n});
	return 0;
}

static int read_set(struct check *c, const struct flow_opt *opt, const char *file, struct err *e)
{
	static const struct flow_ops ops = {reader_open, reader_close, work, commit};
	struct flow_opt one = *opt;
	struct flow *f;
	int rc = -1;

	one.files = (struct opt_list){.v = &file, .n = 1, .cap = 1};
	one.own_output = 1;
	one.rejects = NULL;
	one.stats = NULL;
	f = flow_open("e3-merge", &one, e);
	if (f && flow_run(f, &ops, c, e) == 0 && flow_finish(f, e) == 0)
		rc = 0;
	else
		flow_abort(f);
	return rc;
}

static int check_output(const struct manifest *m, size_t i, const struct flow_opt *opt,
    struct buf *differences, struct err *e)
{
	struct check c = {0};
	const char *file = i < opt->files.n ? opt->files.v[i] : manifest_file(m, i);
	int rc;

	set_init(&c.set, 1);
	rc = read_set(&c, opt, file, e);
	if (rc == 0)
		manifest_compare(m, i, &c.set, &c.datasets, differences);
	set_free(&c.set);
	datasets_free(&c.datasets);
	return rc;
}

int merge_check(const struct merge_opts *o, struct buf *differences, struct err *e)
{
	struct manifest *m = manifest_load(o->check, e);
	size_t n = m ? manifest_outputs(m) : 0;
	int rc = m ? 0 : -1;

	if (m && o->flow.files.n > 0 && o->flow.files.n != n)
		rc = err_set(e, "usage", "%s: has %zu outputs, and %zu files are named", o->check,
		    n, o->flow.files.n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = check_output(m, i, &o->flow, differences, e);
	manifest_free(m);
	return rc;
}
