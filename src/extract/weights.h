/* weights.h - the final norm of a model folder: for --apply-norm
 *
 * The weight stands in one of the folder's safetensors files, which model.safetensors.index.json
 * names (a model of one file needs no index): model.norm.weight, or
 * language_model.model.norm.weight where a vision model wraps it. eps is the config's rms_norm_eps,
 * or Gemma 3's default where its config leaves it out.
 */
#ifndef E3_WEIGHTS_H
#define E3_WEIGHTS_H

#include <stddef.h>

struct err;

struct norm_weights {
	float *w; /* what is multiplied by: 1 + the weight, where the model's norm does so */
	size_t n;
	double eps;
};

/* Class "model". Models of which it is not known whether they multiply by weight or by 1 + weight,
 * as relatives do, are refused. */
int weights_load(struct norm_weights *w, const char *dir, struct err *e);
void weights_free(struct norm_weights *w);

#endif
