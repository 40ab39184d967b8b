/* Whether a rendering holds all that a turn holds.
 *
 * A template that leaves out a turn's reasoning, its content or a call would teach a shortened
 * answer. The characters of a string are known in the rendering by their origin; white space at
 * edges and think tags may have been taken off, nothing else. Where a template computes with the
 * string, so that its characters have no origin any more, its text is looked for among those that
 * have none: the same word in another string of the rendering is not this one. A layout that is
 * built in computes with none. */
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "chat/impl.h"
#include "jinja/text.h"

/* The next bytes of an origin: those of the run at hand from `at` on. */
struct found {
	const struct jinja_out *text;
	uint32_t origin;
	size_t run, at;
};

/* What is left of the run at hand, or else the next run; n is 0 at the end. */
static struct span rest_of(struct found *f)
{
	const struct jinja_out *o = f->text;

	for (; f->run < o->nruns; f->at = o->runs[f->run++].end)
		if (o->runs[f->run].origin == f->origin && f->at < o->runs[f->run].end)
			return (struct span){o->text.data + f->at, o->runs[f->run].end - f->at};
	return (struct span){0};
}

/* What may be missing at p: a tag or a blank; its length, or 0. */
static size_t droppable(const char *p, size_t n)
{
	uint32_t cp;
	size_t len = utf8_decode(p, n, &cp);

	if (n >= 8 && memcmp(p, "</think>", 8) == 0)
		return 8;
	if (n >= 7 && memcmp(p, "<think>", 7) == 0)
		return 7;
	return len > 0 && text_is_space(cp) ? len : 0;
}

/* In whole characters of b. */
static size_t common(struct span a, struct span b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	if (n > 0 && memcmp(a.p, b.p, n) == 0)
		return n;
	while (i < n && a.p[i] == b.p[i])
		i++;
	while (i > 0 && i < b.n && (b.p[i] & 0xC0) == 0x80)
		i--;
	return i;
}

static int all_there(
    struct chat_prep *p, const struct jinja_out *text, uint32_t origin, struct span want)
{
	struct found f = {text, origin, 0, 0};
	const size_t whole = want.n;
	size_t n = 1;

	while (want.n > 0 && n > 0) {
		n = common(rest_of(&f), want);
		f.at += n;
		if (n == 0)
			n = droppable(want.p, want.n);
		want.p += n;
		want.n -= n;
	}
	chat_spend(&p->steps, 1 + f.run / 16 + (whole - want.n) / 32);
	return want.n == 0;
}

/* As Python's strip does it, which templates use. */
static struct span trimmed(struct span s)
{
	size_t left = text_space_left(s);

	s = (struct span){s.p + left, s.n - left};
	s.n -= text_space_right(s);
	return s;
}

static int is_word(char c)
{
	return (c & 0x80) || c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Whether no word of the text goes on over the edges: "of" stands in <｜end▁of▁sentence｜> of any
 * answer. */
static int is_apart(struct span text, const char *at, size_t n)
{
	const char *end = at + n;

	return !(at > text.p && is_word(at[-1]) && is_word(*at)) &&
	       !(end < text.p + text.n && is_word(end[-1]) && is_word(*end));
}

/* How often `what` stands in text by itself, without overlaps; not all where the steps run out. */
static size_t occurrences(struct chat_prep *p, struct span text, struct span what)
{
	const struct span all = text;
	size_t n = 0;

	chat_spend(&p->steps, 1 + text.n / 32);
	while (text.n >= what.n && p->steps.left > 0) {
		const char *at = memchr(text.p, what.p[0], text.n - what.n + 1);
		size_t same;

		if (!at)
			break;
		text.n -= (size_t)(at - text.p);
		text.p = at;
		same = common(text, what);
		chat_spend(&p->steps, 1 + same / 32);
		n += same == what.n && is_apart(all, at, same);
		same = same == what.n ? same : 1;
		text.p += same;
		text.n -= same;
	}
	return n;
}

/* The same among the characters that no other string has. */
static size_t computed(
    struct chat_prep *p, const struct jinja_out *text, uint32_t origin, struct span what)
{
	size_t n = 0, from = 0, at = 0;

	for (size_t r = 0; r < text->nruns; at = text->runs[r++].end) {
		const struct jinja_run *run = &text->runs[r];

		if (run->origin == 0 || run->origin == origin)
			continue;
		n += occurrences(p, (struct span){text->text.data + from, at - from}, what);
		from = run->end;
	}
	return n + occurrences(p, (struct span){text->text.data + from, at - from}, what);
}

static int holds(
    struct chat_prep *p, const struct jinja_out *text, uint32_t origin, struct span want)
{
	struct span some = trimmed(want);

	if (some.n == 0)
		return 1;
	if (text->text.len == 0)
		return 0;
	return all_there(p, text, origin, want) ||
	       (!p->t->native && computed(p, text, origin, some) > 0);
}

int chat_has_text(const struct jval *content)
{
	if (!content || content->kind == J_NULL)
		return 0;
	if (content->kind == J_STR)
		return trimmed(content->u.s).n > 0;
	return content->kind == J_ARR && content->u.arr.n > 0;
}

static int content_held(
    struct chat_prep *p, const struct jinja_out *text, uint32_t origin, const struct jval *v)
{
	struct buf parts = {0};
	int rc;

	if (!chat_has_text(v))
		return 1;
	if (v->kind == J_STR)
		return holds(p, text, origin, v->u.s);
	for (size_t k = 0; k < v->u.arr.n; k++) {
		const struct jval *part = val_get(&v->u.arr.v[k], "text");

		if (part && part->kind == J_STR)
			buf_add(&parts, part->u.s.p, part->u.s.n);
	}
	rc = parts.len == 0 || holds(p, text, origin, (struct span){parts.data, parts.len});
	buf_free(&parts);
	return rc;
}

/* Kimi prints no name: the call's id has it, functions.NAME:INDEX. */
static int name_in_id(struct chat_prep *p, const struct jval *call, struct span name)
{
	const struct jval *id = val_get(call, "id");
	struct span s = id && id->kind == J_STR ? id->u.s : (struct span){"", 0};

	return name.n == 0 || occurrences(p, s, name) > 0;
}

static int call_held(
    struct chat_prep *p, const struct jinja_out *text, const struct jval *calls, size_t k)
{
	const struct jval *name = val_get(val_get(&calls->u.arr.v[k], "function"), "name");
	size_t same = 0;

	if (p->t->kimi_think)
		return name_in_id(p, &calls->u.arr.v[k], name->u.s);
	if (text->text.len == 0)
		return 0;
	if (all_there(p, text, name->origin, name->u.s))
		return 1;
	chat_spend(&p->steps, k / 4);
	for (size_t j = 0; j <= k; j++) {
		const struct jval *other = val_get(val_get(&calls->u.arr.v[j], "function"), "name");

		same += span_same(other->u.s, name->u.s) != 0;
	}
	return computed(p, text, name->origin, name->u.s) >= same;
}

static int is_off(const struct jval *kwargs, const char *key)
{
	const struct jval *v = kwargs ? val_get(kwargs, key) : NULL;

	return v && v->kind == J_FALSE;
}

static int check(struct chat_prep *p, size_t i, const struct jval *turn,
    const struct jinja_out *text, size_t *thinking_off, struct err *e)
{
	const struct jval *kw = p->conv->kwargs;
	const struct jval *reasoning = chat_reasoning(turn), *calls = val_get(turn, "tool_calls");

	if (!content_held(p, text, ORIGIN(i, SLOT_CONTENT), val_get(turn, "content")))
		return err_set(e, "lost", "messages[%zu]: the template leaves out the content", i);
	if (reasoning && !holds(p, text, ORIGIN(i, SLOT_REASONING), reasoning->u.s)) {
		if (!is_off(kw, "thinking") && !is_off(kw, "enable_thinking"))
			return err_set(
			    e, "lost", "messages[%zu]: the template leaves out the reasoning", i);
		++*thinking_off;
	}
	for (size_t k = 0; calls && k < calls->u.arr.n && p->steps.left > 0; k++)
		if (!call_held(p, text, calls, k))
			return err_set(e, "lost",
			    "messages[%zu].tool_calls[%zu]: the template leaves out the call%s", i,
			    k,
			    p->t->kimi_think
				? "'s name, which stands in its id: functions.NAME:INDEX"
				: "");
	return 0;
}

int chat_check_lost(struct chat_prep *p, size_t i, const struct jval *turn,
    const struct jinja_out *text, size_t *thinking_off, struct err *e)
{
	int rc = check(p, i, turn, text, thinking_off, e);

	return p->steps.left > 0 ? rc : chat_too_long(&p->steps, e);
}
