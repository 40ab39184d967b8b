#include "serve/reply.h"

#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "serve/facts.h"
#include "serve/lax.h"
#include "json/ids.h"
#include "json/rec.h"

#define FIELD(type, member)                            \
	{                                              \
#member, offsetof(struct type, member) \
	}
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Members as their servers name them. */
struct top {
	struct span error, text, output_ids, prompt_token_ids, meta_info; /* SGLang */
	struct span choices, usage, id, kv_transfer_params;		  /* OpenAI */
	struct span content, tokens, stop_type, truncated, tokens_evaluated, tokens_predicted;
	struct span object, message, detail; /* of errors */
};

static const struct lax_field top_fields[] = {FIELD(top, error), FIELD(top, text),
    FIELD(top, output_ids), FIELD(top, prompt_token_ids), FIELD(top, meta_info),
    FIELD(top, choices), FIELD(top, usage), FIELD(top, id), FIELD(top, kv_transfer_params),
    FIELD(top, content), FIELD(top, tokens), FIELD(top, stop_type), FIELD(top, truncated),
    FIELD(top, tokens_evaluated), FIELD(top, tokens_predicted), FIELD(top, object),
    FIELD(top, message), FIELD(top, detail)};

struct meta {
	struct span id, finish_reason, prompt_tokens, completion_tokens, weight_version,
	    num_retractions, hidden_states;
};

static const struct lax_field meta_fields[] = {FIELD(meta, id), FIELD(meta, finish_reason),
    FIELD(meta, prompt_tokens), FIELD(meta, completion_tokens), FIELD(meta, weight_version),
    FIELD(meta, num_retractions), FIELD(meta, hidden_states)};

struct choice {
	struct span text, message, token_ids, prompt_token_ids, finish_reason, stop_reason,
	    matched_stop, logprobs;
};

static const struct lax_field choice_fields[] = {FIELD(choice, text), FIELD(choice, message),
    FIELD(choice, token_ids), FIELD(choice, prompt_token_ids), FIELD(choice, finish_reason),
    FIELD(choice, stop_reason), FIELD(choice, matched_stop), FIELD(choice, logprobs)};

struct message {
	struct span content, reasoning_content, reasoning, tool_calls;
};

static const struct lax_field message_fields[] = {FIELD(message, content),
    FIELD(message, reasoning_content), FIELD(message, reasoning), FIELD(message, tool_calls)};

static const struct {
	const char *word;
	enum serve_finish finish;
} finishes[] = {
    {"stop", FINISH_STOP},
    {"length", FINISH_LENGTH},
    {"tool_calls", FINISH_TOOL_CALLS},
    {"abort", FINISH_ABORT},
    /* llama.cpp's stop_type; its "none" is no end at all */
    {"eos", FINISH_STOP},
    {"word", FINISH_STOP},
    {"limit", FINISH_LENGTH},
};

const char *serve_finish_name(enum serve_finish f)
{
	static const char *const names[] = {
	    "none", "stop", "length", "tool_calls", "abort", "other"};

	return names[f];
}

static enum serve_finish finish_of(struct span word)
{
	for (size_t i = 0; i < COUNT(finishes); i++)
		if (lax_is(word, finishes[i].word))
			return finishes[i].finish;
	return word.p ? FINISH_OTHER : FINISH_NONE;
}

static struct span string_or_none(struct span v)
{
	return v.p && *v.p == '"' ? v : (struct span){NULL, 0};
}

/* Text of another type is no text that may be left out. */
static int read_text(struct span *to, struct span v, const char *name, struct err *e)
{
	if (v.p && *v.p != '"')
		return err_set(e, "reply", "%s: expected a string, not %s", name, json_kind(v));
	*to = v;
	return 0;
}

static int read_ids(struct ints *out, int *has, struct span v, const char *name, struct err *e)
{
	if (!v.p)
		return 0;
	out->n = 0;
	*has = 1;
	return ids_read(out, v, name, e);
}

/* The echo of the prompt: what was sent, to the byte, need not be read again. */
static int read_prompt_ids(struct serve_reply *r, struct span v, const char *name, struct err *e)
{
	if (v.p && v.n == r->sent.n && memcmp(v.p, r->sent.p, v.n) == 0) {
		r->echoed = r->has_prompt_ids = 1;
		return 0;
	}
	return read_ids(&r->prompt_ids, &r->has_prompt_ids, v, name, e);
}

static int read_sglang(struct serve_reply *r, const struct top *t, struct err *e)
{
	struct meta m = {0};
	struct span type;

	if (!t->meta_info.p || *t->meta_info.p != '{')
		return err_set(e, "reply", "meta_info: expected an object");
	lax_fields(t->meta_info, meta_fields, COUNT(meta_fields), &m);
	if (m.finish_reason.p && *m.finish_reason.p == '"') {
		r->finish = finish_of(m.finish_reason);
	} else {
		type = lax_get(m.finish_reason, "type");
		r->finish = finish_of(type);
		r->matched = lax_int(lax_get(m.finish_reason, "matched"), -1);
		r->abort_message = string_or_none(lax_get(m.finish_reason, "message"));
	}
	r->rid = string_or_none(m.id);
	r->weight_version = string_or_none(m.weight_version);
	r->prompt_tokens = lax_int(m.prompt_tokens, -1);
	r->completion_tokens = lax_int(m.completion_tokens, -1);
	r->retractions = lax_int(m.num_retractions, -1);
	r->states = m.hidden_states;
	if (read_text(&r->content, t->text, "text", e) < 0 ||
	    read_ids(&r->ids, &r->has_ids, t->output_ids, "output_ids", e) < 0)
		return -1;
	return read_prompt_ids(r, t->prompt_token_ids, "prompt_token_ids", e);
}

static int read_llamacpp(struct serve_reply *r, const struct top *t, struct err *e)
{
	if (!t->stop_type.p)
		return err_set(e, "reply", "stop_type: missing");
	r->finish = finish_of(t->stop_type);
	r->prompt_tokens = lax_int(t->tokens_evaluated, -1);
	r->completion_tokens = lax_int(t->tokens_predicted, -1);
	r->truncated = span_eq(t->truncated, "true");
	if (read_text(&r->content, t->content, "content", e) < 0)
		return -1;
	return read_ids(&r->ids, &r->has_ids, t->tokens, "tokens", e);
}

/* llama.cpp's chat: an id a token in logprobs.content. */
static int read_logprobs(struct serve_reply *r, struct span logprobs, struct err *e)
{
	struct span list = lax_get(logprobs, "content"), v;
	struct lax s;

	if (!list.p || *list.p != '[')
		return 0;
	r->ids.n = 0;
	lax_begin(&s, list);
	while (lax_element(&s, &v)) {
		int64_t id = lax_int(lax_get(v, "id"), -1);

		if (id < 0 || id > INT32_MAX) {
			if (r->ids.n == 0)
				return 0; /* a server whose logprobs have no ids */
			return err_set(
			    e, "reply", "logprobs.content[%zu].id: expected a token id", r->ids.n);
		}
		ints_push(&r->ids, (int32_t)id);
	}
	r->has_ids = 1;
	return 0;
}

static int read_message(struct serve_reply *r, struct span v, struct err *e)
{
	struct message m = {0};
	struct span first;
	struct lax s;

	if (!v.p || *v.p != '{')
		return err_set(e, "reply", "choices[0].message: expected an object");
	lax_fields(v, message_fields, COUNT(message_fields), &m);
	if (read_text(&r->content, m.content, "choices[0].message.content", e) < 0 ||
	    read_text(&r->reasoning, m.reasoning, "choices[0].message.reasoning", e) < 0 ||
	    (m.reasoning_content.p && read_text(&r->reasoning, m.reasoning_content,
					  "choices[0].message.reasoning_content", e) < 0))
		return -1;
	if (m.tool_calls.p && *m.tool_calls.p != '[')
		return err_set(e, "reply",
		    "choices[0].message.tool_calls: expected an array, not %s",
		    json_kind(m.tool_calls));
	lax_begin(&s, m.tool_calls);
	if (lax_element(&s, &first))
		r->tool_calls = m.tool_calls;
	return 0;
}

static int read_openai(struct serve_reply *r, const struct top *t, int chat, struct err *e)
{
	struct choice c = {0};
	struct span first = {NULL, 0}, ids;
	struct lax s;

	lax_begin(&s, t->choices);
	if (!t->choices.p || *t->choices.p != '[' || !lax_element(&s, &first) || *first.p != '{')
		return err_set(e, "reply", "choices: expected an array with an object");
	lax_fields(first, choice_fields, COUNT(choice_fields), &c);
	r->finish = finish_of(c.finish_reason);
	r->matched = lax_int(c.stop_reason.p ? c.stop_reason : c.matched_stop, -1);
	r->rid = string_or_none(t->id);
	r->prompt_tokens = lax_int(lax_get(t->usage, "prompt_tokens"), -1);
	r->completion_tokens = lax_int(lax_get(t->usage, "completion_tokens"), -1);
	r->states_path = lax_get(t->kv_transfer_params, "hidden_states_path");
	if (!r->states_path.p)
		r->states_path = lax_get(t->kv_transfer_params, "handle");
	if ((chat ? read_message(r, c.message, e)
		  : read_text(&r->content, c.text, "choices[0].text", e)) < 0)
		return -1;
	/* vLLM's chat puts the prompt's ids beside choices, all else puts them in the choice */
	ids = c.prompt_token_ids.p ? c.prompt_token_ids : t->prompt_token_ids;
	if (read_ids(&r->ids, &r->has_ids, c.token_ids, "choices[0].token_ids", e) < 0 ||
	    read_prompt_ids(r, ids, "prompt_token_ids", e) < 0)
		return -1;
	return r->has_ids ? 0 : read_logprobs(r, c.logprobs, e);
}

static void forget(struct serve_reply *r)
{
	struct ints ids = r->ids, prompt_ids = r->prompt_ids;
	struct span sent = r->sent;

	ids.n = prompt_ids.n = 0;
	*r = (struct serve_reply){
	    .ids = ids,
	    .prompt_ids = prompt_ids,
	    .sent = sent,
	    .prompt_tokens = -1,
	    .completion_tokens = -1,
	    .matched = -1,
	    .retractions = -1,
	};
}

/* Strings that go into the user's records must be what JSON allows. */
static int check_text(struct span v, const char *name, struct err *e)
{
	if (!v.p || lax_strict(v, e) == 0)
		return 0;
	e->class = "reply";
	return err_prefix(e, "%s: ", name);
}

static int check_texts(const struct serve_reply *r, struct err *e)
{
	if (check_text(r->content, "content", e) < 0 ||
	    check_text(r->reasoning, "reasoning_content", e) < 0 ||
	    check_text(r->tool_calls, "tool_calls", e) < 0)
		return -1;
	return check_text(r->weight_version, "weight_version", e);
}

int serve_reply_read(struct serve_reply *r, enum serve_route route, struct span body, struct err *e)
{
	struct top t = {0};
	struct span v;
	struct buf msg = {0};
	int rc;

	forget(r);
	if (lax_whole(body, &v) < 0 || *v.p != '{')
		return err_set(e, "reply", "the reply is not one whole JSON object");
	lax_fields(v, top_fields, COUNT(top_fields), &t);
	if (t.error.p || lax_is(t.object, "error")) {
		serve_error_read(&msg, v);
		err_set(e, "reply", "the server says: %s", buf_cstr(&msg));
		buf_free(&msg);
		return -1;
	}
	switch (route) {
	case ROUTE_SGLANG:
	case ROUTE_STATES_SGLANG: rc = read_sglang(r, &t, e); break;
	case ROUTE_LLAMACPP: rc = read_llamacpp(r, &t, e); break;
	default: rc = read_openai(r, &t, route == ROUTE_CHAT, e); break;
	}
	if (rc < 0) {
		e->class = "reply";
		return -1;
	}
	return check_texts(r, e);
}

void serve_reply_free(struct serve_reply *r)
{
	ints_free(&r->ids);
	ints_free(&r->prompt_ids);
}

static enum serve_found check_prompt(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e)
{
	int known = sent->ids || r->echoed, echo = r->has_prompt_ids && !r->echoed;
	size_t n = known ? sent->n : r->prompt_ids.n;

	if (r->truncated || (known && r->prompt_tokens >= 0 && (size_t)r->prompt_tokens < n) ||
	    (known && echo && r->prompt_ids.n < n)) {
		err_set(e, "reply", "the server cut the prompt: %zu ids sent, %lld used", n,
		    (long long)(echo && r->prompt_ids.n < n ? (int64_t)r->prompt_ids.n
							    : r->prompt_tokens));
		return FOUND_CUT;
	}
	if (sent->ids && echo && !ints_eq(&r->prompt_ids, sent->ids, sent->n)) {
		err_set(e, "reply", "prompt_token_ids are not the ids that were sent");
		return FOUND_MISMATCH;
	}
	if ((known || r->has_prompt_ids) && r->prompt_tokens >= 0 &&
	    (size_t)r->prompt_tokens != n) {
		err_set(e, "reply", "prompt_tokens is %lld for %zu ids",
		    (long long)r->prompt_tokens, n);
		return FOUND_MISMATCH;
	}
	return FOUND_GOOD;
}

static enum serve_found check_length(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e)
{
	int64_t all = r->completion_tokens + (r->prompt_tokens > 0 ? r->prompt_tokens : 0);

	if (r->completion_tokens < 0 || (uint64_t)r->completion_tokens == sent->max_new_tokens)
		return FOUND_GOOD;
	/* vLLM ends where all is full, SGLang's scheduler two tokens before that */
	if ((uint64_t)r->completion_tokens < sent->max_new_tokens &&
	    (sent->room < 0 || all >= sent->room - 2))
		return FOUND_GOOD;
	err_set(e, "reply", "stopped for length after %lld tokens of %llu",
	    (long long)r->completion_tokens, (unsigned long long)sent->max_new_tokens);
	return FOUND_MISMATCH;
}

static enum serve_found check_ids(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e)
{
	if (sent->want_ids && (!r->has_ids || (sent->want_prompt_ids && !r->has_prompt_ids))) {
		err_set(e, "reply", "the server gives no %s",
		    r->has_ids ? "prompt_token_ids" : "token ids");
		return FOUND_NO_IDS;
	}
	if (r->has_ids && r->completion_tokens >= 0 && r->ids.n != (size_t)r->completion_tokens) {
		err_set(e, "reply", "completion_tokens is %lld for %zu ids",
		    (long long)r->completion_tokens, r->ids.n);
		return FOUND_MISMATCH;
	}
	if (r->has_ids && r->finish == FINISH_STOP && r->matched >= 0 &&
	    (r->ids.n == 0 || r->ids.v[r->ids.n - 1] != r->matched)) {
		err_set(e, "reply", "stopped by token %lld, which is not the last of the answer",
		    (long long)r->matched);
		return FOUND_MISMATCH;
	}
	return FOUND_GOOD;
}

/* A server may die and come back with others before anybody sees it away. */
static enum serve_found check_weights(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e)
{
	char has[sizeof(((struct serve_facts *)NULL)->weight_version)]; /* cut as that is */

	if (!sent->weights || !sent->weights[0] || !r->weight_version.p)
		return FOUND_GOOD;
	lax_text(has, sizeof(has), r->weight_version);
	if (strcmp(has, sent->weights) == 0)
		return FOUND_GOOD;
	err_set(e, "reply", "has weights %s, the run is with %s", has, sent->weights);
	return FOUND_WEIGHTS;
}

enum serve_found serve_reply_check(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e)
{
	enum serve_found f;
	char text[200];

	if (r->finish == FINISH_ABORT) {
		lax_text(text, sizeof(text), r->abort_message);
		err_set(e, "reply", "aborted by the server%s%s", text[0] ? ": " : "", text);
		return FOUND_ABORT;
	}
	if (r->finish == FINISH_NONE || r->finish == FINISH_OTHER) {
		err_set(e, "reply", "no finish reason%s",
		    r->finish == FINISH_NONE ? "" : " that is known");
		return FOUND_SHAPE;
	}
	if (sent->rid && r->rid.p && !lax_is(r->rid, sent->rid)) {
		err_set(e, "reply", "the answer to another request");
		return FOUND_MISMATCH;
	}
	if (r->completion_tokens == 0 || (r->has_ids && r->ids.n == 0)) {
		err_set(e, "reply", "no token was generated");
		return FOUND_EMPTY;
	}
	f = check_weights(r, sent, e);
	if (f == FOUND_GOOD)
		f = check_prompt(r, sent, e);
	if (f == FOUND_GOOD)
		f = check_ids(r, sent, e);
	if (f == FOUND_GOOD && r->finish == FINISH_LENGTH)
		f = check_length(r, sent, e);
	return f;
}

/* {"error":{"message":..}}, {"error":".."}, {"object":"error","message":..}, {"detail":..} */
int serve_error_read(struct buf *out, struct span body)
{
	struct top t = {0};
	struct span v, m;
	char text[400] = "";

	if (lax_whole(body, &v) == 0 && *v.p == '{') {
		lax_fields(v, top_fields, COUNT(top_fields), &t);
		m = t.error.p && *t.error.p == '{' ? lax_get(t.error, "message") : t.error;
		if (!m.p)
			m = t.message.p ? t.message : t.detail;
		lax_text(text, sizeof(text), m);
	}
	if (text[0])
		buf_adds(out, text);
	else
		utf8_repair(out, body.p, body.n < 200 ? body.n : 200);
	return strncmp(text, "Loading model", 13) == 0;
}
