#include "bpe/plain.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bpe/vocab.h"

#define NO_MERGE INT32_MAX

/* Up to here looking through all pairs is the faster way. */
#define LINEAR_MAX 32

void plain_free(struct plain *w)
{
	free(w->part);
	free(w->heap);
	*w = (struct plain){0};
}

static uint32_t part_end(const struct plain *w, uint32_t i, size_t n)
{
	return w->part[i].next == UINT32_MAX ? (uint32_t)n : w->part[w->part[i].next].at;
}

/* Notes how part i merges with the one behind it. */
static void look_up(const struct vocab *v, struct plain *w, uint32_t i, const char *p, size_t n)
{
	struct plain_part *a = &w->part[i], *b;
	const struct vocab_pair *pair;

	a->order = NO_MERGE;
	if (a->next == UINT32_MAX)
		return;
	b = &w->part[a->next];
	if (v->rule == VOCAB_RANKS) {
		a->merged = vocab_find(v, p + a->at, part_end(w, a->next, n) - a->at);
		if (a->merged >= 0)
			a->order = a->merged;
		return;
	}
	pair = vocab_find_pair(v, a->id, b->id);
	if (pair) {
		a->order = pair->order;
		a->merged = pair->id;
	}
}

/* One part a byte, without the bytes that have no token. Returns how many. */
static size_t begin(const struct vocab *v, struct plain *w, const char *p, size_t n)
{
	size_t parts = 0;

	w->part = xgrow(w->part, &w->part_cap, n, sizeof(*w->part));
	for (size_t i = 0; i < n; i++) {
		int32_t id = v->byte[(unsigned char)p[i]];

		if (id < 0)
			continue;
		w->part[parts] = (struct plain_part){.id = id,
		    .at = (uint32_t)i,
		    .prev = (uint32_t)parts - 1,
		    .next = (uint32_t)parts + 1};
		parts++;
	}
	if (parts > 0)
		w->part[parts - 1].next = UINT32_MAX;
	for (size_t i = 0; i < parts; i++)
		look_up(v, w, (uint32_t)i, p, n);
	return parts;
}

/* Merges part i with the one behind it, which is gone then. */
static void join(const struct vocab *v, struct plain *w, uint32_t i, const char *p, size_t n)
{
	struct plain_part *a = &w->part[i], *b = &w->part[a->next];

	a->id = a->merged;
	b->id = -1;
	a->next = b->next;
	if (a->next != UINT32_MAX)
		w->part[a->next].prev = i;
	look_up(v, w, i, p, n);
	if (a->prev != UINT32_MAX)
		look_up(v, w, a->prev, p, n);
}

/* The first part always stays the first. */
static void emit(const struct plain *w, struct ints *ids, struct ints *starts)
{
	for (uint32_t i = 0; i != UINT32_MAX; i = w->part[i].next) {
		ints_push(ids, w->part[i].id);
		if (starts)
			ints_push(starts, (int32_t)w->part[i].at);
	}
}

void plain_merge_linear(const struct vocab *v, struct plain *w, const char *p, size_t n,
    struct ints *ids, struct ints *starts)
{
	if (begin(v, w, p, n) == 0)
		return;
	for (;;) {
		uint32_t best = 0;

		for (uint32_t i = 0; i != UINT32_MAX; i = w->part[i].next)
			if (w->part[i].order < w->part[best].order)
				best = i;
		if (w->part[best].order == NO_MERGE)
			break;
		join(v, w, best, p, n);
	}
	emit(w, ids, starts);
}

static int before(struct plain_try a, struct plain_try b)
{
	return a.order != b.order ? a.order < b.order : a.part < b.part;
}

/* The merge of part i and its right neighbour as it stands now, into the heap. */
static void heap_push(struct plain *w, uint32_t i, size_t n)
{
	const struct plain_part *a = &w->part[i];
	struct plain_try x;
	size_t at = w->n;

	if (a->order == NO_MERGE)
		return;
	x = (struct plain_try){a->order, i, w->part[a->next].at, part_end(w, a->next, n)};
	w->heap = xgrow(w->heap, &w->heap_cap, ++w->n, sizeof(*w->heap));
	for (; at > 0 && before(x, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
		w->heap[at] = w->heap[(at - 1) / 2];
	w->heap[at] = x;
}

static struct plain_try heap_pop(struct plain *w)
{
	struct plain_try top = w->heap[0], x = w->heap[--w->n];
	size_t at = 0, kid;

	while ((kid = 2 * at + 1) < w->n) {
		if (kid + 1 < w->n && before(w->heap[kid + 1], w->heap[kid]))
			kid++;
		if (!before(w->heap[kid], x))
			break;
		w->heap[at] = w->heap[kid];
		at = kid;
	}
	w->heap[at] = x;
	return top;
}

/* Whether both parts are still what they were when x went into the heap. */
static int is_current(const struct plain *w, struct plain_try x, size_t n)
{
	const struct plain_part *a = &w->part[x.part];

	return a->id >= 0 && a->next != UINT32_MAX && w->part[a->next].at == x.left_end &&
	       part_end(w, a->next, n) == x.right_end;
}

void plain_merge_heap(const struct vocab *v, struct plain *w, const char *p, size_t n,
    struct ints *ids, struct ints *starts)
{
	size_t parts = begin(v, w, p, n);

	w->n = 0;
	for (size_t i = 0; i < parts; i++)
		heap_push(w, (uint32_t)i, n);
	while (w->n > 0) {
		struct plain_try x = heap_pop(w);

		if (!is_current(w, x, n))
			continue;
		join(v, w, x.part, p, n);
		heap_push(w, x.part, n);
		if (w->part[x.part].prev != UINT32_MAX)
			heap_push(w, w->part[x.part].prev, n);
	}
	if (parts > 0)
		emit(w, ids, starts);
}

void plain_piece(const struct vocab *v, struct plain *w, const char *p, size_t n, struct ints *ids,
    struct ints *starts)
{
	int32_t id = v->whole ? vocab_find(v, p, n) : -1;

	if (id >= 0) {
		ints_push(ids, id);
		if (starts)
			ints_push(starts, 0);
	} else if (n <= LINEAR_MAX) {
		plain_merge_linear(v, w, p, n, ids, starts);
	} else {
		plain_merge_heap(v, w, p, n, ids, starts);
	}
}
