#include "extract/options.h"

#include "base/err.h"
#include "extract/index.h"
#include "extract/layout.h"
#include "http/http.h"

#define AT(member) offsetof(struct extract_opts, member)

static const struct opt own[] = {
    {"backend", 0, OPT_ENUM, AT(backend), BACKENDS, "how the server hands out states", 0, 0},
    {"server", 0, OPT_LIST, AT(servers), "URL", "a server (repeatable)", 0, 0},
    {"dump-dir", 0, OPT_STR, AT(dump_dir), "DIR", "where the server's files are, seen from here", 0,
	0},
    {"server-dump-dir", 0, OPT_STR, AT(server_dump_dir), "DIR", "the same, as the server calls it",
	0, 0},
    {"layers", 0, OPT_COMMA, AT(layers), "K,...", "aux layers that the server captures", 0, 0},
    {"layer-ids", 0, OPT_ENUM, AT(layer_ids), "in|out", "what a layer's number counts", 0, 0},
    {"no-last", 0, OPT_FLAG, AT(no_last), NULL, "do without the last layer", 0, 0},
    {"norm", 0, OPT_ENUM, AT(norm), "before|after", "the last state as the server delivers it", 0,
	0},
    {"apply-norm", 0, OPT_FLAG, AT(apply_norm), NULL, "make after from before, with --model's norm",
	0, 0},
    {"model", 0, OPT_STR, AT(model), "DIR", "the target's folder", 0, 0},
    {"layout", 0, OPT_ENUM, AT(layout), LAYOUTS, "whose files to write", 0, 0},
    {"dtype", 0, OPT_ENUM, AT(dtype), "bf16|f16|f32",
	"the floats in the files (default: as they come)", 0, 0},
    {"out-dir", 0, OPT_STR, AT(out_dir), "DIR", "write the files there", 0, 0},
    {"concurrency", 0, OPT_U64, AT(concurrency), "N", "requests at once, a server (default: 8)", 1,
	4096},
    {"max-attempts", 0, OPT_U64, AT(max_attempts), "N", "tries a record (default: 5)", 1, 1000},
    {"resume", 0, OPT_FLAG, AT(resume), NULL, "go on where an earlier run stood (needs -o)", 0, 0},
    {"redo", 0, OPT_STR, AT(redo), "FILE", "with --resume: make again what --verify found bad", 0,
	0},
    {"retry-rejects", 0, OPT_FLAG, AT(retry_rejects), NULL, "send refused records again", 0, 0},
    {"min-free", 0, OPT_SIZE, AT(min_free), "SIZE",
	"stop while the disk has this left (default: 1G)", 0, 0},
    {"sweep", 0, OPT_FLAG, AT(sweep), NULL, "delete what others left in the dump directory", 0, 0},
    {"verify", 0, OPT_STR, AT(verify), "DIR", "check the files of an index, print the bad ones", 0,
	0},
    {"convert", 0, OPT_STR, AT(convert), "DIR", "from the files of an index to another layout", 0,
	0},
    {"records", 0, OPT_STR, AT(records), "FILE",
	"tokenised records to hold files against, or masks from", 0, 0},
    {"keep", 0, OPT_COMMA, AT(keep), "NAME,...", "carry these members over to the index", 0, 0},
    {"shard", 0, OPT_SHARD, AT(flow.shard), "I/N", "the records of one shard, from 0", 0, 0},
    {0},
};

const struct opt_prog extract_prog = {
    .name = "e3-extract",
    .what = "the target's hidden states, in a trainer's files",
    .operands = "[FILE...]",
    .own = own,
    .common = flow_opts,
    .common_at = AT(flow),
    .operands_at = AT(flow.files),
};

static void need(const void *given, const char *option, const char *why)
{
	if (!given)
		opt_misuse(&extract_prog, "%s needs %s", why, option);
}

static void lack(struct buf *missing, int given, const char *option)
{
	if (!given)
		buf_addf(missing, "%s%s", missing->len > 0 ? ", " : "", option);
}

static void need_all(struct buf *missing, const char *why)
{
	need(missing->len > 0 ? NULL : missing, buf_cstr(missing), why);
	buf_free(missing);
}

/* What a run needs, in one message. sglang-json tells neither how it counts layers nor how wide one
 * is, and delivers no last state beside others. */
static void check_missing(const struct extract_opts *o)
{
	int json = o->backend == BACKEND_JSON, unsaid = o->backend < 0;
	struct buf m = {0};

	lack(&m, !unsaid, "--backend " BACKENDS);
	lack(&m, o->servers.n > 0, "--server URL");
	lack(&m, json || o->dump_dir,
	    unsaid ? "--dump-dir DIR (not for sglang-json)" : "--dump-dir DIR");
	if (!json)
		lack(&m, o->backend == BACKEND_DUMP || o->layers.n > 0 || o->model,
		    "--layers K,... as the server captures them (or --model DIR for the usual "
		    "three)");
	lack(&m, !json || o->model, "--model DIR");
	lack(&m, !json || o->layer_ids != LAYERS_UNSAID, "--layer-ids in|out");
	lack(&m, !json || o->no_last, "--no-last");
	lack(&m, o->layout >= 0, "--layout " LAYOUTS);
	lack(&m, o->out_dir != NULL, "--out-dir DIR");
	need_all(&m, json ? "sglang-json" : "extraction");
}

static void check_extract(const struct extract_opts *o)
{
	struct err e;

	check_missing(o);
	for (size_t i = 0; i < o->servers.n; i++)
		if (http_check_url(o->servers.v[i], &e) < 0)
			opt_misuse(&extract_prog, "--server: %s", e.msg);
	if (o->backend == BACKEND_VLLM && o->layer_ids == LAYERS_OUT)
		opt_misuse(&extract_prog,
		    "vLLM counts layers by what enters them: leave out --layer-ids out, and give "
		    "--layers as the server was started with");
	if (o->resume)
		need(o->flow.output, "-o", "--resume");
	if (o->retry_rejects && !o->resume)
		opt_misuse(&extract_prog, "--retry-rejects needs --resume");
	if (o->redo && !o->resume)
		opt_misuse(&extract_prog, "--redo needs --resume");
	if (o->records)
		opt_misuse(&extract_prog, "--records goes with --verify and --convert");
}

/* What a run on a finished set would pass over. */
static void check_set(const struct extract_opts *o)
{
	const struct {
		int given, convert;
		const char *option;
	} not_for[] = {
	    {o->backend >= 0, 0, "--backend"},
	    {o->servers.n > 0, 0, "--server"},
	    {o->dump_dir != NULL, 0, "--dump-dir"},
	    {o->server_dump_dir != NULL, 0, "--server-dump-dir"},
	    {o->layers.n > 0, 0, "--layers"},
	    {o->layer_ids != LAYERS_UNSAID, 0, "--layer-ids"},
	    {o->resume, 0, "--resume"},
	    {o->redo != NULL, 0, "--redo"},
	    {o->retry_rejects, 0, "--retry-rejects"},
	    {o->sweep, 0, "--sweep"},
	    {o->no_last, 1, "--no-last"},
	    {o->norm != NORM_UNSAID, 1, "--norm"},
	    {o->apply_norm, 1, "--apply-norm"},
	    {o->layout >= 0, 1, "--layout"},
	    {o->dtype >= 0, 1, "--dtype"},
	    {o->out_dir != NULL, 1, "--out-dir"},
	    {o->keep.n > 0, 1, "--keep"},
	};

	for (size_t i = 0; i < sizeof(not_for) / sizeof(not_for[0]); i++)
		if (not_for[i].given && !(o->convert && not_for[i].convert))
			opt_misuse(&extract_prog, "%s is not for %s", not_for[i].option,
			    o->convert ? "--convert" : "--verify");
}

static void check_convert(const struct extract_opts *o)
{
	struct buf m = {0};

	lack(&m, o->layout >= 0, "--layout " LAYOUTS);
	lack(&m, o->out_dir != NULL, "--out-dir DIR");
	need_all(&m, "--convert");
}

void options_parse(struct extract_opts *o, int argc, char **argv)
{
	*o = (struct extract_opts){.flow = FLOW_OPT_DEFAULT,
	    .backend = -1,
	    .layer_ids = LAYERS_UNSAID,
	    .norm = NORM_UNSAID,
	    .layout = -1,
	    .dtype = -1,
	    .concurrency = 8,
	    .max_attempts = 5,
	    .min_free = (uint64_t)1 << 30};
	opt_parse(&extract_prog, argc, argv, o);
	o->flow.report = o->verify != NULL; /* the bad ones' index */
	if (o->out_dir && !o->verify)
		flow_beside(&o->flow, "%s/manifest.json", o->out_dir);
	if (o->flow.output && !o->verify && !o->convert)
		flow_beside(&o->flow, "%s.part", o->flow.output);
	if (o->records)
		opt_list_add(&o->flow.inputs, o->records);
	if (o->redo)
		opt_list_add(&o->flow.inputs, o->redo);
	if (o->apply_norm)
		need(o->model, "--model", "--apply-norm");
	for (size_t i = 0; i < o->keep.n; i++)
		if (index_member(o->keep.v[i]))
			opt_misuse(&extract_prog, "--keep %s: the index has a member of that name",
			    o->keep.v[i]);
	if (o->verify && o->convert)
		opt_misuse(&extract_prog, "--verify and --convert are two runs");
	if (o->convert || o->verify)
		check_set(o);
	if (o->convert)
		check_convert(o);
	else if (!o->verify)
		check_extract(o);
}

void options_free(struct extract_opts *o)
{
	opt_list_free(&o->servers);
	opt_list_free(&o->layers);
	opt_list_free(&o->keep);
	opt_list_free(&o->flow.files);
	opt_list_free(&o->flow.inputs);
	opt_list_free(&o->flow.beside);
}
