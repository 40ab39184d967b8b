#include "bpe/fast.h"

#include <stdlib.h>

#define LONG UINT64_MAX /* w[1] of no short piece's key, whose last byte is at most 15 */

/* A piece that the cache had not. */
struct miss {
	uint32_t piece; /* of the batch */
	uint32_t at;	/* ids of the batch before it that the cache had */
	uint32_t ids;
};

/* The pieces of a batch: piece i is [end[i - 1], end[i]), the first one begins at `begin`. */
struct batch {
	struct span text;
	size_t begin, n;
	uint32_t end[FAST_BATCH];
	uint32_t set[FAST_BATCH];
	struct cache_key key[FAST_BATCH]; /* of long ones w[0] is the hash, w[1] is LONG */
	uint16_t large[FAST_BATCH];	  /* the long ones */
	const struct cache_entry *entry[FAST_BATCH];
	struct miss miss[FAST_BATCH];
	size_t larges, misses;
};

void fast_init(struct fast *f, const struct core *core, const struct split_rules *rules)
{
	*f = (struct fast){
	    .core = core, .rules = rules, .window = window_best(), .batch = FAST_BATCH};
	cache_init(&f->cache);
}

void fast_free(struct fast *f)
{
	cache_free(&f->cache);
	free(f->work.dead);
	ints_free(&f->made);
	f->work = (struct core_work){0};
}

static struct span piece_at(const struct batch *b, size_t i)
{
	size_t at = i > 0 ? b->end[i - 1] : b->begin;

	return (struct span){b->text.p + at, b->end[i] - at};
}

/* cache_key where 16 bytes can't be read at p. */
static struct cache_key last_key(const char *p, size_t n)
{
	char copy[16] = {0};

	memcpy(copy, p, n);
	return cache_key(copy, n);
}

static void add_large(const struct cache *c, struct batch *b, size_t i, struct span piece)
{
	b->large[b->larges++] = (uint16_t)i;
	b->key[i] = (struct cache_key){{0, LONG}};
	b->set[i] = 0;
	if (piece.n > CACHE_LONG)
		return;
	b->key[i].w[0] = cache_hash(piece.p, piece.n);
	__builtin_prefetch(&c->entry[b->key[i].w[0] & (c->entries - 1)]);
}

/* Of the batch's pieces, how many are not within 16 bytes of the text's end. */
static size_t inner_pieces(const struct batch *b)
{
	size_t i = b->n;

	while (i > 0 && (i > 1 ? b->end[i - 2] : b->begin) + 16 > b->text.n)
		i--;
	return i;
}

/* Of the pieces from the first up to the last. */
static inline void make_some_keys(
    const struct cache *cache, struct batch *b, size_t first, size_t last, int inner)
{
	const struct cache c = *cache; /* copies: else read anew after each piece that is written */
	const char *text = b->text.p, *p = first > 0 ? text + b->end[first - 1] : text + b->begin;

	for (size_t i = first; i < last; i++) {
		const char *next = text + b->end[i];
		size_t n = (size_t)(next - p);

		if (n <= CACHE_SHORT) {
			struct cache_key k = inner ? cache_key(p, n) : last_key(p, n);
			size_t set = cache_set(&c, k);

			__builtin_prefetch(cache_slots(&c, set));
			b->key[i] = k;
			b->set[i] = (uint32_t)set;
		} else {
			add_large(cache, b, i, (struct span){p, n});
		}
		p = next;
	}
}

static void make_keys(const struct cache *c, struct batch *b)
{
	size_t inner = inner_pieces(b);

	b->larges = 0;
	make_some_keys(c, b, 0, inner, 1);
	make_some_keys(c, b, inner, b->n, 0);
}

static void find_large(const struct cache *c, struct batch *b)
{
	for (size_t k = 0; k < b->larges; k++) {
		size_t i = b->large[k], n = piece_at(b, i).n;
		const struct cache_entry *e =
		    n <= CACHE_LONG ? cache_candidate(c, b->key[i].w[0], n) : NULL;

		b->entry[i] = e;
		if (e) {
			__builtin_prefetch(c->word + e->at);
			__builtin_prefetch(c->word + e->at + 16);
		}
	}
}

static size_t copy_large(const struct cache *c, const struct cache_entry *e, int32_t *to)
{
	memcpy(to, cache_ids(c, e), e->ids * sizeof(*to));
	return e->ids;
}

/* Of a long piece. Returns how many ids, 0: the cache has it not. */
static size_t look_up_large(const struct cache *c, const struct batch *b, size_t i, int32_t *to)
{
	const struct cache_entry *e = b->key[i].w[1] == LONG ? b->entry[i] : NULL;

	return e && cache_is(c, e, piece_at(b, i).p) ? copy_large(c, e, to) : 0;
}

/* Writes the ids of the batch's pieces as far as the cache has them to out, which has room for one
 * a byte and CACHE_IDS. Returns how many. */
static size_t look_up(const struct cache *cache, struct batch *b, int32_t *out)
{
	const struct cache c = *cache; /* copies, as above */
	const size_t all = b->n;
	int32_t *to = out;
	size_t misses = 0;

	for (size_t i = 0; i < all; i++) {
		const struct cache_ids *hit = cache_find(&c, b->set[i], b->key[i]);
		size_t n = hit ? cache_unpack(to, hit) : look_up_large(cache, b, i, to);

		to += n;
		if (n == 0)
			b->miss[misses++] = (struct miss){(uint32_t)i, (uint32_t)(to - out), 0};
	}
	b->misses = misses;
	return (size_t)(to - out);
}

/* What an earlier miss of the batch has brought into the cache, or an older piece that is short but
 * many ids. Returns how many ids, 0 for none. */
static size_t look_again(const struct cache *c, struct cache_key k, struct span piece, int32_t *to)
{
	const struct cache_ids *hit = piece.n <= CACHE_SHORT ? cache_seek(c, k) : NULL;
	const struct cache_entry *e = NULL;

	if (hit)
		return cache_unpack(to, hit);
	if (piece.n <= CACHE_LONG)
		e = cache_candidate(c, cache_hash(piece.p, piece.n), piece.n);
	return e && cache_is(c, e, piece.p) ? copy_large(c, e, to) : 0;
}

static void make_missing(struct fast *f, struct batch *b)
{
	ints_reset(&f->made);
	for (size_t i = 0; i < b->misses; i++) {
		struct span piece = piece_at(b, b->miss[i].piece);
		struct cache_key k = b->key[b->miss[i].piece];
		int32_t *to = ints_room(&f->made, piece.n + CACHE_IDS);
		size_t n = look_again(&f->cache, k, piece, to);

		if (n == 0) {
			n = core_piece(f->core, &f->work, piece.p, piece.n, to);
			if (piece.n <= CACHE_SHORT && n <= CACHE_IDS)
				cache_add(&f->cache, k, cache_pack(to, n));
			else if (piece.n <= CACHE_LONG)
				cache_add_long(&f->cache, piece.p, piece.n, to, n);
		}
		f->made.n += n;
		b->miss[i].ids = (uint32_t)n;
	}
}

/* Puts the made ids between the n others, from behind. Returns how many there are then. */
static size_t put_missing(const struct fast *f, const struct batch *b, int32_t *out, size_t n)
{
	size_t left = f->made.n, end = n;

	for (size_t k = b->misses; k-- > 0;) {
		const struct miss *m = &b->miss[k];

		memmove(out + m->at + left, out + m->at, (end - m->at) * sizeof(*out));
		end = m->at;
		left -= m->ids;
		memcpy(out + end + left, f->made.v + left, m->ids * sizeof(*out));
	}
	return n + f->made.n;
}

void fast_text(struct fast *f, struct span text, struct ints *ids, struct ints *starts)
{
	struct batch b;
	struct split s;

	b.text = text;
	split_start(&s, f->rules, text.p, text.n);
	while (s.pos < s.n) {
		int32_t *to;
		size_t n;

		if (cache_is_full(&f->cache))
			cache_grow(&f->cache);
		b.begin = s.pos;
		b.n = window_fill(&s, f->window, b.end, f->batch);
		make_keys(&f->cache, &b);
		find_large(&f->cache, &b);
		to = ints_room(ids, s.pos - b.begin + CACHE_IDS);
		n = look_up(&f->cache, &b, to);
		if (b.misses > 0) {
			make_missing(f, &b);
			n = put_missing(f, &b, to, n);
		}
		if (starts) {
			core_starts(f->core, to, n, b.begin, ints_room(starts, n));
			starts->n += n;
		}
		ids->n += n;
	}
}
