/* A served answer's ids to a message. */
#include "chat/answer.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"
#include "chat/impl.h"

/* The first whose tokens the vocabulary has. */
static const struct answer_family families[] = {
    {"kimi", {"<|im_middle|>", "<|tool_calls_section_begin|>"}, answer_kimi},
    {"gpt-oss", {"<|channel|>", "<|call|>"}, answer_gptoss},
    {"deepseek", {"<｜tool▁calls▁begin｜>"}, answer_deepseek},
    {"glm", {"[gMASK]", "<|observation|>"}, answer_glm},
    {"minimax", {"[e~["}, answer_minimax},
    {"qwen", {"<|im_start|>", "<|im_end|>"}, answer_qwen},
};

static int32_t special(const struct chat *c, const char *name)
{
	return bpe_special(c->bpe, name, strlen(name));
}

static int plain(const struct answer_text *t, struct answer_parts *out)
{
	out->content = t->text;
	return 0;
}

static const struct answer_family *family_of(const struct chat *c)
{
	static const struct answer_family other = {"other", {NULL}, plain};
	static const struct answer_family dsml = {"dsml", {NULL}, answer_dsml};

	if (c->plain.native)
		return &dsml;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		size_t k = 0;

		while (k < 3 && families[i].tokens[k] && special(c, families[i].tokens[k]) >= 0)
			k++;
		if (k == 3 || !families[i].tokens[k])
			return &families[i];
	}
	return &other;
}

/* ---- for the readers ---- */

size_t answer_find(const struct answer_text *t, const char *name, size_t from)
{
	int32_t id = special(t->c, name);

	if (id < 0)
		return chat_find(t->text, name, from);
	for (size_t k = 0; k < t->nmarks; k++)
		if (t->marks[k].id == id && t->marks[k].at >= from)
			return t->marks[k].at;
	return SIZE_MAX;
}

int answer_at(const struct answer_text *t, const char *name, size_t at, size_t *behind)
{
	if (answer_find(t, name, at) != at)
		return 0;
	*behind = at + strlen(name);
	return 1;
}

struct span answer_cut(const struct answer_text *t, size_t from, size_t end)
{
	return (struct span){t->text.p + from, end - from};
}

struct span answer_strip(struct span s, const char *bytes)
{
	while (s.n > 0 && s.p[0] != '\0' && strchr(bytes, s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && s.p[s.n - 1] != '\0' && strchr(bytes, s.p[s.n - 1]))
		s.n--;
	return s;
}

int answer_between(struct span *s, const char *before, const char *behind, struct span *out)
{
	size_t n = strlen(before), end;

	if (s->n < n || memcmp(s->p, before, n) != 0)
		return 0;
	end = chat_find(*s, behind, n);
	if (end == SIZE_MAX)
		return 0;
	*out = (struct span){s->p + n, end - n};
	s->p += end + strlen(behind);
	s->n -= end + strlen(behind);
	return 1;
}

static struct jval string(struct span s)
{
	return (struct jval){.kind = J_STR, .u.s = s};
}

static struct jval object(struct arena *a, size_t cap)
{
	struct jval v = {.kind = J_OBJ};

	v.u.obj.m = arena_array(a, cap, sizeof(*v.u.obj.m));
	return v;
}

static void add(struct jval *obj, const char *key, struct jval v)
{
	obj->u.obj.m[obj->u.obj.n++] = (struct jmember){{key, strlen(key)}, v};
}

void answer_call(const struct answer_text *t, struct answer_parts *out, struct span id,
    struct span name, struct span args)
{
	struct jval fn = object(t->a, 2), call = object(t->a, 3);

	add(&fn, "name", string(name));
	add(&fn, "arguments", string(args));
	if (id.n > 0)
		add(&call, "id", string(id));
	add(&call, "type", string(SPAN("function")));
	add(&call, "function", fn);
	if (out->ncalls == out->cap) {
		size_t cap = out->cap ? 2 * out->cap : 4;
		struct jval *more = arena_array(t->a, cap, sizeof(*more));

		if (out->ncalls > 0)
			memcpy(more, out->calls, out->ncalls * sizeof(*more));
		out->calls = more;
		out->cap = cap;
	}
	out->calls[out->ncalls++] = call;
}

size_t answer_think(const struct answer_text *t, struct answer_parts *out)
{
	struct span prompt = answer_strip(t->prompt, "\n");
	size_t from = 0, end;

	if (!chat_ends(prompt, "<think>")) {
		while (from < t->text.n && t->text.p[from] == '\n')
			from++;
		if (!answer_at(t, "<think>", from, &from))
			return 0;
	}
	end = answer_find(t, "</think>", from);
	out->reasoning = answer_cut(t, from, end == SIZE_MAX ? t->text.n : end);
	return end == SIZE_MAX ? SIZE_MAX : end + strlen("</think>");
}

/* ---- ids to text ---- */

/* The text of the ids, made valid UTF-8 where they end within a character, and its marks. */
static int decode(struct answer_text *t, const struct ints *ids, struct buf *raw, struct err *e)
{
	struct answer_mark *marks = arena_array(t->a, ids->n + 1, sizeof(*marks));
	struct buf text = {0};
	size_t from = 0;
	int rc = 0;

	for (size_t k = 0; k <= ids->n && rc == 0; k++) {
		if (k < ids->n && !bpe_is_special(t->c->bpe, ids->v[k]))
			continue;
		buf_reset(raw);
		if (k > from)
			rc = bpe_decode(t->c->bpe, ids->v + from, k - from, raw, e);
		utf8_repair(&text, raw->data ? raw->data : "", raw->len);
		if (k == ids->n || rc < 0)
			break;
		marks[t->nmarks++] = (struct answer_mark){text.len, ids->v[k]};
		rc = bpe_decode(t->c->bpe, ids->v + k, 1, &text, e);
		from = k + 1;
	}
	t->marks = marks;
	t->text.p = arena_strndup(t->a, text.data ? text.data : "", text.len);
	t->text.n = text.len;
	buf_free(&text);
	return rc;
}

/* ---- and back ---- */

static struct jval message(
    const struct answer_text *t, const struct answer_parts *parts, int no_content)
{
	const struct jval none = {.kind = J_NULL};
	struct jval m = object(t->a, 4), calls = {.kind = J_ARR};

	add(&m, "role", string(SPAN("assistant")));
	add(&m, "content",
	    no_content ? none : string(parts->content.p ? parts->content : (struct span){"", 0}));
	if (parts->reasoning.p)
		add(&m, "reasoning_content", string(parts->reasoning));
	if (parts->ncalls > 0) {
		calls.u.arr.v = parts->calls;
		calls.u.arr.n = parts->ncalls;
		add(&m, "tool_calls", calls);
	}
	return m;
}

/* Whether the message, rendered as message n of the conversation, is the text: all of it, or where
 * the answer was cut, its beginning. */
static int comes_back(struct chat_work *w, const struct answer_text *t,
    const struct chat_conv *conv, size_t n, const struct jval *m)
{
	struct chat_conv with = *conv;
	struct jval list = {.kind = J_ARR}, turn;
	struct chat_prep p;
	struct err why;

	list.u.arr.v = arena_array(t->a, n + 1, sizeof(list));
	memcpy(list.u.arr.v, conv->messages->u.arr.v, n * sizeof(list));
	list.u.arr.v[n] = *m;
	list.u.arr.n = with.n = n + 1;
	with.messages = &list;
	if (chat_prepare(&p, w->c, &with, t->a, &why) < 0 ||
	    chat_prepare_history(&p, n, &why) < 0 || chat_prepare_turn(&p, n, &turn, &why) < 0 ||
	    chat_target(w, &p, n, &turn, 0, &why) < 0)
		return 0;
	if (w->target.text.len < t->text.n ||
	    memcmp(w->target.text.data, t->text.p, t->text.n) != 0)
		return 0;
	if (!t->ended)
		return 1;
	for (size_t k = 0; k < w->c->ends.n; k++) {
		struct span name = bpe_token(w->c->bpe, w->c->ends.v[k]);

		if (w->target.text.len - t->text.n == name.n &&
		    memcmp(w->target.text.data + t->text.n, name.p, name.n) == 0)
			return 1;
	}
	return 0;
}

/* ANSWER_OK here only means that there is something to render. */
static enum chat_status judge(const struct answer_parts *parts)
{
	const char *blank = " \t\r\n";

	if (answer_strip(parts->content, blank).n > 0 || parts->ncalls > 0)
		return ANSWER_OK;
	return answer_strip(parts->reasoning, blank).n > 0 ? ANSWER_REASONING_ONLY : ANSWER_EMPTY;
}

/* Reads, freely and then exactly, until what was read comes back. DeepSeek V3's template prints calls
 * only of a message whose content is null. */
static void read_message(struct chat_work *w, struct answer_text *t, const struct chat_conv *conv,
    size_t n, struct chat_answer *out)
{
	struct answer_parts parts;

	for (t->exact = 0; t->exact < 2; t->exact++) {
		parts = (struct answer_parts){0};
		if (family_of(t->c)->read(t, &parts) < 0)
			break;
		out->status = judge(&parts);
		for (int null = 0; null <= (parts.ncalls > 0 && parts.content.n == 0); null++) {
			out->message = message(t, &parts, null);
			if (out->status != ANSWER_OK || comes_back(w, t, conv, n, &out->message))
				return;
		}
	}
	parts = (struct answer_parts){.content = t->text};
	out->message = message(t, &parts, 0);
	out->status = ANSWER_UNPARSED;
}

int chat_answer(const struct chat *c, struct chat_work *w, const struct chat_conv *conv, size_t n,
    const struct ints *ids, struct arena *a, struct chat_answer *out, struct err *e)
{
	struct answer_text t = {.c = c, .tools = conv->tools, .a = a};
	struct ints body = *ids;

	*out = (struct chat_answer){0};
	if (chat_prompt(c, w, conv, n, NULL, NULL, e) < 0) /* its text is in the work space */
		return -1;
	t.prompt = (struct span){w->prompt.text.data, w->prompt.text.len};
	out->ended = t.ended = body.n > 0 && chat_is_end(c, body.v[body.n - 1]);
	body.n -= (size_t)out->ended;
	if (decode(&t, &body, &w->scratch, e) < 0)
		return -1;
	read_message(w, &t, conv, n, out);
	return 0;
}
