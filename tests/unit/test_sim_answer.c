/* Answers: a fixed function of seed and prompt, real ids, whole text, right ends. */

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "bpe/bpe.h"
#include "sim/answer.h"
#include "unit.h"

#define MODEL "pipelines/demo/model"

static struct bpe *model;
static struct bpe_work *work;
static struct vocab *vocab;
static int32_t think, think_end;

static int setup(void **state)
{
	struct err e = {0};

	(void)state;
	model = bpe_open(MODEL, &e);
	vocab = model ? vocab_open(model, &e) : NULL;
	if (!vocab) {
		print_error("%s\n", e.msg);
		return -1;
	}
	work = bpe_work_open(model);
	think = bpe_special(model, "<think>", 7);
	think_end = bpe_special(model, "</think>", 8);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vocab_close(vocab);
	bpe_work_close(work);
	bpe_close(model);
	return 0;
}

static struct answer_want want_of(uint64_t seed, uint64_t max)
{
	return (struct answer_want){.seed = seed, .median = 40, .max = max};
}

static struct ints prompt_of(int32_t a, int32_t b, int32_t c)
{
	struct ints p = {0};

	ints_push(&p, a);
	ints_push(&p, b);
	ints_push(&p, c);
	return p;
}

static void same_prompt_same_answer(void **state)
{
	struct ints p = prompt_of(300, 301, 302), q = prompt_of(300, 301, 303);
	struct ints a = {0}, b = {0}, c = {0}, d = {0};
	struct answer_want w = want_of(0, 5000), other = want_of(1, 5000);

	(void)state;
	answer_make(vocab, &w, &p, &a);
	answer_make(vocab, &w, &p, &b);
	answer_make(vocab, &w, &q, &c);
	answer_make(vocab, &other, &p, &d);
	assert_true(ints_eq(&a, b.v, b.n));
	assert_false(ints_eq(&a, c.v, c.n));
	assert_false(ints_eq(&a, d.v, d.n));
	ints_free(&p), ints_free(&q);
	ints_free(&a), ints_free(&b), ints_free(&c), ints_free(&d);
}

/* Over many prompts: every id has bytes, the text is UTF-8, the stop id stands at the end and only
 * there, and most answers are what the encoder would have chosen. */
static void ids_and_text(void **state)
{
	int canonical = 0, stopped = 0;

	(void)state;
	for (int32_t k = 0; k < 400; k++) {
		struct ints p = prompt_of(k, 17, 4), a = {0}, again = {0};
		struct answer_want w = want_of(7, 200);
		struct buf text = {0};
		struct err e = {0};
		int stop = answer_make(vocab, &w, &p, &a);
		size_t n = a.n - (stop ? 1 : 0);

		assert_in_range(a.n, 1, 200);
		stopped += stop;
		if (stop)
			assert_int_equal(a.v[n], answer_stop_id(vocab));
		else
			assert_int_equal(a.n, 200);
		for (size_t i = 0; i < n; i++)
			assert_false(bpe_is_special(model, a.v[i]));
		assert_int_equal(bpe_decode(model, a.v, n, &text, &e), 0);
		assert_int_equal(utf8_valid(text.data, text.len), text.len);
		assert_int_equal(bpe_encode(model, work, (struct bpe_text){text.data, text.len, 0},
				     &again, NULL, &e),
		    0);
		canonical += ints_eq(&again, a.v, n);
		ints_free(&p), ints_free(&a), ints_free(&again);
		buf_free(&text);
	}
	assert_in_range(canonical, 320, 390); /* 7 of 8, and some of the eighth */
	assert_in_range(stopped, 280, 399);
}

static void limits(void **state)
{
	static const struct {
		const char *name;
		uint64_t max, min;
		int ignore;
		size_t from, to;
		int stops;
	} rows[] = {
	    {"one token", 1, 0, 0, 1, 1, 0},
	    {"at least", 5000, 1000, 0, 1001, 1001, 1},
	    {"to the end", 300, 0, 1, 300, 300, 0},
	    {"to the end, at least", 300, 299, 1, 300, 300, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++)
		for (int thinks = 0; thinks < 2; thinks++) {
			struct ints p = prompt_of(1, 2, thinks ? think : 3), a = {0};
			struct answer_want w = want_of(0, rows[i].max);

			w.min = rows[i].min;
			w.ignore_stop = rows[i].ignore;
			if (answer_make(vocab, &w, &p, &a) != rows[i].stops || a.n < rows[i].from ||
			    a.n > rows[i].to)
				fail_msg("%s: %zu ids", rows[i].name, a.n);
			ints_free(&p), ints_free(&a);
		}
}

static void reasoning(void **state)
{
	(void)state;
	for (int32_t k = 0; k < 100; k++) {
		struct ints open = prompt_of(k, 5, think), closed = prompt_of(k, think, think_end);
		struct ints a = {0}, b = {0};
		struct answer_want w = want_of(0, 5000), cut = want_of(0, 1);
		size_t end;

		answer_make(vocab, &w, &open, &a);
		end = answer_think_end(vocab, &open, &a);
		assert_in_range(end, 1, a.n - 1);
		assert_int_equal(a.v[end - 1], think_end);
		for (size_t i = 0; i < a.n; i++)
			assert_true((a.v[i] == think_end) == (i == end - 1));
		assert_int_equal(answer_make(vocab, &w, &closed, &b), 1);
		assert_int_equal(answer_think_end(vocab, &closed, &b), 0);
		a.n = b.n = 0;
		answer_make(vocab, &cut, &open, &a);
		assert_true(a.v[0] == think_end || answer_think_end(vocab, &open, &a) == 2);
		ints_free(&open), ints_free(&closed), ints_free(&a), ints_free(&b);
	}
}

static void calls(void **state)
{
	static const char *const forms[] = {
	    "<|im_system|>tool_declare<|im_middle|># Tools\n\n## functions\nnamespace functions {\n"
	    "type add = (_: {}) => any;\n}\n<|im_end|>",
	    "<|im_system|>tool_declare<|im_middle|>[{\"function\":{\"name\":\"add\"}}]<|im_end|>",
	};

	(void)state;
	for (size_t i = 0; i < LEN(forms); i++) {
		struct ints p = {0}, a = {0};
		struct answer_want w = want_of(0, 5000);
		struct buf text = {0};
		struct err e = {0};

		bpe_encode(
		    model, work, (struct bpe_text){forms[i], strlen(forms[i]), 0}, &p, NULL, &e);
		w.call_rate = 1;
		assert_int_equal(answer_make(vocab, &w, &p, &a), 1);
		bpe_decode(model, a.v, a.n, &text, &e);
		assert_non_null(strstr(buf_cstr(&text), "<|tool_call_begin|>functions.add:0"
							"<|tool_call_argument_begin|>{\"value\":"));
		assert_non_null(
		    strstr(text.data, "}<|tool_call_end|><|tool_calls_section_end|><|im_end|>"));
		a.n = 0;
		w.call_rate = 0;
		answer_make(vocab, &w, &p, &a);
		for (size_t k = 0; k < a.n; k++)
			assert_int_not_equal(a.v[k], answer_call_begin(vocab));
		ints_free(&p), ints_free(&a);
		buf_free(&text);
	}
}

/* Faults of an answer, after a prompt that opens the reasoning and after one that does not. */
static void faults(void **state)
{
	(void)state;
	for (int thinks = 0; thinks < 2; thinks++) {
		struct ints p = prompt_of(1, 2, thinks ? think : 3), a = {0};
		struct answer_want w = want_of(0, 300);

		w.blank = 1;
		assert_int_equal(answer_make(vocab, &w, &p, &a), 1);
		assert_int_equal(a.n, thinks ? 2 : 1);
		assert_int_equal(a.v[0], thinks ? think_end : answer_stop_id(vocab));
		a.n = 0;
		w = want_of(0, 5000);
		w.think_only = 1;
		assert_int_equal(answer_make(vocab, &w, &p, &a), 1);
		assert_int_equal(answer_think_end(vocab, &p, &a), thinks ? a.n + 1 : 0);
		a.n = 0;
		w = want_of(0, 300);
		w.repeat = w.ignore_stop = 1;
		assert_int_equal(answer_make(vocab, &w, &p, &a), 0);
		assert_int_equal(a.n, 300);
		for (size_t i = answer_think_end(vocab, &p, &a); i < a.n; i++)
			assert_int_equal(a.v[i], a.v[a.n - 1]);
		ints_free(&p), ints_free(&a);
	}
}

static void add_text(struct ints *out, const char *text)
{
	struct err e = {0};

	bpe_encode(model, work, (struct bpe_text){text, strlen(text), 0}, out, NULL, &e);
}

/* A call's number goes on from those of the prompt; without a declaration there is none. */
static void calls_count_on(void **state)
{
	static const char call[] =
	    "<|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{}"
	    "<|tool_call_end|>";
	static const struct {
		const char *declared;
		int bad;
		const char *want; /* NULL: no call */
	} rows[] = {
	    {"<|im_system|>tool_declare<|im_middle|>[{\"name\": \"add\"}]<|im_end|>", 0,
		"functions.add:2<|tool_call_argument_begin|>{\"value\":"},
	    {"<|im_system|>tool_declare<|im_middle|>[{\"name\": \"add\"}]<|im_end|>", 1,
		"}{\"<|tool_call_end|>"},
	    {"<|im_system|>tool_declare<|im_middle|>[]<|im_end|>", 0, NULL},
	    {"", 1, NULL},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct ints p = {0}, a = {0};
		struct answer_want w = want_of(0, 5000);
		struct buf text = {0};
		struct err e = {0};

		add_text(&p, rows[i].declared);
		add_text(&p, call);
		add_text(&p, call);
		w.call_rate = 1;
		w.bad_call = rows[i].bad;
		assert_int_equal(answer_make(vocab, &w, &p, &a), 1);
		bpe_decode(model, a.v, a.n, &text, &e);
		if (rows[i].want)
			assert_non_null(strstr(buf_cstr(&text), rows[i].want));
		else
			assert_null(strstr(buf_cstr(&text), "<|tool_call"));
		ints_free(&p), ints_free(&a);
		buf_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_prompt_same_answer),
	    cmocka_unit_test(ids_and_text),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(reasoning),
	    cmocka_unit_test(calls),
	    cmocka_unit_test(faults),
	    cmocka_unit_test(calls_count_on),
	};

	return cmocka_run_group_tests_name("sim_answer", tests, setup, teardown);
}
