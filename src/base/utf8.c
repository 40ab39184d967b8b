#include "base/utf8.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/buf.h"
#include "base/plain.h"

/* Length of the character that lead byte c begins, and the range of its second byte. */
static size_t lead(unsigned char c, unsigned char *lo, unsigned char *hi)
{
	*lo = 0x80;
	*hi = 0xBF;
	if (c < 0x80)
		return 1;
	if (c < 0xC2 || c > 0xF4)
		return 0;
	if (c < 0xE0)
		return 2;
	if (c < 0xF0) {
		if (c == 0xE0)
			*lo = 0xA0;
		if (c == 0xED)
			*hi = 0x9F;
		return 3;
	}
	if (c == 0xF0)
		*lo = 0x90;
	if (c == 0xF4)
		*hi = 0x8F;
	return 4;
}

size_t utf8_decode(const char *p, size_t n, uint32_t *cp)
{
	const unsigned char *s = (const unsigned char *)p;
	unsigned char lo, hi;
	size_t len;

	if (n == 0)
		return 0;
	len = lead(s[0], &lo, &hi);
	if (len == 0 || len > n)
		return 0;
	if (len == 1) {
		*cp = s[0];
		return 1;
	}
	if (s[1] < lo || s[1] > hi)
		return 0;
	*cp = (uint32_t)(s[0] & (0x7F >> len)) << 6 | (s[1] & 0x3F);
	for (size_t i = 2; i < len; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3F);
	}
	return len;
}

size_t utf8_len(const char *p, size_t n)
{
	uint32_t cp;

	return utf8_decode(p, n, &cp);
}

size_t utf8_encode(uint32_t cp, char *out)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

/* As utf8_len, of a character that is not ASCII: those of two and three bytes, which most texts
 * are made of, without a call. */
static inline size_t wide_len(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;

	if (n >= 3 && s[0] > 0xE0 && s[0] < 0xED)
		return (s[1] & 0xC0) == 0x80 && (s[2] & 0xC0) == 0x80 ? 3 : 0;
	if (n >= 2 && s[0] >= 0xC2 && s[0] < 0xE0)
		return (s[1] & 0xC0) == 0x80 ? 2 : 0;
	return utf8_len(p, n);
}

#ifdef __SSE2__
/* Of 64 bytes, a bit each. */
struct bytes {
	__m128i v[4];
};

static inline uint64_t at_least(const struct bytes *b, int c)
{
	uint64_t m = 0;

#pragma GCC unroll 4 /* else the shifts are by a variable */
	for (int i = 0; i < 4; i++)
		m |= (uint64_t)(unsigned)_mm_movemask_epi8(
			 _mm_cmpeq_epi8(_mm_max_epu8(b->v[i], _mm_set1_epi8((char)c)), b->v[i]))
		     << 16 * i;
	return m;
}

/* First bytes of up to three bytes, for which any other two would not do. */
static inline uint64_t choosy(const struct bytes *b)
{
	uint64_t m = 0;

#pragma GCC unroll 4 /* else the shifts are by a variable */
	for (int i = 0; i < 4; i++) {
		__m128i c = b->v[i], c0 = _mm_and_si128(c, _mm_set1_epi8((char)0xFE));
		__m128i x = _mm_cmpeq_epi8(c, _mm_set1_epi8((char)0xE0));

		x = _mm_or_si128(x, _mm_cmpeq_epi8(c, _mm_set1_epi8((char)0xED)));
		x = _mm_or_si128(x, _mm_cmpeq_epi8(c0, _mm_set1_epi8((char)0xC0)));
		m |= (uint64_t)(unsigned)_mm_movemask_epi8(x) << 16 * i;
	}
	return m;
}

/* Whether each first byte that has more to ask of its second finds it, and none is never one: the
 * bounds of lead(). */
static int seconds_fit(const struct bytes *b, uint64_t first, uint64_t known)
{
	uint64_t a0 = at_least(b, 0xA0), ninety = at_least(b, 0x90), f4 = at_least(b, 0xF4);
	uint64_t e0 = at_least(b, 0xE0) & ~at_least(b, 0xE1);
	uint64_t ed = at_least(b, 0xED) & ~at_least(b, 0xEE);
	uint64_t f0 = at_least(b, 0xF0) & ~at_least(b, 0xF1);
	uint64_t never = at_least(b, 0xF5) | (first & ~at_least(b, 0xC2));

	never |= (e0 << 1 & ~a0) | (ed << 1 & a0) | (f0 << 1 & ~ninety) | (f4 << 1 & ninety);
	return (never & known) == 0;
}

/* Steps over valid characters, those of 64 bytes at once. */
static const char *skip_valid(const char *p, const char *end)
{
	while (end - p >= 64) {
		struct bytes b;
		uint64_t high = 0, more, first, known = UINT64_MAX, three, four;
		unsigned last, len;

#pragma GCC unroll 4 /* else the shifts are by a variable */
		for (int i = 0; i < 4; i++) {
			b.v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
			high |= (uint64_t)(unsigned)_mm_movemask_epi8(b.v[i]) << 16 * i;
		}
		if (high == 0) {
			p += 64;
			continue;
		}
		first = at_least(&b, 0xC0);
		if (first == 0)
			return p;
		more = high & ~first;
		three = at_least(&b, 0xE0);
		four = at_least(&b, 0xF0);
		last = 63 - (unsigned)__builtin_clzll(first);
		len = 2 + (unsigned)(three >> last & 1) + (unsigned)(four >> last & 1);
		if (last + len > 64) /* cut here, it is the first of the next 64 */
			known >>= 63 - last;
		if (((first << 1 | three << 2 | four << 3) & known) != (more & known) ||
		    ((four | choosy(&b)) && !seconds_fit(&b, first & known, known)))
			return p;
		p += last + len > 64 ? last : 64;
	}
	return p;
}
#else
static const char *skip_valid(const char *p, const char *end)
{
	return plain_ascii(p, end);
}
#endif

size_t utf8_valid(const char *p, size_t n)
{
	const char *at = p, *end;

	if (n == 0) /* p may be NULL */
		return 0;
	end = p + n;
	while ((at = plain_ascii(skip_valid(at, end), end)) < end)
		do {
			size_t len = wide_len(at, (size_t)(end - at));

			if (len == 0)
				return (size_t)(at - p);
			at += len;
		} while (at < end && *at & 0x80);
	return n;
}

size_t utf8_subpart(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	unsigned char lo, hi;
	size_t len, i;

	len = lead(s[0], &lo, &hi);
	if (len < 2 || n < 2 || s[1] < lo || s[1] > hi)
		return 1;
	for (i = 2; i < len && i < n && (s[i] & 0xC0) == 0x80; i++)
		continue;
	return i;
}

size_t utf8_repair(struct buf *out, const char *p, size_t n)
{
	char fffd[4];
	size_t flen = utf8_encode(UTF8_REPLACEMENT, fffd);
	size_t bad = 0;

	while (n > 0) {
		size_t ok = utf8_valid(p, n);

		buf_add(out, p, ok);
		p += ok;
		n -= ok;
		if (n > 0) {
			size_t skip = utf8_subpart(p, n);

			buf_add(out, fffd, flen);
			p += skip;
			n -= skip;
			bad++;
		}
	}
	return bad;
}

size_t utf8_count(const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += (p[i] & 0xC0) != 0x80;
	return count;
}
