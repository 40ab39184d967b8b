#include "json/ids.h"

#include <string.h>

#include "base/err.h"
#include "json/ids_fast.h"
#include "json/rec.h"
#include "json/scan.h"

/* One element as text for a message, cut. */
static int bad_element(const char *p, const char *end, const char *name, size_t i, struct err *e)
{
	const char *q = p;

	while (q < end && *q != ',' && *q != ']' && q - p < 40)
		q++;
	return err_set(
	    e, "type", "%s[%zu]: expected a token id, not %.*s", name, i, (int)(q - p), p);
}

/* Digits of an id below 2^31; NULL on anything else (the caller says what). */
static inline const char *read_id(const char *p, const char *end, int32_t *out)
{
	uint64_t v = 0;
	const char *q = p;

	if (q < end && *q == '-') /* "-0" is an integer too */
		return q + 1 < end && q[1] == '0' ? (*out = 0, q + 2) : NULL;
	for (; q < end && *q >= '0' && *q <= '9' && v <= INT32_MAX; q++)
		v = v * 10 + (uint64_t)(*q - '0');
	if (q == p || v > INT32_MAX)
		return NULL;
	*out = (int32_t)v;
	return q;
}

static int is_array(struct span v, const char *name, struct err *e)
{
	if (span_is_null(v))
		return err_set(e, "missing", "%s: missing", name);
	if (*v.p != '[')
		return err_set(
		    e, "type", "%s: expected an array of integers, not %s", name, json_kind(v));
	return 0;
}

/* The first element by the grammar, since ids_fast looks back eight bytes; the plain ones after it
 * at once. Returns how many were read. */
static size_t read_plain(
    struct ints *out, int32_t *id, const char *start, const char **p, const char *end)
{
	const char *q = *p;
	size_t n = 0;

	while (q - start < 8) {
		q = read_id(q, end, &id[n]);
		if (!q || q >= end || *q != ',')
			break;
		n++;
		*p = ++q;
	}
	n += ids_fast(id + n, start, p, end);
	out->n += n;
	return n;
}

int ids_read(struct ints *out, struct span v, const char *name, struct err *e)
{
	struct scan s = {v.p, v.p ? v.p + v.n : NULL, e, NULL};
	const char *p;
	int32_t *id;

	if (is_array(v, name, e) < 0)
		return -1;
	/* an element takes two bytes, or is the only one */
	id = ints_room(out, v.n / 2 + IDS_FAST_ROOM);
	p = scan_blanks(&s, v.p + 1);
	if (p < s.end && *p == ']')
		return 0;
	for (size_t i = read_plain(out, id, v.p, &p, s.end);; i++) {
		const char *q;

		p = scan_blanks(&s, p);
		q = read_id(p, s.end, &id[i]);
		if (!q)
			return bad_element(p, s.end, name, i, e);
		q = scan_blanks(&s, q);
		if (q >= s.end || (*q != ',' && *q != ']'))
			return bad_element(p, s.end, name, i, e);
		out->n++;
		if (*q == ']')
			return 0;
		p = q + 1;
	}
}

#define ID_ROOM 11 /* 2147483647 and a comma */

#define THREE(a, b, c) ((a) | (b) << 8 | (c) << 16)
#define TEN(a, b)                                                                       \
	THREE(a, b, 0), THREE(a, b, 1), THREE(a, b, 2), THREE(a, b, 3), THREE(a, b, 4), \
	    THREE(a, b, 5), THREE(a, b, 6), THREE(a, b, 7), THREE(a, b, 8), THREE(a, b, 9)
#define HUNDRED(a)                                                                              \
	TEN(a, 0), TEN(a, 1), TEN(a, 2), TEN(a, 3), TEN(a, 4), TEN(a, 5), TEN(a, 6), TEN(a, 7), \
	    TEN(a, 8), TEN(a, 9)

/* The three digits of numbers below 1,000, the first one in the lowest byte. */
static const uint32_t threes[1000] = {HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
    HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9)};

/* Of v < 10^6 the digits and a comma, without leading zeros unless `all`. How many digits ids have
 * can't be foreseen, so there is no branch on it. */
static inline char *put_six(char *p, uint32_t v, int all)
{
	uint64_t digits = threes[v / 1000] | (uint64_t)threes[v % 1000] << 24;
	unsigned skip = all ? 0 : (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 40) / 8;
	uint64_t text = (digits | UINT64_C(0x2c303030303030)) >> 8 * skip;

	memcpy(p, &text, sizeof(text)); /* little-endian, as all of this toolkit */
	return p + 7 - skip;
}

static inline char *put_id(char *p, uint32_t v)
{
	if (v < 1000000)
		return put_six(p, v, 0);
	return put_six(put_six(p, v / 1000000, 0) - 1, v % 1000000, 1);
}

void ids_write(struct buf *out, const int32_t *v, size_t n)
{
	char *p;

	buf_addc(out, '[');
	while (n > 0) {
		size_t part =
		    n < 4096 ? n : 4096; /* so that room is not asked for far beyond need */

		p = buf_room(out, part * ID_ROOM + IDS_PUT_ROOM); /* put_six needs eight */
		for (size_t i = ids_put(&p, v, part); i < part;) {
			for (size_t end = i + 8; i < part && i < end; i++)
				p = put_id(p, (uint32_t)v[i]);
			i += ids_put(&p, v + i, part - i);
		}
		out->len = (size_t)(p - out->data);
		v += part;
		n -= part;
		if (n == 0)
			out->len--; /* the last comma */
	}
	buf_addc(out, ']');
}

int mask_read(struct buf *out, struct span v, const char *name, struct err *e)
{
	struct scan s = {v.p, v.p ? v.p + v.n : NULL, e, NULL};
	const char *p;
	size_t plain;

	if (is_array(v, name, e) < 0)
		return -1;
	p = scan_blanks(&s, v.p + 1);
	if (p < s.end && *p == ']')
		return 0;
	plain = mask_fast(buf_room(out, v.n / 2 + 8), &p, s.end);
	out->len += plain;
	for (size_t i = plain;; i++) {
		const char *q;

		p = scan_blanks(&s, p);
		q = p < s.end ? scan_blanks(&s, p + 1) : p;
		if (p >= s.end || (*p != '0' && *p != '1') || q >= s.end ||
		    (*q != ',' && *q != ']'))
			return err_set(e, "type", "%s[%zu]: expected 0 or 1", name, i);
		buf_addc(out, (char)(*p - '0'));
		if (*q == ']')
			return 0;
		p = q + 1;
	}
}

static inline void put_flags(char *restrict p, const uint8_t *restrict v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		p[2 * i] = (char)('0' + (v[i] != 0));
		p[2 * i + 1] = ',';
	}
}

void mask_write(struct buf *out, const uint8_t *v, size_t n)
{
	char *p = buf_room(out, 2 * n + 2);
	size_t i = 0;

	*p = '[';
	for (; n - i >= 32; i += 32) /* of constant length: a vector loop */
		put_flags(p + 1 + 2 * i, v + i, 32);
	if (i < n)
		put_flags(p + 1 + 2 * i, v + i, n - i);
	out->len += n > 0 ? 2 * n + 1 : 2;
	p[n > 0 ? 2 * n : 1] = ']';
}
