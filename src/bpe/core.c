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

uint32_t core_len(const struct core *c, int32_t id)
{
	return c->token[id].len;
}

int32_t core_next(const struct core *c, int32_t id, struct span *bytes)
{
	for (size_t i = (size_t)(id + 1); i < c->vocab->n; i++)
		if (c->token[i].order != ORDER_UNKNOWN) {
			*bytes = vocab_bytes(c->vocab, (int32_t)i);
			return (int32_t)i;
		}
	return -1;
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

		if (pair_order(c, a, b) < limit)
			return 0;
		/* of equal merges the left one came first, so the right one is undone first, and
		 * an equal one at the border would have come before it */
		if (x->order > y->order) {
			limit = x->order;
			a = x->right;
		} else if (y->order >= 0) {
			limit = y->order + 1;
			b = y->left;
		} else {
			return 1;
		}
	}
}

/* The longest token that p[0..n) begins with. */
static int32_t longest(const struct core *c, const unsigned char *p, size_t n)
{
	const struct core_state *state = c->state;
	uint32_t s = 0;
	int32_t found = -1;

	for (size_t i = 0; i < n; i++) {
		uint32_t next = state[s].base + p[i];

		if (state[next].check != s)
			break;
		s = next;
		if (state[s].token >= 0)
			found = state[s].token;
	}
	return found;
}

static size_t read_piece(
    const struct core *c, uint64_t *dead, const unsigned char *p, size_t n, int32_t *out)
{
	int32_t next = longest(c, p, n);
	size_t pos = 0, k = 0;

	while (next >= 0) {
		int32_t t = next;
		size_t end = pos + c->token[t].len;

		while (dead[end / 64] >> end % 64 & 1 ||
		       (k > 0 && !core_compatible(c, out[k - 1], t, NO_MERGE))) {
			t = c->token[t].prefix;
			if (t < 0)
				break;
			end = pos + c->token[t].len;
		}
		if (t >= 0) {
			out[k++] = t;
			pos = end;
			next = pos < n ? longest(c, p + pos, n - pos) : -1;
		} else { /* single bytes always fit the start, so that k > 0 */
			dead[pos / 64] |= (uint64_t)1 << pos % 64;
			next = out[--k];
			pos -= c->token[next].len;
		}
	}
	return k;
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
