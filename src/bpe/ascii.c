#include "bpe/ascii.h"

#include <stddef.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void plain(struct ascii_masks *m, const char p[64])
{
	*m = (struct ascii_masks){0};
	for (unsigned i = 0; i < 64; i++) {
		unsigned char c = (unsigned char)p[i];
		uint64_t bit = (uint64_t)1 << i;

		if ((unsigned char)((c | 0x20) - 'a') < 26)
			m->letter |= bit;
		if ((unsigned char)(c - 'A') < 26)
			m->upper |= bit;
		if ((unsigned char)(c - '0') < 10)
			m->digit |= bit;
		if (c == ' ' || (unsigned char)(c - '\t') < 5)
			m->white |= bit;
		if (c == '\n' || c == '\r')
			m->line |= bit;
		if (c == ' ')
			m->space |= bit;
		if (c == '\'')
			m->apostrophe |= bit;
		if (c == '/')
			m->slash |= bit;
		if (c >= 0x80)
			m->high |= bit;
	}
}

#if defined(__x86_64__)

/* first <= x < first + n for unsigned bytes: moved so that the range begins at the least of the
 * signed ones, since there is no unsigned comparison. */

static inline unsigned range16(__m128i x, char first, int n)
{
	__m128i moved = _mm_add_epi8(x, _mm_set1_epi8((char)(-128 - first)));

	return (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(moved, _mm_set1_epi8((char)(n - 128))));
}

static inline unsigned equal16(__m128i x, char c)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(c)));
}

static void sse2(struct ascii_masks *m, const char p[64])
{
	*m = (struct ascii_masks){0};
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		uint64_t space = equal16(x, ' ');

		m->letter |= (uint64_t)range16(_mm_or_si128(x, _mm_set1_epi8(0x20)), 'a', 26) << i;
		m->upper |= (uint64_t)range16(x, 'A', 26) << i;
		m->digit |= (uint64_t)range16(x, '0', 10) << i;
		m->white |= (space | range16(x, '\t', 5)) << i;
		m->line |= (uint64_t)(equal16(x, '\n') | equal16(x, '\r')) << i;
		m->space |= space << i;
		m->apostrophe |= (uint64_t)equal16(x, '\'') << i;
		m->slash |= (uint64_t)equal16(x, '/') << i;
		m->high |= (uint64_t)(unsigned)_mm_movemask_epi8(x) << i;
	}
}

__attribute__((target("avx2"))) static inline uint64_t range32(__m256i x, char first, int n)
{
	__m256i moved = _mm256_add_epi8(x, _mm256_set1_epi8((char)(-128 - first)));

	return (unsigned)_mm256_movemask_epi8(
	    _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(n - 128)), moved));
}

__attribute__((target("avx2"))) static inline uint64_t equal32(__m256i x, char c)
{
	return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(c)));
}

__attribute__((target("avx2"))) static void avx2(struct ascii_masks *m, const char p[64])
{
	__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
	__m256i low = _mm256_set1_epi8(0x20);

	m->letter = range32(_mm256_or_si256(x, low), 'a', 26) |
		    range32(_mm256_or_si256(y, low), 'a', 26) << 32;
	m->upper = range32(x, 'A', 26) | range32(y, 'A', 26) << 32;
	m->digit = range32(x, '0', 10) | range32(y, '0', 10) << 32;
	m->space = equal32(x, ' ') | equal32(y, ' ') << 32;
	m->white = m->space | range32(x, '\t', 5) | range32(y, '\t', 5) << 32;
	m->line = equal32(x, '\n') | equal32(x, '\r') | (equal32(y, '\n') | equal32(y, '\r')) << 32;
	m->apostrophe = equal32(x, '\'') | equal32(y, '\'') << 32;
	m->slash = equal32(x, '/') | equal32(y, '/') << 32;
	m->high = (uint64_t)(unsigned)_mm256_movemask_epi8(x) |
		  (uint64_t)(unsigned)_mm256_movemask_epi8(y) << 32;
}

__attribute__((target("avx512bw"))) static inline uint64_t range64(__m512i x, char first, char n)
{
	return _mm512_cmplt_epu8_mask(
	    _mm512_sub_epi8(x, _mm512_set1_epi8(first)), _mm512_set1_epi8(n));
}

__attribute__((target("avx512bw"))) static void avx512(struct ascii_masks *m, const char p[64])
{
	__m512i x = _mm512_loadu_si512(p);

	m->letter = range64(_mm512_or_si512(x, _mm512_set1_epi8(0x20)), 'a', 26);
	m->upper = range64(x, 'A', 26);
	m->digit = range64(x, '0', 10);
	m->space = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(' '));
	m->white = m->space | range64(x, '\t', 5);
	m->line = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n')) |
		  _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\r'));
	m->apostrophe = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\''));
	m->slash = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('/'));
	m->high = _mm512_movepi8_mask(x);
}

ascii_fn *ascii_tier(unsigned i)
{
	switch (i) {
	case 0: return plain;
	case 1: return sse2; /* every x86-64 */
	case 2: return __builtin_cpu_supports("avx2") ? avx2 : NULL;
	case 3: return __builtin_cpu_supports("avx512bw") ? avx512 : NULL;
	default: return NULL;
	}
}

#else

ascii_fn *ascii_tier(unsigned i)
{
	return i == 0 ? plain : NULL;
}

#endif

ascii_fn *ascii_best(void)
{
	ascii_fn *best = NULL;

	for (unsigned i = 0; ascii_tier(i); i++)
		best = ascii_tier(i);
	return best;
}
