#include "prep/text.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "prep/walk.h"
#include "json/rec.h"

struct prep_text prep_text_of(struct span v, struct arena *a)
{
	struct prep_text t = {.lit = v, .text = {v.p + 1, v.n - 2}};
	struct buf b;

	if (!memchr(t.text.p, '\\', t.text.n))
		return t;
	b = (struct buf){.data = arena_alloc(a, v.n), .cap = v.n}; /* all that json_str asks for */
	json_str(&b, v, NULL);
	t.text = (struct span){b.data, b.len};
	return t;
}

struct prep_text prep_text_plain(struct span decoded)
{
	return (struct prep_text){.text = decoded};
}

void prep_text_write(struct buf *out, const struct prep_text *t)
{
	if (t->lit.p)
		buf_add(out, t->lit.p, t->lit.n);
	else
		buf_add_json(out, t->text.p ? t->text.p : "", t->text.n);
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

/* Whether p[0..64) holds "\\ud" or "\\uD", which all halves of pairs begin with. One fixed loop, so
 * that the compiler takes many bytes at a time. p[64] and p[65] are read too. */
static int may_hold_half(const char *p)
{
	int found = 0;

	for (int i = 0; i < 64; i++)
		found |= (p[i] == '\\') & (p[i + 1] == 'u') & ((p[i + 2] | 0x20) == 'd');
	return found;
}

/* The next half of a pair in a string, be it alone or not. A backslash that stands behind an odd
 * number of others is their escape's, not the beginning of one. */
static const char *any_half(const char *start, const char *p, const char *end)
{
	for (; end - p >= 6; p++) {
		const char *b = p;

		while (end - p >= 66 && !may_hold_half(p))
			p += 64;
		p = memchr(p, '\\', (size_t)(end - p));
		if (!p)
			return NULL;
		if (end - p < 6 || p[1] != 'u' || (p[2] | 0x20) != 'd' ||
		    escape_at(p, end) < 0xD800)
			continue;
		for (b = p; b > start && b[-1] == '\\'; b--)
			;
		if ((p - b) % 2 == 0)
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
	const char *p = s.p, *end = s.p + s.n;

	if (!n || s.n < n)
		return NULL;
	while ((size_t)(end - p) >= n && (p = memchr(p, what[0], (size_t)(end - p) - n + 1))) {
		if (!memcmp(p, what, n))
			return p;
		p++;
	}
	return NULL;
}

static int begins(const char *p, const char *end, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(end - p) >= n && !memcmp(p, what, n);
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
	if (q == p + 2 || !begins(q, end, "|>"))
		return 0;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (begins(p, end, plain[i]))
			return 0;
	return 1;
}

#define FULLWIDTH_BAR "\xEF\xBD\x9C" /* U+FF5C */

static void angle_marks(struct span s, struct prep_marks *m)
{
	const char *p = s.p, *end = s.p + s.n;

	while ((p = memchr(p, '<', (size_t)(end - p)))) {
		if (begins(p, end, "<|"))
			m->special += (size_t)bar_token(p, end);
		else if (begins(p, end, "<" FULLWIDTH_BAR))
			m->special++;
		else if (begins(p, end, "<think>"))
			m->think++;
		else if (begins(p, end, "</think>"))
			m->think_end++;
		p++;
	}
}

static void bracket_marks(struct span s, struct prep_marks *m)
{
	static const char *const words[] = {"[BOS]", "[EOS]", "[EOT]", "[PAD]", "[UNK]"};
	const char *p = s.p, *end = s.p + s.n;

	while ((p = memchr(p, '[', (size_t)(end - p)))) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			m->special += (size_t)begins(p, end, words[i]);
		p++;
	}
}

void prep_marks_of(struct span decoded, struct prep_marks *m)
{
	*m = (struct prep_marks){0};
	if (!decoded.n)
		return;
	angle_marks(decoded, m);
	bracket_marks(decoded, m);
}

int prep_has_call(struct span decoded)
{
	static const char *const marks[] = {
	    "<tool_call>", "<function=", "<functioncall>", "<|tool_call_begin|>", "[TOOL_CALLS]"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (decoded.n && prep_find(decoded, marks[i]))
			return 1;
	return 0;
}
