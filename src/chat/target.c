/* What the model wrote in a turn, as text.
 *
 * A template renders finished conversations; what it prints for the last answer is what the model
 * wrote only if the rendering goes on where the prompt ends. Where a template rewrites the turn,
 * these rules are tried in order, and no rule means no text, never a guess:
 *	1  Kimi with a think block: built here. Its own rendering of a finished answer begins with
 *	   the prompt and has lost the reasoning.
 *	2  the rendering of messages[0..i] behind prompt i
 *	3  the rendering of the message alone after one user message, behind that one's prompt
 *	4  a prompt that ends in <think>: reasoning, </think>, and the answer by rule 2 with
 *	   thinking off
 * each through the end-of-turn token. A model without a template has a rule of its own. */
#include <string.h>

#include "base/err.h"
#include "chat/impl.h"

static struct span text_of(const struct jinja_out *out)
{
	return (struct span){out->text.data, out->text.len};
}

static void put_value(struct jinja_out *out, const struct jval *v)
{
	if (v && v->kind == J_STR)
		chat_put(out, v->u.s.p, v->u.s.n, v->origin);
}

static void put_text(struct jinja_out *out, const char *s)
{
	chat_put(out, s, strlen(s), 0);
}

/* ---- rule 1 ---- */

static int put_kimi_content(struct jinja_out *out, const struct jval *content, struct err *e)
{
	if (!content || content->kind != J_ARR) {
		put_value(out, content);
		return 0;
	}
	for (size_t k = 0; k < content->u.arr.n; k++) {
		const struct jval *part = &content->u.arr.v[k], *text = val_get(part, "text");
		const struct jval *type = val_get(part, "type");

		if (!text || (type && !val_is_str(type, "text")))
			return err_set(
			    e, "unfaithful", "content[%zu]: a model writes text only", k);
		put_value(out, text);
	}
	return 0;
}

static void put_kimi_call(struct jinja_out *out, const struct jval *call, struct buf *scratch)
{
	const struct jval *args = val_get(val_get(call, "function"), "arguments");

	put_text(out, "<|tool_call_begin|>");
	put_value(out, val_get(call, "id"));
	put_text(out, "<|tool_call_argument_begin|>");
	if (args && args->kind == J_STR) {
		put_value(out, args);
	} else if (args) {
		buf_reset(scratch);
		val_write(scratch, args, NULL);
		chat_put(out, scratch->data, scratch->len, 0);
	}
	put_text(out, "<|tool_call_end|>");
}

static int kimi(struct chat_work *w, const struct jval *turn, int cut, struct err *e)
{
	struct span prompt = text_of(&w->prompt);
	const struct jval *calls = val_get(turn, "tool_calls");
	struct jinja_out *out = &w->target;
	int off = chat_ends(prompt, "<think></think>");

	if (!off) {
		if (!chat_ends(prompt, "<think>"))
			put_text(out, "<think>");
		put_value(out, chat_reasoning(turn));
	}
	/* cut inside its reasoning, the model wrote no more */
	if (cut && !off && !calls && !chat_has_text(val_get(turn, "content")))
		return 0;
	if (!off)
		put_text(out, "</think>");
	if (put_kimi_content(out, val_get(turn, "content"), e) < 0)
		return -1;
	if (calls) {
		put_text(out, "<|tool_calls_section_begin|>");
		for (size_t k = 0; k < calls->u.arr.n; k++)
			put_kimi_call(out, &calls->u.arr.v[k], &w->scratch);
		put_text(out, "<|tool_calls_section_end|>");
	}
	if (!cut)
		put_text(out, "<|im_end|>");
	return 0;
}

/* ---- the others ---- */

/* The name of the end-of-turn token that text ends with; p NULL: none. */
static struct span end_token(const struct chat *c, struct span text)
{
	for (size_t k = 0; k < c->ends.n; k++) {
		struct span name = bpe_token(c->bpe, c->ends.v[k]);

		if (name.p && name.n > 0 && text.n >= name.n &&
		    memcmp(text.p + text.n - name.n, name.p, name.n) == 0)
			return name;
	}
	return (struct span){0};
}

static struct span without_blanks(struct span text, size_t from)
{
	while (text.n > from && memchr(" \t\r\n", text.p[text.n - 1], 4))
		text.n--;
	return text;
}

/* Whether the template itself wrote [from, end). */
static int of_template(const struct jinja_out *text, size_t from, size_t end)
{
	size_t r = 0;

	while (r < text->nruns && text->runs[r].end <= from)
		r++;
	return r < text->nruns && text->runs[r].origin == 0 && text->runs[r].end >= end;
}

/* full through the token that ended the turn, which *end gets; p NULL: none is there. A template may
 * put the end of the text behind the end of its last turn, as Phi's does: the model stopped at the
 * first. */
static struct span through_end(
    const struct chat *c, const struct jinja_out *full, size_t prompt, struct span *end)
{
	struct span text = without_blanks(text_of(full), prompt), token = end_token(c, text);

	*end = token;
	while (token.p && text.n - prompt >= token.n) {
		struct span before = {text.p, text.n - token.n};

		before = without_blanks(before, prompt);
		token = end_token(c, before);
		if (!token.p || before.n - prompt < token.n ||
		    !of_template(full, before.n - token.n, before.n))
			break;
		text = before;
		*end = token;
	}
	return text;
}

/* The last run of out is of a message: nothing that the template added stands behind it. */
static int ends_in_message(const struct jinja_out *out)
{
	return out->nruns > 0 && out->runs[out->nruns - 1].origin != 0;
}

/* full is prompt and a turn; leaves the turn through its end-of-turn token in w->target. */
static int cut_out(
    struct chat_work *w, const struct jinja_out *full, size_t prompt, int calls, int cut)
{
	struct span end, text = through_end(w->c, full, prompt, &end);

	if (end.p && text.n - prompt >= end.n && !cut) {
		chat_cut(&w->target, full, prompt, text.n);
		return 0;
	}
	if (!end.p && w->c->role_ends && !cut) {
		chat_cut(&w->target, full, prompt, full->text.len);
		put_text(&w->target, calls ? "<|observation|>" : "<|user|>");
		return 0;
	}
	if (!cut || text.n - prompt < end.n)
		return -1;
	chat_cut(&w->target, full, prompt, text.n - end.n);
	return ends_in_message(&w->target) ? 0 : -1;
}

static int begins_with(const struct jinja_out *full, const struct jinja_out *prompt)
{
	return full->text.len >= prompt->text.len &&
	       memcmp(full->text.data, prompt->text.data, prompt->text.len) == 0;
}

/* What the rules are tried on. */
struct turn {
	struct chat_prep *p;
	struct jval *messages; /* the last is the turn */
	size_t n;
	int calls, cut;
};

/* 0 done, 1 the rule does not apply, -1. The prompt is w->prompt, or rendered for the purpose. */
static int from_render(
    struct chat_work *w, const struct turn *t, int own_prompt, int thinking_off, struct err *e)
{
	struct chat_ask ask = {.messages = t->messages,
	    .n = t->n,
	    .tools = t->p->tools,
	    .tools_ts = t->p->tools_ts,
	    .kwargs = t->p->conv->kwargs,
	    .thinking_off = thinking_off,
	    .memo = t->messages == t->p->hist && !own_prompt ? t->p->memo : NULL,
	    .steps = &t->p->steps};
	const struct jinja_out *prompt = &w->prompt;

	if (chat_render(w->c, t->p->t, &ask, t->p->a, &w->full, e) < 0)
		return -1;
	if (own_prompt) {
		ask.n--;
		ask.prompt = 1;
		if (chat_render(w->c, t->p->t, &ask, t->p->a, &w->aux, e) < 0)
			return -1;
		prompt = &w->aux;
	}
	if (!begins_with(&w->full, prompt))
		return 1;
	return cut_out(w, &w->full, prompt->text.len, t->calls, t->cut) < 0 ? 1 : 0;
}

/* A template that can't render it in another way has no say, if it only could have. */
static int no_say(const struct turn *t, int rc)
{
	return rc < 0 && t->p->steps.left > 0 ? 1 : rc;
}

/* Rule 3. */
static int alone(struct chat_work *w, const struct turn *t, const struct jval *turn, struct err *e)
{
	struct jmember user[] = {{SPAN("role"), {.kind = J_STR, .u.s = SPAN("user")}},
	    {SPAN("content"), {.kind = J_STR, .u.s = SPAN("x")}}};
	struct jval two[] = {{.kind = J_OBJ, .u.obj = {user, 2}}, *turn};
	struct turn short_turn = {t->p, two, 2, t->calls, t->cut};

	return no_say(t, from_render(w, &short_turn, 1, 0, e));
}

/* Rule 4. */
static int around_think(
    struct chat_work *w, const struct turn *t, const struct jval *turn, struct err *e)
{
	struct jinja_out answer;
	int rc;

	if (!chat_ends(text_of(&w->prompt), "<think>") || t->calls || t->cut)
		return 1;
	rc = no_say(t, from_render(w, t, 1, 1, e));
	if (rc != 0)
		return rc;
	answer = w->target; /* the buffers of target and aux change places */
	w->target = w->aux;
	w->aux = answer;
	buf_reset(&w->target.text);
	w->target.nruns = 0;
	put_value(&w->target, chat_reasoning(turn));
	put_text(&w->target, "</think>");
	for (size_t k = 0, at = 0; k < w->aux.nruns; at = w->aux.runs[k++].end)
		chat_put(&w->target, w->aux.text.data + at, w->aux.runs[k].end - at,
		    w->aux.runs[k].origin);
	return 0;
}

/* Rules 2 to 4. */
static int rendered(struct chat_work *w, struct chat_prep *p, size_t i, const struct jval *turn,
    int cut, struct err *e)
{
	struct turn t = {p, p->hist, i + 1, val_get(turn, "tool_calls") != NULL, cut};
	struct jval kept = p->hist[i];
	int rc;

	p->hist[i] = *turn;
	rc = from_render(w, &t, 0, 0, e);
	if (rc > 0)
		rc = alone(w, &t, turn, e);
	if (rc > 0)
		rc = around_think(w, &t, turn, e);
	p->hist[i] = kept;
	return rc;
}

int chat_target(struct chat_work *w, struct chat_prep *p, size_t i, const struct jval *turn,
    int cut, struct err *e)
{
	int rc;

	buf_reset(&w->target.text);
	w->target.nruns = 0;
	if (p->t->kimi_think) {
		rc = kimi(w, turn, cut, e);
		return rc < 0 ? err_prefix(e, "messages[%zu].", i) : 0;
	}
	rc = p->t->native ? p->t->native->target(w, p, i, turn, cut, e)
			  : rendered(w, p, i, turn, cut, e);
	if (rc > 0)
		return err_set(e, "unfaithful",
		    "messages[%zu]: the template's rendering of the turn does not go on where its "
		    "prompt ends, or not through an end-of-turn token; what the server sampled "
		    "(generations[].output_ids) needs no rendering",
		    i);
	return rc;
}
