/* Rendered text to ids.
 *
 * Prompts of one conversation begin alike, so the last prompt's text and ids are kept: the ids of
 * the common part stand, up to the last added token in it that no other text behind the common part
 * could undo (bpe_mark's reach), and only the rest is encoded. That is exact because the encoder
 * cuts text at added tokens before anything else. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/impl.h"

#define BLOCK 4096

/* From byte i on, where a and b differ or end. */
static size_t common_prefix(const char *a, const char *b, size_t i, size_t n)
{
	while (n - i >= BLOCK && memcmp(a + i, b + i, BLOCK) == 0)
		i += BLOCK;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Keeps the text and the ids of the common part, of which `same` bytes are known to be so; returns
 * where the text to be encoded begins. */
static size_t keep_common(struct chat_work *w, const struct buf *text, size_t same)
{
	size_t n = w->text.len < text->len ? w->text.len : text->len, k = w->marks.n;
	const struct bpe_mark *m = w->marks.v;

	same = common_prefix(w->text.data, text->data, same < n ? same : n, n);
	w->text.len = same;
	while (k > 0 && m[k - 1].reach > same)
		k--;
	w->marks.n = k;
	w->ids.n = k > 0 ? m[k - 1].number + 1 : 0;
	if (w->starts.n > w->ids.n)
		w->starts.n = w->ids.n;
	return k > 0 ? m[k - 1].end : 0;
}

/* Whether all of [from, end) is template text. *run is where the search goes on. */
static int from_template(const struct jinja_out *text, size_t from, size_t end, size_t *run)
{
	while (*run < text->nruns && text->runs[*run].end <= from)
		++*run;
	for (size_t r = *run; r < text->nruns; r++) {
		if (text->runs[r].origin != 0)
			return 0;
		if (text->runs[r].end >= end)
			break;
	}
	return 1;
}

/* A rendering's rest, on its way into ids. */
struct rest {
	const struct jinja_out *text;
	size_t from;
	unsigned flags;
	struct ints *ids, *starts; /* starts and marks may be NULL */
	struct marks *marks;
};

static void add_marks(struct chat_work *w, struct marks *to, size_t number, size_t from)
{
	size_t n;
	const struct bpe_mark *mark = bpe_marks(w->bpe, &n);

	to->v = xgrow(to->v, &to->cap, to->n + n, sizeof(*to->v));
	for (size_t i = 0; i < n; i++) {
		struct bpe_mark m = mark[i];

		m.number += number;
		m.begin += from;
		m.end += from;
		m.name += from;
		m.name_end += from;
		if (m.reach < SIZE_MAX)
			m.reach += from;
		to->v[to->n++] = m;
	}
}

static int add_plain(struct chat_work *w, const struct rest *r, size_t from, size_t end,
    unsigned more, struct err *e)
{
	size_t number = r->ids->n, first = r->starts ? r->starts->n : 0;
	struct bpe_text t;

	if (from >= end) /* a name may begin in white space that the one before took */
		return 0;
	t = (struct bpe_text){r->text->text.data + from, end - from, r->flags | more};
	if (bpe_encode(w->c->bpe, w->bpe, t, r->ids, r->starts, e) < 0)
		return -1;
	for (size_t i = first; r->starts && i < r->starts->n; i++)
		r->starts->v[i] += (int32_t)from;
	if (r->marks)
		add_marks(w, r->marks, number, from);
	return 0;
}

/* Special strings count only where the template wrote them, whoever wrote the white space that they
 * take: the text is cut at those and each piece between is encoded with none allowed. */
static int add_pieces(struct chat_work *w, const struct rest *r, struct err *e)
{
	const size_t end = r->text->text.len;
	struct rest look = {r->text, r->from, r->flags, &w->some, NULL, &w->some_marks};
	size_t at = r->from, run = 0;

	ints_reset(&w->some);
	w->some_marks.n = 0;
	if (add_plain(w, &look, r->from, end, 0, e) < 0)
		return -1;
	for (size_t k = 0; k < w->some_marks.n; k++) {
		const struct bpe_mark *m = &w->some_marks.v[k];

		if (!from_template(r->text, m->name, m->name_end, &run))
			continue;
		if (add_plain(w, r, at, m->begin, BPE_NO_SPECIAL, e) < 0)
			return -1;
		ints_push(r->ids, m->id);
		if (r->starts)
			ints_push(r->starts, (int32_t)m->begin);
		at = m->end;
	}
	return add_plain(w, r, at, end, BPE_NO_SPECIAL, e);
}

static int add_rest(struct chat_work *w, const struct rest *r, unsigned how, struct err *e)
{
	if (r->text->text.len > INT32_MAX)
		return err_set(e, "long", "more than 2 GiB of text");
	if (how & ENC_NO_SPECIAL_IN_CONTENT)
		return add_pieces(w, r, e);
	return add_plain(w, r, r->from, r->text->text.len, 0, e);
}

int chat_encode(struct chat_work *w, const struct jinja_out *text, unsigned how, struct ints *ids,
    struct ints *starts, struct err *e)
{
	struct rest r = {text, 0, how & ENC_HF_COMPAT ? BPE_HF_COMPAT : 0, ids, starts, NULL};

	return add_rest(w, &r, how, e);
}

static void forget_prompt(struct chat_work *w)
{
	w->ids.n = w->starts.n = w->marks.n = w->text.len = 0;
}

int chat_encode_prompt(struct chat_work *w, unsigned how, struct err *e)
{
	const struct buf *text = &w->prompt.text;
	size_t same = w->prompt.renderings == w->rendering + 1 ? w->prompt.same : 0;
	struct rest r = {&w->prompt, 0, how & ENC_HF_COMPAT ? BPE_HF_COMPAT : 0, &w->ids,
	    how & ENC_STARTS ? &w->starts : NULL, &w->marks};

	/* equal bytes may be template text in one prompt and a message's in another: nothing is kept
	 * then */
	if (how == w->how && !(how & ENC_NO_SPECIAL_IN_CONTENT))
		r.from = keep_common(w, text, same);
	else
		forget_prompt(w);
	w->how = how;
	w->rendering = w->prompt.renderings;
	if (add_rest(w, &r, how, e) < 0) {
		forget_prompt(w);
		return -1;
	}
	if (text->len > w->text.len)
		buf_add(&w->text, text->data + w->text.len, text->len - w->text.len);
	return 0;
}
