#include "bpe/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bpe/core_int.h"
#include "bpe/model.h"

/* To be raised when a table, or how it is computed, changes. */
#define STORE_VERSION 1

/* Smaller vocabularies are compiled in the time that a file takes. */
#define STORE_MIN 8192

#define ALIGN 64

enum {
	VOCAB_BYTES,
	ENTRIES,
	SLOTS,
	BYTE_IDS,
	TOKENS,
	STATES,
	PAIRS,
	FILTER,
	NORMALIZER,
	PRE,
	ADDED,
	SECTIONS
};

struct head {
	char magic[8];
	uint32_t version, order; /* of bytes: 1 as this machine writes it */
	struct hash128 key;
	uint64_t n[SECTIONS]; /* bytes of each section */
	uint32_t rule, whole, unmade, entry_size;
	uint64_t sum; /* XXH64 of what follows the head, seeded with that of the head with sum 0 */
};

static const char magic[8] = "e3-bpe\n";

static size_t padded(uint64_t n)
{
	return (size_t)(n + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t checksum(const struct head *h, const char *body, size_t n)
{
	struct head copy = *h;

	copy.sum = 0;
	return hash64(body, n, hash64(&copy, sizeof(copy), 0));
}

/* The folder into `out`; -1: there is none to use. */
static int folder(struct buf *out)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		buf_adds(out, cache);
	else if (home && home[0] == '/')
		buf_addf(out, "%s/.cache", home);
	else
		return -1;
	buf_adds(out, "/e3");
	return 0;
}

/* "FOLDER/tokenizer-KEY" */
static int file_name(struct buf *out, struct hash128 key)
{
	if (folder(out) < 0)
		return -1;
	buf_adds(out, "/tokenizer-");
	buf_add_hex64(out, key.hi);
	buf_add_hex64(out, key.lo);
	return 0;
}

static struct head describe(const struct bpe *b, struct hash128 key)
{
	struct head h;

	memset(&h, 0, sizeof(h)); /* the padding too: it is summed */
	memcpy(h.magic, magic, sizeof(magic));
	h.version = STORE_VERSION;
	h.order = 1;
	h.key = key;
	h.rule = (uint32_t)b->vocab.rule;
	h.whole = (uint32_t)b->vocab.whole;
	h.unmade = (uint32_t)b->core->unmade;
	h.entry_size = sizeof(struct vocab_entry);
	return h;
}

static void list(const struct bpe *b, const struct store_members *m, struct span s[SECTIONS])
{
	const struct vocab *v = &b->vocab;
	const struct core *c = b->core;

	s[VOCAB_BYTES] = (struct span){v->bytes.data, v->bytes.len};
	s[ENTRIES] = (struct span){(const char *)v->entry, v->n * sizeof(*v->entry)};
	s[SLOTS] = (struct span){(const char *)v->slot, v->slots * sizeof(*v->slot)};
	s[BYTE_IDS] = (struct span){(const char *)v->byte, sizeof(v->byte)};
	s[TOKENS] = (struct span){(const char *)c->token, v->n * sizeof(*c->token)};
	s[STATES] = (struct span){(const char *)c->state, c->states * sizeof(*c->state)};
	s[PAIRS] = (struct span){(const char *)c->pair, c->pair_slots * sizeof(*c->pair)};
	s[FILTER] = (struct span){(const char *)c->filter, FILTER_BITS / 8};
	s[NORMALIZER] = m->normalizer;
	s[PRE] = m->pre_tokenizer;
	s[ADDED] = m->added;
}

/* The folder and the one above it, readable by the user only. */
static void make_folder(void)
{
	struct buf dir = {0};

	if (folder(&dir) == 0) {
		char *end;

		buf_cstr(&dir);
		end = strrchr(dir.data, '/');
		*end = '\0';
		mkdir(dir.data, 0700);
		*end = '/';
		mkdir(dir.data, 0700);
	}
	buf_free(&dir);
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

void store_save(const struct bpe *b, struct hash128 key, const struct store_members *m)
{
	struct head h = describe(b, key);
	struct buf path = {0}, temporary = {0}, body = {0};
	struct span s[SECTIONS];
	int fd = -1, ok;

	list(b, m, s);
	if (b->vocab.n < STORE_MIN || file_name(&path, key) < 0)
		goto out;
	make_folder();
	buf_addf(&temporary, "%s.XXXXXX", buf_cstr(&path));
	buf_cstr(&temporary);
	fd = mkstemp(temporary.data);
	if (fd < 0)
		goto out;
	for (int i = 0; i < SECTIONS; i++) {
		h.n[i] = s[i].n;
		memset(buf_room(&body, padded(s[i].n)), 0, padded(s[i].n));
		if (s[i].n > 0)
			memcpy(body.data + body.len, s[i].p, s[i].n);
		body.len += padded(s[i].n);
	}
	h.sum = checksum(&h, body.data, body.len);
	ok = write_all(fd, (const char *)&h, sizeof(h)) == 0 &&
	     lseek(fd, (off_t)padded(sizeof(h)), SEEK_SET) > 0 &&
	     write_all(fd, body.data, body.len) == 0;
	if (close(fd) < 0 || !ok || rename(temporary.data, path.data) < 0)
		unlink(temporary.data);
out:
	buf_free(&path);
	buf_free(&temporary);
	buf_free(&body);
}

/* Whether the mapping is what a process with these structs wrote for this key, whole. */
static int is_sound(const char *p, size_t size, struct hash128 key)
{
	struct head h;
	size_t body = padded(sizeof(h)), left;

	if (size < body)
		return 0;
	memcpy(&h, p, sizeof(h));
	left = size - body;
	if (memcmp(h.magic, magic, sizeof(magic)) != 0 || h.version != STORE_VERSION ||
	    h.order != 1 || h.entry_size != sizeof(struct vocab_entry) || h.key.hi != key.hi ||
	    h.key.lo != key.lo || h.sum != checksum(&h, p + body, left))
		return 0;
	for (int i = 0; i < SECTIONS; i++) {
		if (h.n[i] > left || padded(h.n[i]) > left)
			return 0;
		left -= padded(h.n[i]);
	}
	return left == 0;
}

/* Tables stay in the mapping but for what added tokens are put into. */
static void use(struct bpe *b, struct store_members *m)
{
	const char *at = (const char *)b->map + padded(sizeof(struct head));
	struct head h;
	struct span s[SECTIONS];
	struct vocab *v = &b->vocab;
	struct core *c = xcalloc(1, sizeof(*c));

	memcpy(&h, b->map, sizeof(h));
	for (int i = 0; i < SECTIONS; i++) {
		s[i] = (struct span){at, (size_t)h.n[i]};
		at += padded(h.n[i]);
	}
	v->rule = (enum vocab_rule)h.rule;
	v->whole = (int)h.whole;
	buf_add(&v->bytes, s[VOCAB_BYTES].p, s[VOCAB_BYTES].n);
	v->entry = xmemdup(s[ENTRIES].p, s[ENTRIES].n);
	v->n = v->cap = s[ENTRIES].n / sizeof(*v->entry);
	v->slot = (int32_t *)(uintptr_t)s[SLOTS].p;
	v->slots = s[SLOTS].n / sizeof(*v->slot);
	memcpy(v->byte, s[BYTE_IDS].p, sizeof(v->byte));
	c->vocab = v;
	c->token = (struct core_token *)(uintptr_t)s[TOKENS].p;
	c->state = (struct core_state *)(uintptr_t)s[STATES].p;
	c->states = s[STATES].n / sizeof(*c->state);
	c->pair = (struct core_pair *)(uintptr_t)s[PAIRS].p;
	c->pair_slots = s[PAIRS].n / sizeof(*c->pair);
	c->filter = (uint64_t *)(uintptr_t)s[FILTER].p;
	c->unmade = (int)h.unmade;
	v->mapped = c->mapped = 1;
	b->core = c;
	*m = (struct store_members){s[NORMALIZER], s[PRE], s[ADDED]};
}

int store_open(struct bpe *b, struct hash128 key, struct store_members *m)
{
	struct buf path = {0};
	struct stat st;
	int fd = -1, found = 0;
	void *map;

	if (file_name(&path, key) < 0)
		goto out;
	fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		goto out;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		goto out;
	if (!is_sound(map, (size_t)st.st_size, key)) {
		munmap(map, (size_t)st.st_size);
		goto out;
	}
	b->map = map;
	b->map_size = (size_t)st.st_size;
	use(b, m);
	found = 1;
out:
	if (fd >= 0)
		close(fd);
	buf_free(&path);
	return found;
}

void store_close(struct bpe *b)
{
	if (b->map)
		munmap(b->map, b->map_size);
	b->map = NULL;
}
