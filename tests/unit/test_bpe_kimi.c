/* Kimi's tokenizer on its real files: ids as tiktoken gives them. */

#include <stdio.h>

#include <unistd.h>

#include "base/err.h"
#include "bpe/bpe.h"
#include "unit.h"

static struct bpe *model;
static struct bpe_work *work;

static int setup(void **state)
{
	const char *shared = getenv("E3_SHARED");
	struct err e = {0};
	char dir[4096];

	(void)state;
	snprintf(dir, sizeof(dir), "%s/models/kimi-k2.5", shared ? shared : "../shared");
	if (access(dir, F_OK) < 0)
		return 0;
	model = bpe_open(dir, &e);
	if (!model) {
		print_error("%s\n", e.msg);
		return -1;
	}
	work = bpe_work_open(model);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bpe_work_close(work);
	bpe_close(model);
	return 0;
}

struct example {
	const char *text;
	unsigned flags;
	const char *ids; /* with a blank before each */
};

/* Single tokens' texts, with bars between the pieces of a split, are in the comments where they
 * say why. */
static const struct example examples[] = {
    {"", 0, ""}, {"Hello world", 0, " 19180 2695"}, {"你好世界", 0, " 33845 2243"},
    {"1234567890", 0, " 6694 12972 16242 15"}, {"HelloWorld", 0, " 19180 14350"},
    {" CAN'T", 0, " 32330 64833"}, {"can'ts", 0, " 58809 82"}, {"don\u2019t", 0, " 22676 1639"},
    {"a'\u017f", 0, " 64 6 129 123"}, /* the long s is an s */
    {"12345 1,234.56", 0, " 6694 2899 220 16 11 18697 13 6794"},
    {"DON'T 'RE 'Ll", 0, " 35 1034 64833 542 1046 542 137342"},
    {"HTTPResponse camelCase XMLHttpRequest", 0, " 17819 4323 73974 8081 160457 3188"},
    {"x = {'a': 1}\n\n\n    return x", 0, " 87 327 12398 64 2764 220 16 8389 274 745 1288"},
    {"a \n b", 0, " 64 1420 291"}, {"\r\n\r\n  \t x", 0, " 2298 72300 1288"},
    {"    def f(self):\n        pass\n", 0, " 274 1213 285 2929 2360 337 2710 198"},
    {"\xc2\x85\xc2\x85"
     "a",
	0, " 126 227 126 227 64"},
    {"नमस्ते दुनिया", 0, " 11334 14915 72819 7614 31019 108729 109111"},
    {"a\u200bb", 0, " 64 19400 65"}, {"½¾²", 0, " 45953 112649 39530"},
    {"<|im_end|>", 0, " 163586"}, {"<|im_end|>", BPE_NO_SPECIAL, " 27 91 348 11129 91 29"},
    {"<|media_start|>", 0, " 27 91 13634 9485 91 29"},
    {"## Return of functions.f:0\nok", 0, " 798 6014 318 8271 1654 25 15 198 687"},
    {"a  <|im_end|>  b", 0, " 64 256 163586 220 291"},
    {"a  <|im_end|>  b", BPE_NO_SPECIAL, " 64 220 22652 348 11129 91 29 220 291"},
    {"a\ufffd"
     "b",
	0, " 64 9618 65"},
    {"中文模型", 0, " 16717 15662"}, {" 中文", 0, " 220 16717"}, {"\t中文", 0, " 197 16717"},
    {"中English文", 0, " 435 44372 908"}, {"ABC中文", 0, " 55335 16717"}, {"中's", 0, " 435 1048"},
    {"中文123", 0, " 16717 6694"}, {"中，文！", 0, " 435 378 908 856"},
    {"日本語のテキスト漢字かな", 0, " 4546 63011 4663 25875 32045 33360 1435 95 1855 15593 11839"},
    {"1〇2", 0, " 16 91894 17"}, {"〇〇", 0, " 91894 91894"},
    {"1〇〇〇〇", 0, " 16 91894 91894 91894 91894"}, {"〇1", 0, " 91894 16"},
    {"\u2f00\u2f01\u2f02", 0, " 158 120 222 158 120 223 158 120 224"},
    {"!\u2f00x", 0, " 0 158 120 222 87"},
    {"a\u2f00"
     "b",
	0, " 64 158 120 222 65"},
    {"々中", 0, " 106101 435"}, {"〆切", 0, " 272 228 2053"},
    {"𠀀𠀁", 0, " 172 254 222 222 172 254 222 223"},
    {"中\U00016ff0文", 0, " 435 172 244 123 108 908"}, {".\n//x", 0, " 341 408 87"},
    {"!\n/\n/x", 0, " 1698 6591 12387"}, {"x/\n", 0, " 87 6591"},
    {"}\n///doc", 0, " 896 5101 10393"}, {"path/to/file", 0, " 4953 49520 34947"},
    {"中\r\n文", 0, " 435 462 908"}, {"中 文", 0, " 435 220 908"}, {"。\n中", 0, " 10155 435"},
    {"<|reserved_token_163592|>", 0, " 163592"}, /* an id that no file names */
    {"<think></think>", 0, " 163606 163607"},	 /* special: false, parsed all the same */
};

static void print_ids(struct buf *to, const struct ints *ids)
{
	buf_reset(to);
	for (size_t i = 0; i < ids->n; i++)
		buf_addf(to, " %d", (int)ids->v[i]);
}

static void encodes_examples(void **state)
{
	struct ints ids = {0};
	struct buf got = {0}, back = {0};
	struct err e = {0};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *x = &examples[i];
		struct bpe_text t = {x->text, strlen(x->text), x->flags};

		ints_reset(&ids);
		buf_reset(&back);
		assert_int_equal(bpe_encode(model, work, t, &ids, NULL, &e), 0);
		print_ids(&got, &ids);
		assert_string_equal(buf_cstr(&got), x->ids);
		assert_int_equal(bpe_decode(model, ids.v, ids.n, &back, &e), 0);
		assert_string_equal(buf_cstr(&back), x->text);
	}
	ints_free(&ids);
	buf_free(&got);
	buf_free(&back);
}

static void knows_the_folder(void **state)
{
	struct span s;

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	assert_string_equal(bpe_family(model), "kimi");
	assert_int_equal(bpe_vocab(model), 163840);
	assert_int_equal(bpe_eos(model)->n, 1);
	assert_int_equal(bpe_eos(model)->v[0], 163586); /* not the tokenizer's [EOS] */
	assert_true(span_eq(bpe_named(model, "eos_token"), "[EOS]"));
	assert_null(bpe_named(model, "nothing").p);
	assert_int_equal(bpe_special(model, "<|im_end|>", 10), 163586);
	assert_int_equal(bpe_special(model, "<|im_end|>x", 11), -1);
	assert_int_equal(bpe_special(model, "<|im_end|", 9), -1);
	assert_true(bpe_is_special(model, 163839));
	assert_false(bpe_is_special(model, 163583));
	assert_false(bpe_is_special(model, 163840));
	s = bpe_token(model, 19180);
	assert_true(span_eq(s, "Hello"));
	assert_null(bpe_token(model, 163840).p);
	assert_null(bpe_token(model, -1).p);
	assert_int_equal(bpe_count_special(model, "a[BOS]<|im_end|><|im_end|", 25), 2);
}

static void tells_where_tokens_start(void **state)
{
	static const struct {
		const char *text;
		unsigned flags;
		const char *starts;
	} table[] = {
	    {"Hello world<|im_end|> 中", 0, " 0 5 11 21 22"},
	    {"\xff\xe4\xb8 中文", BPE_REPLACE, " 0 3 4"},
	    {"🙂", 0, NULL},
	};
	struct ints ids = {0}, starts = {0};
	struct buf got = {0};
	struct err e = {0};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct bpe_text t = {table[i].text, strlen(table[i].text), table[i].flags};

		ints_reset(&ids);
		ints_reset(&starts);
		assert_int_equal(bpe_encode(model, work, t, &ids, &starts, &e), 0);
		assert_int_equal(ids.n, starts.n);
		print_ids(&got, &starts);
		if (table[i].starts)
			assert_string_equal(buf_cstr(&got), table[i].starts);
	}
	ints_free(&ids);
	ints_free(&starts);
	buf_free(&got);
}

static void refuses_bad_utf8(void **state)
{
	struct ints ids = {0};
	struct err e = {0};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	assert_int_equal(
	    bpe_encode(model, work, (struct bpe_text){"ab\xed\xa0\x80", 5, 0}, &ids, NULL, &e), -1);
	assert_string_equal(e.class, "utf8");
	assert_string_equal(e.msg, "not UTF-8 at byte 3");
	assert_int_equal(ids.n, 0);
	assert_int_equal(bpe_encode(model, work, (struct bpe_text){"a\xf0\x9f\x99", 4, BPE_REPLACE},
			     &ids, NULL, &e),
	    0);
	assert_int_equal(ids.n, 2); /* one U+FFFD for the whole torn character */
	assert_int_equal(ids.v[1], 9618);
	ints_free(&ids);
}

static size_t encode_repeated(const char *what, size_t times, unsigned flags, struct ints *ids)
{
	struct buf text = {0};
	struct err e = {0};

	for (size_t i = 0; i < times; i++)
		buf_adds(&text, what);
	ints_reset(ids);
	assert_int_equal(
	    bpe_encode(model, work, (struct bpe_text){text.data, text.len, flags}, ids, NULL, &e),
	    0);
	buf_free(&text);
	return ids->n;
}

static void cuts_as_the_wrapper_does(void **state)
{
	struct ints ids = {0};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	assert_int_equal(encode_repeated("7", 25003, 0, &ids), 8335);
	assert_true(ints_eq(&(struct ints){ids.v + 8332, 3, 0}, (int32_t[]){28193, 28193, 22}, 3));
	assert_int_equal(encode_repeated("7", 25003, BPE_HF_COMPAT, &ids), 8335);
	assert_true(ints_eq(&(struct ints){ids.v + 8332, 3, 0}, (int32_t[]){28193, 22, 28193}, 3));
	assert_int_equal(encode_repeated("a ", 200001, 0, &ids), 200002);
	assert_int_equal(encode_repeated("a ", 200001, BPE_HF_COMPAT, &ids), 200003);
	assert_true(
	    ints_eq(&(struct ints){ids.v + 199999, 4, 0}, (int32_t[]){261, 220, 64, 220}, 4));
	ints_free(&ids);
}

/* The wrapper's cuts count from one name of added_tokens_decoder to the next, over reserved ones.
 */
static void cuts_each_stretch_for_itself(void **state)
{
	static const struct {
		const char *name;
		unsigned flags;
		size_t ids;
	} rows[] = {
	    {"<|im_end|>", 0, 2 * 6667 + 1},
	    {"<|im_end|>", BPE_HF_COMPAT, 2 * 6667 + 1},
	    {"<|reserved_token_163592|>", 0, 2 * 6667 + 1},
	    /* 20,000 + 25 + 4975 characters, and the rest */
	    {"<|reserved_token_163592|>", BPE_HF_COMPAT, 6667 + 1 + 1659 + 5009},
	    {"", 0, 13334},
	    {"", BPE_HF_COMPAT, 8334 + 5000},
	    /* names that are text are no borders: 20,000 + 10 + 4990, and the rest */
	    {"<|im_end|>", BPE_NO_SPECIAL, 2 * 6667 + 6},
	    {"<|im_end|>", BPE_NO_SPECIAL | BPE_HF_COMPAT, 6667 + 6 + 1664 + 5004},
	};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	for (size_t i = 0; i < LEN(rows); i++) {
		struct buf sevens = {0}, text = {0};
		struct ints ids = {0}, starts = {0};
		struct err e = {0};

		for (size_t k = 0; k < 20000; k++)
			buf_addc(&sevens, '7');
		buf_addf(&text, "%s%s%s", buf_cstr(&sevens), rows[i].name, buf_cstr(&sevens));
		assert_int_equal(
		    bpe_encode(model, work, (struct bpe_text){text.data, text.len, rows[i].flags},
			&ids, &starts, &e),
		    0);
		if (ids.n != rows[i].ids)
			fail_msg("row %zu: %zu ids, want %zu", i, ids.n, rows[i].ids);
		for (size_t k = 0; k + 1 < starts.n; k++)
			assert_true(starts.v[k] < starts.v[k + 1]);
		buf_free(&sevens);
		buf_free(&text);
		ints_free(&ids);
		ints_free(&starts);
	}
}

static void long_pieces_take_linear_time(void **state)
{
	struct ints ids = {0};

	(void)state;
	if (!model)
		skip("no E3_SHARED/models/kimi-k2.5");
	assert_true(encode_repeated("a", 1000000, 0, &ids) > 0);
	assert_true(encode_repeated(" ", 1000000, 0, &ids) > 0);
	assert_true(encode_repeated("中", 300000, 0, &ids) > 0);
	ints_free(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(encodes_examples),
	    cmocka_unit_test(knows_the_folder),
	    cmocka_unit_test(tells_where_tokens_start),
	    cmocka_unit_test(refuses_bad_utf8),
	    cmocka_unit_test(cuts_as_the_wrapper_does),
	    cmocka_unit_test(cuts_each_stretch_for_itself),
	    cmocka_unit_test(long_pieces_take_linear_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
