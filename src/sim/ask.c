#include "sim/sim.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "bpe/bpe.h"
#include "json/ids.h"
#include "json/rec.h"
#include "json/val.h"

/* A request body on its way to a job. */
struct asked {
	struct rec rec;
	struct arena arena;
};

/* ---- members ---- */

static int member(struct asked *a, const char *name, struct jval *out)
{
	struct span v = rec_get(&a->rec, name);
	struct err e;

	if (span_is_null(v))
		return 0;
	return val_parse(out, v, 1, &a->arena, NULL, &e) == 0;
}

static int flag(struct asked *a, const char *name)
{
	struct jval v;

	return member(a, name, &v) && (v.kind == J_TRUE || v.kind == J_STR);
}

static int text_member(struct asked *a, const char *name, struct buf *out)
{
	struct span v = rec_get(&a->rec, name);

	return !span_is_null(v) && json_str(out, v, NULL) == 0;
}

/* A number among the parameters: 1 found, 0 absent or null, -1 something else. */
static int number(const struct jval *params, const char *name, double *out)
{
	const struct jval *v = val_get(params, name);

	if (!v || v->kind == J_NULL)
		return 0;
	if (v->kind == J_INT)
		*out = (double)v->u.i;
	else if (v->kind == J_REAL)
		*out = v->u.d;
	else
		return -1;
	return 1;
}

/* ---- what servers check ---- */

struct range {
	const char *name;
	double from, to;
	int no_zero; /* which lies between */
};

/* SGLang's sampling_params.py, verify(): everything else is taken. */
static const struct range sglang_ranges[] = {
    {"temperature", 0, HUGE_VAL, 0},
    {"top_p", 0, 1, 1},
    {"min_p", 0, 1, 0},
    {"top_k", -1, HUGE_VAL, 1},
    {"frequency_penalty", -2, 2, 0},
    {"presence_penalty", -2, 2, 0},
    {"repetition_penalty", 0, 2, 1},
    {0},
};

/* vLLM's sampling_params.py, _verify_args(). */
static const struct range vllm_ranges[] = {
    {"temperature", 0, 2, 0},
    {"top_p", 0, 1, 1},
    {"min_p", 0, 1, 0},
    {"top_k", -1, HUGE_VAL, 0},
    {"frequency_penalty", -2, 2, 0},
    {"presence_penalty", -2, 2, 0},
    {"repetition_penalty", 0, HUGE_VAL, 1},
    {"max_tokens", 1, HUGE_VAL, 0},
    {"max_completion_tokens", 1, HUGE_VAL, 0},
    {0},
};

static int check_ranges(enum sim_api api, const struct jval *params, struct err *e)
{
	double x;

	for (const struct range *r = api == SIM_VLLM ? vllm_ranges : sglang_ranges; r->name; r++) {
		int found = number(params, r->name, &x);

		if (found < 0 || (found && !(isfinite(x) && x >= r->from && x <= r->to &&
					       !(r->no_zero && x == 0))))
			return err_set(e, "params", "%s is out of range", r->name);
	}
	return 0;
}

static int limit(const struct jval *params, const char *name, uint64_t *out, struct err *e)
{
	double x;
	int found = number(params, name, &x);

	if (found < 0 || (found && !(x >= 0 && x < 1e9 && floor(x) == x)))
		return err_set(e, "params", "%s must be a whole number", name);
	if (found)
		*out = (uint64_t)x;
	return 0;
}

static int check_length(const struct sim *s, const struct job *j, struct err *e)
{
	unsigned long long n = j->prompt.n, context = s->context;

	if (n == 0)
		return err_set(e, "params", "the prompt is empty");
	if (n >= context)
		return err_set(e, "params",
		    "The input (%llu tokens) is longer than the model's "
		    "context length (%llu tokens).",
		    n, context);
	if (n + j->want.max > context)
		return err_set(e, "params",
		    "Requested token count exceeds the model's maximum "
		    "context length of %llu tokens: %llu of the input and "
		    "%llu of the answer.",
		    context, n, (unsigned long long)j->want.max);
	for (size_t i = 0; i < j->prompt.n; i++)
		if ((size_t)j->prompt.v[i] >= bpe_vocab(s->tok))
			return err_set(
			    e, "params", "token id %d is out of vocabulary", j->prompt.v[i]);
	return 0;
}

/* ---- the prompt ---- */

static int encode(struct sim *s, const struct buf *text, struct ints *out, struct err *e)
{
	struct bpe_text t = {text->data, text->len, BPE_REPLACE};

	return bpe_encode(s->tok, s->bpe_work, t, out, NULL, e);
}

static int read_prompt(struct sim *s, struct job *j, struct asked *a, const char *text_name,
    const char *ids_name, struct err *e)
{
	struct span ids = rec_get(&a->rec, ids_name), text = rec_get(&a->rec, text_name);
	struct buf b = {0};
	int rc;

	if (!span_is_null(ids) && ids.p[0] == '[')
		return ids_read(&j->prompt, ids, ids_name, e);
	if (span_is_null(text))
		return err_set(e, "params", "expected one of %s and %s", text_name, ids_name);
	if (json_str(&b, text, NULL) < 0)
		rc = err_set(
		    e, "params", "%s: expected one text: send one prompt a request", text_name);
	else
		rc = encode(s, &b, &j->prompt, e);
	buf_free(&b);
	return rc;
}

static int read_chat(struct sim *s, struct job *j, struct asked *a, struct err *e)
{
	struct span ids = rec_get(&a->rec, "input_ids");

	if (!span_is_null(ids))
		return ids_read(&j->prompt, ids, "input_ids", e);
	return render_prompt(s, &a->rec, &a->arena, &j->prompt, e);
}

/* ---- the three bodies ---- */

static int read_limits(
    struct sim *s, struct job *j, const struct jval *params, uint64_t max, struct err *e)
{
	const struct jval *ignore = val_get(params, "ignore_eos");

	j->want = (struct answer_want){.seed = s->opt->seed,
	    .median = s->opt->median,
	    .max = max,
	    .call_rate = s->opt->call_rate};
	j->want.ignore_stop = ignore && ignore->kind == J_TRUE;
	if (check_ranges((enum sim_api)s->opt->api, params, e) < 0 ||
	    limit(params, "max_new_tokens", &j->want.max, e) < 0 ||
	    limit(params, "max_tokens", &j->want.max, e) < 0 ||
	    limit(params, "max_completion_tokens", &j->want.max, e) < 0 ||
	    limit(params, "min_new_tokens", &j->want.min, e) < 0 ||
	    limit(params, "min_tokens", &j->want.min, e) < 0)
		return -1;
	if (j->want.min > j->want.max)
		return err_set(e, "params", "more tokens at least than at most");
	if (j->want.max == 0)
		j->want.max = 1; /* SGLang makes one token all the same */
	return 0;
}

static int ask_sglang(struct sim *s, struct job *j, struct asked *a, struct err *e)
{
	struct jval params = {.kind = J_NULL};

	if (!member(a, "sampling_params", &params))
		params.kind = J_NULL;
	j->want_ids = 1;
	j->want_prompt_ids = flag(a, "return_prompt_token_ids");
	j->want_states = flag(a, "return_hidden_states");
	if (read_prompt(s, j, a, "text", "input_ids", e) < 0)
		return -1;
	return read_limits(s, j, &params, 128, e);
}

static int ask_openai(struct sim *s, struct job *j, struct asked *a, struct err *e)
{
	struct jval body;
	uint64_t max;

	if (val_parse(&body, a->rec.line, 1, &a->arena, NULL, e) < 0)
		return -1;
	text_member(a, "model", &j->model);
	j->want_ids = j->want_prompt_ids = flag(a, "return_token_ids");
	j->want_prompt_ids |= flag(a, "return_prompt_token_ids");
	j->want_states = s->opt->dump_dir != NULL;
	if (j->ask == ASK_CHAT ? read_chat(s, j, a, e) < 0
			       : read_prompt(s, j, a, "prompt", "prompt", e) < 0)
		return -1;
	max = s->context > j->prompt.n ? s->context - j->prompt.n : 1;
	return read_limits(s, j, &body, j->ask == ASK_CHAT ? max : 16, e);
}

/* A rid in flight, sent again, is refused by current servers. */
static int check_rid(struct sim *s, struct job *j, struct asked *a, struct err *e)
{
	if (!text_member(a, "rid", &j->rid) && !text_member(a, "request_id", &j->rid)) {
		buf_addf(&j->rid, "e3sim-%llu", (unsigned long long)j->number);
		return 0;
	}
	buf_cstr(&j->rid);
	for (const struct job *o = s->jobs; o; o = o->next)
		if (o != j && (o->state == JOB_QUEUED || o->state == JOB_RUNNING) &&
		    o->rid.len == j->rid.len && memcmp(o->rid.data, j->rid.data, j->rid.len) == 0)
			return err_set(
			    e, "params", "Duplicate request ID detected: %s", j->rid.data);
	return 0;
}

static int read_body(struct sim *s, struct job *j, struct asked *a, struct err *e)
{
	if (rec_parse(&a->rec, j->body.data ? j->body.data : "", j->body.len, e) < 0)
		return -1;
	if (flag(a, "stream"))
		return err_set(e, "params", "this stand-in server does not stream");
	if (check_rid(s, j, a, e) < 0)
		return -1;
	if ((j->ask == ASK_SGLANG ? ask_sglang(s, j, a, e) : ask_openai(s, j, a, e)) < 0)
		return -1;
	return check_length(s, j, e);
}

int ask_read(struct sim *s, struct job *j)
{
	struct asked a = {0};
	struct err e = {0};
	int rc = read_body(s, j, &a, &e), known;

	known = j->model.len == 0 || s->opt->api != SIM_VLLM ||
		span_eq((struct span){j->model.data, j->model.len}, s->name.data);
	if (rc < 0)
		reply_error(s, j, 400, e.msg);
	else if (!known)
		reply_error(s, j, 404, "The model does not exist.");
	rec_free(&a.rec);
	arena_free(&a.arena);
	buf_free(&j->body);
	return rc < 0 || !known ? -1 : 0;
}
