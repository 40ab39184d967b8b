/* The steps before the model in tokenizer.json: normaliser and pre-tokenizer. */
#include <string.h>

#include "base/err.h"
#include "bpe/load.h"
#include "bpe/model.h"
#include "json/doc.h"

/* Sequences in sequences are legal; nobody needs more. */
#define NESTING_MAX 8

/* The tree of a member; NULL with *e untouched where it is missing or null. */
static json_t *tree(struct span v, const char *name, int *failed, struct err *e)
{
	json_t *j;

	*failed = 0;
	if (v.n == 0 || span_eq(v, "null"))
		return NULL;
	j = doc_parse(v.p, v.n, name, e);
	*failed = j == NULL;
	return j;
}

static const char *type_of(const json_t *j)
{
	const char *s = json_string_value(json_object_get(j, "type"));

	return s ? s : "a step without a type";
}

static int add_normalizer(struct bpe *b, const json_t *j, int depth, struct err *e)
{
	const json_t *part;
	size_t i;

	if (strcmp(type_of(j), "NFC") == 0) {
		b->nfc = 1;
		return 0;
	}
	if (strcmp(type_of(j), "Sequence") != 0 || depth == NESTING_MAX)
		return err_set(e, "vocab", "normalizer: %s is not supported, NFC is", type_of(j));
	json_array_foreach(json_object_get(j, "normalizers"), i,
	    part) if (add_normalizer(b, part, depth + 1, e) < 0) return -1;
	return 0;
}

int load_normalizer(struct bpe *b, struct span v, struct err *e)
{
	int failed;
	json_t *j = tree(v, "normalizer", &failed, e);
	int rc = failed ? -1 : 0;

	if (j)
		rc = add_normalizer(b, j, 0, e);
	json_decref(j);
	return rc;
}

/* The steps of a pre-tokenizer in their order. */
struct steps {
	const char *pattern[SPLIT_STAGES];
	size_t n;
	int digits, byte_level;
};

static int unknown_pattern(const char *pattern, struct err *e)
{
	struct buf names = {0};

	split_names(&names);
	err_set(e, "vocab", "pre_tokenizer: unknown split pattern '%.200s' (known: %s)", pattern,
	    buf_cstr(&names));
	buf_free(&names);
	return -1;
}

static int add_pattern(struct steps *s, const char *pattern, struct err *e)
{
	if (s->n == SPLIT_STAGES)
		return unknown_pattern(pattern, e);
	s->pattern[s->n++] = pattern;
	return 0;
}

static int add_split(struct steps *s, const json_t *j, struct err *e)
{
	const char *behavior = json_string_value(json_object_get(j, "behavior"));
	const json_t *pattern = json_object_get(json_object_get(j, "pattern"), "Regex");

	if (!json_is_string(pattern))
		return err_set(
		    e, "vocab", "pre_tokenizer: a Split without a Regex is not supported");
	if (!behavior || strcmp(behavior, "Isolated") != 0 ||
	    json_is_true(json_object_get(j, "invert")))
		return err_set(e, "vocab",
		    "pre_tokenizer: only the Split behavior Isolated, not inverted, "
		    "is supported");
	return add_pattern(s, json_string_value(pattern), e);
}

static int add_byte_level(struct steps *s, const json_t *j, struct err *e)
{
	const json_t *regex = json_object_get(j, "use_regex");

	if (json_is_true(json_object_get(j, "add_prefix_space")))
		return err_set(e, "vocab", "pre_tokenizer: add_prefix_space is not supported");
	s->byte_level = 1;
	return json_is_false(regex) ? 0 : add_pattern(s, split_byte_level(), e);
}

static int add_step(struct steps *s, const json_t *j, int depth, struct err *e)
{
	const char *type = type_of(j);
	const json_t *part;
	size_t i;

	if (strcmp(type, "Sequence") == 0 && depth < NESTING_MAX) {
		json_array_foreach(json_object_get(j, "pretokenizers"), i,
		    part) if (add_step(s, part, depth + 1, e) < 0) return -1;
		return 0;
	}
	if (s->byte_level)
		return err_set(
		    e, "vocab", "pre_tokenizer: %s after ByteLevel is not supported", type);
	if (strcmp(type, "Split") == 0)
		return add_split(s, j, e);
	if (strcmp(type, "ByteLevel") == 0)
		return add_byte_level(s, j, e);
	if (strcmp(type, "Digits") == 0 && s->n == 0 && !s->digits &&
	    json_is_true(json_object_get(j, "individual_digits"))) {
		s->digits = 1;
		return 0;
	}
	return err_set(e, "vocab", "pre_tokenizer: %s is not supported here", type);
}

int load_pre_tokenizer(struct bpe *b, struct span v, struct err *e)
{
	struct steps s = {0};
	int failed, rc = -1;
	json_t *j = tree(v, "pre_tokenizer", &failed, e);

	if (failed || (j && add_step(&s, j, 0, e) < 0))
		goto out;
	if (!s.byte_level) {
		err_set(e, "vocab",
		    "pre_tokenizer: no ByteLevel; only byte-level models are supported");
		goto out;
	}
	b->split = split_find(s.pattern, s.n, s.digits);
	rc = b->split ? 0 : unknown_pattern(s.n ? s.pattern[s.n - 1] : "", e);
out:
	json_decref(j);
	return rc;
}
