#include "bpe/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

#define VOCAB_PAIRS (1 << 16) /* room at first */

static size_t pair_hash(int32_t left, int32_t right)
{
	uint64_t k = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

	k *= 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio */
	return (size_t)(k ^ k >> 29);
}

/* A power of two with at least half of it free. */
static size_t slots_for(size_t n)
{
	size_t slots = 16;

	while (slots < 2 * n)
		slots *= 2;
	return slots;
}

/* Checks id and length, and adds the bytes. */
static int add_bytes(struct vocab *v, struct vocab_entry *x, const char *p, struct err *e)
{
	if (x->id < 0 || x->id > VOCAB_MAX_ID)
		return err_set(e, "vocab", "token id %d: out of range", (int)x->id);
	if (v->bytes.len + x->n > UINT32_MAX)
		return err_set(e, "vocab", "tokens of more than 4 GiB");
	x->at = (uint32_t)v->bytes.len;
	buf_add(&v->bytes, p, x->n);
	return 0;
}

int vocab_put(struct vocab *v, struct vocab_entry x, const char *p, struct err *e)
{
	if (add_bytes(v, &x, p, e) < 0)
		return -1;
	v->entry = xgrow(v->entry, &v->cap, v->n + 1, sizeof(*v->entry));
	v->entry[v->n++] = x;
	return 0;
}

/* Puts the entries in their places by id. */
static int spread(struct vocab *v, struct err *e)
{
	struct vocab_entry *by_id;
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		if ((size_t)v->entry[i].id >= n)
			n = (size_t)v->entry[i].id + 1;
	if (n > 2 * v->n + VOCAB_HOLES)
		return err_set(e, "vocab", "token id %zu: too high for %zu tokens", n - 1, v->n);
	by_id = xcalloc(n ? n : 1, sizeof(*by_id));
	for (size_t i = 0; i < v->n; i++) {
		struct vocab_entry *to = &by_id[v->entry[i].id];

		if (to->n) {
			free(by_id);
			return err_set(e, "vocab", "token id %d stands twice", (int)v->entry[i].id);
		}
		*to = v->entry[i];
	}
	free(v->entry);
	v->entry = by_id;
	v->n = v->cap = n;
	return 0;
}

static size_t slot_of(const struct vocab *v, const char *p, size_t n)
{
	size_t mask = v->slots - 1, i = (size_t)hash64(p, n, 0) & mask;

	while (v->slot[i] >= 0) {
		const struct vocab_entry *x = &v->entry[v->slot[i]];

		if (x->n == n && memcmp(v->bytes.data + x->at, p, n) == 0)
			break;
		i = (i + 1) & mask;
	}
	return i;
}

int vocab_finish(struct vocab *v, struct err *e)
{
	if (spread(v, e) < 0)
		return -1;
	v->slots = slots_for(v->n);
	v->slot = xmalloc(v->slots * sizeof(*v->slot));
	memset(v->slot, 0xFF, v->slots * sizeof(*v->slot));
	for (size_t id = 0; id < v->n; id++) {
		const struct vocab_entry *x = &v->entry[id];
		size_t i;

		if (x->n == 0 || !(x->kind & TOKEN_TEXT))
			continue;
		i = slot_of(v, v->bytes.data + x->at, x->n);
		if (v->slot[i] >= 0)
			return err_set(e, "vocab", "tokens %d and %zu are the same bytes",
			    (int)v->slot[i], id);
		v->slot[i] = (int32_t)id;
	}
	for (int b = 0; b < 256; b++) {
		char c = (char)b;

		v->byte[b] = vocab_find(v, &c, 1);
	}
	return 0;
}

int32_t vocab_find(const struct vocab *v, const char *p, size_t n)
{
	return v->slot[slot_of(v, p, n)];
}

int vocab_name(struct vocab *v, int32_t id, struct span name, struct err *e)
{
	struct vocab_entry x = {.id = id, .n = (uint32_t)name.n, .kind = TOKEN_ADDED};

	if (id >= 0 && (size_t)id < v->n && v->entry[id].n > 0) {
		v->entry[id].kind |= TOKEN_ADDED;
		return 0;
	}
	if (add_bytes(v, &x, name.p, e) < 0)
		return -1;
	v->entry = xgrow(v->entry, &v->cap, (size_t)id + 1, sizeof(*v->entry));
	for (; v->n <= (size_t)id; v->n++)
		v->entry[v->n] = (struct vocab_entry){0};
	v->entry[id] = x;
	return 0;
}

static size_t pair_slot(const struct vocab *v, int32_t left, int32_t right)
{
	size_t mask = v->pair_slots - 1, i = pair_hash(left, right) & mask;

	while (v->pair[i].left >= 0 && (v->pair[i].left != left || v->pair[i].right != right))
		i = (i + 1) & mask;
	return i;
}

static void grow_pairs(struct vocab *v)
{
	struct vocab_pair *old = v->pair;
	size_t n = v->pair_slots;

	v->pair_slots = slots_for(n ? n : VOCAB_PAIRS);
	v->pair = xmalloc(v->pair_slots * sizeof(*v->pair));
	memset(v->pair, 0xFF, v->pair_slots * sizeof(*v->pair));
	for (size_t i = 0; i < n; i++)
		if (old[i].left >= 0)
			v->pair[pair_slot(v, old[i].left, old[i].right)] = old[i];
	free(old);
}

static void add_pair(struct vocab *v, struct vocab_pair x)
{
	struct vocab_pair *slot;

	if (2 * v->pairs >= v->pair_slots)
		grow_pairs(v);
	slot = &v->pair[pair_slot(v, x.left, x.right)];
	if (slot->left < 0)
		v->pairs++;
	*slot = x;
}

int vocab_merge(struct vocab *v, struct span both, size_t left, int32_t order, struct err *e)
{
	struct vocab_pair x = {.order = order};

	x.left = vocab_find(v, both.p, left);
	x.right = vocab_find(v, both.p + left, both.n - left);
	x.id = vocab_find(v, both.p, both.n);
	if (x.left < 0 || x.right < 0 || x.id < 0)
		return err_set(e, "vocab", "'%.*s' and '%.*s': %s not in the vocabulary", (int)left,
		    both.p, (int)(both.n - left), both.p + left,
		    x.left < 0	  ? "the first is"
		    : x.right < 0 ? "the second is"
				  : "what they make is");
	add_pair(v, x);
	return 0;
}

const struct vocab_pair *vocab_find_pair(const struct vocab *v, int32_t left, int32_t right)
{
	const struct vocab_pair *x;

	if (v->pairs == 0)
		return NULL;
	x = &v->pair[pair_slot(v, left, right)];
	return x->left < 0 ? NULL : x;
}

struct span vocab_bytes(const struct vocab *v, int32_t id)
{
	const struct vocab_entry *x;

	if (id < 0 || (size_t)id >= v->n || v->entry[id].n == 0)
		return (struct span){0};
	x = &v->entry[id];
	return (struct span){v->bytes.data + x->at, x->n};
}

void vocab_free(struct vocab *v)
{
	buf_free(&v->bytes);
	free(v->entry);
	if (!v->mapped)
		free(v->slot);
	free(v->pair);
	*v = (struct vocab){0};
}
