#include "merge/index.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Entries are kept apart by the first bits of their keys: each part is sorted by itself. */
#define PART_BITS 8
#define PARTS	  (1u << PART_BITS)

struct part {
	struct entry *v;
	size_t n, cap;
};

struct index {
	struct part part[PARTS];
	size_t n;
};

struct index *index_open(void)
{
	return xcalloc(1, sizeof(struct index));
}

void index_close(struct index *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < PARTS; i++)
		free(x->part[i].v);
	free(x);
}

void index_add(struct index *x, const struct entry *entry)
{
	struct part *p = &x->part[entry->key >> (64 - PART_BITS)];

	p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = *entry;
	x->n++;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int rank_order(const struct rank *a, const struct rank *b)
{
	if (a->key != b->key)
		return order(a->key, b->key);
	if (a->id != b->id)
		return order(a->id, b->id);
	if (a->line != b->line)
		return order(a->line, b->line);
	return order(a->record, b->record);
}

static int entry_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	struct rank rx = {x->key, x->id, x->line, x->record};
	struct rank ry = {y->key, y->id, y->line, y->record};

	return rank_order(&rx, &ry);
}

/* ---- the first choices, which look only back ---- */

/* The first entry of each content, in open addressing. The contents are in the entries, which stay
 * where they are: 12 bytes a record. */
struct seen {
	const struct entry **slot; /* NULL where no contents are compared */
	size_t cap;
};

static void seen_open(struct seen *s, size_t n)
{
	s->cap = n + n / 2 + 1;
	s->slot = xcalloc(s->cap, sizeof(*s->slot));
}

/* Whether it is the first of its content. */
static int seen_add(struct seen *s, const struct entry *e)
{
	size_t i = e->content.lo % s->cap;

	for (; s->slot[i]; i = i + 1 < s->cap ? i + 1 : 0)
		if (s->slot[i]->content.hi == e->content.hi &&
		    s->slot[i]->content.lo == e->content.lo)
			return 0;
	s->slot[i] = e;
	return 1;
}

struct walk {
	const struct limits *limits;
	struct seen seen;
	uint64_t *kept;		    /* by dataset */
	const struct entry *before; /* the entry before, whatever became of it */
};

static enum choice choose(struct walk *w, const struct entry *e)
{
	const struct entry *before = w->before;

	w->before = e;
	if (before && before->key == e->key && before->id == e->id)
		return CHOICE_SAME_ID;
	if (w->seen.slot && !seen_add(&w->seen, e))
		return CHOICE_SAME_CONTENT;
	if (w->kept[e->dataset] >= w->limits->cap[e->dataset])
		return CHOICE_CAP;
	w->kept[e->dataset]++;
	return CHOICE_KEEP;
}

static void first_choices(struct index *x, struct walk *w, uint8_t *verdict)
{
	for (size_t i = 0; i < PARTS; i++) {
		struct part *p = &x->part[i];

		if (p->n > 0)
			qsort(p->v, p->n, sizeof(*p->v), entry_order);
		w->before = NULL; /* the same id is in the same part */
		for (size_t k = 0; k < p->n; k++)
			verdict[p->v[k].record] = (uint8_t)choose(w, &p->v[k]);
	}
}

/* ---- weights, which need the counts of all ---- */

/* Turns what there is of each dataset into what may stay. */
static int weigh(const struct limits *limits, uint64_t *left, uint16_t *empty)
{
	double scale = INFINITY;

	for (uint16_t d = 0; d < limits->datasets; d++) {
		if (limits->weight[d] <= 0)
			continue;
		if (left[d] == 0) {
			*empty = d;
			return -1;
		}
		scale = fmin(scale, (double)left[d] / limits->weight[d]);
	}
	for (uint16_t d = 0; d < limits->datasets; d++) {
		double n;

		if (limits->weight[d] < 0)
			continue;
		/* 0.7 * (9 / 0.1) is a little less than 63 */
		n = limits->weight[d] > 0 ? floor(limits->weight[d] * scale * (1 + 1e-12)) : 0;
		if (n < (double)left[d])
			left[d] = (uint64_t)n;
	}
	return 0;
}

static void last_choice(const struct index *x, uint64_t *left, uint8_t *verdict)
{
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *p = &x->part[i];

		for (size_t k = 0; k < p->n; k++) {
			uint8_t *v = &verdict[p->v[k].record];

			if (*v != CHOICE_KEEP)
				continue;
			if (left[p->v[k].dataset] == 0)
				*v = CHOICE_MIX;
			else
				left[p->v[k].dataset]--;
		}
	}
}

uint8_t *index_decide(struct index *x, const struct limits *limits, uint16_t *empty)
{
	struct walk w = {.limits = limits};
	uint8_t *verdict = xcalloc(x->n, 1);

	w.kept = xcalloc(limits->datasets, sizeof(*w.kept));
	if (limits->by_content)
		seen_open(&w.seen, x->n);
	first_choices(x, &w, verdict);
	if (weigh(limits, w.kept, empty) == 0) {
		last_choice(x, w.kept, verdict);
	} else {
		free(verdict);
		verdict = NULL;
	}
	for (size_t i = 0; i < PARTS; i++) {
		free(x->part[i].v);
		x->part[i] = (struct part){0};
	}
	free(w.seen.slot);
	free(w.kept);
	return verdict;
}
