#include "sim/timer.h"

#include <stdlib.h>

#include "base/mem.h"

static int before(const struct timer *a, const struct timer *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void put(struct timers *h, size_t i, struct timer *t)
{
	h->v[i] = t;
	t->at = i + 1;
}

static void up(struct timers *h, size_t i, struct timer *t)
{
	for (; i > 0 && before(t, h->v[(i - 1) / 2]); i = (i - 1) / 2)
		put(h, i, h->v[(i - 1) / 2]);
	put(h, i, t);
}

static void down(struct timers *h, size_t i, struct timer *t)
{
	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= h->n)
			break;
		if (c + 1 < h->n && before(h->v[c + 1], h->v[c]))
			c++;
		if (!before(h->v[c], t))
			break;
		put(h, i, h->v[c]);
		i = c;
	}
	put(h, i, t);
}

void timer_set(struct timers *h, struct timer *t, uint64_t due)
{
	timer_stop(h, t);
	t->due = due;
	t->order = h->order++;
	h->v = xgrow(h->v, &h->cap, h->n + 1, sizeof(*h->v));
	h->n++;
	up(h, h->n - 1, t);
}

void timer_stop(struct timers *h, struct timer *t)
{
	size_t i = t->at;
	struct timer *last;

	if (i == 0)
		return;
	i--;
	t->at = 0;
	last = h->v[--h->n];
	if (last == t)
		return;
	if (i > 0 && before(last, h->v[(i - 1) / 2]))
		up(h, i, last);
	else
		down(h, i, last);
}

struct timer *timer_due(struct timers *h, uint64_t now)
{
	struct timer *t = h->n > 0 ? h->v[0] : NULL;

	if (!t || t->due > now)
		return NULL;
	timer_stop(h, t);
	return t;
}

int timer_next(const struct timers *h, uint64_t *due)
{
	if (h->n == 0)
		return 0;
	*due = h->v[0]->due;
	return 1;
}

void timers_free(struct timers *h)
{
	free(h->v);
	*h = (struct timers){0};
}
