/* config.h - what a model folder's config.json says of sizes
 *
 * The numbers of the language model: a multimodal model keeps them in "text_config" (or
 * "llm_config", "language_config"), any other at the top. Sizes that are not there are 0. */
#ifndef E3_CONFIG_H
#define E3_CONFIG_H

#include <stdint.h>

struct err;

struct config {
	int64_t vocab_size; /* rows of embedding and lm_head: more than the tokenizer has */
	int64_t hidden_size;
	int64_t num_hidden_layers; /* decoder layers, without those for multi-token prediction */
	double rms_norm_eps;
	char model_type[64]; /* of the language model; empty where there is none */
	char whole_type[64]; /* of the model as a whole: the one at the top */
};

/* Class "missing" where there is no config.json: all is 0 then. */
int config_load(struct config *c, const char *dir, struct err *e);

#endif
