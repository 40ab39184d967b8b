#include "infer/conv.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "infer/tools.h"
#include "io/flow.h"
#include "serve/lax.h"
#include "json/rec.h"

static const struct {
	const char *name;
	enum role role;
} roles[] = {{"system", ROLE_SYSTEM}, {"developer", ROLE_SYSTEM}, {"user", ROLE_USER},
    {"assistant", ROLE_ASSISTANT}, {"tool", ROLE_TOOL}};

static enum role role_of(struct span message)
{
	struct span v = lax_get(message, "role");

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (lax_is(v, roles[i].name))
			return roles[i].role;
	return ROLE_OTHER;
}

static void add_item(struct buf *b, struct span json)
{
	if (b->len)
		buf_addc(b, ',');
	buf_add(b, json.p, json.n);
}

/* The record's first messages are not copied: in a window of 1,000 records that would be much. */
static void take(struct conv *c, struct span message)
{
	if (c->list.len == 0 && c->count < c->n && message.p == c->msg[c->count].json.p) {
		if (!c->asked.p)
			c->asked.p = message.p;
		c->asked.n = (size_t)(message.p - c->asked.p) + message.n;
	} else {
		add_item(&c->list, message);
	}
	c->count++;
}

static int read_messages(struct conv *c, const struct rec *r, struct err *e)
{
	struct span v = rec_get(r, "messages"), m;
	struct lax s;

	if (span_is_null(v))
		return err_set(e, "missing", "messages: missing");
	if (*v.p != '[')
		return err_set(e, "type", "messages: expected an array, not %s", json_kind(v));
	lax_begin(&s, v);
	while (lax_element(&s, &m)) {
		if (*m.p != '{')
			return err_set(e, "type", "messages[%zu]: expected an object, not %s", c->n,
			    json_kind(m));
		c->msg = xgrow(c->msg, &c->cap, c->n + 1, sizeof(*c->msg));
		c->msg[c->n++] = (struct conv_msg){m, role_of(m)};
	}
	return 0;
}

/* Everything through the last user or tool message. */
static int open_last(struct conv *c, struct err *e)
{
	size_t n = c->n;

	while (n > 0 && c->msg[n - 1].role != ROLE_USER && c->msg[n - 1].role != ROLE_TOOL)
		n--;
	if (n == 0)
		return err_set(e, "turns", "messages: no user or tool message to answer");
	for (size_t i = 0; i < n; i++)
		take(c, c->msg[i].json);
	for (size_t i = n; i < c->n; i++)
		c->dropped_bytes += c->msg[i].json.n;
	c->next = c->n;
	return 0;
}

/* What a replay can't follow is refused before anything is sent. */
static int check_replay(const struct conv *c, struct err *e)
{
	enum role before = ROLE_SYSTEM;

	for (size_t i = 0; i < c->n; i++) {
		enum role r = c->msg[i].role;
		const char *what = NULL;

		if (r == ROLE_OTHER)
			what = "a role that a replay does not know";
		else if (r == ROLE_ASSISTANT && before == ROLE_SYSTEM)
			what = "an assistant message before the first user message";
		else if (r == ROLE_USER && before == ROLE_USER)
			what = "a user message behind another";
		else if (r == ROLE_USER && before == ROLE_TOOL)
			what = "a user message behind a tool result";
		else if (r == ROLE_TOOL && before != ROLE_ASSISTANT && before != ROLE_TOOL)
			what = "a tool message without a call";
		if (what)
			return err_set(e, "turns", "messages[%zu]: %s", i, what);
		if (r != ROLE_SYSTEM)
			before = r;
	}
	if (before == ROLE_SYSTEM)
		return err_set(e, "turns", "messages: no user message to answer");
	return 0;
}

/* System and user messages up to the next answer. */
static void take_asked(struct conv *c)
{
	int user = 0;

	while (c->next < c->n &&
	       (c->msg[c->next].role == ROLE_SYSTEM || c->msg[c->next].role == ROLE_USER)) {
		user |= c->msg[c->next].role == ROLE_USER;
		take(c, c->msg[c->next++].json);
	}
	if (!user)
		c->done = 1;
}

int conv_open(struct conv *c, const struct rec *r, enum turns turns, struct err *e)
{
	*c = (struct conv){.turns = turns};
	if (read_messages(c, r, e) < 0)
		return -1;
	if (turns == TURNS_LAST)
		return open_last(c, e);
	if (check_replay(c, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (c->msg[i].role == ROLE_ASSISTANT)
			c->dropped_bytes += c->msg[i].json.n;
	take_asked(c);
	return 0;
}

void conv_free(struct conv *c)
{
	free(c->msg);
	buf_free(&c->list);
	buf_free(&c->gens);
	*c = (struct conv){0};
}

void conv_messages(const struct conv *c, struct buf *out)
{
	buf_addc(out, '[');
	buf_add(out, c->asked.p, c->asked.n);
	if (c->asked.n && c->list.len)
		buf_addc(out, ',');
	buf_add(out, c->list.data, c->list.len);
	buf_addc(out, ']');
}

void conv_record(const struct conv *c, const struct rec *r, struct buf *out)
{
	static const char *const others[] = {"id", "dataset", "tools", "chat_template_kwargs"};

	buf_adds(out, "{\"messages\":");
	conv_messages(c, out);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct span v = rec_get(r, others[i]);

		if (span_is_null(v))
			continue;
		buf_adds(out, ",\"");
		buf_adds(out, others[i]);
		buf_adds(out, "\":");
		buf_add(out, v.p, v.n);
	}
	buf_addc(out, '}');
}

/* Past the record's own answers; the last of them, whose calls have the results, in *own. */
static void skip_own(struct conv *c, struct span *own)
{
	while (c->next < c->n && c->msg[c->next].role == ROLE_ASSISTANT)
		*own = c->msg[c->next++].json;
}

/* After an answer: the results of its calls, or the next question. */
static void advance(struct conv *c, struct span message)
{
	struct span own = {NULL, 0}, calls = lax_get(message, "tool_calls");
	size_t from, n = 0;

	skip_own(c, &own);
	from = c->next;
	while (from + n < c->n && c->msg[from + n].role == ROLE_TOOL)
		n++;
	c->next += n;
	if (n == 0 && !calls.p) {
		take_asked(c);
		return;
	}
	if (n == 0 || !calls.p) {
		c->ended = calls.p ? "call_without_result" : "no_call";
		c->done = 1;
		return;
	}
	c->other_arguments = tools_answer(c, calls, lax_get(own, "tool_calls"), &c->msg[from], n);
	if (c->other_arguments < 0) {
		c->ended = "call_without_result";
		c->done = 1;
	}
}

void conv_answer(struct conv *c, struct span message, struct span generation, int last)
{
	size_t at = c->count;

	take(c, message);
	c->answers++;
	c->sum = hash64(message.p, message.n, c->sum);
	c->other_arguments = 0;
	c->done = last || c->turns == TURNS_LAST;
	if (!c->done)
		advance(c, message);
	if (c->gens.len)
		buf_addc(&c->gens, ',');
	buf_adds(&c->gens, "{\"message\":");
	buf_add_u64(&c->gens, at);
	if (c->ended)
		buf_addf(&c->gens, ",\"ended\":\"%s\"", c->ended);
	if (c->other_arguments > 0)
		buf_addf(&c->gens, ",\"other_arguments\":%d", c->other_arguments);
	buf_addc(&c->gens, ',');
	buf_add(&c->gens, generation.p + 1, generation.n - 1);
}

void conv_progress(const struct conv *c, struct buf *out)
{
	buf_addf(out, "{\"next\":%zu,\"messages\":", c->next);
	conv_messages(c, out);
	buf_adds(out, ",\"generations\":[");
	buf_add(out, c->gens.data, c->gens.len);
	buf_adds(out, "]}");
}

/* What the array holds, between commas. */
static size_t set_list(struct buf *to, struct span array)
{
	struct span v;
	struct lax s;
	size_t n = 0;

	buf_reset(to);
	lax_begin(&s, array);
	while (lax_element(&s, &v)) {
		add_item(to, v);
		n++;
	}
	return n;
}

static size_t count(struct span array)
{
	struct span v;
	struct lax s;
	size_t n = 0;

	lax_begin(&s, array);
	while (lax_element(&s, &v))
		n++;
	return n;
}

/* As conv_answer sums it up: of the messages that the generations name. */
static uint64_t sum_up(struct span messages, struct span gens)
{
	struct lax m, g;
	struct span message, gen;
	uint64_t sum = 0;
	int64_t at = -1, want;

	lax_begin(&m, messages);
	lax_begin(&g, gens);
	while (lax_element(&g, &gen)) {
		want = lax_int(lax_get(gen, "message"), -1);
		while (at < want && lax_element(&m, &message))
			at++;
		if (at == want && want >= 0)
			sum = hash64(message.p, message.n, sum);
	}
	return sum;
}

/* The index of the last answer. */
static int64_t last_answer(const struct conv *c)
{
	struct buf gens = {0};
	struct span gen;
	struct lax s;
	int64_t at = -1;

	buf_addc(&gens, '[');
	buf_add(&gens, c->gens.data, c->gens.len);
	buf_addc(&gens, ']');
	lax_begin(&s, (struct span){gens.data, gens.len});
	while (lax_element(&s, &gen))
		at = lax_int(lax_get(gen, "message"), -1);
	buf_free(&gens);
	return at;
}

void conv_cut(struct conv *c, const char *why)
{
	int64_t keep = last_answer(c) + 1;
	struct buf all = {0};
	struct span v;
	struct lax s;

	conv_messages(c, &all);
	c->asked = (struct span){NULL, 0};
	buf_reset(&c->list);
	c->count = 0;
	lax_begin(&s, (struct span){all.data, all.len});
	while ((int64_t)c->count < keep && lax_element(&s, &v)) {
		add_item(&c->list, v);
		c->count++;
	}
	buf_free(&all);
	c->gens.len--; /* the last one's brace */
	buf_addf(&c->gens, ",\"ended\":\"%s\"}", why);
	c->done = 1;
}

int conv_resume(struct conv *c, struct span progress)
{
	struct span messages = lax_get(progress, "messages");
	struct span gens = lax_get(progress, "generations");
	int64_t next = lax_int(lax_get(progress, "next"), -1);

	if (c->turns != TURNS_ALL || next < 0 || (size_t)next > c->n || !messages.p ||
	    *messages.p != '[' || !gens.p || *gens.p != '[' || count(gens) <= c->answers)
		return -1;
	c->next = (size_t)next;
	c->asked = (struct span){NULL, 0};
	c->count = set_list(&c->list, messages);
	c->answers = set_list(&c->gens, gens);
	c->sum = sum_up(messages, gens);
	return 0;
}

void conv_output(const struct conv *c, const struct rec *r, uint64_t key, struct buf *out)
{
	struct buf messages = {0}, gens = {0}, hex = {0};
	struct rec_edit edits[4];

	conv_messages(c, &messages);
	buf_addc(&gens, '[');
	buf_add(&gens, c->gens.data, c->gens.len);
	buf_addc(&gens, ']');
	buf_addc(&hex, '"');
	buf_add_hex64(&hex, key);
	buf_addc(&hex, '"');
	edits[0] = (struct rec_edit){"messages", {messages.data, messages.len}};
	edits[1] = (struct rec_edit){"generations", {gens.data, gens.len}};
	edits[2] = (struct rec_edit){"infer_key", {hex.data, hex.len}};
	edits[3] = (struct rec_edit){"reject", {NULL, 0}};
	rec_copy(out, r, edits, flow_is_reject(rec_get(r, "reject")) ? 4 : 3);
	buf_free(&messages);
	buf_free(&gens);
	buf_free(&hex);
}
