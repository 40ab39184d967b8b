/* e3-sim - a stand-in for a target model's inference server: no model, but its manners */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/prog.h"
#include "sim/sim.h"

#define AT(member) offsetof(struct sim_opts, member)

static const struct opt options[] = {
    {"model", 0, OPT_STR, AT(model), "DIR", "the model folder: tokenizer, template, config", 0, 0},
    {"no-cache", 0, OPT_FLAG, AT(no_cache), NULL, "compile the tokenizer anew, and keep nothing", 0,
	0},
    {"host", 0, OPT_STR, AT(host), "ADDRESS", "address to listen on (127.0.0.1)", 0, 0},
    {"port", 0, OPT_U64, AT(port), "N", "port; 0 picks one. It is the first line of stdout", 0,
	65535},
    {"api", 0, OPT_ENUM, AT(api), "all|sglang|vllm|openai", "whose endpoints there are", 0, 0},
    {"served-model", 0, OPT_STR, AT(served_model), "NAME", "the model's name (its folder)", 0, 0},
    {"weight-version", 0, OPT_STR, AT(weight_version), "TEXT", "reported with answers (default)", 0,
	0},
    {"context", 0, OPT_U64, AT(context), "N", "context length (the config's)", 1, 0},
    {"dump-dir", 0, OPT_STR, AT(dump_dir), "DIR", "where hidden states are written", 0, 0},
    {"hidden-size", 0, OPT_U64, AT(hidden), "N", "width of a hidden state (the config's)", 1,
	65536},
    {"layers", 0, OPT_COMMA, AT(layers), "N,...", "aux layers, by the layer they enter (2,n/2,n-3)",
	0, 0},
    {"norm", 0, OPT_ENUM, AT(norm), "before|after", "the last state in dumps (before)", 0, 0},
    {"slots", 0, OPT_U64, AT(slots), "N", "requests run at once; others queue (0: no limit)", 0, 0},
    {"max-queued", 0, OPT_U64, AT(max_queued), "N",
	"requests that may queue; more get 503 (0: no limit)", 0, 0},
    {"latency", 0, OPT_NUM, AT(latency), "MS", "time to the first token (0)", 0, 0},
    {"tokens-per-second", 0, OPT_NUM, AT(tokens_per_second), "N",
	"speed of one answer (0: at once)", 0, 0},
    {"answer-tokens", 0, OPT_U64, AT(median), "N", "median length of an answer (96)", 1, 1000000},
    {"call-rate", 0, OPT_NUM, AT(call_rate), "RATE",
	"answers that end in a tool call, where tools are declared (0.5)", 0, 1},
    {"seed", 0, OPT_U64, AT(seed), "S", "of answers and faults (0)", 0, 0},
    {"fault", 0, OPT_LIST, AT(faults), "NAME=RATE|NAME@N",
	"do this wrong, so often or at request N", 0, 0},
    {"faults", 0, OPT_FLAG, AT(list_faults), NULL, "list the faults and exit", 0, 0},
    {0},
};

static const struct opt_names names[] = {
    {"fault", fault_name},
    {0},
};

static const struct opt_prog program = {
    .name = "e3-sim",
    .what = "a stand-in target server for demos, tests and benchmarks; not a model",
    .own = options,
    .names = names,
};

static int list_faults(struct err *e)
{
	for (int i = 0; i < FAULTS; i++) {
		const struct fault_def *f = &fault_table[i];

		printf("%-14s %s", f->name, f->what);
		if (f->arg_is)
			printf(" (:%s, %llu)", f->arg_is->name, (unsigned long long)f->arg);
		putchar('\n');
	}
	return prog_flush(e);
}

static int finish(const struct sim *s)
{
	fprintf(stderr,
	    "e3-sim: %llu requests, %llu answered, %llu tokens, %llu aborted, "
	    "%llu clients gone, at most %llu at once\n",
	    (unsigned long long)s->count.requests, (unsigned long long)s->count.done,
	    (unsigned long long)s->count.tokens, (unsigned long long)s->count.aborted,
	    (unsigned long long)s->count.gone, (unsigned long long)s->count.peak);
	if (s->count.refused > 0)
		prog_warn("%llu connections cut: there were not enough open files",
		    (unsigned long long)s->count.refused);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct sim_opts o = {
	    .host = "127.0.0.1", .weight_version = "default", .median = 96, .call_rate = 0.5};
	struct sim s;
	struct err e = {0};
	int rc = EXIT_FAILED;

	opt_parse(&program, argc, argv, &o);
	if (o.list_faults)
		exit(list_faults(&e) < 0 ? prog_fail(&e) : EXIT_DONE);
	if (!o.model)
		opt_misuse(&program, "--model DIR is needed");
	if (sim_open(&s, &o, &e) < 0) {
		if (prog_status(&e) == EXIT_MISUSE)
			opt_misuse(&program, "%s", e.msg);
		goto out;
	}
	printf("%d\n", s.port);
	if (prog_flush(&e) < 0)
		goto out;
	if (sim_serve(&s, &e) == 0)
		rc = finish(&s);
out:
	if (rc != EXIT_DONE)
		prog_warn("%s", e.msg);
	sim_close(&s);
	opt_list_free(&o.layers);
	opt_list_free(&o.faults);
	return rc;
}
