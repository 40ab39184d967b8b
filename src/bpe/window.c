#include "bpe/window.h"

#include <string.h>

#define BIT(i)	 ((uint64_t)1 << (i))
#define BELOW(i) ((i) < 64 ? BIT(i) - 1 : UINT64_MAX)

/* The classes, and what is made of them. Bits shifted left by one tell of the byte before. */
struct view {
	struct ascii_masks m;
	uint64_t blank; /* white space that ends no line */
	uint64_t other; /* neither letter, digit nor white space */
	uint64_t lead;	/* alone, not behind a space: goes with letters behind it */
	uint64_t tail;	/* line ends that go with `other` before them */
	const char *p;
	unsigned n; /* bytes that are known: ASCII, and of the text */
};

static unsigned lowest(uint64_t x)
{
	return (unsigned)__builtin_ctzll(x);
}

/* Length of a contraction's letters behind an apostrophe, or 0. Four bytes can be read. */
static unsigned contraction(const char *p)
{
	char a = (char)(p[1] | 0x20), b = (char)(p[2] | 0x20);

	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return 1;
	return (b == 'e' && (a == 'r' || a == 'v')) || (a == 'l' && b == 'l') ? 2 : 0;
}

/* Line ends that a run of blanks reaches from behind a line end belong to the same piece as that;
 * blanks that do not are the start of the next. */
static uint64_t indents(const struct view *v)
{
	uint64_t after = v->blank & v->m.line << 1 & ~(v->tail << 1),
		 starts = v->blank & v->tail << 1;

	while (after) {
		unsigned i = lowest(after), run = lowest(~(v->blank >> i));

		if (!(v->m.line >> i >> run & 1))
			starts |= BIT(i);
		after &= after - 1;
	}
	return starts;
}

/* \p{N}{1,3} */
static uint64_t threes(uint64_t digit)
{
	uint64_t starts = digit & ~(digit << 1), next = starts,
		 run = digit & digit << 1 & digit << 2;

	while ((next = next << 3 & run << 1 & digit))
		starts |= next;
	return starts;
}

/* o200k, kimi: 's and the like close a word. Bits of the contraction are no starts, the one behind
 * is. */
static uint64_t close_words(const struct view *v, uint64_t starts)
{
	uint64_t todo = v->m.apostrophe & v->m.letter << 1 & v->m.letter >> 1 & BELOW(v->n - 3);
	unsigned end = 0;

	for (; todo; todo &= todo - 1) {
		unsigned at = lowest(todo), n;

		if (at == end && end > 0) /* behind a contraction there is no word to close */
			continue;
		n = contraction(v->p + at);
		if (n == 0)
			continue;
		end = at + 1 + n;
		starts &= ~(BELOW(end) & ~BELOW(at));
		starts |= BIT(end) & v->m.letter;
	}
	return starts;
}

/* llama3, qwen2: they are pieces of their own, where the apostrophe starts one. */
static uint64_t cut_contractions(const struct view *v, uint64_t starts)
{
	uint64_t todo = v->lead & v->m.apostrophe & v->m.letter >> 1 & BELOW(v->n - 3);

	for (; todo; todo &= todo - 1) {
		unsigned at = lowest(todo), n = contraction(v->p + at);

		if (n > 0)
			starts |= BIT(at + 1 + n) & v->m.letter;
	}
	return starts;
}

static void look(struct view *v)
{
	struct ascii_masks *m = &v->m;
	uint64_t first;

	v->blank = m->white & ~m->line;
	v->other = ~(m->letter | m->digit | m->white | m->high);
	v->lead = v->other & ~(v->other << 1) & ~(m->space << 1);
	/* the sum carries through each run of line ends that begins behind `other` */
	first = m->line & v->other << 1;
	v->tail = m->line & ~(m->line + first);
}

/* Where pieces start, if one starts at bit 0. */
static uint64_t find_starts(const struct view *v, const struct split_rules *r)
{
	const struct ascii_masks *m = &v->m;
	uint64_t lone = v->lead & m->letter >> 1, starts;

	starts = m->letter & (m->digit | m->line | (v->other & ~lone)) << 1;
	starts |= v->other & ~((v->other | m->space) << 1);
	starts |= v->blank & ~(m->white << 1);
	starts |=
	    v->blank & v->blank << 1 & ~(m->white >> 1); /* the last blank goes with what follows */
	starts |= m->line & ~((m->white | v->other) << 1);
	starts |= indents(v);
	starts |= r->numbers == 1 ? m->digit : threes(m->digit);
	if (r->window == SPLIT_CASED) {
		starts |= m->upper & (m->letter & ~m->upper) << 1;
		return close_words(v, starts);
	}
	return cut_contractions(v, starts);
}

/* The last bit up to which starts do not depend on what is not known: a contraction needs three
 * bytes more, a run of white space its end. */
static unsigned sure(const struct view *v)
{
	uint64_t known = BELOW(v->n), solid = known & ~v->m.white;
	unsigned run = solid ? 64 - (unsigned)__builtin_clzll(solid) : 0;

	return run < v->n - 4 ? run : v->n - 4;
}

static size_t one_window(struct split *s, ascii_fn *classify, size_t *end)
{
	struct view v = {.p = s->p + s->pos, .n = WINDOW};
	char copy[WINDOW] = {0};
	uint64_t starts, unknown;
	size_t n = 0;

	if (s->n - s->pos < WINDOW) {
		v.n = (unsigned)(s->n - s->pos);
		v.p = memcpy(copy, v.p, v.n);
	}
	classify(&v.m, v.p);
	look(&v);
	unknown = v.m.high;
	if (s->rules->tail == '/') /* one may go with the line end before it: see line_ends */
		unknown |= v.m.slash & v.tail << 1;
	if (unknown && lowest(unknown) < v.n)
		v.n = lowest(unknown);
	if (v.n < 5)
		return 0;
	starts = find_starts(&v, s->rules) & BELOW(sure(&v) + 1) & ~BIT(0);
	for (; starts; starts &= starts - 1)
		end[n++] = s->pos + lowest(starts);
	if (n > 0)
		s->pos = end[n - 1];
	return n;
}

size_t window_fill(struct split *s, ascii_fn *classify, size_t *end, size_t room)
{
	size_t n = 0;

	while (n + WINDOW <= room && s->pos < s->n) {
		size_t more = 0;

		if (s->rules->window && (unsigned char)s->p[s->pos] < 0x80)
			more = one_window(s, classify, end + n);
		n += more;
		if (more == 0)
			end[n++] = split_next(s);
	}
	return n;
}
