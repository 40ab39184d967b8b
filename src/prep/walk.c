#include "prep/walk.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct span prep_walk_trim_end(struct span s)
{
	while (s.n && prep_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct span prep_walk_trim(struct span s)
{
	while (s.n && prep_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	return prep_walk_trim_end(s);
}

/* p is behind the opening quote; returns past the closing one. */
static const char *skip_string(const char *p, const char *end)
{
	for (;;) {
		const char *q = memchr(p, '"', (size_t)(end - p));

		if (!q)
			return NULL;
		if (prep_unescaped(p, q))
			return q + 1;
		p = q + 1;
	}
}

/* The next quote or bracket, or end. */
static const char *next_mark(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i quote = _mm_cmpeq_epi8(c, _mm_set1_epi8('"'));
		__m128i low = _mm_or_si128(c, _mm_set1_epi8(0x20)); /* '[' as '{', ']' as '}' */
		__m128i open = _mm_cmpeq_epi8(low, _mm_set1_epi8('{'));
		__m128i close = _mm_cmpeq_epi8(low, _mm_set1_epi8('}'));
		int stop = _mm_movemask_epi8(_mm_or_si128(quote, _mm_or_si128(open, close)));

		if (stop)
			return p + __builtin_ctz((unsigned)stop);
	}
#endif
	while (p < end && *p != '"' && (*p | 0x20) != '{' && (*p | 0x20) != '}')
		p++;
	return p;
}

static const char *skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while ((p = next_mark(p, end)) < end) {
		char c = *p++;

		if (c == '"')
			p = skip_string(p, end);
		else if ((c | 0x20) == '{')
			depth++;
		else if (--depth == 0)
			return p;
		if (!p)
			return NULL;
	}
	return NULL;
}

const char *prep_walk_skip(const char *p, const char *end)
{
	const char *start = p;

	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p + 1, end);
	if (*p == '{' || *p == '[')
		return skip_nested(p, end);
	while (p < end && *p != ',' && *p != '}' && *p != ']' && !prep_blank(*p))
		p++;
	return p == start ? NULL : p;
}

void prep_walk_open(struct prep_walk *s, struct span v)
{
	s->p = v.p + 1;
	s->end = v.p + v.n;
}

static void skip_blanks(struct prep_walk *s)
{
	while (s->p < s->end && (prep_blank(*s->p) || *s->p == ',' || *s->p == ':'))
		s->p++;
}

int prep_walk_item(struct prep_walk *s, struct span *val)
{
	const char *q;

	skip_blanks(s);
	if (s->p >= s->end || *s->p == ']' || *s->p == '}')
		return 0;
	q = prep_walk_skip(s->p, s->end);
	if (!q)
		return 0;
	*val = (struct span){s->p, (size_t)(q - s->p)};
	s->p = q;
	return 1;
}

int prep_walk_enter(struct prep_walk *s, struct prep_walk *in)
{
	skip_blanks(s);
	if (s->p >= s->end || *s->p != '{')
		return 0;
	*in = (struct prep_walk){s->p + 1, s->end};
	return 1;
}

void prep_walk_leave(struct prep_walk *s, const struct prep_walk *in)
{
	s->p = in->p + 1;
}

int prep_walk_member(struct prep_walk *s, struct span *key, struct span *val)
{
	if (!prep_walk_item(s, key) || key->n < 2)
		return 0;
	key->p++;
	key->n -= 2;
	return prep_walk_item(s, val);
}

struct span prep_walk_get(struct span object, const char *name)
{
	struct span key, val, found = {0};
	struct prep_walk s;

	prep_walk_open(&s, object);
	while (prep_walk_member(&s, &key, &val))
		if (span_eq(key, name))
			found = val;
	return found;
}
