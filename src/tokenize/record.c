/* One conversation record to its tokenised records; with --show, to text for a person. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tokenize/tokenize.h"
#include "json/ids.h"
#include "json/rec.h"

struct thread {
	struct chat_work *chat;
	struct rec rec;
	struct buf name, mask;
	struct ints ids;
};

void *tok_thread_open(void *ctx, struct err *e)
{
	struct tok *tok = ctx;
	struct thread *t = xcalloc(1, sizeof(*t));

	(void)e;
	t->chat = chat_work_open(tok->chat);
	return t;
}

void tok_thread_close(void *ctx, void *thread)
{
	struct thread *t = thread;

	(void)ctx;
	chat_work_close(t->chat);
	rec_free(&t->rec);
	buf_free(&t->name);
	buf_free(&t->mask);
	ints_free(&t->ids);
	free(t);
}

/* The record's line, made valid where that was asked for. */
static struct span valid_line(const struct tok *tok, struct flow_job *job)
{
	struct buf b = {0};
	struct span line = job->line;

	if (tok->opt->bad_utf8 != UTF8_REPLACE || utf8_valid(line.p, line.n) == line.n)
		return line;
	flow_job_count(job, "utf8_replaced", utf8_repair(&b, line.p, line.n));
	line = (struct span){arena_dup(job->arena, b.data, b.len), b.len};
	buf_free(&b);
	return line;
}

static void put_count(struct buf *out, const char *name, size_t n)
{
	buf_adds(out, name);
	buf_add_u64(out, n);
}

static void write_record(struct flow_job *job, const struct tok *tok, const struct rec *r,
    const struct chat_conv *conv, const struct chat_seq *s)
{
	struct buf *out = job->out;

	if (conv->dataset.p) {
		buf_adds(out, ",\"dataset\":");
		buf_add_json(out, conv->dataset.p, conv->dataset.n);
	}
	buf_adds(out, ",\"input_ids\":");
	ids_write(out, s->ids, s->n);
	buf_adds(out, ",\"loss_mask\":");
	mask_write(out, s->mask, s->n);
	put_count(out, ",\"seq_len\":", s->n);
	put_count(out, ",\"n_prompt_tokens\":", s->n - s->n_response);
	put_count(out, ",\"n_response_tokens\":", s->n_response);
	for (size_t k = 0; k < tok->opt->keep.n; k++) {
		struct span v = rec_get(r, tok->opt->keep.v[k]);

		if (!v.p)
			continue;
		buf_addc(out, ',');
		buf_add_json(out, tok->opt->keep.v[k], strlen(tok->opt->keep.v[k]));
		buf_addc(out, ':');
		buf_add(out, v.p, v.n);
	}
	buf_adds(out, "}\n");
}

/* ID, or ID#turnK where the conversation became several sequences. */
static void set_name(
    struct thread *t, const struct chat_conv *conv, const struct chat_seq *s, int several)
{
	buf_reset(&t->name);
	buf_add(&t->name, conv->id.p, conv->id.n);
	if (several)
		put_count(&t->name, "#turn", s->turn);
}

static int write_one(struct flow_job *job, const struct tok *tok, struct thread *t,
    const struct chat_conv *conv, const struct chat_seq *s)
{
	struct show view = {
	    tok->chat, {t->name.data, t->name.len}, s->ids, s->mask, s->n, tok->colour};

	job->written++;
	flow_job_count(job, "tokens", s->n);
	flow_job_count(job, "supervised", s->n_response);
	if (tok->opt->show)
		return show(job->out, &view, &job->err);
	buf_adds(job->out, "{\"id\":");
	buf_add_json(job->out, t->name.data, t->name.len);
	write_record(job, tok, &t->rec, conv, s);
	return 0;
}

/* For trainers that weigh the draft step at t by the mask at t, though it predicts what follows t +
 * 1: they would never train the first step of an answer. */
static void extend_left(struct chat_seq *s)
{
	for (size_t k = 0; k + 1 < s->n; k++)
		if (!s->mask[k] && s->mask[k + 1]) {
			s->mask[k] = 1;
			s->n_response++;
		}
}

/* Cuts from the right. */
static void truncate_seq(struct chat_seq *s, size_t max)
{
	s->n = max;
	s->n_response = 0;
	for (size_t k = 0; k < max; k++)
		s->n_response += s->mask[k];
}

static void count_turns(
    struct flow_job *job, const struct chat_conv *conv, const struct chat_turns *turns)
{
	flow_job_count(job, "answer_drift", turns->drift);
	flow_job_count(job, "prompt_drift", turns->prompt_drift);
	flow_job_count(job, "special_strings_in_content", turns->specials);
	flow_job_count(job, "reasoning_off", turns->thinking_off);
	flow_job_count(job, "surrogates_replaced", conv->lone);
}

static int write_turns(struct flow_job *job, const struct tok *tok, struct thread *t,
    const struct chat_conv *conv, struct chat_turns *turns)
{
	const size_t max = tok->opt->max_len > 0 ? tok->opt->max_len : SIZE_MAX;
	const char *why = "unsupervised";

	count_turns(job, conv, turns);
	for (size_t i = 0; i < turns->n; i++) {
		struct chat_seq *s = &turns->seq[i];

		if (s->n > max && tok->opt->on_long == LONG_DROP) {
			flow_job_count(job, "long_sequences", 1);
			why = "long";
			continue;
		}
		if (s->n > max) {
			flow_job_count(job, "truncated", 1);
			truncate_seq(s, max);
		}
		if (s->n_response == 0)
			continue;
		if (tok->opt->extend_left)
			extend_left(s);
		set_name(t, conv, s, turns->n > 1);
		if (write_one(job, tok, t, conv, s) < 0)
			return -1;
	}
	if (job->written == 0)
		return flow_drop(job, why);
	if (tok->drift && conv->gen)
		drift_note(job, conv->dataset, turns);
	job->verdict = FLOW_OUT;
	return 0;
}

/* A record that is tokenised already, for --show. */
static int show_tokenised(struct flow_job *job, const struct tok *tok, struct thread *t)
{
	struct show view = {.chat = tok->chat, .colour = tok->colour};

	ints_reset(&t->ids);
	buf_reset(&t->mask);
	buf_reset(&t->name);
	if (rec_str(&t->rec, "id", &t->name, &job->err) < 0 ||
	    ids_read(&t->ids, rec_get(&t->rec, "input_ids"), "input_ids", &job->err) < 0 ||
	    mask_read(&t->mask, rec_get(&t->rec, "loss_mask"), "loss_mask", &job->err) < 0)
		return -1;
	if (t->ids.n != t->mask.len)
		return err_set(
		    &job->err, "type", "loss_mask: %zu values for %zu ids", t->mask.len, t->ids.n);
	view.name = (struct span){t->name.data, t->name.len};
	view.ids = t->ids.v;
	view.mask = (const uint8_t *)t->mask.data;
	view.n = t->ids.n;
	job->written = 1;
	job->verdict = FLOW_OUT;
	for (size_t k = 0; k < view.n; k++)
		flow_job_count(job, "supervised", view.mask[k]);
	return show(job->out, &view, &job->err);
}

/* Through the last message that is not an assistant's: what e3-infer sends. */
static size_t prompt_length(const struct chat_conv *conv)
{
	size_t n = conv->n;

	while (n > 0 && val_is_str(val_get(&conv->messages->u.arr.v[n - 1], "role"), "assistant"))
		n--;
	return n;
}

/* --show of a conversation of which nothing is to be learnt. */
static int show_prompt(
    struct flow_job *job, const struct tok *tok, struct thread *t, const struct chat_conv *conv)
{
	struct show view = {.chat = tok->chat, .name = conv->id, .colour = tok->colour};

	ints_reset(&t->ids);
	if (chat_prompt(tok->chat, t->chat, conv, prompt_length(conv), &t->ids, NULL, &job->err) <
	    0)
		return -1;
	view.ids = t->ids.v;
	view.n = t->ids.n;
	view.mask = memset(arena_alloc(job->arena, view.n), 0, view.n);
	job->written = 1;
	job->verdict = FLOW_OUT;
	flow_job_count(job, "tokens", view.n);
	return show(job->out, &view, &job->err);
}

static int make_turns(struct flow_job *job, const struct tok *tok, struct thread *t)
{
	const struct chat_turns_opt opt = {
	    .mask = (enum chat_mask)tok->opt->mask,
	    .last_turn_only = tok->opt->last_turn_only,
	    .no_special_in_content = tok->opt->no_special_in_content,
	    .hf_compat = tok->opt->hf_compat,
	    .check_drift = tok->opt->check_drift,
	};
	struct chat_conv conv;
	struct chat_turns turns;

	if (chat_read(&conv, &t->rec, job->arena, &job->err) < 0)
		return -1;
	job->id = conv.id;
	if (conv.id.n == 0)
		return err_set(&job->err, "missing", "id: expected a string that is not empty");
	if (chat_turns(tok->chat, t->chat, &conv, &opt, job->arena, &turns, &job->err) < 0)
		return -1;
	if (tok->opt->show && turns.n == 0 && prompt_length(&conv) > 0)
		return show_prompt(job, tok, t, &conv);
	return write_turns(job, tok, t, &conv, &turns);
}

int tok_work(void *ctx, void *thread, struct flow_job *job)
{
	const struct tok *tok = ctx;
	struct thread *t = thread;
	struct span line = valid_line(tok, job);
	int rc = rec_parse(&t->rec, line.p, line.n, &job->err);

	if (rc == 0) {
		job->object = 1;
		if (tok->opt->show && rec_get(&t->rec, "input_ids").p)
			rc = show_tokenised(job, tok, t);
		else
			rc = make_turns(job, tok, t);
	}
	if (rc < 0)
		job->verdict = FLOW_REJECT;
	return 0;
}

int tok_commit(void *ctx, struct flow_job *job)
{
	const struct tok *tok = ctx;

	if (tok->drift)
		drift_add(tok->drift, job);
	return 0;
}
