/* ascii.h - the classes of 64 bytes at once
 *
 * Bit i of a mask tells of byte i. Done by the widest vectors that the processor has; all ways give
 * the same. */
#ifndef E3_BPE_ASCII_H
#define E3_BPE_ASCII_H

#include <stdint.h>

struct ascii_masks {
	uint64_t letter, upper, digit;
	uint64_t white, line; /* U+0009 to U+000D and the space; CR and LF of them */
	uint64_t space, apostrophe, slash;
	uint64_t high; /* not ASCII */
};

typedef void ascii_fn(struct ascii_masks *m, const char p[64]);

/* The fastest one here. */
ascii_fn *ascii_best(void);
/* All that run here, the plain one first; NULL behind the last: for tests. */
ascii_fn *ascii_tier(unsigned i);

#endif
