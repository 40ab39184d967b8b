#include "base/utf8.h"

#include <string.h>

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

size_t utf8_valid(const char *p, size_t n)
{
	const char *at = p, *end;

	if (n == 0) /* p may be NULL */
		return 0;
	end = p + n;
	while ((at = plain_ascii(at, end)) < end)
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
