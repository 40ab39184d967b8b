#include "json/rec.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/scan.h"

static struct rec_member *add_member(struct rec *r)
{
	r->m = xgrow(r->m, &r->cap, r->n + 1, sizeof(*r->m));
	return &r->m[r->n++];
}

/* p at a key's quote: notes one member, returns the first byte behind its value. */
static const char *read_member(struct rec *r, const struct scan *s, const char *p)
{
	struct rec_member *m = add_member(r);
	const char *q;

	if (p >= s->end || *p != '"')
		return scan_fail(s, p, "a key in double quotes");
	q = scan_string(s, p);
	if (!q)
		return NULL;
	m->key = (struct span){p + 1, (size_t)(q - p) - 2};
	r->escaped |= memchr(m->key.p, '\\', m->key.n) != NULL;
	p = scan_blanks(s, q);
	if (p >= s->end || *p != ':')
		return scan_fail(s, p, "':'");
	p = scan_blanks(s, p + 1);
	q = scan_value(s, p, JSON_MAX_DEPTH - 1);
	if (!q)
		return NULL;
	m->val = (struct span){p, (size_t)(q - p)};
	return q;
}

static const char *read_members(struct rec *r, const struct scan *s, const char *p)
{
	p = scan_blanks(s, p);
	if (p < s->end && *p == '}')
		return p + 1;
	for (;;) {
		p = read_member(r, s, p);
		if (!p)
			return NULL;
		p = scan_blanks(s, p);
		if (p < s->end && *p == '}')
			return p + 1;
		if (p >= s->end || *p != ',')
			return scan_fail(s, p, "',' or '}'");
		p = scan_blanks(s, p + 1);
	}
}

int rec_parse(struct rec *r, const char *p, size_t n, struct err *e)
{
	struct scan s = {p, p + n, e, &r->surrogate};
	size_t ok = utf8_valid(p, n);

	r->line = (struct span){p, n};
	r->n = 0;
	r->surrogate = r->escaped = 0;
	if (ok < n)
		return err_set(e, "utf8", "not UTF-8 at byte %zu", ok + 1);
	p = scan_blanks(&s, p);
	if (p < s.end && *p != '{') {
		p = scan_value(&s, p, JSON_MAX_DEPTH);
		if (p && scan_blanks(&s, p) == s.end)
			return err_set(
			    e, "type", "expected a JSON object, not %s", json_kind(r->line));
		return p ? (scan_fail(&s, scan_blanks(&s, p), "nothing more"), -1) : -1;
	}
	if (p >= s.end)
		return scan_fail(&s, p, "an object") ? 0 : -1;
	p = read_members(r, &s, p + 1);
	if (!p)
		return -1;
	p = scan_blanks(&s, p);
	return p == s.end ? 0 : (scan_fail(&s, p, "nothing behind the object"), -1);
}

void rec_free(struct rec *r)
{
	free(r->m);
	*r = (struct rec){0};
}

/* n is the name's length. */
static int key_is(const struct rec *r, struct span key, const char *name, size_t n)
{
	struct buf b = {0};
	struct span quoted = {key.p - 1, key.n + 2};
	int same;

	/* an escape is longer than what it stands for */
	if (!r->escaped || key.n <= n || !memchr(key.p, '\\', key.n))
		return key.n == n && memcmp(key.p, name, n) == 0;
	json_str(&b, quoted, NULL);
	same = span_eq((struct span){b.data ? b.data : "", b.len}, name);
	buf_free(&b);
	return same;
}

struct span rec_get(const struct rec *r, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = r->n; i-- > 0;)
		if (key_is(r, r->m[i].key, name, n))
			return r->m[i].val;
	return (struct span){0};
}

int span_is_null(struct span v)
{
	return !v.p || span_eq(v, "null");
}

/* ---- copies with changes ---- */

static const struct rec_edit *edit_of(
    const struct rec *r, struct span key, const struct rec_edit *edits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (key_is(r, key, edits[i].name, strlen(edits[i].name)))
			return &edits[i];
	return NULL;
}

/* A member's piece is all between the '{' or ',' before it and the ',' or '}' behind it, blanks
 * included. */
static const char *piece_end(const struct rec *r, const struct rec_member *m)
{
	struct scan s = {r->line.p, r->line.p + r->line.n, NULL, NULL};

	return scan_blanks(&s, m->val.p + m->val.n);
}

static void add_new(struct buf *out, const struct rec *r, const struct rec_edit *edit, int first)
{
	if (!edit->value.p || rec_get(r, edit->name).p)
		return;
	if (!first)
		buf_addc(out, ',');
	buf_add_json(out, edit->name, strlen(edit->name));
	buf_addc(out, ':');
	buf_add(out, edit->value.p, edit->value.n);
}

void rec_copy(struct buf *out, const struct rec *r, const struct rec_edit *edits, size_t n)
{
	const char *at = memchr(r->line.p, r->n ? '{' : '}', r->line.n);
	const char *end = r->line.p + r->line.n;
	size_t open;

	if (r->n > 0)
		at++;
	buf_add(out, r->line.p, (size_t)(at - r->line.p));
	open = out->len;
	for (size_t i = 0; i < r->n; i++) {
		const struct rec_member *m = &r->m[i];
		const struct rec_edit *edit = edit_of(r, m->key, edits, n);
		const char *stop = piece_end(r, m);

		if (!edit || edit->value.p) {
			struct span v = edit ? edit->value : m->val;

			if (out->len > open)
				buf_addc(out, ',');
			buf_add(out, at, (size_t)(m->val.p - at));
			buf_add(out, v.p, v.n);
			buf_add(out, m->val.p + m->val.n, (size_t)(stop - m->val.p) - m->val.n);
		}
		at = stop + (*stop == ',');
	}
	for (size_t i = 0; i < n; i++)
		add_new(out, r, &edits[i], out->len == open);
	while (*at != '}')
		at++;
	buf_add(out, at, (size_t)(end - at));
}

/* ---- values ---- */

const char *json_end(struct span text, int *surrogate)
{
	struct scan s = {text.p, text.p + text.n, NULL, surrogate};

	return scan_value(&s, text.p, JSON_MAX_DEPTH - 1);
}

int json_whole(struct span text, struct span *v, int *surrogate)
{
	struct scan s = {text.p, text.p + text.n, NULL, surrogate};
	const char *p = scan_blanks(&s, text.p);
	const char *q = scan_value(&s, p, JSON_MAX_DEPTH - 1);

	if (!q || scan_blanks(&s, q) < s.end)
		return 0;
	*v = (struct span){p, (size_t)(q - p)};
	return 1;
}

/* ---- members ---- */

const char *json_kind(struct span v)
{
	struct scan s = {v.p, v.p + v.n, NULL, NULL};
	const char *p = v.p ? scan_blanks(&s, v.p) : NULL;

	if (!p || p == s.end)
		return "nothing";
	switch (*p) {
	case '{': return "an object";
	case '[': return "an array";
	case '"': return "a string";
	case 't':
	case 'f': return "a boolean";
	case 'n': return "null";
	default: return "a number";
	}
}

int rec_str(const struct rec *r, const char *name, struct buf *out, struct err *e)
{
	struct span v = rec_get(r, name);

	if (span_is_null(v))
		return err_set(e, "missing", "%s: missing", name);
	if (json_str(out, v, NULL) < 0)
		return err_set(e, "type", "%s: expected a string, not %s", name, json_kind(v));
	return 0;
}
