/* Any line as a conversation record, through reading, preparing, rendering and masking with the
 * demo's model folder or with one that has no template, and any ids as an answer: no crash, and sums
 * that agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "json/rec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct chat *open_model(const char *folder, enum chat_served served)
{
	struct chat_opt opt = {.model = folder, .served_by = served};
	struct chat *c;
	struct err e;

	c = chat_open(&opt, &e);
	if (!c)
		abort(); /* not run from the project's root: nothing would be tried */
	return c;
}

static void check(const struct chat_turns *t)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t ones = 0;

		for (size_t k = 0; k < t->seq[i].n; k++)
			ones += t->seq[i].mask[k];
		if (ones != t->seq[i].n_response || ones == 0)
			abort();
	}
}

/* The last message's text as if it were what a server gave for the message after it. */
static void answer(
    struct chat *c, struct chat_work *w, const struct chat_conv *conv, struct arena *a)
{
	const struct jval *text =
	    conv->n > 0 ? val_get(&conv->messages->u.arr.v[conv->n - 1], "content") : NULL;
	struct bpe_work *bw = bpe_work_open(chat_bpe(c));
	struct ints ids = {0};
	struct chat_answer out;
	struct err e;

	if (text && text->kind == J_STR &&
	    bpe_encode(chat_bpe(c), bw, (struct bpe_text){text->u.s.p, text->u.s.n, 0}, &ids, NULL,
		&e) == 0 &&
	    chat_answer(c, w, conv, conv->n, &ids, a, &out, &e) == 0 && out.message.kind != J_OBJ)
		abort();
	ints_free(&ids);
	bpe_work_close(bw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const folders[] = {"pipelines/demo/model", "tests/data/deepseek_v32"};
	static struct chat *models[2][3];
	struct chat **model;
	struct chat_turns_opt opt = {0};
	struct chat_turns turns;
	struct chat_work *w;
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	struct chat *c;
	struct err e = {0};

	if (n < 1)
		return 0;
	model = &models[data[0] / 12 % 2][data[0] % 3];
	if (!*model)
		*model = open_model(folders[data[0] / 12 % 2], (enum chat_served)(data[0] % 3));
	c = *model;
	opt.mask = (enum chat_mask)(data[0] / 3 % 4);
	opt.no_special_in_content = data[0] >> 7;
	opt.check_drift = 1;
	w = chat_work_open(c);
	if (rec_parse(&r, (const char *)data + 1, n - 1, &e) == 0 &&
	    chat_read(&conv, &r, &a, &e) == 0) {
		if (chat_turns(c, w, &conv, &opt, &a, &turns, &e) == 0)
			check(&turns);
		answer(c, w, &conv, &a);
	}
	chat_work_close(w);
	rec_free(&r);
	arena_free(&a);
	return 0;
}
