#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpe/core_int.h"

/* A longer token would make the trie too deep to be laid out by recursion; the longest known has 256.
 */
#define TOKEN_MAX 2048

/* Of all tokens together, since each of their bytes may take a state of the trie; the largest known
 * vocabulary has 1.4 million. */
#define BYTES_MAX (16u << 20)

struct build {
	struct core *c;
	const struct vocab *v;
	struct core_named *sorted; /* the tokens of text */
	size_t n;
	/* ranks: the longest other token that each one begins with, and ends with; -1 is none */
	int32_t *prefix, *suffix;
	int covered; /* by the theorem, as far as is known */
};

typedef void pair_fn(struct build *b, struct vocab_pair x);

static int by_bytes(const void *x, const void *y)
{
	return span_order(((const struct core_named *)x)->s, ((const struct core_named *)y)->s);
}

/* The tokens by their bytes; by their bytes from the last to the first, if `turned` is all bytes of
 * the vocabulary in that order. */
static void sort(struct build *b, const char *turned)
{
	const struct vocab *v = b->v;

	b->n = 0;
	for (size_t id = 0; id < v->n; id++) {
		const struct vocab_entry *x = &v->entry[id];
		const char *p =
		    turned ? turned + (v->bytes.len - x->at - x->n) : v->bytes.data + x->at;

		if (x->n > 0 && (x->kind & TOKEN_TEXT))
			b->sorted[b->n++] = (struct core_named){{p, x->n}, (int32_t)id};
	}
	qsort(b->sorted, b->n, sizeof(*b->sorted), by_bytes);
}

static char *turn(const struct vocab *v)
{
	char *turned = xmalloc(v->bytes.len);

	for (size_t i = 0; i < v->bytes.len; i++)
		turned[i] = v->bytes.data[v->bytes.len - 1 - i];
	return turned;
}

static int begins_with(struct span s, struct span with)
{
	return s.n > with.n && memcmp(s.p, with.p, with.n) == 0;
}

/* By the tokens' ids. A token that begins with another comes behind it, and all between them begin
 * with that one too. */
static int32_t *find_prefixes(const struct build *b)
{
	int32_t *prefix = xreallocarray(NULL, b->v->n, sizeof(*prefix));
	const struct core_named *open[TOKEN_MAX]; /* each begins with the one before */
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct core_named *t = &b->sorted[i];

		while (n > 0 && !begins_with(t->s, open[n - 1]->s))
			n--;
		prefix[t->id] = n > 0 ? open[n - 1]->id : -1;
		open[n++] = t;
	}
	return prefix;
}

static void sort_tokens(struct build *b)
{
	b->sorted = xreallocarray(NULL, b->v->n, sizeof(*b->sorted));
	if (b->v->rule == VOCAB_RANKS) {
		char *turned = turn(b->v);

		sort(b, turned);
		b->suffix = find_prefixes(b);
		free(turned);
	}
	sort(b, NULL);
	if (b->v->rule == VOCAB_RANKS)
		b->prefix = find_prefixes(b);
}

/* Ranks: every cut of a token into two tokens is a merge. */
static void each_cut(struct build *b, size_t id, pair_fn *use)
{
	const struct vocab_entry *x = b->v->entry;
	int32_t left[TOKEN_MAX], right = b->suffix[id];
	size_t n = 0;

	for (int32_t i = b->prefix[id]; i >= 0; i = b->prefix[i])
		left[n++] = i;
	while (n > 0 && right >= 0) {
		int32_t l = left[n - 1], r = right;
		size_t both = (size_t)x[l].n + x[r].n;

		if (both == x[id].n)
			use(b, (struct vocab_pair){l, r, (int32_t)id, (int32_t)id});
		if (both <= x[id].n)
			n--;
		if (both >= x[id].n)
			right = b->suffix[right];
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

static int is_small(const struct vocab *v)
{
	if (v->bytes.len > BYTES_MAX)
		return 0;
	for (size_t id = 0; id < v->n; id++)
		if (v->entry[id].n > TOKEN_MAX)
			return 0;
	return 1;
}

/* Of the tokens that merging makes. */
static void add_trie(struct build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->c->token[b->sorted[i].id].order != ORDER_UNKNOWN)
			b->sorted[n++] = b->sorted[i];
	b->c->unmade = n < b->n;
	core_build_trie(b->c, b->sorted, n);
}

/* Fills b->c; -1 where the theorem does not cover it. */
static int build(struct build *b)
{
	const struct vocab *v = b->v;

	if (!is_small(v) || add_bytes(b) < 0)
		return -1;
	sort_tokens(b);
	if (v->rule == VOCAB_RANKS) {
		each_rank(b, add_pair);
		each_rank(b, check_pair);
	} else {
		each_merge(b, add_pair);
		each_merge(b, check_pair);
	}
	if (!b->covered)
		return -1;
	add_trie(b);
	return 0;
}

struct core *core_build(const struct vocab *v)
{
	struct core *c = xcalloc(1, sizeof(*c));
	struct build b = {.c = c, .v = v, .covered = 1};

	init(c, v);
	if (build(&b) < 0) {
		core_free(c);
		c = NULL;
	}
	free(b.sorted);
	free(b.prefix);
	free(b.suffix);
	return c;
}
