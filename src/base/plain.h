/* plain.h - how many bytes of a text need no look one by one
 *
 * Sixteen at a time where the processor has SSE2, eight elsewhere. Both return the first byte of
 * [p, end) that is not plain, or end. */
#ifndef E3_PLAIN_H
#define E3_PLAIN_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__
/* A bit for each byte that does not stand for itself in a JSON string. */
static inline int plain_json_stops(__m128i c)
{
	__m128i quote = _mm_cmpeq_epi8(c, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(c, _mm_set1_epi8('\\'));
	__m128i control = _mm_cmpeq_epi8(_mm_min_epu8(c, _mm_set1_epi8(0x1F)), c);

	return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control));
}
#endif

/* What stands for itself in a JSON string: neither '"' nor '\' nor below 0x20. */
static inline const char *plain_json(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		int stop = plain_json_stops(_mm_loadu_si128((const __m128i *)(const void *)p));

		if (stop)
			return p + __builtin_ctz((unsigned)stop);
	}
#else
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;

	/* may also be true for a byte of 0x80 and more beside one of them: the loop below looks */
	for (uint64_t w; end - p >= 8; p += 8) {
		memcpy(&w, p, sizeof(w));
		uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';

		if (((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) |
			 ((slash - ones) & ~slash)) &
			high) != 0)
			break;
	}
#endif
	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* ASCII. */
static inline const char *plain_ascii(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
		int stop = _mm_movemask_epi8(c);

		if (stop)
			return p + __builtin_ctz((unsigned)stop);
	}
#else
	for (uint64_t w; end - p >= 8; p += 8) {
		memcpy(&w, p, sizeof(w));
		if (w & 0x8080808080808080u)
			break;
	}
#endif
	while (p < end && !(*p & 0x80))
		p++;
	return p;
}

#endif
