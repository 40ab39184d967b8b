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

/* Four numbers, each from the values of eight digits: pairs, then fours, then all eight are joined.
 */
static void join(int32_t *out, const uint64_t digits[4])
{
	const __m128i first = _mm_set1_epi16(0xff);
	__m128i fours[2];

	for (int i = 0; i < 2; i++) {
		__m128i d = load16((const char *)(digits + 2 * i));
		__m128i tens = _mm_mullo_epi16(_mm_and_si128(d, first), _mm_set1_epi16(10));
		__m128i pairs = _mm_add_epi16(tens, _mm_srli_epi16(d, 8));

		fours[i] = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
	}
	_mm_storeu_si128((__m128i *)(void *)out,
	    _mm_madd_epi16(_mm_packs_epi32(fours[0], fours[1]), _mm_set1_epi32(1 << 16 | 10000)));
}

#define MOST 32 /* elements in 64 bytes, a digit and a comma each */

size_t ids_fast(int32_t *out, const char *start, const char **p, const char *end)
{
	const char *first = *p; /* of the element at hand */
	size_t taken = 0;

	if (first - start < 8)
		return 0;
	for (const char *block = first; end - block >= 64; block += 64) {
		uint64_t digits[MOST + IDS_FAST_ROOM];
		size_t n = 0;
		int plain;
		uint64_t commas = commas_of(block, &plain);

		if (!plain)
			break;
		for (; commas != 0; commas &= commas - 1) {
			const char *comma = block + __builtin_ctzll(commas);
			size_t len = (size_t)(comma - first);

			if (len - 1 >= 8)
				break;
			/* of the eight bytes before it the last ones count */
			memcpy(&digits[n], comma - 8, sizeof(digits[n]));
			digits[n++] &= UINT64_C(0x0f0f0f0f0f0f0f0f) << 8 * (8 - len);
			first = comma + 1;
		}
		for (size_t i = 0; i < n; i += 4)
			join(out + taken + i, digits + i);
		taken += n;
		if (commas != 0)
			break;
	}
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
