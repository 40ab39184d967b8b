/* A window with no vectors. */
#define WINDOW_PLAIN
#include "bpe/window_body.h"

size_t window_plain(const struct split *s, uint32_t *end)
{
	return window_one(s, end);
}
