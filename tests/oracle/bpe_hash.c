/* One hash of a corpus's ids for each way of making them, for tests/oracle/bpe-all.
 *
 *	bpe_hash [-p] [-s FAMILY] DIR <LIST	LIST has a file a line; -s: with that split in place
 *of the folder's; -p: the plain merges too, which are slow
 *
 * Prints "WAY <TAB> HASH <TAB> IDS <TAB> BYTES <TAB> SECONDS" for each: all hashes must be equal.
 *Special strings are text here; where the model normalises, texts are normalised first. */
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
#include "bpe/fast.h"
#include "bpe/model.h"
#include "bpe/nfc.h"
#include "bpe/plain.h"
#include "json/doc.h"

#define PAGE	4096
#define FORGET	(64u << 10) /* a cache that is thrown away after so many bytes */
#define THREADS 3

struct text {
	char *p; /* ends where the page behind it may not be read */
	size_t n;
};

struct run {
	struct bpe *b;
	struct text *text;
	size_t n;
	uint64_t *hash; /* of each text's ids */
	uint64_t ids;
};

typedef void way_fn(struct run *r, unsigned tier);

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

static void read_all(struct run *r)
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
		if (r->b->nfc)
			nfc_apply(&normal, NULL, data.data, data.len);
		else
			buf_add(&normal, data.data, data.len);
		r->text = xgrow(r->text, &cap, r->n + 1, sizeof(*r->text));
		r->text[r->n++] = guard(normal.data, normal.len);
	}
	r->hash = xcalloc(r->n, sizeof(*r->hash));
	buf_free(&data);
	buf_free(&normal);
}

static void note(struct run *r, size_t i, struct ints *ids)
{
	r->hash[i] = hash64((const char *)ids->v, ids->n * sizeof(*ids->v), 0);
	r->ids += ids->n;
	ints_reset(ids);
}

/* ---- the ways ---- */

static void by_plain(struct run *r, unsigned tier)
{
	struct plain w = {0};
	struct ints ids = {0};

	(void)tier;
	for (size_t i = 0; i < r->n; i++) {
		struct split s;

		split_start(&s, r->b->split, r->text[i].p, r->text[i].n);
		while (s.pos < s.n) {
			size_t at = s.pos, end = split_next(&s);

			plain_piece(&r->b->vocab, &w, s.p + at, end - at, &ids, NULL);
		}
		note(r, i, &ids);
	}
	ints_free(&ids);
	plain_free(&w);
}

static void by_walker(struct run *r, unsigned tier)
{
	struct core_work w = {0};
	struct ints ids = {0};

	(void)tier;
	for (size_t i = 0; i < r->n; i++) {
		struct split s;

		split_start(&s, r->b->split, r->text[i].p, r->text[i].n);
		while (s.pos < s.n) {
			size_t at = s.pos, end = split_next(&s);

			ids.n += core_piece(
			    r->b->core, &w, s.p + at, end - at, ints_room(&ids, end - at));
		}
		note(r, i, &ids);
	}
	ints_free(&ids);
	free(w.dead);
}

static void by_tier(struct run *r, unsigned tier)
{
	struct fast f;
	struct ints ids = {0};

	fast_init(&f, r->b->core, r->b->split);
	f.window = window_tier(tier);
	for (size_t i = 0; i < r->n; i++) {
		fast_text(&f, (struct span){r->text[i].p, r->text[i].n}, &ids, NULL);
		note(r, i, &ids);
	}
	fast_free(&f);
	ints_free(&ids);
}

/* The cache is small: it is new for every few texts' worth of bytes. */
static void by_small_cache(struct run *r, unsigned tier)
{
	struct fast f;
	struct ints ids = {0};
	size_t seen = 0;

	(void)tier;
	fast_init(&f, r->b->core, r->b->split);
	for (size_t i = 0; i < r->n; i++) {
		if (seen > FORGET) {
			fast_free(&f);
			fast_init(&f, r->b->core, r->b->split);
			seen = 0;
		}
		fast_text(&f, (struct span){r->text[i].p, r->text[i].n}, &ids, NULL);
		seen += r->text[i].n;
		note(r, i, &ids);
	}
	fast_free(&f);
	ints_free(&ids);
}

static void encode(struct run *r, struct bpe_work *w, size_t i, struct ints *ids)
{
	struct bpe_text t = {r->text[i].p, r->text[i].n, BPE_NO_SPECIAL};
	struct err e = {0};

	if (bpe_encode(r->b, w, t, ids, NULL, &e) < 0)
		prog_die(&e);
}

struct thread {
	struct run run; /* with hash and text shared */
	size_t first;
};

static void *thread_main(void *ctx)
{
	struct thread *t = ctx;
	struct bpe_work *w = bpe_work_open(t->run.b);
	struct ints ids = {0};

	for (size_t i = t->first; i < t->run.n; i += THREADS) {
		encode(&t->run, w, i, &ids);
		note(&t->run, i, &ids);
	}
	bpe_work_close(w);
	ints_free(&ids);
	return NULL;
}

static void by_threads(struct run *r, unsigned tier)
{
	struct thread t[THREADS];
	pthread_t id[THREADS];

	(void)tier;
	for (size_t i = 0; i < THREADS; i++) {
		t[i] = (struct thread){*r, i};
		if (pthread_create(&id[i], NULL, thread_main, &t[i]) != 0)
			abort();
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		r->ids += t[i].run.ids;
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(struct run *r, const char *name, way_fn *way, unsigned tier)
{
	double t = seconds();
	size_t bytes = 0;

	memset(r->hash, 0, r->n * sizeof(*r->hash));
	r->ids = 0;
	way(r, tier);
	for (size_t i = 0; i < r->n; i++)
		bytes += r->text[i].n;
	printf("%s\t%016llx\t%llu\t%zu\t%.1f\n", name,
	    (unsigned long long)hash64((const char *)r->hash, r->n * sizeof(*r->hash), 0),
	    (unsigned long long)r->ids, bytes, seconds() - t);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct run r = {0};
	struct err e = {0};
	const char *family = NULL;
	int c, plain = 0;

	prog_name = "bpe_hash";
	while ((c = getopt(argc, argv, "ps:")) != -1) {
		plain |= c == 'p';
		family = c == 's' ? optarg : family;
	}
	r.b = optind + 1 == argc ? bpe_open(argv[optind], &e) : NULL;
	if (!r.b)
		prog_die(&e);
	if (family)
		r.b->split = split_named(family);
	if (!r.b->split || !r.b->core)
		return EXIT_MISUSE;
	read_all(&r);
	run(&r, "walker", by_walker, 0);
	for (unsigned i = 0; window_tier(i); i++) {
		char name[40];

		snprintf(name, sizeof(name), "tier %s", window_tier_name(i));
		run(&r, name, by_tier, i);
	}
	run(&r, "small cache", by_small_cache, 0);
	run(&r, "threads", by_threads, 0);
	if (plain)
		run(&r, "plain", by_plain, 0);
	bpe_close(r.b);
	return EXIT_DONE;
}
