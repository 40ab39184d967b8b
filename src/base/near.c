#include "base/near.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MIN = 3, WORD_MAX = 40, LONG_WORD = 6 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many slips lie between a and b (optimal string alignment); both are WORD_MAX long at most. */
static size_t distance(struct span a, struct span b)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t k = 0; k <= b.n; k++)
		last[k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *free_row = before;

		now[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			size_t other = a.p[i - 1] != b.p[k - 1];

			now[k] = least(last[k - 1] + other, least(last[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
		before = last;
		last = now;
		now = free_row;
	}
	return last[b.n];
}

/* The name's beginning, or the greater part of it. */
static int is_part(struct span word, struct span name)
{
	size_t last = 2 * word.n < name.n ? 0 : name.n - word.n;

	for (size_t i = 0; word.n <= name.n && i <= last; i++)
		if (memcmp(name.p + i, word.p, word.n) == 0)
			return 1;
	return 0;
}

static size_t part_len(struct span s, size_t from)
{
	size_t n = 0;

	while (from + n < s.n && s.p[from + n] != '-' && s.p[from + n] != '_')
		n++;
	return n;
}

/* Whether all parts of a, which are between dashes, are parts of b. */
static int parts_among(struct span a, struct span b)
{
	for (size_t i = 0, n; i < a.n; i += n + 1) {
		size_t k = 0, m;

		n = part_len(a, i);
		while (k < b.n && ((m = part_len(b, k)) != n || memcmp(a.p + i, b.p + k, n) != 0))
			k += m + 1;
		if (k >= b.n)
			return 0;
	}
	return 1;
}

static size_t slips_between(struct span word, struct span name)
{
	if (is_part(word, name) || parts_among(word, name) || parts_among(name, word))
		return 1;
	return distance(word, name);
}

void near_try(struct near *n, struct span name)
{
	size_t slips, most = n->word.n < LONG_WORD ? 1 : 2;

	if (n->word.n < WORD_MIN || n->word.n > WORD_MAX || name.n > WORD_MAX)
		return;
	slips = slips_between(n->word, name);
	if (slips > most || (n->found > 0 && slips > n->slips))
		return;
	if (slips < n->slips)
		n->found = 0;
	n->slips = slips;
	if (n->found < 2)
		n->name[n->found] = name;
	n->found++;
}

const char *near_text(struct near *n)
{
	const char *before = n->before ? n->before : "";

	if (n->found == 1)
		snprintf(n->text, sizeof(n->text), ": did you mean %s%.*s?", before,
		    (int)n->name[0].n, n->name[0].p);
	if (n->found == 2)
		snprintf(n->text, sizeof(n->text), ": did you mean %s%.*s or %s%.*s?", before,
		    (int)n->name[0].n, n->name[0].p, before, (int)n->name[1].n, n->name[1].p);
	return n->text;
}

const char *near_among(struct near *n, const char *(*name)(size_t))
{
	const char *s;

	for (size_t i = 0; (s = name(i)); i++)
		near_try(n, (struct span){s, strlen(s)});
	return near_text(n);
}
