/* A window with AVX2 and BMI2; the Makefile lets the compiler use them. */
#include "bpe/window_body.h"

#if defined(__x86_64__)

size_t window_avx2(const struct split *s, uint32_t *end)
{
	return window_one(s, end);
}

#endif
