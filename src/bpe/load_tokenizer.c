/* tokenizer.json of Hugging Face's tokenizers, byte-level BPE only.
 *
 * Vocabulary and merges are hundreds of thousands of strings: they are read straight from the
 * text. The small members become jansson trees. In the strings of both every byte is one
 * character: 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF the same code point, the other 68 in rising order
 * U+0100, U+0101 ... */
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"
#include "bpe/load.h"
#include "bpe/load_added.h"
#include "bpe/model.h"
#include "bpe/store.h"
#include "json/doc.h"
#include "json/rec.h"

#define ALPHABET_END 0x144

/* The byte that a character of the alphabet stands for, or -1. */
static int byte_of(uint32_t cp)
{
	static const struct {
		uint32_t first, last, byte;
	} moved[] = {{0x100, 0x120, 0x00}, {0x121, 0x142, 0x7F}, {0x143, 0x143, 0xAD}};

	if ((cp >= 0x21 && cp <= 0x7E) || (cp >= 0xA1 && cp <= 0xFF && cp != 0xAD))
		return (int)cp;
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]) && cp < ALPHABET_END; i++)
		if (cp >= moved[i].first && cp <= moved[i].last)
			return (int)(cp - moved[i].first + moved[i].byte);
	return -1;
}

int load_byte_level(struct buf *out, struct span s)
{
	while (s.n > 0) {
		uint32_t cp;
		size_t len = utf8_decode(s.p, s.n, &cp);
		int byte = byte_of(cp);

		if (byte < 0)
			return -1;
		buf_addc(out, (char)byte);
		s.p += len;
		s.n -= len;
	}
	return 0;
}

/* Scratch for strings. */
struct reading {
	struct bpe *b;
	struct buf text, bytes;
};

static int read_token(struct reading *r, struct rec_member m, struct err *e)
{
	struct vocab_entry x = {.kind = TOKEN_TEXT};
	struct span quoted = {m.key.p - 1, m.key.n + 2}, name;
	int64_t id;

	buf_reset(&r->text);
	buf_reset(&r->bytes);
	json_str(&r->text, quoted, NULL);
	name = (struct span){r->text.data, r->text.len};
	if (num_i64(m.val.p, m.val.n, &id) < 0 || id < 0 || id > VOCAB_MAX_ID)
		return err_set(e, "vocab", "model.vocab.%.*s: expected an id up to %d, not %.*s",
		    (int)m.key.n, m.key.p, VOCAB_MAX_ID, (int)m.val.n, m.val.p);
	x.id = (int32_t)id;
	if (load_byte_level(&r->bytes, name) < 0)
		x.kind = 0; /* the name of an added token that is listed here too */
	else
		name = (struct span){r->bytes.data, r->bytes.len};
	x.n = (uint32_t)name.n;
	return x.n > 0 ? vocab_put(&r->b->vocab, x, name.p, e) : 0;
}

static int read_vocab(struct reading *r, struct span object, struct err *e)
{
	struct rec rec = {0};
	int rc = rec_parse(&rec, object.p, object.n, e);

	if (rc < 0)
		err_prefix(e, "model.vocab: ");
	for (size_t i = 0; i < rec.n && rc == 0; i++)
		rc = read_token(r, rec.m[i], e);
	rec_free(&rec);
	if (rc < 0)
		return -1;
	return vocab_finish(&r->b->vocab, e) < 0 ? err_prefix(e, "model.vocab: ") : 0;
}

/* The array is valid JSON; these walk its characters. */

static const char *skip(const char *p, const char *what)
{
	while (*p && strchr(what, *p))
		p++;
	return p;
}

/* p at the opening quote; adds the string's bytes, returns what is behind it or NULL. */
static const char *read_half(struct reading *r, const char *p, struct span *text)
{
	const char *end = p + 1;

	while (*end != '"')
		end += *end == '\\' ? 2 : 1;
	end++;
	buf_reset(&r->text);
	json_str(&r->text, (struct span){p, (size_t)(end - p)}, NULL);
	*text = (struct span){r->text.data, r->text.len};
	return end;
}

/* "a b", or ["a", "b"]: p behind it, both halves in r->bytes, the left one's length in *left; NULL:
 * neither. */
static const char *read_merge(struct reading *r, const char *p, size_t *left)
{
	static const char blanks[] = " \t\r\n", between[] = " \t\r\n,";
	struct span text;

	buf_reset(&r->bytes);
	if (*p == '"') {
		const char *space;

		p = read_half(r, p, &text);
		space = text.n ? memchr(text.p, ' ', text.n) : NULL;
		if (!space ||
		    load_byte_level(&r->bytes, (struct span){text.p, (size_t)(space - text.p)}) < 0)
			return NULL;
		*left = r->bytes.len;
		text.n -= (size_t)(space + 1 - text.p);
		return load_byte_level(&r->bytes, (struct span){space + 1, text.n}) < 0 ? NULL : p;
	}
	if (*p != '[' || *(p = skip(p + 1, blanks)) != '"')
		return NULL;
	p = read_half(r, p, &text);
	if (load_byte_level(&r->bytes, text) < 0 || *(p = skip(p, between)) != '"')
		return NULL;
	*left = r->bytes.len;
	p = read_half(r, p, &text);
	if (load_byte_level(&r->bytes, text) < 0 || *(p = skip(p, blanks)) != ']')
		return NULL;
	return p + 1;
}

static int read_merges(struct reading *r, struct span array, struct err *e)
{
	const char *p = array.p;
	int32_t order = 0;

	if (array.n == 0 || *p != '[')
		return err_set(e, "type", "model.merges: expected an array");
	for (p = skip(p + 1, " \t\r\n"); *p != ']'; p = skip(p, " \t\r\n,")) {
		size_t left;

		p = read_merge(r, p, &left);
		if (!p)
			return err_set(e, "type",
			    "model.merges[%d]: expected two byte-level tokens", (int)order);
		if (vocab_merge(&r->b->vocab, (struct span){r->bytes.data, r->bytes.len}, left,
			order, e) < 0)
			return err_prefix(e, "model.merges[%d]: ", (int)order);
		order++;
	}
	return 0;
}

/* What the model must not have, since it would change the ids. */
static int check_model(const struct bpe *b, const struct rec *model, struct err *e)
{
	static const struct {
		const char *member, *allowed[3];
	} rules[] = {
	    {"type", {"\"BPE\""}},
	    {"dropout", {"null", "0", "0.0"}},
	    {"continuing_subword_prefix", {"null", "\"\""}},
	    {"end_of_word_suffix", {"null", "\"\""}},
	    {"byte_fallback", {"null", "false"}},
	};
	struct span v;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int ok = !(v = rec_get(model, rules[i].member)).p;

		for (size_t k = 0; k < 3 && rules[i].allowed[k]; k++)
			ok = ok || span_eq(v, rules[i].allowed[k]);
		if (!ok)
			return err_set(e, "vocab", "model.%s: %.*s is not supported",
			    rules[i].member, v.n < 40 ? (int)v.n : 40, v.p);
	}
	if (span_is_null(rec_get(model, "unk_token")))
		return 0;
	for (int c = 0; c <= 0xF4; c++)
		if (b->vocab.byte[c] < 0 && c != 0xC0 && c != 0xC1)
			return err_set(e, "vocab",
			    "model.unk_token: not supported where a byte (0x%02X) has no token", c);
	return 0;
}

static int read_model(struct bpe *b, struct span text, struct err *e)
{
	struct reading r = {.b = b};
	struct rec model = {0};
	struct span ignore;
	int rc = -1;

	if (!text.p) {
		err_set(e, "missing", "model: missing");
		goto out;
	}
	if (rec_parse(&model, text.p, text.n, e) < 0) {
		err_prefix(e, "model: ");
		goto out;
	}
	b->vocab.rule = VOCAB_MERGES;
	ignore = rec_get(&model, "ignore_merges");
	b->vocab.whole = ignore.p && span_eq(ignore, "true");
	if (!rec_get(&model, "vocab").p || !rec_get(&model, "merges").p) {
		err_set(e, "vocab", "model: no BPE model with vocab and merges");
		goto out;
	}
	if (read_vocab(&r, rec_get(&model, "vocab"), e) < 0 || check_model(b, &model, e) < 0 ||
	    read_merges(&r, rec_get(&model, "merges"), e) < 0)
		goto out;
	rc = 0;
out:
	rec_free(&model);
	buf_free(&r.text);
	buf_free(&r.bytes);
	return rc;
}

/* The members that are left when the model is compiled; and that. */
static int compile(struct bpe *b, const struct rec *top, struct hash128 key,
    struct store_members *m, struct err *e)
{
	*m = (struct store_members){rec_get(top, "normalizer"), rec_get(top, "pre_tokenizer"),
	    rec_get(top, "added_tokens")};
	if (read_model(b, rec_get(top, "model"), e) < 0)
		return -1;
	b->core = core_build(&b->vocab);
	if (b->core && b->cached)
		store_save(b, key, m);
	return 0;
}

static int read_file(struct bpe *b, struct span file, struct names **names, struct err *e)
{
	struct hash128 key = hash128(file.p, file.n);
	struct store_members m = {0};
	struct rec top = {0};
	int rc = -1;

	if (!b->cached || !store_open(b, key, &m))
		if (rec_parse(&top, file.p, file.n, e) < 0 || compile(b, &top, key, &m, e) < 0)
			goto out;
	*names = names_open(b, e);
	if (!*names || load_normalizer(b, m.normalizer, e) < 0 ||
	    load_pre_tokenizer(b, m.pre_tokenizer, e) < 0 || names_file(*names, m.added, e) < 0)
		goto out;
	rc = 0;
out:
	rec_free(&top);
	return rc;
}

int load_tokenizer(struct bpe *b, const char *dir, struct err *e)
{
	struct buf path = {0}, file = {0};
	struct names *names = NULL;
	json_t *config = NULL;
	int rc = -1;

	if (doc_slurp(&file, load_path(&path, dir, "tokenizer.json"), DOC_MAX, e) < 0)
		goto out;
	buf_cstr(&file);
	if (read_file(b, (struct span){file.data, file.len}, &names, e) < 0) {
		err_prefix(e, "%s: ", path.data);
		goto out;
	}
	load_path(&path, dir, "tokenizer_config.json");
	if (load_optional(&config, &path, e) < 0)
		goto out;
	if (names_config(names, config, e) < 0) {
		err_prefix(e, "%s: ", path.data);
		goto out;
	}
	rc = names_finish(names, b, e);
out:
	json_decref(config);
	names_close(names);
	buf_free(&path);
	buf_free(&file);
	return rc;
}
