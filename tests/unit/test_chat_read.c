#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "chat/chat.h"
#include "json/rec.h"

/* Reads a record; the conversation lives in `a` and in the text. */
static int read_text(struct chat_conv *conv, const char *text, struct arena *a, struct err *e)
{
	struct rec r = {0};
	int rc = rec_parse(&r, text, strlen(text), e);

	if (rc == 0)
		rc = chat_read(conv, &r, a, e);
	rec_free(&r);
	return rc;
}

#define M(m)	"{\"messages\":[" m "]}"
#define USER	"{\"role\":\"user\",\"content\":\"q\"}"
#define ASST	"{\"role\":\"assistant\",\"content\":\"a\"}"
#define GEN(g)	"{\"messages\":[" ASST "],\"generations\":[{\"message\":0," g "}]}"
#define CALL(c) "{\"role\":\"assistant\",\"tool_calls\":[" c "]}"

static void names_what_is_wrong(void **state)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
	    {"{}", "messages: expected a list of messages"},
	    {"{\"messages\":null}", "messages: expected a list of messages"},
	    {"{\"messages\":{}}", "messages: expected a list, not an object"},
	    {M("1"), "messages[0]: expected an object, not a number"},
	    {M("{}"), "messages[0].role: expected a string"},
	    {M(USER ",{\"role\":null}"), "messages[1].role: expected a string, not null"},
	    {M("{\"role\":\"\"}"), "messages[0].role: is empty"},
	    {M("{\"role\":\"user\",\"content\":7}"),
		"messages[0].content: expected a string or a list of parts, not a number"},
	    {M("{\"role\":\"user\",\"content\":[\"a\",2]}"),
		"messages[0].content[1]: expected an object, not a number"},
	    {M("{\"role\":\"user\",\"content\":[{\"type\":1}]}"),
		"messages[0].content[0].type: expected a string, not a number"},
	    {M("{\"role\":\"assistant\",\"reasoning_content\":[]}"),
		"messages[0].reasoning_content: expected a string, not a list"},
	    {M("{\"role\":\"tool\",\"tool_call_id\":3}"),
		"messages[0].tool_call_id: expected a string, not a number"},
	    {M("{\"role\":\"assistant\",\"tool_calls\":\"x\"}"),
		"messages[0].tool_calls: expected a list, not a string"},
	    {M(CALL("7")), "messages[0].tool_calls[0]: expected an object, not a number"},
	    {M(CALL("{}")), "messages[0].tool_calls[0].function: expected an object"},
	    {M(CALL("{\"function\":{}}")),
		"messages[0].tool_calls[0].function.name: expected a string"},
	    {M(CALL("{\"function\":{\"name\":\"f\",\"arguments\":[]}}")),
		"messages[0].tool_calls[0].function.arguments: expected an object or a string, not "
		"a list"},
	    {M("{\"role\":\"assistant\",\"weight\":2}"),
		"messages[0].weight: expected the number 0 or 1"},
	    {M("{\"role\":\"assistant\",\"weight\":\"1\"}"),
		"messages[0].weight: expected the number 0 or 1"},
	    {M("{\"role\":\"assistant\",\"weight\":true}"),
		"messages[0].weight: expected the number 0 or 1"},
	    {M("{\"role\":\"assistant\",\"weight\":false}"),
		"messages[0].weight: expected the number 0 or 1"},
	    {M("{\"role\":\"assistant\",\"weight\":1.0}"),
		"messages[0].weight: expected the number 0 or 1"},
	    {"{\"id\":5,\"messages\":[]}", "id: expected a string, not a number"},
	    {"{\"messages\":[],\"tools\":{}}", "tools: expected a list, not an object"},
	    {"{\"messages\":[],\"tools\":[1]}", "tools[0]: expected an object, not a number"},
	    {"{\"messages\":[],\"chat_template_kwargs\":[]}",
		"chat_template_kwargs: expected an object, not a list"},
	    {"{\"messages\":[],\"chat_template_kwargs\":{\"messages\":[]}}",
		"chat_template_kwargs.messages: not for a row to set"},
	    {"{\"messages\":[],\"generations\":{}}", "generations: expected a list, not an object"},
	    {"{\"messages\":[],\"generations\":[3]}",
		"generations[0]: expected an object, not a number"},
	    {"{\"messages\":[],\"generations\":[{}]}",
		"generations[0].message: expected the index of a message"},
	    {"{\"messages\":[" USER "],\"generations\":[{\"message\":0}]}",
		"generations[0].message: 0 is no assistant message"},
	    {"{\"messages\":[" ASST "],\"generations\":[{\"message\":1}]}",
		"generations[0].message: 1 is no assistant message"},
	    {"{\"messages\":[" ASST "],\"generations\":[{\"message\":0},{\"message\":0}]}",
		"generations[1].message: a second entry for message 0"},
	    {GEN("\"completion_tokens\":3,\"output_ids\":[1,2]"),
		"generations[0].completion_tokens: 3, but there are 2 ids"},
	    {GEN("\"output_ids\":[]"), "generations[0].output_ids: is empty"},
	    {GEN("\"output_ids\":[1],\"prompt_token_ids\":[]"),
		"generations[0].prompt_token_ids: is empty"},
	    {GEN("\"prompt_tokens\":0,\"prompt_token_ids\":[7]"),
		"generations[0].prompt_tokens: 0, but there are 1 ids"},
	    {GEN("\"prompt_tokens\":-1,\"prompt_token_ids\":[7]"),
		"generations[0].prompt_tokens: expected a number of tokens"},
	    {GEN("\"completion_tokens\":\"1\",\"output_ids\":[7]"),
		"generations[0].completion_tokens: expected a number of tokens"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct arena a = {0};
		struct chat_conv conv;
		struct err e = {0};

		if (read_text(&conv, rows[i].in, &a, &e) == 0)
			fail_msg("%s: accepted", rows[i].in);
		assert_string_equal(e.msg, rows[i].want);
		arena_free(&a);
	}
}

static void finds_weights(void **state)
{
	static const char text[] =
	    M(USER "," ASST ",{\"role\":\"assistant\",\"weight\":0},"
		   "{\"role\":\"assistant\",\"weight\":1},"
		   "{\"role\":\"assistant\",\"weight\":null},{\"role\":\"user\",\"weight\":1}");
	struct arena a = {0};
	struct chat_conv conv;
	struct err e = {0};

	(void)state;
	assert_int_equal(read_text(&conv, text, &a, &e), 0);
	assert_int_equal(conv.n, 6);
	assert_memory_equal(conv.weight, "\0\1\0\1\1\0", 6);
	arena_free(&a);
}

static void reads_generations(void **state)
{
	static const char text[] =
	    "{\"id\":\"d\\/1\",\"messages\":[" USER "," ASST
	    ",{\"role\":\"assistant\",\"weight\":0}],"
	    "\"generations\": [ {\"x\":\"]}\\\"\",\"message\":1,\"finish_reason\":\"length\","
	    "\"prompt_tokens\":2,\"prompt_token_ids\":[1, 2],"
	    "\"completion_tokens\":1,\"output_ids\":[3]} , "
	    "{\"message\":2,\"completion_tokens\":null,\"prompt_tokens\":5,\"output_ids\":[9]} ]}";
	struct arena a = {0};
	struct chat_conv conv;
	struct err e = {0};

	(void)state;
	if (read_text(&conv, text, &a, &e) < 0)
		fail_msg("%s", e.msg);
	assert_bytes("id", conv.id.p, conv.id.n, "d/1");
	assert_non_null(conv.gen);
	assert_int_equal(conv.gen[1].nprompt, 2);
	assert_int_equal(conv.gen[1].prompt[1], 2);
	assert_int_equal(conv.gen[1].noutput, 1);
	assert_int_equal(conv.gen[1].output[0], 3);
	assert_true(conv.gen[1].cut);
	assert_null(conv.gen[0].output);
	assert_null(conv.gen[2].output); /* weight 0 */
	arena_free(&a);
}

/* Table formats keep a list as its JSON text; an empty list is no tools. */
static void reads_tools(void **state)
{
	static const struct {
		const char *in;
		size_t n;
	} rows[] = {
	    {"[]", 0},
	    {"null", 0},
	    {"\"\"", 0},
	    {"\"[]\"", 0},
	    {"[{\"type\":\"function\"}]", 1},
	    {"\"[{\\\"type\\\":\\\"function\\\"},{}]\"", 2},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct arena a = {0};
		struct buf b = {0};
		struct chat_conv conv;
		struct err e = {0};

		buf_addf(&b, "{\"messages\":[],\"tools\":%s}", rows[i].in);
		if (read_text(&conv, buf_cstr(&b), &a, &e) < 0)
			fail_msg("%s: %s", rows[i].in, e.msg);
		assert_int_equal(conv.tools ? conv.tools->u.arr.n : 0, rows[i].n);
		buf_free(&b);
		arena_free(&a);
	}
}

static void counts_lone_surrogates(void **state)
{
	struct arena a = {0};
	struct chat_conv conv;
	struct err e = {0};

	(void)state;
	assert_int_equal(
	    read_text(&conv, M("{\"role\":\"user\",\"content\":\"\\ud800\"}"), &a, &e), 0);
	assert_int_equal(conv.lone, 1);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_what_is_wrong),
	    cmocka_unit_test(finds_weights),
	    cmocka_unit_test(reads_generations),
	    cmocka_unit_test(reads_tools),
	    cmocka_unit_test(counts_lone_surrogates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
