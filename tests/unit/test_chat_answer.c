/* Served ids to messages: what a turn is taught as comes back as the turn it was made of. */
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "folder.h"
#include "json/rec.h"

#define U    "{\"role\":\"user\",\"content\":\"q\"}"
#define A(m) "{\"role\": \"assistant\", " m "}"
#define CALL(id, n, args)                                              \
	"{" id "\"type\": \"function\", \"function\": {\"name\": \"" n \
	"\", \"arguments\": \"" args "\"}}"
#define ID(i)	    "\"id\": \"functions." i "\", "
#define KIMI	    "pipelines/demo/model"
#define SHARED(dir) "@" dir

/* The message is read, taught, and had back from its ids as `want` (NULL: as it is). */
static const struct {
	const char *folder, *kwargs, *message, *want;
} turns[] = {
    {KIMI, "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {KIMI, "{}", A("\"content\": \"hi\""), A("\"content\": \"hi\", \"reasoning_content\": \"\"")},
    {KIMI, "{\"thinking\":false}", A("\"content\": \"hi\""), NULL},
    {KIMI, "{}", A("\"content\": \"</think>\", \"reasoning_content\": \"\""), NULL},
    {KIMI, "{}",
	A("\"content\": \"\", \"reasoning_content\": \"r\", \"tool_calls\": [" CALL(
	    ID("f:0"), "f", "{ }") ", " CALL(ID("g.h:1"), "g.h", "{\\\"a\\\": [1]}") "]"),
	NULL},
    {SHARED("qwen3"), "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {SHARED("qwen3"), "{}", A("\"content\": \"hi\""),
	A("\"content\": \"hi\", \"reasoning_content\": \"\"")},
    {SHARED("qwen3"), "{\"enable_thinking\":false}", A("\"content\": \"hi\""), NULL},
    {SHARED("qwen3"), "{}",
	A("\"content\": \"c\", \"reasoning_content\": \"r\", \"tool_calls\": [" CALL(
	    "", "f", "{\\\"a\\\": 1.0}") ", " CALL("", "g", "{}") "]"),
	NULL},
    {SHARED("deepseek-v3"), "{}", A("\"content\": \"hi\""), NULL},
    {SHARED("deepseek-v3"), "{}",
	A("\"content\": null, \"tool_calls\": [" CALL("", "f", "{\\\"a\\\": 1}") ", " CALL(
	    "", "g", "{}") "]"),
	NULL},
    {SHARED("gpt-oss"), "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {SHARED("gpt-oss"), "{}",
	A("\"content\": \"\", \"reasoning_content\": \"so\", \"tool_calls\": [" CALL(
	    "", "f", "{\\\"a\\\": 1.0}") "]"),
	NULL},
};

#define QWEN "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"
#define GLM                                                                                  \
	"[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",    \
	    "<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", \
	    "<arg_value>", "</arg_value>"
#define DEEPSEEK                                                                             \
	"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", \
	    "<think>", "</think>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>",         \
	    "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
#define LLAMA "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"
#define MINIMAX                                                                \
	"]~!b[", "]~b]", "[e~[", "<think>", "</think>", "<minimax:tool_call>", \
	    "</minimax:tool_call>"

/* Families whose tokenizers are not here: their templates over bytes and their own marks. */
static const struct {
	const char *template;
	const char *names[16];
	const char *kwargs, *message, *want;
} others[] = {
    {"Qwen3-Coder", {QWEN}, "{}", A("\"content\": \"hi\""), NULL},
    {"Qwen3-Coder", {QWEN}, "{}",
	A("\"content\": \"hi\", \"tool_calls\": [" CALL("", "f", "{\\\"a\\\": \\\"x y\\\"}") "]"),
	NULL},
    {"Qwen3.5-4B", {QWEN}, "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {"Qwen3.5-4B", {QWEN}, "{}",
	A("\"content\": \"hi\", \"reasoning_content\": \"so\", \"tool_calls\": [" CALL(
	    "", "f", "{\\\"a\\\": \\\"x\\\"}") ", " CALL("", "g", "{\\\"b\\\": \\\"y\\\"}") "]"),
	NULL},
    {"zai-org-GLM-4.5", {GLM}, "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {"zai-org-GLM-4.5", {GLM}, "{}",
	A("\"content\": \"hi\", \"reasoning_content\": \"so\", \"tool_calls\": [" CALL(
	    "", "f", "{\\\"a\\\": \\\"x\\\", \\\"n\\\": 3}") "]"),
	NULL},
    {"zai-org-GLM-4.5", {GLM}, "{\"enable_thinking\":false}", A("\"content\": \"hi\""), NULL},
    {"GLM-4.7-Flash", {GLM}, "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    /* of no family: all of it is content */
    {"meta-llama-Llama-3.1-8B-Instruct", {LLAMA}, "{}", A("\"content\": \"<think>hi\""), NULL},
    {"MiniMax-M2", {MINIMAX}, "{}", A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {"MiniMax-M2", {MINIMAX}, "{}",
	A("\"content\": \"hi\", \"reasoning_content\": \"so\", \"tool_calls\": [" CALL(
	    "", "f", "{\\\"a\\\": \\\"x\\\", \\\"n\\\": 3}") "]"),
	NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, "{}", A("\"content\": \"hi\""), NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, "{\"thinking\":true}",
	A("\"content\": \"hi\", \"reasoning_content\": \"so\""), NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, "{}",
	A("\"content\": \"hi\", \"tool_calls\": [" CALL("", "f", "{\\\"a\\\": 1}") ", " CALL("",
	    "g",
	    "{}") ", " CALL("", "g", "{ }") ", " CALL("", "f", "") ", " CALL("", "h", "[]") "]"),
	NULL},
};

static struct chat *open_folder(const char *folder)
{
	const char *shared = getenv("E3_SHARED");
	struct chat_opt opt = {.model = folder, .date = "2026-01-02"};
	char path[4096];
	struct err e;
	struct chat *c;

	if (folder[0] == '@') {
		snprintf(
		    path, sizeof(path), "%s/models/%s", shared ? shared : "../shared", folder + 1);
		if (access(path, F_OK) < 0)
			return NULL;
		opt.model = path;
	}
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

struct turn {
	const char *name, *kwargs, *message, *want;
};

#define TOOLS                                                                                   \
	"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\"," \
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"      \
	"\"n\":{\"type\":\"integer\"}}}}}]"

static void check_turn(const struct chat *c, const struct turn *turn, struct arena *a)
{
	const struct chat_turns_opt opt = {.last_turn_only = 1};
	struct chat_work *w = chat_work_open(c);
	struct buf text = {0}, got = {0};
	struct ints ids = {0};
	struct chat_conv conv;
	struct chat_turns t;
	struct chat_answer out;
	struct err e;

	buf_addf(&text, "{\"chat_template_kwargs\":%s," TOOLS ",\"messages\":[" U ",%s]}",
	    turn->kwargs, turn->message);
	read_conv(&conv, buf_cstr(&text), a);
	if (chat_turns(c, w, &conv, &opt, a, &t, &e) < 0)
		fail_msg("%s: %s: %s", turn->name, turn->message, e.msg);
	for (size_t k = 0; k < t.seq[0].n; k++)
		if (t.seq[0].mask[k])
			ints_push(&ids, t.seq[0].ids[k]);
	if (chat_answer(c, w, &conv, 1, &ids, a, &out, &e) < 0)
		fail_msg("%s", e.msg);
	val_write(&got, &out.message, NULL);
	assert_bytes(turn->name, got.data, got.len, turn->want ? turn->want : turn->message);
	assert_int_equal(out.status, ANSWER_OK);
	assert_true(out.ended);
	buf_free(&text);
	buf_free(&got);
	ints_free(&ids);
	chat_work_close(w);
}

static void come_back(void **state)
{
	const char *folder = "";
	struct chat *c = NULL;

	(void)state;
	for (size_t i = 0; i < LEN(turns); i++) {
		const struct turn turn = {
		    turns[i].folder, turns[i].kwargs, turns[i].message, turns[i].want};
		struct arena a = {0};

		if (strcmp(folder, turns[i].folder) != 0) {
			chat_close(c);
			c = open_folder(turns[i].folder);
			folder = turns[i].folder;
		}
		if (c)
			check_turn(c, &turn, &a);
		arena_free(&a);
	}
	chat_close(c);
}

/* Skips where the template is not there. */
static struct chat *open_other(const char *template, const char *const *names)
{
	const char *shared = getenv("E3_SHARED");
	char path[4096];
	const struct chat_opt opt = {.model = tmp_dir, .template = path};
	struct chat *c;
	struct err e;

	snprintf(
	    path, sizeof(path), "%s/templates/%s.jinja", shared ? shared : "../shared", template);
	if (access(path, F_OK) < 0)
		skip("no E3_SHARED/templates/%s.jinja", template);
	folder_make(names, NULL);
	c = chat_open(&opt, &e);
	if (!c)
		fail_msg("%s", e.msg);
	return c;
}

static void come_back_by_other_templates(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(others); i++) {
		const struct turn turn = {
		    others[i].template, others[i].kwargs, others[i].message, others[i].want};
		struct chat *c = open_other(others[i].template, others[i].names);
		struct arena a = {0};

		check_turn(c, &turn, &a);
		arena_free(&a);
		chat_close(c);
	}
}

/* Answers as text, special strings parsed. */
static const struct {
	const char *answer;
	enum chat_status status;
	int ended;
	const char *want;
} answers[] = {
    {"r</think>c<|im_end|>", ANSWER_OK, 1, A("\"content\": \"c\", \"reasoning_content\": \"r\"")},
    {"r</think>c", ANSWER_OK, 0, A("\"content\": \"c\", \"reasoning_content\": \"r\"")},
    {"r", ANSWER_REASONING_ONLY, 0, A("\"content\": \"\", \"reasoning_content\": \"r\"")},
    {"r</think> \n<|im_end|>", ANSWER_REASONING_ONLY, 1,
	A("\"content\": \" \\n\", \"reasoning_content\": \"r\"")},
    {"</think><|im_end|>", ANSWER_EMPTY, 1, A("\"content\": \"\", \"reasoning_content\": \"\"")},
    {"", ANSWER_EMPTY, 0, A("\"content\": \"\", \"reasoning_content\": \"\"")},
    /* half a call */
    {"</think><|tool_calls_section_begin|><|tool_call_begin|>functions.f:0", ANSWER_UNPARSED, 0,
	A("\"content\": "
	  "\"</think><|tool_calls_section_begin|><|tool_call_begin|>functions.f:0\"")},
    /* text behind the calls */
    {"</think><|tool_calls_section_begin|><|tool_calls_section_end|>x<|im_end|>", ANSWER_UNPARSED,
	1,
	A("\"content\": "
	  "\"</think><|tool_calls_section_begin|><|tool_calls_section_end|>x\"")},
    /* a section without calls would be rendered as none */
    {"</think>c<|tool_calls_section_begin|><|tool_calls_section_end|><|im_end|>", ANSWER_UNPARSED,
	1,
	A("\"content\": "
	  "\"</think>c<|tool_calls_section_begin|><|tool_calls_section_end|>\"")},
};

static void check_answer(
    const struct chat *c, const char *answer, enum chat_status status, int ended, const char *want)
{
	struct chat_work *w = chat_work_open(c);
	struct bpe_work *bw = bpe_work_open(chat_bpe(c));
	struct arena a = {0};
	struct ints ids = {0};
	struct buf got = {0};
	struct chat_conv conv;
	struct chat_answer out;
	struct err e;

	read_conv(&conv, "{\"messages\":[" U "]}", &a);
	assert_int_equal(bpe_encode(chat_bpe(c), bw, (struct bpe_text){answer, strlen(answer), 0},
			     &ids, NULL, &e),
	    0);
	if (chat_answer(c, w, &conv, 1, &ids, &a, &out, &e) < 0)
		fail_msg("%s", e.msg);
	val_write(&got, &out.message, NULL);
	assert_bytes(answer, got.data, got.len, want);
	assert_int_equal(out.status, status);
	assert_int_equal(out.ended, ended);
	ints_free(&ids);
	buf_free(&got);
	arena_free(&a);
	bpe_work_close(bw);
	chat_work_close(w);
}

static void read_answers(void **state)
{
	struct chat *c = open_folder(KIMI);

	(void)state;
	for (size_t i = 0; i < LEN(answers); i++)
		check_answer(
		    c, answers[i].answer, answers[i].status, answers[i].ended, answers[i].want);
	chat_close(c);
}

#define DS_CALLS     "<｜tool▁calls▁begin｜>"
#define DS_CALLS_END "<｜tool▁calls▁end｜>"
#define DS_CALL	     "<｜tool▁call▁begin｜>"
#define DS_CALL_END  "<｜tool▁call▁end｜>"
#define DS_SEP	     "<｜tool▁sep｜>"
#define DS_END	     "<｜end▁of▁sentence｜>"
#define MM	     "<minimax:tool_call>"
#define MM_END	     "</minimax:tool_call>"

/* Broken off within its reasoning, or within or behind its calls. want NULL: unparsed, the content
 * is the answer. */
static const struct {
	const char *template;
	const char *names[16];
	const char *answer;
	enum chat_status status;
	const char *want;
} broken[] = {
    {"zai-org-GLM-4.5", {GLM}, "<think>r", ANSWER_REASONING_ONLY,
	A("\"content\": \"\", \"reasoning_content\": \"r\"")},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call>f", ANSWER_UNPARSED, NULL},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call></tool_call>", ANSWER_UNPARSED, NULL},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call>f<arg_key>a", ANSWER_UNPARSED, NULL},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call>f<arg_key>a</arg_key></tool_call>", ANSWER_UNPARSED,
	NULL},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call>f<arg_key>a</tool_call>", ANSWER_UNPARSED, NULL},
    {"zai-org-GLM-4.5", {GLM}, "<tool_call>f</tool_call>x", ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "r", ANSWER_REASONING_ONLY,
	A("\"content\": \"\", \"reasoning_content\": \"r\"")},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM, ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM "f" MM_END, ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM "<invoke name=\"f\">", ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM "<invoke name=\"f", ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM "<invoke name=\"f\"><parameter name=\"a\">x",
	ANSWER_UNPARSED, NULL},
    {"MiniMax-M2", {MINIMAX}, "</think>" MM MM_END "x", ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, "<think>r", ANSWER_REASONING_ONLY,
	A("\"content\": \"\", \"reasoning_content\": \"r\"")},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, DS_CALLS DS_CALL "f" DS_SEP "{}", ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, DS_CALLS DS_CALL "f{}" DS_CALL_END DS_CALLS_END,
	ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, DS_CALLS DS_CALL DS_SEP "{}" DS_CALL_END DS_CALLS_END,
	ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK},
	DS_CALLS DS_CALL "function" DS_SEP "f\n```json\n```" DS_CALL_END DS_CALLS_END,
	ANSWER_UNPARSED, NULL},
    /* V3's form is no answer to this template */
    {"rtp-llm-deepseek_v31", {DEEPSEEK},
	DS_CALLS DS_CALL "function" DS_SEP "f\n```json\n{}\n```" DS_CALL_END DS_CALLS_END,
	ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK}, DS_CALLS DS_CALL "f" DS_SEP "{}" DS_CALL_END,
	ANSWER_UNPARSED, NULL},
    {"rtp-llm-deepseek_v31", {DEEPSEEK},
	DS_CALLS DS_CALL "f" DS_SEP "{}" DS_CALL_END DS_CALLS_END "x", ANSWER_UNPARSED, NULL},
};

static void read_broken_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(broken); i++) {
		struct chat *c = open_other(broken[i].template, broken[i].names);
		const struct jval text = {
		    .kind = J_STR, .u.s = {broken[i].answer, strlen(broken[i].answer)}};
		struct buf want = {0};

		if (broken[i].want) {
			buf_adds(&want, broken[i].want);
		} else {
			buf_adds(&want, "{\"role\": \"assistant\", \"content\": ");
			val_write(&want, &text, NULL);
			buf_addc(&want, '}');
		}
		check_answer(c, broken[i].answer, broken[i].status, 0, buf_cstr(&want));
		buf_free(&want);
		chat_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(come_back),
	    cmocka_unit_test(come_back_by_other_templates),
	    cmocka_unit_test(read_answers),
	    cmocka_unit_test(read_broken_answers),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
