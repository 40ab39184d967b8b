#include "vocabmap/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ints.h"
#include "base/mem.h"

/* qsort's comparison sees no context, so the key travels with the id. */
struct keyed {
	uint64_t count;
	uint32_t id;
	int forced;
};

static int better_first(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->forced != y->forced)
		return y->forced - x->forced;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

void ranking_make(
    struct ranking *r, const struct counts *c, int count_all, const struct ints *forced)
{
	struct keyed *k = xcalloc(c->vocab, sizeof(*k));

	*r = (struct ranking){.vocab = c->vocab};
	for (uint64_t i = 0; i < c->vocab; i++) {
		k[i].id = (uint32_t)i;
		k[i].count = count_all ? c->id[i].total : c->id[i].supervised;
	}
	for (size_t i = 0; i < forced->n; i++) {
		r->forced += !k[forced->v[i]].forced;
		k[forced->v[i]].forced = 1;
	}
	qsort(k, c->vocab, sizeof(*k), better_first);
	r->id = xreallocarray(NULL, c->vocab, sizeof(*r->id));
	for (uint64_t i = 0; i < c->vocab; i++)
		r->id[i] = k[i].id;
	free(k);
}

void ranking_free(struct ranking *r)
{
	free(r->id);
	*r = (struct ranking){0};
}

struct count ranking_covered(const struct ranking *r, const struct counts *c, uint64_t n)
{
	struct count sum = {0, 0};

	for (uint64_t i = 0; i < n && i < r->vocab; i++) {
		sum.supervised += c->id[r->id[i]].supervised;
		sum.total += c->id[r->id[i]].total;
	}
	return sum;
}

void map_make(struct map *m, const struct ranking *r, uint64_t draft)
{
	uint64_t n = 0;

	*m = (struct map){.draft = draft, .target = r->vocab};
	m->d2t = xcalloc(draft, sizeof(*m->d2t));
	m->t2d = xcalloc(r->vocab, 1);
	for (uint64_t i = 0; i < draft; i++)
		m->t2d[r->id[i]] = 1;
	for (uint64_t t = 0; t < r->vocab && n < draft; t++)
		if (m->t2d[t]) {
			m->d2t[n] = (int64_t)(t - n);
			n++;
		}
}

int map_check(const struct map *m, struct err *e)
{
	uint64_t n = 0;

	for (uint64_t t = 0; t < m->target; t++) {
		if (!m->t2d[t])
			continue;
		if (n >= m->draft || (uint64_t)m->d2t[n] + n != t || m->d2t[n] < 0 ||
		    (n > 0 && m->d2t[n] < m->d2t[n - 1]))
			return err_set(e, "internal",
			    "t2d and d2t contradict each other at target id %llu",
			    (unsigned long long)t);
		n++;
	}
	if (n != m->draft)
		return err_set(e, "internal", "t2d keeps %llu ids, expected %llu",
		    (unsigned long long)n, (unsigned long long)m->draft);
	return 0;
}

void map_free(struct map *m)
{
	free(m->d2t);
	free(m->t2d);
	*m = (struct map){0};
}
