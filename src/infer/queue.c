#include "infer/queue.h"

#include <stdlib.h>

#include "base/mem.h"
#include "infer/infer.h"

typedef int before_fn(const struct item *a, const struct item *b);

static int longer(const struct item *a, const struct item *b)
{
	return a->expect != b->expect ? a->expect > b->expect : a->seq < b->seq;
}

static int earlier(const struct item *a, const struct item *b)
{
	return a->not_before != b->not_before ? a->not_before < b->not_before : a->seq < b->seq;
}

static void put(struct heap *h, size_t at, struct item *it)
{
	h->v[at] = it;
	it->at = at;
}

static void sift_up(struct heap *h, size_t at, before_fn *before)
{
	struct item *it = h->v[at];

	while (at > 0 && before(it, h->v[(at - 1) / 2])) {
		put(h, at, h->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(h, at, it);
}

static void sift_down(struct heap *h, size_t at, before_fn *before)
{
	struct item *it = h->v[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < h->n && before(h->v[child + 1], h->v[child]))
			child++;
		if (child >= h->n || !before(h->v[child], it))
			break;
		put(h, at, h->v[child]);
		at = child;
	}
	put(h, at, it);
}

static void push(struct heap *h, struct item *it, before_fn *before)
{
	h->v = xgrow(h->v, &h->cap, h->n + 1, sizeof(struct item *));
	put(h, h->n++, it);
	sift_up(h, h->n - 1, before);
}

static void remove_at(struct heap *h, size_t at, before_fn *before)
{
	struct item *last = h->v[--h->n];

	if (at == h->n)
		return;
	put(h, at, last);
	sift_up(h, at, before);
	sift_down(h, last->at, before);
}

static int holds(const struct heap *h, const struct item *it)
{
	return it->at < h->n && h->v[it->at] == it;
}

void queue_add(struct queue *q, struct item *it)
{
	push(&q->fresh, it, longer);
}

void queue_wait(struct queue *q, struct item *it)
{
	push(&q->waiting, it, earlier);
}

void queue_suspect(struct queue *q, struct item *it)
{
	push(&q->suspects, it, earlier);
}

struct item *queue_due(const struct queue *q, uint64_t now)
{
	return q->waiting.n && q->waiting.v[0]->not_before <= now ? q->waiting.v[0] : NULL;
}

struct item *queue_first(const struct queue *q)
{
	return q->fresh.n ? q->fresh.v[0] : NULL;
}

static struct item *top(const struct heap *h)
{
	return h->n ? h->v[0] : NULL;
}

struct item *queue_last(const struct queue *q)
{
	return top(&q->suspects);
}

struct item *queue_any(const struct queue *q)
{
	if (q->fresh.n)
		return top(&q->fresh);
	return q->waiting.n ? top(&q->waiting) : top(&q->suspects);
}

void queue_take(struct queue *q, struct item *it)
{
	if (holds(&q->waiting, it))
		remove_at(&q->waiting, it->at, earlier);
	else if (holds(&q->fresh, it))
		remove_at(&q->fresh, it->at, longer);
	else if (holds(&q->suspects, it))
		remove_at(&q->suspects, it->at, earlier);
}

uint64_t queue_next_time(const struct queue *q)
{
	return q->waiting.n ? q->waiting.v[0]->not_before : UINT64_MAX;
}

void queue_free(struct queue *q)
{
	free(q->fresh.v);
	free(q->waiting.v);
	free(q->suspects.v);
	*q = (struct queue){0};
}
