/* One hash of a corpus's ids for each way of making them, for tests/oracle/bpe-all.
 *
 *	bpe_hash [-bp] [-s FAMILY] DIR <LIST	LIST has a file a line; -s: with that split in
 *						place of the folder's; -b: the blocks below too; -p:
 *						the plain merges too; both are slow
 *
 * Prints "BLOCK <TAB> WAY <TAB> HASH <TAB> IDS <TAB> BYTES <TAB> SECONDS" for each: all hashes of a
 * block must be equal. A block is the number of bytes that a file is cut into, each a text of its
 * own, or "whole". Special strings are text here; where the model normalises, texts are normalised
 * first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prog.h"
#include "base/utf8.h"
#include "bpe/fast.h"
#include "bpe/model.h"
#include "bpe/nfc.h"
#include "bpe/plain.h"
#include "json/doc.h"

#define PAGE	4096
#define WHOLE	SIZE_MAX
#define THREADS 8 /* at most */

struct text {
	char *p; /* ends where the page behind it may not be read */
	size_t n;
};

/* How ids are made. What is 0 is as it is by default. */
struct way {
	const char *name;
	window_fn *window; /* NULL: piece after piece, by the walker */
	int plain;	   /* by the plain merges */
	size_t batch;	   /* pieces */
	unsigned grown;	   /* how often the cache has grown before it begins */
	int small;	   /* the cache has few slots and few long pieces, and never grows */
	size_t threads;
};

/* One thread of a way, which takes every so manieth text. */
struct run {
	const struct bpe *b;
	const struct way *way;
	const struct text *text;
	size_t n, first, block;
	uint64_t *hash; /* of each text's ids */
	uint64_t ids, bytes;
};

struct corpus {
	struct text *text;
	size_t n;
};

/* Copies the text to the end of pages before one that is guarded. */
static struct text guard(const char *p, size_t n)
{
	size_t size = (n + PAGE - 1) / PAGE * PAGE;
	char *to = aligned_alloc(PAGE, size + PAGE);

	if (!to || mprotect(to + size, PAGE, PROT_NONE) < 0)
		abort();
	memcpy(to + size - n, p, n);
	return (struct text){to + size - n, n};
}

static void read_all(struct corpus *c, int nfc)
{
	struct buf data = {0}, normal = {0};
	char path[4096];
	struct err e = {0};
	size_t cap = 0;

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		buf_reset(&data);
		buf_reset(&normal);
		if (doc_slurp(&data, path, DOC_MAX, &e) < 0)
			prog_die(&e);
		if (nfc)
			nfc_apply(&normal, NULL, data.data, data.len);
		else
			buf_add(&normal, data.data, data.len);
		c->text = xgrow(c->text, &cap, c->n + 1, sizeof(*c->text));
		c->text[c->n++] = guard(normal.data, normal.len);
	}
	buf_free(&data);
	buf_free(&normal);
}

/* ---- one block ---- */

struct work {
	struct plain plain;
	struct core_work core;
	struct fast fast;
	struct ints ids;
};

static void piece_by_piece(const struct run *r, struct work *w, struct span text)
{
	struct split s;

	split_start(&s, r->b->split, text.p, text.n);
	while (s.pos < s.n) {
		size_t at = s.pos, end = split_next(&s);

		if (r->way->plain)
			plain_piece(&r->b->vocab, &w->plain, s.p + at, end - at, &w->ids, NULL);
		else
			w->ids.n += core_piece(
			    r->b->core, &w->core, s.p + at, end - at, ints_room(&w->ids, end - at));
	}
}

static void begin(const struct run *r, struct work *w)
{
	const struct way *way = r->way;

	fast_init(&w->fast, r->b->core, r->b->split);
	w->fast.window = way->window;
	if (way->batch)
		w->fast.batch = way->batch;
	for (unsigned i = 0; i < way->grown; i++)
		cache_grow(&w->fast.cache);
	if (way->small) {
		w->fast.cache.last_bits = CACHE_FIRST_BITS;
		w->fast.cache.last_entries = w->fast.cache.entries;
		w->fast.cache.last_words = 4 * CACHE_LONG;
	}
}

static void end(struct work *w)
{
	fast_free(&w->fast);
	plain_free(&w->plain);
	free(w->core.dead);
	ints_free(&w->ids);
}

/* ---- the corpus ---- */

/* Bytes of the next block: no more than r->block, if that is a whole character. */
static size_t next_block(const struct run *r, struct span rest)
{
	size_t n = rest.n < r->block ? rest.n : r->block;

	while (n < rest.n && n > 0 && (rest.p[n] & 0xC0) == 0x80)
		n--;
	return n > 0 ? n : utf8_len(rest.p, rest.n);
}

static void *run_thread(void *ctx)
{
	struct run *r = ctx;
	struct work w = {0};

	begin(r, &w);
	for (size_t i = r->first; i < r->n; i += r->way->threads) {
		struct span rest = {r->text[i].p, r->text[i].n};

		ints_reset(&w.ids);
		while (rest.n > 0) {
			struct span block = {rest.p, next_block(r, rest)};

			if (r->way->window)
				fast_text(&w.fast, block, &w.ids, NULL);
			else
				piece_by_piece(r, &w, block);
			rest = (struct span){rest.p + block.n, rest.n - block.n};
		}
		r->hash[i] = hash64(w.ids.v, w.ids.n * sizeof(*w.ids.v), 0);
		r->ids += w.ids.n;
		r->bytes += r->text[i].n;
	}
	end(&w);
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(const struct bpe *b, const struct corpus *c, const struct way *from, size_t block)
{
	struct way way = *from;
	struct run r[THREADS];
	pthread_t id[THREADS];
	uint64_t *hash = xcalloc(c->n, sizeof(*hash)), ids = 0, bytes = 0;
	double t = seconds();

	way.threads = way.threads ? way.threads : 1;
	for (size_t i = 0; i < way.threads; i++) {
		r[i] = (struct run){b, &way, c->text, c->n, i, block, hash, 0, 0};
		if (pthread_create(&id[i], NULL, run_thread, &r[i]) != 0)
			abort();
	}
	for (size_t i = 0; i < way.threads; i++) {
		pthread_join(id[i], NULL);
		ids += r[i].ids;
		bytes += r[i].bytes;
	}
	if (block == WHOLE)
		printf("whole");
	else
		printf("%zu", block);
	printf("\t%s\t%016llx\t%llu\t%llu\t%.1f\n", way.name,
	    (unsigned long long)hash64(hash, c->n * sizeof(*hash), 0), (unsigned long long)ids,
	    (unsigned long long)bytes, seconds() - t);
	fflush(stdout);
	free(hash);
}

static void run_tiers(const struct bpe *b, const struct corpus *c)
{
	for (unsigned i = 0; window_tier(i); i++)
		run(b, c, &(struct way){.name = window_tier_name(i), .window = window_tier(i)},
		    WHOLE);
}

static void run_ways(const struct bpe *b, const struct corpus *c)
{
	window_fn *best = window_best();
	const struct way way[] = {
	    {.name = "batches of 64", .window = best, .batch = 64},
	    {.name = "batches of 65", .window = best, .batch = 65},
	    {.name = "batches of 127", .window = best, .batch = 127},
	    {.name = "small cache", .window = best, .small = 1},
	    {.name = "cache grown once", .window = best, .grown = 1},
	    {.name = "cache grown twice", .window = best, .grown = 2},
	    {.name = "2 threads", .window = best, .threads = 2},
	    {.name = "3 threads", .window = best, .threads = 3},
	    {.name = "8 threads", .window = best, .threads = THREADS},
	};

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++)
		run(b, c, &way[i], WHOLE);
}

/* Of the smallest blocks an eighth of the corpus: they take ten times as long. */
static void run_blocks(const struct bpe *b, const struct corpus *c, const struct way *walker)
{
	static const size_t block[] = {1, 2, 3, 63, 64, 65, 4096};
	const struct way fast = {.name = "fast", .window = window_best()};

	for (size_t i = 0; i < sizeof(block) / sizeof(block[0]); i++) {
		struct corpus some = *c;

		if (block[i] < 8)
			some.n = (c->n + 7) / 8;
		run(b, &some, walker, block[i]);
		run(b, &some, &fast, block[i]);
	}
}

int main(int argc, char **argv)
{
	struct bpe *b;
	struct corpus corpus = {0};
	struct err e = {0};
	const char *family = NULL;
	const struct way walker = {.name = "walker"}, merges = {.name = "plain merges", .plain = 1};
	int c, all = 0, plain = 0;

	prog_name = "bpe_hash";
	while ((c = getopt(argc, argv, "aps:")) != -1) {
		all |= c == 'a';
		plain |= c == 'p';
		family = c == 's' ? optarg : family;
	}
	b = optind + 1 == argc ? bpe_open(argv[optind], &e) : NULL;
	if (!b)
		prog_die(&e);
	if (family)
		b->split = split_named(family);
	if (!b->split || !b->core)
		return EXIT_MISUSE;
	read_all(&corpus, b->nfc);
	run(b, &corpus, &walker, WHOLE);
	if (plain)
		run(b, &corpus, &merges, WHOLE);
	run_tiers(b, &corpus);
	if (all) {
		run_ways(b, &corpus);
		run_blocks(b, &corpus, &walker);
	}
	bpe_close(b);
	return EXIT_DONE;
}
