#include "prep/text.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "base/utf8.h"
#include "prep/walk.h"
#include "json/rec.h"

struct prep_text prep_text_of(struct span v)
{
	return prep_text_spelled(json_inside(v));
}

struct prep_text prep_text_spelled(struct span s)
{
	return (struct prep_text){.lit = s};
}

struct prep_text prep_text_plain(struct span decoded)
{
	return (struct prep_text){.text = decoded};
}

int prep_text_given(const struct prep_text *t)
{
	return t->lit.p || t->text.p;
}

int prep_text_some(const struct prep_text *t)
{
	return t->lit.n > 0 || t->text.n > 0;
}

struct span prep_text_decode(struct prep_text *t, struct arena *a)
{
	if (t->lit.p && !t->text.p)
		t->text = json_piece_text(t->lit, a, NULL);
	return t->text;
}

void prep_text_add(struct buf *out, const struct prep_text *t)
{
	if (t->lit.p && !t->text.p)
		json_piece(out, t->lit, NULL);
	else
		buf_add(out, t->text.p, t->text.n);
}

void prep_text_write(struct buf *out, const struct prep_text *t)
{
	char *to;

	if (!t->lit.p) {
		buf_add_json(out, t->text.p ? t->text.p : "", t->text.n);
		return;
	}
	to = buf_room(out, t->lit.n + 2);
	to[0] = to[t->lit.n + 1] = '"';
	memcpy(to + 1, t->lit.p, t->lit.n);
	out->len += t->lit.n + 2;
}

/* Whether p[0..64) has an escape that may stand for what needs none, or has another form. One fixed
 * loop on bytes, so that the compiler takes many at a time. p[64] is read too. */
static int may_hold_other(const char *p)
{
	unsigned char found = 0;

	for (int i = 0; i < 64; i++)
		found |= (unsigned char)((p[i] == '\\') & ((p[i + 1] == 'u') | (p[i + 1] == '/')));
	return found;
}

static int has_other(struct span s)
{
	const char *p = s.p, *end = p + s.n;

	while (end - p > 64 && !may_hold_other(p))
		p += 64;
	for (; end - p > 1; p++)
		if (*p == '\\' && (p[1] == 'u' || p[1] == '/'))
			return 1;
	return 0;
}

struct span prep_text_respell(struct span v, struct buf *work, struct arena *a)
{
	struct span s = json_inside(v), text;

	if (!has_other(s))
		return s;
	text = json_piece_text(s, a, NULL);
	buf_reset(work);
	buf_add_json(work, text.p, text.n);
	return json_inside((struct span){arena_dup(a, work->data, work->len), work->len});
}

void prep_add_json(struct buf *out, struct span json)
{
	const char *p = json.p, *end = p + json.n;
	char *to = buf_room(out, json.n);

	if (!memchr(p, '\n', json.n) && !memchr(p, '\r', json.n)) {
		buf_add(out, p, json.n);
		return;
	}
	while (p < end) {
		if (*p == '"') {
			const char *q = prep_walk_skip(p, end);

			memcpy(to, p, (size_t)(q - p));
			to += q - p;
			p = q;
		} else {
			*to = *p;
			to += (unsigned char)*p++ > ' '; /* less are blanks, outside of strings */
		}
	}
	out->len = (size_t)(to - out->data);
}

/* The value of the four hex digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int c = (unsigned char)p[i] | 0x20;
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/* A \uXXXX at p (its backslash): its value, or -1 for anything else. */
static int escape_at(const char *p, const char *end)
{
	return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
}

/* Whether p[0..64) holds "\\ud" or "\\uD", which all halves of pairs begin with. As
 * may_hold_other; p[64] and p[65] are read too. */
static int may_hold_half(const char *p)
{
	unsigned char found = 0;

	for (int i = 0; i < 64; i++)
		found |= (unsigned char)((p[i] == '\\') & (p[i + 1] == 'u') &
					 ((p[i + 2] | 0x20) == 'd'));
	return found;
}

/* The next half of a pair in a string, be it alone or not. */
static const char *any_half(const char *start, const char *p, const char *end)
{
	for (; end - p >= 6; p++) {
		while (end - p >= 66 && !may_hold_half(p))
			p += 64;
		p = memchr(p, '\\', (size_t)(end - p));
		if (!p)
			return NULL;
		if (end - p < 6 || p[1] != 'u' || (p[2] | 0x20) != 'd' ||
		    escape_at(p, end) < 0xD800)
			continue;
		if (prep_unescaped(start, p))
			return p;
	}
	return NULL;
}

static const char *lone_half(const char *start, const char *p, const char *end)
{
	while ((p = any_half(start, p, end))) {
		int low = escape_at(p + 6, end);

		if (escape_at(p, end) > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
			return p;
		p += 12;
	}
	return NULL;
}

size_t prep_fix_surrogates(struct span *line, struct arena *a)
{
	const char *at = lone_half(line->p, line->p, line->p + line->n);
	const char *end;
	char *copy;
	size_t n = 0;

	if (!at)
		return 0;
	copy = arena_dup(a, line->p, line->n);
	end = copy + line->n;
	at = copy + (at - line->p);
	for (; at; at = lone_half(copy, at, end)) {
		memcpy(copy + (at - copy) + 2, "fffd", 4);
		at += 6;
		n++;
	}
	line->p = copy;
	return n;
}

/* The length of a NaN or Infinity at p, or 0. */
static size_t no_number(const char *p, const char *end)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return n;
	}
	return 0;
}

size_t prep_fix_nan(struct span *line, struct arena *a)
{
	const char *p = line->p, *end = p + line->n;
	struct buf b = {0};
	size_t found = 0;

	while (p < end) {
		size_t n = no_number(p, end);
		const char *q = *p == '"' ? prep_walk_skip(p, end) : p + 1;

		if (n) {
			buf_adds(&b, "null");
			p += n;
			found++;
			continue;
		}
		if (!q)
			q = end;
		buf_add(&b, p, (size_t)(q - p));
		p = q;
	}
	if (found)
		*line = (struct span){arena_dup(a, b.data, b.len), b.len};
	buf_free(&b);
	return found;
}

size_t prep_fix_utf8(struct span *line, struct arena *a)
{
	struct buf b = {0};
	size_t n;

	if (utf8_valid(line->p, line->n) == line->n)
		return 0;
	n = utf8_repair(&b, line->p, line->n);
	*line = (struct span){arena_dup(a, b.data, b.len), b.len};
	buf_free(&b);
	return n;
}

const char *prep_find(struct span s, const char *what)
{
	size_t n = strlen(what);
	const char *p, *end;

	if (!n || s.n < n) /* s.p may be NULL */
		return NULL;
	p = s.p;
	end = p + s.n;
	while ((size_t)(end - p) >= n && (p = memchr(p, what[0], (size_t)(end - p) - n + 1))) {
		if (!memcmp(p, what, n))
			return p;
		p++;
	}
	return NULL;
}

#define SPECIAL_MAX 40 /* longest word between the bars that is looked for */

static int word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* p is at "<|". */
static int bar_token(const char *p, const char *end)
{
	static const char *const plain[] = {"<|begin_of_thought|>", "<|end_of_thought|>",
	    "<|begin_of_solution|>", "<|end_of_solution|>"};
	const char *q = p + 2;

	while (q < end && q - p < SPECIAL_MAX && word_char(*q))
		q++;
	if (q == p + 2 || !prep_begins(q, end, "|>"))
		return 0;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (prep_begins(p, end, plain[i]))
			return 0;
	return 1;
}

#define FULLWIDTH_BAR "\xEF\xBD\x9C" /* U+FF5C */

/* Whether a mark may begin at p, or, in a literal, an escape that may stand for a part of one. p[1]
 * is read too. */
static int may_begin(const char *p)
{
	switch (p[0]) {
	case '<': return p[1] == '|' || p[1] == 't' || p[1] == '/' || p[1] == FULLWIDTH_BAR[0];
	case '[': return p[1] == 'B' || p[1] == 'E' || p[1] == 'P' || p[1] == 'U';
	case '\\': return p[1] == 'u' || p[1] == '/';
	default: return 0;
	}
}

#ifdef __SSE2__
static __m128i is(__m128i c, char what)
{
	return _mm_cmpeq_epi8(c, _mm_set1_epi8(what));
}

static __m128i is_one_of(__m128i c, const char what[4])
{
	return _mm_or_si128(_mm_or_si128(is(c, what[0]), is(c, what[1])),
	    _mm_or_si128(is(c, what[2]), is(c, what[3])));
}
#endif

static const char *next_mark(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p > 16; p += 16) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
		__m128i angle = _mm_and_si128(is(c, '<'), is_one_of(d, "|t/" FULLWIDTH_BAR));
		__m128i bracket = _mm_and_si128(is(c, '['), is_one_of(d, "BEPU"));
		__m128i escape = _mm_and_si128(is(c, '\\'), _mm_or_si128(is(d, 'u'), is(d, '/')));
		int stop = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(angle, bracket), escape));

		if (stop)
			return p + __builtin_ctz((unsigned)stop);
	}
#endif
	while (end - p > 1 && !may_begin(p))
		p++;
	return end - p > 1 ? p : NULL;
}

static size_t bracket_token(const char *p, const char *end)
{
	static const char *const words[] = {"[BOS]", "[EOS]", "[EOT]", "[PAD]", "[UNK]"};
	size_t found = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		found += (size_t)prep_begins(p, end, words[i]);
	return found;
}

/* Whether the backslash at p, in a literal, begins an escape of ASCII or of the fullwidth bar
 * (U+FF5C). */
static int hides_mark(const char *start, const char *p)
{
	if (p[1] == 'u' && !(p[2] == '0' && p[3] == '0' && p[4] < '8') &&
	    !((p[2] | 0x20) == 'f' && (p[3] | 0x20) == 'f' && p[4] == '5' && (p[5] | 0x20) == 'c'))
		return 0;
	return prep_unescaped(start, p);
}

/* 0 where a literal has an escape that may hide a mark. */
static int count_marks(struct span s, int literal, struct prep_marks *m)
{
	const char *p = s.p, *end = s.n ? p + s.n : p; /* which may be NULL */

	*m = (struct prep_marks){0};
	while ((p = next_mark(p, end))) {
		if (*p == '\\' && literal && hides_mark(s.p, p))
			return 0;
		if (*p == '[')
			m->special += bracket_token(p, end);
		else if (prep_begins(p, end, "<|"))
			m->special += (size_t)bar_token(p, end);
		else if (prep_begins(p, end, "<" FULLWIDTH_BAR))
			m->special++;
		else if (prep_begins(p, end, "<think>"))
			m->think++;
		else if (prep_begins(p, end, "</think>"))
			m->think_end++;
		p++;
	}
	return 1;
}

/* Marks have no character that JSON escapes, but it may: as \/ or \uXXXX. Where it does neither,
 * marks stand in the literal as they do in the text. */
void prep_marks_of(struct prep_text *t, struct arena *a, struct prep_marks *m)
{
	if (t->text.p || !t->lit.p || !count_marks(t->lit, 1, m))
		count_marks(prep_text_decode(t, a), 0, m);
}

int prep_has_call(struct span decoded)
{
	static const char *const marks[] = {
	    "<tool_call>", "<function=", "<functioncall>", "<|tool_call_begin|>", "[TOOL_CALLS]"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (prep_find(decoded, marks[i]))
			return 1;
	return 0;
}
