#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/utf8.h"

char *buf_room_more(struct buf *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->len, n, &need))
		xnomem();
	/* one at least: the end of an empty buffer is no null pointer */
	b->data = xgrow(b->data, &b->cap, need ? need : 1, 1);
	return b->data + b->len;
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		vsnprintf(buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_add_u64(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_add_hex64(struct buf *b, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		buf_addc(b, "0123456789abcdef"[v >> shift & 15]);
}

void buf_add_utf8(struct buf *b, uint32_t cp)
{
	b->len += utf8_encode(cp, buf_room(b, 4));
}

void buf_add_base64(struct buf *b, const void *p, size_t n)
{
	static const char abc[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *s = p;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t w = (uint32_t)s[i] << 16;

		if (left > 1)
			w |= (uint32_t)s[i + 1] << 8;
		if (left > 2)
			w |= s[i + 2];
		buf_addc(b, abc[w >> 18]);
		buf_addc(b, abc[w >> 12 & 63]);
		buf_addc(b, left > 1 ? abc[w >> 6 & 63] : '=');
		buf_addc(b, left > 2 ? abc[w & 63] : '=');
	}
}

static char *add_escape(char *to, unsigned char c)
{
	static const char control[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"; /* by byte; u: no name */
	static const char hex[] = "0123456789abcdef";
	char letter = c < 0x20 ? control[c] : (char)c;

	*to++ = '\\';
	*to++ = letter;
	if (letter == 'u') {
		*to++ = '0';
		*to++ = '0';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	return to;
}

#define ESCAPE_MAX 6 /* \u001f */

/* Copies what stands for itself, as plain_json has it, and returns how many bytes: many at a time,
 * since there is room for all up to `end`. */
static size_t copy_plain(char *to, const char *p, const char *end)
{
	const char *start = p;
	size_t n;

#ifdef __SSE2__
	for (; end - p >= 16; p += 16, to += 16) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
		int stop = plain_json_stops(c);

		_mm_storeu_si128((__m128i *)(void *)to, c);
		if (stop)
			return (size_t)(p - start) + (size_t)__builtin_ctz((unsigned)stop);
	}
#endif
	n = (size_t)(plain_json(p, end) - p);
	memcpy(to, p, n);
	return (size_t)(p - start) + n;
}

void buf_add_json(struct buf *b, const char *p, size_t n)
{
	const char *end = n > 0 ? p + n : p; /* which may be NULL */
	char *to = buf_room(b, n + 2 + ESCAPE_MAX);

	*to++ = '"';
	while (p < end) {
		size_t plain = copy_plain(to, p, end);

		to += plain;
		p += plain;
		if (p < end) {
			to = add_escape(to, (unsigned char)*p++);
			b->len = (size_t)(to - b->data);
			to = buf_room(b, (size_t)(end - p) + 2 + ESCAPE_MAX);
		}
	}
	*to++ = '"';
	b->len = (size_t)(to - b->data);
}

const char *buf_cstr(struct buf *b)
{
	*buf_room(b, 1) = '\0';
	return b->data;
}

void buf_fit(struct buf *b)
{
	if (b->len == b->cap)
		return;
	b->cap = b->len ? b->len : 1;
	b->data = xreallocarray(b->data, b->cap, 1);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

char *buf_steal(struct buf *b)
{
	char *s;

	buf_cstr(b);
	s = b->data;
	*b = (struct buf){0};
	return s;
}
