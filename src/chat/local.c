/* Prompts put together from messages that were rendered once each.
 *
 * The prompts of one conversation begin alike, and rendering each of them whole makes a session of
 * n turns cost n^2. Kimi's templates render a message by itself: what it becomes depends only on
 * whether an answer without calls stands at or behind it (its reasoning is then history). So each
 * message is rendered alone, at most once in each of the two states, by the template itself, and
 *	prompt = the first message with the tools, the others in their states, the generation
 *prompt.
 *
 * That a template is of this kind is tried when it is opened, on every prompt of a conversation
 * that has all of it; and the last prompt of each real conversation is rendered whole too and
 * compared (turns.c). Where they differ all of its prompts are rendered whole. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/impl.h"
#include "json/rec.h"

enum { OPEN, HISTORY, STATES };

/* Text cut out of a rendering, in the arena; the ends of its runs count from its start. */
struct piece {
	const char *text;
	const struct jinja_run *runs;
	size_t n, nruns;
};

struct chat_local {
	struct chat_prep *p;
	struct piece *piece; /* STATES a message; text is NULL until it is made */
	struct piece before; /* a user message, which stands before every message rendered */
	struct piece answer; /* an answer without calls, which makes history of it */
	struct piece generation;
	/* what w->prompt is made of, where it is one of ours */
	size_t n;    /* messages */
	size_t *end; /* of each in the text */
	char *state;
};

static struct jval dummy(struct arena *a, struct span role)
{
	struct jval v = {.kind = J_OBJ};

	v.u.obj.n = 2;
	v.u.obj.m = arena_array(a, 2, sizeof(*v.u.obj.m));
	v.u.obj.m[0] = (struct jmember){SPAN("role"), {.kind = J_STR, .u.s = role}};
	v.u.obj.m[1] = (struct jmember){SPAN("content"), {.kind = J_STR, .u.s = SPAN("e3")}};
	return v;
}

static struct piece keep(struct arena *a, const struct jinja_out *of)
{
	struct piece out = {.n = of->text.len, .nruns = of->nruns};

	out.text = of->text.len ? arena_dup(a, of->text.data, of->text.len) : "";
	if (of->nruns > 0)
		out.runs = arena_dup(a, of->runs, of->nruns * sizeof(*of->runs));
	return out;
}

static int begins(const struct jinja_out *text, const struct piece *with)
{
	return with->n == 0 ||
	       (text->text.len >= with->n && memcmp(text->text.data, with->text, with->n) == 0);
}

static int ends(const struct jinja_out *text, const struct piece *with)
{
	return with->n == 0 ||
	       (text->text.len >= with->n &&
		   memcmp(text->text.data + text->text.len - with->n, with->text, with->n) == 0);
}

/* Renders messages and keeps what stands behind `before` and in front of `behind`. */
static int cut(struct chat_work *w, struct chat_local *l, const struct chat_ask *ask,
    const struct piece *behind, struct piece *out)
{
	struct chat_prep *p = l->p;
	struct err why;
	size_t end;

	if (chat_render(p->c, p->t, ask, p->a, &w->aux, &why) < 0 || !begins(&w->aux, &l->before) ||
	    (behind && !ends(&w->aux, behind)))
		return -1;
	end = w->aux.text.len - (behind ? behind->n : 0);
	if (end < l->before.n)
		return -1;
	chat_cut(&w->full, &w->aux, l->before.n, end);
	*out = keep(p->a, &w->full);
	return 0;
}

static int make(struct chat_work *w, struct chat_local *l, size_t k, int state)
{
	struct jval three[] = {
	    dummy(l->p->a, SPAN("user")), l->p->hist[k], dummy(l->p->a, SPAN("assistant"))};
	const struct chat_ask ask = {
	    three, state == HISTORY ? 3 : 2, NULL, NULL, l->p->conv->kwargs, 0, 0};

	return cut(w, l, &ask, state == HISTORY ? &l->answer : NULL,
	    &l->piece[STATES * k + (size_t)state]);
}

/* The first message, with the tools before it. */
static int make_first(struct chat_work *w, struct chat_local *l)
{
	struct chat_prep *p = l->p;
	const struct chat_ask ask = {p->hist, 1, p->tools, p->tools_ts, p->conv->kwargs, 0, 0};
	struct err why;

	if (chat_prepare_history(p, 1, &why) < 0 ||
	    chat_render(p->c, p->t, &ask, p->a, &w->aux, &why) < 0)
		return -1;
	l->piece[OPEN] = l->piece[HISTORY] = keep(p->a, &w->aux);
	return 0;
}

struct chat_local *chat_local_open(struct chat_work *w, struct chat_prep *p)
{
	struct chat_local *l = arena_alloc(p->a, sizeof(*l));
	const size_t n = p->conv->n;
	struct jval two[] = {dummy(p->a, SPAN("user")), dummy(p->a, SPAN("assistant"))};
	struct chat_ask ask = {two, 1, NULL, NULL, p->conv->kwargs, 0, 0};
	struct piece all;

	*l = (struct chat_local){.p = p};
	if (n == 0 || chat_is_role(&p->conv->messages->u.arr.v[0], "assistant"))
		return NULL;
	l->piece = arena_array(p->a, STATES * n, sizeof(*l->piece));
	memset(l->piece, 0, STATES * n * sizeof(*l->piece));
	l->end = arena_array(p->a, n, sizeof(*l->end));
	l->state = arena_alloc(p->a, n);
	if (cut(w, l, &ask, NULL, &all) < 0) /* `before` is still empty: all of it */
		return NULL;
	l->before = all;
	ask.prompt = 1;
	if (cut(w, l, &ask, NULL, &l->generation) < 0)
		return NULL;
	ask.prompt = 0;
	ask.n = 2;
	if (cut(w, l, &ask, NULL, &l->answer) < 0 || make_first(w, l) < 0)
		return NULL;
	return l;
}

static void put(struct jinja_out *out, const struct piece *piece)
{
	size_t at = 0;

	for (size_t r = 0; r < piece->nruns; at = piece->runs[r++].end)
		chat_put(out, piece->text + at, piece->runs[r].end - at, piece->runs[r].origin);
}

/* Takes off what stands behind byte n. */
static void shorten(struct jinja_out *out, size_t n)
{
	out->text.len = n;
	while (out->nruns > 0 && (out->nruns > 1 ? out->runs[out->nruns - 2].end : 0) >= n)
		out->nruns--;
	if (out->nruns > 0)
		out->runs[out->nruns - 1].end = n;
}

static int is_answer(const struct jval *m)
{
	const struct jval *calls = val_get(m, "tool_calls");

	return chat_is_role(m, "assistant") && (!calls || calls->kind != J_ARR || !calls->u.arr.n);
}

/* How many messages of w->prompt stay as they are when the first `history` of n are history. */
static size_t still_good(const struct chat_local *l, size_t history, size_t n)
{
	size_t k = 0;

	while (k < l->n && k < n && l->state[k] == (k < history ? HISTORY : OPEN))
		k++;
	return k;
}

int chat_local_prompt(struct chat_work *w, struct chat_local *l, size_t n, size_t *same)
{
	size_t history = n, k;
	struct err why;

	if (n == 0 || chat_prepare_history(l->p, n, &why) < 0)
		return -1;
	while (history > 0 && !is_answer(&l->p->hist[history - 1]))
		history--;
	k = still_good(l, history, n);
	shorten(&w->prompt, k > 0 ? l->end[k - 1] : 0);
	*same = w->prompt.text.len;
	for (l->n = k; l->n < n; l->n++) {
		int state = l->n < history ? HISTORY : OPEN;
		struct piece *piece = &l->piece[STATES * l->n + (size_t)state];

		if (!piece->text && make(w, l, l->n, state) < 0)
			return -1;
		put(&w->prompt, piece);
		l->end[l->n] = w->prompt.text.len;
		l->state[l->n] = (char)state;
	}
	put(&w->prompt, &l->generation);
	return 0;
}

/* ---- the trial ---- */

#define CALL(n)                                                                                \
	"{\"role\":\"assistant\",\"reasoning_content\":\"r" n "\",\"content\":\"c" n           \
	"\",\"tool_calls\":[{\"id\":\"functions.f:" n "\",\"type\":\"function\",\"function\":" \
	"{\"name\":\"f\",\"arguments\":\"{}\"}}]}"
#define TOOL(n)	  "{\"role\":\"tool\",\"tool_call_id\":\"functions.f:" n "\",\"content\":\"t" n "\"}"
#define ANSWER(n) "{\"role\":\"assistant\",\"reasoning_content\":\"r" n "\",\"content\":\"c" n "\"}"
#define USER(n)	  "{\"role\":\"user\",\"content\":\"u" n "\"}"

#define CONVERSATION                                                                                                                         \
	"\"messages\":[{\"role\":\"system\",\"content\":\"s\"}," USER("0") "," CALL("0") "," TOOL("0") "," CALL("1") "," TOOL("1") "," TOOL( \
	    "2") "," ANSWER("2") "," USER("1") "," ANSWER("3") "," USER("2") "," CALL("4") "," TOOL("4") "," CALL("5") "," TOOL("5") "]"

/* Every prompt of the conversation, whole and put together. */
static int try_all(struct chat_work *w, struct chat_prep *p)
{
	struct chat_local *l = chat_local_open(w, p);
	struct err why;
	size_t same;

	for (size_t n = 1; l && n <= p->conv->n; n++) {
		const struct chat_ask ask = {p->hist, n, NULL, NULL, p->conv->kwargs, 1, 0};

		if (chat_local_prompt(w, l, n, &same) < 0 ||
		    chat_render(p->c, p->t, &ask, p->a, &w->full, &why) < 0 ||
		    w->full.text.len != w->prompt.text.len ||
		    memcmp(w->full.text.data, w->prompt.text.data, w->full.text.len) != 0)
			return 0;
	}
	return l != NULL;
}

int chat_probe_local(const struct chat *c, struct chat_tmpl *t)
{
	static const char *const tries[] = {"{" CONVERSATION "}",
	    "{\"chat_template_kwargs\":{\"thinking\":false}," CONVERSATION "}",
	    "{\"chat_template_kwargs\":{\"preserve_thinking\":true}," CONVERSATION "}"};
	struct chat_work *w = chat_work_open(c);
	int good = 1;

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]) && good; i++) {
		struct arena a = {0};
		struct rec r = {0};
		struct chat_conv conv;
		struct chat_prep p;
		struct err why;

		good = rec_parse(&r, tries[i], strlen(tries[i]), &why) == 0 &&
		       chat_read(&conv, &r, &a, &why) == 0 &&
		       chat_prepare(&p, c, &conv, &a, &why) == 0;
		p.t = t;
		good = good && try_all(w, &p);
		rec_free(&r);
		arena_free(&a);
	}
	chat_work_close(w);
	return good;
}
