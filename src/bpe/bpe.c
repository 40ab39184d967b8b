#include "bpe/bpe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bpe/load.h"
#include "bpe/model.h"
#include "bpe/store.h"

/* A folder may have both kinds of file: then tokenizer.json was converted from the ranks, with a
 * pattern that is not the model's, and the ranks win. */
static int load(struct bpe *b, const char *dir, struct err *e)
{
	struct buf path = {0};
	int has_ranks = access(load_path(&path, dir, "tiktoken.model"), F_OK) == 0;
	int has_json = access(load_path(&path, dir, "tokenizer.json"), F_OK) == 0;
	int rc;

	if (has_ranks)
		rc = load_tiktoken(b, dir, e);
	else if (has_json)
		rc = load_tokenizer(b, dir, e);
	else if (access(load_path(&path, dir, "."), F_OK) < 0)
		rc = err_sys(e, "%s", dir);
	else
		rc = err_set(e, "missing", "%s: no tiktoken.model and no tokenizer.json", dir);
	buf_free(&path);
	return rc < 0 ? -1 : load_config(b, dir, e);
}

static struct bpe *open_folder(const char *dir, int cached, struct err *e)
{
	struct bpe *b = xcalloc(1, sizeof(*b));

	b->cached = cached;
	added_init(&b->raw);
	added_init(&b->normal);
	added_init(&b->cut_names);
	if (load(b, dir, e) < 0) {
		bpe_close(b);
		return NULL;
	}
	return b;
}

struct bpe *bpe_open(const char *dir, struct err *e)
{
	return open_folder(dir, 1, e);
}

struct bpe *bpe_open_uncached(const char *dir, struct err *e)
{
	return open_folder(dir, 0, e);
}

void bpe_close(struct bpe *b)
{
	if (!b)
		return;
	core_free(b->core);
	vocab_free(&b->vocab);
	store_close(b);
	added_free(&b->raw);
	added_free(&b->normal);
	added_free(&b->cut_names);
	ints_free(&b->eos);
	for (size_t i = 0; i < b->names; i++)
		free(b->name[i].name);
	free(b);
}

int bpe_decode(const struct bpe *b, const int32_t *ids, size_t n, struct buf *out, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct span s = vocab_bytes(&b->vocab, ids[i]);

		if (!s.p)
			return err_set(e, "range", "[%zu]: there is no token %d", i, (int)ids[i]);
		buf_add(out, s.p, s.n);
	}
	return 0;
}

struct span bpe_token(const struct bpe *b, int32_t id)
{
	return vocab_bytes(&b->vocab, id);
}

int32_t bpe_special(const struct bpe *b, const char *name, size_t n)
{
	const struct added_token *t = added_find(&b->raw, name, n);

	if (!t)
		t = added_find(&b->normal, name, n);
	return t ? t->id : -1;
}

int bpe_is_special(const struct bpe *b, int32_t id)
{
	return id >= 0 && (size_t)id < b->vocab.n && (b->vocab.entry[id].kind & TOKEN_ADDED);
}

static size_t count(const struct added *a, struct span text)
{
	struct added_match m = {0};
	size_t n = 0;

	while (added_next(a, text, &m))
		n++;
	return n;
}

size_t bpe_count_special(const struct bpe *b, const char *p, size_t n)
{
	struct span text = {p, n};

	return count(&b->raw, text) + count(&b->normal, text);
}

size_t bpe_vocab(const struct bpe *b)
{
	return b->size;
}

const struct ints *bpe_eos(const struct bpe *b)
{
	return &b->eos;
}

struct span bpe_named(const struct bpe *b, const char *which)
{
	for (size_t i = 0; i < b->names; i++)
		if (strcmp(b->name[i].which, which) == 0)
			return (struct span){b->name[i].name, strlen(b->name[i].name)};
	return (struct span){0};
}

const char *bpe_family(const struct bpe *b)
{
	return b->split->name;
}
