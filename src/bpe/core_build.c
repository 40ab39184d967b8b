#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpe/core_int.h"

/* Longer ones would make the trie too deep to be laid out by recursion; the longest known has 256.
 */
#define TOKEN_MAX 2048

struct build {
	struct core *c;
	const struct vocab *v;
	int covered; /* by the theorem, as far as is known */
};

typedef void pair_fn(struct build *b, struct vocab_pair x);

/* Ranks: every cut of a token into two tokens is a merge. */
static void each_cut(struct build *b, size_t id, pair_fn *use)
{
	const struct vocab *v = b->v;
	struct span s = vocab_bytes(v, (int32_t)id);

	for (size_t left = 1; left < s.n; left++) {
		struct vocab_pair x = {.order = (int32_t)id, .id = (int32_t)id};

		x.left = vocab_find(v, s.p, left);
		if (x.left < 0)
			continue;
		x.right = vocab_find(v, s.p + left, s.n - left);
		if (x.right >= 0)
			use(b, x);
	}
}

static void each_rank(struct build *b, pair_fn *use)
{
	for (size_t id = 0; id < b->v->n; id++)
		if ((b->v->entry[id].kind & TOKEN_TEXT) && b->c->token[id].order == ORDER_UNKNOWN)
			each_cut(b, id, use);
}

/* Merges: the list without the replaced ones, in its order. */
static void each_merge(struct build *b, pair_fn *use)
{
	const struct vocab *v = b->v;
	const struct vocab_pair **by_order;
	size_t n = 0;

	for (size_t i = 0; i < v->pair_slots; i++)
		if (v->pair[i].left >= 0 && (size_t)v->pair[i].order >= n)
			n = (size_t)v->pair[i].order + 1;
	by_order = xcalloc(n, sizeof(*by_order));
	for (size_t i = 0; i < v->pair_slots; i++)
		if (v->pair[i].left >= 0)
			by_order[v->pair[i].order] = &v->pair[i];
	for (size_t i = 0; i < n; i++)
		if (by_order[i])
			use(b, *by_order[i]);
	free(by_order);
}

/* The first of a token's merges whose halves stay apart until then is the one. */
static void add_pair(struct build *b, struct vocab_pair x)
{
	struct core_token *t = b->c->token;

	if (t[x.id].order != ORDER_UNKNOWN || t[x.left].order == ORDER_UNKNOWN ||
	    t[x.right].order == ORDER_UNKNOWN || !core_compatible(b->c, x.left, x.right, x.order))
		return;
	t[x.id].order = x.order;
	t[x.id].left = x.left;
	t[x.id].right = x.right;
	core_add_pair(b->c, (struct core_pair){x.left, x.right, x.order});
}

/* A token that nothing makes, but for halves that are made after they would merge. */
static void check_pair(struct build *b, struct vocab_pair x)
{
	const struct core_token *t = b->c->token;

	if (t[x.id].order == ORDER_UNKNOWN && t[x.left].order != ORDER_UNKNOWN &&
	    t[x.right].order != ORDER_UNKNOWN &&
	    (t[x.left].order > x.order || t[x.right].order > x.order))
		b->covered = 0;
}

/* The bytes; -1 where one has no token, though it can stand in UTF-8. */
static int add_bytes(struct build *b)
{
	for (int i = 0; i < 256; i++) {
		int32_t id = b->v->byte[i];

		if (id >= 0)
			b->c->token[id].order = ORDER_BYTE;
		else if (i <= 0xF4 && i != 0xC0 && i != 0xC1)
			return -1;
	}
	return 0;
}

static void init(struct core *c, const struct vocab *v)
{
	c->vocab = v;
	c->token = xcalloc(v->n, sizeof(*c->token));
	c->filter = xcalloc(FILTER_BITS / 64, sizeof(*c->filter));
	for (c->pair_slots = 16; c->pair_slots < 2 * v->n; c->pair_slots *= 2)
		continue;
	c->pair = xcalloc(c->pair_slots, sizeof(*c->pair));
	memset(c->pair, 0xFF, c->pair_slots * sizeof(*c->pair));
	for (size_t id = 0; id < v->n; id++)
		c->token[id] = (struct core_token){ORDER_UNKNOWN, -1, -1, -1, v->entry[id].n};
}

static int is_short(const struct vocab *v)
{
	for (size_t id = 0; id < v->n; id++)
		if (v->entry[id].n > TOKEN_MAX)
			return 0;
	return 1;
}

struct core *core_build(const struct vocab *v)
{
	struct core *c = xcalloc(1, sizeof(*c));
	struct build b = {c, v, 1};

	init(c, v);
	if (!is_short(v) || add_bytes(&b) < 0) {
		core_free(c);
		return NULL;
	}
	if (v->rule == VOCAB_RANKS) {
		each_rank(&b, add_pair);
		each_rank(&b, check_pair);
	} else {
		each_merge(&b, add_pair);
		each_merge(&b, check_pair);
	}
	if (!b.covered) {
		core_free(c);
		return NULL;
	}
	for (size_t id = 0; id < v->n; id++)
		if ((v->entry[id].kind & TOKEN_TEXT) && c->token[id].order == ORDER_UNKNOWN)
			c->unmade = 1;
	core_build_trie(c);
	return c;
}
