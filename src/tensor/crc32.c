#include "tensor/crc32.h"

#include <string.h>

/* Slicing by 8: table[k][b] is what byte b contributes k bytes later. A table is linear over GF(2),
 * so the eight contributions of its single bits make all of it. */
#define BIT(n, b, c) (((n) >> (b)&1) ? (uint32_t)(c) : 0u)
#define E(n, ...)    SUM(n, __VA_ARGS__)
#define SUM(n, a, b, c, d, e, f, g, h)                                                             \
	(BIT(n, 0, a) ^ BIT(n, 1, b) ^ BIT(n, 2, c) ^ BIT(n, 3, d) ^ BIT(n, 4, e) ^ BIT(n, 5, f) ^ \
	    BIT(n, 6, g) ^ BIT(n, 7, h))
#define E4(n, ...) \
	E(n, __VA_ARGS__), E((n) + 1, __VA_ARGS__), E((n) + 2, __VA_ARGS__), E((n) + 3, __VA_ARGS__)
#define E16(n, ...)                                                             \
	E4(n, __VA_ARGS__), E4((n) + 4, __VA_ARGS__), E4((n) + 8, __VA_ARGS__), \
	    E4((n) + 12, __VA_ARGS__)
#define E64(n, ...)                                                                  \
	E16(n, __VA_ARGS__), E16((n) + 16, __VA_ARGS__), E16((n) + 32, __VA_ARGS__), \
	    E16((n) + 48, __VA_ARGS__)
#define TABLE(...)                                                                \
	{                                                                         \
		E64(0, __VA_ARGS__), E64(64, __VA_ARGS__), E64(128, __VA_ARGS__), \
		    E64(192, __VA_ARGS__)                                         \
	}

static const uint32_t table[8][256] = {
    TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190,
	0xedb88320),
    TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05,
	0x3b83984b),
    TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0,
	0xe1351b80),
    TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d,
	0xed59b63b),
    TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849,
	0xb1e6b092),
    TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c,
	0x1eb014d8),
    TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579,
	0x8816eaf2),
    TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed,
	0x533b85da),
};

static uint32_t load32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* c is the register, neither inverted before nor after. */
static uint32_t by_table(uint32_t c, const unsigned char *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		uint32_t a = c ^ load32(p), b = load32(p + 4);

		c = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^
		    table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
		    table[1][b >> 16 & 255] ^ table[0][b >> 24];
	}
	for (; n > 0; p++, n--)
		c = table[0][(c ^ *p) & 255] ^ c >> 8;
	return c;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Folding by carry-less multiplication: V. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel 2009. 64 bytes a step in four independent lanes;
 * a lane moves by 64 bytes with x^(512+32) and x^(512-32), by 16 bytes with x^(128+32) and
 * x^(128-32), all modulo the polynomial and reflected. The 16 bytes that remain are congruent to
 * all the input, so the tables finish them. */
#define FOLD __attribute__((target("pclmul,sse4.1")))

FOLD static __m128i fold(__m128i x, __m128i k, __m128i next)
{
	return _mm_xor_si128(next,
	    _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11)));
}

FOLD static __m128i at(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* n is at least 64; *done is how much was taken, a multiple of 16. */
FOLD static uint32_t by_fold(uint32_t c, const unsigned char *p, size_t n, size_t *done)
{
	const __m128i k512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
	const __m128i k128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
	__m128i a = _mm_xor_si128(at(p), _mm_cvtsi32_si128((int)c));
	__m128i b = at(p + 16), d = at(p + 32), f = at(p + 48);
	unsigned char last[16];
	size_t i = 64;

	for (; n - i >= 64; i += 64) {
		a = fold(a, k512, at(p + i));
		b = fold(b, k512, at(p + i + 16));
		d = fold(d, k512, at(p + i + 32));
		f = fold(f, k512, at(p + i + 48));
	}
	a = fold(fold(fold(a, k128, b), k128, d), k128, f);
	for (; n - i >= 16; i += 16)
		a = fold(a, k128, at(p + i));
	_mm_storeu_si128((__m128i *)(void *)last, a);
	*done = i;
	return by_table(0, last, sizeof(last));
}

static uint32_t update(uint32_t c, const unsigned char *p, size_t n)
{
	size_t done = 0;

	if (n >= 64 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"))
		c = by_fold(c, p, n, &done);
	return by_table(c, p + done, n - done);
}
#else
#define update by_table
#endif

uint32_t crc32_add(uint32_t crc, const void *p, size_t n)
{
	return n > 0 ? ~update(~crc, p, n) : crc;
}
