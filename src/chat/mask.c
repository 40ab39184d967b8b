/* Masks over one rendering: of a whole conversation, and of the context between turns. */
#include <string.h>

#include "base/arena.h"
#include "chat/impl.h"

/* The run that holds byte `at`; *run only goes forward. */
static const struct jinja_run *run_at(const struct jinja_out *text, size_t at, size_t *run)
{
	while (*run < text->nruns && text->runs[*run].end <= at)
		++*run;
	return *run < text->nruns ? &text->runs[*run] : NULL;
}

/* Of a run from a message. */
static int is_foreign(const struct chat_prep *p, const struct jinja_run *run)
{
	size_t i = ORIGIN_MESSAGE(run->origin);

	return !p->conv->weight[i] && chat_is_role(&p->conv->messages->u.arr.v[i], "assistant");
}

void chat_mask_context(
    const struct chat_prep *p, const struct chat_coded *of, size_t from, uint8_t *mask)
{
	size_t run = 0;
	int foreign = 0;

	for (size_t k = from; k < of->ids->n; k++) {
		const struct jinja_run *r = run_at(of->text, (size_t)of->starts->v[k], &run);

		if (r && r->origin >= ORIGIN(0, 0))
			foreign = is_foreign(p, r);
		mask[k] = !foreign;
		if (foreign && chat_is_end(p->c, of->ids->v[k]))
			foreign = 0;
	}
}

/* One stretch of text inside a generation tag. */
struct tag {
	size_t from, end;
	int supervised;
};

/* The tags in order; a tag is that of its first character from a message, and where it has none the
 * k-th is the k-th assistant's, if there are as many. */
static size_t find_tags(const struct chat_prep *p, const struct jinja_out *text, struct tag *tags)
{
	size_t n = 0, at = 0, k = 0, assistants = 0;
	int inside = 0;

	for (size_t r = 0; r < text->nruns; at = text->runs[r++].end) {
		const struct jinja_run *run = &text->runs[r];

		if (run->generation && !inside)
			tags[n++] = (struct tag){at, 0, -1};
		inside = run->generation != 0;
		if (!inside)
			continue;
		tags[n - 1].end = run->end;
		if (tags[n - 1].supervised < 0 && run->origin >= ORIGIN(0, 0))
			tags[n - 1].supervised = p->conv->weight[ORIGIN_MESSAGE(run->origin)];
	}
	for (size_t i = 0; i < p->conv->n; i++)
		assistants += chat_is_role(&p->conv->messages->u.arr.v[i], "assistant") != 0;
	for (size_t i = 0; i < p->conv->n && n == assistants; i++) {
		if (!chat_is_role(&p->conv->messages->u.arr.v[i], "assistant"))
			continue;
		if (tags[k].supervised < 0)
			tags[k].supervised = p->conv->weight[i];
		k++;
	}
	return n;
}

static int is_blank(struct span s)
{
	size_t i = 0;

	while (i < s.n && memchr(" \t\r\n", s.p[i], 4))
		i++;
	return i == s.n;
}

/* Of each stretch that is supervised the token that ends the turn, behind which may be white space;
 * gpt-oss ends its analysis with such a token too. */
static void leave_out_ends(const struct chat *c, const struct ints *ids, uint8_t *mask)
{
	size_t last = SIZE_MAX;

	for (size_t k = 0; k <= ids->n; k++) {
		if (k < ids->n && mask[k]) {
			last = is_blank(bpe_token(c->bpe, ids->v[k])) ? last : k;
			continue;
		}
		if (last != SIZE_MAX && chat_is_end(c, ids->v[last]))
			mask[last] = 0;
		last = SIZE_MAX;
	}
}

static void mask_tags(const struct chat_prep *p, const struct chat_coded *of,
    const struct chat_turns_opt *opt, uint8_t *mask)
{
	struct tag *tags = arena_array(p->a, of->text->nruns + 1, sizeof(*tags));
	size_t n = find_tags(p, of->text, tags), t = 0, last = SIZE_MAX;

	for (size_t k = 0; k < n; k++)
		if (tags[k].supervised > 0)
			last = k;
	for (size_t k = 0; k < of->ids->n; k++) {
		size_t at = (size_t)of->starts->v[k];

		while (t < n && tags[t].end <= at)
			t++;
		mask[k] = t < n && at >= tags[t].from && tags[t].supervised > 0 &&
			  (!opt->last_turn_only || t == last);
	}
	if (opt->mask == MASK_NO_EOT)
		leave_out_ends(p->c, of->ids, mask);
}

/* All messages, those to be learnt as they were written; -1 where the rendering loses something. */
static int render_whole(
    struct chat_work *w, struct chat_prep *p, struct chat_turns *out, struct err *e)
{
	const size_t n = p->conv->n;
	struct chat_ask ask = {
	    NULL, n, p->tools, p->tools_ts, p->conv->kwargs, 0, 0, NULL, &p->steps};
	struct jval *all = arena_array(p->a, n + 1, sizeof(*all));

	if (chat_prepare_history(p, n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		all[i] = p->hist[i];
		if (p->conv->weight[i] && chat_prepare_turn(p, i, &all[i], e) < 0)
			return -1;
	}
	ask.messages = all;
	if (chat_render(w->c, p->t, &ask, p->a, &w->full, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (p->conv->weight[i] &&
		    chat_check_lost(p, i, &all[i], &w->full, &out->thinking_off, e) < 0)
			return -1;
	return 0;
}

int chat_whole(struct chat_work *w, struct chat_prep *p, const struct chat_turns_opt *opt,
    struct arena *a, struct chat_turns *out, struct err *e)
{
	const struct chat_coded of = {&w->full, &w->seq, &w->seq_starts};
	struct chat_seq *seq = arena_alloc(a, sizeof(*seq));
	unsigned how = (opt->no_special_in_content ? ENC_NO_SPECIAL_IN_CONTENT : 0) |
		       (opt->hf_compat ? ENC_HF_COMPAT : 0);
	size_t assistants = 0;

	*seq = (struct chat_seq){0};
	for (size_t i = 0; i < p->conv->n; i++) {
		assistants += chat_is_role(&p->conv->messages->u.arr.v[i], "assistant") != 0;
		if (p->conv->weight[i])
			seq->turn = assistants;
	}
	if (seq->turn == 0)
		return 0;
	ints_reset(&w->seq);
	ints_reset(&w->seq_starts);
	if (render_whole(w, p, out, e) < 0 ||
	    chat_encode(w, &w->full, how, &w->seq, &w->seq_starts, e) < 0)
		return -1;
	seq->n = w->seq.n;
	seq->ids = arena_dup(a, w->seq.v, seq->n * sizeof(*seq->ids));
	seq->mask = arena_alloc(a, seq->n);
	if (opt->mask == MASK_ALL)
		chat_mask_context(p, &of, 0, seq->mask);
	else
		mask_tags(p, &of, opt, seq->mask);
	for (size_t k = 0; k < seq->n; k++)
		seq->n_response += seq->mask[k];
	out->seq = seq;
	out->n = seq->n_response > 0;
	return 0;
}
