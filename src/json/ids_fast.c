#include "json/ids_fast.h"

#include <string.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>

static __m128i load16(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Which of 64 bytes are commas; 0 in *plain when some byte is neither comma nor digit. */
static uint64_t commas_of(const char *p, int *plain)
{
	uint64_t commas = 0, good = 0;

	for (int i = 0; i < 4; i++) {
		__m128i x = load16(p + 16 * i), d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
		__m128i comma = _mm_cmpeq_epi8(x, _mm_set1_epi8(','));
		__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);

		commas |= (uint64_t)(unsigned)_mm_movemask_epi8(comma) << 16 * i;
		good |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(comma, digit)) << 16 * i;
	}
	*plain = good == UINT64_MAX;
	return commas;
}

/* The number whose n digits, 1 to 8, end before `stop`: eight bytes of which the last n count;
 * pairs, then fours, then all eight are joined by multiplication. */
static int32_t number(const char *stop, size_t n)
{
	uint64_t w;

	memcpy(&w, stop - 8, sizeof(w));
	w ^= 0x3030303030303030; /* no borrow between bytes, as a subtraction would have */
	w &= UINT64_MAX << 8 * (8 - n);
	w = (w * 10 + (w >> 8)) & 0x00ff00ff00ff00ff;
	w = (w * 100 + (w >> 16)) & 0x0000ffff0000ffff;
	return (int32_t)((w * 10000 + (w >> 32)) & 0xffffffff);
}

size_t ids_fast(int32_t *out, const char *start, const char **p, const char *end)
{
	const char *first = *p; /* of the element at hand */
	size_t taken = 0;

	if (first - start < 8)
		return 0;
	for (const char *block = first; end - block >= 64; block += 64) {
		int plain;
		uint64_t commas = commas_of(block, &plain);

		if (!plain)
			break;
		for (; commas != 0; commas &= commas - 1) {
			const char *comma = block + __builtin_ctzll(commas);
			size_t n = (size_t)(comma - first);

			if (n - 1 >= 8)
				goto out;
			out[taken++] = number(comma, n);
			first = comma + 1;
		}
	}
out:
	*p = first;
	return taken;
}

size_t mask_fast(char *out, const char **p, const char *end)
{
	const __m128i want = _mm_set1_epi16(',' << 8 | '0'), free = _mm_set1_epi16(1);
	const char *at = *p;
	size_t taken = 0;

	for (; end - at >= 16; at += 16, taken += 8) {
		__m128i d = _mm_xor_si128(load16(at), want);

		if (_mm_movemask_epi8(
			_mm_cmpeq_epi8(_mm_andnot_si128(free, d), _mm_setzero_si128())) != 0xffff)
			break;
		_mm_storel_epi64((__m128i *)(void *)(out + taken), _mm_packus_epi16(d, d));
	}
	*p = at;
	return taken;
}

#else

size_t ids_fast(int32_t *out, const char *start, const char **p, const char *end)
{
	(void)out;
	(void)start;
	(void)p;
	(void)end;
	return 0;
}

size_t mask_fast(char *out, const char **p, const char *end)
{
	(void)out;
	(void)p;
	(void)end;
	return 0;
}

#endif
