/* A window with AVX-512 of Ice Lake and Zen 4; the Makefile lets the compiler use it. */
#include "bpe/window_body.h"

#if defined(__x86_64__)

size_t window_avx512(const struct split *s, uint32_t *end)
{
	return window_one(s, end);
}

#endif
