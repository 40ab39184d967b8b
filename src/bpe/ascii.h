/* ascii.h - the classes of 64 bytes at once
 *
 * Bit i of a mask tells of byte i. Done by the widest vectors that the file that includes this may
 * use; all ways give the same. (private to window_*.c) */
#ifndef E3_BPE_ASCII_H
#define E3_BPE_ASCII_H

#include <stdint.h>

struct ascii_masks {
	uint64_t letter, upper, digit;
	uint64_t white, line; /* U+0009 to U+000D and the space; CR and LF of them */
	uint64_t space, apostrophe, slash;
	uint64_t control; /* the others below U+0020, and U+007F */
	uint64_t high;	  /* not ASCII */
	uint64_t rest;	  /* not the first byte of a character */
	uint64_t han;	  /* first byte of U+4E00 to U+9F7F */
};

/* Bytes of one kind in 64 bytes: ascii_range is first <= x < first + n, ascii_equal is x == c.
 * ascii_fold is a copy in which capitals are small letters, and letters only letters. */

#if defined(WINDOW_PLAIN)

struct ascii_bytes {
	unsigned char v[64];
};

static inline struct ascii_bytes ascii_load(const char *p)
{
	struct ascii_bytes x;

	for (int i = 0; i < 64; i++)
		x.v[i] = (unsigned char)p[i];
	return x;
}

static inline struct ascii_bytes ascii_fold(struct ascii_bytes x)
{
	for (int i = 0; i < 64; i++)
		x.v[i] |= 0x20;
	return x;
}

static inline uint64_t ascii_range(struct ascii_bytes x, unsigned char first, unsigned char n)
{
	uint64_t m = 0;

	for (int i = 0; i < 64; i++)
		m |= (uint64_t)((unsigned char)(x.v[i] - first) < n) << i;
	return m;
}

static inline uint64_t ascii_equal(struct ascii_bytes x, unsigned char c)
{
	return ascii_range(x, c, 1);
}

static inline uint64_t ascii_bit(struct ascii_bytes x, int bit)
{
	uint64_t m = 0;

	for (int i = 0; i < 64; i++)
		m |= (uint64_t)(x.v[i] >> bit & 1) << i;
	return m;
}

#elif defined(__AVX512BW__)

#include <immintrin.h>

struct ascii_bytes {
	__m512i v;
};

static inline struct ascii_bytes ascii_load(const char *p)
{
	return (struct ascii_bytes){_mm512_loadu_si512(p)};
}

static inline struct ascii_bytes ascii_fold(struct ascii_bytes x)
{
	return (struct ascii_bytes){_mm512_or_si512(x.v, _mm512_set1_epi8(0x20))};
}

static inline uint64_t ascii_range(struct ascii_bytes x, unsigned char first, unsigned char n)
{
	return _mm512_cmplt_epu8_mask(
	    _mm512_sub_epi8(x.v, _mm512_set1_epi8((char)first)), _mm512_set1_epi8((char)n));
}

static inline uint64_t ascii_equal(struct ascii_bytes x, unsigned char c)
{
	return _mm512_cmpeq_epi8_mask(x.v, _mm512_set1_epi8((char)c));
}

static inline uint64_t ascii_bit(struct ascii_bytes x, int bit)
{
	return _mm512_test_epi8_mask(x.v, _mm512_set1_epi8((char)(1 << bit)));
}

#elif defined(__AVX2__)

#include <immintrin.h>

struct ascii_bytes {
	__m256i a, b;
};

static inline struct ascii_bytes ascii_load(const char *p)
{
	return (struct ascii_bytes){_mm256_loadu_si256((const __m256i *)(const void *)p),
	    _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

static inline struct ascii_bytes ascii_fold(struct ascii_bytes x)
{
	__m256i low = _mm256_set1_epi8(0x20);

	return (struct ascii_bytes){_mm256_or_si256(x.a, low), _mm256_or_si256(x.b, low)};
}

static inline uint64_t ascii_both(__m256i a, __m256i b)
{
	return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b)
						       << 32;
}

/* Moved so that the range begins at the least of the signed bytes: there is no unsigned
 * comparison. */
static inline uint64_t ascii_range(struct ascii_bytes x, unsigned char first, unsigned char n)
{
	__m256i by = _mm256_set1_epi8((char)(0x80 - first)),
		end = _mm256_set1_epi8((char)(n - 0x80));

	return ascii_both(_mm256_cmpgt_epi8(end, _mm256_add_epi8(x.a, by)),
	    _mm256_cmpgt_epi8(end, _mm256_add_epi8(x.b, by)));
}

static inline uint64_t ascii_equal(struct ascii_bytes x, unsigned char c)
{
	__m256i y = _mm256_set1_epi8((char)c);

	return ascii_both(_mm256_cmpeq_epi8(x.a, y), _mm256_cmpeq_epi8(x.b, y));
}

static inline uint64_t ascii_bit(struct ascii_bytes x, int bit)
{
	return ascii_both(_mm256_slli_epi16(x.a, 7 - bit), _mm256_slli_epi16(x.b, 7 - bit));
}

#elif defined(__SSE2__)

#include <emmintrin.h>

struct ascii_bytes {
	__m128i v[4];
};

static inline struct ascii_bytes ascii_load(const char *p)
{
	struct ascii_bytes x;

	for (int i = 0; i < 4; i++)
		x.v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	return x;
}

static inline struct ascii_bytes ascii_fold(struct ascii_bytes x)
{
	for (int i = 0; i < 4; i++)
		x.v[i] = _mm_or_si128(x.v[i], _mm_set1_epi8(0x20));
	return x;
}

/* Moved so that the range begins at the least of the signed bytes: there is no unsigned
 * comparison. */
static inline uint64_t ascii_range(struct ascii_bytes x, unsigned char first, unsigned char n)
{
	__m128i by = _mm_set1_epi8((char)(0x80 - first)), end = _mm_set1_epi8((char)(n - 0x80));
	uint64_t m = 0;

	for (int i = 0; i < 4; i++)
		m |= (uint64_t)(unsigned)_mm_movemask_epi8(
			 _mm_cmplt_epi8(_mm_add_epi8(x.v[i], by), end))
		     << 16 * i;
	return m;
}

static inline uint64_t ascii_equal(struct ascii_bytes x, unsigned char c)
{
	uint64_t m = 0;

	for (int i = 0; i < 4; i++)
		m |= (uint64_t)(unsigned)_mm_movemask_epi8(
			 _mm_cmpeq_epi8(x.v[i], _mm_set1_epi8((char)c)))
		     << 16 * i;
	return m;
}

static inline uint64_t ascii_bit(struct ascii_bytes x, int bit)
{
	uint64_t m = 0;

	for (int i = 0; i < 4; i++)
		m |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_slli_epi16(x.v[i], 7 - bit))
		     << 16 * i;
	return m;
}

#elif defined(__ARM_NEON)

#include <arm_neon.h>

struct ascii_bytes {
	uint8x16_t v[4];
};

static inline struct ascii_bytes ascii_load(const char *p)
{
	struct ascii_bytes x;

	for (int i = 0; i < 4; i++)
		x.v[i] = vld1q_u8((const uint8_t *)p + 16 * i);
	return x;
}

static inline struct ascii_bytes ascii_fold(struct ascii_bytes x)
{
	for (int i = 0; i < 4; i++)
		x.v[i] = vorrq_u8(x.v[i], vdupq_n_u8(0x20));
	return x;
}

/* All ones or zeros a byte to a bit: there is no such instruction, but adding neighbours of bytes
 * with one bit each, three times, gathers eight of them. */
static inline uint64_t ascii_gather(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	static const uint8_t ones[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t bit = vld1q_u8(ones);
	uint8x16_t ab = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
	uint8x16_t cd = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
	uint8x16_t all = vpaddq_u8(ab, cd);

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline uint64_t ascii_range(struct ascii_bytes x, unsigned char first, unsigned char n)
{
	uint8x16_t y[4];

	for (int i = 0; i < 4; i++)
		y[i] = vcltq_u8(vsubq_u8(x.v[i], vdupq_n_u8(first)), vdupq_n_u8(n));
	return ascii_gather(y[0], y[1], y[2], y[3]);
}

static inline uint64_t ascii_equal(struct ascii_bytes x, unsigned char c)
{
	return ascii_range(x, c, 1);
}

static inline uint64_t ascii_bit(struct ascii_bytes x, int bit)
{
	uint8x16_t y[4];

	for (int i = 0; i < 4; i++)
		y[i] = vtstq_u8(x.v[i], vdupq_n_u8((uint8_t)(1u << bit)));
	return ascii_gather(y[0], y[1], y[2], y[3]);
}

#endif

static inline void ascii_classify(struct ascii_masks *m, const char p[64])
{
	struct ascii_bytes x = ascii_load(p);

	m->letter = ascii_range(ascii_fold(x), 'a', 26);
	m->upper = ascii_range(x, 'A', 26);
	m->digit = ascii_range(x, '0', 10);
	m->space = ascii_equal(x, ' ');
	m->white = m->space | ascii_range(x, '\t', 5);
	m->line = ascii_equal(x, '\n') | ascii_equal(x, '\r');
	m->apostrophe = ascii_equal(x, '\'');
	m->slash = ascii_equal(x, '/');
	m->control = (ascii_range(x, 0, 0x20) & ~m->white) | ascii_equal(x, 0x7F);
	m->high = ascii_bit(x, 7);
	m->rest = m->han = 0;
	if (!m->high)
		return;
	m->rest = ascii_range(x, 0x80, 0x40);
	/* E4 B8 80 to E9 BD BF */
	m->han = ascii_range(x, 0xE5, 4) | (ascii_equal(x, 0xE4) & ascii_range(x, 0xB8, 8) >> 1) |
		 (ascii_equal(x, 0xE9) & ascii_range(x, 0x80, 0x3E) >> 1);
}

/* Bits of 64 class bytes. */
static inline void ascii_transpose(uint64_t bit[8], const unsigned char class[64])
{
	struct ascii_bytes x = ascii_load((const char *)class);

	for (int i = 0; i < 8; i++)
		bit[i] = ascii_bit(x, i);
}

#endif
