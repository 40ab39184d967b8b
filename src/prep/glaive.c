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
 * quite JSON (prep_call_text). Blanks around markers and bodies are format.
 *
 * The chat is not decoded but parted as it is spelled (prep_text_respell): its bodies are written
 * again, and only calls are looked into. */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
		if (s.n && *s.p == *markers[i].word && prep_begins(s.p, s.p + s.n, markers[i].word))
			return i;
	return -1;
}

/* ---- a text as it is spelled ---- */

/* The letter of the escape at p, or 0. */
static char letter_at(const char *p, const char *end)
{
	return end - p >= 2 && *p == '\\' ? p[1] : 0;
}

/* Bytes of the blank at p, or 0. */
static size_t blank_at(const char *p, const char *end)
{
	char c = letter_at(p, end);

	if (c == 'n' || c == 'r' || c == 't')
		return 2;
	return p < end && *p == ' ';
}

/* As prep_walk_trim. */
static struct span trim(struct span s)
{
	const char *p = s.p, *end = p + s.n;
	size_t n;

	while ((n = blank_at(p, end)))
		p += n;
	for (;;) {
		if (end > p && end[-1] == ' ')
			end--;
		else if (end - p >= 2 && blank_at(end - 2, end) == 2 && prep_unescaped(p, end - 2))
			end -= 2;
		else
			return (struct span){p, (size_t)(end - p)};
	}
}

#ifdef __SSE2__
/* A bit for each of 16 bytes at which \n\n or \n\r stands; p[16] to p[18] are read too. */
static unsigned line_ends(const char *p)
{
	__m128i slash = _mm_set1_epi8('\\'), n = _mm_set1_epi8('n'), c[4], one, two;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		c[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
	one = _mm_and_si128(_mm_cmpeq_epi8(c[0], slash), _mm_cmpeq_epi8(c[1], n));
	two = _mm_or_si128(_mm_cmpeq_epi8(c[3], n), _mm_cmpeq_epi8(c[3], _mm_set1_epi8('r')));
	two = _mm_and_si128(_mm_cmpeq_epi8(c[2], slash), two);
	return (unsigned)_mm_movemask_epi8(_mm_and_si128(one, two));
}
#endif

/* The next \n\n or \n\r, of which the first backslash may be an escaped one; NULL: none. */
static const char *next_line_ends(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 19; p += 16) {
		unsigned at = line_ends(p);

		if (at)
			return p + __builtin_ctz(at);
	}
#endif
	for (; end - p >= 4; p++)
		if (!memcmp(p, "\\n\\n", 4) || !memcmp(p, "\\n\\r", 4))
			return p;
	return NULL;
}

/* The first marker behind a blank line; NULL: none. */
static const char *next_marker(struct span s)
{
	const char *p = s.p, *end = p + s.n, *q;

	for (; (p = next_line_ends(p, end)); p = q) {
		int blank = 0;
		char c;

		q = p + 2;
		if (!prep_unescaped(s.p, p))
			continue;
		for (; (c = letter_at(q, end)) == 'n' || c == 'r'; q += 2)
			blank |= c == 'n';
		if (blank && marker_at(from(s, q)) >= 0)
			return q;
	}
	return NULL;
}

/* ---- turns ---- */

static struct span cut_end_mark(struct span s)
{
	static const char mark[] = "<|endoftext|>";
	size_t n = sizeof(mark) - 1;

	if (s.n >= n && !memcmp(s.p + s.n - n, mark, n))
		return trim((struct span){s.p, s.n - n});
	return s;
}

static const char call_word[] = "<functioncall>";

static int read_call(struct prep_row *r, struct span s, struct prep_msg *m)
{
	return prep_call_text(r, json_piece_text(s, r->arena, NULL), m);
}

/* The calls behind the first <functioncall> of an answer, each with a word of its own. 0: a piece
 * between the words is no call; then a word stands inside of an argument, or nothing is right. */
static int read_calls(struct prep_row *r, struct span s, struct prep_msg *m)
{
	const struct prep_mark before = prep_mark_calls(r, m);

	for (;;) {
		const char *next = prep_find(s, call_word);
		struct span piece = {s.p, next ? (size_t)(next - s.p) : s.n};

		if (!read_call(r, cut_end_mark(trim(piece)), m)) {
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
	m->content = prep_text_spelled(body);
	call = prep_find(body, call_word);
	if (!call)
		return;
	calls = from(body, call + sizeof(call_word) - 1);
	if (!read_calls(r, calls, m) && !read_call(r, calls, m)) {
		prep_count(r, PREP_CALL_TEXT, 1);
		prep_note(r, "a <functioncall> without a name stays text (call-text)");
		return;
	}
	m->content.lit = trim((struct span){body.p, (size_t)(call - body.p)});
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
	body = trim(body);
	if (role == PREP_ASSISTANT)
		read_answer(r, body, &m);
	else
		m.content = prep_text_spelled(body);
	prep_split_think(r, &m);
	return prep_conv_put(r, &m);
}

static int read_chat(struct prep_row *r, struct span chat)
{
	struct span s = trim(chat);
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
	prep_tools_close(r, "system");
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
	return read_chat(r, prep_text_respell(v, &r->text, r->arena)) < 0 ? -1 : 0;
}
