/* model.h - what a struct bpe is made of (private to bpe/)
 *
 * load_*.c fill it from a folder, encode.c and bpe.c read it. */
#ifndef E3_BPE_MODEL_H
#define E3_BPE_MODEL_H

#include "base/ints.h"
#include "bpe/added.h"
#include "bpe/bpe.h"
#include "bpe/split.h"
#include "bpe/vocab.h"

#define MODEL_NAMES 8 /* of special strings in tokenizer_config.json */

struct model_name {
	char *which, *name; /* "eos_token", "[EOS]" */
};

struct bpe {
	const struct split_rules *split;
	int nfc;
	int cuts;		  /* the wrapper's cuts are known: BPE_HF_COMPAT means something */
	struct vocab vocab;	  /* with the added tokens' names */
	struct added raw, normal; /* looked for in the text as given, in the normalised text */
	size_t size;		  /* of the embedding */
	struct ints eos;
	struct model_name name[MODEL_NAMES];
	size_t names;
};

/* Each reads its files of the folder. -1 with the file named. */
int load_tiktoken(struct bpe *b, const char *dir, struct err *e);  /* tiktoken.model */
int load_tokenizer(struct bpe *b, const char *dir, struct err *e); /* tokenizer.json */
/* After the vocabulary: config.json, generation_config.json, tokenizer_config.json, all optional.
 */
int load_config(struct bpe *b, const char *dir, struct err *e);

/* "DIR/NAME" into `out`, terminated. */
const char *load_path(struct buf *out, const char *dir, const char *name);

#endif
