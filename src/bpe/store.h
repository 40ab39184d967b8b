/* store.h - compiled tables on disk, so that a program starts at once
 *
 * Vocabulary and core are the same for the same file, so they lie, laid out as in memory, in
 * $XDG_CACHE_HOME/e3 (or $HOME/.cache/e3) under the hash of the file they come from, and are mapped
 * from there. A file is written beside its place and renamed, so that processes may race; what is
 * damaged, of another version or of another kind of machine is not used but written anew. Nothing
 * here fails: small vocabularies, and any without a folder to write to, are compiled each time.
 * (private to bpe/) */
#ifndef E3_BPE_STORE_H
#define E3_BPE_STORE_H

#include "base/buf.h"
#include "base/hash.h"

struct bpe;

/* Other members of tokenizer.json, as JSON text: kept too, for they are what is left of it. */
struct store_members {
	struct span normalizer, pre_tokenizer, added;
};

/* Fills b->vocab, b->core and *m, which points into the mapping. 1, or 0: not there. */
int store_open(struct bpe *b, struct hash128 key, struct store_members *m);
/* b->core must be there, and no added token named yet. */
void store_save(const struct bpe *b, struct hash128 key, const struct store_members *m);
void store_close(struct bpe *b); /* after the vocabulary and the core are freed */

#endif
