/* Every template of the real models, over random conversations: what is supervised stands behind
 * exactly the prompt that a server is sent for it, holds what the turn holds, and ends its turn.
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
    NULL};

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

	buf_addf(b, ",{\"role\":\"assistant\",\"content\":\"%s%d\"", with_calls ? "" : phrase(),
	    (int)pick(100));
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

/* The text of one supervised stretch, and whether it ends its turn. */
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
	struct err e;

	if (chat_prompt(c, w, conv, n, ids, NULL, &e) < 0)
		fail_msg("%s", e.msg);
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
		struct ints ids = {0};

		if (n == 0) {
			k++;
			continue;
		}
		prompt(c, conv, nth_assistant(conv, ++*turn), &ids);
		if (ids.n != k || !ints_eq(&ids, s->ids, k))
			fail_msg("%s: turn %zu: %zu ids before it, its prompt has %zu", name, *turn,
			    k, ids.n);
		if (!ends(c, s->ids + k, n))
			fail_msg("%s: turn %zu does not end", name, *turn);
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
		if (strncmp(name, plain_ones[i], strlen(plain_ones[i])) == 0 &&
		    strcmp(name + strlen(plain_ones[i]), ".jinja") == 0)
			return 1;
	return 0;
}

static void check_template(const char *path, const char *name)
{
	struct chat_opt opt = {.model = tmp_dir, .template = path, .date = "2026-01-02"};
	struct err e;
	struct chat *c = chat_open(&opt, &e);
	struct chat_work *w = c ? chat_work_open(c) : NULL;
	struct buf b = {0};
	int taken = 0, simple = 0;

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
	buf_free(&b);
	chat_work_close(w);
	chat_close(c);
}

static void all_templates(void **state)
{
	const char *shared = getenv("E3_SHARED");
	char dir[4096], path[8192];
	struct dirent *f;
	size_t n = 0;
	DIR *d;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/templates", shared ? shared : "../shared");
	d = opendir(dir);
	if (!d)
		skip();
	folder_make(names, NULL);
	while ((f = readdir(d))) {
		const char *dot = strrchr(f->d_name, '.');

		if (!dot || strcmp(dot, ".jinja") != 0 || strstr(f->d_name, "_training"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, f->d_name);
		check_template(path, f->d_name);
		n++;
	}
	closedir(d);
	assert_true(n > 20);
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
