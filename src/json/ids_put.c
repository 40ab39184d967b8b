/* Ids as text, eight at a time: packed at once where the processor packs bytes (AVX-512 VBMI2),
 * else shifted each by itself (AVX2). */
#include "json/ids_fast.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <string.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))
#define AVX2   __attribute__((target("avx2")))

#define BELOW 1000000 /* six digits */

/* Of eight numbers the digits, abc0def0 from the lowest byte. The products are exact in their high
 * halves: x * 656 >> 16 is x / 100 below 1,000, x * 6554 >> 16 is x / 10 below 100. */
AVX512 static inline __m512i digits_of(__m512i v)
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

AVX512 static char *put_eight(char *p, __m256i ids)
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

AVX512 static size_t put_avx512(char **p, const int32_t *v, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		__m256i ids = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));

		if (_mm256_cmpge_epu32_mask(ids, _mm256_set1_epi32(BELOW)))
			break;
		*p = put_eight(*p, ids);
	}
	return i;
}

/* The same of four, abcdef00. */
AVX2 static inline __m256i four_digits(__m256i v)
{
	const __m256i no_hole = _mm256_set_epi64x(
	    0x0f0b0e0d0c0a0908, 0x0703060504020100, 0x0f0b0e0d0c0a0908, 0x0703060504020100);
	__m256i high = _mm256_srli_epi64(_mm256_mul_epu32(v, _mm256_set1_epi64x(4294968)), 32);
	__m256i low = _mm256_sub_epi64(v, _mm256_mul_epu32(high, _mm256_set1_epi64x(1000)));
	__m256i threes = _mm256_or_si256(high, _mm256_slli_epi64(low, 32));
	__m256i a = _mm256_mulhi_epu16(threes, _mm256_set1_epi32(656));
	__m256i rest = _mm256_sub_epi16(threes, _mm256_mullo_epi16(a, _mm256_set1_epi32(100)));
	__m256i b = _mm256_mulhi_epu16(rest, _mm256_set1_epi32(6554));
	__m256i c = _mm256_sub_epi16(rest, _mm256_mullo_epi16(b, _mm256_set1_epi32(10)));
	__m256i all =
	    _mm256_or_si256(_mm256_or_si256(a, _mm256_slli_epi32(b, 8)), _mm256_slli_epi32(c, 16));

	return _mm256_shuffle_epi8(all, no_hole);
}

/* How many bytes each takes with its comma, less seven: -5 to 0. */
AVX2 static inline __m256i lacking(__m256i v)
{
	__m256i n = _mm256_set1_epi32(-5);

	for (int32_t ten = 10; ten < BELOW; ten *= 10)
		n = _mm256_sub_epi32(n, _mm256_cmpgt_epi32(v, _mm256_set1_epi32(ten - 1)));
	return n;
}

AVX2 static inline char *put_four(char *p, __m128i ids, __m128i lacks)
{
	const __m256i ascii = _mm256_set1_epi64x(0x2c303030303030); /* with the comma */
	__m256i zeros =
	    _mm256_cvtepu32_epi64(_mm_slli_epi32(_mm_sub_epi32(_mm_setzero_si128(), lacks), 3));
	__m256i digits = four_digits(_mm256_cvtepu32_epi64(ids));
	uint64_t text[4];
	int32_t lack[4];

	_mm256_storeu_si256(
	    (__m256i *)(void *)text, _mm256_srlv_epi64(_mm256_or_si256(digits, ascii), zeros));
	_mm_storeu_si128((__m128i *)(void *)lack, lacks);
	for (unsigned i = 0; i < 4; i++) {
		memcpy(p, &text[i], sizeof(text[i]));
		p += 7 + lack[i];
	}
	return p;
}

AVX2 static size_t put_avx2(char **p, const int32_t *v, size_t n)
{
	const __m256i below = _mm256_set1_epi32(BELOW);
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		__m256i ids = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));
		__m256i lacks = lacking(ids);

		if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(ids, below), ids)))
			break;
		*p = put_four(*p, _mm256_castsi256_si128(ids), _mm256_castsi256_si128(lacks));
		*p = put_four(
		    *p, _mm256_extracti128_si256(ids, 1), _mm256_extracti128_si256(lacks, 1));
	}
	return i;
}

ids_put_fn *ids_put_tier(unsigned i)
{
	ids_put_fn *here[2];
	unsigned n = 0;

	if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		here[n++] = put_avx512;
	if (__builtin_cpu_supports("avx2"))
		here[n++] = put_avx2;
	return i < n ? here[i] : NULL;
}

#else

ids_put_fn *ids_put_tier(unsigned i)
{
	(void)i;
	return NULL;
}

#endif

size_t ids_put(char **p, const int32_t *v, size_t n)
{
	ids_put_fn *put = ids_put_tier(0);

	return put ? put(p, v, n) : 0;
}
