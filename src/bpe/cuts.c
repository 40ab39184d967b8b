#include "bpe/cuts.h"

#include <stdint.h>

#include "base/utf8.h"
#include "bpe/unicode.h"

#define BLOCK_MAX 400000
#define RUN_MAX	  25000

void cuts_start(struct cuts *c, const char *p, size_t n)
{
	*c = (struct cuts){p, n, 0, 0};
}

static int is_space(uint32_t cp)
{
	return (uni_class(cp) & CP_SPACE) || (cp >= 0x1C && cp <= 0x1F);
}

size_t cuts_next(struct cuts *c)
{
	size_t run = 0;
	int kind = -1;

	if (c->block == BLOCK_MAX)
		c->block = 0;
	while (c->pos < c->n && c->block < BLOCK_MAX) {
		uint32_t cp = 0;
		size_t len = utf8_decode(c->p + c->pos, c->n - c->pos, &cp);
		int space = is_space(cp);

		run = space == kind ? run + 1 : 1;
		kind = space;
		if (run > RUN_MAX)
			break;
		c->pos += len;
		c->block++;
	}
	return c->pos;
}
