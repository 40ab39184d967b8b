/* bpe.h - a model folder's tokenizer: text to ids and back
 *
 * Knows nothing of messages or templates: special tokens are strings that it may or may not look
 * for. Exact to the id with tiktoken and with Hugging Face's tokenizers.
 *
 * Life: bpe_open once; read-only after that and shared by threads. bpe_work is the private
 * memory of one thread.
 *
 *	struct bpe *b = bpe_open(dir, &e);
 *	struct bpe_work *w = bpe_work_open(b);
 *	bpe_encode(b, w, (struct bpe_text){text, n, 0}, &ids, NULL, &e);
 *
 * Two kinds of folder: tiktoken.model (Kimi K2 and later; recognised by auto_map's
 * tokenization_kimi) and tokenizer.json (byte-level BPE). An unknown split pattern, normaliser or
 * model is refused by name.
 */
#ifndef E3_BPE_H
#define E3_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"

struct err;
struct bpe;
struct bpe_work;

/* What is compiled from the vocabulary is kept in $XDG_CACHE_HOME/e3 or $HOME/.cache/e3 and taken
 * from there the next time; it changes nothing but the time, and nothing fails for its sake.
 * bpe_open_uncached neither looks nor writes there. */
struct bpe *bpe_open(const char *dir, struct err *e);
struct bpe *bpe_open_uncached(const char *dir, struct err *e);
void bpe_close(struct bpe *b);
struct bpe_work *bpe_work_open(const struct bpe *b);
void bpe_work_close(struct bpe_work *w);

enum {
	BPE_NO_SPECIAL = 1, /* special strings in the text are text */
	BPE_REPLACE = 2, /* a maximal ill-formed subpart is U+FFFD; else an error with its offset */
	BPE_HF_COMPAT = 4, /* Kimi: the wrapper's cuts at 400,000 and 25,000 characters, counted
			    * between two names of added_tokens_decoder: cuts.h */
};

struct bpe_text {
	const char *p;
	size_t n;
	unsigned flags;
};

/* Appends the ids. `starts`, if not NULL, gets each token's first byte in the text. Never adds BOS
 * or EOS. Class "utf8" on invalid text, "range" on more than BPE_TEXT_MAX bytes. */
#define BPE_TEXT_MAX (INT32_MAX / 3)
int bpe_encode(const struct bpe *b, struct bpe_work *w, struct bpe_text t, struct ints *ids,
    struct ints *starts, struct err *e);

/* An added token that bpe_encode found in a text. */
struct bpe_mark {
	int32_t id;
	size_t number;	       /* among the ids that were appended */
	size_t begin, end;     /* its bytes, with the white space that it takes */
	size_t name, name_end; /* those of its name alone */
	/* What is found up to `end` is found in every text that begins with so many bytes of this
	 * one, and what is behind `end` may be encoded by itself. SIZE_MAX: there is no saying. */
	size_t reach;
};

/* Those of the last bpe_encode, in order; they live until the next. */
const struct bpe_mark *bpe_marks(const struct bpe_work *w, size_t *n);

/* Appends the bytes of the ids, specials as their names. Class "range" on an id without a token.
 * The bytes need not be UTF-8. */
int bpe_decode(const struct bpe *b, const int32_t *ids, size_t n, struct buf *out, struct err *e);

/* The bytes of one token; p is NULL where there is none. */
struct span bpe_token(const struct bpe *b, int32_t id);

/* The id of an added token by its exact name, or -1. */
int32_t bpe_special(const struct bpe *b, const char *name, size_t n);
int bpe_is_special(const struct bpe *b, int32_t id); /* any added token */

/* How many special tokens stand in text, as a look-alike count. */
size_t bpe_count_special(const struct bpe *b, const char *p, size_t n);

/* Size of the embedding: config.json's vocab_size of the language model; where that does not say
 * it, one more than the highest id. Ids are below it. */
size_t bpe_vocab(const struct bpe *b);

/* generation_config.json's eos_token_id (number or list), else the tokenizer's eos token. */
const struct ints *bpe_eos(const struct bpe *b);

/* The members of tokenizer_config.json that name a special string ("bos_token", "eos_token" ...), in
 * the order in which transformers adds them; ends with NULL. */
extern const char *const bpe_specials[];
/* What such a member names; p NULL: nothing. */
struct span bpe_named(const struct bpe *b, const char *which);

/* "kimi", "qwen2", "llama3", "o200k", "deepseek3", "gpt2" ... : the name of the split pattern */
const char *bpe_family(const struct bpe *b);

#endif
