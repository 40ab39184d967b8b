#include "serve/lax.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"
#include "json/rec.h"

static int blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && blank(*p))
		p++;
	return p;
}

/* Past the string that begins at p, or NULL. Each byte is looked at twice at most: for a quote, and
 * for a backslash before it. */
static const char *skip_string(const char *p, const char *end)
{
	const char *quote = NULL, *slash;

	for (p++; p < end; p = slash + 2) {
		if (!quote || quote < p)
			quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			return NULL;
		slash = memchr(p, '\\', (size_t)(quote - p));
		if (!slash)
			return quote + 1;
	}
	return NULL;
}

static int in_scalar(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

static const char *skip_scalar(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && in_scalar(*p))
		p++;
	return p > start ? p : NULL;
}

/* Past an array of nothing but numbers, which most of a reply is; NULL: not one. *close is the
 * first ']' behind an earlier array's start (NULL at first, `end` where there is none), so that of
 * many arrays in one another not each looks for it. */
static const char *skip_numbers(const char *p, const char *end, const char **close)
{
	size_t n;

	if (p + 1 >= end || (p[1] != '-' && (p[1] < '0' || p[1] > '9')))
		return NULL;
	if (!*close || *close < p) {
		*close = memchr(p, ']', (size_t)(end - p));
		if (!*close)
			*close = end;
	}
	if (*close == end)
		return NULL;
	n = (size_t)(*close - p) - 1;
	if (memchr(p + 1, '[', n) || memchr(p + 1, '{', n) || memchr(p + 1, '"', n))
		return NULL;
	return *close + 1;
}

static void set_bit(uint64_t *bits, size_t at, int on)
{
	if (at >= LAX_DEPTH)
		return;
	bits[at / 64] &= ~(1ull << (at % 64));
	bits[at / 64] |= (uint64_t)(on != 0) << (at % 64);
}

static int bit_is(const uint64_t *bits, size_t at, int on)
{
	return at >= LAX_DEPTH || (int)(bits[at / 64] >> (at % 64) & 1) == on;
}

/* Brackets are remembered a bit each, as deep as LAX_DEPTH; below, only their number counts. Commas
 * and colons inside are not checked: who walks a container finds them, and a cut never leaves the
 * brackets matched. */
static const char *skip_container(const char *p, const char *end)
{
	uint64_t square[LAX_DEPTH / 64] = {0};
	const char *past, *close = NULL;
	size_t depth = 0;

	while (p) {
		while (p < end && *p != '"' && (*p & 0x5f) != '[' && (*p & 0x5f) != ']')
			p++; /* of a long array of numbers most is this */
		if (p >= end)
			break;
		switch (*p) {
		case '"': p = skip_string(p, end); continue;
		case '[':
			past = skip_numbers(p, end, &close);
			if (past && depth == 0)
				return past;
			if (past) {
				p = past;
				continue;
			}
			/* fall through */
		case '{': set_bit(square, depth++, *p == '['); break;
		case ']':
		case '}':
			if (depth == 0 || !bit_is(square, --depth, *p == ']'))
				return NULL;
			if (depth == 0)
				return p + 1;
			break;
		default: break;
		}
		p++;
	}
	return NULL;
}

static const char *skip_value(const char *p, const char *end)
{
	if (p >= end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_container(p, end);
	return skip_scalar(p, end);
}

int lax_whole(struct span text, struct span *value)
{
	const char *end = text.p + text.n, *p, *q;

	if (!text.p)
		return -1;
	p = skip_blanks(text.p, end);
	q = skip_value(p, end);
	if (!q || skip_blanks(q, end) != end)
		return -1;
	*value = (struct span){p, (size_t)(q - p)};
	return 0;
}

void lax_begin(struct lax *s, struct span value)
{
	*s = (struct lax){NULL, NULL};
	if (value.n >= 2 && (*value.p == '{' || *value.p == '['))
		*s = (struct lax){value.p + 1, value.p + value.n - 1};
}

/* A value, and the comma behind it. */
static int take_value(struct lax *s, struct span *val)
{
	const char *q = skip_value(s->p, s->end);

	if (!q) {
		s->p = s->end;
		return 0;
	}
	*val = (struct span){s->p, (size_t)(q - s->p)};
	q = skip_blanks(q, s->end);
	s->p = q < s->end && *q == ',' ? q + 1 : s->end;
	return 1;
}

int lax_member(struct lax *s, struct span *key, struct span *val)
{
	const char *q;

	s->p = skip_blanks(s->p, s->end);
	if (s->p >= s->end || *s->p != '"' || !(q = skip_string(s->p, s->end)))
		return 0;
	*key = (struct span){s->p + 1, (size_t)(q - s->p) - 2};
	q = skip_blanks(q, s->end);
	if (q >= s->end || *q != ':')
		return 0;
	s->p = skip_blanks(q + 1, s->end);
	return take_value(s, val);
}

int lax_element(struct lax *s, struct span *val)
{
	s->p = skip_blanks(s->p, s->end);
	return s->p < s->end && take_value(s, val);
}

void lax_fields(struct span object, const struct lax_field *f, size_t n, void *into)
{
	struct span key, val;
	struct lax s;

	if (!object.p || *object.p != '{')
		return;
	lax_begin(&s, object);
	while (lax_member(&s, &key, &val)) {
		for (size_t i = 0; i < n; i++) {
			struct span *to = (struct span *)(void *)((char *)into + f[i].at);

			if (span_eq(key, f[i].name))
				*to = span_eq(val, "null") ? (struct span){NULL, 0} : val;
		}
	}
}

struct span lax_get(struct span object, const char *name)
{
	struct span out = {NULL, 0};
	struct lax_field f = {name, 0};

	lax_fields(object, &f, 1, &out);
	return out;
}

int64_t lax_int(struct span v, int64_t otherwise)
{
	int64_t i;
	double d;

	if (!v.p)
		return otherwise;
	if (num_i64(v.p, v.n, &i) == 0)
		return i;
	if ((*v.p != '-' && (*v.p < '0' || *v.p > '9')) || num_double(v.p, v.n, &d) < 0)
		return otherwise;
	return d >= -9e15 && d <= 9e15 && d == floor(d) ? (int64_t)d : otherwise;
}

int lax_is(struct span v, const char *s)
{
	return v.p && v.n >= 2 && *v.p == '"' && span_eq((struct span){v.p + 1, v.n - 2}, s);
}

int lax_strict(struct span v, struct err *e)
{
	struct rec r = {0};
	struct buf b = {0};
	int rc;

	buf_adds(&b, "{\"v\":");
	buf_add(&b, v.p, v.n);
	buf_addc(&b, '}');
	rc = rec_parse(&r, b.data, b.len, e);
	buf_free(&b);
	rec_free(&r);
	return rc;
}

void lax_text(char *out, size_t size, struct span v)
{
	struct buf b = {0};
	struct err ignored;
	size_t n = 0;

	out[0] = '\0';
	if (!v.p || *v.p != '"' || size == 0 || lax_strict(v, &ignored) < 0)
		return;
	json_str(&b, v, NULL);
	while (n < b.len) {
		size_t len = utf8_len(b.data + n, b.len - n);

		if (len == 0 || n + len >= size)
			break;
		memcpy(out + n, b.data + n, len);
		if ((unsigned char)out[n] < 0x20 || out[n] == 0x7f)
			out[n] = '?';
		n += len;
	}
	out[n] = '\0';
	buf_free(&b);
}
