/* The flat text of glaive-function-calling-v2: two columns, all structure inside the texts.
 *
 *	system = ["SYSTEM:" blanks] prose {blanks object}
 *	chat   = {turn}
 *	turn   = marker blanks body
 *	marker = "USER:" | "ASSISTANT:" | "FUNCTION RESPONSE:"
 *
 * A marker stands at the start of the text or behind a blank line; the same words elsewhere are
 * text. The objects are tool definitions, one after the other, not a list. An answer may end in
 * <|endoftext|>, and its last part may be calls: each "<functioncall>" and an object which is not
 * quite JSON (prep_call_text). Blanks around markers and bodies are format. */
#include <string.h>

#include "prep/shape.h"
#include "prep/walk.h"

static const struct {
	const char *word;
	enum prep_role role;
} markers[] = {
    {"USER:", PREP_USER},
    {"ASSISTANT:", PREP_ASSISTANT},
    {"FUNCTION RESPONSE:", PREP_TOOL},
};

static struct span from(struct span s, const char *p)
{
	return (struct span){p, (size_t)(s.p + s.n - p)};
}

/* The marker at the start of s, or -1. */
static int marker_at(struct span s)
{
	for (int i = 0; i < (int)(sizeof(markers) / sizeof(markers[0])); i++)
		if (prep_begins(s.p, s.p + s.n, markers[i].word))
			return i;
	return -1;
}

/* The first marker behind a blank line; NULL: none. */
static const char *next_marker(struct span s)
{
	const char *p = s.p, *end = s.p + s.n;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		const char *q = p + 1;

		while (q < end && (*q == '\n' || *q == '\r'))
			q++;
		if (memchr(p + 1, '\n', (size_t)(q - p - 1)) && marker_at(from(s, q)) >= 0)
			return q;
		p = q;
	}
	return NULL;
}

static struct span cut_end_mark(struct span s)
{
	static const char mark[] = "<|endoftext|>";
	size_t n = sizeof(mark) - 1;

	if (s.n >= n && !memcmp(s.p + s.n - n, mark, n))
		return prep_walk_trim((struct span){s.p, s.n - n});
	return s;
}

static const char call_word[] = "<functioncall>";

/* The calls behind the first <functioncall> of an answer, each with a word of its own. 0: a piece
 * between the words is no call; then a word stands inside of an argument, or nothing is right. */
static int read_calls(struct prep_row *r, struct span s, struct prep_msg *m)
{
	const struct prep_mark before = prep_mark_calls(r, m);

	for (;;) {
		const char *next = prep_find(s, call_word);
		struct span piece = {s.p, next ? (size_t)(next - s.p) : s.n};

		if (!prep_call_text(r, cut_end_mark(prep_walk_trim(piece)), m)) {
			prep_undo_calls(r, m, &before);
			return 0;
		}
		if (!next)
			return 1;
		s = from(s, next + sizeof(call_word) - 1);
	}
}

static void read_answer(struct prep_row *r, struct span body, struct prep_msg *m)
{
	struct span calls;
	const char *call;

	body = cut_end_mark(body);
	m->content = prep_text_plain(body);
	call = prep_find(body, call_word);
	if (!call)
		return;
	calls = from(body, call + sizeof(call_word) - 1);
	if (!read_calls(r, calls, m) && !prep_call_text(r, calls, m)) {
		prep_count(r, PREP_CALL_TEXT, 1);
		prep_note(r, "a <functioncall> without a name stays text (call-text)");
		return;
	}
	m->content.text = prep_walk_trim((struct span){body.p, (size_t)(call - body.p)});
}

/* 1, 0 cut, -1. */
static int read_turn(struct prep_row *r, enum prep_role role, struct span body)
{
	struct prep_msg m = {.role = role};

	switch (prep_conv_turn(r, role)) {
	case PREP_SKIP: return 1;
	case PREP_CUT: return 0;
	case PREP_TAKE: break;
	}
	body = prep_walk_trim(body);
	if (role == PREP_ASSISTANT)
		read_answer(r, body, &m);
	else
		m.content = prep_text_plain(body);
	return prep_conv_put(r, &m);
}

static int read_chat(struct prep_row *r, struct span chat)
{
	struct span s = prep_walk_trim(chat);
	int rc = 1;

	if (s.n && marker_at(s) < 0) {
		const char *first = next_marker(s);

		prep_conv_turn(r, PREP_UNKNOWN);
		s = from(s, first ? first : s.p + s.n);
	}
	while (rc == 1 && s.n) {
		int i = marker_at(s);
		const char *body = s.p + strlen(markers[i].word), *next;

		s = from(s, body);
		next = next_marker(s);
		if (!next)
			next = s.p + s.n;
		rc = read_turn(r, markers[i].role, (struct span){body, (size_t)(next - body)});
		s = from(s, next);
	}
	return rc;
}

/* Adds the tool definition that begins at p, if there is one: returns past it, or NULL, where it is
 * a brace of the prose. */
static const char *definition(struct prep_row *r, const char *p, const char *end)
{
	struct span v;
	const char *q = prep_inner_part(r, (struct span){p, (size_t)(end - p)}, &v);

	return q && prep_tool_add(r, v) ? q : NULL;
}

#define BRACES_TRIED 100 /* that begin no definition; a text of braces would take for ever */

/* Parts the system text: definitions to the tools, all else to prose. */
static void part_system(struct prep_row *r, struct span s, struct buf *prose)
{
	const char *p = s.p, *end = s.p + s.n, *brace, *from_here = p;
	struct span before;
	int tries = BRACES_TRIED;

	while (tries > 0 && (brace = memchr(from_here, '{', (size_t)(end - from_here)))) {
		const char *q = definition(r, brace, end);

		from_here = q ? q : brace + 1;
		if (!q) {
			tries--;
			continue;
		}
		before = prep_walk_trim_end((struct span){p, (size_t)(brace - p)});
		buf_add(prose, before.p, before.n);
		p = q;
	}
	if (!r->tools.len || prep_walk_trim(from(s, p)).n)
		buf_add(prose, p, (size_t)(end - p));
}

static int put_system(struct prep_row *r, struct span s)
{
	struct buf *prose = &r->text;
	struct span t;
	int rc = 0;

	buf_reset(prose);
	part_system(r, s, prose);
	t = (struct span){arena_dup(r->arena, prose->data, prose->len), prose->len};
	prep_tools_set(r, "system");
	if (t.n && r->rules->system_column)
		rc = prep_put_text(r, PREP_SYSTEM, prep_text_plain(t), (struct prep_text){0});
	return rc < 0 ? -1 : 0;
}

static int read_system(struct prep_row *r)
{
	static const char prefix[] = "SYSTEM:";
	struct span v = rec_get(&r->rec, "system"), s, t;

	if (span_is_null(v))
		return 0;
	if (*v.p != '"')
		return err_set(r->e, "type", "system: expected a string, not %s", json_kind(v));
	s = json_text(v, r->arena, NULL);
	t = prep_walk_trim(s);
	if (prep_begins(t.p, t.p + t.n, prefix)) {
		s = from(s, prep_find(s, prefix) + sizeof(prefix) - 1);
		while (s.n && prep_blank(*s.p))
			s = from(s, s.p + 1);
	}
	return put_system(r, s);
}

int prep_read_glaive(struct prep_row *r)
{
	struct span v = rec_get(&r->rec, "chat");

	if (span_is_null(v))
		return err_set(r->e, "missing", "chat: %s", v.p ? "null" : "missing");
	if (*v.p != '"')
		return err_set(r->e, "type", "chat: expected a string, not %s", json_kind(v));
	if (read_system(r) < 0)
		return -1;
	return read_chat(r, json_text(v, r->arena, NULL)) < 0 ? -1 : 0;
}
