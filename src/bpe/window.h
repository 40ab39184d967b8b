/* window.h - many pieces at once
 *
 * Finds the pieces that split.h finds. At the start of a piece nothing before it matters, so the 64
 * bytes from there on are classified by vectors, and where pieces start in them is computed with
 * one word's arithmetic instead of a walk (window_rules.h). Characters that are not ASCII are
 * looked up one by one, but for the ideographs, and then treated alike: a bit is a character. What
 * depends on what is behind the 64 bytes, or on one of the few characters that have rules of their
 * own, is left: the next window begins at the last start that is sure, and where there is none the
 * walker takes one piece. */
#ifndef E3_BPE_WINDOW_H
#define E3_BPE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "bpe/split.h"

#define WINDOW 64

/* Writes the sure starts behind s->pos, which are the ends of pieces, and maybe more words, 64 at
 * most; returns how many. */
typedef size_t window_fn(const struct split *s, uint32_t *end);

/* One for each kind of vectors; all give the same. `base` is what every processor of the kind has,
 * SSE2 or NEON. */
window_fn window_plain, window_base;
#if defined(__x86_64__)
window_fn window_avx2, window_avx512;
#endif

/* All that run here, the plain one first, the fastest last; NULL behind it. */
window_fn *window_tier(unsigned i);
/* "plain", "base", "avx2", "avx512"; NULL behind the last that runs here. */
const char *window_tier_name(unsigned i);
/* The fastest, or the one that E3_VECTORS in the environment names: for tests and measurements. */
window_fn *window_best(void);

/* Moves s on, and writes the pieces' ends: at least one, at most room, of which some more may be
 * overwritten. room >= WINDOW, pos < n < 2^32. */
size_t window_fill(struct split *s, window_fn *window, uint32_t *end, size_t room);

#endif
