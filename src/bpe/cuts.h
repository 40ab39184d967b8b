/* cuts.h - where the Python wrapper of Kimi cuts a long text before it tokenises
 *
 * tokenization_kimi.py (and Llama's wrapper, from which it comes) cuts the text into blocks of
 * 400,000 characters, and in a block where a run of white space or of anything else would exceed
 * 25,000 characters; the count begins anew at a cut and in each block. Each slice is then encoded
 * on its own. White space is Python's str.isspace: White_Space and U+001C to U+001F. */
#ifndef E3_BPE_CUTS_H
#define E3_BPE_CUTS_H

#include <stddef.h>

struct cuts {
	const char *p;
	size_t n, pos;
	size_t block; /* characters of the block before pos */
};

void cuts_start(struct cuts *c, const char *p, size_t n); /* valid UTF-8 */
/* End of the next slice; n again at the end. */
size_t cuts_next(struct cuts *c);

#endif
