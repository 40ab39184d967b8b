#include "infer/result.h"

#include <string.h>

#include "bpe/bpe.h"
#include "infer/infer.h"
#include "infer/prompt.h"
#include "serve/lax.h"
#include "json/ids.h"

int result_loops(const int32_t *ids, size_t n)
{
	for (size_t period = 1; period <= RESULT_PERIOD && period < n; period++) {
		size_t same = 0;
		size_t want = period * (RESULT_TIMES - 1);

		if (want + period < RESULT_LOOP)
			want = RESULT_LOOP - period;
		if (want + period > n)
			continue;
		while (same < want && ids[n - 1 - same] == ids[n - 1 - same - period])
			same++;
		if (same == want)
			return 1;
	}
	return 0;
}

/* A string of nothing but white space, or none. A kept escape is never one of the four. */
static int blank(struct span string)
{
	static const char *const white[] = {" ", "\\n", "\\t", "\\r"};
	const char *p, *end;

	if (!string.p || *string.p != '"')
		return 1;
	p = string.p + 1;
	end = string.p + string.n - 1;
	while (p < end) {
		size_t i = 0;

		while (i < 4 && strncmp(p, white[i], strlen(white[i])) != 0)
			i++;
		if (i == 4)
			return 0;
		p += strlen(white[i]);
	}
	return 1;
}

/* No formats here: these are made a dozen times a record. */
static void add_name(struct buf *b, const char *name)
{
	buf_adds(b, ",\"");
	buf_adds(b, name);
	buf_adds(b, "\":");
}

static void add_span(struct buf *b, const char *name, struct span v)
{
	if (!v.p)
		return;
	add_name(b, name);
	buf_add(b, v.p, v.n);
}

/* Whether each call names a function and has arguments in JSON, as text or as an object. */
static int calls_parse(struct span message)
{
	struct span calls = lax_get(message, "tool_calls"), call;
	struct buf text = {0};
	struct lax s;
	int rc = 1;

	if (!calls.p || *calls.p != '[')
		return 1;
	lax_begin(&s, calls);
	while (rc && lax_element(&s, &call)) {
		struct span f = lax_get(call, "function"), name = lax_get(f, "name");
		struct span v = lax_get(f, "arguments");
		struct err ignored;

		buf_reset(&text);
		rc = name.p && *name.p == '"';
		if (rc && v.p && *v.p == '"')
			rc = json_str(&text, v, NULL) == 0 &&
			     lax_strict((struct span){text.data, text.len}, &ignored) == 0;
	}
	buf_free(&text);
	return rc;
}

/* Marks that a server's parsers take away: where one is left in the content, reasoning and calls
 * were not told apart (no --reasoning-parser, no --tool-call-parser). */
static int has_marks(struct span content)
{
	static const char *const marks[] = {"<think>", "</think>", "<tool_call>",
	    "<minimax:tool_call>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>",
	    "<｜tool▁calls▁begin｜>", "<|channel|>"};
	struct buf text = {0};
	int found = 0;

	if (content.p && json_str(&text, content, NULL) == 0)
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && !found; i++)
			found = strstr(buf_cstr(&text), marks[i]) != NULL;
	buf_free(&text);
	return found;
}

/* The server's own parts. */
static enum status from_parts(const struct serve_reply *reply, struct buf *message)
{
	buf_adds(message, "{\"role\":\"assistant\"");
	if (reply->content.p)
		add_span(message, "content", reply->content);
	else
		buf_adds(message, reply->tool_calls.p ? ",\"content\":null" : ",\"content\":\"\"");
	add_span(message, "reasoning_content", reply->reasoning);
	add_span(message, "tool_calls", reply->tool_calls);
	buf_addc(message, '}');
	if (has_marks(reply->content))
		return STATUS_UNPARSED;
	if (reply->tool_calls.p || !blank(reply->content))
		return STATUS_OK;
	return blank(reply->reasoning) ? STATUS_EMPTY : STATUS_REASONING_ONLY;
}

static int ends_in(const struct jval *message, const char *member, struct span with)
{
	const struct jval *v = val_get(message, member);
	struct span s = v ? v->u.s : (struct span){NULL, 0};

	return s.n >= with.n && memcmp(s.p + s.n - with.n, with.p, with.n) == 0;
}

/* Whether a token that ends no turn in the folder ended the answer all the same, and was taken for
 * text. One that the user named is meant. */
static int ends_oddly(struct run *r, const struct serve_reply *reply, const struct chat_answer *a)
{
	const struct bpe *b = chat_bpe(r->chat);
	int32_t last = reply->ids.v[reply->ids.n - 1];
	struct span end = bpe_token(b, last);

	if (a->ended || reply->finish == FINISH_LENGTH || !bpe_is_special(b, last) ||
	    lax_get(r->sampling, "stop_token_ids").p ||
	    !(ends_in(&a->message, "content", end) ||
		ends_in(&a->message, "reasoning_content", end)))
		return 0;
	r->n.odd_ends++;
	r->odd_end = last;
	return 1;
}

/* The parts by our own parser: the id route has none at the server's side. */
static int from_ids(struct run *r, struct item *it, const struct serve_reply *reply,
    struct result *a, struct err *e)
{
	static const enum status statuses[] = {
	    [ANSWER_OK] = STATUS_OK,
	    [ANSWER_EMPTY] = STATUS_EMPTY,
	    [ANSWER_REASONING_ONLY] = STATUS_REASONING_ONLY,
	    [ANSWER_UNPARSED] = STATUS_UNPARSED,
	};
	static const struct val_style compact = {.item = ",", .key = ":", .indent = -1};
	struct chat_answer out = {0};
	struct chat_conv conv = {0};

	if (prompt_conv(r, it, &conv, e) < 0 ||
	    chat_answer(r->chat, r->work, &conv, conv.n, &reply->ids, &r->arena, &out, e) < 0)
		return -1;
	val_write(&a->message, &out.message, &compact);
	a->status = ends_oddly(r, reply, &out) ? STATUS_UNPARSED : statuses[out.status];
	return 0;
}

static void add_count(struct buf *b, const char *name, int64_t n)
{
	if (n < 0)
		return;
	add_name(b, name);
	buf_add_u64(b, (uint64_t)n);
}

static void write_generation(
    const struct run *r, const struct item *it, const struct serve_reply *reply, struct result *a)
{
	struct span sent = reply->sent;
	size_t prompt = sent.p ? it->prompt_n : reply->prompt_ids.n;
	struct buf *b = &a->generation;
	enum serve_finish f = reply->finish;
	struct span message = {a->message.data, a->message.len};

	if (f == FINISH_STOP && lax_get(message, "tool_calls").p)
		f = FINISH_TOOL_CALLS;
	buf_addf(b, "{\"finish_reason\":\"%s\",\"status\":\"%s\"", serve_finish_name(f),
	    infer_statuses[a->status]);
	add_count(b, "prompt_tokens",
	    reply->prompt_tokens >= 0 ? reply->prompt_tokens
	    : prompt		      ? (int64_t)prompt
				      : -1);
	add_count(b, "completion_tokens",
	    reply->completion_tokens >= 0 ? reply->completion_tokens
	    : reply->has_ids		  ? (int64_t)reply->ids.n
					  : -1);
	add_span(b, "prompt_token_ids", sent);
	if (!sent.p && prompt) {
		add_name(b, "prompt_token_ids");
		ids_write(b, reply->prompt_ids.v, prompt);
	}
	if (reply->has_ids) {
		add_name(b, "output_ids");
		ids_write(b, reply->ids.v, reply->ids.n);
	}
	add_name(b, "model");
	buf_add_json(b, r->model, strlen(r->model));
	add_span(b, "weight_version", reply->weight_version);
	add_span(b, "sampling", r->sampling);
	buf_addc(b, '}');
}

int result_make(struct run *r, struct item *it, const struct serve_reply *reply, struct result *a,
    struct err *e)
{
	*a = (struct result){0};
	if (r->chat && reply->has_ids) {
		if (from_ids(r, it, reply, a, e) < 0) {
			result_free(a);
			return -1;
		}
	} else {
		a->status = from_parts(reply, &a->message);
	}
	if (a->status == STATUS_OK && !calls_parse((struct span){a->message.data, a->message.len}))
		a->status = STATUS_UNPARSED;
	if (reply->finish == FINISH_LENGTH)
		a->status = reply->has_ids && result_loops(reply->ids.v, reply->ids.n)
				? STATUS_REPETITION
				: STATUS_LENGTH;
	write_generation(r, it, reply, a);
	return 0;
}

int result_foreign(const struct run *r, const struct serve_reply *reply, struct err *e)
{
	size_t n = reply->ids.n, i = 0;

	if (!r->chat || !reply->has_ids)
		return 0;
	if (n > 0 && chat_is_end(r->chat, reply->ids.v[n - 1]))
		n--; /* known by the folder's settings, whatever its tokenizer says */
	while (i < n && bpe_token(chat_bpe(r->chat), reply->ids.v[i]).p)
		i++;
	if (i == n)
		return 0;
	err_set(e, "config",
	    "the server's answer has id %d, which --model %s has not: is that the folder of the "
	    "model served (%s)?",
	    (int)reply->ids.v[i], r->o->model, r->model);
	return 1;
}

void result_free(struct result *a)
{
	buf_free(&a->message);
	buf_free(&a->generation);
}
