/* squeeze.h - bits moved together, and apart again
 *
 * squeeze(s, x) takes the bits of x at which s->keep has one and moves them together at the lower
 * end; spread(s, x) moves them back. Processors that can do it have BMI2; for the others it is done
 * in six steps, each of which moves bits by a power of two (H. S. Warren, Hacker's Delight, 7-4).
 * (private to window_*.c) */
#ifndef E3_BPE_SQUEEZE_H
#define E3_BPE_SQUEEZE_H

#include <stdint.h>

#if defined(__BMI2__) && !defined(WINDOW_PLAIN)

#include <immintrin.h>

struct squeeze {
	uint64_t keep;
};

static inline void squeeze_init(struct squeeze *s, uint64_t keep)
{
	s->keep = keep;
}

static inline uint64_t squeeze(const struct squeeze *s, uint64_t x)
{
	return _pext_u64(x, s->keep);
}

static inline uint64_t spread(const struct squeeze *s, uint64_t x)
{
	return _pdep_u64(x, s->keep);
}

#else

struct squeeze {
	uint64_t keep, move[6]; /* bits that step i moves by 2^i */
};

/* Each bit, whether the number of bits below it, itself included, is odd. */
static inline uint64_t squeeze_parity(uint64_t x)
{
	for (unsigned i = 1; i < 64; i *= 2)
		x ^= x << i;
	return x;
}

static inline void squeeze_init(struct squeeze *s, uint64_t keep)
{
	uint64_t here = keep, gaps = ~keep << 1;

	s->keep = keep;
	for (unsigned i = 0; i < 6; i++) {
		uint64_t odd = squeeze_parity(gaps), move = odd & here;

		s->move[i] = move;
		here = (here ^ move) | move >> (1u << i);
		gaps &= ~odd;
	}
}

static inline uint64_t squeeze(const struct squeeze *s, uint64_t x)
{
	x &= s->keep;
	for (unsigned i = 0; i < 6; i++) {
		uint64_t t = x & s->move[i];

		x = (x ^ t) | t >> (1u << i);
	}
	return x;
}

static inline uint64_t spread(const struct squeeze *s, uint64_t x)
{
	for (unsigned i = 6; i-- > 0;) {
		uint64_t t = x << (1u << i);

		x = (x & ~s->move[i]) | (t & s->move[i]);
	}
	return x & s->keep;
}

#endif

#endif
