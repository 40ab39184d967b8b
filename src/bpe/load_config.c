/* What the small files beside a vocabulary say; any of them may be missing. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "bpe/load.h"
#include "bpe/model.h"
#include "json/config.h"

#define NAMES_MAX (8u << 20) /* with 65,536 names of pieces of speech it is 1.6 million */

int load_count_name(size_t *sum, size_t n, struct err *e)
{
	*sum += n;
	if (*sum <= NAMES_MAX)
		return 0;
	return err_set(e, "vocab", "names of added tokens of more than %u bytes", NAMES_MAX);
}

const char *load_path(struct buf *out, const char *dir, const char *name)
{
	buf_reset(out);
	buf_addf(out, "%s/%s", dir, name);
	return buf_cstr(out);
}

int load_optional(json_t **out, struct buf *path, struct err *e)
{
	*out = doc_load(buf_cstr(path), e);
	if (!*out)
		return strcmp(e->class, "missing") == 0 ? 0 : -1;
	if (json_is_object(*out))
		return 1;
	json_decref(*out);
	*out = NULL;
	return err_set(e, "type", "%s: expected an object", buf_cstr(path));
}

int load_decoder(const json_t **out, const json_t *config, struct err *e)
{
	const json_t *j = json_object_get(config, "added_tokens_decoder");

	*out = json_is_null(j) ? NULL : j;
	if (*out && !json_is_object(*out))
		return err_set(e, "type", "added_tokens_decoder: expected an object");
	return 0;
}

const char *const bpe_specials[MODEL_NAMES + 1] = {"bos_token", "eos_token", "unk_token",
    "sep_token", "pad_token", "cls_token", "mask_token", NULL};

const json_t *load_special(const json_t *v)
{
	if (json_is_object(v))
		v = json_object_get(v, "content");
	return json_is_string(v) ? v : NULL;
}

static void read_names(struct bpe *b, const json_t *config)
{
	for (size_t i = 0; bpe_specials[i]; i++) {
		const json_t *s = load_special(json_object_get(config, bpe_specials[i]));

		if (s)
			b->name[b->names++] =
			    (struct model_name){bpe_specials[i], xstrdup(json_string_value(s))};
	}
}

static int add_eos(struct bpe *b, const json_t *v, struct err *e)
{
	json_int_t id = json_integer_value(v);

	if (!json_is_integer(v) || id < 0 || (size_t)id >= b->size)
		return err_set(e, "type", "eos_token_id: expected token ids below %zu", b->size);
	ints_push(&b->eos, (int32_t)id);
	return 0;
}

static int read_eos(struct bpe *b, const json_t *generation, struct err *e)
{
	const json_t *v = json_object_get(generation, "eos_token_id"), *one;
	size_t i;

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_array(v))
		return add_eos(b, v, e);
	json_array_foreach(v, i, one) if (add_eos(b, one, e) < 0) return -1;
	return 0;
}

static int read_size(struct bpe *b, const char *dir, struct err *e)
{
	struct config c;

	b->size = b->vocab.n;
	if (config_load(&c, dir, e) < 0)
		return strcmp(e->class, "missing") == 0 ? 0 : -1;
	if (c.vocab_size == 0)
		return 0;
	if (c.vocab_size > VOCAB_MAX_ID + 1)
		return err_set(e, "vocab", "%s/config.json: vocab_size: expected a number up to %d",
		    dir, VOCAB_MAX_ID + 1);
	if (c.vocab_size < (int64_t)b->size)
		return err_set(e, "vocab",
		    "%s/config.json: vocab_size: below the number of ids, %zu", dir, b->size);
	b->size = (size_t)c.vocab_size;
	return 0;
}

static void default_eos(struct bpe *b)
{
	struct span s = bpe_named(b, "eos_token");
	int32_t id;

	if (b->eos.n > 0 || !s.p)
		return;
	id = bpe_special(b, s.p, s.n);
	if (id < 0)
		id = vocab_find(&b->vocab, s.p, s.n);
	if (id >= 0)
		ints_push(&b->eos, id);
}

int load_config(struct bpe *b, const char *dir, struct err *e)
{
	struct buf path = {0};
	json_t *j = NULL;
	int rc = -1, found;

	if (read_size(b, dir, e) < 0)
		goto out;
	load_path(&path, dir, "tokenizer_config.json");
	if ((found = load_optional(&j, &path, e)) < 0)
		goto out;
	if (found)
		read_names(b, j);
	json_decref(j);
	load_path(&path, dir, "generation_config.json");
	if ((found = load_optional(&j, &path, e)) < 0 || (found && read_eos(b, j, e) < 0))
		goto out;
	default_eos(b);
	rc = 0;
out:
	if (rc < 0 && j)
		err_prefix(e, "%s: ", buf_cstr(&path));
	json_decref(j);
	buf_free(&path);
	return rc;
}
