/* e3-vocabmap - the drafter's vocabulary, from how often the target's tokens occur */

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/ints.h"
#include "base/opt.h"
#include "base/prog.h"
#include "io/flow.h"
#include "io/out.h"
#include "vocabmap/coverage.h"
#include "vocabmap/files.h"
#include "vocabmap/include.h"
#include "vocabmap/map.h"
#include "vocabmap/records.h"
#include "json/config.h"

struct vocabmap_opts {
	struct flow_opt flow;
	uint64_t draft, target;
	const char *model, *out_dir, *counts_out, *include, *coverage;
	struct opt_list counts;
	int layout, count_all;
};

#define AT(member)  offsetof(struct vocabmap_opts, member)
#define DRAFT_USUAL 32000 /* EAGLE-3's usual draft_vocab_size */

static const struct opt own[] = {
    {"draft-vocab", 0, OPT_U64, AT(draft), "N", "tokens of the drafter (default: 32000)", 1,
	INT32_MAX},
    {"target-vocab", 0, OPT_U64, AT(target), "V", "tokens of the target", 1, INT32_MAX},
    {"model", 0, OPT_STR, AT(model), "DIR", "take V from this model's config.json", 0, 0},
    {"layout", 0, OPT_ENUM, AT(layout), LAYOUTS, "whose files to write (default: seed)", 0, 0},
    {"out-dir", 0, OPT_STR, AT(out_dir), "DIR", "write the map there", 0, 0},
    {"counts-out", 0, OPT_STR, AT(counts_out), "FILE", "write the counts", 0, 0},
    {"counts", 0, OPT_LIST, AT(counts), "FILE", "add earlier counts (repeatable)", 0, 0},
    {"count-all", 0, OPT_FLAG, AT(count_all), NULL, "rank by all tokens, not only supervised ones",
	0, 0},
    {"include", 0, OPT_STR, AT(include), "FILE", "ids that are kept in any case, one a line", 0, 0},
    {"coverage", 0, OPT_STR, AT(coverage), "FILE", "write the coverage curve, as TSV", 0, 0},
    {0},
};

static const struct opt_prog prog = {
    .name = "e3-vocabmap",
    .what = "the drafter's vocabulary, from how often the target's tokens occur",
    .operands = "[FILE...]",
    .own = own,
    .common = flow_opts,
    .common_at = AT(flow),
    .operands_at = AT(flow.files),
};

struct run {
	const struct vocabmap_opts *o;
	struct counts counts;
	struct ints forced;
	struct ranking ranking;
	struct map map;
};

/* ---- what comes in besides ---- */

/* V: what was said, else the model's, else that of the first counts file. */
static int set_target(struct run *r, struct err *e)
{
	const struct vocabmap_opts *o = r->o;
	uint64_t vocab = o->target;
	struct config c;

	if (o->model) {
		if (config_load(&c, o->model, e) < 0)
			return -1;
		if (c.vocab_size == 0 || c.vocab_size > INT32_MAX)
			return err_set(e, "model",
			    "%s/config.json: no vocab_size from 1 to %d: give --target-vocab "
			    "in place of --model",
			    o->model, INT32_MAX);
		if (vocab != 0 && vocab != (uint64_t)c.vocab_size)
			return err_set(e, "model",
			    "%s/config.json says vocab_size %lld, --target-vocab %llu", o->model,
			    (long long)c.vocab_size, (unsigned long long)vocab);
		vocab = (uint64_t)c.vocab_size;
	}
	if (vocab > 0)
		counts_init(&r->counts, vocab);
	for (size_t i = 0; i < o->counts.n; i++)
		if (counts_merge(&r->counts, o->counts.v[i], e) < 0)
			return -1;
	if (r->counts.vocab == 0)
		opt_misuse(
		    &prog, "the target's vocabulary is not known: give --target-vocab or --model");
	if (o->draft > r->counts.vocab)
		opt_misuse(&prog, "--draft-vocab %llu%s is more than the target's %llu%s",
		    (unsigned long long)o->draft, o->draft == DRAFT_USUAL ? ", the default," : "",
		    (unsigned long long)r->counts.vocab,
		    o->draft == DRAFT_USUAL ? ": give --draft-vocab N" : "");
	return o->include ? include_read(&r->forced, o->include, r->counts.vocab, e) : 0;
}

/* ---- what goes out ---- */

static int make_map(struct run *r, struct err *e)
{
	const struct vocabmap_opts *o = r->o;
	uint64_t counted = o->count_all ? r->counts.total : r->counts.supervised;

	ranking_make(&r->ranking, &r->counts, o->count_all, &r->forced);
	if (!o->out_dir)
		return 0;
	if (counted == 0)
		return err_set(e, "empty", "nothing to rank: no %s token in %llu records",
		    o->count_all ? "single" : "supervised", (unsigned long long)r->counts.records);
	if (r->ranking.forced > o->draft)
		return err_set(e, "include", "%s names %llu ids, --draft-vocab is %llu", o->include,
		    (unsigned long long)r->ranking.forced, (unsigned long long)o->draft);
	map_make(&r->map, &r->ranking, o->draft);
	return map_check(&r->map, e);
}

static int write_reports(struct run *r, struct err *e)
{
	const struct vocabmap_opts *o = r->o;
	struct buf text = {0};
	int rc = 0;

	if (o->counts_out) {
		counts_write(&text, &r->counts);
		rc = out_put(o->counts_out, 0, &text, e);
	}
	buf_reset(&text);
	if (rc == 0 && o->coverage) {
		coverage_tsv(&text, &r->ranking, &r->counts, o->draft);
		rc = out_put(o->coverage, 0, &text, e);
	}
	buf_reset(&text);
	if (rc == 0) {
		coverage_json(&text, &r->ranking, &r->counts, o->draft);
		rc = out_put(o->flow.output, o->flow.zstd, &text, e);
	}
	buf_free(&text);
	return rc;
}

static void say(const struct run *r)
{
	struct buf text = {0};
	uint64_t seen = 0;

	if (r->o->flow.quiet)
		return;
	coverage_text(&text, &r->ranking, &r->counts, r->o->draft);
	fputs(buf_cstr(&text), stderr);
	buf_free(&text);
	for (uint64_t i = 0; i < r->counts.vocab; i++)
		seen += (r->o->count_all ? r->counts.id[i].total : r->counts.id[i].supervised) > 0;
	if (r->o->draft == r->counts.vocab)
		prog_warn("the draft vocabulary is the target's: the map is the identity");
	else if (seen < r->o->draft)
		prog_warn(
		    "only %llu different tokens occur: filled up with the smallest unused ids",
		    (unsigned long long)seen);
}

static int count(struct run *r, struct err *e)
{
	struct flow *f = flow_open(prog.name, &r->o->flow, e);

	if (!f || records_count(f, &r->counts, r->o->count_all, e) < 0)
		goto fail;
	if (make_map(r, e) < 0)
		goto fail;
	flow_stat(f, "supervised", r->counts.supervised);
	flow_stat(f, "total", r->counts.total);
	flow_stat(f, "target_vocab", r->counts.vocab);
	if (flow_finish(f, e) == 0)
		return 0;
fail:
	flow_abort(f);
	return -1;
}

/* Counts may be written where they were read: they are the sum then. */
static void name_files(struct vocabmap_opts *o)
{
	if (o->counts_out)
		opt_list_add(&o->flow.outputs, o->counts_out);
	if (o->coverage)
		opt_list_add(&o->flow.outputs, o->coverage);
	for (size_t i = 0; i < o->counts.n; i++)
		if (!o->counts_out || strcmp(o->counts.v[i], o->counts_out) != 0)
			opt_list_add(&o->flow.inputs, o->counts.v[i]);
	if (o->include)
		opt_list_add(&o->flow.inputs, o->include);
	if (o->out_dir)
		files_beside(&o->flow, o->out_dir, (enum layout)o->layout, o->draft);
}

int main(int argc, char **argv)
{
	struct vocabmap_opts o = {.flow = FLOW_OPT_DEFAULT, .draft = DRAFT_USUAL, .layout = -1};
	struct run r = {.o = &o};
	struct err e;

	opt_parse(&prog, argc, argv, &o);
	if (o.layout >= 0 && !o.out_dir)
		opt_misuse(&prog, "--layout needs --out-dir DIR, where the map is written");
	o.layout = o.layout < 0 ? LAYOUT_SEED : o.layout;
	o.flow.own_output = 1;
	o.flow.unique_ids = 1;
	o.flow.report = 1;
	name_files(&o);
	/* counts alone are a whole input: standard input is not waited for */
	if (o.counts.n > 0 && o.flow.files.n == 0)
		opt_list_add(&o.flow.files, "/dev/null");
	if (set_target(&r, &e) < 0 ||
	    (o.out_dir && files_check(o.out_dir, (enum layout)o.layout, o.draft, &e) < 0) ||
	    count(&r, &e) < 0 || write_reports(&r, &e) < 0)
		prog_die(&e);
	if (o.out_dir &&
	    files_write(o.out_dir, (enum layout)o.layout, &r.map, &r.counts, o.count_all, &e) < 0)
		prog_die(&e);
	say(&r);
	counts_free(&r.counts);
	ranking_free(&r.ranking);
	map_free(&r.map);
	ints_free(&r.forced);
	opt_list_free(&o.counts);
	opt_list_free(&o.flow.files);
	opt_list_free(&o.flow.outputs);
	opt_list_free(&o.flow.inputs);
	opt_list_free(&o.flow.beside);
	return EXIT_DONE;
}
