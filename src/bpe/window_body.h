/* window_body.h - one window, by the vectors that the file that includes this may use
 *
 * (private to window_*.c, each of which is the same function for another processor) */
#ifndef E3_BPE_WINDOW_BODY_H
#define E3_BPE_WINDOW_BODY_H

#include <string.h>

#include "bpe/unicode.h"
#include "bpe/window.h"
#include "bpe/window_rules.h"

#define ONLY_IN_PATTERNS 0x17F /* a long s: an s in contractions */

/* The characters at p that are not ASCII, as unicode.h classes them, by their first bytes. */
struct wide {
	uint64_t bit[8];
	uint64_t cjk; /* U+3040 to U+30FF and U+9F80 to U+9FA5 */
	uint64_t odd; /* what only the walker knows how to take */
	uint64_t dot; /* U+30FB */
};

enum { LETTER, UPPER, LOWER, MARK, NUMBER, SPACE, PUNCT, HAN }; /* exponents of unicode.h's bits */

static inline uint32_t wide_decode(const unsigned char *p)
{
	if (p[0] < 0xE0)
		return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
	if (p[0] < 0xF0)
		return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
	return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
	       (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
}

/* deepseek3's runs, in so far as they are not in ascii.h's mask. Nearly all are letters. */
static inline void wide_cjk(struct wide *w, uint32_t cp, unsigned i)
{
	w->cjk |= BIT(i);
	if (cp == 0x30FB)
		w->dot |= BIT(i);
	else if (!(uni_class(cp) & (CP_LETTER | CP_MARK)))
		w->odd |= BIT(i);
}

/* `first` are the first bytes of those that are not in m->han. */
static void wide_classify(struct wide *w, const char *p, uint64_t first, uint64_t han)
{
	unsigned char class[64] = {0};

	*w = (struct wide){{0}, 0, 0, 0};
	for (; first; first &= first - 1) {
		unsigned i = lowest(first);
		uint32_t cp = wide_decode((const unsigned char *)p + i);

		class[i] = (unsigned char)uni_class(cp);
		if (cp - 0x3040 < 0xC0 || cp - 0x9F80 < 0x26)
			wide_cjk(w, cp, i);
		else if (cp == ONLY_IN_PATTERNS)
			w->odd |= BIT(i);
	}
	ascii_transpose(w->bit, class);
	w->bit[LETTER] |= han;
	w->bit[UPPER] |= han;
	w->bit[LOWER] |= han;
	w->bit[HAN] |= han;
}

/* Adds to the view, whose masks are ASCII's, by bytes. */
static void wide_add(struct view *v, struct wide *w, const struct split_rules *r)
{
	struct ascii_masks *m = &v->m;
	uint64_t han;

	m->digit |= w->bit[NUMBER];
	m->white |= w->bit[SPACE];
	switch (r->window) {
	case SPLIT_CASED:
		han = r->han ? w->bit[HAN] : 0;
		w->odd |= han & ~w->bit[LETTER];
		m->letter |= (w->bit[UPPER] | w->bit[LOWER]) & ~han;
		m->upper |= w->bit[UPPER] & ~w->bit[LOWER] & ~han;
		v->both = w->bit[UPPER] & w->bit[LOWER] & ~han;
		v->mark = w->bit[MARK] & ~han;
		v->apart = han;
		break;
	case SPLIT_SECTIONS:
		v->apart = w->cjk | m->han;
		v->dot = w->dot;
		m->letter |= (w->bit[LETTER] | w->bit[MARK]) & ~v->apart;
		break;
	default:
		m->letter |= w->bit[LETTER];
		if (r->letters & CP_MARK)
			m->letter |= w->bit[MARK];
		break;
	}
}

/* From bytes to characters. */
static void squeeze_view(struct view *v)
{
	struct ascii_masks *m = &v->m;

	m->letter = squeeze(&v->at, m->letter);
	m->upper = squeeze(&v->at, m->upper);
	m->digit = squeeze(&v->at, m->digit);
	m->white = squeeze(&v->at, m->white);
	m->line = squeeze(&v->at, m->line);
	m->space = squeeze(&v->at, m->space);
	m->apostrophe = squeeze(&v->at, m->apostrophe);
	m->slash = squeeze(&v->at, m->slash);
	m->high = squeeze(&v->at, m->high);
	v->ascii = squeeze(&v->at, v->ascii);
	v->both = squeeze(&v->at, v->both);
	v->mark = squeeze(&v->at, v->mark);
	v->apart = squeeze(&v->at, v->apart);
	v->dot = squeeze(&v->at, v->dot);
}

/* Bytes of the n up to which characters are whole. */
static unsigned whole_bytes(const struct view *v, unsigned n)
{
	uint64_t first = ~v->m.rest & BELOW(n);
	unsigned last = 63 - (unsigned)__builtin_clzll(first);
	unsigned char c = (unsigned char)v->p[last];
	unsigned len = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	return last + len <= n ? n : last;
}

/* Writes base and the bits' numbers added up; up to 64 may be written. */
static inline size_t write_starts(uint64_t starts, uint32_t base, uint32_t *end)
{
	size_t n = (size_t)__builtin_popcountll(starts);

#if defined(__AVX512VBMI2__) && !defined(WINDOW_PLAIN)
	static const unsigned char count[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36,
	    37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58,
	    59, 60, 61, 62, 63};
	__m512i x = _mm512_maskz_compress_epi8(starts, _mm512_loadu_si512(count));

	for (size_t i = 0; i < n; i += 16) {
		__m512i few = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(x));

		_mm512_storeu_si512(end + i, _mm512_add_epi32(few, _mm512_set1_epi32((int)base)));
		x = _mm512_alignr_epi64(x, x, 2);
	}
#else
	/* eight at a time: how many there are can't be foreseen, but that few are more than 16 can
	 */
	for (size_t i = 0; i < n; i += 8)
		for (size_t k = 0; k < 8; k++) {
			end[i + k] = base + lowest(starts | BIT(63));
			starts &= starts - 1;
		}
#endif
	return n;
}

/* `odd` are characters that only the walker knows how to take. */
static inline size_t window_finish(
    struct view *v, const struct split *s, uint64_t odd, uint32_t *end)
{
	uint64_t starts;

	view_combine(v);
	if (s->rules->tail == '/') /* one may go with the line end before it: see line_ends */
		odd |= v->m.slash & v->tail << 1;
	odd &= BELOW(v->n);
	if (odd)
		v->n = lowest(odd);
	if (v->n < 2)
		return 0;
	starts = view_starts(v, s->rules) & ~BIT(0);
	starts &= BELOW(view_sure(v));
	return write_starts(spread(&v->at, starts), (uint32_t)s->pos, end);
}

static size_t window_wide(struct view *v, const struct split *s, unsigned n, uint32_t *end)
{
	struct ascii_masks *m = &v->m;
	struct wide w;
	uint64_t first;

	n = whole_bytes(v, n);
	if (n == 0)
		return 0;
	first = ~m->rest & BELOW(n);
	wide_classify(&w, v->p, m->high & first & ~m->han, m->han & first);
	wide_add(v, &w, s->rules);
	if (s->rules->window == SPLIT_SECTIONS)
		w.odd |= m->control |
			 (m->high & ~(m->letter | m->digit | m->white | v->apart | w.bit[PUNCT]));
	squeeze_init(&v->at, first);
	squeeze_view(v);
	v->n = (unsigned)__builtin_popcountll(first);
	return window_finish(v, s, squeeze(&v->at, w.odd), end);
}

static inline size_t window_one(const struct split *s, uint32_t *end)
{
	struct view v = {.p = s->p + s->pos, .at.keep = UINT64_MAX};
	size_t left = s->n - s->pos;
	char copy[WINDOW] = {0};

	v.n = left < WINDOW ? (unsigned)left : WINDOW;
	if (left < WINDOW)
		v.p = memcpy(copy, v.p, left);
	ascii_classify(&v.m, v.p);
	v.ascii = v.m.letter;
	if (v.m.high)
		return window_wide(&v, s, v.n, end);
	return window_finish(&v, s, s->rules->window == SPLIT_SECTIONS ? v.m.control : 0, end);
}

#endif
