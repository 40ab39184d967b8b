#include "infer/options.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "chat/chat.h"
#include "http/http.h"

#define AT(member) offsetof(struct options, member)
#define POLICIES   "keep|drop|retry"
#define TOP_K_MAX  1000000000

const char *const infer_statuses[STATUS_N] = {
    "ok", "length", "empty", "reasoning_only", "repetition", "unparsed"};

static const struct opt table[] = {
    {"server", 0, OPT_LIST, AT(servers), "URL", "a server; may be given again", 0, 0},
    {"servers", 0, OPT_STR, AT(servers_file), "FILE", "servers, one a line; read again on SIGHUP",
	0, 0},
    {"api", 0, OPT_ENUM, AT(api), "auto|sglang|vllm|openai|llamacpp", "what the servers speak", 0,
	0},
    {"model", 0, OPT_STR, AT(model), "DIR", "model folder: prompts are sent as token ids", 0, 0},
    {"template", 0, OPT_STR, AT(template), "FILE", "chat template in place of the folder's", 0, 0},
    {"date", 0, OPT_STR, AT(date), "YYYY-MM-DD", "today, for templates that ask", 0, 0},
    {"served-by", 0, OPT_ENUM, AT(served_by), CHAT_SERVED_BY, "how messages are prepared", 0, 0},
    {"no-cache", 0, OPT_FLAG, AT(no_cache), NULL, "compile the tokenizer anew, and keep nothing", 0,
	0},
    {"served-model", 0, OPT_STR, AT(served_model), "NAME", "the name the server knows it by", 0, 0},
    {"concurrency", 0, OPT_U64, AT(concurrency), "N", "requests at once, a server", 1, 100000},
    {"adaptive", 0, OPT_FLAG, AT(adaptive), NULL, "fewer at once when the server says so", 0, 0},
    {"max-new-tokens", 0, OPT_U64, AT(max_new_tokens), "N", "longest answer (default: 8192)", 1,
	100000000},
    {"temperature", 0, OPT_NUM, AT(temperature), "X", "sampling; 0 is greedy", 0, 0},
    {"top-p", 0, OPT_NUM, AT(top_p), "X", "sampling", 0, 1},
    {"top-k", 0, OPT_NUM, AT(top_k), "N", "sampling; -1 is off", (uint64_t)-1, TOP_K_MAX},
    {"min-p", 0, OPT_NUM, AT(min_p), "X", "sampling", 0, 1},
    {"extra", 0, OPT_STR, AT(extra), "JSON", "an object merged into each request", 0, 0},
    {"turns", 0, OPT_ENUM, AT(turns), "last|all", "generate the last answer, or replay all", 0, 0},
    {"no-ids", 0, OPT_FLAG, AT(no_ids), NULL, "do without token ids", 0, 0},
    {"max-attempts", 0, OPT_U64, AT(max_attempts), "N", "tries an answer (default: 5)", 1, 1000},
    {"backoff", 0, OPT_NUM, AT(backoff), "SECONDS", "first pause before a retry (default: 1)", 0,
	3600},
    {"patience", 0, OPT_NUM, AT(patience), "SECONDS",
	"how long to wait while no server is up (default: 0 at the start, then for ever)", 0, 0},
    {"timeout", 0, OPT_NUM, AT(timeout), "SECONDS", "longest wait for one answer (default: none)",
	0, 4000000},
    {"window", 0, OPT_U64, AT(window), "N", "records read ahead (default: 256)", 1, 10000000},
    {"on-length", 0, OPT_ENUM, AT(policy[STATUS_LENGTH]), POLICIES, "answers cut by the limit", 0,
	0},
    {"on-empty", 0, OPT_ENUM, AT(policy[STATUS_EMPTY]), POLICIES, "answers without text", 0, 0},
    {"on-reasoning-only", 0, OPT_ENUM, AT(policy[STATUS_REASONING_ONLY]), POLICIES,
	"answers that never leave the reasoning", 0, 0},
    {"on-repetition", 0, OPT_ENUM, AT(policy[STATUS_REPETITION]), POLICIES,
	"answers that loop until they are cut", 0, 0},
    {"on-unparsed", 0, OPT_ENUM, AT(policy[STATUS_UNPARSED]), POLICIES,
	"answers whose parts can't be told", 0, 0},
    {"resume", 0, OPT_FLAG, AT(resume), NULL, "start, or go on where a run stood", 0, 0},
    {"retry-rejects", 0, OPT_FLAG, AT(retry_rejects), NULL, "send refused records again", 0, 0},
    {"ordered", 0, OPT_FLAG, AT(ordered), NULL, "write in input order", 0, 0},
    {"shard", 0, OPT_SHARD, AT(flow.shard), "I/N", "only the records of shard I of N", 0, 0},
    {"dry-run", 0, OPT_U64, AT(dry_run), "N", "send N records, write nothing, estimate the rest", 1,
	0},
    {"threads", 'j', OPT_U64, AT(flow.threads), "N", "for uniformity: one thread does all", 1,
	FLOW_THREADS_MAX},
    {0},
};

const struct opt_prog infer_prog = {
    .name = "e3-infer",
    .what = "lets a server answer the prompts of conversation records",
    .operands = "[FILE...]",
    .own = table,
    .common = flow_opts,
    .common_at = AT(flow),
    .operands_at = AT(flow.files),
};

struct serve_sampling infer_sampling(const struct options *o)
{
	return (struct serve_sampling){
	    .max_new_tokens = o->max_new_tokens,
	    .temperature = o->temperature,
	    .top_p = o->top_p,
	    .min_p = o->min_p,
	    .top_k = isnan(o->top_k) ? SERVE_UNSET : (int64_t)o->top_k,
	};
}

struct serve_plan *infer_plan(const struct options *o, struct err *e)
{
	struct serve_plan_opt p = {.api = API_SGLANG,
	    .route = ROUTE_SGLANG,
	    .sampling = infer_sampling(o),
	    .extra = o->extra};

	return serve_plan_open(&p, e);
}

static int check_sampling(const struct options *o, struct err *e)
{
	if (o->top_p == 0)
		return err_set(e, "usage", "--top-p: expected a number above 0");
	if (!isnan(o->top_k) && (o->top_k != floor(o->top_k) || o->top_k == 0))
		return err_set(e, "usage", "--top-k: expected -1, or a whole number from 1");
	return 0;
}

void infer_defaults(struct options *o)
{
	*o = (struct options){
	    .flow = FLOW_OPT_DEFAULT,
	    .max_new_tokens = 8192,
	    .temperature = NAN,
	    .top_p = NAN,
	    .min_p = NAN,
	    .top_k = NAN,
	    .max_attempts = 5,
	    .backoff = 1,
	    .patience = NAN,
	    .policy[STATUS_UNPARSED] = POLICY_UNSAID,
	};
	o->flow.own_output = 1;
	o->flow.unique_ids = 1;
}

static int check_request(const struct options *o, struct err *e)
{
	struct serve_plan *p;

	for (size_t i = 0; i < o->servers.n; i++)
		if (http_check_url(o->servers.v[i], e) < 0)
			return err_prefix(e, "--server: ");
	p = infer_plan(o, e);
	if (!p)
		return -1;
	serve_plan_close(p);
	return 0;
}

int infer_check(const struct options *o, struct err *e)
{
	int file = o->flow.output && strcmp(o->flow.output, "-") != 0;

	if (o->servers.n == 0 && !o->servers_file)
		return err_set(e, "usage", "which server? (--server URL, or --servers FILE)");
	if (o->servers.n && o->servers_file)
		return err_set(e, "usage", "--server and --servers exclude one another");
	if (o->resume && !file)
		return err_set(e, "usage", "--resume needs -o FILE");
	if (o->retry_rejects && !o->resume)
		return err_set(e, "usage", "--retry-rejects needs --resume");
	if (o->dry_run && (o->resume || o->flow.output))
		return err_set(e, "usage", "--dry-run writes nothing: without -o and --resume");
	if (!o->model && (o->template || o->date || o->served_by))
		return err_set(e, "usage", "--template, --date and --served-by need --model");
	if (o->api == API_LLAMACPP && !o->model && !o->no_ids)
		return err_set(e, "usage",
		    "--api llamacpp needs --model DIR, or --no-ids: its chat does not give the "
		    "prompt's ids");
	return check_sampling(o, e) < 0 ? -1 : check_request(o, e);
}
