/* Every template of the real models, over random conversations: what is supervised stands behind
 * exactly the prompt that a server is sent for it, is what the turn holds in the family's own marks
 * and not a byte more, and ends its turn.
 *
 * The vocabulary is bytes and the families' special tokens, so that each family's ends are known.
 */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/impl.h"
#include "folder.h"
#include "json/rec.h"

#define ROUNDS 40

static const char *const names[] = {"<|im_end|>", "<|im_start|>", "<|im_user|>", "<|im_assistant|>",
    "<|im_system|>", "<|im_middle|>", "<think>", "</think>", "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>",
    "<｜Assistant｜>", "<|eot_id|>", "<|eom_id|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|start|>", "<|message|>", "<|channel|>", "<|return|>", "<|end|>", "<|call|>", "]~!b[", "]~b]",
    "[e~[", "<role>", "</role>", "<|role_end|>", "<|end_of_msg|>", "<|open|>", "<|close|>",
    "<|sep|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
    "<s>", "</s>", NULL};

/* Templates that take the plainest conversation, and those of them that take reasoning. */
static const char *const plain_ones[] = {"moonshotai-Kimi-K2.5", "moonshotai-Kimi-K2.6",
    "moonshotai-Kimi-K2-Thinking", "Qwen-Qwen3-0.6B", "Qwen-Qwen2.5-7B-Instruct", "Qwen3.5-4B",
    "lenml-deepseek_v3", "rtp-llm-deepseek_v31", "openai-gpt-oss-120b", "zai-org-GLM-4.5",
    "GLM-4.6", "inclusionAI-Ling-2.0", "meta-llama-Llama-3.1-8B-Instruct",
    "meta-llama-Llama-3.2-3B-Instruct", "Kimi-K2-Instruct", "Qwen3-Coder",
    "trl-qwen3_instruct_2507"};

static unsigned long seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(seed >> 33) % n;
}

static const char *phrase(void)
{
	static const char *const some[] = {"yes", "a\\nb", "1 < 2 & \\\"x\\\"",
	    "\xc3\xa9\xe4\xbd\xa0", "```c\\nint x;\\n```", "  wide  ", "{\\\"k\\\": 1}",
	    "tab\\there"};

	return some[pick(LEN(some))];
}

static void add_assistant(struct buf *b, int *calls)
{
	int with_calls = pick(4) == 0;

	buf_addf(b, ",{\"role\":\"assistant\",\"content\":\"%s\"",
	    !with_calls ? phrase()
	    : pick(2)	? ""
			: "One moment.");
	if (pick(2))
		buf_addf(b, ",\"reasoning_content\":\"r%s.\"", phrase());
	if (with_calls) {
		buf_addf(b,
		    ",\"tool_calls\":[{\"id\":\"functions.look:%d\",\"type\":\"function\","
		    "\"function\":{\"name\":\"look\",\"arguments\":{\"at\":\"%s\"}}}]",
		    *calls, phrase());
	}
	buf_addc(b, '}');
	if (with_calls)
		buf_addf(b,
		    ",{\"role\":\"tool\",\"tool_call_id\":\"functions.look:%d\",\"name\":\"look\","
		    "\"content\":\"%s\"}",
		    (*calls)++, phrase());
	else if (pick(3))
		buf_addf(b, ",{\"role\":\"user\",\"content\":\"%s\"}", phrase());
}

/* simple: no reasoning, no calls, one system message at most. */
static void conversation(struct buf *b, int simple)
{
	unsigned turns = 1 + pick(12);
	int calls = 0;

	buf_reset(b);
	buf_adds(b, "{\"messages\":[");
	if (pick(2))
		buf_addf(b, "{\"role\":\"system\",\"content\":\"%s\"},", phrase());
	buf_addf(b, "{\"role\":\"user\",\"content\":\"%s\"}", phrase());
	for (unsigned t = 0; t < turns; t++) {
		if (simple)
			buf_addf(b,
			    ",{\"role\":\"assistant\",\"content\":\"%s\"},{\"role\":\"user\","
			    "\"content\":\"%s\"}",
			    phrase(), phrase());
		else
			add_assistant(b, &calls);
	}
	buf_adds(b, "]}");
}

/* ---- frames: what a template puts around what a turn holds ---- */

/* By the made vocabulary: a byte each, and the named tokens. */
static void decode(struct buf *out, const int32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ids[i] < 256)
			buf_addc(out, (char)ids[i]);
		else
			buf_adds(out, names[ids[i] - 256]);
	}
}

static struct span trimmed(struct span s)
{
	for (; s.n > 0 && *s.p == ' '; s.p++)
		s.n--;
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

/* The first place of `what` becomes `hole`; returns whether there was one. */
static int cut_out(struct buf *text, struct span what, const char *hole)
{
	struct buf b = {0};
	size_t at;

	buf_add(&b, what.p, what.n);
	at = chat_find((struct span){text->data, text->len}, buf_cstr(&b), 0);
	buf_reset(&b);
	if (what.n == 0 || at == SIZE_MAX) {
		buf_free(&b);
		return 0;
	}
	buf_add(&b, text->data, at);
	buf_adds(&b, hole);
	buf_add(&b, text->data + at + what.n, text->len - at - what.n);
	buf_free(text);
	*text = b;
	return 1;
}

/* As it is, or without the blanks around it. */
static void need(struct buf *text, struct span what, const char *hole, const char *name)
{
	if (!cut_out(text, what, hole) && !cut_out(text, trimmed(what), hole))
		fail_msg("%s: no %.*s in %s", name, (int)what.n, what.p, buf_cstr(text));
}

static struct span str_of(const struct jval *v)
{
	return v && v->kind == J_STR ? v->u.s : (struct span){0};
}

static void cut_call(struct buf *text, const struct jval *call, const char *name)
{
	const struct jval *f = val_get(call, "function"), *at;
	struct buf json = {0};

	at = val_get(val_get(f, "arguments"), "at");
	buf_add_json(&json, at->u.s.p, at->u.s.n);
	/* some families write a string of the arguments as text */
	if (!cut_out(text, (struct span){json.data, json.len}, "[ARG]"))
		need(text, at->u.s, "[ARG]", name);
	/* Kimi prints the id, which holds the name, and some families both */
	if (cut_out(text, str_of(val_get(call, "id")), "[ID]"))
		cut_out(text, str_of(val_get(f, "name")), "[NAME]");
	else
		need(text, str_of(val_get(f, "name")), "[NAME]", name);
	buf_free(&json);
}

enum { HAS_REASONING = 1, HAS_CONTENT = 2, HAS_CALL = 4, SHAPES = 8 };

/* Of the template at hand, as first seen. */
static struct buf frames[SHAPES];

static void check_frame(const struct jval *turn, struct buf *text, const char *name)
{
	const struct jval *calls = val_get(turn, "tool_calls");
	struct span reasoning = str_of(val_get(turn, "reasoning_content"));
	struct span content = str_of(val_get(turn, "content"));
	unsigned shape = (reasoning.n > 0 ? HAS_REASONING : 0) | (content.n > 0 ? HAS_CONTENT : 0) |
			 (calls ? HAS_CALL : 0);
	struct buf *frame = &frames[shape];

	if (reasoning.n > 0)
		need(text, reasoning, "[REASONING]", name);
	if (content.n > 0)
		need(text, content, "[CONTENT]", name);
	if (calls)
		cut_call(text, &calls->u.arr.v[0], name);
	if (!frame->data)
		buf_add(frame, text->data, text->len);
	if (frame->len != text->len || memcmp(frame->data, text->data, text->len) != 0)
		fail_msg("%s: around what a turn holds stands %s, and elsewhere %s", name,
		    buf_cstr(text), buf_cstr(frame));
}

/* What the models write, as their makers give it. */
static const struct {
	const char *template;
	unsigned shape;
	const char *frame;
} known[] = {
    {"moonshotai-Kimi-K2", HAS_CONTENT, "[CONTENT]<|im_end|>"},
    {"moonshotai-Kimi-K2-Thinking", HAS_REASONING | HAS_CONTENT,
	"<think>[REASONING]</think>[CONTENT]<|im_end|>"},
    {"moonshotai-Kimi-K2.5", HAS_CONTENT, "</think>[CONTENT]<|im_end|>"},
    {"moonshotai-Kimi-K2.5", HAS_REASONING | HAS_CONTENT, "[REASONING]</think>[CONTENT]<|im_end|>"},
    {"moonshotai-Kimi-K2.6", HAS_REASONING | HAS_CONTENT | HAS_CALL,
	"[REASONING]</think>[CONTENT]<|tool_calls_section_begin|><|tool_call_begin|>[ID]"
	"<|tool_call_argument_begin|>{\"at\": [ARG]}<|tool_call_end|><|tool_calls_section_end|>"
	"<|im_end|>"},
    {"Qwen-Qwen2.5-7B-Instruct", HAS_CONTENT | HAS_CALL,
	"[CONTENT]\n<tool_call>\n{\"name\": \"[NAME]\", \"arguments\": {\"at\": [ARG]}}\n"
	"</tool_call><|im_end|>"},
    {"Qwen-Qwen3-0.6B", HAS_CONTENT, "<think>\n\n</think>\n\n[CONTENT]<|im_end|>"},
    {"Qwen-Qwen3-0.6B", HAS_REASONING | HAS_CONTENT,
	"<think>\n[REASONING]\n</think>\n\n[CONTENT]<|im_end|>"},
    {"Qwen3.5-4B", HAS_REASONING | HAS_CALL,
	"[REASONING]\n</think>\n\n<tool_call>\n<function=[NAME]>\n<parameter=at>\n[ARG]\n"
	"</parameter>\n</function>\n</tool_call><|im_end|>"},
    {"Qwen-Qwen3-Coder-30B-A3B-Instruct", HAS_CONTENT, "[CONTENT]<|im_end|>"},
    {"openai-gpt-oss-120b", HAS_CONTENT, "<|channel|>final<|message|>[CONTENT]<|return|>"},
    {"openai-gpt-oss-120b", HAS_REASONING | HAS_CONTENT,
	"<|channel|>analysis<|message|>[REASONING]<|end|><|start|>assistant"
	"<|channel|>final<|message|>[CONTENT]<|return|>"},
    {"openai-gpt-oss-120b", HAS_REASONING | HAS_CALL,
	"<|channel|>analysis<|message|>[REASONING]<|end|><|start|>assistant to=functions.[NAME]"
	"<|channel|>commentary json<|message|>{\"at\": [ARG]}<|call|>"},
    {"deepseek-ai-DeepSeek-V3.1", HAS_CONTENT, "[CONTENT]<｜end▁of▁sentence｜>"},
    {"deepseek-ai-DeepSeek-V3.1", HAS_CALL,
	"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>[NAME]<｜tool▁sep｜>{\"at\": [ARG]}"
	"<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"},
    {"zai-org-GLM-4.5", HAS_REASONING | HAS_CONTENT,
	"\n<think>[REASONING]</think>\n[CONTENT]<|user|>"},
    {"GLM-4.6", HAS_REASONING | HAS_CALL,
	"\n<think>[REASONING]</think>\n<tool_call>[NAME]\n<arg_key>at</arg_key>\n"
	"<arg_value>[ARG]</arg_value>\n</tool_call><|observation|>"},
    {"meta-llama-Llama-3.1-8B-Instruct", HAS_CONTENT, "[CONTENT]<|eot_id|>"},
    {"MiniMax-M2", HAS_REASONING | HAS_CONTENT, "[REASONING]\n</think>\n\n[CONTENT][e~["},
    {"inclusionAI-Ling-2.0", HAS_CONTENT, "[CONTENT]<|role_end|>"},
};

/* name: of the template's file */
static int is_named(const char *name, const char *template)
{
	size_t n = strlen(template);

	return strncmp(name, template, n) == 0 && strcmp(name + n, ".jinja") == 0;
}

/* How many of the known frames were seen. */
static size_t check_known(const char *name)
{
	size_t seen = 0;

	for (size_t i = 0; i < LEN(known); i++)
		if (is_named(name, known[i].template)) {
			assert_string_equal(buf_cstr(&frames[known[i].shape]), known[i].frame);
			seen++;
		}
	return seen;
}

static void forget_frames(void)
{
	for (size_t i = 0; i < SHAPES; i++)
		buf_free(&frames[i]);
}

/* ---- turns ---- */

/* Whether a supervised stretch ends its turn. */
static int ends(const struct chat *c, const int32_t *ids, size_t n)
{
	return n > 0 && chat_is_end(c, ids[n - 1]);
}

static size_t stretch(const struct chat_seq *s, size_t from)
{
	size_t n = 0;

	while (from + n < s->n && s->mask[from + n])
		n++;
	return n;
}

/* The prompt of message n, from a work space that has seen nothing else. */
static void prompt(const struct chat *c, const struct chat_conv *conv, size_t n, struct ints *ids)
{
	struct chat_work *w = chat_work_open(c);
	struct buf text = {0}, decoded = {0};
	struct err e;

	if (chat_prompt(c, w, conv, n, ids, &text, &e) < 0)
		fail_msg("%s", e.msg);
	decode(&decoded, ids->v, ids->n);
	if (decoded.len != text.len || memcmp(decoded.data, text.data, text.len) != 0)
		fail_msg("the ids of %s are those of %s", buf_cstr(&text), buf_cstr(&decoded));
	buf_free(&text);
	buf_free(&decoded);
	chat_work_close(w);
}

static size_t nth_assistant(const struct chat_conv *conv, size_t number)
{
	size_t i = 0;

	for (; i < conv->n; i++)
		if (val_is_str(val_get(&conv->messages->u.arr.v[i], "role"), "assistant") &&
		    --number == 0)
			break;
	return i;
}

/* Each supervised stretch is some turn's: the ids before it are that turn's prompt. */
static void check_seq(const struct chat *c, const struct chat_conv *conv, const struct chat_seq *s,
    size_t *turn, const char *name)
{
	for (size_t k = 0; k < s->n;) {
		size_t n = stretch(s, k);
		struct buf text = {0};
		struct ints ids = {0};
		size_t message;

		if (n == 0) {
			k++;
			continue;
		}
		message = nth_assistant(conv, ++*turn);
		prompt(c, conv, message, &ids);
		if (ids.n != k || !ints_eq(&ids, s->ids, k))
			fail_msg("%s: turn %zu: %zu ids before it, its prompt has %zu", name, *turn,
			    k, ids.n);
		if (!ends(c, s->ids + k, n))
			fail_msg("%s: turn %zu does not end", name, *turn);
		decode(&text, s->ids + k, n);
		check_frame(&conv->messages->u.arr.v[message], &text, name);
		buf_free(&text);
		ints_free(&ids);
		k += n;
	}
	assert_int_equal(s->turn, *turn);
}

/* 1 taken, 0 refused. */
static int check_conv(const struct chat *c, struct chat_work *w, const char *text, const char *name)
{
	static const char *const classes[] = {
	    "template", "lost", "unfaithful", "arguments", "parts"};
	const struct chat_turns_opt opt = {0};
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	struct chat_turns t;
	struct err e;
	size_t turn = 0, k = 0;
	int rc;

	if (rec_parse(&r, text, strlen(text), &e) < 0 || chat_read(&conv, &r, &a, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	rc = chat_turns(c, w, &conv, &opt, &a, &t, &e);
	while (rc < 0 && k < LEN(classes) && strcmp(classes[k], e.class) != 0)
		k++;
	if (k == LEN(classes))
		fail_msg("%s: %s: %s", name, e.class, e.msg);
	for (size_t i = 0; rc == 0 && i < t.n; i++)
		check_seq(c, &conv, &t.seq[i], &turn, name);
	rec_free(&r);
	arena_free(&a);
	return rc == 0;
}

static int is_plain(const char *name)
{
	for (size_t i = 0; i < LEN(plain_ones); i++)
		if (is_named(name, plain_ones[i]))
			return 1;
	return 0;
}

/* Returns how many known frames it has. */
static size_t check_template(const char *path, const char *name)
{
	struct chat_opt opt = {.model = tmp_dir, .template = path, .date = "2026-01-02"};
	struct err e;
	struct chat *c = chat_open(&opt, &e);
	struct chat_work *w = c ? chat_work_open(c) : NULL;
	struct buf b = {0};
	int taken = 0, simple = 0;
	size_t seen;

	if (!c)
		fail_msg("%s: %s", name, e.msg);
	seed = 1;
	for (int i = 0; i < ROUNDS; i++) {
		conversation(&b, 0);
		taken += check_conv(c, w, buf_cstr(&b), name);
		conversation(&b, 1);
		simple += check_conv(c, w, buf_cstr(&b), name);
	}
	print_message(
	    "%s: %d of %d taken, %d of %d plain ones\n", name, taken, ROUNDS, simple, ROUNDS);
	if (is_plain(name) && simple < ROUNDS)
		fail_msg("%s: refuses %d plain conversations", name, ROUNDS - simple);
	seen = check_known(name);
	forget_frames();
	buf_free(&b);
	chat_work_close(w);
	chat_close(c);
	return seen;
}

static void all_templates(void **state)
{
	const char *shared = getenv("E3_SHARED");
	char dir[4096], path[8192];
	struct dirent *f;
	size_t n = 0, seen = 0;
	DIR *d;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/templates", shared ? shared : "../shared");
	d = opendir(dir);
	if (!d)
		skip("no E3_SHARED/templates");
	folder_make(names, NULL);
	while ((f = readdir(d))) {
		const char *dot = strrchr(f->d_name, '.');

		if (!dot || strcmp(dot, ".jinja") != 0 || strstr(f->d_name, "_training"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, f->d_name);
		seen += check_template(path, f->d_name);
		n++;
	}
	closedir(d);
	assert_true(n > 20);
	assert_int_equal(seen, LEN(known));
}

/* A template that asks how many messages there are: what was noted of fewer does not count. */
static void counts_messages(void **state)
{
	static const char *const more[] = {"", "{% if messages|length > 9 %}long{% endif %}",
	    "{% for m in messages %}{% if messages|length > 9 %}{{ m.role }}{% endif %}{% endfor "
	    "%}"};
	struct buf template = tmp_read("pipelines/demo/model/chat_template.jinja");

	(void)state;
	folder_make(names, NULL);
	for (size_t i = 0; i < LEN(more); i++) {
		const char *path = tmp_path("demo.jinja");
		struct buf b = {0};

		buf_adds(&b, more[i]);
		buf_add(&b, template.data, template.len);
		tmp_write(path, b.data, b.len);
		check_template(path, "demo");
		buf_free(&b);
	}
	buf_free(&template);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_templates),
	    cmocka_unit_test(counts_messages),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
