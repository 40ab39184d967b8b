/* A folder with tiktoken.model: one token a line, base64(bytes) SP rank LF; and
 * tokenizer_config.json, whose added_tokens_decoder names ids behind the ranks. The split pattern
 * stands in the model's Python file only, so the folder must name that file: auto_map's
 * AutoTokenizer is "tokenization_kimi...." (tokenizer_class is shared with other models). */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "bpe/load.h"
#include "bpe/model.h"
#include "bpe/store.h"
#include "json/doc.h"

#define RANKS_MAX (64u << 20)

/* Ids behind the ranks that have a name, given or reserved. */
#define KIMI_NAMED 256

static int base64_digit(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Padded base64; -1 on anything else. */
static int decode_base64(struct buf *out, struct span s)
{
	uint32_t bits = 0;
	size_t digits = s.n;

	while (digits > 0 && s.n - digits < 2 && s.p[digits - 1] == '=')
		digits--;
	if (s.n == 0 || s.n % 4 != 0)
		return -1;
	buf_reset(out);
	for (size_t i = 0; i < digits; i++) {
		int d = base64_digit((unsigned char)s.p[i]);

		if (d < 0)
			return -1;
		bits = bits << 6 | (uint32_t)d;
		if (i % 4 != 0)
			buf_addc(out, (char)(bits >> (6 - 2 * (i % 4))));
	}
	return 0;
}

static int read_line(struct bpe *b, struct span line, struct buf *token, struct err *e)
{
	const char *space = memchr(line.p, ' ', line.n);
	struct span text = {line.p, space ? (size_t)(space - line.p) : 0};
	uint64_t rank;

	if (!space || num_u64(space + 1, line.n - text.n - 1, &rank) < 0)
		return err_set(e, "vocab", "expected base64, a space and a rank");
	if (rank > VOCAB_MAX_ID)
		return err_set(e, "vocab", "a rank above %d", VOCAB_MAX_ID);
	if (decode_base64(token, text) < 0 || token->len == 0)
		return err_set(e, "vocab", "not base64");
	return vocab_put(&b->vocab,
	    (struct vocab_entry){
		.id = (int32_t)rank, .n = (uint32_t)token->len, .kind = TOKEN_TEXT},
	    token->data, e);
}

static int read_lines(struct bpe *b, struct span file, const char *path, struct err *e)
{
	struct buf token = {0};
	size_t number = 0, at = 0;
	int rc = 0;

	while (rc == 0 && at < file.n) {
		const char *p = file.p + at, *end = memchr(p, '\n', file.n - at);
		size_t n = end ? (size_t)(end - p) : file.n - at;

		at += n + 1;
		number++;
		if (n > 0 && p[n - 1] == '\r')
			n--;
		if (n > 0 && read_line(b, (struct span){p, n}, &token, e) < 0)
			rc = err_prefix(e, "%s:%zu: ", path, number);
	}
	buf_free(&token);
	return rc;
}

/* The ids of the ranks must be 0, 1, 2 ...: the names count on from the last. */
static int check_ranks(const struct bpe *b, struct err *e)
{
	for (size_t i = 0; i < b->vocab.n; i++)
		if (b->vocab.entry[i].n == 0)
			return err_set(e, "vocab", "no token of rank %zu", i);
	for (int i = 0; i < 256; i++)
		if (b->vocab.byte[i] < 0)
			return err_set(e, "vocab", "no token for the byte 0x%02X", i);
	return 0;
}

static int read_ranks(struct bpe *b, const char *path, struct err *e)
{
	struct store_members none = {0};
	struct buf file = {0};
	struct hash128 key;
	int rc = doc_slurp(&file, path, RANKS_MAX, e);

	if (rc < 0)
		goto out;
	key = hash128(file.data, file.len);
	if (b->cached && store_open(b, key, &none))
		goto out;
	rc = read_lines(b, (struct span){file.data, file.len}, path, e);
	if (rc == 0 && (vocab_finish(&b->vocab, e) < 0 || check_ranks(b, e) < 0))
		rc = err_prefix(e, "%s: ", path);
	if (rc < 0)
		goto out;
	b->core = core_build(&b->vocab);
	if (b->core && b->cached)
		store_save(b, key, &none);
out:
	buf_free(&file);
	return rc;
}

/* Whether auto_map.AutoTokenizer, a string or a list of them, names tokenization_kimi. */
static int is_kimi(const json_t *config)
{
	const json_t *auto_map = json_object_get(config, "auto_map");
	const json_t *name = json_object_get(auto_map, "AutoTokenizer");
	const char *s;

	if (json_is_array(name))
		name = json_array_get(name, 0);
	s = json_string_value(name);
	if (s &&
	    strstr(s, "--")) /* "OWNER/NAME--tokenization_kimi.Class": code of another folder */
		s = strstr(s, "--") + 2;
	return s && strncmp(s, "tokenization_kimi.", strlen("tokenization_kimi.")) == 0;
}

/* The name of an id behind the ranks into `name`; flags of the token. */
static int name_of(const json_t *given, int32_t id, struct buf *name, struct err *e)
{
	const json_t *content = json_object_get(given, "content");

	buf_reset(name);
	if (!given)
		buf_addf(name, "<|reserved_token_%d|>", (int)id);
	else if (json_string_length(content) > 0)
		buf_add(name, json_string_value(content), json_string_length(content));
	else
		return err_set(
		    e, "type", "added_tokens_decoder.%d.content: expected a string", (int)id);
	return 0;
}

static int read_names(struct bpe *b, const json_t *decoder, size_t ranks, struct err *e)
{
	struct buf name = {0};
	size_t sum = 0;
	int rc = 0;

	for (size_t i = 0; i < KIMI_NAMED && rc == 0; i++) {
		int32_t id = (int32_t)(ranks + i);
		const json_t *given;
		struct added_token t;
		char key[16];

		snprintf(key, sizeof(key), "%d", (int)id);
		given = json_object_get(decoder, key);
		rc = name_of(given, id, &name, e);
		if (rc == 0)
			rc = load_count_name(&sum, name.len, e);
		if (rc < 0)
			break;
		t = (struct added_token){.id = id, .n = name.len};
		added_put(&b->raw, t, name.data);
		if (given)
			added_put(&b->cut_names, t, name.data);
		rc = vocab_name(&b->vocab, id, (struct span){name.data, name.len}, e);
	}
	buf_free(&name);
	return rc;
}

int load_tiktoken(struct bpe *b, const char *dir, struct err *e)
{
	struct buf path = {0};
	json_t *config = doc_load(load_path(&path, dir, "tokenizer_config.json"), e);
	const json_t *decoder;
	int rc = -1;

	if (!config)
		goto out;
	if (!is_kimi(config)) {
		err_set(e, "vocab",
		    "%s: auto_map.AutoTokenizer is not tokenization_kimi, the only "
		    "tiktoken.model whose split pattern is known",
		    path.data);
		goto out;
	}
	b->split = split_named("kimi");
	b->cuts = 1;
	b->vocab.rule = VOCAB_RANKS;
	b->vocab.whole = 1;
	if (read_ranks(b, load_path(&path, dir, "tiktoken.model"), e) < 0)
		goto out;
	if (load_decoder(&decoder, config, e) == 0)
		rc = read_names(b, decoder, b->vocab.n, e);
	if (rc < 0)
		err_prefix(e, "%s: ", load_path(&path, dir, "tokenizer_config.json"));
out:
	json_decref(config);
	buf_free(&path);
	return rc;
}
