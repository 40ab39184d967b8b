#include "json/ids_fast.h"

#include <string.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>

static __m128i load16(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Which of 64 bytes are commas, and how many; 0 in *plain when some byte is neither comma nor digit.
 */
static inline uint64_t commas_of(const char *p, unsigned *count, int *plain)
{
	__m128i good = _mm_set1_epi8(-1), sum = _mm_setzero_si128();
	uint64_t commas = 0;

#pragma GCC unroll 4 /* else the shifts are by a variable */
	for (int i = 0; i < 4; i++) {
		__m128i x = load16(p + 16 * i), d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
		__m128i comma = _mm_cmpeq_epi8(x, _mm_set1_epi8(','));
		__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);

		commas |= (uint64_t)(unsigned)_mm_movemask_epi8(comma) << 16 * i;
		good = _mm_and_si128(good, _mm_or_si128(comma, digit));
		sum = _mm_sub_epi8(sum, comma);
	}
	sum = _mm_sad_epu8(sum, _mm_setzero_si128());
	*count = (unsigned)_mm_cvtsi128_si32(_mm_add_epi64(sum, _mm_srli_si128(sum, 8)));
	*plain = _mm_movemask_epi8(good) == 0xffff;
	return commas;
}

#define LAST(n) (UINT64_C(0x0f0f0f0f0f0f0f0f) << 8 * (8 - (n)))

/* The values of an element's digits in the eight bytes before its comma, by how far that is from the
 * comma before it. Farther ones are of no element. */
static const uint64_t last_digits[64] = {
    [2] = LAST(1), LAST(2), LAST(3), LAST(4), LAST(5), LAST(6), LAST(7), LAST(8)};

/* The values of the digits of two elements, whose commas are at a and b, `before` at the one before. */
static inline __m128i digits_of(const char *before, const char *a, const char *b)
{
	__m128i x = _mm_loadl_epi64((const __m128i *)(const void *)(a - 8));
	__m128i y = _mm_loadl_epi64((const __m128i *)(const void *)(b - 8));
	__m128i of_x = _mm_loadl_epi64((const __m128i *)(const void *)&last_digits[a - before]);
	__m128i of_y = _mm_loadl_epi64((const __m128i *)(const void *)&last_digits[b - a]);

	return _mm_and_si128(_mm_unpacklo_epi64(x, y), _mm_unpacklo_epi64(of_x, of_y));
}

/* Two numbers of eight digits each: pairs are joined, then fours. */
static inline __m128i fours_of(__m128i d)
{
	__m128i tens = _mm_mullo_epi16(_mm_and_si128(d, _mm_set1_epi16(0xff)), _mm_set1_epi16(10));
	__m128i pairs = _mm_add_epi16(tens, _mm_srli_epi16(d, 8));

	return _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
}

static inline const char *next_comma(const char *block, uint64_t *commas)
{
	const char *at = block + __builtin_ctzll(*commas | UINT64_C(1) << 63);

	*commas &= *commas - 1;
	return at;
}

/* Whether some element has no digit, or more than eight, but for the one that `commas` begins in. */
static inline int odd_lengths(uint64_t commas)
{
	uint64_t run = ~commas;

	run &= run >> 1;
	run &= run >> 2;
	run &= run >> 4;
	return (commas & commas << 1) != 0 || (run & ~commas >> 8) != 0;
}

size_t ids_fast(int32_t *out, const char *start, const char **p, const char *end)
{
	const char *before = *p - 1; /* the comma before the element at hand */
	size_t taken = 0;

	if (*p - start < 8)
		return 0;
	for (const char *block = *p; end - block >= 64; block += 64) {
		unsigned n;
		int plain;
		uint64_t commas = commas_of(block, &n, &plain);
		const char *last;
		ptrdiff_t first;

		if (!plain || odd_lengths(commas))
			break;
		if (n == 0)
			continue;
		first = block + __builtin_ctzll(commas) - before;
		if (first < 2 || first > 9)
			break;
		last = block + 63 - __builtin_clzll(commas);
		for (unsigned i = 0; i < n; i += 4) {
			const char *a = next_comma(block, &commas);
			const char *b = next_comma(block, &commas);
			const char *c = next_comma(block, &commas);
			const char *d = next_comma(block, &commas);
			__m128i low = fours_of(digits_of(before, a, b));
			__m128i high = fours_of(digits_of(b, c, d));

			_mm_storeu_si128((__m128i *)(void *)(out + taken + i),
			    _mm_madd_epi16(
				_mm_packs_epi32(low, high), _mm_set1_epi32(1 << 16 | 10000)));
			before = d;
		}
		before = last;
		taken += n;
	}
	*p = before + 1;
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
