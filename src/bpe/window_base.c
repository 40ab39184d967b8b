/* A window with what every processor of the kind has: SSE2, NEON. */
#include "bpe/window_body.h"

size_t window_base(const struct split *s, uint32_t *end)
{
	return window_one(s, end);
}
