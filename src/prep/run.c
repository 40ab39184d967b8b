#include "prep/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prog.h"
#include "prep/dataset.h"
#include "prep/explain.h"
#include "prep/options.h"
#include "prep/pick.h"

struct run {
	const struct prep_opts *opt;
	struct flow *flow;
	struct prep_pick *pick;
	struct prep_explain *explain;
	unsigned seen; /* formats that were told of, a bit each */
	int tell;
};

/* ---- work, on many threads ---- */

static void *thread_open(void *ctx, struct err *e)
{
	struct run *run = ctx;
	struct prep_row *r = xcalloc(1, sizeof(*r));

	(void)e;
	r->rules = &run->opt->rules;
	return r;
}

static void thread_close(void *ctx, void *thread)
{
	(void)ctx;
	prep_row_free(thread);
	free(thread);
}

/* The row's number does not depend on filters, nor on what was rejected. */
static void make_id(const struct run *run, struct flow_job *job)
{
	size_t room = strlen(run->opt->rules.name) + 24;
	struct buf b = {.data = arena_alloc(job->arena, room), .cap = room};

	buf_adds(&b, run->opt->rules.name);
	buf_addc(&b, '/');
	buf_add_u64(&b, job->record + 1);
	job->id = (struct span){b.data, b.len};
}

static void fingerprint(const struct run *run, struct prep_row *r, struct flow_job *job)
{
	struct hash128 h;

	if (run->opt->sample) {
		h = prep_row_conv_hash(r);
		job->user[PREP_USER_KEY] = hash64(&h, sizeof(h), run->opt->seed);
	}
	if (run->opt->dedup == DEDUP_NONE)
		return;
	h = run->opt->dedup == DEDUP_EXACT ? prep_row_conv_hash(r) : prep_row_prompt_hash(r);
	job->user[PREP_USER_HI] = h.hi;
	job->user[PREP_USER_LO] = h.lo;
}

/* With --strict: whether the row is rejected, by the name of its first repair. */
static int refused(const struct run *run, const struct prep_row *r, struct flow_job *job)
{
	int i = PREP_REPAIRED + 1;

	if (!run->opt->strict || !r->count[PREP_REPAIRED])
		return 0;
	while (!r->count[i])
		i++;
	flow_reject(job, prep_count_name[i], "needs a repair: %s", prep_count_name[i]);
	return 1;
}

/* By a filter, for want of a value maybe. */
static int leave_out(const struct prep_row *r, struct flow_job *job)
{
	flow_drop(job, r->filter);
	if (r->count[PREP_NO_SCORE])
		flow_job_count(job, prep_count_name[PREP_NO_SCORE], r->count[PREP_NO_SCORE]);
	return 0;
}

static int work(void *ctx, void *thread, struct flow_job *job)
{
	struct run *run = ctx;
	struct prep_row *r = thread;
	int rc;

	make_id(run, job);
	r->trace = run->explain ? prep_explain_trace(run->explain, job) : NULL;
	if (job->element && job->line.n == 0)
		return flow_reject(job, "json",
		    "no element here: the array does not end, or has a comma too many");
	rc = prep_row_convert(r, job->line, job->arena, &job->object, &job->err);
	if (r->format)
		job->user[PREP_USER_FORMAT] = (uint64_t)(r->format - prep_formats) + 1;
	if (rc < 0) {
		job->verdict = FLOW_REJECT;
		return 0;
	}
	if (rc > 0)
		return leave_out(r, job);
	if (refused(run, r, job))
		return 0;
	fingerprint(run, r, job);
	flow_job_count(job, r->format->counter, 1);
	for (int i = 0; i < PREP_COUNTS; i++)
		if (r->count[i])
			flow_job_count(job, prep_count_name[i], r->count[i]);
	prep_row_write(r, job->id, job->out);
	job->verdict = FLOW_OUT;
	return 0;
}

/* ---- commit, in input order ---- */

static void tell_format(struct run *run, const struct flow_job *job)
{
	uint64_t i = job->user[PREP_USER_FORMAT];
	const struct prep_format *f = &prep_formats[i ? i - 1 : 0];

	if (!run->tell || !i || run->seen & 1u << i)
		return;
	run->seen |= 1u << i;
	prog_warn("%s:%s%llu: format %s: column \"%s\", %s", job->file,
	    job->element ? " element " : "", (unsigned long long)job->number, f->name, f->column,
	    f->what);
}

static int commit(void *ctx, struct flow_job *job)
{
	struct run *run = ctx;

	tell_format(run, job);
	if (run->explain)
		return prep_explain_commit(run->explain, job);
	if (job->verdict != FLOW_OUT)
		return 0;
	return prep_pick_take(run->pick, run->flow, job);
}

/* ---- the whole ---- */

/* A name with a mistake in it drops all, or with != nothing. */
static void tell_filters(const struct run *run)
{
	const struct prep_rules *rules = &run->opt->rules;

	for (size_t i = 0; i < rules->nfilters && !run->opt->flow.quiet; i++)
		if (*rules->filters[i].met == FILTER_ASKED)
			prog_warn("--filter \"%s\": no row has a value of that name",
			    rules->filters[i].text);
}

static int finish(struct run *run, struct err *e)
{
	tell_filters(run);
	if (run->explain) {
		if (prep_explain_print(run->explain, e) < 0)
			return -1;
	} else if (prep_pick_finish(run->pick, run->flow, e) < 0) {
		return -1;
	}
	return flow_finish(run->flow, e);
}

int prep_run(struct prep_opts *o, struct err *e)
{
	static const struct flow_ops ops = {thread_open, thread_close, work, commit};
	struct run run = {.opt = o};
	int dedup = o->dedup != DEDUP_NONE, rc = -1;

	o->flow.arrays = 1;
	o->flow.shown = prep_count_name[PREP_REPAIRED];
	if (o->explain) {
		o->flow.own_output = o->flow.quiet = 1;
		run.explain = prep_explain_open(&o->rules, o->explain, dedup, o->sample);
	}
	run.tell = !o->flow.quiet && o->rules.formats[1];
	run.pick = prep_pick_open(dedup, o->explain ? 0 : o->sample, e);
	run.flow = run.pick ? flow_open("e3-prep", &o->flow, e) : NULL;
	if (run.flow && flow_run(run.flow, &ops, &run, e) == 0)
		rc = finish(&run, e);
	if (rc < 0)
		flow_abort(run.flow);
	prep_pick_close(run.pick);
	prep_explain_close(run.explain);
	return rc;
}
