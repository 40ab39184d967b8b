/* DeepSeek V3.2's layout, over bytes and its marks: prompts, turns, refusals and answers. The
 * encoder itself is asked in tests/oracle/deepseek.sh. */
#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "folder.h"
#include "json/rec.h"

static const char *const names[] = {"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>",
    "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>", "｜DSML｜", NULL};

#define BOS  "<｜begin▁of▁sentence｜>"
#define END  "<｜end▁of▁sentence｜>"
#define USER "<｜User｜>"
#define ASKS "<｜Assistant｜>"

#define S(c)	    "{\"role\":\"system\",\"content\":\"" c "\"}"
#define U(c)	    "{\"role\":\"user\",\"content\":\"" c "\"}"
#define D(m)	    "{\"role\":\"developer\"," m "}"
#define A(c)	    "{\"role\":\"assistant\",\"content\":\"" c "\"}"
#define R(r, c)	    "{\"role\":\"assistant\",\"reasoning_content\":\"" r "\",\"content\":\"" c "\"}"
#define T(c)	    "{\"role\":\"tool\",\"content\":\"" c "\"}"
#define F(args)	    "{\"function\":{\"name\":\"f\",\"arguments\":" args "}}"
#define C(m, calls) "{\"role\":\"assistant\"," m "\"content\":\"\",\"tool_calls\":[" calls "]}"
#define M(m)	    "{\"messages\":[" m "]}"
#define ON(m)	    "{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" m "]}"
#define TOOLS	    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"
#define TOOL(n)	    "{\"type\": \"function\", \"function\": {\"name\": \"" n "\"}}"
#define CALLS(some) "\n\n<｜DSML｜function_calls>\n" some "</｜DSML｜function_calls>"
#define CALL(args)  "<｜DSML｜invoke name=\"f\">\n" args "\n</｜DSML｜invoke>\n"
#define STR(k, v)   "<｜DSML｜parameter name=\"" k "\" string=\"true\">" v "</｜DSML｜parameter>"
#define VAL(k, v)   "<｜DSML｜parameter name=\"" k "\" string=\"false\">" v "</｜DSML｜parameter>"

/* The text for tools, which is long, is shortened to what stands between these. */
#define TOOLS_BEGIN "## Tools\n"
#define TOOLS_END   "<functions>\n"

static struct chat *open_served(enum chat_served by)
{
	struct chat_opt opt = {.model = tmp_dir, .served_by = by};
	struct err e = {0};
	struct chat *c;

	folder_make(names, NULL);
	tmp_puts(tmp_path("config.json"), "{\"model_type\":\"deepseek_v32\"}");
	c = chat_open(&opt, &e);
	if (!c)
		fail_msg("%s", e.msg);
	return c;
}

static void read_conv(struct chat_conv *conv, const char *text, struct arena *a)
{
	struct rec r = {0};
	struct err e;

	if (rec_parse(&r, text, strlen(text), &e) < 0 || chat_read(conv, &r, a, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	rec_free(&r);
}

/* want: the prompt, or the end of an error's message. */
static const struct {
	const char *name, *in, *want;
	enum chat_served by;
} prompts[] = {
    {"nothing", M(""), BOS, SERVED_HF},
    {"a user", M(U("q")), BOS USER "q" ASKS "</think>", SERVED_HF},
    {"thinking", ON(U("q")), BOS USER "q" ASKS "<think>", SERVED_HF},
    {"thinking by its other name",
	"{\"chat_template_kwargs\":{\"enable_thinking\":true},\"messages\":[" U("q") "]}",
	BOS USER "q" ASKS "<think>", SERVED_VLLM},
    {"which SGLang does not know",
	"{\"chat_template_kwargs\":{\"enable_thinking\":true},\"messages\":[" U("q") "]}",
	BOS USER "q" ASKS "</think>", SERVED_SGLANG},
    {"reasoning in history is dropped", ON(S("s") "," U("q") "," R("r", "a") "," U("p")),
	BOS "s" USER "q" ASKS "</think>a" END USER "p" ASKS "<think>", SERVED_HF},
    {"reasoning behind the last user is kept",
	ON(U("q") "," C("\"reasoning_content\":\"r\",", F("{}")) "," T("t")),
	BOS USER "q" ASKS "<think>r</think>" CALLS(CALL("")) END
	"\n\n<function_results>\n<result>t</result>\n</function_results>\n\n"
	"<think>",
	SERVED_HF},
    {"results",
	M(U("q") "," C("", F("{\"a\":\"x\\n\"}") "," F("\"{\\\"b\\\":[1,{\\\"c\\\":1.0}],"
						       "\\\"d\\\":null}\"")) "," T("t") "," T("u")),
	BOS USER "q" ASKS "</think>" CALLS(
	    CALL(STR("a", "x\n")) CALL(VAL("b", "[1, {\"c\": 1.0}]") "\n" VAL("d", "null"))) END
	"\n\n<function_results>\n<result>t</result>\n"
	"<result>u</result>\n</function_results>\n\n</think>",
	SERVED_HF},
    {"a result that is missing", M(U("q") "," C("", F("{}") "," F("{}")) "," T("t")),
	BOS USER "q" ASKS "</think>" CALLS(CALL("") CALL("")) END
	"\n\n<function_results>\n<result>t</result>",
	SERVED_HF},
    {"null contents", M("{\"role\":\"user\",\"content\":null}"), BOS USER "None" ASKS "</think>",
	SERVED_HF},
    {"null contents elsewhere", M("{\"role\":\"user\",\"content\":null}"), BOS USER ASKS "</think>",
	SERVED_SGLANG},
    {"parts",
	M("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	  "{\"type\":\"text\",\"text\":\"b\"}]}"),
	BOS USER "a b" ASKS "</think>", SERVED_SGLANG},
    {"a developer",
	ON(D("\"content\":\"d\",\"response_format\":{\"a\":1},\"tools\":[" TOOL("g") "]")),
	BOS USER "\n\n[{\"name\": \"g\"}\n]\n\n## Response Format:\n\nYou MUST strictly adhere to "
		 "the following schema to reply:\n{\"a\": 1}\n\n# The user's message is: d" ASKS
		 "<think>",
	SERVED_HF},
    {"tools", "{" TOOLS ",\"messages\":[" S("s") "," U("q") "]}",
	BOS "s\n\n[{\"name\": \"f\"}\n]" USER "q" ASKS "</think>", SERVED_HF},
    {"tools without a system", "{" TOOLS ",\"messages\":[" U("q") "," S("s") "]}",
	BOS "\n\n[{\"description\": null, \"name\": \"f\", \"parameters\": null, \"strict\": "
	    "false}\n]" USER "q" ASKS "</think>s",
	SERVED_SGLANG},
    {"tools before the system", "{" TOOLS ",\"messages\":[" S("s") "," U("q") "]}",
	BOS "\n\n[{\"name\": \"f\", \"description\": null, \"parameters\": null}\n]s" USER "q" ASKS
	    "</think>",
	SERVED_VLLM},
    {"an answer without reasoning", ON(U("q") "," A("a") "," S("s")),
	"messages[1]: with thinking on, the encoder wants reasoning or calls of every answer "
	"behind the last user message",
	SERVED_HF},
    {"a developer in history", ON(D("\"content\":\"d\"") "," U("q")),
	"messages[0].role: with thinking on, the encoder can't have a developer before the last "
	"user message",
	SERVED_HF},
    {"which vLLM minds only then",
	ON(D("\"content\":\"d\"") "," U("q") "," C("", F("{}")) "," T("t")),
	BOS USER "\n\n# The user's message is: d" ASKS "</think>" USER "q" ASKS
		 "<think></think>" CALLS(CALL("")) END
	"\n\n<function_results>\n<result>t</result>\n"
	"</function_results>\n\n<think>",
	SERVED_VLLM},
    {"an empty developer", M(D("\"content\":\"\"")),
	"messages[0].content: the encoder wants one of a developer", SERVED_HF},
    {"a result of nothing", M(U("q") "," T("t")), "messages[1]: the result of no call before it",
	SERVED_HF},
    {"one result too many", M(U("q") "," C("", F("{}")) "," T("t") "," T("u")),
	"messages[3]: the result of no call before it", SERVED_HF},
    {"another role", M("{\"role\":\"critic\",\"content\":\"c\"}"),
	"messages[0].role: none that the encoder knows", SERVED_HF},
    {"arguments that are no object", M(U("q") "," C("", F("\"[1]\"")) "," T("t")),
	"messages[1].tool_calls[0].function.arguments: expected an object, not a list", SERVED_HF},
    {"a tool that is none", "{\"tools\":[{}],\"messages\":[" U("q") "]}",
	"tools[0].function: missing", SERVED_HF},
    {"a developer's tool that is none", M(D("\"content\":\"d\",\"tools\":[{}]")),
	"messages[0].tools[0].function: missing", SERVED_HF},
};

/* "[" for what begins the text for tools, "]" for its end. */
static void shorten(struct buf *out, const char *text)
{
	const char *begin = strstr(text, TOOLS_BEGIN), *end, *over;

	if (!begin) {
		buf_adds(out, text);
		return;
	}
	end = strstr(begin, TOOLS_END) + strlen(TOOLS_END);
	over = strstr(end, "</functions>\n");
	buf_add(out, text, (size_t)(begin - text));
	buf_addc(out, '[');
	buf_add(out, end, (size_t)(over - end));
	buf_addf(out, "]%s", over + strlen("</functions>\n"));
}

static void renders_prompts(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(prompts); i++) {
		struct chat *c = open_served(prompts[i].by);
		struct chat_work *w = chat_work_open(c);
		struct buf text = {0}, got = {0};
		struct arena a = {0};
		struct chat_conv conv;
		struct err e = {0};

		read_conv(&conv, prompts[i].in, &a);
		if (chat_prompt(c, w, &conv, conv.n, NULL, &text, &e) < 0)
			buf_adds(&got, e.msg);
		else
			shorten(&got, buf_cstr(&text));
		assert_bytes(prompts[i].name, got.data, got.len, prompts[i].want);
		buf_free(&text);
		buf_free(&got);
		arena_free(&a);
		chat_work_close(w);
		chat_close(c);
	}
}

/* DeepSeek's own text for tools has blank lines that the servers' copies of it have not. */
static void has_blank_lines(void **state)
{
	static const char *const breaks[] = {"\n\nYou have access", "\n\nString and scalar",
	    "\n\nIf the thinking_mode", "\n\n<｜DSML｜function_calls>\n...\n<",
	    "\n\n<function_results>\n...", "\n\n<think>...thinking", "\n\nHere are the functions"};

	(void)state;
	for (enum chat_served by = SERVED_HF; by <= SERVED_VLLM; by++) {
		struct chat *c = open_served(by);
		struct chat_work *w = chat_work_open(c);
		struct buf text = {0};
		struct arena a = {0};
		struct chat_conv conv;
		struct err e = {0};

		read_conv(&conv, "{" TOOLS ",\"messages\":[]}", &a);
		assert_int_equal(chat_prompt(c, w, &conv, 0, NULL, &text, &e), 0);
		for (size_t k = 0; k < LEN(breaks); k++) {
			assert_true(
			    (strstr(buf_cstr(&text), breaks[k]) != NULL) == (by == SERVED_HF));
			assert_non_null(strstr(buf_cstr(&text), breaks[k] + 1));
		}
		buf_free(&text);
		arena_free(&a);
		chat_work_close(w);
		chat_close(c);
	}
}

/* Sequences: "TURN " and the text, the supervised part in brackets; or the class of an error. */
static const struct {
	const char *name, *in, *want;
} turns[] = {
    {"without thinking turns extend one another", M(U("q") "," A("a") "," U("p") "," A("b")),
	"2 " BOS USER "q" ASKS "</think>[a" END "]" USER "p" ASKS "</think>[b" END "]\n"},
    {"with it each has its own record", ON(U("q") "," R("r", "a") "," U("p") "," R("t", "b")),
	"1 " BOS USER "q" ASKS "<think>[r</think>a" END "]\n"
	"2 " BOS USER "q" ASKS "</think>a" END USER "p" ASKS "<think>[t</think>b" END "]\n"},
    {"but not between calls and their answer",
	ON(U("q") "," C("\"reasoning_content\":\"r\",", F("{}")) "," T("t") "," R("s", "a")),
	"2 " BOS USER "q" ASKS "<think>[r</think>" CALLS(CALL("")) END
	"]\n\n<function_results>\n<result>t</result>\n</function_results>\n\n<think>[s</think>a" END
	"]\n"},
    {"a block closed at once", ON(U("q") "," R("", "a")),
	"1 " BOS USER "q" ASKS "<think>[</think>a" END "]\n"},
    {"calls without reasoning", ON(U("q") "," C("", F("{}"))),
	"1 " BOS USER "q" ASKS "<think>[</think>" CALLS(CALL("")) END "]\n"},
    {"reasoning that is not there", ON(U("q") "," A("a")), "template"},
    {"reasoning that nothing asked for", M(U("q") "," R("r", "a")), "lost"},
    {"though the content says the same", M(U("q") "," R("a", "a")), "lost"},
    {"reasoning that the row turns off",
	"{\"chat_template_kwargs\":{\"thinking\":false},\"messages\":[" U("q") "," R("r", "a") "]}",
	"1 " BOS USER "q" ASKS "</think>[a" END "]\n"},
    {"an answer to nothing", M(S("x</think>") "," A("a")), "unfaithful"},
    {"an answer before all results",
	M(U("q") "," C("", F("{}") "," F("{}")) "," T("t</think>") "," A("a")), "unfaithful"},
    {"cut in its reasoning",
	"{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" U("q") "," R(
	    "r", "") "],\"generations\":[{\"message\":1,\"finish_reason\":\"length\"}]}",
	"1 " BOS USER "q" ASKS "<think>[r]\n"},
    {"cut in its content",
	"{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" U("q") "," R(
	    "r", "a") "],\"generations\":[{\"message\":1,\"finish_reason\":\"length\"}]}",
	"1 " BOS USER "q" ASKS "<think>[r</think>a]\n"},
};

static void put_seq(struct buf *out, const struct bpe *bpe, const struct chat_seq *s)
{
	struct err e = {0};
	int inside = 0;

	buf_addf(out, "%zu ", s->turn);
	for (size_t k = 0; k < s->n; k++) {
		if (s->mask[k] != inside)
			buf_addc(out, inside ? ']' : '[');
		inside = s->mask[k];
		assert_int_equal(bpe_decode(bpe, &s->ids[k], 1, out, &e), 0);
	}
	buf_adds(out, inside ? "]\n" : "\n");
}

static void makes_sequences(void **state)
{
	struct chat *c = open_served(SERVED_HF);
	struct chat_work *w = chat_work_open(c);

	(void)state;
	for (size_t i = 0; i < LEN(turns); i++) {
		const struct chat_turns_opt opt = {0};
		struct chat_turns t;
		struct buf out = {0};
		struct arena a = {0};
		struct chat_conv conv;
		struct err e = {0};

		read_conv(&conv, turns[i].in, &a);
		if (chat_turns(c, w, &conv, &opt, &a, &t, &e) < 0)
			buf_adds(&out, e.class);
		else
			for (size_t k = 0; k < t.n; k++)
				put_seq(&out, chat_bpe(c), &t.seq[k]);
		assert_bytes(turns[i].name, out.data, out.len, turns[i].want);
		buf_free(&out);
		arena_free(&a);
	}
	chat_work_close(w);
	chat_close(c);
}

/* As many renderings as the steps suffice for, and a look for each answer in its own; one is left. */
static void counts_steps(void **state)
{
	struct chat *c = open_served(SERVED_HF);
	struct chat_work *w = chat_work_open(c);
	struct chat_turns_opt opt = {.steps = 1};
	struct chat_turns t;
	struct arena a = {0};
	struct chat_conv conv;
	struct err e = {0};

	(void)state;
	read_conv(&conv, M(U("q") "," A("a") "," U("p") "," A("b")), &a);
	for (; chat_turns(c, w, &conv, &opt, &a, &t, &e) < 0; opt.steps++)
		assert_string_equal(e.class, "long");
	assert_int_equal(opt.steps, 1 + 67 / 32 + 1 + 3 + 133 / 32 + 1 + 1);
	arena_free(&a);
	chat_work_close(w);
	chat_close(c);
}

#define MSG(m) "{\"role\": \"assistant\", " m "}"
#define FN(args) \
	"{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"" args "\"}}"

/* What was sampled behind a user's message. want NULL: unparsed. */
static const struct {
	const char *kwargs, *answer, *want;
	enum chat_status status;
} answers[] = {
    {"{}", "a" END, MSG("\"content\": \"a\""), ANSWER_OK},
    {"{\"thinking\":true}", "r</think>a" END,
	MSG("\"content\": \"a\", \"reasoning_content\": \"r\""), ANSWER_OK},
    {"{\"thinking\":true}", "</think>a" END, MSG("\"content\": \"a\", \"reasoning_content\": \"\""),
	ANSWER_OK},
    {"{\"thinking\":true}", "\nr\n</think>\n\na\n" END,
	MSG("\"content\": \"\\n\\na\\n\", \"reasoning_content\": \"\\nr\\n\""), ANSWER_OK},
    {"{\"thinking\":true}", "r", MSG("\"content\": \"\", \"reasoning_content\": \"r\""),
	ANSWER_REASONING_ONLY},
    {"{}", "a" CALLS(CALL(STR("k", "x\"\n") "\n" VAL("n", "[1, 2.5]")) CALL("")) END,
	MSG("\"content\": \"a\", \"tool_calls\": [" FN(
	    "{\\\"k\\\": \\\"x\\\\\\\"\\\\n\\\", \\\"n\\\": [1, 2.5]}") ", " FN("{}") "]"),
	ANSWER_OK},
    {"{\"thinking\":true}", "r</think>" CALLS(CALL("")) END,
	MSG("\"content\": \"\", \"reasoning_content\": \"r\", \"tool_calls\": [" FN("{}") "]"),
	ANSWER_OK},
    /* what is rendered otherwise than it was written */
    {"{}", CALLS(CALL(VAL("n", "[1,2]"))) END, NULL, ANSWER_UNPARSED},
    {"{}", CALLS(CALL(VAL("n", "\"x\""))) END, NULL, ANSWER_UNPARSED},
    {"{}", CALLS(CALL(VAL("n", "1") "\n" VAL("n", "1"))) END, NULL, ANSWER_UNPARSED},
    {"{}", CALLS("<｜DSML｜invoke name=\"f\">\n</｜DSML｜invoke>\n") END, NULL, ANSWER_UNPARSED},
    {"{}", "<think>r</think>a" END, NULL, ANSWER_UNPARSED},
    /* what is no call */
    {"{}", CALLS(CALL(VAL("n", "1}"))) END, NULL, ANSWER_UNPARSED},
    {"{}", CALLS("<｜DSML｜invoke name=\"f\">\n") END, NULL, ANSWER_UNPARSED},
    {"{}", CALLS(CALL("<｜DSML｜parameter name=\"k\" string=\"no\">1</｜DSML｜parameter>")) END,
	NULL, ANSWER_UNPARSED},
    {"{}", CALLS(CALL("")) "x" END, NULL, ANSWER_UNPARSED},
    {"{}", "a" CALLS("") END, NULL, ANSWER_UNPARSED},
    {"{}", "\n\n<｜DSML｜function_calls>\n" CALL(""), NULL, ANSWER_UNPARSED},
};

static void read_answer(const struct chat *c, struct chat_work *w, size_t i)
{
	struct bpe_work *bw = bpe_work_open(chat_bpe(c));
	const struct bpe_text answer = {answers[i].answer, strlen(answers[i].answer), 0};
	struct buf text = {0}, got = {0};
	struct ints ids = {0};
	struct arena a = {0};
	struct chat_conv conv;
	struct chat_answer out;
	struct err e = {0};

	buf_addf(
	    &text, "{\"chat_template_kwargs\":%s,\"messages\":[" U("q") "]}", answers[i].kwargs);
	read_conv(&conv, buf_cstr(&text), &a);
	assert_int_equal(bpe_encode(chat_bpe(c), bw, answer, &ids, NULL, &e), 0);
	assert_int_equal(chat_answer(c, w, &conv, 1, &ids, &a, &out, &e), 0);
	if (out.status != answers[i].status)
		fail_msg("%s: status %d", answers[i].answer, (int)out.status);
	if (answers[i].want) {
		val_write(&got, &out.message, NULL);
		assert_bytes(answers[i].answer, got.data, got.len, answers[i].want);
	}
	buf_free(&text);
	buf_free(&got);
	ints_free(&ids);
	arena_free(&a);
	bpe_work_close(bw);
}

static void reads_answers(void **state)
{
	struct chat *c = open_served(SERVED_HF);
	struct chat_work *w = chat_work_open(c);

	(void)state;
	for (size_t i = 0; i < LEN(answers); i++)
		read_answer(c, w, i);
	chat_work_close(w);
	chat_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(renders_prompts),
	    cmocka_unit_test(has_blank_lines),
	    cmocka_unit_test(makes_sequences),
	    cmocka_unit_test(counts_steps),
	    cmocka_unit_test(reads_answers),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
