/* load_added.h - the added tokens of a tokenizer.json folder (private to bpe/)
 *
 *	names_open	after the vocabulary
 *	names_file	tokenizer.json's member added_tokens
 *	names_config	the whole of tokenizer_config.json
 *	names_finish	after the normaliser: into the model */
#ifndef E3_BPE_LOAD_ADDED_H
#define E3_BPE_LOAD_ADDED_H

#include "base/buf.h"
#include "json/doc.h"

struct bpe;
struct names;

struct names *names_open(const struct bpe *b, struct err *e);
void names_close(struct names *s); /* NULL is allowed */

/* Errors name the member, not the file. */
int names_file(struct names *s, struct span v, struct err *e);
int names_config(struct names *s, const json_t *config, struct err *e);
int names_finish(const struct names *s, struct bpe *b, struct err *e);

#endif
