/* core.h - merging a piece into tokens in linear time
 *
 * A sequence of tokens is what merging makes of a text exactly if each two neighbours are what
 * merging makes of theirs ("compatible"), provided that no token's merge comes before the merges of
 * its halves. So a piece can be read from left to right: take the longest token that fits, if it
 * is not compatible with the one before take the next shorter one, if there is none step back; a
 * place that was stepped back from is never tried again, which makes it linear. After H. van
 * Antwerpen and A. Neubeck, "So many tokens, so little time" (2024), and arXiv 2309.08715.
 *
 * Several pieces in turns, a step of each, so that they wait for memory together, was tried: which
 * step comes next can't be foreseen then, and it took half as long again.
 *
 * Two neighbours are compatible if undoing both along their common border, the later merge first,
 * never meets a pair that would have merged earlier than what was undone.
 *
 * core_build refuses (NULL) what the theorem does not cover, and vocabularies that are larger than
 * any known one by far: then there is only plain.h. */
#ifndef E3_BPE_CORE_H
#define E3_BPE_CORE_H

#include <stddef.h>
#include <stdint.h>

struct core;
struct vocab;

/* Borrows v. */
struct core *core_build(const struct vocab *v);
void core_free(struct core *c);

/* Bits of places that were stepped back from: room for pieces of any length. */
struct core_work {
	uint64_t *dead;
	size_t cap;
};

/* The tokens of p[0..n) into out, which has room for n; how many. n < 2^31. */
size_t core_piece(const struct core *c, struct core_work *w, const char *p, size_t n, int32_t *out);

/* Where tokens that core_piece gave begin, if the first one begins at `at`. */
void core_starts(const struct core *c, const int32_t *id, size_t n, size_t at, int32_t *start);

#endif
