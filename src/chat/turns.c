/* Turns to sequences.
 *
 * Each supervised turn is the ids of its prompt, mask 0, and the ids of what the model wrote, mask
 * 1, encoded apart as the server does it. A turn whose prompt goes on from the ids made so far
 * joins that sequence; else a new one begins. Ids that a server gave are used as they are. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/impl.h"

struct maker {
	struct chat_work *w;
	struct chat_prep p;
	const struct chat_turns_opt *opt;
	struct chat_turns *out;
	struct arena *a;
	size_t cap;	/* of out->seq */
	size_t turn;	/* the last supervised one of the open sequence */
	unsigned how;	/* ENC_ */
	int32_t *first; /* the prompt of the first user message, for MASK_AFTER_FIRST_USER */
	size_t nfirst;
};

/* Ids, own or the server's. */
struct some {
	const int32_t *v;
	size_t n;
};

static int render_prompt(struct chat_work *w, struct chat_prep *p, size_t n, struct err *e)
{
	struct chat_ask ask = {
	    p->hist, n, p->tools, p->tools_ts, p->conv->kwargs, 1, 0, p->memo, &p->steps};

	if (chat_prepare_history(p, n, e) < 0)
		return -1;
	return chat_render(w->c, p->t, &ask, p->a, &w->prompt, e);
}

static int own_prompt(
    struct chat_work *w, struct chat_prep *p, size_t n, unsigned how, struct err *e)
{
	return render_prompt(w, p, n, e) < 0 ? -1 : chat_encode_prompt(w, how, e);
}

int chat_prompt(const struct chat *c, struct chat_work *w, const struct chat_conv *conv, size_t n,
    struct ints *ids, struct buf *text, struct err *e)
{
	struct chat_prep p;

	arena_reset(&w->arena);
	if (chat_prepare(&p, c, conv, &w->arena, e) < 0 || render_prompt(w, &p, n, e) < 0)
		return -1;
	if (ids) {
		if (chat_encode_prompt(w, 0, e) < 0)
			return -1;
		ints_add(ids, w->ids.v, w->ids.n);
	}
	if (text)
		buf_add(text, w->prompt.text.data, w->prompt.text.len);
	return 0;
}

/* ---- sequences ---- */

/* 64 at a time: a loop of constant length, of which compilers make vectors. */
static size_t count_ones(const char *mask, size_t n)
{
	size_t ones = 0, i = 0;

	for (; n - i >= 64; i += 64) {
		unsigned char few = 0;

		for (size_t k = 0; k < 64; k++)
			few = (unsigned char)(few + mask[i + k]);
		ones += few;
	}
	for (; i < n; i++)
		ones += (unsigned char)mask[i];
	return ones;
}

static void flush(struct maker *m)
{
	struct chat_work *w = m->w;
	struct chat_seq s = {.n = w->seq.n, .turn = m->turn};

	s.n_response = count_ones(w->mask.data, s.n);
	if (s.n_response > 0) {
		if (m->out->n == m->cap) {
			size_t cap = m->cap ? 2 * m->cap : 4;
			struct chat_seq *more = arena_array(m->a, cap, sizeof(*more));

			if (m->cap > 0)
				memcpy(more, m->out->seq, m->cap * sizeof(*more));
			m->out->seq = more;
			m->cap = cap;
		}
		s.ids = arena_dup(m->a, w->seq.v, s.n * sizeof(*s.ids));
		s.mask = arena_dup(m->a, w->mask.data, s.n);
		m->out->seq[m->out->n++] = s;
	}
	ints_reset(&w->seq);
	buf_reset(&w->mask);
}

static size_t common(const int32_t *a, size_t na, const int32_t *b, size_t nb)
{
	size_t n = na < nb ? na : nb, i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* The prompt's part that the open sequence has not, unsupervised but by "after-first-user". */
static void add_context(struct maker *m, struct some prompt, int own)
{
	struct chat_work *w = m->w;
	const struct chat_coded of = {&w->prompt, &w->ids, &w->starts};
	size_t from = w->seq.n, first;

	ints_add(&w->seq, prompt.v + from, prompt.n - from);
	memset(buf_room(&w->mask, prompt.n - from), 0, prompt.n - from);
	w->mask.len = prompt.n;
	if (m->opt->mask != MASK_AFTER_FIRST_USER || !own)
		return;
	first = common(m->first, m->nfirst, prompt.v, prompt.n);
	chat_mask_context(&m->p, &of, first > from ? first : from, (uint8_t *)w->mask.data);
}

static void add_answer(struct maker *m, struct some answer)
{
	struct chat_work *w = m->w;
	int32_t last = answer.n > 0 ? answer.v[answer.n - 1] : -1;

	ints_add(&w->seq, answer.v, answer.n);
	memset(buf_room(&w->mask, answer.n), 1, answer.n);
	w->mask.len += answer.n;
	if (m->opt->mask == MASK_NO_EOT && answer.n > 0 && chat_is_end(w->c, last))
		w->mask.data[w->mask.len - 1] = 0;
}

static void join(struct maker *m, struct some prompt, struct some answer, int own)
{
	struct chat_work *w = m->w;

	if (prompt.n <= w->seq.n ||
	    (w->seq.n > 0 && memcmp(w->seq.v, prompt.v, w->seq.n * sizeof(*w->seq.v)) != 0))
		flush(m);
	add_context(m, prompt, own);
	add_answer(m, answer);
}

/* ---- one turn ---- */

static int in_vocabulary(
    const struct maker *m, struct some ids, size_t i, const char *what, struct err *e)
{
	const size_t vocab = bpe_vocab(m->w->c->bpe);

	for (size_t k = 0; k < ids.n; k++)
		if ((size_t)ids.v[k] >= vocab)
			return err_set(e, "range",
			    "generations for messages[%zu]: %s[%zu]: %d is outside the vocabulary "
			    "of %zu",
			    i, what, k, ids.v[k], vocab);
	return 0;
}

/* Whether the answer's text encodes to its ids. Those of the embedding's padding have none: no text
 * encodes to them. */
static int count_drift(struct maker *m, struct some served, struct err *e)
{
	struct chat_work *w = m->w;
	struct bpe_text text;
	struct err none;

	buf_reset(&w->scratch);
	ints_reset(&w->answer);
	if (bpe_decode(w->c->bpe, served.v, served.n, &w->scratch, &none) < 0) {
		m->out->drift++;
		return 0;
	}
	text = (struct bpe_text){w->scratch.data, w->scratch.len, BPE_REPLACE};
	if (bpe_encode(w->c->bpe, w->bpe, text, &w->answer, NULL, e) < 0)
		return -1;
	m->out->drift += !ints_eq(&w->answer, served.v, served.n);
	return 0;
}

static int own_answer(struct maker *m, size_t i, int cut, struct some *out, struct err *e)
{
	struct chat_work *w = m->w;
	struct jval turn;

	if (chat_prepare_turn(&m->p, i, &turn, e) < 0 ||
	    chat_target(w, &m->p, i, &turn, cut, e) < 0 ||
	    chat_check_lost(&m->p, i, &turn, &w->target, &m->out->thinking_off, e) < 0)
		return -1;
	ints_reset(&w->answer);
	if (chat_encode(w, &w->target, m->how, &w->answer, NULL, e) < 0)
		return -1;
	*out = (struct some){w->answer.v, w->answer.n};
	return 0;
}

/* A served prompt stands for ours even where ours can't be rendered, but for an answer that is to be
 * rendered behind it. */
static int turn_prompt(struct maker *m, size_t i, const struct chat_gen *gen, struct some *out,
    int *own, struct err *e)
{
	struct chat_work *w = m->w;
	int rc = own_prompt(w, &m->p, i, m->how, e);

	*own = rc == 0;
	*out = (struct some){w->ids.v, w->ids.n};
	if (!gen || !gen->prompt || m->p.steps.left == 0 || (rc < 0 && !gen->output))
		return rc;
	if (rc < 0 || !ints_eq(&w->ids, gen->prompt, gen->nprompt)) {
		m->out->prompt_drift++;
		*own = 0;
	}
	*out = (struct some){gen->prompt, gen->nprompt};
	return in_vocabulary(m, *out, i, "prompt_token_ids", e);
}

static int add_turn(struct maker *m, size_t i, size_t number, struct err *e)
{
	const struct chat_gen *gen = m->p.conv->gen ? &m->p.conv->gen[i] : NULL;
	struct some prompt, answer;
	int own;

	if (turn_prompt(m, i, gen, &prompt, &own, e) < 0)
		return -1;
	if (gen && gen->output) {
		answer = (struct some){gen->output, gen->noutput};
		if (in_vocabulary(m, answer, i, "output_ids", e) < 0 ||
		    (m->opt->check_drift && count_drift(m, answer, e) < 0))
			return -1;
	} else if (own_answer(m, i, gen && gen->cut, &answer, e) < 0) {
		return -1;
	}
	join(m, prompt, answer, own);
	m->turn = number;
	return 0;
}

/* ---- the conversation ---- */

static int find_first(struct maker *m, struct err *e)
{
	const struct chat_conv *conv = m->p.conv;
	struct chat_work *w = m->w;
	size_t u = 0;

	while (u < conv->n && !chat_is_role(&conv->messages->u.arr.v[u], "user"))
		u++;
	if (own_prompt(w, &m->p, u < conv->n ? u + 1 : u, m->how, e) < 0)
		return -1;
	m->nfirst = w->ids.n;
	m->first = w->ids.n > 0 ? arena_dup(m->a, w->ids.v, w->ids.n * sizeof(*m->first)) : NULL;
	return 0;
}

static size_t count_specials(const struct chat *c, const struct jval *v)
{
	size_t n = 0;

	if (v->kind == J_STR)
		return bpe_count_special(c->bpe, v->u.s.p, v->u.s.n);
	for (size_t k = 0; v->kind == J_ARR && k < v->u.arr.n; k++)
		n += count_specials(c, &v->u.arr.v[k]);
	for (size_t k = 0; v->kind == J_OBJ && k < v->u.obj.n; k++)
		n += count_specials(c, &v->u.obj.m[k].val);
	return n;
}

/* The turns up to message `last`. */
static int all_turns(struct maker *m, size_t last, struct err *e)
{
	const struct chat_conv *conv = m->p.conv;
	size_t number = 0;

	ints_reset(&m->w->seq);
	buf_reset(&m->w->mask);
	if (m->opt->mask == MASK_AFTER_FIRST_USER && find_first(m, e) < 0)
		return -1;
	for (size_t i = 0; i <= last; i++) {
		number += chat_is_role(&conv->messages->u.arr.v[i], "assistant") != 0;
		if (conv->weight[i] && (!m->opt->last_turn_only || i == last) &&
		    add_turn(m, i, number, e) < 0)
			return -1;
	}
	flush(m);
	return 0;
}

/* Where few turns are to be learnt, taking notes costs more than it saves. */
#define WORTH_NOTING 3

static int by_turns(struct maker *m, struct err *e)
{
	const struct chat_conv *conv = m->p.conv;
	size_t last = 0, n = 0;

	for (size_t i = 0; i < conv->n; i++)
		if (conv->weight[i]) {
			last = i;
			n++;
		}
	if (n == 0)
		return 0;
	if (n >= WORTH_NOTING && !m->opt->last_turn_only) {
		jinja_memo_reset(m->w->memo, m->p.hist);
		m->p.memo = m->w->memo;
	}
	return all_turns(m, last, e);
}

int chat_turns(const struct chat *c, struct chat_work *w, const struct chat_conv *conv,
    const struct chat_turns_opt *opt, struct arena *a, struct chat_turns *out, struct err *e)
{
	struct maker m = {.w = w, .opt = opt, .out = out, .a = a};

	*out = (struct chat_turns){0};
	arena_reset(&w->arena);
	m.how = (opt->no_special_in_content ? ENC_NO_SPECIAL_IN_CONTENT : 0) |
		(opt->hf_compat ? ENC_HF_COMPAT : 0) |
		(opt->mask == MASK_AFTER_FIRST_USER ? ENC_STARTS : 0);
	if (chat_prepare(&m.p, c, conv, &w->arena, e) < 0)
		return -1;
	if (opt->steps > 0)
		m.p.steps = (struct chat_steps){opt->steps, opt->steps};
	out->specials =
	    count_specials(c, conv->messages) + (conv->tools ? count_specials(c, conv->tools) : 0);
	if (opt->mask == MASK_ALL)
		return chat_whole(w, &m.p, opt, a, out, e);
	if (m.p.t->generation && opt->mask != MASK_AFTER_FIRST_USER && !conv->gen) {
		/* what one rendering loses may be there when each turn is rendered */
		if (chat_whole(w, &m.p, opt, a, out, e) == 0)
			return 0;
		if (strcmp(e->class, "lost") != 0)
			return -1;
		*out = (struct chat_turns){.specials = out->specials};
	}
	return by_turns(&m, e);
}
