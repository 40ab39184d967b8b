#include "bpe/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpe/core_int.h"

void core_free(struct core *c)
{
	if (!c)
		return;
	if (!c->mapped) {
		free(c->token);
		free(c->state);
		free(c->pair);
		free(c->filter);
	}
	free(c);
}

void core_starts(const struct core *c, const int32_t *id, size_t n, size_t at, int32_t *start)
{
	for (size_t i = 0; i < n; i++) {
		start[i] = (int32_t)at;
		at += c->token[id[i]].len;
	}
}

static size_t filter_bit(int32_t left, int32_t right)
{
	uint64_t k = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

	return (size_t)(k * 0xD6E8FEB86659FD93u >> 41); /* any odd multiplier will do */
}

static size_t pair_slot(const struct core *c, int32_t left, int32_t right)
{
	uint64_t k = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9E3779B97F4A7C15u;
	size_t mask = c->pair_slots - 1, i = (size_t)(k >> 32) & mask;

	while (c->pair[i].left >= 0 && (c->pair[i].left != left || c->pair[i].right != right))
		i = (i + 1) & mask;
	return i;
}

void core_add_pair(struct core *c, struct core_pair x)
{
	size_t bit = filter_bit(x.left, x.right);

	c->filter[bit / 64] |= (uint64_t)1 << bit % 64;
	c->pair[pair_slot(c, x.left, x.right)] = x;
}

static int32_t pair_order(const struct core *c, int32_t left, int32_t right)
{
	size_t bit = filter_bit(left, right);
	const struct core_pair *x;

	if (!(c->filter[bit / 64] >> bit % 64 & 1))
		return NO_MERGE;
	x = &c->pair[pair_slot(c, left, right)];
	return x->left < 0 ? NO_MERGE : x->order;
}

int core_compatible(const struct core *c, int32_t a, int32_t b, int32_t limit)
{
	for (;;) {
		const struct core_token *x = &c->token[a], *y = &c->token[b];
		int later;

		if (pair_order(c, a, b) < limit)
			return 0;
		/* of equal merges the left one came first, so the right one is undone first, and
		 * an equal one at the border would have come before it; which of the two it is
		 * can't be foreseen, so it is no branch */
		later = x->order > y->order;
		if (!later && y->order < 0)
			return 1;
		limit = later ? x->order : y->order + 1;
		a = later ? x->right : a;
		b = later ? b : y->left;
	}
}

/* A token and where it ends. */
struct place {
	int32_t token;
	size_t end;
};

/* The longest token at p[pos..n); pos < n. */
static struct place longest(const struct core *c, const unsigned char *p, size_t pos, size_t n)
{
	const struct core_state *state = c->state;
	uint32_t s = 0;
	struct place found = {-1, pos};

	for (size_t i = pos; i < n; i++) {
		uint32_t next = state[s].base + p[i];

		if (state[next].check != s)
			break;
		s = next;
		if (state[s].token >= 0)
			found = (struct place){state[s].token, i + 1};
	}
	return found;
}

static int fits(
    const struct core *c, const uint64_t *dead, const int32_t *out, size_t k, const struct place *x)
{
	return !(dead[x->end / 64] >> x->end % 64 & 1) &&
	       (k == 0 || core_compatible(c, out[k - 1], x->token, NO_MERGE));
}

static size_t read_piece(
    const struct core *c, uint64_t *dead, const unsigned char *p, size_t n, int32_t *out)
{
	struct place next = longest(c, p, 0, n);
	size_t pos = 0, k = 0;

	for (;;) {
		while (next.token >= 0 && !fits(c, dead, out, k, &next)) {
			next.token = c->token[next.token].prefix;
			if (next.token >= 0)
				next.end = pos + c->token[next.token].len;
		}
		if (next.token >= 0) {
			out[k++] = next.token;
			pos = next.end;
			if (pos == n)
				return k;
			next = longest(c, p, pos, n);
		} else { /* single bytes always fit the start, so that k > 0 */
			dead[pos / 64] |= (uint64_t)1 << pos % 64;
			next = (struct place){out[--k], pos};
			pos -= c->token[next.token].len;
		}
	}
}

size_t core_piece(const struct core *c, struct core_work *w, const char *p, size_t n, int32_t *out)
{
	uint64_t few[4] = {0};
	int32_t id;

	if (c->vocab->whole && c->unmade && (id = vocab_find(c->vocab, p, n)) >= 0) {
		out[0] = id;
		return 1;
	}
	if (n < 64 * sizeof(few) / sizeof(few[0]))
		return read_piece(c, few, (const unsigned char *)p, n, out);
	w->dead = xgrow(w->dead, &w->cap, n / 64 + 1, sizeof(*w->dead));
	memset(w->dead, 0, (n / 64 + 1) * sizeof(*w->dead));
	return read_piece(c, w->dead, (const unsigned char *)p, n, out);
}
