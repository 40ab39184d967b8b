#include "jinja/strops.h"

#include <string.h>

#include "base/utf8.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"
#include "jinja/utable.h"

static struct span span_of(const struct value *s)
{
	return (struct span){s->u.s.p, s->u.s.n};
}

/* ---- strip ---- */

#define SMALL_SET 32 /* bytes of a set that is searched as it stands */

/* A set of characters: as a string, and above SMALL_SET bytes a bit for each code point. */
struct char_set {
	struct span s;
	uint8_t *bits;
};

static void make_set(struct rt *rt, const struct value *chars, struct char_set *set)
{
	const size_t bytes = 0x110000 / 8;
	uint32_t cp = 0;

	*set = (struct char_set){.s = span_of(chars)};
	if (set->s.n <= SMALL_SET)
		return;
	set->bits = memset(rt_alloc(rt, bytes), 0, bytes);
	for (size_t i = 0, len; i < set->s.n; i += len ? len : 1) {
		len = utf8_decode(set->s.p + i, set->s.n - i, &cp);
		set->bits[cp / 8] |= (uint8_t)(1u << (cp % 8));
	}
}

static int in_set(const struct char_set *set, uint32_t cp)
{
	uint32_t other = 0;

	if (set->bits)
		return set->bits[cp / 8] >> (cp % 8) & 1;
	for (size_t i = 0, len; i < set->s.n; i += len ? len : 1) {
		len = utf8_decode(set->s.p + i, set->s.n - i, &other);
		if (other == cp)
			return 1;
	}
	return 0;
}

static size_t set_left(struct span s, const struct char_set *set)
{
	size_t i = 0;

	while (i < s.n) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s.p + i, s.n - i, &cp);

		if (len == 0 || !in_set(set, cp))
			break;
		i += len;
	}
	return i;
}

static size_t set_right(struct span s, const struct char_set *set)
{
	size_t all = s.n;

	while (s.n > 0) {
		uint32_t cp = 0;
		size_t len = text_last(s, &cp);

		if (!in_set(set, cp))
			break;
		s.n -= len;
	}
	return all - s.n;
}

int str_strip(struct rt *rt, const struct value *s, const struct value *chars, enum strip_side side,
    struct value *out)
{
	struct span all = span_of(s);
	size_t left = 0, right = 0;
	struct char_set set;

	if (chars)
		make_set(rt, chars, &set);
	if (side & STRIP_LEFT)
		left = chars ? set_left(all, &set) : text_space_left(all);
	all = (struct span){all.p + left, all.n - left};
	if (side & STRIP_RIGHT)
		right = chars ? set_right(all, &set) : text_space_right(all);
	text_slice(s, left, all.n - right, out);
	return rt_step(rt, left + right);
}

/* ---- case ---- */

static int is_cased_before(struct span s)
{
	while (s.n > 0) {
		uint32_t cp;

		s.n -= text_last(s, &cp);
		if (!u_is(U_IGNORABLE, cp))
			return u_is(U_CASED, cp);
	}
	return 0;
}

static int is_cased_after(struct span s)
{
	while (s.n > 0) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s.p, s.n, &cp);

		s = (struct span){s.p + len, s.n - len};
		if (len == 0 || !u_is(U_IGNORABLE, cp))
			return len && u_is(U_CASED, cp);
	}
	return 0;
}

/* A capital sigma at the end of a word becomes the final small one. */
static uint32_t lower_sigma(struct span all, size_t at)
{
	struct span before = {all.p, at}, after = {all.p + at + 2, all.n - at - 2};

	return is_cased_before(before) && !is_cased_after(after) ? 0x3c2 : 0x3c3;
}

static size_t map_char(struct span all, size_t at, uint32_t cp, enum str_case to, uint32_t out[3])
{
	if (to == CASE_UPPER)
		return u_upper(cp, out);
	if (to == CASE_TITLE)
		return u_title(cp, out);
	if (to == CASE_SWAP) { /* neither upper nor lower */
		out[0] = cp;
		return 1;
	}
	if (cp == 0x3a3) {
		out[0] = lower_sigma(all, at);
		return 1;
	}
	return u_lower(cp, out);
}

/* What becomes of the next character. */
static enum str_case case_now(enum str_case to, uint32_t cp, size_t at, int in_word)
{
	switch (to) {
	case CASE_CAPITALIZE: return at == 0 ? CASE_TITLE : CASE_LOWER;
	case CASE_TITLE: return in_word ? CASE_LOWER : CASE_TITLE;
	case CASE_SWAP:
		return u_is_upper(cp) ? CASE_LOWER : u_is_lower(cp) ? CASE_UPPER : CASE_SWAP;
	default: return to;
	}
}

struct casing {
	struct text t;
	struct span all;
	enum str_case to;
	int in_word;
};

/* The characters from `from` to `end`, which have one origin. */
static void case_piece(struct casing *c, size_t from, size_t end, uint32_t origin)
{
	char buf[256];
	size_t n = 0;

	for (size_t at = from; at < end;) {
		uint32_t cp = 0, mapped[3];
		size_t len = utf8_decode(c->all.p + at, c->all.n - at, &cp), k;

		k = map_char(c->all, at, cp, case_now(c->to, cp, at, c->in_word), mapped);
		c->in_word = u_is(U_CASED, cp);
		for (size_t i = 0; i < k; i++)
			n += utf8_encode(mapped[i], buf + n);
		at += len ? len : 1;
		if (n > sizeof(buf) - 16 || at >= end) {
			text_add(&c->t, buf, n, origin);
			n = 0;
		}
	}
}

int str_case(struct rt *rt, const struct value *s, enum str_case to, struct value *out)
{
	struct casing c = {.all = span_of(s), .to = to};
	struct text_piece pc;

	text_begin(&c.t, rt, s->u.s.n);
	for (size_t at = 0; text_piece(s, at, &pc); at += pc.n)
		case_piece(&c, at, at + pc.n, pc.origin);
	if (text_end(&c.t, out) < 0)
		return -1;
	out->flags |= s->flags & STR_SAFE;
	return 0;
}

/* ---- replace ---- */

/* Between all characters, at both ends too. */
static int replace_empty(
    struct rt *rt, const struct value *s, const struct str_replacement *r, struct value *out)
{
	int64_t count = r->count;
	struct text t;
	size_t at = 0;

	text_begin(&t, rt, s->u.s.n);
	for (; count != 0 && !t.bad; count -= count > 0) {
		size_t len = utf8_len(s->u.s.p + at, s->u.s.n - at);

		text_addv(&t, &r->new);
		if (at >= s->u.s.n)
			break;
		text_sub(&t, s, at, len ? len : 1);
		at += len ? len : 1;
	}
	text_sub(&t, s, at, s->u.s.n - at);
	return text_end(&t, out);
}

int str_replace(
    struct rt *rt, const struct value *s, const struct str_replacement *r, struct value *out)
{
	struct span hay = span_of(s), needle = span_of(&r->old);
	int64_t count = r->count;
	size_t from = 0, hit;
	struct text t;

	if (needle.n == 0)
		return replace_empty(rt, s, r, out);
	hit = count == 0 ? TEXT_NONE : text_find(rt, hay, needle, 0);
	if (hit == TEXT_NONE) {
		*out = *s;
		return 0;
	}
	text_begin(&t, rt, s->u.s.n);
	while (hit != TEXT_NONE && count != 0 && !t.bad) {
		text_sub(&t, s, from, hit - from);
		text_addv(&t, &r->new);
		from = hit + needle.n;
		count -= count > 0;
		hit = text_find(rt, hay, needle, from);
	}
	text_sub(&t, s, from, s->u.s.n - from);
	return text_end(&t, out);
}

/* ---- split ---- */

struct parts {
	struct rt *rt;
	struct value *v;
	size_t n, cap;
	int bad;
};

static void add_part(struct parts *p, const struct value *s, size_t at, size_t n)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 4;
		struct value *v;

		if (p->bad || rt_room(p->rt, cap, sizeof(*v)) < 0 ||
		    rt_step(p->rt, cap * sizeof(*v)) < 0) {
			p->bad = 1;
			return;
		}
		v = rt_array(p->rt, cap, sizeof(*v));
		if (p->n > 0)
			memcpy(v, p->v, p->n * sizeof(*v));
		p->v = v;
		p->cap = cap;
	}
	text_slice(s, at, n, &p->v[p->n++]);
}

static int parts_list(struct parts *p, int reversed, struct value *out)
{
	if (p->bad)
		return -1;
	for (size_t i = 0, j = p->n; reversed && i + 1 < j; i++) {
		struct value swap = p->v[i];

		p->v[i] = p->v[--j];
		p->v[j] = swap;
	}
	value_list(p->rt, V_LIST, 0, out);
	*out->u.list = (struct list){.v = p->v, .n = p->n};
	return 0;
}

static void split_at(struct parts *p, const struct value *s, struct span sep, int64_t max)
{
	size_t from = 0, hit;

	while (
	    max != 0 && !p->bad && (hit = text_find(p->rt, span_of(s), sep, from)) != TEXT_NONE) {
		add_part(p, s, from, hit - from);
		from = hit + sep.n;
		max -= max > 0;
	}
	add_part(p, s, from, s->u.s.n - from);
}

static void rsplit_at(struct parts *p, const struct value *s, struct span sep, int64_t max)
{
	struct span rest = span_of(s);
	size_t hit;

	while (max != 0 && !p->bad && (hit = text_rfind(p->rt, rest, sep)) != TEXT_NONE) {
		add_part(p, s, hit + sep.n, rest.n - hit - sep.n);
		rest.n = hit;
		max -= max > 0;
	}
	add_part(p, s, 0, rest.n);
}

/* Bytes up to the next white space. */
static size_t word_length(struct span s)
{
	size_t i = 0;

	while (i < s.n) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s.p + i, s.n - i, &cp);

		if (text_is_space(cp))
			break;
		i += len ? len : 1;
	}
	return i;
}

static void split_words(struct parts *p, const struct value *s, int64_t max)
{
	struct span rest = span_of(s);
	size_t at = text_space_left(rest);

	while (at < s->u.s.n && !p->bad) {
		size_t n;

		rest = (struct span){s->u.s.p + at, s->u.s.n - at};
		n = max == 0 ? rest.n : word_length(rest);
		add_part(p, s, at, n);
		if (max == 0)
			break;
		at += n;
		at += text_space_left((struct span){s->u.s.p + at, s->u.s.n - at});
		max -= max > 0;
	}
}

static void rsplit_words(struct parts *p, const struct value *s, int64_t max)
{
	struct span rest = span_of(s);

	rest.n -= text_space_right(rest);
	while (rest.n > 0 && !p->bad) {
		size_t from = rest.n;
		uint32_t cp = 0;

		if (max == 0) {
			add_part(p, s, 0, rest.n);
			break;
		}
		for (size_t len; from > 0; from -= len) {
			len = text_last((struct span){rest.p, from}, &cp);
			if (text_is_space(cp))
				break;
		}
		add_part(p, s, from, rest.n - from);
		rest.n = from;
		rest.n -= text_space_right(rest);
		max -= max > 0;
	}
}

int str_split(struct rt *rt, const struct value *s, const struct str_cuts *cuts, struct value *out)
{
	struct parts p = {.rt = rt};

	if (cuts->sep && cuts->sep->u.s.n == 0)
		return rt_fail(rt, "an empty separator");
	if (rt_step(rt, s->u.s.n) < 0)
		return -1;
	if (cuts->sep && cuts->right)
		rsplit_at(&p, s, span_of(cuts->sep), cuts->max);
	else if (cuts->sep)
		split_at(&p, s, span_of(cuts->sep), cuts->max);
	else if (cuts->right)
		rsplit_words(&p, s, cuts->max);
	else
		split_words(&p, s, cuts->max);
	return parts_list(&p, cuts->right, out);
}

/* What ends a line for str.splitlines: the bytes of it at p, or 0. */
static size_t line_end(const char *p, size_t n)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(p, n, &cp);

	if (cp == '\r')
		return n > 1 && p[1] == '\n' ? 2 : 1;
	if ((cp >= 0x0a && cp <= 0x0c) || (cp >= 0x1c && cp <= 0x1e) || cp == 0x85 ||
	    cp == 0x2028 || cp == 0x2029)
		return len;
	return 0;
}

int str_lines(struct rt *rt, const struct value *s, int keep_ends, struct value *out)
{
	struct parts p = {.rt = rt};
	size_t from = 0, at = 0;

	if (rt_step(rt, s->u.s.n) < 0)
		return -1;
	while (at < s->u.s.n && !p.bad) {
		size_t end = line_end(s->u.s.p + at, s->u.s.n - at);

		if (end) {
			add_part(&p, s, from, at - from + (keep_ends ? end : 0));
			from = at + end;
		}
		at += end ? end : 1;
	}
	if (from < s->u.s.n)
		add_part(&p, s, from, s->u.s.n - from);
	return parts_list(&p, 0, out);
}

int str_join(struct rt *rt, const struct value *sep, const struct value *items, int convert,
    struct value *out)
{
	struct iter mem, *it = iter_open(rt, items, &mem);
	struct value v;
	struct text t;
	int more, first = 1, safe = !convert && (sep->flags & STR_SAFE);

	if (!it)
		return -1;
	text_begin(&t, rt, 64);
	while ((more = iter_next(rt, it, &v)) > 0) {
		if (!first)
			text_addv(&t, sep);
		first = 0;
		if (v.kind != V_STR && !convert)
			return rt_fail(
			    rt, "join needs strings, not a value of type '%s'", value_type(&v));
		if (text_str(rt, &v, &v) < 0 || (safe && text_escape(rt, &v, &v) < 0))
			return -1;
		text_addv(&t, &v);
	}
	return more < 0 ? -1 : text_end(&t, out);
}
