#include "extract/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "tensor/half.h"
#include "tensor/st.h"
#include "json/config.h"
#include "json/doc.h"
#include "json/val.h"

static const char *const names[] = {"model.norm.weight", "language_model.model.norm.weight",
    "model.language_model.norm.weight", "norm.weight"};

#define NNAMES (sizeof(names) / sizeof(names[0]))

/* Language models whose final norm multiplies by 1 + weight, else as the plain one in float32 with
 * one rounding: GemmaRMSNorm, Qwen3NextRMSNorm and their kin in transformers and vLLM, for
 * MiniMax-M3 by the use_gemma_norm of its config; Step3p5RMSNorm of stepfun-ai/Step-3.5-Flash. */
static const char *const zero_centred[] = {"gemma", "gemma2", "gemma3", "gemma3_text", "minimax_m3",
    "minimax_m3_vl", "minimax_m3_vl_text", "qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text",
    "qwen3_5_text", "qwen3_next", "step3p5", "step3p7"};

/* Parts of their names: what else has one may be either (the norms of gemma3n and gemma4 are plain,
 * what goes before the former's is not). */
static const char *const families[] = {"gemma", "minimax_m3", "qwen3_5", "qwen3_next", "step3p"};

/* 1 or 0: what is added to the weights; -1 where it is not known. */
static int added_one(const char *type)
{
	for (size_t i = 0; i < sizeof(zero_centred) / sizeof(zero_centred[0]); i++)
		if (strcmp(type, zero_centred[i]) == 0)
			return 1;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strstr(type, families[i]))
			return -1;
	return 0;
}

/* 0: not known. Gemma 3's folders with a vision part say only what differs from the defaults of
 * Gemma3TextConfig in transformers. */
static double eps_of(const struct config *c, const char *type)
{
	if (c->rms_norm_eps <= 0 &&
	    (strcmp(type, "gemma3_text") == 0 || strcmp(type, "gemma3") == 0))
		return 1e-6;
	return c->rms_norm_eps;
}

/* The file of the folder that the index says holds one of the names; "model.safetensors" without an
 * index. */
static int find_file(struct buf *path, const char *dir, struct err *e)
{
	struct buf index = {0}, text = {0};
	struct arena arena = {0};
	struct jval root;
	const struct jval *map, *file = NULL;
	int rc = 0;

	buf_addf(&index, "%s/model.safetensors.index.json", dir);
	if (access(buf_cstr(&index), F_OK) < 0) {
		buf_addf(path, "%s/model.safetensors", dir);
		goto out;
	}
	rc = doc_slurp(&text, index.data, DOC_MAX, e);
	if (rc == 0)
		rc = val_parse(&root, (struct span){text.data, text.len}, 1, &arena, NULL, e);
	if (rc < 0)
		goto out;
	map = val_get(&root, "weight_map");
	for (size_t i = 0; i < NNAMES && !file && map; i++)
		file = val_get(map, names[i]);
	if (!file || file->kind != J_STR || memchr(file->u.s.p, '/', file->u.s.n))
		rc = err_set(e, "model", "%s names no %s", index.data, names[0]);
	else
		buf_addf(path, "%s/%.*s", dir, (int)file->u.s.n, file->u.s.p);
out:
	arena_free(&arena);
	buf_free(&index);
	buf_free(&text);
	return rc;
}

static int fill(struct norm_weights *w, const struct tensor *t, float add, struct err *e)
{
	const char *p = tensor_data(t);

	w->n = (size_t)t->dim[0];
	w->w = xreallocarray(NULL, w->n, sizeof(*w->w));
	for (size_t i = 0; i < w->n; i++) {
		w->w[i] = add + half_load(t->dtype, p + i * dtypes[t->dtype].size);
		if (!isfinite(w->w[i]))
			return err_set(e, "model", "%s[%zu]: NaN or Inf", t->name, i);
	}
	return 0;
}

static int read_weight(struct norm_weights *w, const char *path, float add, struct err *e)
{
	struct st *f = st_open(path, MAP_PARTS, e); /* a shard of gigabytes */
	const struct tensor *t = NULL;
	int rc = 0;

	if (!f)
		return -1;
	for (size_t i = 0; i < NNAMES && !t; i++)
		t = st_get(f, names[i]);
	if (!t || t->ndim != 1 || (t->dtype != DT_BF16 && t->dtype != DT_F16 && t->dtype != DT_F32))
		rc = err_set(
		    e, "model", "%s: no final norm weight %s of one dimension", path, names[0]);
	else if (map_need(st_map(f), tensor_data(t), t->dim[0] * dtypes[t->dtype].size, e) < 0 ||
		 fill(w, t, add, e) < 0)
		rc = err_prefix(e, "%s: ", path);
	st_close(f);
	return rc;
}

int weights_load(struct norm_weights *w, const char *dir, struct err *e)
{
	struct config c;
	struct buf path = {0};
	const char *type;
	int rc, one;

	*w = (struct norm_weights){0};
	if (config_load(&c, dir, e) < 0)
		return -1;
	/* a wrapped model may leave out what its language model is */
	type = c.model_type[0] != '\0' ? c.model_type : c.whole_type;
	one = added_one(type);
	if (one < 0)
		return err_set(e, "model",
		    "%s: what the final norm of %s is, is not known here: --apply-norm can't make "
		    "it",
		    dir, type);
	w->eps = eps_of(&c, type);
	if (w->eps <= 0)
		return err_set(e, "model", "%s/config.json: no rms_norm_eps", dir);
	rc = find_file(&path, dir, e);
	if (rc == 0)
		rc = read_weight(w, buf_cstr(&path), (float)one, e);
	if (rc == 0 && c.hidden_size > 0 && w->n != (size_t)c.hidden_size)
		rc = err_set(e, "model",
		    "%s: the final norm has %zu weights, the hidden size is %lld", dir, w->n,
		    (long long)c.hidden_size);
	buf_free(&path);
	return rc;
}

void weights_free(struct norm_weights *w)
{
	free(w->w);
	*w = (struct norm_weights){0};
}
