/* e3-merge - many tokenised files into one set, in an order that depends on the records alone */

#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/prog.h"
#include "merge/merge.h"
#include "merge/record.h"

#define AT(member)   offsetof(struct merge_opts, member)
#define MEMORY_MIN   (16u << 20)
#define MEMORY_USUAL (1u << 30)

static const struct opt own[] = {
    {"seed", 0, OPT_U64, AT(seed), "S", "of the order (default: 0)", 0, INT64_MAX},
    {"no-shuffle", 0, OPT_FLAG, AT(no_shuffle), NULL, "keep the order of the inputs", 0, 0},
    {"min-len", 0, OPT_U64, AT(min_len), "N", "drop records of fewer tokens", 0, 0},
    {"max-len", 0, OPT_U64, AT(max_len), "N", "drop records of more tokens", 0, 0},
    {"min-response", 0, OPT_U64, AT(min_response), "N", "drop records of fewer supervised tokens",
	0, 0},
    {"cap", 0, OPT_LIST, AT(cap), "DATASET=N", "at most N records of it (repeatable)", 0, 0},
    {"mix", 0, OPT_LIST, AT(mix), "DATASET=W", "records in proportion to W (repeatable)", 0, 0},
    {"dedup", 0, OPT_ENUM, AT(dedup), DEDUP_WORDS, "drop records with the same (default: none)", 0,
	0},
    {"split", 0, OPT_LIST, AT(split), "NAME=FRACTION:FILE",
	"put a share of the conversations there (repeatable)", 0, 0},
    {"manifest", 0, OPT_STR, AT(manifest), "FILE", "write there what the set is made of", 0, 0},
    {"check", 0, OPT_STR, AT(check), "MANIFEST", "say where a set differs from it", 0, 0},
    {"memory", 0, OPT_SIZE, AT(memory), "SIZE", "of records, before they go to disk (default: 1G)",
	MEMORY_MIN, 0},
    {"tmp-dir", 0, OPT_STR, AT(tmp_dir), "DIR", "for them there (default: the output's)", 0, 0},
    {0},
};

static const struct opt_prog prog = {
    .name = "e3-merge",
    .what = "many tokenised files into one set, in one reproducible order",
    .operands = "[FILE...]",
    .own = own,
    .common = flow_opts,
    .common_at = AT(flow),
    .operands_at = AT(flow.files),
};

static int check(const struct merge_opts *o, struct err *e)
{
	struct buf differences = {0};
	int rc = merge_check(o, &differences, e);

	if (rc == 0 && differences.len > 0) {
		fwrite(differences.data, 1, differences.len, stdout);
		rc = prog_flush(e);
		if (rc == 0)
			rc = err_set(e, "differs", "%s: the set is another", o->check);
	} else if (rc == 0 && !o->flow.quiet) {
		prog_warn("%s: the set agrees", o->check);
	}
	buf_free(&differences);
	return rc;
}

int main(int argc, char **argv)
{
	struct merge_opts o = {
	    .flow = FLOW_OPT_DEFAULT, .max_len = UINT64_MAX, .memory = MEMORY_USUAL};
	struct plan plan;
	struct err e = {0};
	int rc;

	opt_parse(&prog, argc, argv, &o);
	if (plan_make(&plan, &o, &e) < 0)
		opt_misuse(&prog, "%s", e.msg);
	rc = o.check ? check(&o, &e) : merge_run(&o, &plan, &e);
	plan_free(&plan);
	opt_list_free(&o.flow.files);
	opt_list_free(&o.cap);
	opt_list_free(&o.mix);
	opt_list_free(&o.split);
	if (rc < 0)
		prog_die(&e);
	return EXIT_DONE;
}
