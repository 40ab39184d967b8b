#include "json/config.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/doc.h"
#include "json/val.h"

static int64_t size_of(const struct jval *v)
{
	return v && v->kind == J_INT && v->u.i > 0 ? v->u.i : 0;
}

static double real_of(const struct jval *v)
{
	return !v ? 0 : v->kind == J_REAL ? v->u.d : v->kind == J_INT ? (double)v->u.i : 0;
}

static void read_type(char type[64], const struct jval *v)
{
	if (v && v->kind == J_STR && v->u.s.n < 64)
		memcpy(type, v->u.s.p, v->u.s.n);
}

static void read_config(struct config *c, const struct jval *root)
{
	static const char *const nested[] = {"text_config", "llm_config", "language_config"};
	const struct jval *text = root;

	for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
		const struct jval *v = val_get(root, nested[i]);

		if (v && v->kind == J_OBJ)
			text = v;
	}
	c->vocab_size = size_of(val_get(text, "vocab_size"));
	if (c->vocab_size == 0)
		c->vocab_size = size_of(val_get(root, "vocab_size"));
	c->hidden_size = size_of(val_get(text, "hidden_size"));
	c->num_hidden_layers = size_of(val_get(text, "num_hidden_layers"));
	c->rms_norm_eps = real_of(val_get(text, "rms_norm_eps"));
	read_type(c->model_type, val_get(text, "model_type"));
	read_type(c->whole_type, val_get(root, "model_type"));
}

int config_load(struct config *c, const char *dir, struct err *e)
{
	struct buf path = {0}, text = {0};
	struct arena arena = {0};
	struct jval root;
	int rc;

	*c = (struct config){0};
	buf_addf(&path, "%s/config.json", dir);
	rc = doc_slurp(&text, buf_cstr(&path), DOC_MAX, e);
	if (rc == 0) {
		rc = val_parse(&root, (struct span){text.data, text.len}, 1, &arena, NULL, e);
		if (rc == 0 && root.kind != J_OBJ)
			rc = err_set(e, "type", "expected an object");
		if (rc == 0)
			read_config(c, &root);
		else
			err_prefix(e, "%s: ", buf_cstr(&path));
	}
	arena_free(&arena);
	buf_free(&text);
	buf_free(&path);
	return rc;
}
