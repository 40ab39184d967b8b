/* e3-prep - raw rows of one dataset in, conversation records out. See man/e3-prep.1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/num.h"
#include "base/prog.h"
#include "base/utf8.h"
#include "io/flow.h"
#include "prep/dataset.h"
#include "prep/explain.h"
#include "prep/filter.h"
#include "prep/pick.h"
#include "prep/row.h"

enum { DEDUP_EXACT, DEDUP_PROMPT, DEDUP_NONE };
enum { UNSET = -1 };
#define SAMPLE_UNSET UINT64_MAX

struct opts {
	struct flow_opt flow;
	const char *dataset, *format;
	int mode, dedup, answers, think, system, arguments, strict, list;
	uint64_t sample, seed, explain;
	struct opt_list filters, keep;
};

static const struct opt table[] = {
    {"dataset", 0, OPT_STR, offsetof(struct opts, dataset), "NAME",
	"names the dataset; a known name (--list) sets what follows", 0, 0},
    {"format", 0, OPT_STR, offsetof(struct opts, format), "NAME",
	"the format of the rows (--list), or auto", 0, 0},
    {"mode", 0, OPT_ENUM, offsetof(struct opts, mode), "native|prompt",
	"whether the target wrote the answers (default: prompt)", 0, 0},
    {"sample", 0, OPT_U64, offsetof(struct opts, sample), "N",
	"keep N rows, chosen by a keyed hash; 0 keeps all", 0, 0},
    {"seed", 0, OPT_U64, offsetof(struct opts, seed), "S", "the key of the sample (default: 0)", 0,
	0},
    {"dedup", 0, OPT_ENUM, offsetof(struct opts, dedup), "exact|prompt|none",
	"leave out equal conversations, or equal prompts (default: none)", 0, 0},
    {"filter", 0, OPT_LIST, offsetof(struct opts, filters), "EXPR",
	"leave out rows for which it does not hold: COLUMN>=0.7", 0, 0},
    {"answers", 0, OPT_ENUM, offsetof(struct opts, answers), "keep|drop",
	"drop: leave out what follows the last user or tool message", 0, 0},
    {"think", 0, OPT_ENUM, offsetof(struct opts, think), "split|keep",
	"<think> in front of an answer becomes its reasoning", 0, 0},
    {"system", 0, OPT_ENUM, offsetof(struct opts, system), "keep|drop",
	"a system text in a column of its own", 0, 0},
    {"arguments", 0, OPT_ENUM, offsetof(struct opts, arguments), "string|object",
	"how the arguments of calls are written (default: string)", 0, 0},
    {"strict", 0, OPT_FLAG, offsetof(struct opts, strict), NULL, "reject rows that need a repair",
	0, 0},
    {"keep", 0, OPT_COMMA, offsetof(struct opts, keep), "NAME,...",
	"carry members of the row over to the record", 0, 0},
    {"explain", 0, OPT_U64, offsetof(struct opts, explain), "ROW",
	"say step by step what becomes of that row", 1, 0},
    {"list", 0, OPT_FLAG, offsetof(struct opts, list), NULL, "print the known datasets and formats",
	0, 0},
    {0},
};

static const char *dataset_name(size_t i)
{
	return prep_datasets[i].name;
}

static const char *format_name(size_t i)
{
	return i == 0 ? "auto" : prep_formats[i - 1].name;
}

static const struct opt_names names[] = {
    {"dataset", dataset_name},
    {"format", format_name},
    {0},
};

static const struct opt_prog prog = {
    .name = "e3-prep",
    .what = "raw rows of a dataset to conversation records",
    .operands = "[FILE...]",
    .own = table,
    .common = flow_opts,
    .common_at = offsetof(struct opts, flow),
    .operands_at = offsetof(struct opts, flow.files),
    .names = names,
};

struct run {
	const struct opts *opt;
	struct prep_rules rules;
	const struct prep_format *one_format[2];
	struct prep_filter *filters;
	atomic_uchar *met; /* of each filter */
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
	r->rules = &run->rules;
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
	size_t room = strlen(run->rules.name) + 24;
	struct buf b = {.data = arena_alloc(job->arena, room), .cap = room};

	buf_adds(&b, run->rules.name);
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
		return flow_drop(job, r->filter);
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

/* ---- the command line ---- */

static int list(struct err *e)
{
	printf("datasets: name, mode, rows of the reference run, formats, source\n");
	for (const struct prep_dataset *d = prep_datasets; d->name; d++) {
		char rows[24] = "all";

		if (d->sample)
			snprintf(rows, sizeof(rows), "%llu", (unsigned long long)d->sample);
		printf("  %-20s %-6s %6s  ", d->name, d->native ? "native" : "prompt", rows);
		for (size_t i = 0; i < 4 && d->format[i]; i++)
			printf("%s%s", i ? "," : "", d->format[i]->name);
		printf("  %s\n", d->source);
	}
	printf("\nformats, in the order of recognition: name, column, what it holds\n");
	for (const struct prep_format *f = prep_formats; f->name; f++)
		printf("  %-14s %-14s %s\n", f->name, f->column, f->what);
	return prog_flush(e) < 0 ? prog_fail(e) : EXIT_DONE;
}

static void check_name(const char *name)
{
	size_t n = strlen(name);

	if (strpbrk(name, "/#") || strspn(name, "\t\r\n "))
		opt_misuse(&prog,
		    "--dataset: expected a name without '/' and '#', and with no blank in front, "
		    "since ids are NAME/NUMBER, not '%s'",
		    name);
	if (utf8_valid(name, n) < n)
		opt_misuse(&prog, "--dataset: not UTF-8");
}

static void check_keep(const struct opt_list *keep)
{
	static const char *const own[] = {
	    "id", "dataset", "messages", "tools", "chat_template_kwargs", "meta"};

	for (size_t i = 0; i < keep->n; i++)
		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			if (!strcmp(keep->v[i], own[k]))
				opt_misuse(&prog, "--keep %s: the record has a member of that name",
				    own[k]);
}

static void set_formats(struct run *run)
{
	const char *name = run->opt->format;
	const struct prep_dataset *d = run->rules.dataset;
	struct near near = {.word = {name, name ? strlen(name) : 0}};

	run->rules.formats = d->format[0] ? d->format : prep_all_formats;
	if (name && !strcmp(name, "auto")) {
		run->rules.formats = prep_all_formats;
	} else if (name) {
		run->one_format[0] = prep_format_named(name);
		if (!run->one_format[0])
			opt_misuse(&prog, "--format %s: no such format (--list)%s", name,
			    near_among(&near, format_name));
		run->rules.formats = run->one_format;
	}
	run->tell = !run->opt->flow.quiet && !run->opt->explain && run->rules.formats[1];
}

static void set_filters(struct run *run)
{
	const struct opt_list *l = &run->opt->filters;
	struct err e = {0};

	run->filters = xcalloc(l->n + 1, sizeof(*run->filters));
	run->met = xcalloc(l->n + 1, sizeof(*run->met));
	for (size_t i = 0; i < l->n; i++) {
		if (prep_filter_parse(&run->filters[i], l->v[i], &e) < 0)
			opt_misuse(&prog, "%s", e.msg);
		run->filters[i].met = &run->met[i];
	}
	run->rules.filters = run->filters;
	run->rules.nfilters = l->n;
}

/* From the options and, where they say nothing, from what is known of the dataset. */
static void set_rules(struct run *run, struct opts *o)
{
	const char *name = o->dataset ? o->dataset : "data";
	const struct prep_dataset *d = prep_dataset_named(name);
	struct near near = {.word = {name, strlen(name)}};
	struct prep_rules *r = &run->rules;

	check_name(name);
	check_keep(&o->keep);
	run->opt = o;
	r->name = name;
	r->dataset = d;
	r->keep = o->keep;
	r->native = o->mode == UNSET ? d->native : o->mode == 0;
	r->split_think = o->think == UNSET ? r->native && !d->keep_think : o->think == 0;
	r->system_column = o->system == UNSET ? !d->drop_system : o->system == 0;
	r->args_object = o->arguments == 1;
	r->drop_answer = o->answers == 1;
	if (o->explain && (o->flow.output || o->flow.zstd || o->flow.rejects || o->flow.stats))
		opt_misuse(&prog,
		    "--explain writes no records: -o, -z, --rejects and --stats do not "
		    "go with it");
	if (r->native && r->drop_answer)
		opt_misuse(&prog, "--answers drop: native answers are what is wanted");
	if (o->sample == SAMPLE_UNSET)
		o->sample = d->sample;
	set_formats(run);
	set_filters(run);
	if (o->dataset && !d->name && !o->format && !o->flow.quiet)
		prog_warn("dataset %s: not in --list, so it sets neither format, mode nor sample%s",
		    name, near_among(&near, dataset_name));
}

/* A name with a mistake in it drops all, or with != nothing. */
static void tell_filters(const struct run *run)
{
	for (size_t i = 0; i < run->rules.nfilters && !run->opt->flow.quiet; i++)
		if (run->met[i] == FILTER_ASKED)
			prog_warn("--filter \"%s\": no row has a value of that name",
			    run->filters[i].text);
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

int main(int argc, char **argv)
{
	static const struct flow_ops ops = {thread_open, thread_close, work, commit};
	struct opts o = {.flow = FLOW_OPT_DEFAULT,
	    .mode = UNSET,
	    .dedup = DEDUP_NONE,
	    .think = UNSET,
	    .system = UNSET,
	    .sample = SAMPLE_UNSET};
	struct run run = {0};
	struct err e = {0};
	int rc;

	opt_parse(&prog, argc, argv, &o);
	if (o.list)
		exit(list(&e));
	set_rules(&run, &o);
	o.flow.arrays = 1;
	o.flow.shown = prep_count_name[PREP_REPAIRED];
	if (o.explain) {
		o.flow.own_output = o.flow.quiet = 1;
		run.explain =
		    prep_explain_open(&run.rules, o.explain, o.dedup != DEDUP_NONE, o.sample);
	}
	run.pick = prep_pick_open(o.dedup != DEDUP_NONE, o.explain ? 0 : o.sample, &e);
	run.flow = run.pick ? flow_open("e3-prep", &o.flow, &e) : NULL;
	if (run.flow && flow_run(run.flow, &ops, &run, &e) == 0 && finish(&run, &e) == 0) {
		rc = EXIT_DONE;
	} else {
		flow_abort(run.flow);
		rc = prog_fail(&e);
	}
	prep_pick_close(run.pick);
	prep_explain_close(run.explain);
	free(run.filters);
	free(run.met);
	opt_list_free(&o.flow.files);
	opt_list_free(&o.filters);
	opt_list_free(&o.keep);
	return rc;
}
