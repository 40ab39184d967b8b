#include "bpe/moves.h"

#include <stdlib.h>

#include "base/mem.h"

void moves_add(struct moves *m, struct move x)
{
	if (!m)
		return;
	m->v = xgrow(m->v, &m->cap, m->n + 1, sizeof(*m->v));
	m->v[m->n++] = x;
}

void moves_free(struct moves *m)
{
	free(m->v);
	*m = (struct moves){0};
}

size_t moves_origin(const struct moves *m, size_t to, size_t *hint)
{
	const struct move *x;

	while (*hint + 1 < m->n && m->v[*hint + 1].to <= to)
		++*hint;
	x = &m->v[*hint];
	return x->same ? x->from + (to - x->to) : x->from;
}
