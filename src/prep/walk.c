#include "prep/walk.h"

#include <string.h>

#include "base/err.h"
#include "json/rec.h"

struct span prep_walk_trim(struct span s)
{
	while (s.n && prep_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && prep_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* p is behind the opening quote; returns past the closing one. */
static const char *skip_string(const char *p, const char *end)
{
	for (;;) {
		const char *q = memchr(p, '"', (size_t)(end - p));
		const char *b = q;

		if (!q)
			return NULL;
		while (b > p && b[-1] == '\\')
			b--;
		if ((q - b) % 2 == 0)
			return q + 1;
		p = q + 1;
	}
}

static const char *skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		switch (*p++) {
		case '"':
			p = skip_string(p, end);
			if (!p)
				return NULL;
			break;
		case '{':
		case '[': depth++; break;
		case '}':
		case ']':
			if (--depth == 0)
				return p;
			break;
		default: break;
		}
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

/* rec_parse reads objects only, so the text becomes the one member of one. */
int prep_walk_check(struct rec *r, struct span text, struct span *v, struct buf *scratch)
{
	struct err e;
	const char *at;

	text = prep_walk_trim(text);
	if (!text.n)
		return 0;
	buf_reset(scratch);
	buf_adds(scratch, "{\"\":");
	buf_add(scratch, text.p, text.n);
	buf_addc(scratch, '}');
	if (rec_parse(r, scratch->data, scratch->len, &e) < 0 || r->n != 1)
		return 0;
	/* {"":1,"":2} has one member too, but its value is not the whole text */
	at = scratch->data + 4;
	if (r->m[0].val.p != at || r->m[0].val.n != text.n)
		return 0;
	*v = text;
	return 1;
}
