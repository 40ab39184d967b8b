/* Lays out the double-array trie of core_int.h. */
#include "base/mem.h"
#include "bpe/core_int.h"

#define FREE UINT32_MAX

/* Children are looked for at so many places in all, where real vocabularies need less than a million.
 * One can be made up whose children fit nowhere below the end of the states, at the square of their
 * number: from then on they are looked for near the end. */
#define LOOKS  (1u << 26)
#define WINDOW 256 /* states before the end, for each child */

struct trie {
	struct core *c;
	const struct core_named *sorted;
	size_t cap;	 /* states there is room for */
	size_t low, end; /* no state below `low` is free; all from `end` on are */
	size_t looks;	 /* places that were not it */
};

/* Room for states up to `need`, and the 256 behind them. */
static void grow(struct trie *t, size_t need)
{
	struct core *c = t->c;

	if (need + 256 < c->states)
		return;
	c->state = xgrow(c->state, &t->cap, need + 257, sizeof(*c->state));
	for (; c->states < t->cap; c->states++)
		c->state[c->states] = (struct core_state){0, FREE, -1};
}

/* From where on to look for a place of the first of n children. */
static size_t find_from(struct trie *t, unsigned char first, size_t n)
{
	size_t from;

	while (grow(t, t->low), t->c->state[t->low].check != FREE)
		t->low++;
	from = t->low;
	if (t->looks > LOOKS && t->end > from + WINDOW * n)
		from = t->end - WINDOW * n;
	return from > first ? from : (size_t)first + 1;
}

/* The lowest base at which all children's states are free, but for LOOKS. */
static uint32_t find_base(struct trie *t, const unsigned char *child, size_t n)
{
	size_t from = find_from(t, child[0], n), first, base, i;

	for (first = from;; first++) {
		base = first - child[0];
		grow(t, base + 255);
		for (i = 0; i < n && t->c->state[base + child[i]].check == FREE; i++)
			continue;
		if (i == n)
			break;
	}
	t->looks += first - from;
	if (t->end <= base + child[n - 1])
		t->end = base + child[n - 1] + 1;
	return (uint32_t)base;
}

/* Tokens that agree in their first `depth` bytes. */
struct range {
	size_t from, to, depth;
};

/* The distinct bytes that follow in the range, where none of its tokens ends. */
static size_t children(const struct trie *t, struct range r, unsigned char *child)
{
	size_t n = 0;

	for (size_t i = r.from; i < r.to; i++) {
		unsigned char c = (unsigned char)t->sorted[i].s.p[r.depth];

		if (n == 0 || child[n - 1] != c)
			child[n++] = c;
	}
	return n;
}

/* Lays out what follows state s, which stands for the range; `prefix` is the longest token before
 * s. Goes as deep as the longest token. */
static void lay_out(struct trie *t, uint32_t s, struct range r, int32_t prefix)
{
	unsigned char child[256];
	size_t n;
	uint32_t base;

	if (r.from < r.to && t->sorted[r.from].s.n == r.depth) {
		t->c->state[s].token = t->sorted[r.from].id;
		t->c->token[t->sorted[r.from].id].prefix = prefix;
		prefix = t->sorted[r.from++].id;
	}
	if (r.from >= r.to)
		return;
	n = children(t, r, child);
	base = find_base(t, child, n);
	t->c->state[s].base = base;
	for (size_t i = 0; i < n; i++)
		t->c->state[base + child[i]].check = s;
	for (size_t i = 0; i < n; i++) {
		size_t end = r.from;

		while (end < r.to && (unsigned char)t->sorted[end].s.p[r.depth] == child[i])
			end++;
		lay_out(t, base + child[i], (struct range){r.from, end, r.depth + 1}, prefix);
		r.from = end;
	}
}

void core_build_trie(struct core *c, const struct core_named *sorted, size_t n)
{
	struct trie t = {.c = c, .sorted = sorted, .low = 1};

	grow(&t, 1);
	c->state[0].check = 0; /* the root is nobody's child: no base is 0 */
	lay_out(&t, 0, (struct range){0, n, 0}, -1);
}
