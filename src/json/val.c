#include "json/val.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/utf8.h"
#include "json/rec.h"
#include "json/scan.h"

/* Elements of the containers that are still open wait on one stack each, and move to the arena when
 * their container closes, at its exact size. */
struct reader {
	struct scan s;
	struct arena *a;
	size_t *lone;
	int lax;
	struct jval *item;
	size_t nitem, item_cap;
	struct jmember *member;
	size_t nmember, member_cap;
};

static const char *read_value(struct reader *r, const char *p, struct jval *out, unsigned depth);

/* p at a quote. */
static const char *read_string(struct reader *r, const char *p, struct span *out)
{
	const char *q = scan_string(&r->s, p);

	if (q)
		*out = json_text((struct span){p, (size_t)(q - p)}, r->a, r->lone);
	return q;
}

static const char *read_number(struct reader *r, const char *p, struct jval *out)
{
	const char *q = scan_number(&r->s, p);
	size_t n;

	if (!q)
		return NULL;
	n = (size_t)(q - p);
	if (memchr(p, '.', n) || memchr(p, 'e', n) || memchr(p, 'E', n)) {
		out->kind = J_REAL;
		num_double(p, n, &out->u.d);
	} else if (num_i64(p, n, &out->u.i) == 0) {
		out->kind = J_INT;
	} else {
		out->kind = J_BIG;
		out->u.s = (struct span){p, n};
	}
	return q;
}

static int starts(const struct reader *r, const char *p, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(r->s.end - p) >= n && memcmp(p, word, n) == 0;
}

static const char *read_word(struct reader *r, const char *p, struct jval *out)
{
	static const struct {
		const char *word;
		enum jkind kind;
		int lax;
		double d;
	} words[] = {
	    {"null", J_NULL, 0, 0},
	    {"true", J_TRUE, 0, 0},
	    {"false", J_FALSE, 0, 0},
	    {"NaN", J_REAL, 1, NAN},
	    {"Infinity", J_REAL, 1, INFINITY},
	    {"-Infinity", J_REAL, 1, -INFINITY},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((words[i].lax && !r->lax) || !starts(r, p, words[i].word))
			continue;
		out->kind = words[i].kind;
		if (out->kind == J_REAL)
			out->u.d = words[i].d;
		return p + strlen(words[i].word);
	}
	return scan_fail(&r->s, p, "a value");
}

static const char *read_array(struct reader *r, const char *p, struct jval *out, unsigned depth)
{
	size_t base = r->nitem;

	p = scan_blanks(&r->s, p + 1);
	if (p < r->s.end && *p == ']')
		return p + 1;
	for (;;) {
		struct jval v;

		p = read_value(r, p, &v, depth - 1);
		if (!p)
			return NULL;
		r->item = xgrow(r->item, &r->item_cap, r->nitem + 1, sizeof(*r->item));
		r->item[r->nitem++] = v;
		p = scan_blanks(&r->s, p);
		if (p < r->s.end && *p == ']')
			break;
		if (p >= r->s.end || *p != ',')
			return scan_fail(&r->s, p, "',' or ']'");
		p = scan_blanks(&r->s, p + 1);
	}
	out->u.arr.n = r->nitem - base;
	out->u.arr.v = arena_array(r->a, out->u.arr.n, sizeof(*r->item));
	memcpy(out->u.arr.v, r->item + base, out->u.arr.n * sizeof(*r->item));
	r->nitem = base;
	return p + 1;
}

static int same_key(const struct jmember *a, const struct jmember *b)
{
	return a->key.n == b->key.n && memcmp(a->key.p, b->key.p, a->key.n) == 0;
}

/* Repeated keys: the first place keeps the last value. An open-addressed table of indices keeps a
 * hostile object of many keys linear. Returns how many members are left. */
static size_t drop_repeated(struct jmember *m, size_t n)
{
	size_t cap = 16, kept = 0;
	size_t *slot;

	while (cap < n * 2)
		cap *= 2;
	slot = xcalloc(cap, sizeof(*slot));
	for (size_t i = 0; i < n; i++) {
		size_t at = hash64(m[i].key.p, m[i].key.n, 0) & (cap - 1);

		while (slot[at] && !same_key(&m[slot[at] - 1], &m[i]))
			at = (at + 1) & (cap - 1);
		if (slot[at]) {
			m[slot[at] - 1].val = m[i].val;
		} else {
			m[kept++] = m[i];
			slot[at] = kept;
		}
	}
	free(slot);
	return kept;
}

static size_t drop_repeated_few(struct jmember *m, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < kept && !same_key(&m[j], &m[i]))
			j++;
		if (j < kept)
			m[j].val = m[i].val;
		else
			m[kept++] = m[i];
	}
	return kept;
}

/* p at '"' of a key. */
static const char *read_pair(struct reader *r, const char *p, unsigned depth)
{
	struct jmember m;

	if (p >= r->s.end || *p != '"')
		return scan_fail(&r->s, p, "a key in double quotes");
	p = read_string(r, p, &m.key);
	if (!p)
		return NULL;
	p = scan_blanks(&r->s, p);
	if (p >= r->s.end || *p != ':')
		return scan_fail(&r->s, p, "':'");
	p = read_value(r, scan_blanks(&r->s, p + 1), &m.val, depth - 1);
	if (!p)
		return NULL;
	r->member = xgrow(r->member, &r->member_cap, r->nmember + 1, sizeof(*r->member));
	r->member[r->nmember++] = m;
	return p;
}

static const char *read_object(struct reader *r, const char *p, struct jval *out, unsigned depth)
{
	size_t base = r->nmember, n;

	p = scan_blanks(&r->s, p + 1);
	if (p < r->s.end && *p == '}')
		return p + 1;
	for (;;) {
		p = read_pair(r, p, depth);
		if (!p)
			return NULL;
		p = scan_blanks(&r->s, p);
		if (p < r->s.end && *p == '}')
			break;
		if (p >= r->s.end || *p != ',')
			return scan_fail(&r->s, p, "',' or '}'");
		p = scan_blanks(&r->s, p + 1);
	}
	n = r->nmember - base;
	n = n <= 16 ? drop_repeated_few(r->member + base, n) : drop_repeated(r->member + base, n);
	out->u.obj.n = n;
	out->u.obj.m = arena_dup(r->a, r->member + base, n * sizeof(*r->member));
	r->nmember = base;
	return p + 1;
}

/* Recursive, at most JSON_MAX_DEPTH frames of about 150 bytes. */
static const char *read_value(struct reader *r, const char *p, struct jval *out, unsigned depth)
{
	*out = (struct jval){0};
	if (p >= r->s.end)
		return scan_fail(&r->s, p, "a value");
	if ((*p == '{' || *p == '[') && depth == 0) {
		err_set(r->s.e, "json", "more than %d levels deep", JSON_MAX_DEPTH);
		return NULL;
	}
	switch (*p) {
	case '{': out->kind = J_OBJ; return read_object(r, p, out, depth);
	case '[': out->kind = J_ARR; return read_array(r, p, out, depth);
	case '"': out->kind = J_STR; return read_string(r, p, &out->u.s);
	case '-':
		if (r->lax && starts(r, p, "-I"))
			return read_word(r, p, out);
		return read_number(r, p, out);
	default: return *p >= '0' && *p <= '9' ? read_number(r, p, out) : read_word(r, p, out);
	}
}

int val_parse(
    struct jval *out, struct span text, int lax, struct arena *a, size_t *lone, struct err *e)
{
	struct reader r = {
	    .s = {text.p, text.p + text.n, e, NULL}, .a = a, .lone = lone, .lax = lax};
	size_t ok = utf8_valid(text.p, text.n);
	const char *p;

	if (ok < text.n)
		return err_set(e, "json", "not UTF-8 at byte %zu", ok + 1);
	p = read_value(&r, scan_blanks(&r.s, text.p), out, JSON_MAX_DEPTH);
	if (p) {
		p = scan_blanks(&r.s, p);
		if (p < r.s.end)
			p = scan_fail(&r.s, p, "nothing behind the value");
	}
	free(r.item);
	free(r.member);
	return p ? 0 : -1;
}

struct jval *val_get(const struct jval *obj, const char *key)
{
	if (!obj || obj->kind != J_OBJ)
		return NULL;
	for (size_t i = 0; i < obj->u.obj.n; i++)
		if (span_eq(obj->u.obj.m[i].key, key))
			return &obj->u.obj.m[i].val;
	return NULL;
}

int val_is_str(const struct jval *v, const char *s)
{
	return v && v->kind == J_STR && span_eq(v->u.s, s);
}
