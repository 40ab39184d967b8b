/* cuts.h - where the Python wrapper of Kimi cuts a long text before it tokenises
 *
 * tokenization_kimi.py's encode (and Llama's wrapper, from which it comes) cuts the text into
 * blocks of TIKTOKEN_MAX_ENCODE_CHARS = 400,000 characters, and in a block where a run of white
 * space or of anything else would exceed MAX_NO_WHITESPACES_CHARS = 25,000 characters; the count
 * begins anew at a cut and in each block. Each slice is then encoded on its own. White space is
 * Python's str.isspace: White_Space and U+001C to U+001F.
 *
 * Called with arguments, or by __call__ and apply_chat_template, transformers first splits the text
 * at the names of added_tokens_decoder (the reserved ones are not there), and each stretch between
 * them is a text of its own: that is encode.c's part. */
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
