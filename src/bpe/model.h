/* model.h - what a struct bpe is made of (private to bpe/)
 *
 * load_*.c fill it from a folder, encode.c and bpe.c read it. */
#ifndef E3_BPE_MODEL_H
#define E3_BPE_MODEL_H

#include "base/ints.h"
#include "bpe/added.h"
#include "bpe/bpe.h"
#include "bpe/core.h"
#include "bpe/split.h"
#include "bpe/vocab.h"

#define MODEL_NAMES 7 /* of special strings in tokenizer_config.json */

struct model_name {
	const char *which; /* "eos_token" */
	char *name;	   /* "[EOS]" */
};

struct bpe {
	int cached; /* compiled tables may be kept on disk: store.h */
	void *map;
	size_t map_size;
	const struct split_rules *split;
	int nfc;
	int cuts;		  /* the wrapper's cuts are known: BPE_HF_COMPAT means something */
	struct added cut_names;	  /* between which it cuts each stretch for itself */
	struct vocab vocab;	  /* with the added tokens' names */
	struct core *core;	  /* NULL: only the plain way */
	struct added raw, normal; /* looked for in the text as given, in the normalised text */
	size_t size;		  /* of the embedding */
	struct ints eos;
	struct model_name name[MODEL_NAMES];
	size_t names;
};

#endif
