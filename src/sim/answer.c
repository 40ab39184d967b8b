#include "sim/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bpe/bpe.h"

struct vocab {
	const struct bpe *bpe;
	/* Ordinary ids by what they can be used for, ascending. A word is a blank and small
	 * letters: the split patterns of all families make one piece of it, and a piece that is a
	 * token is encoded as it, so a row of words and single marks is what the encoder itself
	 * would give. */
	struct ints words;
	struct ints starts; /* letters without the blank: the first word */
	struct ints marks;  /* . , .\n ... : between two words */
	struct ints any;    /* whole characters of any kind */
	int32_t stop, think, think_end, call_begin;
};

/* ---- the vocabulary, sorted ---- */

static int is_word(struct span t)
{
	size_t i = t.n > 0 && t.p[0] == ' ';

	if (t.n - i < 2)
		return 0;
	for (; i < t.n; i++)
		if (t.p[i] < 'a' || t.p[i] > 'z')
			return 0;
	return 1;
}

static int is_mark(struct span t)
{
	static const char *const marks[] = {".", ",", ".\n", ":", "?", ";", "!", ".\n\n", ":\n"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (span_eq(t, marks[i]))
			return 1;
	return 0;
}

/* Characters that a terminal, a JSON reader and a diff all bear. */
static int is_plain(struct span t)
{
	uint32_t cp;

	for (size_t i = 0, n; i < t.n; i += n) {
		n = utf8_decode(t.p + i, t.n - i, &cp);
		if (n == 0 || (cp < 0x20 && cp != '\n' && cp != '\t') || (cp >= 0x7f && cp < 0xa0))
			return 0;
	}
	return t.n > 0;
}

static void sort_in(struct vocab *v, int32_t id)
{
	struct span t = bpe_token(v->bpe, id);

	if (!t.p || bpe_is_special(v->bpe, id))
		return;
	if (is_word(t))
		ints_push(t.p[0] == ' ' ? &v->words : &v->starts, id);
	else if (is_mark(t))
		ints_push(&v->marks, id);
	if (is_plain(t))
		ints_push(&v->any, id);
}

static int32_t named(const struct bpe *b, const char *name)
{
	return bpe_special(b, name, strlen(name));
}

struct vocab *vocab_open(const struct bpe *b, struct err *e)
{
	struct vocab *v = xcalloc(1, sizeof(*v));
	const struct ints *eos = bpe_eos(b);

	v->bpe = b;
	for (size_t id = 0; id < bpe_vocab(b); id++)
		sort_in(v, (int32_t)id);
	v->stop = eos->n > 0 ? eos->v[0] : -1;
	v->think = named(b, "<think>");
	v->think_end = named(b, "</think>");
	v->call_begin = named(b, "<|tool_calls_section_begin|>");
	if (v->any.n == 0 || v->stop < 0) {
		err_set(e, "vocab",
		    v->stop < 0 ? "the model folder names no end-of-turn token"
				: "the vocabulary has no token of whole characters");
		vocab_close(v);
		return NULL;
	}
	return v;
}

void vocab_close(struct vocab *v)
{
	if (!v)
		return;
	ints_free(&v->words);
	ints_free(&v->starts);
	ints_free(&v->marks);
	ints_free(&v->any);
	free(v);
}

int32_t answer_call_begin(const struct vocab *v)
{
	return v->call_begin;
}

int32_t answer_stop_id(const struct vocab *v)
{
	return v->stop;
}

/* ---- drawing ---- */

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return (draw(state) >> 32) * n >> 32;
}

static int chance(uint64_t *state, double rate)
{
	return (double)(draw(state) >> 11) * 0x1p-53 < rate;
}

/* Low places more often: the smallest of three. */
static int32_t pick(uint64_t *state, const struct ints *from)
{
	uint64_t best = below(state, from->n);

	for (int i = 0; i < 2; i++) {
		uint64_t k = below(state, from->n);

		best = k < best ? k : best;
	}
	return from->v[best];
}

/* Sixteenths of the median: lengths as servers see them, many short and a long tail. */
static const unsigned char spread[16] = {
    2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 36, 48, 80, 160};

static uint64_t draw_length(uint64_t *state, uint64_t median)
{
	uint64_t base = median * spread[below(state, 16)] / 16;

	return 1 + base + below(state, base / 4 + 1);
}

/* ---- the answer's parts ---- */

struct writer {
	const struct vocab *v;
	uint64_t state;
	struct ints *out;
	size_t start; /* of this text in out */
	int mixed;    /* any token, not the encoder's choice */
	int last_mark;
};

static void put_token(struct writer *w)
{
	const struct vocab *v = w->v;
	int first = w->out->n == w->start;
	const struct ints *from = &v->words;

	if (v->words.n == 0 || (w->mixed && below(&w->state, 4) == 0))
		from = &v->any;
	else if (first && v->starts.n > 0)
		from = &v->starts;
	else if (!first && !w->last_mark && v->marks.n > 0 && below(&w->state, 10) == 0)
		from = &v->marks;
	w->last_mark = from == &v->marks;
	ints_push(w->out, pick(&w->state, from));
}

static void put_text(struct writer *w, uint64_t n)
{
	w->start = w->out->n;
	w->last_mark = 0;
	while (n-- > 0)
		put_token(w);
}

/* Where the prompt's last <think> was not closed: "<think>" or "<think>\n" at its end. */
static int think_open(const struct vocab *v, const struct ints *prompt)
{
	size_t from = prompt->n > 3 ? prompt->n - 3 : 0;

	if (v->think < 0 || v->think_end < 0)
		return 0;
	for (size_t i = prompt->n; i-- > from;) {
		if (prompt->v[i] == v->think_end)
			return 0;
		if (prompt->v[i] == v->think)
			return 1;
	}
	return 0;
}

static int has_run(const struct ints *a, const struct ints *run, size_t *at)
{
	for (size_t i = 0; run->n > 0 && i + run->n <= a->n; i++)
		if (memcmp(a->v + i, run->v, run->n * sizeof(*run->v)) == 0) {
			*at = i + run->n;
			return 1;
		}
	return 0;
}

static void encode(const struct vocab *v, const char *text, struct ints *out)
{
	struct bpe_work *w = bpe_work_open(v->bpe);
	struct err e;

	/* it is our own ASCII: it can't fail */
	(void)bpe_encode(v->bpe, w, (struct bpe_text){text, strlen(text), 0}, out, NULL, &e);
	bpe_work_close(w);
}

/* The first declared function's name, from Kimi's declaration in TypeScript ("type NAME = (_: ")
 * or in JSON ("name":"NAME"), which stands between tool_declare and the next turn. */
static int tool_name(const struct vocab *v, const struct ints *prompt, struct buf *name)
{
	static const struct {
		const char *before, *end;
	} forms[] = {{"\ntype ", " ="}, {"\"name\":\"", "\""}, {"\"name\": \"", "\""}};
	struct ints mark = {0};
	struct buf text = {0};
	struct err e;
	size_t at, n;
	int found = 0;

	encode(v, "<|im_system|>tool_declare<|im_middle|>", &mark);
	if (has_run(prompt, &mark, &at)) {
		n = prompt->n - at < 4096 ? prompt->n - at : 4096;
		(void)bpe_decode(v->bpe, prompt->v + at, n, &text, &e);
		buf_cstr(&text);
	}
	for (size_t i = 0; text.len > 0 && i < 3 && !found; i++) {
		const char *p = strstr(text.data, forms[i].before), *q;

		p = p ? p + strlen(forms[i].before) : NULL;
		q = p ? strstr(p, forms[i].end) : NULL;
		found = q && q > p && q - p < 100;
		if (found)
			buf_add(name, p, (size_t)(q - p));
	}
	ints_free(&mark);
	buf_free(&text);
	return found;
}

/* A call's number counts over the conversation. */
static size_t calls_so_far(const struct vocab *v, const struct ints *prompt)
{
	int32_t id = named(v->bpe, "<|tool_call_begin|>");
	size_t n = 0;

	for (size_t i = 0; i < prompt->n; i++)
		n += prompt->v[i] == id;
	return n;
}

static void put_call(struct writer *w, const struct ints *prompt, int bad)
{
	struct buf name = {0}, text = {0};

	if (tool_name(w->v, prompt, &name)) {
		buf_addf(&text,
		    "<|tool_calls_section_begin|><|tool_call_begin|>functions.%s:%zu"
		    "<|tool_call_argument_begin|>{\"value\":%u}%s<|tool_call_end|>"
		    "<|tool_calls_section_end|>",
		    buf_cstr(&name), calls_so_far(w->v, prompt), (unsigned)below(&w->state, 1000),
		    bad ? "{\"" : "");
		encode(w->v, buf_cstr(&text), w->out);
	}
	buf_free(&name);
	buf_free(&text);
}

static void put_repeat(struct writer *w, uint64_t n)
{
	int32_t id = pick(&w->state, w->v->words.n > 0 ? &w->v->words : &w->v->any);

	while (n-- > 0)
		ints_push(w->out, id);
}

/* Thinking, the text and a call, all in full; the caller cuts. n counts the stop id. */
static void compose(
    struct writer *w, const struct answer_want *want, const struct ints *prompt, uint64_t n)
{
	uint64_t think = 0;

	if (think_open(w->v, prompt)) {
		think = n * (1 + below(&w->state, 3)) / 4;
		put_text(w, want->blank ? 0 : want->think_only ? n : think);
		if (want->think_only)
			return;
		ints_push(w->out, w->v->think_end);
		think++;
	}
	if (want->blank)
		return;
	if (want->repeat)
		put_repeat(w, want->max);
	else
		put_text(w, n > think + 1 ? n - think - 1 : 1);
	if (w->v->call_begin >= 0 && (want->bad_call || chance(&w->state, want->call_rate)))
		put_call(w, prompt, want->bad_call);
}

int answer_make(const struct vocab *v, const struct answer_want *want, const struct ints *prompt,
    struct ints *out)
{
	uint64_t key = hash64(prompt->v, prompt->n * sizeof(*prompt->v), want->seed), n;
	struct writer w = {.v = v, .state = key, .out = out};
	size_t start = out->n;

	w.mixed = below(&w.state, 8) == 0;
	n = draw_length(&w.state, want->median);
	if (want->ignore_stop)
		n = want->max + 1;
	else if (n <= want->min)
		n = want->min + 1;
	n = n > want->max ? want->max + 1 : n;
	compose(&w, want, prompt, n);
	if (out->n - start >= want->max || want->ignore_stop) {
		out->n = out->n - start > want->max ? start + want->max : out->n;
		return 0;
	}
	ints_push(out, v->stop);
	return 1;
}

size_t answer_think_end(const struct vocab *v, const struct ints *prompt, const struct ints *out)
{
	if (!think_open(v, prompt))
		return 0;
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i] == v->think_end)
			return i + 1;
	return out->n + 1;
}
