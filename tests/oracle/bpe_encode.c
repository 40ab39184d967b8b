/* Encodes for tests/oracle/bpe.py and tests/bench/tokenizer.sh.
 *
 *	bpe_encode DIR		requests {u32 flags, u32 n, n bytes} on stdin; for each on stdout
 *				{u32 count, count ids as i32, count starts as i32}
 *	bpe_encode plain DIR	the same by the plain way
 *	bpe_encode as FAMILY DIR	the same with that family's split in place of the folder's
 *	bpe_encode split FAMILY	the same requests; {u32 count, count piece ends as u32}
 *
 *	bpe_encode time DIR FILE...	MB/s of the first pass and of the best of three more, by
 *					CPU time
 *	bpe_encode two DIR FILE...	the same of two threads, each with the whole text, by the
 *					clock
 *	bpe_encode hostile DIR		MB/s of texts that are meant to be slow
 *
 * Numbers are in the machine's byte order. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/ints.h"
#include "base/prog.h"
#include "bpe/model.h"
#include "bpe/split.h"
#include "json/doc.h"

static int read_request(uint32_t *flags, struct buf *text)
{
	uint32_t head[2];

	if (fread(head, sizeof(head), 1, stdin) != 1)
		return 0;
	*flags = head[0];
	buf_reset(text);
	buf_room(text, head[1] + 1);
	text->len = head[1];
	return head[1] == 0 || fread(text->data, head[1], 1, stdin) == 1;
}

static void write_ints(const struct ints *a)
{
	if (a->n > 0)
		fwrite(a->v, sizeof(*a->v), a->n, stdout);
}

static void answer(const struct ints *ids, const struct ints *more)
{
	uint32_t n = (uint32_t)ids->n;

	fwrite(&n, sizeof(n), 1, stdout);
	write_ints(ids);
	write_ints(more);
	fflush(stdout);
}

static int split_all(const char *family)
{
	const struct split_rules *rules = split_named(family);
	struct buf text = {0};
	struct ints ends = {0}, none = {0};
	uint32_t flags;

	if (!rules)
		return EXIT_MISUSE;
	while (read_request(&flags, &text)) {
		struct split s;

		ints_reset(&ends);
		split_start(&s, rules, text.data, text.len);
		while (s.pos < s.n)
			ints_push(&ends, (int32_t)split_next(&s));
		answer(&ends, &none);
	}
	buf_free(&text);
	ints_free(&ends);
	return EXIT_DONE;
}

static int encode_all(const char *dir, const char *family, int plain)
{
	struct err e = {0};
	struct bpe *b = plain ? bpe_open_uncached(dir, &e) : bpe_open(dir, &e);
	struct bpe_work *w;
	struct buf text = {0};
	struct ints ids = {0}, starts = {0};
	uint32_t flags;

	if (!b)
		prog_die(&e);
	if (family)
		b->split = split_named(family);
	if (!b->split)
		return EXIT_MISUSE;
	if (plain) {
		core_free(b->core);
		b->core = NULL;
	}
	w = bpe_work_open(b);
	while (read_request(&flags, &text)) {
		ints_reset(&ids);
		ints_reset(&starts);
		if (bpe_encode(
			b, w, (struct bpe_text){text.data, text.len, flags}, &ids, &starts, &e) < 0)
			prog_die(&e);
		answer(&ids, &starts);
	}
	buf_free(&text);
	ints_free(&ids);
	ints_free(&starts);
	bpe_work_close(w);
	bpe_close(b);
	return EXIT_DONE;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define PASSES 4

/* One thread's passes over a text. */
struct timing {
	const struct bpe *b;
	struct span text;
	double pass[PASSES];
	size_t ids;
	clockid_t clock;
	pthread_barrier_t *together; /* or NULL */
};

static void *time_passes(void *arg)
{
	struct timing *t = arg;
	struct bpe_work *w = bpe_work_open(t->b);
	struct ints ids = {0};
	struct err e = {0};

	for (int pass = 0; pass < PASSES; pass++) {
		if (t->together)
			pthread_barrier_wait(t->together);
		t->pass[pass] = seconds(t->clock);
		ints_reset(&ids);
		if (bpe_encode(
			t->b, w, (struct bpe_text){t->text.p, t->text.n, 0}, &ids, NULL, &e) < 0)
			prog_die(&e);
		if (t->together)
			pthread_barrier_wait(t->together);
		t->pass[pass] = seconds(t->clock) - t->pass[pass];
	}
	t->ids = ids.n;
	ints_free(&ids);
	bpe_work_close(w);
	return NULL;
}

static void print_timing(const char *name, const struct timing *t, size_t bytes)
{
	double warm = t->pass[1];

	for (int i = 2; i < PASSES; i++)
		warm = t->pass[i] < warm ? t->pass[i] : warm;
	printf("%s\t%zu\t%zu\t%.1f\t%.1f\n", name, t->text.n, t->ids,
	    (double)bytes / 1e6 / t->pass[0], (double)bytes / 1e6 / warm);
	fflush(stdout);
}

static void time_one(const struct bpe *b, const char *name, struct span text)
{
	struct timing t = {.b = b, .text = text, .clock = CLOCK_PROCESS_CPUTIME_ID};

	time_passes(&t);
	print_timing(name, &t, text.n);
}

static void time_two(const struct bpe *b, const char *name, struct span text)
{
	pthread_barrier_t together;
	struct timing t[2];
	pthread_t other;

	pthread_barrier_init(&together, NULL, 2);
	for (int i = 0; i < 2; i++)
		t[i] = (struct timing){
		    .b = b, .text = text, .clock = CLOCK_MONOTONIC, .together = &together};
	if (pthread_create(&other, NULL, time_passes, &t[1]) != 0)
		return;
	time_passes(&t[0]);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&together);
	print_timing(name, &t[0], 2 * text.n);
}

static int time_all(const char *dir, char **files, int two)
{
	struct err e = {0};
	struct bpe *b = bpe_open(dir, &e);

	if (!b)
		prog_die(&e);
	for (; *files; files++) {
		struct buf text = {0};

		if (doc_slurp(&text, *files, DOC_MAX, &e) < 0)
			prog_die(&e);
		(two ? time_two : time_one)(b, *files, (struct span){text.data, text.len});
		buf_free(&text);
	}
	bpe_close(b);
	return EXIT_DONE;
}

/* One character again and again, or random ones of a range. */
static const struct hostile {
	const char *name;
	uint32_t first, last;
	size_t bytes;
} hostile[] = {
    {"the letter a", 'a', 'a', 1000000},
    {"random small letters", 'a', 'z', 1000000},
    {"spaces", ' ', ' ', 1000000},
    {"random Han, 60,000", 0x4E00, 0x9FA5, 180000},
    {"combining marks", 0x301, 0x301, 1000000},
    {"random marks", 0x300, 0x36F, 1000000},
    {"apostrophes", '\'', '\'', 1000000},
    {"newlines", '\n', '\n', 1000000},
    {"digits", '0', '9', 1000000},
    {"random emoji", 0x1F600, 0x1F64F, 1000000},
    {"random ASCII", ' ', '~', 1000000},
    {"random below U+0800", 0xA0, 0x7FF, 1000000},
};

static int time_hostile(const char *dir)
{
	struct err e = {0};
	struct bpe *b = bpe_open(dir, &e);
	uint64_t x = 88172645463325252u;

	if (!b)
		prog_die(&e);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		const struct hostile *h = &hostile[i];
		struct buf text = {0};

		while (text.len < h->bytes) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			buf_add_utf8(&text, h->first + (uint32_t)(x % (h->last - h->first + 1)));
		}
		time_one(b, h->name, (struct span){text.data, text.len});
		buf_free(&text);
	}
	bpe_close(b);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	int rc = EXIT_MISUSE;

	prog_name = "bpe_encode";
	if (argc == 3 && strcmp(argv[1], "split") == 0)
		rc = split_all(argv[2]);
	else if (argc >= 4 && strcmp(argv[1], "time") == 0)
		rc = time_all(argv[2], argv + 3, 0);
	else if (argc >= 4 && strcmp(argv[1], "two") == 0)
		rc = time_all(argv[2], argv + 3, 1);
	else if (argc == 3 && strcmp(argv[1], "hostile") == 0)
		rc = time_hostile(argv[2]);
	else if (argc == 2)
		rc = encode_all(argv[1], NULL, 0);
	else if (argc == 3 && strcmp(argv[1], "plain") == 0)
		rc = encode_all(argv[2], NULL, 1);
	else if (argc == 4 && strcmp(argv[1], "as") == 0)
		rc = encode_all(argv[3], argv[2], 0);
	return fflush(stdout) == 0 ? rc : EXIT_FAILED;
}
