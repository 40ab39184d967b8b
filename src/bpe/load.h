/* load.h - the parts of a folder's files (private to bpe/)
 *
 * Functions fill the struct bpe; -1 with the member named, and the file too where they open it. */
#ifndef E3_BPE_LOAD_H
#define E3_BPE_LOAD_H

#include "base/buf.h"
#include "json/doc.h"

struct bpe;
struct err;

int load_tiktoken(struct bpe *b, const char *dir, struct err *e);  /* tiktoken.model */
int load_tokenizer(struct bpe *b, const char *dir, struct err *e); /* tokenizer.json */

/* After the vocabulary: config.json, generation_config.json, tokenizer_config.json, all optional.
 */
int load_config(struct bpe *b, const char *dir, struct err *e);

/* Members of tokenizer.json, as JSON text; p is NULL where there is none. What the encoder can't do
 * is refused by name. */
int load_normalizer(struct bpe *b, struct span v, struct err *e);
int load_pre_tokenizer(struct bpe *b, struct span v, struct err *e);

/* Adds the bytes that a string of tokenizer.json's vocabulary stands for; -1 where a character is
 * not of the byte-level alphabet. */
int load_byte_level(struct buf *out, struct span s);

/* A file that holds an object and may be missing: 1 read, 0 there is none, -1. */
int load_optional(json_t **out, struct buf *path, struct err *e);

/* tokenizer_config.json's added_tokens_decoder into *out, borrowed; NULL where there is none. */
int load_decoder(const json_t **out, const json_t *config, struct err *e);

/* The string of a member that names a special one (bpe_specials), which is itself one or an object
 * with `content`; NULL: none. */
const json_t *load_special(const json_t *v);

/* Adds the length of an added token's name to *sum, which is of all that a folder gives; -1 where it
 * gives more than any known model by far: each byte takes a node or two of added.h. */
int load_count_name(size_t *sum, size_t n, struct err *e);

/* "DIR/NAME" into `out`, terminated. */
const char *load_path(struct buf *out, const char *dir, const char *name);

#endif
