/* Ids as text, eight at a time, where the processor packs bytes (AVX-512 VBMI2). */
#include "json/ids_fast.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define VECTORS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))

/* Of eight numbers below 10^6 the digits, abc0def0 from the lowest byte. The products are exact in
 * their high halves: x * 656 >> 16 is x / 100 below 1,000, x * 6554 >> 16 is x / 10 below 100. */
VECTORS static inline __m512i digits_of(__m512i v)
{
	__m512i high = _mm512_srli_epi64(_mm512_mul_epu32(v, _mm512_set1_epi64(4294968)), 32);
	__m512i low = _mm512_sub_epi64(v, _mm512_mul_epu32(high, _mm512_set1_epi64(1000)));
	__m512i threes = _mm512_or_si512(high, _mm512_slli_epi64(low, 32));
	__m512i a = _mm512_mulhi_epu16(threes, _mm512_set1_epi32(656));
	__m512i rest = _mm512_sub_epi16(threes, _mm512_mullo_epi16(a, _mm512_set1_epi32(100)));
	__m512i b = _mm512_mulhi_epu16(rest, _mm512_set1_epi32(6554));
	__m512i c = _mm512_sub_epi16(rest, _mm512_mullo_epi16(b, _mm512_set1_epi32(10)));

	return _mm512_or_si512(
	    _mm512_or_si512(a, _mm512_slli_epi32(b, 8)), _mm512_slli_epi32(c, 16));
}

VECTORS static char *put_eight(char *p, __m256i ids)
{
	const __m512i no_hole = _mm512_set1_epi64((long long)0xffffffff00ffffff);
	const __m512i ascii = _mm512_set1_epi64(0x2c30303000303030); /* with the comma */
	__m512i digits = digits_of(_mm512_cvtepu32_epi64(ids)), zero = _mm512_setzero_si512();
	/* the last digit is kept if all are zeros */
	__m512i t = _mm512_or_si512(digits, _mm512_set1_epi64(INT64_C(1) << 48));
	__m512i first = _mm512_and_si512(t, _mm512_sub_epi64(zero, t)); /* the lowest bit */
	__mmask64 keep = _mm512_test_epi8_mask(_mm512_sub_epi64(zero, first), no_hole);

	/* packed in a register: into memory some processors take a hundred cycles */
	_mm512_storeu_si512(p, _mm512_maskz_compress_epi8(keep, _mm512_or_si512(digits, ascii)));
	return p + _mm_popcnt_u64(keep);
}

VECTORS static size_t put(char **p, const int32_t *v, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		__m256i ids = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));

		if (_mm256_cmpge_epu32_mask(ids, _mm256_set1_epi32(1000000)))
			break;
		*p = put_eight(*p, ids);
	}
	return i;
}

size_t ids_put(char **p, const int32_t *v, size_t n)
{
	return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512vl")
		   ? put(p, v, n)
		   : 0;
}

#else

size_t ids_put(char **p, const int32_t *v, size_t n)
{
	(void)p;
	(void)v;
	(void)n;
	return 0;
}

#endif
