/* Added tokens of a tokenizer.json folder: the file's own, then what tokenizer_config.json adds.
 *
 * Hugging Face's tokenizers take no added token's id from the files: a name that is in the
 * vocabulary has its id there, any other gets the next free one, in the files' order (tokenizers
 * 0.22, AddedVocabulary::add_tokens). A file that says otherwise contradicts itself, and is
 * refused.
 *
 * AutoTokenizer then adds the tokens of added_tokens_decoder, by their numbers; of a name that is
 * there already the later flags count. Last come the special strings (bos_token ...) that are no
 * added token yet (transformers 4 and 5, PreTrainedTokenizerFast.__init__). */
#include "bpe/load_added.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "bpe/load.h"
#include "bpe/model.h"
#include "bpe/nfc.h"

struct name {
	size_t at, n; /* in the text */
	int32_t id;
	unsigned flags;
	int normalized;
};

struct names {
	const struct bpe *b;
	struct name *v;
	size_t n, cap;
	struct buf text;
	struct added index; /* name to number in v */
	struct added odd;   /* the vocabulary's tokens that are no byte-level text */
	int32_t next;	    /* the id of the next name that the vocabulary has not */
	size_t given;	    /* bytes of all names, of those that are there already too */
};

struct names *names_open(const struct bpe *b, struct err *e)
{
	struct names *s = xcalloc(1, sizeof(*s));

	s->b = b;
	added_init(&s->index);
	added_init(&s->odd);
	for (size_t i = 0; i < b->vocab.n; i++) {
		const struct vocab_entry *x = &b->vocab.entry[i];

		s->next += x->n > 0;
		if (x->n == 0 || (x->kind & TOKEN_TEXT))
			continue;
		if (load_count_name(&s->given, x->n, e) < 0) {
			names_close(s);
			return NULL;
		}
		added_put(&s->odd, (struct added_token){.id = x->id, .n = x->n},
		    b->vocab.bytes.data + x->at);
	}
	return s;
}

void names_close(struct names *s)
{
	if (!s)
		return;
	added_free(&s->index);
	added_free(&s->odd);
	buf_free(&s->text);
	free(s->v);
	free(s);
}

/* The id of a string of the file's vocabulary, or -1. */
static int32_t in_vocabulary(const struct names *s, struct span name)
{
	const struct added_token *odd = added_find(&s->odd, name.p, name.n);
	struct buf bytes = {0};
	int32_t id = odd ? odd->id : -1;

	if (!odd && load_byte_level(&bytes, name) == 0)
		id = vocab_find(&s->b->vocab, bytes.data, bytes.len);
	buf_free(&bytes);
	return id;
}

static struct name *new_name(struct names *s, struct span text)
{
	struct name *x;

	s->v = xgrow(s->v, &s->cap, s->n + 1, sizeof(*s->v));
	x = &s->v[s->n];
	*x = (struct name){.at = s->text.len, .n = text.n, .id = in_vocabulary(s, text)};
	buf_add(&s->text, text.p, text.n);
	added_put(&s->index, (struct added_token){.id = (int32_t)s->n++, .n = text.n}, text.p);
	if (x->id < 0)
		x->id = s->next;
	if (x->id >= s->next)
		s->next = x->id + 1;
	return x;
}

/* Adds a name with these flags, or changes those of one that is there. NULL: see load_count_name. */
static struct name *put_name(struct names *s, struct span text, struct name how, struct err *e)
{
	const struct added_token *have;
	struct name *x;

	if (load_count_name(&s->given, text.n, e) < 0)
		return NULL;
	have = added_find(&s->index, text.p, text.n);
	x = have ? &s->v[have->id] : new_name(s, text);
	x->flags = how.flags;
	x->normalized = how.normalized;
	return x;
}

static unsigned flags_of(const json_t *j)
{
	unsigned flags = 0;

	if (json_is_true(json_object_get(j, "single_word")))
		flags |= ADDED_SINGLE_WORD;
	if (json_is_true(json_object_get(j, "lstrip")))
		flags |= ADDED_LSTRIP;
	if (json_is_true(json_object_get(j, "rstrip")))
		flags |= ADDED_RSTRIP;
	return flags;
}

static struct span text_of(const json_t *s)
{
	return (struct span){json_string_value(s), json_string_length(s)};
}

static int check_id(const struct name *x, json_int_t id, struct err *e)
{
	if (id == x->id)
		return 0;
	return err_set(e, "vocab",
	    "the id is %lld, but tokenizers takes the vocabulary's own or the next free one, %d",
	    (long long)id, (int)x->id);
}

static int put_file_token(struct names *s, const json_t *j, struct err *e)
{
	const json_t *id = json_object_get(j, "id"), *content = json_object_get(j, "content");
	struct name how = {
	    .flags = flags_of(j), .normalized = json_is_true(json_object_get(j, "normalized"))};
	const struct name *x;

	if (!json_is_integer(id) || json_integer_value(id) < 0 ||
	    json_integer_value(id) > VOCAB_MAX_ID || !json_is_string(content))
		return err_set(e, "type", "expected an object with an id and content");
	if (json_string_length(content) == 0)
		return 0;
	x = put_name(s, text_of(content), how, e);
	return x ? check_id(x, json_integer_value(id), e) : -1;
}

int names_file(struct names *s, struct span v, struct err *e)
{
	json_t *j = NULL;
	const json_t *one;
	size_t i;
	int rc = 0;

	if (v.n > 0 && !span_eq(v, "null")) {
		j = doc_parse(v.p, v.n, "added_tokens", e);
		rc = j ? 0 : -1;
	}
	if (j && !json_is_array(j))
		rc = err_set(e, "type", "added_tokens: expected an array");
	json_array_foreach(j, i, one)
	{
		rc = put_file_token(s, one, e);
		if (rc < 0) {
			err_prefix(e, "added_tokens[%zu]: ", i);
			break;
		}
	}
	json_decref(j);
	return rc;
}

/* ---- tokenizer_config.json ---- */

/* Python's AddedToken(**j): what is not special is normalized if nothing else is said. */
static struct name *put_config_token(struct names *s, const json_t *j, int special, struct err *e)
{
	const json_t *normalized = json_object_get(j, "normalized");
	struct name how = {.flags = flags_of(j)};

	special |= json_is_true(json_object_get(j, "special"));
	how.normalized = normalized ? json_is_true(normalized) : !special;
	return put_name(s, text_of(json_object_get(j, "content")), how, e);
}

struct numbered {
	uint64_t id;
	const json_t *token;
};

static int by_id(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The tokens of added_tokens_decoder in their order into *out, which the caller frees. */
static int list_decoder(const json_t *decoder, struct numbered **out, size_t *n, struct err *e)
{
	const char *key;
	const json_t *one;

	*n = 0;
	*out = xcalloc(json_object_size(decoder) + 1, sizeof(**out));
	json_object_foreach((json_t *)(uintptr_t)decoder, key, one)
	{
		struct numbered *x = &(*out)[*n];

		if (num_u64(key, strlen(key), &x->id) < 0 || x->id > VOCAB_MAX_ID ||
		    !json_is_string(json_object_get(one, "content")))
			return err_set(e, "type",
			    "added_tokens_decoder.%s: expected an id and an object with content",
			    key);
		x->token = one;
		*n += json_string_length(json_object_get(one, "content")) > 0;
	}
	qsort(*out, *n, sizeof(**out), by_id);
	return 0;
}

static int put_decoder(struct names *s, const json_t *decoder, struct err *e)
{
	struct numbered *list = NULL;
	size_t n;
	int rc = list_decoder(decoder, &list, &n, e);

	for (size_t i = 0; i < n && rc == 0; i++) {
		size_t before = s->n;
		const struct name *x = put_config_token(s, list[i].token, 0, e);

		if (!x)
			rc = -1;
		else if (s->n > before && check_id(x, (json_int_t)list[i].id, e) < 0)
			rc = err_prefix(e, "added_tokens_decoder.%d: ", (int)list[i].id);
	}
	free(list);
	return rc;
}

/* A special string, itself or an object; one that is there already stays as it is. */
static int put_special(struct names *s, const json_t *j, struct err *e)
{
	struct span text = text_of(load_special(j));
	const struct name *x;

	if (text.n == 0 || added_find(&s->index, text.p, text.n))
		return 0;
	if (json_is_object(j))
		x = put_config_token(s, j, 1, e);
	else
		x = put_name(s, text, (struct name){0}, e);
	return x ? 0 : -1;
}

/* A list, or an object of names and strings. */
static int put_extra(struct names *s, const json_t *j, struct err *e)
{
	const char *key;
	const json_t *one;
	size_t i;

	json_array_foreach(j, i, one) if (put_special(s, one, e) < 0) return -1;
	json_object_foreach(
	    (json_t *)(uintptr_t)j, key, one) if (put_special(s, one, e) < 0) return -1;
	return 0;
}

int names_config(struct names *s, const json_t *config, struct err *e)
{
	const json_t *decoder;

	if (load_decoder(&decoder, config, e) < 0 || put_decoder(s, decoder, e) < 0)
		return -1;
	for (size_t i = 0; bpe_specials[i]; i++)
		if (put_special(s, json_object_get(config, bpe_specials[i]), e) < 0)
			return -1;
	if (put_extra(s, json_object_get(config, "additional_special_tokens"), e) < 0)
		return -1;
	return put_extra(s, json_object_get(config, "extra_special_tokens"), e);
}

/* A normalized token is looked for in normalised text, so its own name is normalised too. */
static void put_normal(struct bpe *b, struct added_token t, struct span name, struct buf *normal)
{
	buf_reset(normal);
	if (b->nfc)
		nfc_apply(normal, NULL, name.p, name.n);
	else
		buf_add(normal, name.p, name.n);
	t.n = normal->len;
	added_put(&b->normal, t, normal->data);
}

int names_finish(const struct names *s, struct bpe *b, struct err *e)
{
	struct buf normal = {0};
	int rc = 0;

	for (size_t i = 0; i < s->n && rc == 0; i++) {
		const struct name *x = &s->v[i];
		struct span name = {s->text.data + x->at, x->n};
		struct added_token t = {x->id, x->flags, x->n};

		rc = vocab_name(&b->vocab, x->id, name, e);
		if (x->normalized)
			put_normal(b, t, name, &normal);
		else
			added_put(&b->raw, t, name.p);
	}
	buf_free(&normal);
	return rc;
}
