/* Replies of each API, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "serve/lax.h"
#include "serve/reply.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct span text(const char *s)
{
	return (struct span){s, strlen(s)};
}

/* A reply in one line, to compare. */
static void show(struct buf *b, const struct serve_reply *r)
{
	buf_addf(b, "%s", serve_finish_name(r->finish));
	if (r->content.p)
		buf_addf(b, " content=%.*s", (int)r->content.n, r->content.p);
	if (r->reasoning.p)
		buf_addf(b, " reasoning=%.*s", (int)r->reasoning.n, r->reasoning.p);
	if (r->tool_calls.p)
		buf_addf(b, " calls=%.*s", (int)r->tool_calls.n, r->tool_calls.p);
	if (r->has_ids) {
		buf_adds(b, " ids=");
		for (size_t i = 0; i < r->ids.n; i++)
			buf_addf(b, "%s%d", i ? "," : "", r->ids.v[i]);
	}
	if (r->has_prompt_ids) {
		buf_adds(b, " prompt=");
		for (size_t i = 0; i < r->prompt_ids.n; i++)
			buf_addf(b, "%s%d", i ? "," : "", r->prompt_ids.v[i]);
	}
	buf_addf(b, " %lld+%lld", (long long)r->prompt_tokens, (long long)r->completion_tokens);
	if (r->matched >= 0)
		buf_addf(b, " matched=%lld", (long long)r->matched);
	if (r->states_path.p)
		buf_addf(b, " states=%.*s", (int)r->states_path.n, r->states_path.p);
}

static void replies(void **state)
{
	static const struct {
		const char *name;
		enum serve_route route;
		const char *body, *want; /* want: an error's end where it begins with '!' */
	} table[] = {
	    {"sglang", ROUTE_SGLANG,
		"{\"text\":\"hi\",\"output_ids\":[5,6,2],\"prompt_token_ids\":[1,2],\"meta_info\":"
		"{\"id\":\"r\",\"finish_reason\":{\"type\":\"stop\",\"matched\":2},"
		"\"prompt_tokens\":2,\"completion_tokens\":3,\"weight_version\":\"7\"}}",
		"stop content=\"hi\" ids=5,6,2 prompt=1,2 2+3 matched=2"},
	    {"sglang without a tokenizer", ROUTE_SGLANG,
		"{\"output_ids\":[5],\"meta_info\":{\"finish_reason\":{\"type\":\"length\","
		"\"length\":1},\"prompt_tokens\":2,\"completion_tokens\":1}}\n",
		"length ids=5 2+1"},
	    {"a stop string", ROUTE_SGLANG,
		"{\"output_ids\":[5],\"meta_info\":{\"finish_reason\":{\"type\":\"stop\","
		"\"matched\":\"END\"}}}",
		"stop ids=5 -1+-1"},
	    {"NaN, a big number and a lone surrogate nobody needs", ROUTE_SGLANG,
		"{\"x\":NaN,\"y\":[1e999,99999999999999999999999],\"z\":\"\\ud83d\",\"output_ids\":"
		"[5],\"meta_info\":{\"e2e_latency\":-Infinity,\"finish_reason\":{\"type\":\"stop\"}"
		","
		"\"completion_tokens\":1.0}}",
		"stop ids=5 -1+1"},
	    {"bytes that are no UTF-8 nobody needs", ROUTE_SGLANG,
		"{\"x\":\"\xff\",\"output_ids\":[5],\"meta_info\":{\"finish_reason\":{\"type\":"
		"\"stop\"}}}",
		"stop ids=5 -1+-1"},
	    {"the last of repeated members counts", ROUTE_SGLANG,
		"{\"output_ids\":[1],\"output_ids\":[5],\"meta_info\":{\"finish_reason\":{\"type\":"
		"\"stop\"}}}",
		"stop ids=5 -1+-1"},
	    {"abort", ROUTE_SGLANG,
		"{\"text\":\"\",\"meta_info\":{\"finish_reason\":{\"type\":\"abort\",\"message\":"
		"\"gone\"}}}",
		"abort content=\"\" -1+-1"},
	    {"no meta_info", ROUTE_SGLANG, "{\"text\":\"\"}", "!meta_info: expected an object"},
	    {"content that is no UTF-8", ROUTE_SGLANG,
		"{\"text\":\"\xff\",\"meta_info\":{\"finish_reason\":{\"type\":\"stop\"}}}", "!"},
	    {"an id that is none", ROUTE_SGLANG, "{\"output_ids\":[5,-1],\"meta_info\":{}}", "!"},
	    {"cut", ROUTE_SGLANG, "{\"text\":\"hi\",\"meta_info\":{\"finish_reason\":{\"type\":",
		"!the reply is not one whole JSON object"},
	    {"garbage behind", ROUTE_SGLANG, "{\"meta_info\":{}} x",
		"!the reply is not one whole JSON object"},
	    {"HTML", ROUTE_SGLANG, "<html>502</html>", "!the reply is not one whole JSON object"},
	    {"empty", ROUTE_SGLANG, "", "!the reply is not one whole JSON object"},
	    {"an error under 200", ROUTE_SGLANG, "{\"error\":{\"message\":\"queue\\nfull\"}}",
		"!the server says: queue?full"},
	    {"the older error", ROUTE_COMPLETIONS,
		"{\"object\":\"error\",\"message\":\"no\",\"code\":400}", "!the server says: no"},
	    {"completions", ROUTE_COMPLETIONS,
		"{\"id\":\"cmpl-1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"text\":\"a\","
		"\"token_ids\":[7],\"prompt_token_ids\":[1,2],\"finish_reason\":\"stop\","
		"\"stop_reason\":null}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1}}",
		"stop content=\"a\" ids=7 prompt=1,2 2+1"},
	    {"hidden states to a file", ROUTE_STATES_VLLM,
		"{\"choices\":[{\"text\":\"\",\"prompt_token_ids\":[1],\"token_ids\":[3],"
		"\"finish_reason\":\"length\"}],\"kv_transfer_params\":{\"hidden_states_path\":"
		"\"/s/a.safetensors\"}}",
		"length content=\"\" ids=3 prompt=1 -1+-1 states=\"/s/a.safetensors\""},
	    {"vLLM chat", ROUTE_CHAT,
		"{\"prompt_token_ids\":[1,2],\"choices\":[{\"message\":{\"role\":\"assistant\","
		"\"content\":null,\"reasoning\":\"hm\"},\"token_ids\":[4],\"finish_reason\":"
		"\"length\"}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1}}",
		"length reasoning=\"hm\" ids=4 prompt=1,2 2+1"},
	    {"SGLang chat", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning_content\":\"hm\","
		"\"tool_calls\":[]},\"prompt_token_ids\":[1],\"token_ids\":[4],\"matched_stop\":4,"
		"\"finish_reason\":\"stop\"}]}",
		"stop content=\"x\" reasoning=\"hm\" ids=4 prompt=1 -1+-1 matched=4"},
	    {"tool calls", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"c\"}]},"
		"\"finish_reason\":\"tool_calls\"}]}",
		"tool_calls calls=[{\"id\":\"c\"}] -1+-1"},
	    {"llama.cpp chat has ids in logprobs", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\"},\"logprobs\":{\"content\":[{\"id\":"
		"4},{\"id\":9}]},\"finish_reason\":\"stop\"}]}",
		"stop content=\"x\" ids=4,9 -1+-1"},
	    {"other logprobs have none", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\"},\"logprobs\":{\"content\":[{"
		"\"token\":\"a\"}]},\"finish_reason\":\"stop\"}]}",
		"stop content=\"x\" -1+-1"},
	    {"null ids", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\"},\"token_ids\":null,"
		"\"finish_reason\":\"stop\"}]}",
		"stop content=\"x\" -1+-1"},
	    {"content in parts", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":[{\"text\":\"x\"}],\"tool_calls\":[{}]},"
		"\"finish_reason\":\"stop\"}]}",
		"!choices[0].message.content: expected a string, not an array"},
	    {"reasoning that is no text", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\",\"reasoning\":{}},"
		"\"finish_reason\":\"stop\"}]}",
		"!choices[0].message.reasoning: expected a string, not an object"},
	    {"calls that are no list", ROUTE_CHAT,
		"{\"choices\":[{\"message\":{\"content\":\"x\",\"tool_calls\":\"f()\"},"
		"\"finish_reason\":\"stop\"}]}",
		"!choices[0].message.tool_calls: expected an array, not a string"},
	    {"text that is none", ROUTE_COMPLETIONS,
		"{\"choices\":[{\"text\":5,\"finish_reason\":\"stop\"}]}",
		"!choices[0].text: expected a string, not a number"},
	    {"no choices", ROUTE_CHAT, "{\"choices\":[]}",
		"!choices: expected an array with an object"},
	    {"llama.cpp", ROUTE_LLAMACPP,
		"{\"content\":\"a\",\"tokens\":[4,2],\"stop_type\":\"eos\",\"tokens_evaluated\":3,"
		"\"tokens_predicted\":2,\"truncated\":false}",
		"stop content=\"a\" ids=4,2 3+2"},
	    {"a finish reason of tomorrow", ROUTE_COMPLETIONS,
		"{\"choices\":[{\"text\":\"a\",\"finish_reason\":\"tired\"}]}",
		"other content=\"a\" -1+-1"},
	};
	struct serve_reply r = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct buf got = {0};
		struct err e = {0};
		const char *want = table[i].want;

		if (serve_reply_read(&r, table[i].route, text(table[i].body), &e) < 0) {
			assert_string_equal(e.class, "reply");
			buf_addf(&got, "!%s", want[0] == '!' && !want[1] ? "" : e.msg);
		} else {
			show(&got, &r);
		}
		if (strcmp(buf_cstr(&got), want) != 0)
			fail_msg("%s:\n got  %s\n want %s", table[i].name, buf_cstr(&got), want);
		buf_free(&got);
	}
	serve_reply_free(&r);
}

static void checks(void **state)
{
	static const int32_t sent_ids[] = {1, 2, 3};
	static const char frame[] = "{\"output_ids\":[%s],\"prompt_token_ids\":[%s],\"meta_info\":{"
				    "\"id\":\"%s\",\"finish_reason\":%s,\"prompt_tokens\":%d,"
				    "\"completion_tokens\":%d}}";
	static const struct {
		const char *name, *ids, *prompt, *rid, *finish;
		int prompt_tokens, completion_tokens;
		enum serve_found want;
	} table[] = {
	    {"good", "5,9", "1,2,3", "r1", "{\"type\":\"stop\",\"matched\":9}", 3, 2, FOUND_GOOD},
	    {"good, at the cap", "5,9,5,5", "1,2,3", "r1", "{\"type\":\"length\"}", 3, 4,
		FOUND_GOOD},
	    {"abort", "5", "1,2,3", "r1", "{\"type\":\"abort\"}", 3, 1, FOUND_ABORT},
	    {"no finish reason", "5", "1,2,3", "r1", "null", 3, 1, FOUND_SHAPE},
	    {"a finish reason of tomorrow", "5", "1,2,3", "r1", "{\"type\":\"tired\"}", 3, 1,
		FOUND_SHAPE},
	    {"another's rid", "5,9", "1,2,3", "r10", "{\"type\":\"stop\"}", 3, 2, FOUND_MISMATCH},
	    {"no token", "", "1,2,3", "r1", "{\"type\":\"stop\"}", 3, 0, FOUND_EMPTY},
	    {"prompt cut", "5", "1,2", "r1", "{\"type\":\"stop\"}", 2, 1, FOUND_CUT},
	    {"another prompt", "5", "1,2,4", "r1", "{\"type\":\"stop\"}", 3, 1, FOUND_MISMATCH},
	    {"prompt miscounted", "5", "1,2,3", "r1", "{\"type\":\"stop\"}", 4, 1, FOUND_MISMATCH},
	    {"answer miscounted", "5", "1,2,3", "r1", "{\"type\":\"stop\"}", 3, 2, FOUND_MISMATCH},
	    {"stop token missing", "5,6", "1,2,3", "r1", "{\"type\":\"stop\",\"matched\":9}", 3, 2,
		FOUND_MISMATCH},
	    {"length short of the cap", "5,6", "1,2,3", "r1", "{\"type\":\"length\"}", 3, 2,
		FOUND_MISMATCH},
	};
	struct serve_reply r = {0};

	(void)state;
	for (size_t k = 0; k < 2 * COUNT(table); k++) {
		size_t i = k / 2;
		struct serve_sent sent = {.ids = sent_ids,
		    .n = 3,
		    .rid = "r1",
		    .max_new_tokens = 4,
		    .want_ids = 1,
		    .want_prompt_ids = 1,
		    .room = 100};
		struct buf b = {0};
		struct err e = {0};
		enum serve_found f;

		buf_addf(&b, frame, table[i].ids, table[i].prompt, table[i].rid, table[i].finish,
		    table[i].prompt_tokens, table[i].completion_tokens);
		/* with the text that was sent an equal echo is not read, and its ids not needed */
		r.sent = k % 2 ? SPAN("[1,2,3]") : (struct span){NULL, 0};
		assert_int_equal(
		    serve_reply_read(&r, ROUTE_SGLANG, (struct span){b.data, b.len}, &e), 0);
		assert_int_equal(r.echoed, k % 2 && strcmp(table[i].prompt, "1,2,3") == 0);
		if (r.echoed)
			sent.ids = NULL;
		f = serve_reply_check(&r, &sent, &e);
		if (f != table[i].want)
			fail_msg(
			    "%s: found %d, want %d (%s)", table[i].name, f, table[i].want, e.msg);
		if (f != FOUND_GOOD)
			assert_true(e.msg[0] != '\0');
		if (strcmp(table[i].name, "length short of the cap") == 0) {
			sent.room = 7; /* full */
			assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_GOOD);
			sent.room = 8;
			assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_MISMATCH);
		}
		buf_free(&b);
	}
	serve_reply_free(&r);
}

static void weights(void **state)
{
	static const char body[] =
	    "{\"text\":\"x\",\"output_ids\":[5],\"meta_info\":{\"finish_reason\":"
	    "{\"type\":\"stop\"},\"weight_version\":\"w2\"}}";
	static const struct {
		const char *weights;
		enum serve_found want;
	} table[] = {
	    {NULL, FOUND_GOOD}, {"", FOUND_GOOD}, {"w2", FOUND_GOOD}, {"w", FOUND_WEIGHTS}};
	struct serve_reply r = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(serve_reply_read(&r, ROUTE_SGLANG, text(body), &e), 0);
	for (size_t i = 0; i < COUNT(table); i++) {
		struct serve_sent sent = {
		    .max_new_tokens = 4, .room = -1, .weights = table[i].weights};

		assert_int_equal(serve_reply_check(&r, &sent, &e), table[i].want);
	}
	assert_string_equal(e.msg, "has weights w2, the run is with w");
	serve_reply_free(&r);
}

static void ids_that_are_missing(void **state)
{
	struct serve_sent sent = {.max_new_tokens = 4, .want_ids = 1, .room = -1};
	struct serve_reply r = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(serve_reply_read(&r, ROUTE_CHAT,
			     text("{\"choices\":[{\"message\":{\"content\":\"x\"},"
				  "\"finish_reason\":\"stop\"}]}"),
			     &e),
	    0);
	assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_NO_IDS);
	sent.want_ids = 0;
	assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_GOOD);
	assert_int_equal(
	    serve_reply_read(&r, ROUTE_CHAT,
		text("{\"choices\":[{\"message\":{\"content\":\"x\"},\"token_ids\":[1],"
		     "\"finish_reason\":\"stop\"}]}"),
		&e),
	    0);
	sent.want_ids = sent.want_prompt_ids = 1;
	assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_NO_IDS);
	sent.want_prompt_ids = 0;
	assert_int_equal(serve_reply_check(&r, &sent, &e), FOUND_GOOD);
	serve_reply_free(&r);
}

static void errors(void **state)
{
	static const struct {
		const char *body, *want;
		int loading;
	} table[] = {
	    {"{\"error\":{\"message\":\"too long\",\"code\":400}}", "too long", 0},
	    {"{\"object\":\"error\",\"message\":\"bad\",\"code\":400}", "bad", 0},
	    {"{\"error\":\"plain\"}", "plain", 0},
	    {"{\"detail\":\"Not Found\"}", "Not Found", 0},
	    {"{\"error\":{\"code\":503,\"message\":\"Loading model\"}}", "Loading model", 1},
	    {"<html>", "<html>", 0},
	    {"\xff", "\xef\xbf\xbd", 0},
	    {"", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct buf b = {0};

		assert_int_equal(serve_error_read(&b, text(table[i].body)), table[i].loading);
		assert_string_equal(buf_cstr(&b), table[i].want);
		buf_free(&b);
	}
}

static void whole_values(void **state)
{
	static const struct {
		const char *json;
		int ok;
	} table[] = {
	    {"{}", 1},
	    {" [1, {\"a\":[]}] \n", 1},
	    {"\"\\\"\"", 1},
	    {"NaN", 1},
	    {"-1e5", 1},
	    {"", 0},
	    {"  ", 0},
	    {"{", 0},
	    {"{]", 0},
	    {"[}", 0},
	    {"[[]", 0},
	    {"[1,2]", 1},
	    {"[1,2", 0},
	    {"[1,[2],\"]\"]", 1},
	    {"[1,[2,[3],[4]],[5],{\"a\":[6]}]", 1},
	    {"[1,[2,\"]\",[3],[4],[5]", 0},
	    {"[1,{]", 0},
	    {"{\"a\":[1,2]}", 1},
	    {"{\"a\":[-1}", 0},
	    {"[1]]", 0},
	    {"\"\\\"", 0},
	    {"\"a\\", 0},
	    {"{}{}", 0},
	    {"]", 0},
	    {"{\"a\":\"}", 0},
	    {"[1]]", 0},
	};
	struct span v;
	struct buf deep = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		if ((lax_whole(text(table[i].json), &v) == 0) != table[i].ok)
			fail_msg("%s", table[i].json);
	for (int i = 0; i < 100000; i++)
		buf_addc(&deep, '[');
	for (int i = 0; i < 100000; i++)
		buf_addc(&deep, ']');
	assert_int_equal(lax_whole((struct span){deep.data, deep.len}, &v), 0);
	assert_int_equal(lax_whole((struct span){deep.data, deep.len - 1}, &v), -1);
	deep.data[deep.len - 1] = '}';
	assert_int_equal(lax_whole((struct span){deep.data, deep.len}, &v), -1);
	buf_free(&deep);
}

/* The processor's time for arrays in one another, all of which begin as `open` does. */
static clock_t time_of(const char *open, int close)
{
	struct buf deep = {0};
	struct span v;
	clock_t start;

	for (int i = 0; i < 500000; i++)
		buf_adds(&deep, open);
	for (int i = 0; close && i < 500000; i++)
		buf_addc(&deep, ']');
	start = clock();
	assert_int_equal(lax_whole((struct span){deep.data, deep.len}, &v), close ? 0 : -1);
	start = clock() - start;
	buf_free(&deep);
	return start;
}

/* A thousand times as long where each array looks for its end. */
static void arrays_in_arrays(void **state)
{
	(void)state;
	for (int close = 0; close < 2; close++)
		assert_true(time_of("[1,", close) < 50 * (time_of("[n,", close) + 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(replies),
	    cmocka_unit_test(checks),
	    cmocka_unit_test(weights),
	    cmocka_unit_test(ids_that_are_missing),
	    cmocka_unit_test(errors),
	    cmocka_unit_test(whole_values),
	    cmocka_unit_test(arrays_in_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
