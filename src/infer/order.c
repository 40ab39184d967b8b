#include "infer/order.h"

#include <stdlib.h>

#include "base/mem.h"

static struct order_slot *slot_of(struct order *o, uint64_t seq)
{
	return &o->slot[seq % o->cap];
}

/* The ring's places depend on its size: a larger one is filled anew. */
static void grow(struct order *o, uint64_t seq)
{
	struct order n = {.cap = o->cap ? o->cap : 64, .first = o->first};

	while (seq - o->first >= n.cap)
		n.cap *= 2;
	if (n.cap == o->cap)
		return;
	n.slot = xcalloc(n.cap, sizeof(*n.slot));
	for (uint64_t s = o->first; s < o->first + o->cap; s++)
		*slot_of(&n, s) = *slot_of(o, s);
	free(o->slot);
	*o = n;
}

int order_tell(
    struct order *o, uint64_t seq, struct buf *line, order_fn *fn, void *ctx, struct err *e)
{
	struct order_slot *s;
	int rc = 0;

	grow(o, seq);
	s = slot_of(o, seq);
	s->told = 1;
	if (line) {
		s->line = *line;
		*line = (struct buf){0};
	}
	for (s = slot_of(o, o->first); s->told && rc == 0; s = slot_of(o, ++o->first)) {
		if (s->line.len)
			rc = fn(ctx, s->line.data, s->line.len, e);
		buf_free(&s->line);
		s->told = 0;
	}
	return rc;
}

void order_free(struct order *o)
{
	for (size_t i = 0; i < o->cap; i++)
		buf_free(&o->slot[i].line);
	free(o->slot);
	*o = (struct order){0};
}
