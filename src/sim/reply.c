#include "sim/sim.h"

#include <string.h>

#include "base/err.h"
#include "bpe/bpe.h"
#include "sim/call.h"
#include "json/ids.h"

/* ---- pieces ---- */

static void put_text(const struct sim *s, struct buf *out, const int32_t *ids, size_t n)
{
	struct buf text = {0};
	struct err e;

	/* ids below the vocabulary without a token (reserved ones) do not come out of answer_make
	 */
	(void)bpe_decode(s->tok, ids, n, &text, &e);
	buf_add_json(out, text.data ? text.data : "", text.len);
	buf_free(&text);
}

static void put_name(struct buf *out, const char *name, const struct buf *value)
{
	buf_addf(out, "\"%s\":", name);
	buf_add_json(out, value->data ? value->data : "", value->len);
}

/* The ids of the text: all but the stop id. */
static size_t text_ids(const struct job *j)
{
	int32_t last = j->out.n > 0 ? j->out.v[j->out.n - 1] : -1;

	return j->stopped && !j->faults.on[F_NO_STOP] && last >= 0 ? j->out.n - 1 : j->out.n;
}

static void put_ids(struct buf *out, const char *name, const struct ints *ids, int wrong)
{
	size_t start;

	buf_addf(out, ",\"%s\":", name);
	start = out->len;
	if (wrong && ids->n > 0) {
		int32_t keep = ids->v[ids->n / 2];

		ids->v[ids->n / 2] = keep > 0 ? keep - 1 : 1;
		ids_write(out, ids->v, ids->n);
		ids->v[ids->n / 2] = keep;
	}
	if (out->len == start)
		ids_write(out, ids->v, ids->n);
}

static unsigned long long completion_tokens(const struct job *j)
{
	return j->out.n + (j->faults.on[F_WRONG_COUNT] ? 1 : 0);
}

/* Reasoning tokens, </think> not counted. */
static size_t think_tokens(const struct sim *s, const struct job *j)
{
	size_t end = answer_think_end(s->vocab, &j->prompt, &j->out);

	return end > 0 ? end - 1 : 0;
}

/* ---- SGLang's /generate ---- */

static void put_sglang_finish(const struct sim *s, const struct job *j, struct buf *out)
{
	buf_adds(out, "\"finish_reason\":");
	if (j->aborted)
		buf_adds(out, "{\"type\":\"abort\",\"message\":\"Aborted\",\"status_code\":503,"
			      "\"err_type\":\"AbortError\"}");
	else if (j->stopped)
		buf_addf(out, "{\"type\":\"stop\",\"matched\":%d}", answer_stop_id(s->vocab));
	else
		buf_addf(out, "{\"type\":\"length\",\"length\":%llu}", completion_tokens(j));
}

static void put_meta(const struct sim *s, const struct job *j, struct buf *out)
{
	struct buf weight = {
	    .data = (char *)s->opt->weight_version, .len = strlen(s->opt->weight_version)};

	buf_adds(out, ",\"meta_info\":{");
	if (j->faults.on[F_WRONG_RID])
		buf_addf(out, "\"id\":\"somebody-else-%llu\"", (unsigned long long)j->number);
	else
		put_name(out, "id", &j->rid);
	buf_addc(out, ',');
	put_sglang_finish(s, j, out);
	buf_addf(out,
	    ",\"prompt_tokens\":%zu,\"completion_tokens\":%llu,\"cached_tokens\":0,"
	    "\"reasoning_tokens\":%zu,\"num_retractions\":0,\"e2e_latency\":%g,"
	    "\"num_running_reqs\":%zu,\"num_waiting_reqs\":%zu,",
	    j->prompt.n, completion_tokens(j), think_tokens(s, j), s->opt->latency / 1000.0,
	    s->running, s->waiting);
	put_name(out, "weight_version", &weight);
	if (j->want_states && !s->opt->dump_dir) {
		buf_adds(out, ",\"hidden_states\":");
		states_json(&s->states, &j->prompt, &j->faults, out);
	}
	buf_addc(out, '}');
}

static void reply_sglang(const struct sim *s, struct job *j, struct buf *out)
{
	buf_adds(out, "{\"text\":");
	if (j->faults.on[F_NULL_TEXT])
		buf_adds(out, "null");
	else
		put_text(s, out, j->out.v, text_ids(j));
	if (j->want_ids)
		put_ids(out, "output_ids", &j->out, 0);
	if (j->want_prompt_ids)
		put_ids(out, "prompt_token_ids", &j->prompt, j->faults.on[F_WRONG_IDS]);
	put_meta(s, j, out);
}

/* ---- OpenAI's ---- */

static const char *openai_finish(const struct job *j, int calls)
{
	return j->aborted ? "abort" : !j->stopped ? "length" : calls ? "tool_calls" : "stop";
}

static void put_usage(const struct sim *s, const struct job *j, struct buf *out)
{
	buf_addf(out,
	    "\"usage\":{\"prompt_tokens\":%zu,\"completion_tokens\":%llu,"
	    "\"total_tokens\":%llu,\"reasoning_tokens\":%zu}",
	    j->prompt.n, completion_tokens(j), j->prompt.n + completion_tokens(j),
	    think_tokens(s, j));
}

static void put_head(const struct sim *s, const struct job *j, struct buf *out, const char *object)
{
	buf_addf(out, "{\"id\":\"%s-%llu\",\"object\":\"%s\",\"created\":0,",
	    j->ask == ASK_CHAT ? "chatcmpl" : "cmpl", (unsigned long long)j->number, object);
	put_name(out, "model", j->model.len > 0 ? &j->model : &s->name);
}

static void put_choice_ids(const struct job *j, struct buf *out)
{
	if (j->want_ids)
		put_ids(out, "token_ids", &j->out, 0);
	if (j->want_prompt_ids)
		put_ids(out, "prompt_token_ids", &j->prompt, j->faults.on[F_WRONG_IDS]);
}

static void reply_completion(const struct sim *s, struct job *j, struct buf *out)
{
	put_head(s, j, out, "text_completion");
	buf_adds(out, ",\"choices\":[{\"index\":0,\"text\":");
	if (j->faults.on[F_NULL_TEXT])
		buf_adds(out, "null");
	else
		put_text(s, out, j->out.v, text_ids(j));
	buf_addf(out, ",\"logprobs\":null,\"finish_reason\":\"%s\",\"stop_reason\":null",
	    openai_finish(j, 0));
	put_choice_ids(j, out);
	buf_adds(out, "}],");
	put_usage(s, j, out);
	if (j->states_path.len == 0)
		return;
	buf_adds(out, ",\"kv_transfer_params\":{\"hidden_states_path\":");
	if (j->faults.on[F_HS_OUTSIDE])
		buf_adds(out, "\"/etc/hostname\"");
	else
		buf_add_json(out, j->states_path.data, j->states_path.len);
	buf_addc(out, '}');
}

/* The message as a server with a reasoning parser and a tool parser has it; both names of the
 * reasoning, since the servers do not agree on one. */
static int put_message(const struct sim *s, const struct job *j, struct buf *out)
{
	size_t end = text_ids(j), from = answer_think_end(s->vocab, &j->prompt, &j->out), calls;
	int32_t begin = answer_call_begin(s->vocab);

	buf_adds(out, "{\"role\":\"assistant\"");
	if (from > 1) {
		size_t n = from > end ? end : from - 1;

		buf_adds(out, ",\"reasoning_content\":");
		put_text(s, out, j->out.v, n);
		buf_adds(out, ",\"reasoning\":");
		put_text(s, out, j->out.v, n);
	}
	from = from > end ? end : from;
	for (calls = from; calls < end && j->out.v[calls] != begin;)
		calls++;
	buf_adds(out, ",\"content\":");
	if (from >= calls || j->faults.on[F_NULL_TEXT])
		buf_adds(out, "null");
	else
		put_text(s, out, j->out.v + from, calls - from);
	calls = calls < end ? call_write(s->tok, j->out.v + calls, end - calls, out) : 0;
	buf_addc(out, '}');
	return calls > 0;
}

static void reply_chat(const struct sim *s, struct job *j, struct buf *out)
{
	int calls;

	put_head(s, j, out, "chat.completion");
	buf_adds(out, ",\"choices\":[{\"index\":0,\"message\":");
	calls = put_message(s, j, out);
	buf_addf(out, ",\"logprobs\":null,\"finish_reason\":\"%s\",\"matched_stop\":",
	    openai_finish(j, calls));
	if (j->stopped)
		buf_addf(out, "%d", answer_stop_id(s->vocab));
	else
		buf_adds(out, "null");
	put_choice_ids(j, out); /* where SGLang has the prompt's */
	buf_adds(out, "}],");
	put_usage(s, j, out);
	if (j->want_prompt_ids) /* where vLLM has them */
		put_ids(out, "prompt_token_ids", &j->prompt, j->faults.on[F_WRONG_IDS]);
}

/* ---- both ---- */

static void write_dump(const struct sim *s, struct job *j)
{
	struct err e;

	if (states_write_dump(
		&s->states, &j->prompt, &j->faults, s->opt->dump_dir, buf_cstr(&j->rid), &e) < 0)
		reply_error(s, j, 500, e.msg);
}

void reply_answer(const struct sim *s, struct job *j)
{
	static void (*const write[])(const struct sim *, struct job *, struct buf *) = {
	    [ASK_SGLANG] = reply_sglang,
	    [ASK_COMPLETION] = reply_completion,
	    [ASK_CHAT] = reply_chat,
	};

	if (j->faults.on[F_MISSING_IDS])
		j->want_ids = j->want_prompt_ids = 0;
	j->reply.status = 200;
	j->reply.type = "application/json";
	buf_reset(&j->reply.body);
	write[j->ask](s, j, &j->reply.body);
	buf_addc(&j->reply.body, '}');
	if (j->want_states && s->opt->dump_dir && j->ask == ASK_SGLANG && !j->aborted)
		write_dump(s, j);
}

static const char *status_name(int status)
{
	static const struct {
		int status;
		const char *name;
	} names[] = {{400, "BadRequestError"}, {401, "AuthenticationError"}, {404, "NotFoundError"},
	    {405, "MethodNotAllowed"}, {408, "RequestTimeout"}, {413, "RequestTooLarge"},
	    {429, "TooManyRequests"}, {503, "ServiceUnavailable"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].status == status)
			return names[i].name;
	return "InternalServerError";
}

void reply_error(const struct sim *s, struct job *j, int status, const char *message)
{
	struct buf *out = &j->reply.body;

	buf_reset(out);
	j->reply.status = status;
	j->reply.type = "application/json";
	buf_adds(out, "{\"error\":{\"message\":");
	buf_add_json(out, message, strlen(message));
	buf_addf(out, ",\"type\":\"%s\",\"param\":null,\"code\":%d}}", status_name(status), status);
	(void)s;
}
