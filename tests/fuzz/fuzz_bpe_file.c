/* The loaders on any bytes. The first byte chooses the file that the rest stands in: tiktoken.model
 * beside a true tokenizer_config.json, tokenizer_config.json beside true ranks, tokenizer.json,
 * config.json, generation_config.json or tokenizer_config.json beside a true tokenizer.json. What
 * opens must encode. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "bpe/bpe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char dir[] = "/tmp/e3-fuzz-XXXXXX";

static const char *const names[] = {"tiktoken.model", "tokenizer_config.json", "tokenizer.json",
    "config.json", "generation_config.json", "tokenizer_config.json"};

#define NAMES (sizeof(names) / sizeof(names[0]))

static void put(const char *name, const void *p, size_t n)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || (n > 0 && fwrite(p, 1, n, f) != n) || fclose(f) != 0)
		abort();
}

static void clean(void)
{
	for (size_t i = 0; i < NAMES; i++) {
		char path[100];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

static void leave(void)
{
	clean();
	rmdir(dir);
}

static void put_ranks(void)
{
	struct buf b = {0};

	for (int i = 0; i < 256; i++) {
		char c = (char)i;

		buf_add_base64(&b, &c, 1);
		buf_addf(&b, " %d\n", i);
	}
	buf_adds(&b, "YWI= 256\nYWJi 257\n");
	put("tiktoken.model", b.data, b.len);
	buf_free(&b);
}

static void put_tokenizer(void)
{
	static const char text[] = "{\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{"
				   "\"type\":\"BPE\",\"vocab\":{\"a\":0,"
				   "\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}";

	put("tokenizer.json", text, sizeof(text) - 1);
}

static void use(struct bpe *b)
{
	static const char text[] = "ab abab 12 <x> \xe4\xb8\xad\n";
	struct bpe_work *w = bpe_work_open(b);
	struct ints ids = {0};
	struct buf back = {0};
	struct err e = {0};

	if (bpe_encode(b, w, (struct bpe_text){text, sizeof(text) - 1, 0}, &ids, NULL, &e) < 0 ||
	    bpe_decode(b, ids.v, ids.n, &back, &e) < 0)
		abort();
	ints_free(&ids);
	buf_free(&back);
	bpe_work_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char kimi[] = "{\"auto_map\":{\"AutoTokenizer\":\"tokenization_kimi.X\"}}";
	static int made;
	struct err e = {0};
	struct bpe *b;
	int which = n > 0 ? data[0] % NAMES : 0;

	if (!made) {
		if (!mkdtemp(dir) || atexit(leave) != 0)
			abort();
		made = 1;
	}
	clean();
	if (which < 2) {
		put_ranks();
		put("tokenizer_config.json", kimi, sizeof(kimi) - 1);
	} else {
		put_tokenizer();
	}
	put(names[which], data + (n > 0), n > 0 ? n - 1 : 0);
	b = bpe_open(dir, &e);
	if (b)
		use(b);
	else if (!e.class || !e.msg[0])
		abort();
	bpe_close(b);
	return 0;
}
