/* Encoding any text, with every family's split: the tokens are the text again, start where they
 * should, and are the same whichever way the merging is done. The first byte chooses the family and
 * the flags. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "bpe/added.h"
#include "bpe/model.h"
#include "bpe/plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const families[] = {
    "gpt2", "smollm2", "llama3", "qwen2", "qwen3.5", "ling2", "o200k", "kimi", "deepseek3"};

static void check(int ok)
{
	if (!ok)
		abort();
}

static void add(struct vocab *v, const char *p, size_t n)
{
	struct err e = {0};

	check(vocab_put(v,
		  (struct vocab_entry){.id = (int32_t)v->n, .n = (uint32_t)n, .kind = TOKEN_TEXT},
		  p, &e) == 0);
}

/* A vocabulary with overlapping tokens: all bytes, and words over a small alphabet. */
static struct bpe *make(const char *family)
{
	static const char *const words[] = {"aa", "ab", "ba", "aaa", "aba", "bab", "abab", "  ",
	    "\n\n", "ll", "\xe4\xb8", "\xe4\xb8\xad", " a", "'s", "aaaa", "baba", "12", "123"};
	struct bpe *b = calloc(1, sizeof(*b));
	struct err e = {0};

	check(b != NULL);
	b->split = split_named(family);
	b->vocab.rule = VOCAB_RANKS;
	for (int i = 0; i < 256; i++) {
		char c = (char)i;

		add(&b->vocab, &c, 1);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add(&b->vocab, words[i], strlen(words[i]));
	added_init(&b->raw);
	added_init(&b->normal);
	added_init(&b->cut_names);
	check(
	    vocab_finish(&b->vocab, &e) == 0 && vocab_name(&b->vocab, 300, SPAN("<|x|>"), &e) == 0);
	added_put(&b->raw, (struct added_token){.id = 300, .n = 5}, "<|x|>");
	added_put(&b->cut_names, (struct added_token){.id = 300, .n = 5}, "<|x|>");
	check((b->core = core_build(&b->vocab)) != NULL);
	return b;
}

static void merge_all_ways(const struct core *c, const struct vocab *v, const char *p, size_t n)
{
	struct plain w = {0};
	struct core_work cw = {0};
	struct ints one = {0}, two = {0};
	int32_t *three;

	plain_merge_linear(v, &w, p, n, &one, NULL);
	plain_merge_heap(v, &w, p, n, &two, NULL);
	check(ints_eq(&one, two.v, two.n));
	three = malloc((n + 1) * sizeof(*three));
	check(three != NULL && ints_eq(&one, three, n > 0 ? core_piece(c, &cw, p, n, three) : 0));
	free(three);
	free(cw.dead);
	ints_free(&one);
	ints_free(&two);
	plain_free(&w);
}

static void check_back(
    const struct bpe *b, struct span text, const struct ints *ids, const struct ints *starts)
{
	struct buf back = {0}, want = {0};
	struct err e = {0};

	check(bpe_decode(b, ids->v, ids->n, &back, &e) == 0);
	utf8_repair(&want, text.p, text.n);
	check(
	    back.len == want.len && (back.len == 0 || memcmp(back.data, want.data, back.len) == 0));
	check(ids->n == starts->n);
	for (size_t i = 0; i < starts->n; i++) {
		struct span token = bpe_token(b, ids->v[i]);
		size_t at = (size_t)starts->v[i];

		check(at < text.n && (i == 0 ? at == 0 : at >= (size_t)starts->v[i - 1]));
		if (want.len == text.n && memcmp(want.data, text.p, text.n) == 0)
			check(at + token.n <= text.n && memcmp(text.p + at, token.p, token.n) == 0);
	}
	buf_free(&back);
	buf_free(&want);
}

/* The marks are the added tokens among the ids, and say where they stand. */
static void check_marks(const struct bpe *b, const struct bpe_work *w, struct span text,
    const struct ints *ids, const struct ints *starts)
{
	size_t n, number = 0, done = 0;
	const struct bpe_mark *m = bpe_marks(w, &n);

	for (size_t k = 0; k < n; number = m[k].number + 1, done = m[k++].end) {
		size_t next = m[k].number + 1;
		struct span name = bpe_token(b, m[k].id);

		check(m[k].number >= number && next <= ids->n && ids->v[m[k].number] == m[k].id);
		check(m[k].begin >= done && m[k].begin == (size_t)starts->v[m[k].number]);
		check(m[k].end == (next < ids->n ? (size_t)starts->v[next] : text.n));
		check(bpe_is_special(b, m[k].id));
		if (m[k].reach < SIZE_MAX)
			check(m[k].reach >= m[k].end && m[k].name_end - m[k].name == name.n &&
			      memcmp(text.p + m[k].name, name.p, name.n) == 0);
	}
}

/* The plain way gives the same, and so does a cache that has seen the text. */
static void encode_plainly(
    struct bpe *b, struct bpe_text t, const struct ints *ids, const struct ints *starts)
{
	struct core *core = b->core;
	struct ints other = {0}, places = {0};
	struct err e = {0};
	struct bpe_work *w = bpe_work_open(b);

	for (int round = 0; round < 3; round++) {
		b->core = round < 2 ? core : NULL;
		ints_reset(&other);
		ints_reset(&places);
		check(bpe_encode(b, w, t, &other, &places, &e) == 0);
		check(ints_eq(&other, ids->v, ids->n) && ints_eq(&places, starts->v, starts->n));
	}
	b->core = core;
	bpe_work_close(w);
	ints_free(&other);
	ints_free(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct bpe *model[9];
	unsigned choice = n > 0 ? data[0] : 0, family = choice % 9;
	struct bpe_text t = {(const char *)data + (n > 0), n > 0 ? n - 1 : 0, 0};
	struct ints ids = {0}, starts = {0};
	struct err e = {0};
	struct bpe_work *w;
	int valid = utf8_valid(t.p, t.n) == t.n;

	if (!model[family])
		model[family] = make(families[family]);
	w = bpe_work_open(model[family]);
	model[family]->cuts = 1;
	t.flags = choice / 9 % 4 == 3 ? BPE_HF_COMPAT : choice / 9 % 2;
	check((bpe_encode(model[family], w, t, &ids, &starts, &e) == 0) == valid);
	check(valid || strcmp(e.class, "utf8") == 0);
	t.flags |= BPE_REPLACE;
	ints_reset(&ids);
	ints_reset(&starts);
	check(bpe_encode(model[family], w, t, &ids, &starts, &e) == 0);
	check_back(model[family], (struct span){t.p, t.n}, &ids, &starts);
	check_marks(model[family], w, (struct span){t.p, t.n}, &ids, &starts);
	merge_all_ways(model[family]->core, &model[family]->vocab, t.p, t.n);
	encode_plainly(model[family], t, &ids, &starts);
	ints_free(&ids);
	ints_free(&starts);
	bpe_work_close(w);
	return 0;
}
