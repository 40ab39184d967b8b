/* A sequence as a person reads it: its text, what is supervised standing out, turns on lines of
 * their own.
 *
 *	== d/3#turn2
 *	<|im_user|>user<|im_middle|>What is 2+2?<|im_end|>
 *	<|im_assistant|>assistant<|im_middle|><think>⟦Simple sum.</think>4<|im_end|>⟧
 *	-- 21 tokens: 15 prompt, 6 supervised in 1 span
 *
 * On a terminal supervised text is green and bold and special tokens are blue, instead of the
 * brackets. Without colours a line that begins supervised begins with a bar, so that a long answer
 * is known for one wherever a pager stands. A line feed is shown before it is made; other control
 * characters are \xNN, since a record must not write to a terminal. */
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "bpe/bpe.h"
#include "tokenize/tokenize.h"

#define OPEN  "\xe2\x9f\xa6" /* U+27E6 */
#define CLOSE "\xe2\x9f\xa7" /* U+27E7 */
#define BAR   "\xe2\x94\x82" /* U+2502 */
#define LF    "\xe2\x86\xb5" /* U+21B5 */

/* Tokens that a turn begins with, for families without one that ends it, or not every one; GLM's end
 * the turn before too. */
static const char *const begins[] = {
    "<|user|>", "<|assistant|>", "<|system|>", "<|observation|>", "<｜User｜>", "<｜Assistant｜>"};

enum look { LOOK_NONE, LOOK_PROMPT, LOOK_PROMPT_SPECIAL, LOOK_TARGET, LOOK_TARGET_SPECIAL };

struct pen {
	struct buf *out;
	const struct show *s;
	enum look look;
	int broken; /* a turn's end is written, its line not ended yet */
	int start;  /* nothing is on the line */
	int opened; /* but the bracket that opens */
};

static void set_look(struct pen *p, enum look look)
{
	static const char *const code[] = {[LOOK_NONE] = "\033[0m",
	    [LOOK_PROMPT] = "\033[0m",
	    [LOOK_PROMPT_SPECIAL] = "\033[0;34m",
	    [LOOK_TARGET] = "\033[0;1;32m",
	    [LOOK_TARGET_SPECIAL] = "\033[0;1;36m"};
	int was = p->look >= LOOK_TARGET, is = look >= LOOK_TARGET;

	if (look == p->look)
		return;
	if (p->s->colour)
		buf_adds(p->out, code[look]);
	else if (was != is)
		buf_adds(p->out, is ? OPEN : CLOSE);
	p->opened = is && !was;
	p->look = look;
}

static void end_line(struct pen *p)
{
	if (!p->start)
		buf_addc(p->out, '\n');
	p->start = 1;
	p->broken = 0;
}

/* Where a line goes on with what is supervised. */
static void put_bar(struct pen *p)
{
	if (p->start && !p->opened && !p->s->colour && p->look >= LOOK_TARGET)
		buf_adds(p->out, BAR);
	p->opened = 0;
}

static void put_char(struct pen *p, const char *c, size_t n)
{
	unsigned char b = (unsigned char)*c;

	put_bar(p);
	if (b == '\n') {
		buf_adds(p->out, LF);
		p->start = 0;
		end_line(p);
		return;
	}
	if (n == 1 && (b < 0x20 || b == 0x7f) && b != '\t')
		buf_addf(p->out, "\\x%02x", b);
	else if (n == 2 && b == 0xc2 && (unsigned char)c[1] < 0xa0) /* C1 controls */
		buf_addf(p->out, "\\x%02x", (unsigned char)c[1]);
	else
		buf_add(p->out, c, n);
	p->start = 0;
}

/* Text of equal look, which may end within a character: what is no UTF-8 is shown as bytes. */
static void put_text(struct pen *p, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = utf8_len(s + i, n - i);

		if (len == 0) {
			put_bar(p);
			buf_addf(p->out, "\\x%02x", (unsigned char)s[i++]);
			p->start = 0;
			continue;
		}
		put_char(p, s + i, len);
		i += len;
	}
}

static int is_begin(struct span name)
{
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (span_eq(name, begins[i]))
			return 1;
	return 0;
}

static enum look look_of(const struct show *s, size_t k)
{
	int special = bpe_is_special(chat_bpe(s->chat), s->ids[k]);

	if (s->mask[k])
		return special ? LOOK_TARGET_SPECIAL : LOOK_TARGET;
	return special ? LOOK_PROMPT_SPECIAL : LOOK_PROMPT;
}

/* Ids of equal look, from k on: one text. Returns how many. */
static size_t put_run(struct pen *p, size_t k, struct buf *text, struct err *e)
{
	const struct show *s = p->s;
	enum look look = look_of(s, k);
	const struct bpe *bpe = chat_bpe(s->chat);
	size_t n = 0;
	int special = bpe_is_special(bpe, s->ids[k]);
	int begin;

	buf_reset(text);
	do {
		int32_t id = s->ids[k + n];
		struct span token = bpe_token(bpe, id);

		if (!token.p) {
			err_set(e, "range", "input_ids[%zu]: there is no token %d", k + n, (int)id);
			return 0;
		}
		buf_add(text, token.p, token.n);
		n++;
	} while (!special && k + n < s->n && look_of(s, k + n) == look);
	if (p->look >= LOOK_TARGET && look < LOOK_TARGET)
		set_look(p, look); /* closed on the line it ends on */
	begin = special && is_begin((struct span){text->data, text->len});
	if (begin)
		end_line(p);
	/* a line feed behind the end of a turn belongs to its line */
	if (p->broken && !(text->len > 0 && text->data[0] == '\n'))
		end_line(p);
	set_look(p, look);
	put_text(p, text->data, text->len);
	p->broken = special && !begin && chat_is_end(s->chat, s->ids[k]);
	return n;
}

int show(struct buf *out, const struct show *s, struct err *e)
{
	struct pen p = {.out = out, .s = s, .start = 1};
	struct buf text = {0};
	size_t supervised = 0, spans = 0, n = 1;

	buf_adds(out, "== ");
	put_text(&p, s->name.p, s->name.n);
	end_line(&p);
	for (size_t k = 0; k < s->n && n > 0; k += n)
		n = put_run(&p, k, &text, e);
	set_look(&p, LOOK_NONE);
	end_line(&p);
	buf_free(&text);
	for (size_t k = 0; k < s->n; k++) {
		supervised += s->mask[k];
		spans += s->mask[k] && (k == 0 || !s->mask[k - 1]);
	}
	buf_addf(out, "-- %zu tokens: %zu prompt, %zu supervised in %zu span%s\n\n", s->n,
	    s->n - supervised, supervised, spans, spans == 1 ? "" : "s");
	return n > 0 ? 0 : -1;
}
