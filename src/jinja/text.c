#define _GNU_SOURCE /* memmem, memrchr */
#include "jinja/text.h"

#include <string.h>

#include "base/utf8.h"
#include "jinja/rt.h"

/* ---- stores ---- */

static struct store *new_store(struct rt *rt, size_t cap)
{
	struct store *b = rt_alloc(rt, sizeof(*b));

	*b = (struct store){.cap = cap, .data = rt_alloc(rt, cap)};
	return b;
}

static void add_run(struct rt *rt, struct store *b, size_t n, uint32_t origin)
{
	if (b->nrun > 0 && b->run[b->nrun - 1].origin == origin) {
		b->run[b->nrun - 1].end += n;
		return;
	}
	if (b->nrun == b->caprun) {
		size_t cap = b->caprun ? b->caprun * 2 : 2;
		struct text_run *run = rt_array(rt, cap, sizeof(*run));

		if (b->nrun > 0)
			memcpy(run, b->run, b->nrun * sizeof(*run));
		b->run = run;
		b->caprun = cap;
	}
	b->run[b->nrun].end = (b->nrun > 0 ? b->run[b->nrun - 1].end : 0) + n;
	b->run[b->nrun++].origin = origin;
}

/* The run that holds byte `at` of the store. */
static size_t find_run(const struct store *b, size_t at)
{
	size_t lo = 0, hi = b->nrun;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (b->run[mid].end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int text_piece(const struct value *s, size_t at, struct text_piece *out)
{
	size_t left = s->u.s.n - at;

	if (at >= s->u.s.n)
		return 0;
	*out = (struct text_piece){s->u.s.p + at, left, s->origin};
	if (s->flags & STR_RUNS) {
		const struct store *b = s->u.s.b;
		size_t pos = (size_t)(s->u.s.p - b->data) + at;
		const struct text_run *r = &b->run[find_run(b, pos)];

		out->origin = r->origin;
		if (r->end - pos < left)
			out->n = r->end - pos;
	}
	return 1;
}

void text_slice(const struct value *s, size_t at, size_t n, struct value *out)
{
	*out = *s;
	out->u.s.p += at;
	out->u.s.n = n;
}

/* ---- building ---- */

void text_begin(struct text *t, struct rt *rt, size_t expect)
{
	*t = (struct text){.rt = rt};
	if (rt_room(rt, expect, 1) < 0) {
		t->bad = 1;
		expect = 0;
	}
	t->b = new_store(rt, expect < 16 ? 16 : expect);
}

static int at_end(const struct value *s)
{
	const struct store *b = s->u.s.b;

	return b && s->u.s.p + s->u.s.n == b->data + b->len;
}

/* Begins with s, in its own store where that is possible. */
void text_append(struct text *t, struct rt *rt, const struct value *s, size_t more)
{
	int grows = at_end(s);

	if (grows && s->u.s.b->cap - s->u.s.b->len >= more) {
		*t = (struct text){
		    .rt = rt, .b = s->u.s.b, .at = (size_t)(s->u.s.p - s->u.s.b->data)};
		return;
	}
	text_begin(t, rt, (s->u.s.n + more) * (grows ? 2 : 1));
	text_addv(t, s);
}

static int make_room(struct text *t, size_t n)
{
	struct store *b = t->b, *old = b;
	size_t have = b->len - t->at;

	if (t->bad || rt_step(t->rt, n) < 0)
		return -1;
	if (b->cap - b->len >= n)
		return 0;
	if (rt_room(t->rt, have + n, 2) < 0)
		return -1;
	b = new_store(t->rt, (have + n) * 2);
	t->b = b;
	for (size_t at = t->at; at < old->len;) {
		const struct text_run *r = &old->run[find_run(old, at)];

		memcpy(b->data + b->len, old->data + at, r->end - at);
		add_run(t->rt, b, r->end - at, r->origin);
		b->len += r->end - at;
		at = r->end;
	}
	t->at = 0;
	return 0;
}

void text_add(struct text *t, const char *p, size_t n, uint32_t origin)
{
	if (n == 0)
		return;
	if (make_room(t, n) < 0) {
		t->bad = 1;
		return;
	}
	memcpy(t->b->data + t->b->len, p, n);
	add_run(t->rt, t->b, n, origin);
	t->b->len += n;
}

void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s), 0);
}

void text_sub(struct text *t, const struct value *s, size_t at, size_t n)
{
	struct value piece;

	text_slice(s, at, n, &piece);
	text_addv(t, &piece);
}

void text_addv(struct text *t, const struct value *s)
{
	struct text_piece pc;

	if (!(s->flags & STR_RUNS)) {
		text_add(t, s->u.s.p, s->u.s.n, s->origin);
		return;
	}
	for (size_t at = 0; text_piece(s, at, &pc); at += pc.n)
		text_add(t, pc.p, pc.n, pc.origin);
}

int text_end(struct text *t, struct value *out)
{
	struct store *b = t->b;

	if (t->bad)
		return -1;
	value_str(out, b->data + t->at, b->len - t->at);
	out->u.s.b = b;
	if (b->len == t->at)
		return 0;
	if (b->run[b->nrun - 1].end - (b->nrun > 1 ? b->run[b->nrun - 2].end : 0) >= out->u.s.n)
		out->origin = b->run[b->nrun - 1].origin;
	else
		out->flags = STR_RUNS;
	return 0;
}

int text_concat(struct rt *rt, const struct value *a, const struct value *b, struct value *out)
{
	struct text t;

	if (b->u.s.n == 0 || a->u.s.n == 0) {
		*out = b->u.s.n == 0 ? *a : *b;
		out->flags &= (uint8_t)~STR_SAFE;
		return 0;
	}
	text_append(&t, rt, a, b->u.s.n);
	text_addv(&t, b);
	return text_end(&t, out);
}

int text_escape(struct rt *rt, const struct value *s, struct value *out)
{
	static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&#34;", "&#39;"};
	static const char special[] = "&<>\"'";
	struct text_piece pc;
	struct text t;

	if (s->flags & STR_SAFE) {
		*out = *s;
		return 0;
	}
	text_begin(&t, rt, s->u.s.n);
	for (size_t at = 0; text_piece(s, at, &pc); at += pc.n) {
		size_t from = 0;

		for (size_t i = 0; i < pc.n; i++) {
			const char *which = memchr(special, pc.p[i], 5);
			const char *by = which ? escaped[which - special] : NULL;

			if (!by)
				continue;
			text_add(&t, pc.p + from, i - from, pc.origin);
			text_add(&t, by, strlen(by), pc.origin);
			from = i + 1;
		}
		text_add(&t, pc.p + from, pc.n - from, pc.origin);
	}
	if (text_end(&t, out) < 0)
		return -1;
	out->flags |= STR_SAFE;
	return 0;
}

/* ---- searching and code points ---- */

size_t text_find(struct rt *rt, struct span hay, struct span needle, size_t from)
{
	const char *hit;

	if (from > hay.n)
		return TEXT_NONE;
	if (needle.n == 0)
		return from;
	hit = memmem(hay.p + from, hay.n - from, needle.p, needle.n);
	rt->steps += (hit ? (size_t)(hit - hay.p) - from : hay.n - from) / 32;
	return hit ? (size_t)(hit - hay.p) : TEXT_NONE;
}

static char *reversed(struct rt *rt, struct span s)
{
	char *r = rt_alloc(rt, s.n);

	for (size_t i = 0; i < s.n; i++)
		r[i] = s.p[s.n - 1 - i];
	return r;
}

/* Backwards, so that it is as linear as forwards. */
size_t text_rfind(struct rt *rt, struct span hay, struct span needle)
{
	const char *h, *hit;

	if (needle.n > hay.n)
		return TEXT_NONE;
	if (needle.n <= 1) {
		hit = needle.n ? memrchr(hay.p, *needle.p, hay.n) : hay.p + hay.n;
		return hit ? (size_t)(hit - hay.p) : TEXT_NONE;
	}
	h = reversed(rt, hay);
	rt->steps += hay.n / 32;
	hit = memmem(h, hay.n, reversed(rt, needle), needle.n);
	return hit ? hay.n - (size_t)(hit - h) - needle.n : TEXT_NONE;
}

/* Unicode White_Space and the four separators that Python adds. */
int text_is_space(uint32_t cp)
{
	if (cp <= 0x20)
		return cp == 0x20 || (cp >= 0x09 && cp <= 0x0d) || (cp >= 0x1c && cp <= 0x1f);
	return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
	       cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

size_t text_space_left(struct span s)
{
	size_t i = 0;

	while (i < s.n) {
		uint32_t cp;
		size_t len = utf8_decode(s.p + i, s.n - i, &cp);

		if (len == 0 || !text_is_space(cp))
			break;
		i += len;
	}
	return i;
}

size_t text_last(struct span s, uint32_t *cp)
{
	size_t n = 1;

	while (n < 4 && n < s.n && ((unsigned char)s.p[s.n - n] & 0xc0) == 0x80)
		n++;
	utf8_decode(s.p + s.n - n, n, cp);
	return n;
}

size_t text_space_right(struct span s)
{
	size_t all = s.n;

	while (s.n > 0) {
		uint32_t cp = 0;
		size_t len = text_last(s, &cp);

		if (!text_is_space(cp))
			break;
		s.n -= len;
	}
	return all - s.n;
}

size_t text_offset(struct span s, size_t chars)
{
	size_t i = 0;

	for (; chars > 0 && i < s.n; chars--) {
		size_t len = utf8_len(s.p + i, s.n - i);

		i += len ? len : 1;
	}
	return i;
}
