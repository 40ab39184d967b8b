/* window_rules.h - where pieces start, by the families' rules, as one word's arithmetic
 *
 * Bit i tells of character i of a window that begins with a piece. Bits shifted left by one tell of
 * the character before. The rules are those of split.c, and are only right up to view_sure.
 * (private to window_*.c) */
#ifndef E3_BPE_WINDOW_RULES_H
#define E3_BPE_WINDOW_RULES_H

#include <stdint.h>

#include "bpe/ascii.h"
#include "bpe/split.h"
#include "bpe/squeeze.h"

#define BIT(i)	 ((uint64_t)1 << (i))
#define BELOW(i) ((i) < 64 ? BIT(i) - 1 : UINT64_MAX)

/* The classes, and what is made of them. */
struct view {
	struct ascii_masks m;
	uint64_t both;	/* letters that have no case, and marks: upper and lower at once */
	uint64_t mark;	/* those of them that may also go with `other` */
	uint64_t apart; /* of runs that are cut out: Han, or deepseek3's CJK */
	uint64_t dot;	/* characters of such runs that are not letters */
	uint64_t ascii; /* ASCII letters */
	uint64_t blank; /* white space that ends no line */
	uint64_t other; /* neither letter, digit, white space nor apart */
	uint64_t lead;	/* alone, not behind a space: may go with letters behind it */
	uint64_t tail;	/* line ends that go with `other` before them */
	const char *p;
	struct squeeze at; /* of bytes: the characters' first */
	unsigned n;	   /* characters that are known */
};

static inline unsigned lowest(uint64_t x)
{
	return (unsigned)__builtin_ctzll(x);
}

/* Length of a contraction's letters behind character i, an apostrophe, or 0. */
static inline unsigned view_contraction(const struct view *v, unsigned i, int fold)
{
	const char *p = v->p + lowest(spread(&v->at, BIT(i)));
	char a = (char)(p[1] | fold), b = (char)(p[2] | fold);

	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return 1;
	return (b == 'e' && (a == 'r' || a == 'v')) || (a == 'l' && b == 'l') ? 2 : 0;
}

/* Line ends that a run of blanks reaches from behind a line end belong to the same piece as that;
 * blanks that do not are the start of the next. */
static inline uint64_t indents(const struct view *v)
{
	uint64_t after = v->blank & v->m.line << 1 & ~(v->tail << 1),
		 starts = v->blank & v->tail << 1;

	for (; after; after &= after - 1) {
		uint64_t first = after & -after;

		if (!((v->blank + first) & ~v->blank & v->m.line))
			starts |= first;
	}
	return starts;
}

/* \p{N}{1,3} */
static inline uint64_t threes(uint64_t digit)
{
	uint64_t starts = digit & ~(digit << 1), next = starts,
		 run = digit & digit << 1 & digit << 2;

	while ((next = next << 3 & run << 1 & digit))
		starts |= next;
	return starts;
}

/* o200k, kimi: 's and the like close a word. Bits of the contraction are no starts, the one behind
 * is. */
static inline uint64_t close_words(struct view *v, uint64_t starts)
{
	uint64_t todo = v->m.apostrophe & v->m.letter << 1 & v->m.letter >> 1 & BELOW(v->n);
	unsigned end = 0;

	for (; todo; todo &= todo - 1) {
		unsigned i = lowest(todo), n;

		if (i == end && end > 0) /* behind a contraction there is no word to close */
			continue;
		if (i + 3 >= v->n)
			break; /* not sure */
		n = view_contraction(v, i, 0x20);
		if (n == 0)
			continue;
		end = i + 1 + n;
		starts &= ~(BELOW(end) & ~BELOW(i));
		starts |= BIT(end) & v->m.letter;
		if (BIT(end) & v->both) { /* cut_cased took it for a part of the letters before */
			v->n = end;
			break;
		}
	}
	return starts;
}

/* llama3, qwen2: they are pieces of their own, where the apostrophe starts one. */
static inline uint64_t cut_contractions(const struct view *v, uint64_t starts)
{
	uint64_t todo = v->lead & v->m.apostrophe & v->m.letter >> 1 & BELOW(v->n);

	for (; todo; todo &= todo - 1) {
		unsigned i = lowest(todo), n = i + 3 < v->n ? view_contraction(v, i, 0x20) : 0;

		if (n > 0)
			starts |= BIT(i + 1 + n) & v->m.letter;
	}
	return starts;
}

/* gpt2: likewise, but small letters only, and without them no letter goes with an apostrophe. */
static inline uint64_t cut_small_contractions(const struct view *v, uint64_t starts)
{
	uint64_t todo = v->lead & v->m.apostrophe & v->m.letter >> 1 & BELOW(v->n);

	for (; todo; todo &= todo - 1) {
		unsigned i = lowest(todo), n = i + 3 < v->n ? view_contraction(v, i, 0) : 0;

		if (n > 0) {
			starts &= ~BIT(i + 1);
			starts |= BIT(i + 1 + n) & v->m.letter;
		}
	}
	return starts;
}

/* A mark is a letter, but goes with two and more of `other`, or one behind a space. */
static inline void absorb_marks(struct view *v)
{
	uint64_t todo;

	while ((todo = v->mark & v->other << 1 & ~(v->lead << 1))) {
		uint64_t run = v->mark & ~(v->mark + (todo & -todo));

		v->m.letter &= ~run;
		v->both &= ~run;
		v->mark &= ~run;
		v->other |= run;
		v->lead = v->other & ~(v->other << 1) & ~(v->m.space << 1);
	}
}

static inline void view_combine(struct view *v)
{
	struct ascii_masks *m = &v->m;
	uint64_t first;

	v->blank = m->white & ~m->line;
	v->other = ~(m->letter | m->digit | m->white | v->apart);
	v->lead = v->other & ~(v->other << 1) & ~(m->space << 1);
	absorb_marks(v);
	/* the sum carries through each run of line ends that begins behind `other` */
	first = m->line & v->other << 1;
	v->tail = m->line & ~(m->line + first);
}

/* [UPPER]*[LOWER]+|[UPPER]+[LOWER]* : behind a small letter, capitals start a piece. The others are
 * in a run of capitals and letters without case; the piece goes on behind the last of the latter
 * only if a small letter follows. */
static inline uint64_t cut_cased(struct view *v)
{
	uint64_t small = v->m.letter & ~v->m.upper & ~v->both;
	uint64_t lower = small | (v->both & ~(v->both + (v->both & small << 1)));
	uint64_t starts = v->m.upper & lower << 1;
	uint64_t todo = v->m.upper & (v->both & ~lower) << 1 & BELOW(v->n);

	for (; todo; todo &= todo - 1) {
		uint64_t first = todo & -todo, behind = (v->m.upper + first) & ~v->m.upper;

		if (!(behind & BELOW(v->n))) { /* not sure */
			v->n = lowest(first);
			break;
		}
		if (!(behind & v->m.letter))
			starts |= first;
	}
	return starts;
}

/* What llama3, qwen2, o200k and kimi have in common. */
static inline uint64_t start_words(const struct view *v, unsigned numbers)
{
	const struct ascii_masks *m = &v->m;
	uint64_t lone = v->lead & m->letter >> 1, starts;

	starts = m->letter & (m->digit | m->line | v->apart | (v->other & ~lone)) << 1;
	starts |= v->other & ~((v->other | m->space) << 1);
	starts |= v->blank & ~(m->white << 1);
	/* the last blank goes with what follows */
	starts |= v->blank & v->blank << 1 & ~(m->white >> 1);
	starts |= m->line & ~((m->white | v->other) << 1);
	starts |= indents(v);
	starts |= v->apart & ~(v->apart << 1);
	return starts | (numbers == 1 ? m->digit : threes(m->digit));
}

static inline uint64_t start_gpt2(const struct view *v, int digits)
{
	const struct ascii_masks *m = &v->m;
	uint64_t starts, last = m->white & m->white << 1 & ~(m->white >> 1);

	starts = m->letter & ~((m->letter | m->space) << 1);
	starts |= v->other & ~((v->other | m->space) << 1);
	starts |= m->white & ~(m->white << 1);
	if (digits)
		starts |= m->digit | (last & ~(m->digit >> 1));
	else
		starts |= (m->digit & ~((m->digit | m->space) << 1)) | last;
	return cut_small_contractions(v, starts);
}

/* Here `other` is punctuation, and one that is ASCII goes with ASCII letters behind it, and with no
 * others. Runs of white space end where what is cut out begins. */
static inline uint64_t start_deepseek3(const struct view *v)
{
	const struct ascii_masks *m = &v->m;
	uint64_t led = v->ascii & (v->lead & ~m->high) << 1, starts;

	starts = m->letter & ~led & (m->digit | m->line | v->apart | v->other) << 1;
	starts |= m->letter & (v->ascii + led) & ~v->ascii;
	starts |= v->other & ~((v->other | m->space) << 1);
	starts |= v->blank & ~(m->white << 1);
	starts |= v->blank & v->blank << 1 & ~((m->white | m->digit | v->apart) >> 1);
	starts |= m->line & ~((m->white | v->other) << 1);
	starts |= indents(v);
	starts |= v->apart & (~(v->apart << 1) | (v->dot ^ v->dot << 1));
	return starts | threes(m->digit);
}

static inline uint64_t view_starts(struct view *v, const struct split_rules *r)
{
	uint64_t starts;

	switch (r->window) {
	case SPLIT_CASED:
		starts = start_words(v, r->numbers) | cut_cased(v);
		return close_words(v, starts);
	case SPLIT_WORDS: return cut_contractions(v, start_words(v, r->numbers));
	case SPLIT_PLAIN_WORDS: return start_gpt2(v, r->digits);
	default: return start_deepseek3(v);
	}
}

/* The number of starts' bits that do not depend on what is not known: white space needs its end, an
 * apostrophe three characters. */
static inline unsigned view_sure(const struct view *v)
{
	uint64_t known = BELOW(v->n), solid = known & ~v->m.white, near;
	unsigned sure = solid ? 65 - (unsigned)__builtin_clzll(solid) : 1;

	if (sure > v->n)
		sure = v->n;
	near = v->m.apostrophe & known & ~BELOW(v->n > 3 ? v->n - 3 : 0);
	if (near && lowest(near) < sure)
		sure = lowest(near);
	return sure;
}

#endif
