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
	struct bpe_mark *mark;
	size_t marks, mark_cap;
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
	free(w->mark);
	free(w);
}

const struct bpe_mark *bpe_marks(const struct bpe_work *w, size_t *n)
{
	*n = w->marks;
	return w->mark;
}

/* One call of bpe_encode. */
struct encoding {
	const struct bpe *b;
	struct bpe_work *w;
	struct ints *ids, *starts; /* starts may be NULL */
	unsigned flags;
	size_t base; /* ids that were there before */
};

/* How many places, of ids and of added tokens, were noted at some time. */
struct noted {
	size_t starts, marks;
};

static struct noted noted(const struct encoding *x)
{
	return (struct noted){x->starts ? x->starts->n : 0, x->w->marks};
}

/* Whether what is found behind a match may hang on what is before its end: single_word looks at the
 * character before, and the white space that a match takes may be the start of the next. */
static int is_tied(const struct bpe *b, const struct added_match *m)
{
	return b->raw.words || b->normal.words ||
	       (m->end > m->next && (b->raw.blanks || b->normal.blanks));
}

static void put(struct encoding *x, const struct added_match *m)
{
	struct bpe_work *w = x->w;

	w->mark = xgrow(w->mark, &w->mark_cap, w->marks + 1, sizeof(*w->mark));
	w->mark[w->marks++] = (struct bpe_mark){m->id, x->ids->n - x->base, m->begin, m->end,
	    m->name, m->next, is_tied(x->b, m) ? SIZE_MAX : m->reach};
	ints_push(x->ids, m->id);
	if (x->starts)
		ints_push(x->starts, (int32_t)m->begin);
}

/* Adds `base` to the places noted since. */
static void shift(struct encoding *x, struct noted since, size_t base)
{
	if (base == 0)
		return;
	for (size_t i = since.starts; x->starts && i < x->starts->n; i++)
		x->starts->v[i] += (int32_t)base;
	for (size_t i = since.marks; i < x->w->marks; i++) {
		struct bpe_mark *k = &x->w->mark[i];

		k->begin += base;
		k->end += base;
		k->name += base;
		k->name_end += base;
		if (k->reach < SIZE_MAX)
			k->reach += base;
	}
}

/* The added tokens noted since hang on so many bytes at least. */
static void reach_to(struct encoding *x, struct noted since, size_t reach)
{
	for (size_t i = since.marks; i < x->w->marks; i++)
		if (x->w->mark[i].reach < reach)
			x->w->mark[i].reach = reach;
}

/* The places noted since are offsets in a changed text: makes them offsets in the text it came
 * from, n bytes that became `changed`. */
static void move_back(
    struct encoding *x, struct noted since, const struct moves *m, size_t changed, size_t n)
{
	size_t hint = 0, other = 0;

	for (size_t i = since.starts; x->starts && i < x->starts->n; i++)
		x->starts->v[i] = (int32_t)moves_origin(m, (size_t)x->starts->v[i], &hint);
	hint = 0;
	for (size_t i = since.marks; i < x->w->marks; i++) {
		struct bpe_mark *k = &x->w->mark[i];

		k->begin = moves_origin(m, k->begin, &hint);
		k->end = k->end == changed ? n : moves_origin(m, k->end, &hint);
		k->name = moves_origin(m, k->name, &other);
		k->name_end = k->name_end == changed ? n : moves_origin(m, k->name_end, &other);
	}
}

/* The encoders below note places that are offsets in the text they are given. */

static void encode_segment(struct encoding *x, struct span text)
{
	struct split s;

	if (x->b->core) {
		fast_text(&x->w->fast, text, x->ids, x->starts);
		return;
	}
	split_start(&s, x->b->split, text.p, text.n);
	while (s.pos < s.n) {
		size_t at = s.pos, end = split_next(&s);
		struct noted before = noted(x);

		plain_piece(&x->b->vocab, &x->w->plain, text.p + at, end - at, x->ids, x->starts);
		shift(x, before, at);
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
		struct noted before = noted(x);
		size_t from = done;

		more = !(x->flags & BPE_NO_SPECIAL) && added_next(a, text, &m);
		if (!more || m.begin > from) {
			size_t n = (more ? m.begin : text.n) - from;

			if (n > 0)
				between(x, (struct span){text.p + from, n});
			shift(x, before, from);
			reach_to(x, before, m.reach);
		}
		if (more) {
			put(x, &m);
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
	struct noted before = noted(x);
	struct bpe_work *w = x->w;

	if (!x->b->nfc || nfc_quick(text.p, text.n) == text.n) {
		encode_normalized(x, text);
	} else {
		buf_reset(&w->normal);
		nfc_apply(&w->normal, &w->norms, text.p, text.n);
		encode_normalized(x, (struct span){w->normal.data, w->normal.len});
		move_back(x, before, &w->norms, w->normal.len, text.n);
	}
	if (x->b->nfc) /* marks behind a character change it, however many stand between */
		reach_to(x, before, SIZE_MAX);
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
		struct noted before = noted(x);

		encode_slice(x, (struct span){text.p + at, end - at});
		shift(x, before, at);
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
	struct encoding x = {b, w, ids, starts, t.flags, ids->n};
	struct span text = {t.p, t.n};
	size_t ok = utf8_valid(t.p, t.n);
	const int cut = t.flags & BPE_HF_COMPAT && b->cuts;
	struct noted before;

	w->marks = 0;
	before = noted(&x);
	if (t.n > BPE_TEXT_MAX)
		return err_set(e, "range", "a text of more than %d bytes", BPE_TEXT_MAX);
	if (ok < t.n && !(t.flags & BPE_REPLACE))
		return err_set(e, "utf8", "not UTF-8 at byte %zu", ok + 1);
	if (ok < t.n)
		text = repair(w, text);
	if (cut)
		encode_cut(&x, text);
	else
		encode_slice(&x, text);
	if (ok < t.n)
		move_back(&x, before, &w->repairs, w->repaired.len, t.n);
	if (cut || ok < t.n)
		reach_to(&x, before, SIZE_MAX);
	return 0;
}
