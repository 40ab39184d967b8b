#include "bpe/added.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bpe/unicode.h"

void added_init(struct added *a)
{
	*a = (struct added){0};
	memset(a->first, 0xFF, sizeof(a->first));
}

void added_free(struct added *a)
{
	free(a->token);
	free(a->node);
	added_init(a);
}

/* The child of `parent` (-1: of the root) for byte c, or -1. */
static int32_t child_of(const struct added *a, int32_t parent, unsigned char c)
{
	int32_t i;

	if (parent < 0)
		return a->first[c];
	for (i = a->node[parent].child; i >= 0 && a->node[i].byte != c; i = a->node[i].next)
		continue;
	return i;
}

static int32_t new_child(struct added *a, int32_t parent, unsigned char c)
{
	int32_t i = (int32_t)a->nodes;

	a->node = xgrow(a->node, &a->node_cap, a->nodes + 1, sizeof(*a->node));
	a->node[a->nodes++] = (struct added_node){c, -1, -1, -1};
	if (parent < 0) {
		a->first[c] = i;
		if (a->starts < ADDED_FIRST)
			a->start[a->starts] = c;
		a->starts++;
	} else {
		a->node[i].next = a->node[parent].child;
		a->node[parent].child = i;
	}
	return i;
}

static int space_at(struct span text, size_t at)
{
	uint32_t cp;

	return at < text.n && utf8_decode(text.p + at, text.n - at, &cp) &&
	       (uni_class(cp) & CP_SPACE);
}

void added_put(struct added *a, struct added_token t, const char *name)
{
	int32_t at = -1;

	if (t.n == 0)
		return;
	for (size_t k = 0; k < t.n; k++) {
		unsigned char c = (unsigned char)name[k];
		int32_t next = child_of(a, at, c);

		at = next >= 0 ? next : new_child(a, at, c);
	}
	if (a->node[at].token >= 0)
		return;
	a->node[at].token = (int32_t)a->n;
	a->token = xgrow(a->token, &a->cap, a->n + 1, sizeof(*a->token));
	a->token[a->n++] = t;
	a->words |= (t.flags & ADDED_SINGLE_WORD) != 0;
	a->blanks |= space_at((struct span){name, t.n}, 0);
}

/* The longest token that p[0..n) begins with, or NULL. *looked is how many bytes say so; n + 1 where
 * the end does. */
static const struct added_token *longest(
    const struct added *a, const char *p, size_t n, size_t *looked)
{
	int32_t at = -1, found = -1;
	size_t k = 0;

	do {
		at = k < n ? child_of(a, at, (unsigned char)p[k]) : -1;
		k++;
		if (at >= 0 && a->node[at].token >= 0)
			found = a->node[at].token;
	} while (at >= 0 && a->node[at].child >= 0);
	*looked = k;
	return found < 0 ? NULL : &a->token[found];
}

const struct added_token *added_find(const struct added *a, const char *name, size_t n)
{
	size_t looked;
	const struct added_token *t = longest(a, name, n, &looked);

	return t && t->n == n ? t : NULL;
}

/* Start of the character that ends at `end`, which is not 0. */
static size_t char_before(struct span text, size_t end)
{
	do
		end--;
	while (end > 0 && (text.p[end] & 0xC0) == 0x80);
	return end;
}

static int word_at(struct span text, size_t at)
{
	uint32_t cp;

	return at < text.n && utf8_decode(text.p + at, text.n - at, &cp) && uni_is_word(cp);
}

static int stands_alone(struct span text, size_t begin, size_t end)
{
	if (begin > 0 && word_at(text, char_before(text, begin)))
		return 0;
	return !word_at(text, end);
}

static void look_at(struct added_match *m, size_t end)
{
	if (end > m->reach)
		m->reach = end;
}

static void take_blanks(struct span text, unsigned flags, size_t taken, struct added_match *m)
{
	if (flags & ADDED_LSTRIP) {
		while (m->begin > taken && space_at(text, char_before(text, m->begin)))
			m->begin = char_before(text, m->begin);
		if (m->begin < taken)
			m->begin = taken;
	}
	if (flags & ADDED_RSTRIP) {
		if (m->end < taken) /* up to there all is white: the match before took it */
			m->end = taken;
		while (space_at(text, m->end))
			m->end += utf8_len(text.p + m->end, text.n - m->end);
		look_at(m, m->end + 1);
		if (m->end < text.n)
			look_at(m, m->end + utf8_len(text.p + m->end, text.n - m->end));
	}
}

/* The first byte at or behind `from` that a token begins with; text.n: none. */
static size_t find_start(
    const struct added *a, struct span text, size_t from, struct added_match *m)
{
	size_t best = text.n;

	if (a->starts > ADDED_FIRST) {
		while (from < text.n && a->first[(unsigned char)text.p[from]] < 0)
			from++;
		return from;
	}
	for (size_t i = 0; i < a->starts; i++) {
		if (m->seen[i] < from || from == 0) {
			const char *p = memchr(text.p + from, a->start[i], text.n - from);

			m->seen[i] = p ? (size_t)(p - text.p) : text.n;
		}
		if (m->seen[i] < best)
			best = m->seen[i];
	}
	return best;
}

int added_next(const struct added *a, struct span text, struct added_match *m)
{
	size_t at = m->next, taken = m->end, looked;
	const struct added_token *t;

	if (a->n == 0)
		return 0;
	for (; (at = find_start(a, text, at, m)) < text.n; at++) {
		t = longest(a, text.p + at, text.n - at, &looked);
		look_at(m, at + looked);
		if (!t)
			continue;
		m->id = t->id;
		m->flags = t->flags;
		m->begin = m->name = at;
		m->end = m->next = at + t->n;
		if (!(t->flags & ADDED_SINGLE_WORD) || stands_alone(text, at, at + t->n)) {
			take_blanks(text, t->flags, taken, m);
			if (m->begin < m->end)
				return 1;
			/* the match before took all of it: tokenizers drops what is empty */
		}
		at += t->n - 1;
	}
	return 0;
}
