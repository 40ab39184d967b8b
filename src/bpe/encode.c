#include <limits.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bpe/bpe.h"
#include "bpe/cuts.h"
#include "bpe/fast.h"
#include "bpe/model.h"
#include "bpe/moves.h"
#include "bpe/nfc.h"
#include "bpe/plain.h"

struct bpe_work {
	struct fast fast;
	struct plain plain;
	struct buf repaired, normal;
	struct moves repairs, norms;
};

struct bpe_work *bpe_work_open(const struct bpe *b)
{
	struct bpe_work *w = xcalloc(1, sizeof(*w));

	if (b->core)
		fast_init(&w->fast, b->core, b->split);
	return w;
}

void bpe_work_close(struct bpe_work *w)
{
	if (!w)
		return;
	fast_free(&w->fast);
	plain_free(&w->plain);
	buf_free(&w->repaired);
	buf_free(&w->normal);
	moves_free(&w->repairs);
	moves_free(&w->norms);
	free(w);
}

/* One call of bpe_encode. */
struct encoding {
	const struct bpe *b;
	struct bpe_work *w;
	struct ints *ids, *starts; /* starts may be NULL */
	unsigned flags;
};

static void put(struct encoding *x, int32_t id, size_t at)
{
	ints_push(x->ids, id);
	if (x->starts)
		ints_push(x->starts, (int32_t)at);
}

/* Adds `base` to the starts from number `first` on. */
static void shift(struct encoding *x, size_t first, size_t base)
{
	if (x->starts && base > 0)
		for (size_t i = first; i < x->starts->n; i++)
			x->starts->v[i] += (int32_t)base;
}

/* The starts from number `first` on are offsets in a changed text: makes them offsets in the text
 * it came from. */
static void move_back(struct encoding *x, size_t first, const struct moves *m)
{
	size_t hint = 0;

	if (x->starts)
		for (size_t i = first; i < x->starts->n; i++)
			x->starts->v[i] = (int32_t)moves_origin(m, (size_t)x->starts->v[i], &hint);
}

/* The encoders below append starts that are offsets in the text they are given. */

static void encode_segment(struct encoding *x, struct span text)
{
	struct split s;

	if (x->b->core) {
		fast_text(&x->w->fast, text, x->ids, x->starts);
		return;
	}
	split_start(&s, x->b->split, text.p, text.n);
	while (s.pos < s.n) {
		size_t at = s.pos, first = x->starts ? x->starts->n : 0, end = split_next(&s);

		plain_piece(&x->b->vocab, &x->w->plain, text.p + at, end - at, x->ids, x->starts);
		shift(x, first, at);
	}
}

/* Calls `between` for what the tokens of `a` leave of the text. */
static void encode_around(struct encoding *x, const struct added *a, struct span text,
    void (*between)(struct encoding *, struct span))
{
	struct added_match m = {0};
	size_t done = 0;
	int more;

	do {
		size_t first = x->starts ? x->starts->n : 0, from = done;

		more = !(x->flags & BPE_NO_SPECIAL) && added_next(a, text, &m);
		if (!more || m.begin > from) {
			size_t n = (more ? m.begin : text.n) - from;

			if (n > 0)
				between(x, (struct span){text.p + from, n});
			shift(x, first, from);
		}
		if (more) {
			put(x, m.id, m.begin);
			done = m.end;
		}
	} while (more);
}

static void encode_normalized(struct encoding *x, struct span text)
{
	encode_around(x, &x->b->normal, text, encode_segment);
}

static void encode_between_raw(struct encoding *x, struct span text)
{
	struct bpe_work *w = x->w;
	size_t first = x->starts ? x->starts->n : 0;

	if (!x->b->nfc || nfc_quick(text.p, text.n) == text.n) {
		encode_normalized(x, text);
		return;
	}
	buf_reset(&w->normal);
	nfc_apply(&w->normal, &w->norms, text.p, text.n);
	encode_normalized(x, (struct span){w->normal.data, w->normal.len});
	move_back(x, first, &w->norms);
}

static void encode_slice(struct encoding *x, struct span text)
{
	encode_around(x, &x->b->raw, text, encode_between_raw);
}

static void encode_stretch(struct encoding *x, struct span text)
{
	struct cuts c;
	size_t at = 0, end;

	cuts_start(&c, text.p, text.n);
	while ((end = cuts_next(&c)) > at) {
		size_t first = x->starts ? x->starts->n : 0;

		encode_slice(x, (struct span){text.p + at, end - at});
		shift(x, first, at);
		at = end;
	}
}

static void encode_cut(struct encoding *x, struct span text)
{
	encode_around(x, &x->b->cut_names, text, encode_stretch);
}

/* Ill-formed text becomes well-formed in w->repaired. */
static struct span repair(struct bpe_work *w, struct span t)
{
	size_t at = 0;

	buf_reset(&w->repaired);
	w->repairs.n = 0;
	while (at < t.n) {
		size_t ok = utf8_valid(t.p + at, t.n - at);

		if (ok > 0)
			moves_add(&w->repairs, (struct move){w->repaired.len, at, 1});
		buf_add(&w->repaired, t.p + at, ok);
		at += ok;
		if (at < t.n) {
			moves_add(&w->repairs, (struct move){w->repaired.len, at, 0});
			buf_add_utf8(&w->repaired, UTF8_REPLACEMENT);
			at += utf8_subpart(t.p + at, t.n - at);
		}
	}
	return (struct span){w->repaired.data, w->repaired.len};
}

int bpe_encode(const struct bpe *b, struct bpe_work *w, struct bpe_text t, struct ints *ids,
    struct ints *starts, struct err *e)
{
	struct encoding x = {b, w, ids, starts, t.flags};
	struct span text = {t.p, t.n};
	size_t ok = utf8_valid(t.p, t.n), first = starts ? starts->n : 0;

	if (t.n > INT32_MAX / 3)
		return err_set(e, "range", "a text of more than %d bytes", INT32_MAX / 3);
	if (ok < t.n && !(t.flags & BPE_REPLACE))
		return err_set(e, "utf8", "not UTF-8 at byte %zu", ok + 1);
	if (ok < t.n)
		text = repair(w, text);
	if (t.flags & BPE_HF_COMPAT && b->cuts)
		encode_cut(&x, text);
	else
		encode_slice(&x, text);
	if (ok < t.n)
		move_back(&x, first, &w->repairs);
	return 0;
}
