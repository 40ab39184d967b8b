/* window.h - many pieces of ASCII at once
 *
 * Finds the pieces that split.h finds. At the start of a piece nothing before it matters, so the 64
 * bytes from there on are classified, and where pieces start in them is computed with one word's
 * arithmetic instead of a walk. What depends on bytes behind the 64, or behind the first that is
 * not ASCII, is left: the next window begins at the last start that is sure, and where there is
 * none the walker takes one piece. */
#ifndef E3_BPE_WINDOW_H
#define E3_BPE_WINDOW_H

#include <stddef.h>

#include "bpe/ascii.h"
#include "bpe/split.h"

#define WINDOW 64

/* Moves s on, and writes the pieces' ends: at least one, at most room. room >= WINDOW, pos < n. */
size_t window_fill(struct split *s, ascii_fn *classify, size_t *end, size_t room);

#endif
