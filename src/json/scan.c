#include "json/scan.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/err.h"
#include "base/plain.h"
#include "json/rec.h"

const char *scan_fail(const struct scan *s, const char *p, const char *what)
{
	if (!s->e)
		return NULL;
	if (p >= s->end)
		err_set(s->e, "json", "not JSON: it ends at byte %zu, where %s was expected",
		    (size_t)(s->end - s->start), what);
	else
		err_set(s->e, "json", "not JSON at byte %zu: expected %s",
		    (size_t)(p - s->start) + 1, what);
	return NULL;
}

static int is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* The escapes of one letter. A table, since letters come in no order that a processor foresees. */
static const char one_letter[256] = {
    ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1};

/* p behind the backslash, at no such letter. */
static const char *scan_unicode(const struct scan *s, const char *p)
{
	if (p >= s->end || *p != 'u')
		return scan_fail(s, p, "an escape such as \\n");
	for (int i = 1; i <= 4; i++)
		if (p + i >= s->end || !is_hex(p[i]))
			return scan_fail(s, p + i, "four hex digits");
	if (s->surrogate && (p[1] | 0x20) == 'd' && p[2] >= '8')
		*s->surrogate = 1;
	return p + 5;
}

#ifdef __SSE2__
/* Steps over what most texts are made of, 64 bytes at once: what stands for itself, and the escapes
 * \n \t \" \\, of which code has one every few dozen bytes. Stops at the closing quote, at a
 * control character and at the backslash of any other escape, or where the text has fewer bytes.
 *
 * A backslash begins an escape where an even number of others stands right before it. For all runs
 * of them at once: adding its first bit to a run clears it, as the carry goes through; done to the
 * runs that begin at an even place, it tells them from the others (Langdale and Lemire, Parsing
 * Gigabytes of JSON per Second, 2019, 3.1.1). */
static const char *skip_usual(const char *p, const char *end)
{
	const uint64_t even = 0x5555555555555555;

	for (; end - p >= 64; p += 64) {
		uint64_t slash = 0, usual = 0, stop = 0, escape;

#pragma GCC unroll 4 /* else the shifts are by a variable */
		for (int i = 0; i < 64; i += 16) {
			__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
			__m128i s = _mm_cmpeq_epi8(c, _mm_set1_epi8('\\'));
			__m128i q = _mm_cmpeq_epi8(c, _mm_set1_epi8('"'));
			__m128i n = _mm_cmpeq_epi8(c, _mm_set1_epi8('n'));
			__m128i t = _mm_cmpeq_epi8(c, _mm_set1_epi8('t'));
			__m128i control = _mm_cmpeq_epi8(_mm_min_epu8(c, _mm_set1_epi8(0x1F)), c);

			slash |= (uint64_t)(unsigned)_mm_movemask_epi8(s) << i;
			stop |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(q, control))
				<< i;
			usual |= (uint64_t)(unsigned)_mm_movemask_epi8(
				     _mm_or_si128(_mm_or_si128(s, q), _mm_or_si128(n, t)))
				 << i;
		}
		escape = slash & ((slash + (slash & ~(slash << 1) & even)) ^ even);
		/* a control character behind a backslash is no usual one */
		stop = (stop & ~(escape << 1)) | (escape & ~(usual >> 1));
		if (stop)
			return p + __builtin_ctzll(stop);
	}
	return p;
}
#else
static const char *skip_usual(const char *p, const char *end)
{
	(void)end;
	return p;
}
#endif

const char *scan_string(const struct scan *s, const char *p)
{
	if (p >= s->end || *p != '"')
		return scan_fail(s, p, "a string");
	p++;
	for (;;) {
		p = plain_json(skip_usual(p, s->end), s->end);
		if (p >= s->end)
			return scan_fail(s, p, "the end of a string");
		if (*p == '"')
			return p + 1;
		if (*p != '\\')
			return scan_fail(s, p, "no control character in a string");
		do {
			p++;
			if (p < s->end && one_letter[(unsigned char)*p])
				p++;
			else if (!(p = scan_unicode(s, p)))
				return NULL;
		} while (p < s->end && *p == '\\');
	}
}

static const char *digits(const struct scan *s, const char *p)
{
	while (p < s->end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

const char *scan_number(const struct scan *s, const char *p)
{
	const char *q;

	if (p < s->end && *p == '-')
		p++;
	q = digits(s, p);
	if (q == p)
		return scan_fail(s, p, "a digit");
	if (*p == '0' && q > p + 1)
		return scan_fail(s, p + 1, "no digit behind a leading 0");
	p = q;
	if (p < s->end && *p == '.') {
		q = digits(s, ++p);
		if (q == p)
			return scan_fail(s, p, "a digit");
		p = q;
	}
	if (p < s->end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < s->end && (*p == '+' || *p == '-'))
			p++;
		q = digits(s, p);
		if (q == p)
			return scan_fail(s, p, "a digit");
		p = q;
	}
	return p;
}

static const char *scan_word(const struct scan *s, const char *p, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - p) < n || memcmp(p, word, n) != 0)
		return scan_fail(s, p, "a value");
	return p + n;
}

static const char *scan_scalar(const struct scan *s, const char *p)
{
	if (p >= s->end)
		return scan_fail(s, p, "a value");
	switch (*p) {
	case '"': return scan_string(s, p);
	case 't': return scan_word(s, p, "true");
	case 'f': return scan_word(s, p, "false");
	case 'n': return scan_word(s, p, "null");
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9': return scan_number(s, p);
	default: return scan_fail(s, p, "a value");
	}
}

/* The open containers, a bit each: 1 is an object. Containers are walked without recursion, so
 * that depth costs a bit, not a stack frame. */
struct nest {
	uint64_t bit[JSON_MAX_DEPTH / 64];
	unsigned depth, max;
};

static int push(struct nest *n, int object)
{
	uint64_t one = (uint64_t)1 << n->depth % 64;

	if (n->depth == n->max)
		return -1;
	if (object)
		n->bit[n->depth / 64] |= one;
	else
		n->bit[n->depth / 64] &= ~one;
	n->depth++;
	return 0;
}

static int in_object(const struct nest *n)
{
	return n->bit[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

/* p behind '{' or ',' in an object: reads the key and ':'. */
static const char *scan_key(const struct scan *s, const char *p)
{
	p = scan_blanks(s, p);
	if (p >= s->end || *p != '"')
		return scan_fail(s, p, "a key in double quotes");
	p = scan_string(s, p);
	if (!p)
		return NULL;
	p = scan_blanks(s, p);
	if (p >= s->end || *p != ':')
		return scan_fail(s, p, "':'");
	return scan_blanks(s, p + 1);
}

/* Behind a whole value: closes what ends here and steps to the next value; *more says if any. */
static const char *scan_after(const struct scan *s, const char *p, struct nest *n, int *more)
{
	while (n->depth > 0) {
		int object = in_object(n);

		p = scan_blanks(s, p);
		if (p < s->end && *p == ',') {
			*more = 1;
			return object ? scan_key(s, p + 1) : scan_blanks(s, p + 1);
		}
		if (p >= s->end || *p != (object ? '}' : ']'))
			return scan_fail(s, p, object ? "',' or '}'" : "',' or ']'");
		n->depth--;
		p++;
	}
	*more = 0;
	return p;
}

/* p at '{' or '[': steps to the first value inside, or behind an empty container (*empty). */
static const char *scan_open(const struct scan *s, const char *p, struct nest *n, int *empty)
{
	int object = *p == '{';

	if (push(n, object) < 0) {
		if (s->e)
			err_set(s->e, "json",
			    "not JSON that is read here: at byte %zu it is more than %d levels "
			    "deep",
			    (size_t)(p - s->start) + 1, JSON_MAX_DEPTH);
		return NULL;
	}
	p = scan_blanks(s, p + 1);
	*empty = p < s->end && *p == (object ? '}' : ']');
	if (*empty) {
		n->depth--;
		return p + 1;
	}
	return object ? scan_key(s, p) : p;
}

/* Arrays of plain numbers are most of a tokenised record: these two step over `1,2,3,` to the first
 * element that is not digits and a comma, or that is malformed. p at an element. */
static const char *skip_numbers_plain(const struct scan *s, const char *p)
{
	const char *q;

	while ((q = digits(s, p)) > p && q < s->end && *q == ',' && (*p != '0' || q == p + 1))
		p = q + 1;
	return p;
}

#ifdef __SSE2__
/* 64 bytes at once: an element may not be empty, nor begin with a 0 that another digit follows. */
static const char *skip_numbers(const struct scan *s, const char *p)
{
	const char *last = p;
	uint64_t starts = 1, zero = 0; /* carried from the block before */

	for (; s->end - p >= 64; p += 64) {
		__m128i good = _mm_set1_epi8(-1);
		uint64_t comma = 0, null = 0, start;

#pragma GCC unroll 4 /* else the shifts are by a variable */
		for (int i = 0; i < 4; i++) {
			__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
			__m128i d = _mm_sub_epi8(c, _mm_set1_epi8('0'));
			__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
			__m128i is_comma = _mm_cmpeq_epi8(c, _mm_set1_epi8(','));
			__m128i is_null = _mm_cmpeq_epi8(d, _mm_setzero_si128());

			good = _mm_and_si128(good, _mm_or_si128(digit, is_comma));
			comma |= (uint64_t)(unsigned)_mm_movemask_epi8(is_comma) << 16 * i;
			null |= (uint64_t)(unsigned)_mm_movemask_epi8(is_null) << 16 * i;
		}
		start = comma << 1 | starts;
		zero |= (null & start) << 1;
		if (_mm_movemask_epi8(good) != 0xFFFF || (comma & start) || (zero & ~comma))
			break;
		starts = comma >> 63;
		zero = (null & start) >> 63;
		if (comma)
			last = p + 64 - __builtin_clzll(comma);
	}
	return skip_numbers_plain(s, last);
}
#else
static const char *skip_numbers(const struct scan *s, const char *p)
{
	return skip_numbers_plain(s, p);
}
#endif

const char *scan_value(const struct scan *s, const char *p, unsigned depth)
{
	struct nest n;
	int more = 1;

	n.depth = 0;
	n.max = depth;
	while (more) {
		int whole = 1;

		if (p < s->end && (*p == '{' || *p == '[')) {
			p = scan_open(s, p, &n, &whole);
			if (p && !whole && !in_object(&n))
				p = scan_blanks(s, skip_numbers(s, p));
		} else {
			p = scan_scalar(s, p);
		}
		if (!p)
			return NULL;
		if (whole)
			p = scan_after(s, p, &n, &more);
		if (!p)
			return NULL;
	}
	return p;
}
