/* Kimi K2.5 on its real folder: renderings and ids that were checked with Jinja2 and tiktoken. */
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/impl.h"
#include "json/rec.h"

static struct chat *kimi, *k26;
static struct chat_work *work, *work26;

static struct chat *open_with(const char *template)
{
	const char *shared = getenv("E3_SHARED");
	char dir[4096], file[4096];
	struct chat_opt opt = {.model = dir};
	struct err e;
	struct chat *c;

	snprintf(dir, sizeof(dir), "%s/models/kimi-k2.5", shared ? shared : "../shared");
	snprintf(file, sizeof(file), "%s/templates/%s", shared ? shared : "../shared",
	    template ? template : "");
	if (access(dir, F_OK) < 0 || access(file, F_OK) < 0)
		return NULL;
	opt.template = template ? file : NULL;
	c = chat_open(&opt, &e);
	if (!c)
		fail_msg("%s", e.msg);
	return c;
}

static int setup(void **state)
{
	(void)state;
	kimi = open_with(NULL);
	k26 = open_with("moonshotai-Kimi-K2.6.jinja");
	work = kimi ? chat_work_open(kimi) : NULL;
	work26 = k26 ? chat_work_open(k26) : NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	chat_work_close(work);
	chat_work_close(work26);
	chat_close(kimi);
	chat_close(k26);
	return 0;
}

static void read_conv(struct chat_conv *conv, const char *text, struct arena *a)
{
	struct rec r = {0};
	struct err e;

	if (rec_parse(&r, text, strlen(text), &e) < 0 || chat_read(conv, &r, a, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	rec_free(&r);
}

#define M(m)	"{\"messages\":[" m "]}"
#define U(c)	"{\"role\":\"user\",\"content\":\"" c "\"}"
#define A(r, c) "{\"role\":\"assistant\",\"reasoning_content\":\"" r "\",\"content\":\"" c "\"}"
#define GEN	"<|im_assistant|>assistant<|im_middle|>"
#define UT(c)	"<|im_user|>user<|im_middle|>" c "<|im_end|>"
#define CALLED(args)                                                   \
	"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0" \
	"<|tool_call_argument_begin|>" args "<|tool_call_end|><|tool_calls_section_end|>"
#define CALL(args)                                                                       \
	"\"tool_calls\":[{\"id\":\"functions.f:0\",\"type\":\"function\",\"function\":{" \
	"\"name\":\"f\",\"arguments\":" args "}}]"

/* Prompts: the rendering of all messages with the generation prompt. */
static const struct {
	const char *in, *want;
	int k26;
} prompts[] = {
    {M(""), GEN "<think>", 0},
    {M("{\"role\":\"user\",\"name\":\"bob\",\"content\":\"hi\"}"),
	"<|im_user|>bob<|im_middle|>hi<|im_end|>" GEN "<think>", 0},
    {M("{\"role\":\"developer\",\"content\":\"D\"}"),
	"<|im_system|>developer<|im_middle|>D<|im_end|>" GEN "<think>", 0},
    {M("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":"
       "\"image\"},{\"type\":\"video\"},{\"type\":\"text\",\"text\":\"end\"}]}"),
	UT("look<|media_begin|>image<|media_content|><|media_pad|><|media_end|>\n"
	   "<|kimi_k25_video_placeholder|>\nend") GEN "<think>",
	0},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":\"R\","
	      "\"tool_calls\":[]}"),
	UT("q") GEN "<think></think>a<|im_end|>" GEN "<think>", 0},
    /* null reasoning is none: the bare template would print None */
    {M(U("q") ",{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":null," CALL(
	 "\"{}\"") "}"),
	UT("q") GEN "<think></think>" CALLED("{}") "<|im_end|>" GEN "<think>", 0},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":\"\"," CALL(
	 "{\"x\":1.0,\"y\":\"\xc3\xa9\"}") "}"),
	UT("q") GEN "<think></think>" CALLED("{\"x\": 1.0, \"y\": \"\xc3\xa9\"}") "<|im_end|>" GEN
										  "<think>",
	0},
    {M("{\"role\":\"tool\",\"content\":\"no id\"}"),
	"<|im_system|>tool<|im_middle|>## Return of \nno id<|im_end|>" GEN "<think>", 0},
    {M("{\"role\":\"tool\",\"tool_call_id\":\"no id\",\"content\":\"x\"}"),
	"<|im_system|>tool<|im_middle|>## Return of no id\nx<|im_end|>" GEN "<think>", 0},
    {M(U("q1") "," A("r1", "a1") "," U("q2") ",{\"role\":\"assistant\",\"content\":\"\","
					     "\"reasoning_content\":\"r2\"," CALL("\"{}\"") "}"),
	UT("q1") GEN "<think></think>a1<|im_end|>" UT("q2") GEN
	"<think>r2</think>" CALLED("{}") "<|im_end|>" GEN "<think>",
	0},
    {"{\"chat_template_kwargs\":{\"thinking\":false},\"messages\":[" U("q") "]}",
	UT("q") GEN "<think></think>", 0},
    {"{\"chat_template_kwargs\":{\"preserve_thinking\":true},\"messages\":[" U("q1") "," A(
	 "r1", "a1") "," U("q2") "]}",
	UT("q1") GEN "<think>r1</think>a1<|im_end|>" UT("q2") GEN "<think>", 1},
    {"{\"messages\":[" U("q") "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}"
			      "}]}",
	"<|im_system|>tool_declare<|im_middle|># Tools\n\n## functions\nnamespace functions {\n"
	"type f = (_: {}) => any;\n}\n<|im_end|>" UT("q") GEN "<think>",
	0},
    /* what TypeScript can't say is JSON, with sorted keys and no blanks */
    {"{\"messages\":[" U("q") "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
			      "\"parameters\":{\"properties\":{\"b\":{\"oneOf\":[]},\"a\":1}}}}]}",
	"<|im_system|>tool_declare<|im_middle|>[{\"function\":{\"name\":\"f\",\"parameters\":{"
	"\"properties\":{\"a\":1,\"b\":{\"oneOf\":[]}}}},\"type\":\"function\"}]<|im_end|>" UT("q")
	    GEN "<think>",
	0},
};

static void renders_prompts(void **state)
{
	(void)state;
	if (!kimi || !k26)
		skip("no E3_SHARED/models/kimi-k2.5, or no templates beside it");
	for (size_t i = 0; i < LEN(prompts); i++) {
		struct arena a = {0};
		struct buf text = {0}, back = {0};
		struct ints ids = {0};
		struct chat_conv conv;
		struct err e;
		const struct chat *c = prompts[i].k26 ? k26 : kimi;

		read_conv(&conv, prompts[i].in, &a);
		if (chat_prompt(c, prompts[i].k26 ? work26 : work, &conv, conv.n, &ids, &text, &e))
			fail_msg("%s: %s", prompts[i].in, e.msg);
		assert_bytes(prompts[i].in, text.data, text.len, prompts[i].want);
		assert_int_equal(bpe_decode(chat_bpe(c), ids.v, ids.n, &back, &e), 0);
		assert_bytes("ids", back.data, back.len, prompts[i].want);
		buf_free(&text);
		buf_free(&back);
		ints_free(&ids);
		arena_free(&a);
	}
}

/* Two thinking turns: history loses its reasoning, so they are two records. */
static void masks_turns(void **state)
{
	static const int32_t p1[] = {163587, 2482, 163601, 5376, 387, 220, 17, 10, 17, 30, 163586,
	    163588, 69702, 163601, 163606};
	static const int32_t t1[] = {17499, 5547, 13, 163607, 19, 163586};
	static const int32_t p2[] = {163587, 2482, 163601, 5376, 387, 220, 17, 10, 17, 30, 163586,
	    163588, 69702, 163601, 163606, 163607, 19, 163586, 163587, 2482, 163601, 3951, 220, 18,
	    10, 18, 30, 163586, 163588, 69702, 163601, 163606};
	static const int32_t t2[] = {43604, 13, 163607, 21, 163586};
	const struct chat_turns_opt opt = {0};
	struct arena a = {0};
	struct chat_conv conv;
	struct chat_turns t;
	struct err e;

	(void)state;
	if (!kimi)
		skip("no E3_SHARED/models/kimi-k2.5, or no templates beside it");
	read_conv(&conv,
	    M(U("What is 2+2?") "," A("Simple sum.", "4") "," U("And 3+3?") "," A("Again.", "6")),
	    &a);
	if (chat_turns(kimi, work, &conv, &opt, &a, &t, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.seq[0].n, LEN(p1) + LEN(t1));
	assert_memory_equal(t.seq[0].ids, p1, sizeof(p1));
	assert_memory_equal(t.seq[0].ids + LEN(p1), t1, sizeof(t1));
	assert_int_equal(t.seq[0].n_response, LEN(t1));
	assert_int_equal(t.seq[0].mask[LEN(p1) - 1], 0);
	assert_int_equal(t.seq[0].mask[LEN(p1)], 1);
	assert_int_equal(t.seq[1].n, LEN(p2) + LEN(t2));
	assert_memory_equal(t.seq[1].ids, p2, sizeof(p2));
	assert_memory_equal(t.seq[1].ids + LEN(p2), t2, sizeof(t2));
	assert_int_equal(t.seq[1].turn, 2);
	arena_free(&a);
}

#define CUT "],\"generations\":[{\"message\":1,\"finish_reason\":\"length\"}]}"

/* What is supervised, as text. */
static const struct {
	const char *in, *want; /* one answer behind the other; or the class of the error */
} targets[] = {
    {M(U("q") "," A("R", "c")), "R</think>c<|im_end|>"},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":\"c\"}"), "</think>c<|im_end|>"},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":null," CALL("\"{ }\"") "}"),
	"</think>" CALLED("{ }") "<|im_end|>"},
    {"{\"chat_template_kwargs\":{\"thinking\":false},\"messages\":[" U("q") "," A("R", "c") "]}",
	"c<|im_end|>"},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"call_1\","
	      "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}"),
	"lost"},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":[{\"type\":\"image\"}]}"), "unfaithful"},
    {M(U("q") ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	      "{\"type\":\"text\",\"text\":\"b\"}]}"),
	"</think>ab<|im_end|>"},
    {"{\"messages\":[" U("q") "," A("R", "") CUT, "R"},
    {"{\"messages\":[" U("q") "," A("R", "c") CUT, "R</think>c"},
    /* calls keep their reasoning in history: one record */
    {M(U("q") ",{\"role\":\"assistant\",\"reasoning_content\":\"R\"," CALL(
	 "\"{}\"") "},{\"role\":"
		   "\"tool\",\"tool_call_id\":\"functions.f:0\",\"content\":\"o\"}," A("S", "c")),
	"R</think>" CALLED("{}") "<|im_end|>"
				 "S</think>c<|im_end|>"},
};

static void learns_what_the_model_wrote(void **state)
{
	const struct chat_turns_opt opt = {0};

	(void)state;
	if (!kimi)
		skip("no E3_SHARED/models/kimi-k2.5, or no templates beside it");
	for (size_t i = 0; i < LEN(targets); i++) {
		struct arena a = {0};
		struct chat_conv conv;
		struct chat_turns t;
		struct buf text = {0};
		struct err e = {0};

		read_conv(&conv, targets[i].in, &a);
		if (chat_turns(kimi, work, &conv, &opt, &a, &t, &e) < 0) {
			if (strcmp(e.class, targets[i].want) != 0)
				fail_msg("%s: %s", targets[i].in, e.msg);
			arena_free(&a);
			continue;
		}
		for (size_t s = 0; s < t.n; s++)
			for (size_t k = 0; k < t.seq[s].n; k++)
				if (t.seq[s].mask[k])
					bpe_decode(chat_bpe(kimi), &t.seq[s].ids[k], 1, &text, &e);
		assert_bytes(targets[i].in, text.data, text.len, targets[i].want);
		buf_free(&text);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(renders_prompts),
	    cmocka_unit_test(masks_turns),
	    cmocka_unit_test(learns_what_the_model_wrote),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
