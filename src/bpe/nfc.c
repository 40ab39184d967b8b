#include "bpe/nfc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "bpe/moves.h"
#include "bpe/unicode.h"

/* Hangul syllables are arithmetic (The Unicode Standard, 3.12). */
enum {
	S_BASE = 0xAC00,
	L_BASE = 0x1100,
	V_BASE = 0x1161,
	T_BASE = 0x11A7, /* one before the first trailing consonant */
	L_COUNT = 19,
	V_COUNT = 21,
	T_COUNT = 28,
	S_COUNT = L_COUNT * V_COUNT * T_COUNT,
};

/* A run of code points with room for an ordinary one; a starter with thousands of marks grows it.
 */
struct chars {
	uint32_t *v;
	size_t n, cap;
};

static void push(struct chars *c, uint32_t cp)
{
	c->v = xgrow(c->v, &c->cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = cp;
}

static unsigned combining(uint32_t cp)
{
	unsigned info = nfc_info(cp);

	return info == 255 ? 0 : info;
}

static int by_cp(const void *key, const void *entry)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct nfc_decomposition *)entry)->cp;

	return a < b ? -1 : a > b;
}

static void decompose(struct chars *to, uint32_t cp)
{
	const struct nfc_decomposition *d;
	uint32_t s = cp - S_BASE;

	if (cp >= S_BASE && s < S_COUNT) {
		push(to, L_BASE + s / (V_COUNT * T_COUNT));
		push(to, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT);
		if (s % T_COUNT)
			push(to, T_BASE + s % T_COUNT);
		return;
	}
	d = bsearch(&cp, nfc_decomposition, nfc_decompositions, sizeof(*d), by_cp);
	if (!d) {
		push(to, cp);
		return;
	}
	for (size_t i = 0; i < 4 && d->to[i]; i++)
		push(to, d->to[i]);
}

static int by_class(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts each run of marks by combining class, stably: the place goes into the key. */
static void order(struct chars *c)
{
	for (size_t i = 0; i < c->n; i++) {
		size_t end = i;
		uint64_t *key;
		uint32_t *copy;

		while (end < c->n && combining(c->v[end]) > 0)
			end++;
		if (end - i < 2) {
			i = end;
			continue;
		}
		key = xmalloc((end - i) * sizeof(*key));
		copy = xmemdup(c->v + i, (end - i) * sizeof(*copy));
		for (size_t k = i; k < end; k++)
			key[k - i] = (uint64_t)combining(c->v[k]) << 32 | (k - i);
		qsort(key, end - i, sizeof(*key), by_class);
		for (size_t k = i; k < end; k++)
			c->v[k] = copy[key[k - i] & 0xFFFFFFFF];
		free(key);
		free(copy);
		i = end;
	}
}

static int by_pair(const void *key, const void *entry)
{
	const uint32_t *k = key;
	const struct nfc_composition *c = entry;

	if (k[0] != c->first)
		return k[0] < c->first ? -1 : 1;
	return k[1] < c->second ? -1 : k[1] > c->second;
}

/* The composite of a and b, or 0. */
static uint32_t composite(uint32_t a, uint32_t b)
{
	uint32_t key[2] = {a, b};
	const struct nfc_composition *c;

	if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
		return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
	if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b > T_BASE &&
	    b < T_BASE + T_COUNT)
		return a + (b - T_BASE);
	c = bsearch(key, nfc_composition, nfc_compositions, sizeof(*c), by_pair);
	return c ? c->cp : 0;
}

/* Canonical composition (The Unicode Standard, 3.11, D117): a character joins the last starter
 * unless something of its own class or higher, or of class 0, is left between the two. */
static void compose(struct chars *c)
{
	size_t starter = SIZE_MAX, out = 0;
	unsigned last = 0; /* class of the mark before, 0 for none */

	for (size_t i = 0; i < c->n; i++) {
		uint32_t cp = c->v[i];
		unsigned class = combining(cp);
		int adjacent = starter != SIZE_MAX && out == starter + 1;
		uint32_t joined = 0;

		if (starter != SIZE_MAX && (adjacent || class > last))
			joined = composite(c->v[starter], cp);
		if (joined) {
			c->v[starter] = joined;
			continue;
		}
		if (class == 0) {
			starter = out;
			last = 0;
		} else {
			last = class;
		}
		c->v[out++] = cp;
	}
	c->n = out;
}

size_t nfc_quick(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (i = (size_t)(plain_ascii(p + i, p + n) - p)) < n) {
		uint32_t cp;
		size_t len;

		if ((unsigned char)p[i] < 0xCC) { /* below U+0300 everything is stable */
			i++;
			continue;
		}
		len = utf8_decode(p + i, n - i, &cp);
		if (len == 0 || nfc_info(cp))
			return i;
		i += len;
	}
	return n;
}

/* Normalises p[begin..) up to the next stable character; returns where that is. */
static size_t one_run(struct buf *out, struct chars *c, struct span t, size_t begin)
{
	size_t end = begin;
	char utf8[4];

	c->n = 0;
	while (end < t.n) {
		uint32_t cp;
		size_t len = utf8_decode(t.p + end, t.n - end, &cp);

		if (end > begin && nfc_info(cp) == 0)
			break;
		decompose(c, cp);
		end += len;
	}
	order(c);
	compose(c);
	for (size_t i = 0; i < c->n; i++)
		buf_add(out, utf8, utf8_encode(c->v[i], utf8));
	return end;
}

void nfc_apply(struct buf *out, struct moves *moves, const char *p, size_t n)
{
	struct chars c = {0};
	size_t base = out->len, at = 0;

	if (moves)
		moves->n = 0;
	while (at < n) {
		size_t odd = at + nfc_quick(p + at, n - at);

		/* the character before belongs to the run: it may take the odd one in */
		if (odd < n && odd > at) {
			do
				odd--;
			while (odd > at && (p[odd] & 0xC0) == 0x80);
		}
		if (odd > at) {
			moves_add(moves, (struct move){out->len - base, at, 1});
			buf_add(out, p + at, odd - at);
		}
		if (odd == n)
			break;
		moves_add(moves, (struct move){out->len - base, odd, 0});
		at = one_run(out, &c, (struct span){p, n}, odd);
	}
	free(c.v);
}
