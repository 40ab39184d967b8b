#include "bpe/fast.h"

#include <stdlib.h>

/* Pieces at a time: enough to hide the way to memory, few enough that keys stay in registers'
 * reach, the first-level cache. */
#define BATCH 128

/* The pieces of a batch: piece i is [end[i - 1], end[i]), the first one begins at `begin`. */
struct batch {
	size_t begin, n;
	size_t end[BATCH];
	size_t set[BATCH];
	struct cache_key key[BATCH]; /* of the short ones */
};

void fast_init(struct fast *f, const struct core *core, const struct split_rules *rules)
{
	*f = (struct fast){.core = core, .rules = rules, .classify = ascii_best()};
	cache_init(&f->cache);
}

void fast_free(struct fast *f)
{
	cache_free(&f->cache);
	free(f->work.dead);
	f->work = (struct core_work){0};
}

static void make_keys(const struct cache *c, struct batch *b, struct span text)
{
	size_t at = b->begin;

	for (size_t i = 0; i < b->n; i++) {
		size_t n = b->end[i] - at;

		if (n <= CACHE_SHORT) {
			b->key[i] = cache_key(text.p + at, n, at + 16 <= text.n);
			b->set[i] = cache_set(c, b->key[i]);
			__builtin_prefetch(&c->slot[b->set[i]]);
		}
		at = b->end[i];
	}
}

static size_t miss_short(struct fast *f, struct cache_key k, struct span piece, int32_t *out)
{
	size_t n = core_piece(f->core, &f->work, piece.p, piece.n, out);

	if (n <= CACHE_SHORT_IDS)
		cache_add(&f->cache, k, out, n);
	return n;
}

static size_t piece_long(struct fast *f, struct span piece, int32_t *out)
{
	const struct cache_long *hit;
	size_t n;

	if (piece.n > CACHE_LONG)
		return core_piece(f->core, &f->work, piece.p, piece.n, out);
	hit = cache_find_long(&f->cache, piece.p, piece.n);
	if (hit) {
		memcpy(out, hit->id, sizeof(hit->id));
		return (size_t)hit->n;
	}
	n = core_piece(f->core, &f->work, piece.p, piece.n, out);
	if (n <= CACHE_LONG_IDS)
		cache_add_long(&f->cache, piece.p, piece.n, out, n);
	return n;
}

/* Writes the ids of the batch's pieces to out, which has room for one a byte and a slot's more. */
static size_t look_up(struct fast *f, const struct batch *b, struct span text, int32_t *out)
{
	int32_t *to = out;
	size_t at = b->begin, slots = f->cache.slots;

	for (size_t i = 0; i < b->n; i++) {
		struct span piece = {text.p + at, b->end[i] - at};

		at = b->end[i];
		if (piece.n <= CACHE_SHORT) {
			/* a miss before may have let the table grow */
			size_t set =
			    f->cache.slots == slots ? b->set[i] : cache_set(&f->cache, b->key[i]);
			const struct cache_slot *hit = cache_find(&f->cache, set, b->key[i]);

			if (hit) {
				memcpy(to, hit->id, sizeof(hit->id));
				to += hit->w[1] >> 60;
			} else {
				to += miss_short(f, b->key[i], piece, to);
			}
		} else {
			to += piece_long(f, piece, to);
		}
	}
	return (size_t)(to - out);
}

static void add_starts(
    const struct core *core, struct ints *starts, const int32_t *id, size_t n, size_t at)
{
	int32_t *to = ints_room(starts, n);

	for (size_t i = 0; i < n; i++) {
		to[i] = (int32_t)at;
		at += core_len(core, id[i]);
	}
	starts->n += n;
}

void fast_text(struct fast *f, struct span text, struct ints *ids, struct ints *starts)
{
	struct batch b;
	struct split s;

	split_start(&s, f->rules, text.p, text.n);
	while (s.pos < s.n) {
		int32_t *to;
		size_t n;

		b.begin = s.pos;
		b.n = window_fill(&s, f->classify, b.end, BATCH);
		make_keys(&f->cache, &b, text);
		to = ints_room(ids, s.pos - b.begin + CACHE_LONG_IDS);
		n = look_up(f, &b, text, to);
		if (starts)
			add_starts(f->core, starts, to, n, b.begin);
		ids->n += n;
	}
}
