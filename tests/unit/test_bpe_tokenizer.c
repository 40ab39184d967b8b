/* tokenizer.json: what it may say, on a vocabulary made here; and the real ones. */
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "bpe/bpe.h"
#include "unit.h"

#define NUMBERS "{\"type\":\"Digits\",\"individual_digits\":true}"
#define BYTES	"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"

/* What a test changes of the folder; NULL is the default. */
struct folder {
	const char *vocab;  /* more entries after the 256 bytes, whose ids are 0 to 255 */
	const char *merges; /* inside the brackets */
	const char *model;  /* further members of model */
	const char *top;    /* further members of the file */
	const char *pre;
	const char *config, *tokenizer_config, *generation_config;
};

static char dir[] = "/tmp/e3-bpe-XXXXXX";

static void write_file(const char *name, const char *p, size_t n)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	if (!p)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

static void write_text(const char *name, const char *s)
{
	write_file(name, s, s ? strlen(s) : 0);
}

/* The vocabulary's character for a byte. */
static uint32_t byte_char(unsigned b)
{
	if ((b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD))
		return b;
	return b <= 0x20 ? 0x100 + b : b == 0xAD ? 0x143 : 0x121 + b - 0x7F;
}

static struct bpe *open_folder(const struct folder *f, struct err *e)
{
	struct buf b = {0};
	struct bpe *model;

	buf_adds(&b, "{\"normalizer\":null");
	buf_addf(&b, "%s,\"pre_tokenizer\":%s", f->top ? f->top : "", f->pre ? f->pre : BYTES);
	buf_addf(&b, ",\"model\":{\"type\":\"BPE\"%s,\"vocab\":{", f->model ? f->model : "");
	for (unsigned i = 0; i < 256; i++) {
		struct buf c = {0};

		buf_add_utf8(&c, byte_char(i));
		if (i > 0)
			buf_addc(&b, ',');
		buf_add_json(&b, c.data, c.len);
		buf_addf(&b, ":%u", i);
		buf_free(&c);
	}
	buf_addf(&b, "%s},\"merges\":[%s]}}", f->vocab ? f->vocab : "", f->merges ? f->merges : "");
	write_file("tokenizer.json", b.data, b.len);
	buf_free(&b);
	write_text("config.json", f->config);
	write_text("tokenizer_config.json", f->tokenizer_config);
	write_text("generation_config.json", f->generation_config);
	model = bpe_open(dir, e);
	return model;
}

static void assert_ids(const char *name, const struct bpe *m, const char *text, const char *want)
{
	struct bpe_work *w = bpe_work_open(m);
	struct ints ids = {0}, starts = {0};
	struct buf got = {0};
	struct err e = {0};

	assert_int_equal(
	    bpe_encode(m, w, (struct bpe_text){text, strlen(text), 0}, &ids, &starts, &e), 0);
	assert_int_equal(ids.n, starts.n);
	for (size_t i = 0; i < ids.n; i++)
		buf_addf(&got, "%s%d@%d", i ? " " : "", (int)ids.v[i], (int)starts.v[i]);
	assert_bytes(name, got.data, got.len, want);
	ints_free(&ids);
	ints_free(&starts);
	buf_free(&got);
	bpe_work_close(w);
}

#define AB	    ",\"ab\":256,\"bc\":257,\"abc\":258,\"Ġa\":259"
#define NFC	    ",\"normalizer\":{\"type\":\"NFC\"}"
#define EOS	    "{\"id\":256,\"content\":\"<e>\",\"special\":true"
#define MORE(flags) ",\"added_tokens\":[" EOS flags "}]"

static void encodes_by_the_file(void **state)
{
	static const struct {
		const char *name;
		struct folder folder;
		const char *text, *ids;
	} rows[] = {
	    {"bytes", {0}, "aé", "97@0 195@1 169@2"},
	    {"merges as strings", {.vocab = AB, .merges = "\"b c\",\"a b\",\"a bc\""}, "abc",
		"258@0"},
	    {"merges as pairs", {.vocab = AB, .merges = " [\"a\", \"b\"] , [\"b\",\"c\"]"}, "abc",
		"256@0 99@2"},
	    {"the order of the merges counts", {.vocab = AB, .merges = "\"b c\",\"a b\""}, "abc",
		"97@0 257@1"},
	    {"the last of equal merges counts", {.vocab = AB, .merges = "\"a b\",\"b c\",\"a b\""},
		"abc", "97@0 257@1"},
	    {"a token that no merge makes", {.vocab = AB, .merges = ""}, "abc", "97@0 98@1 99@2"},
	    {"ignore_merges", {.vocab = AB, .merges = "", .model = ",\"ignore_merges\":true"},
		"abc abcd", "258@0 32@3 97@4 98@5 99@6 100@7"},
	    {"a blank in the alphabet", {.vocab = AB, .merges = "\"Ġ a\""}, "x a", "120@0 259@1"},
	    {"no merge across a cut", {.vocab = AB, .merges = "\"a b\""}, "a'sb",
		"97@0 39@1 115@2 98@3"},
	    {"digits one by one",
		{.vocab = ",\"11\":256",
		    .merges = "\"1 1\"",
		    .pre = "{\"type\":\"Sequence\",\"pretokenizers\":[" NUMBERS "," BYTES "]}"},
		"11", "49@0 49@1"},
	    {"NFC", {.top = NFC}, "xA\u030ay", "120@0 195@1 133@1 121@4"},
	    {"an added token", {.top = MORE("")}, "a<e>b", "97@0 256@1 98@4"},
	    {"lstrip, rstrip", {.top = MORE(",\"lstrip\":true,\"rstrip\":true")}, "a \t<e>\n <e>b",
		"97@0 256@1 256@8 98@11"},
	    {"white space that the one before took",
		{.top = ",\"added_tokens\":[" EOS ",\"rstrip\":true},{\"id\":257,\"content\":"
			"\"\\n\",\"lstrip\":true}]"},
		"<e> \na\n", "256@0 97@5 257@6"},
	    {"single_word", {.top = MORE(",\"single_word\":true")}, "a<e> <e> é<e>",
		"97@0 60@1 101@2 62@3 32@4 256@5 32@8 195@9 169@10 60@11 101@12 62@13"},
	    {"normalized",
		{.top = NFC
		    ",\"added_tokens\":[{\"id\":256,\"content\":\"\u212b\",\"normalized\":true}]"},
		"xA\u030a.", "120@0 256@1 46@4"},
	    {"not normalized",
		{.top = NFC ",\"added_tokens\":[{\"id\":256,\"content\":\"\u212b\"}]"},
		"\u00c5\u212b", "195@0 133@1 256@2"},
	    {"the longest",
		{.top = ",\"added_tokens\":[{\"id\":256,\"content\":\"<e\"},{\"id\":257,"
			"\"content\":\"<ee>\"}]"},
		"<ee<ee>", "256@0 101@2 257@3"},
	    /* rendered text has its BOS already: the post-processor never runs */
	    {"no second BOS",
		{.top = MORE(
		     "") ",\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{"
			 "\"SpecialToken\":{\"id\":\"<e>\",\"type_id\":0}},{\"Sequence\":{"
			 "\"id\":\"A\",\"type_id\":0}}],\"special_tokens\":{\"<e>\":{\"id\":"
			 "\"<e>\",\"ids\":[256],\"tokens\":[\"<e>\"]}}}",
		    .tokenizer_config =
			"{\"add_bos_token\":true,\"add_eos_token\":true,\"bos_token\":\"<e>\"}"},
		"<e>a", "256@0 97@3"},
	    {"no BOS at all", {.tokenizer_config = "{\"add_bos_token\":true}"}, "a", "97@0"},
	    {"a name that the vocabulary has too",
		{.vocab = ",\"\uff5cx\":256",
		    .top = ",\"added_tokens\":[{\"id\":256,\"content\":\"\uff5cx\"}]"},
		"\uff5cx", "256@0"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		struct bpe *m = open_folder(&rows[i].folder, &e);

		if (!m)
			fail_msg("%s: %s", rows[i].name, e.msg);
		assert_ids(rows[i].name, m, rows[i].text, rows[i].ids);
		bpe_close(m);
	}
}

/* A token of blanks that takes the blanks around it: none is looked at for each match anew, or this
 * takes minutes. */
static void blanks_take_linear_time(void **state)
{
#define BLANKS(strip) ",\"added_tokens\":[{\"id\":256,\"content\":\"  \",\"" strip "\":true}]"
	static const char *const tops[] = {BLANKS("lstrip"), BLANKS("rstrip")};
	size_t n = 1 << 20;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', n);
	for (size_t i = 0; i < LEN(tops); i++) {
		struct folder f = {.top = tops[i]};
		struct err e = {0};
		struct bpe *m = open_folder(&f, &e);
		struct bpe_work *w;
		struct ints ids = {0};

		assert_non_null(m);
		w = bpe_work_open(m);
		assert_int_equal(
		    bpe_encode(m, w, (struct bpe_text){text, n, 0}, &ids, NULL, &e), 0);
		assert_int_equal(ids.n, n / 2);
		ints_free(&ids);
		bpe_work_close(w);
		bpe_close(m);
	}
	free(text);
}

static void refuses_by_name(void **state)
{
	static const struct {
		struct folder folder;
		const char *message; /* a part of it */
	} rows[] = {
	    {{.model = ",\"byte_fallback\":true"}, "model.byte_fallback: true is not supported"},
	    {{.model = ",\"dropout\":0.1"}, "model.dropout: 0.1"},
	    {{.model = ",\"type\":\"Unigram\""}, "model.type: \"Unigram\""},
	    {{.model = ",\"end_of_word_suffix\":\"</w>\""}, "model.end_of_word_suffix"},
	    {{.merges = "\"a b\""},
		"model.merges[0]: 'a' and 'b': what they make is not in the vocabulary"},
	    {{.vocab = ",\"xy\":256", .merges = "\"xy zz\""},
		"model.merges[0]: 'xy' and 'zz': the second is not"},
	    {{.merges = "[\"zz\",\"a\"]"}, "model.merges[0]: 'zz' and 'a': the first is not"},
	    {{.merges = "\"ab\""}, "model.merges[0]: expected two byte-level tokens"},
	    {{.merges = "[\"a\",\"b\",\"c\"]"}, "model.merges[0]: expected two"},
	    {{.merges = "7"}, "model.merges[0]: expected two"},
	    {{.vocab = ",\"ab\":3"}, "model.vocab: token id 3 stands twice"},
	    {{.vocab = ",\"ab\":-3"}, "model.vocab.ab: expected an id up to 16777216, not -3"},
	    {{.vocab = ",\"ab\":1.5"}, "model.vocab.ab: expected an id"},
	    {{.vocab = ",\"ab\":99999999"}, "model.vocab.ab: expected an id"},
	    {{.vocab = ",\"ab\":16777216"},
		"model.vocab: token id 16777216: too high for 257 tokens"},
	    {{.top = ",\"normalizer\":{\"type\":\"NFKC\"}"}, "normalizer: NFKC is not supported"},
	    {{.top = ",\"normalizer\":{}"}, "normalizer: a step without a type is not supported"},
	    {{.pre = "{}"}, "pre_tokenizer: a step without a type is not supported"},
	    {{.pre = "null"}, "pre_tokenizer: no ByteLevel"},
	    {{.pre = "{\"type\":\"Metaspace\"}"}, "pre_tokenizer: Metaspace"},
	    {{.pre = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}"}, "add_prefix_space"},
	    {{.pre = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
		     "\"Regex\":"
		     "\"\\\\w+\"},\"behavior\":\"Isolated\"}," BYTES "]}"},
		"unknown split pattern"},
	    {{.pre = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+\"},\"behavior\":"
		     "\"Removed\"}"},
		"only the Split behavior Isolated"},
	    {{.top = ",\"added_tokens\":[{\"id\":\"1\",\"content\":\"x\"}]"},
		"added_tokens[0]: expected"},
	    {{.top = ",\"added_tokens\":[{\"id\":300,\"content\":\"x\"}]"},
		"added_tokens[0]: the id is 300, but tokenizers takes the vocabulary's own or the "
		"next free one, 120"},
	    {{.top = ",\"added_tokens\":{}"}, "added_tokens: expected an array"},
	    {{.config = "{\"vocab_size\":100}"}, "config.json: vocab_size: below"},
	    {{.config = "{\"vocab_size\":16777218}"},
		"config.json: vocab_size: expected a number up to 16777217"},
	    {{.config = "[512]"}, "config.json: expected an object"},
	    {{.tokenizer_config = "[]"}, "tokenizer_config.json: expected an object"},
	    {{.tokenizer_config = "{\"added_tokens_decoder\":[]}"},
		"tokenizer_config.json: added_tokens_decoder: expected an object"},
	    {{.generation_config = "{\"eos_token_id\":[1,\"2\"]}"},
		"eos_token_id: expected token ids"},
	    {{.generation_config = "{\"eos_token_id\":256}"}, "eos_token_id: expected token ids"},
	    {{.config = "{"}, "config.json: "},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		struct bpe *m = open_folder(&rows[i].folder, &e);

		assert_null(m);
		if (!strstr(e.msg, rows[i].message))
			fail_msg("got '%s', want '%s'", e.msg, rows[i].message);
		assert_non_null(strstr(e.msg, dir));
	}
}

static void lists_what_it_knows(void **state)
{
	struct folder f = {
	    .pre = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":\"Isolated\"}"};
	struct err e = {0};

	(void)state;
	f.pre = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
		"\"Regex\":\"x\"},"
		"\"behavior\":\"Isolated\"},{\"type\":\"ByteLevel\",\"use_regex\":false}]}";
	assert_null(open_folder(&f, &e));
	assert_non_null(
	    strstr(e.msg, "'x' (known: gpt2, smollm2, llama3, qwen2, qwen3.5, ling2, o200k, kimi, "
			  "deepseek3)"));
}

/* The language model's, as json/config.h has it. */
static void has_the_size_of_the_embedding(void **state)
{
	static const struct {
		const char *config;
		size_t size;
	} rows[] = {
	    {NULL, 256},
	    {"{}", 256},
	    {"{\"vocab_size\":512}", 512},
	    {"{\"vocab_size\":7,\"text_config\":{\"vocab_size\":512}}", 512},
	    {"{\"vocab_size\":7,\"llm_config\":{\"vocab_size\":512}}", 512},
	    {"{\"language_config\":{\"vocab_size\":512}}", 512},
	    {"{\"vocab_size\":512,\"text_config\":{}}", 512},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct folder f = {.config = rows[i].config};
		struct err e = {0};
		struct bpe *m = open_folder(&f, &e);

		if (!m)
			fail_msg("%s: %s", rows[i].config, e.msg);
		assert_int_equal(bpe_vocab(m), rows[i].size);
		bpe_close(m);
	}
}

static void reads_the_other_files(void **state)
{
	struct folder f = {.top = MORE(""),
	    .config = "{\"vocab_size\":7,\"text_config\":{\"vocab_size\":512}}",
	    .tokenizer_config =
		"{\"eos_token\":{\"content\":\"<e>\"},\"bos_token\":null,\"pad_token\":\"a\"}"};
	struct err e = {0};
	struct bpe *m = open_folder(&f, &e);

	(void)state;
	assert_non_null(m);
	assert_int_equal(bpe_vocab(m), 512);
	assert_int_equal(bpe_eos(m)->n, 1);
	assert_int_equal(bpe_eos(m)->v[0], 256);
	assert_true(span_eq(bpe_named(m, "pad_token"), "a"));
	assert_null(bpe_named(m, "bos_token").p);
	assert_true(bpe_is_special(m, 256));
	assert_null(bpe_token(m, 258).p);
	assert_true(span_eq(bpe_token(m, 256), "<e>"));
	bpe_close(m);

	f.generation_config = "{\"eos_token_id\":[256,65]}";
	f.config = NULL;
	m = open_folder(&f, &e);
	assert_non_null(m);
	assert_int_equal(bpe_vocab(m), 257);
	assert_int_equal(bpe_eos(m)->n, 2);
	assert_int_equal(bpe_eos(m)->v[1], 65);
	bpe_close(m);
}

/* What AutoTokenizer adds to the tokens of tokenizer.json; the ids are those that transformers 5.8
 * and tokenizers 0.22 give. */
static void adds_the_names_of_the_config(void **state)
{
#define D(entries) "{\"added_tokens_decoder\":{" entries "}}"
	static const struct {
		const char *name, *config, *text, *ids; /* NULL: refused, ids is the message */
	} rows[] = {
	    {"the next id", D("\"256\":{\"content\":\"<e>\"},\"257\":{\"content\":\"<f>\"}"),
		"<f><e>", "257@0 256@3"},
	    {"by number", D("\"258\":{\"content\":\"<g>\"},\"257\":{\"content\":\"<f>\"}"),
		"<f><g>", "257@0 258@3"},
	    {"in the vocabulary", D("\"97\":{\"content\":\"a\",\"lstrip\":true}"), "b a",
		"98@0 97@1"},
	    {"the later flags count",
		D("\"256\":{\"content\":\"<e>\",\"lstrip\":true,\"normalized\":true}"), "b <e>",
		"98@0 256@1"},
	    {"special strings",
		"{\"pad_token\":{\"content\":\"<p>\",\"rstrip\":true},"
		"\"eos_token\":\"<e>\",\"bos_token\":\"<b>\"}",
		"<b><p> <e>", "257@0 258@3 256@7"},
	    {"further ones",
		"{\"additional_special_tokens\":[\"<x>\"],\"extra_special_tokens\":{\"k\":\"<y>\"}"
		"}",
		"<y><x>", "258@0 257@3"},
	    {"a number that is not so", D("\"300\":{\"content\":\"<f>\"}"), NULL,
		"tokenizer_config.json: added_tokens_decoder.300: the id is 300, but tokenizers "
		"takes the vocabulary's own or the next free one, 257"},
	    {"no number", D("\"x\":{\"content\":\"<f>\"}"), NULL,
		"tokenizer_config.json: added_tokens_decoder.x: expected an id"},
	    {"no content", D("\"257\":{}"), NULL,
		"tokenizer_config.json: added_tokens_decoder.257: expected an id and an object"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct folder f = {.top = MORE(""), .tokenizer_config = rows[i].config};
		struct err e = {0};
		struct bpe *m = open_folder(&f, &e);

		if (!rows[i].text) {
			assert_null(m);
			if (!strstr(e.msg, rows[i].ids))
				fail_msg("%s: %s", rows[i].name, e.msg);
			continue;
		}
		if (!m)
			fail_msg("%s: %s", rows[i].name, e.msg);
		assert_ids(rows[i].name, m, rows[i].text, rows[i].ids);
		bpe_close(m);
	}
}

static void decodes(void **state)
{
	struct folder f = {.top = MORE("")};
	struct err e = {0};
	struct bpe *m = open_folder(&f, &e);
	struct buf out = {0};

	(void)state;
	assert_non_null(m);
	assert_int_equal(bpe_decode(m, (int32_t[]){195, 169, 256, 0}, 4, &out, &e), 0);
	assert_int_equal(out.len, 6);
	assert_memory_equal(out.data, "é<e>\0", 6);
	assert_int_equal(bpe_decode(m, (int32_t[]){97, 257}, 2, &out, &e), -1);
	assert_string_equal(e.class, "range");
	assert_string_equal(e.msg, "[1]: there is no token 257");
	buf_free(&out);
	bpe_close(m);
}

static void needs_a_vocabulary(void **state)
{
	struct err e = {0};

	(void)state;
	write_text("tokenizer.json", NULL);
	assert_null(bpe_open(dir, &e));
	assert_string_equal(e.class, "missing");
	assert_non_null(strstr(e.msg, "no tiktoken.model and no tokenizer.json"));
	assert_null(bpe_open("/dev/null", &e));
	assert_string_equal(e.msg, "/dev/null: Not a directory");
	assert_null(bpe_open("/nonesuch", &e));
	assert_string_equal(e.msg, "/nonesuch: No such file or directory");
	/* ranks of an unknown model, even beside a tokenizer.json */
	write_text("tiktoken.model", "IQ== 0\n");
	write_text("tokenizer_config.json",
	    "{\"tokenizer_class\":\"TikTokenTokenizer\",\"auto_map\":{"
	    "\"AutoTokenizer\":[\"tokenization_moonlight.X\",null]}}");
	assert_null(bpe_open(dir, &e));
	assert_non_null(strstr(e.msg, "not tokenization_kimi"));
	write_text("tokenizer_config.json",
	    "{\"auto_map\":{\"AutoTokenizer\":[\"x/y--tokenization_kimi.X\",null]}}");
	assert_null(bpe_open(dir, &e));
	assert_non_null(strstr(e.msg, "no token for the byte 0x00"));
	write_text("tiktoken.model", "IQ== 0\nIg= 1\n");
	assert_null(bpe_open(dir, &e));
	assert_non_null(strstr(e.msg, "tiktoken.model:2: not base64"));
	write_text("tiktoken.model", "IQ==\n");
	assert_null(bpe_open(dir, &e));
	assert_non_null(strstr(e.msg, "tiktoken.model:1: expected base64, a space and a rank"));
	write_text("tiktoken.model", NULL);
}

/* The ranks of the 256 bytes, and what tokenizer_config.json may say wrongly of the names. */
static void names_the_file_of_kimis_names(void **state)
{
	static const struct {
		const char *decoder, *message; /* NULL: none */
	} rows[] = {
	    {"null", NULL},
	    {"{\"257\":{\"content\":\"<x>\"}}", NULL},
	    {"{\"257\":{\"content\":7}}", "added_tokens_decoder.257.content: expected a string"},
	    {"[]", "added_tokens_decoder: expected an object"},
	};
	struct buf ranks = {0}, config = {0};

	(void)state;
	for (int i = 0; i < 256; i++) {
		char c = (char)i;

		buf_add_base64(&ranks, &c, 1);
		buf_addf(&ranks, " %d\n", i);
	}
	write_file("tiktoken.model", ranks.data, ranks.len);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		struct bpe *m;

		buf_reset(&config);
		buf_addf(&config,
		    "{\"auto_map\":{\"AutoTokenizer\":\"tokenization_kimi.X\"},"
		    "\"added_tokens_decoder\":%s}",
		    rows[i].decoder);
		write_text("tokenizer_config.json", buf_cstr(&config));
		m = bpe_open(dir, &e);
		assert_int_equal(m != NULL, rows[i].message == NULL);
		bpe_close(m);
		if (m)
			continue;
		assert_non_null(strstr(e.msg, "/tokenizer_config.json: added_tokens_decoder"));
		assert_non_null(strstr(e.msg, rows[i].message));
	}
	write_text("tiktoken.model", NULL);
	buf_free(&ranks);
	buf_free(&config);
}

static void encodes_as_the_real_ones(void **state)
{
	static const struct {
		const char *model, *text, *ids;
	} rows[] = {
	    {"qwen3", "你好世界", "108386@0 99489@6"},
	    {"qwen3", "12345 1", "16@0 17@1 18@2 19@3 20@4 220@5 16@6"},
	    {"qwen3", "don't DON'T can'ts", "15007@0 944@3 44273@5 17323@9 646@11 944@15 82@17"},
	    {"qwen3", "<|im_start|>user\nhi<|im_end|>\n",
		"151644@0 872@12 198@16 6023@17 151645@19 198@29"},
	    {"deepseek-v3", "你好世界", "30594@0 3427@6"},
	    {"deepseek-v3", "12345 1,234.56",
		"6895@0 1883@3 223@5 19@6 14@7 14456@8 16@11 3661@12"},
	    {"deepseek-v3", "don't DON'T can'ts",
		"20385@0 1664@3 74524@5 67322@9 588@11 9@15 1648@16"},
	    {"deepseek-v3", "<｜User｜>hi<｜Assistant｜>", "128803@0 6366@12 128804@14"},
	    /* its post-processor would put a second one before */
	    {"deepseek-v3", "<｜begin▁of▁sentence｜>hi", "0@0 6366@29"},
	    {"gpt-oss", "你好世界", "177519@0 28428@6"},
	    {"gpt-oss", "x = 1;\n\n\n    y\n}\n///doc",
		"87@0 314@1 220@3 16@4 9563@5 271@9 342@12 198@14 739@15 5991@17 10042@20"},
	    {"gpt-oss", "<|start|>user<|message|>hi<|end|>",
		"200006@0 1428@9 200008@13 3686@24 200007@26"},
	};
	const char *shared = getenv("E3_SHARED");

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		char path[4096];
		struct bpe *m;

		snprintf(path, sizeof(path), "%s/models/%s", shared ? shared : "../shared",
		    rows[i].model);
		if (access(path, F_OK) < 0)
			skip("no E3_SHARED/models/%s", rows[i].model);
		m = bpe_open(path, &e);
		assert_non_null(m);
		assert_ids(rows[i].model, m, rows[i].text, rows[i].ids);
		bpe_close(m);
	}
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = {"tokenizer.json", "config.json",
	    "tokenizer_config.json", "generation_config.json", "tiktoken.model"};

	(void)state;
	for (size_t i = 0; i < LEN(names); i++)
		write_file(names[i], NULL, 0);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(encodes_by_the_file),
	    cmocka_unit_test(blanks_take_linear_time),
	    cmocka_unit_test(refuses_by_name),
	    cmocka_unit_test(lists_what_it_knows),
	    cmocka_unit_test(has_the_size_of_the_embedding),
	    cmocka_unit_test(reads_the_other_files),
	    cmocka_unit_test(adds_the_names_of_the_config),
	    cmocka_unit_test(decodes),
	    cmocka_unit_test(needs_a_vocabulary),
	    cmocka_unit_test(names_the_file_of_kimis_names),
	    cmocka_unit_test(encodes_as_the_real_ones),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
