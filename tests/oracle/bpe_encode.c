/* Encodes for tests/oracle/bpe.py and tests/bench/tokenizer.sh.
 *
 *	bpe_encode DIR		requests {u32 flags, u32 n, n bytes} on stdin; for each on stdout
 *				{u32 count, count ids as i32, count starts as i32}
 *	bpe_encode plain DIR	the same by the plain way
 *	bpe_encode as FAMILY DIR	the same with that family's split in place of the folder's
 *	bpe_encode split FAMILY	the same requests; {u32 count, count piece ends as u32}
 *
 *	bpe_encode time DIR FILE...	MB/s of the first pass and of the best of three more
 *
 * Numbers are in the machine's byte order. */
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

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void time_file(const struct bpe *b, const char *path)
{
	struct bpe_work *w = bpe_work_open(b);
	struct buf text = {0};
	struct ints ids = {0};
	struct err e = {0};
	double cold = 0, warm = 0;

	if (doc_slurp(&text, path, DOC_MAX, &e) < 0)
		prog_die(&e);
	for (int pass = 0; pass < 4; pass++) {
		double t = cpu_seconds();

		ints_reset(&ids);
		if (bpe_encode(b, w, (struct bpe_text){text.data, text.len, 0}, &ids, NULL, &e) < 0)
			prog_die(&e);
		t = cpu_seconds() - t;
		if (pass == 0)
			cold = t;
		else if (pass == 1 || t < warm)
			warm = t;
	}
	printf("%s\t%zu\t%zu\t%.1f\t%.1f\n", path, text.len, ids.n, (double)text.len / 1e6 / cold,
	    (double)text.len / 1e6 / warm);
	buf_free(&text);
	ints_free(&ids);
	bpe_work_close(w);
}

static int time_all(const char *dir, char **files)
{
	struct err e = {0};
	struct bpe *b = bpe_open(dir, &e);

	if (!b)
		prog_die(&e);
	for (; *files; files++)
		time_file(b, *files);
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
		rc = time_all(argv[2], argv + 3);
	else if (argc == 2)
		rc = encode_all(argv[1], NULL, 0);
	else if (argc == 3 && strcmp(argv[1], "plain") == 0)
		rc = encode_all(argv[2], NULL, 1);
	else if (argc == 4 && strcmp(argv[1], "as") == 0)
		rc = encode_all(argv[3], argv[2], 0);
	return fflush(stdout) == 0 ? rc : EXIT_FAILED;
}
