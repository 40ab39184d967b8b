/* Request bodies byte for byte, facts of servers, and the table of outcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "serve/facts.h"
#include "serve/outcome.h"
#include "serve/request.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define UNSET                                                                        \
	{                                                                            \
		.max_new_tokens = 8, .temperature = NAN, .top_p = NAN, .min_p = NAN, \
		.top_k = SERVE_UNSET                                                 \
	}

static struct span text(const char *s)
{
	return (struct span){s, s ? strlen(s) : 0};
}

static void bodies(void **state)
{
	static const int32_t ids[] = {1, 22, 333};
	static const struct {
		const char *name;
		struct serve_plan_opt opt;
		const char *want, *sampling;
	} table[] = {
	    {"sglang", {API_SGLANG, ROUTE_SGLANG, "m", UNSET, 1, NULL},
		"{\"input_ids\":[1,22,333],\"sampling_params\":{\"max_new_tokens\":8},"
		"\"return_prompt_token_ids\":true,\"rid\":\"r-1\"}",
		"{\"max_new_tokens\":8}"},
	    {"sglang, all set",
		{API_SGLANG, ROUTE_SGLANG, NULL, {16384, 1, 0.95, 0.01, 40}, 0,
		    "{\"stop\":[\"x\"],\"sampling_params\":{\"repetition_penalty\":1.05},"
		    "\"priority\": 3}"},
		"{\"input_ids\":[1,22,333],\"sampling_params\":{\"max_new_tokens\":16384,"
		"\"temperature\":1.0,\"top_p\":0.95,\"min_p\":0.01,\"top_k\":40,\"stop\":[\"x\"],"
		"\"repetition_penalty\":1.05},\"priority\":3,\"rid\":\"r-1\"}",
		"{\"max_new_tokens\":16384,\"temperature\":1.0,\"top_p\":0.95,\"min_p\":0.01,"
		"\"top_k\":40,\"stop\":[\"x\"],\"repetition_penalty\":1.05,\"priority\":3}"},
	    {"vllm completions", {API_VLLM, ROUTE_COMPLETIONS, "m\"x", UNSET, 1, "{\"seed\":7}"},
		"{\"prompt\":[1,22,333],\"max_tokens\":8,\"model\":\"m\\\"x\","
		"\"return_token_ids\":true,\"seed\":7,\"request_id\":\"r-1\"}",
		"{\"max_new_tokens\":8,\"seed\":7}"},
	    {"vllm has SGLang's parameters at the top",
		{API_VLLM, ROUTE_COMPLETIONS, "m", UNSET, 0,
		    "{\"sampling_params\":{\"min_p\":0.1},\"seed\":7}"},
		"{\"prompt\":[1,22,333],\"max_tokens\":8,\"min_p\":0.1,\"model\":\"m\",\"seed\":7,"
		"\"request_id\":\"r-1\"}",
		"{\"max_new_tokens\":8,\"min_p\":0.1,\"seed\":7}"},
	    {"llama.cpp",
		{API_LLAMACPP, ROUTE_LLAMACPP, NULL, {8, 0, NAN, NAN, SERVE_UNSET}, 1, NULL},
		"{\"prompt\":[1,22,333],\"n_predict\":8,\"temperature\":0.0,"
		"\"return_tokens\":true}",
		"{\"max_new_tokens\":8,\"temperature\":0.0}"},
	    {"chat", {API_SGLANG, ROUTE_CHAT, "m", UNSET, 1, NULL},
		"{\"messages\":[{\"role\":\"user\"}],\"tools\":[1],\"chat_template_kwargs\":{},"
		"\"max_tokens\":8,\"model\":\"m\",\"return_token_ids\":true,\"rid\":\"r-1\"}",
		"{\"max_new_tokens\":8}"},
	    {"plain chat without ids", {API_OPENAI, ROUTE_CHAT, "m", UNSET, 0, NULL},
		"{\"messages\":[{\"role\":\"user\"}],\"tools\":[1],\"chat_template_kwargs\":{},"
		"\"max_tokens\":8,\"model\":\"m\"}",
		"{\"max_new_tokens\":8}"},
	    {"llama.cpp's chat has ids only in logprobs",
		{API_LLAMACPP, ROUTE_CHAT, NULL, UNSET, 1, NULL},
		"{\"messages\":[{\"role\":\"user\"}],\"tools\":[1],\"chat_template_kwargs\":{},"
		"\"max_tokens\":8,\"logprobs\":true,\"top_logprobs\":1}",
		"{\"max_new_tokens\":8}"},
	    {"states", {API_VLLM, ROUTE_STATES_VLLM, "m", {1, NAN, NAN, NAN, SERVE_UNSET}, 1, NULL},
		"{\"prompt\":[1,22,333],\"max_tokens\":1,\"model\":\"m\","
		"\"return_token_ids\":true,\"request_id\":\"r-1\"}",
		"{\"max_new_tokens\":1}"},
	    {"states of SGLang",
		{API_SGLANG, ROUTE_STATES_SGLANG, NULL, {1, NAN, NAN, NAN, SERVE_UNSET}, 1, NULL},
		"{\"input_ids\":[1,22,333],\"sampling_params\":{\"max_new_tokens\":1},"
		"\"return_hidden_states\":true,\"return_prompt_token_ids\":true,\"rid\":\"r-1\"}",
		"{\"max_new_tokens\":1}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct serve_prompt q = {
		    ids, 3, text("[{\"role\":\"user\"}]"), text("[1]"), text("{}"), "r-1", 0};
		struct err e = {0};
		struct serve_plan *p = serve_plan_open(&table[i].opt, &e);
		struct buf b = {0};

		if (!p)
			fail_msg("%s: %s", table[i].name, e.msg);
		serve_write(&b, p, &q);
		if (strcmp(buf_cstr(&b), table[i].want) != 0)
			fail_msg("%s:\n got  %s\n want %s", table[i].name, b.data, table[i].want);
		buf_reset(&b);
		buf_add(&b, serve_plan_sampling(p).p, serve_plan_sampling(p).n);
		assert_string_equal(buf_cstr(&b), table[i].sampling);
		buf_free(&b);
		serve_plan_close(p);
	}
}

static void one_request_may_ask_for_less(void **state)
{
	struct serve_plan_opt opt = {API_SGLANG, ROUTE_SGLANG, NULL, UNSET, 0, NULL};
	struct serve_prompt q = {.ids = (int32_t[]){4}, .n = 1, .max_new_tokens = 3};
	struct err e = {0};
	struct serve_plan *p = serve_plan_open(&opt, &e);
	struct buf b = {0};

	(void)state;
	serve_write(&b, p, &q);
	assert_string_equal(
	    buf_cstr(&b), "{\"input_ids\":[4],\"sampling_params\":{\"max_new_tokens\":3}}");
	assert_true(span_eq(serve_prompt_text(ROUTE_SGLANG, (struct span){b.data, b.len}), "[4]"));
	buf_reset(&b);
	serve_write_abort(&b, "a/1;2;");
	assert_string_equal(buf_cstr(&b), "{\"rid\":\"a/1;2;\"}");
	buf_free(&b);
	serve_plan_close(p);
}

static void refused_extras(void **state)
{
	static const char *const table[] = {"[]", "{", "{\"stream\":true}", "{\"model\":\"x\"}",
	    "{\"max_tokens\":1}", "{\"sampling_params\":{\"max_new_tokens\":1}}",
	    "{\"sampling_params\":1}", "{\"stop\":1,\"stop\":2}",
	    "{\"sampling_params\":{\"seed\":1},\"seed\":2}",
	    "{\"sampling_params\":{\"top_p\":1,\"top_p\":1}}", "{\"n\":2}", "{\"temperature\":1}",
	    "{\"rid\":\"\"}", "{\"strea\\u006d\":true}",
	    "{\"sampling_params\":{\"max_new_tokens\\u0000\":1}}"};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct serve_plan_opt opt = {
		    API_SGLANG, ROUTE_SGLANG, NULL, {8, 0.5, NAN, NAN, SERVE_UNSET}, 0, table[i]};
		struct err e = {0};

		if (serve_plan_open(&opt, &e))
			fail_msg("%s", table[i]);
		assert_non_null(strstr(e.msg, "--extra"));
	}
}

static void outcomes(void **state)
{
	static const struct {
		int curl, status;
		enum serve_found found;
		enum serve_class want;
	} table[] = {
	    {0, 200, FOUND_GOOD, CLASS_OK},
	    {0, 200, FOUND_ABORT, CLASS_TRANSIENT},
	    {0, 200, FOUND_EMPTY, CLASS_TRANSIENT},
	    {0, 200, FOUND_SHAPE, CLASS_UNPARSED},
	    {0, 200, FOUND_MISMATCH, CLASS_UNPARSED},
	    {0, 200, FOUND_NO_IDS, CLASS_CONFIG},
	    {0, 200, FOUND_CUT, CLASS_CONFIG},
	    {0, 200, FOUND_WEIGHTS, CLASS_CONFIG},
	    {0, 200, FOUND_FOREIGN, CLASS_CONFIG},
	    {0, 202, FOUND_GOOD, CLASS_UNPARSED},
	    {0, 204, FOUND_GOOD, CLASS_UNPARSED},
	    {0, 301, FOUND_GOOD, CLASS_CONFIG},
	    {0, 307, FOUND_GOOD, CLASS_CONFIG},
	    {0, 400, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 401, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 402, FOUND_GOOD, CLASS_CONFIG},
	    {0, 403, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 404, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 405, FOUND_GOOD, CLASS_CONFIG},
	    {0, 408, FOUND_GOOD, CLASS_BUSY},
	    {0, 413, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 415, FOUND_GOOD, CLASS_CONFIG},
	    {0, 422, FOUND_GOOD, CLASS_PERMANENT},
	    {0, 425, FOUND_GOOD, CLASS_BUSY},
	    {0, 429, FOUND_GOOD, CLASS_BUSY},
	    {0, 431, FOUND_GOOD, CLASS_CONFIG},
	    {0, 500, FOUND_SHAPE, CLASS_TRANSIENT},
	    {0, 502, FOUND_SHAPE, CLASS_TRANSIENT},
	    {0, 503, FOUND_SHAPE, CLASS_BUSY},
	    {0, 503, FOUND_LOADING, CLASS_OUTAGE},
	    {0, 504, FOUND_SHAPE, CLASS_TRANSIENT},
	    {0, 0, FOUND_GOOD, CLASS_UNPARSED},
	    {1, 0, FOUND_GOOD, CLASS_UNPARSED},
	    {5, 0, FOUND_GOOD, CLASS_OUTAGE},
	    {6, 0, FOUND_GOOD, CLASS_OUTAGE},
	    {7, 0, FOUND_GOOD, CLASS_OUTAGE},
	    {8, 0, FOUND_GOOD, CLASS_UNPARSED},
	    {16, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {18, 200, FOUND_GOOD, CLASS_TRANSIENT},
	    {23, 200, FOUND_GOOD, CLASS_UNPARSED},
	    {27, 0, FOUND_GOOD, CLASS_UNPARSED},
	    {28, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {35, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {52, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {55, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {56, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {60, 0, FOUND_GOOD, CLASS_CONFIG},
	    {92, 0, FOUND_GOOD, CLASS_TRANSIENT},
	    {90, 0, FOUND_GOOD, CLASS_TRANSIENT},
	};
	struct serve_evidence ours = {.curl = 7, .sys_errno = EMFILE};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct serve_evidence ev = {table[i].curl, 0, table[i].status, table[i].found};
		struct serve_outcome o = serve_classify(&ev);

		if (o.class != table[i].want)
			fail_msg("curl %d status %d found %d: %s (%s)", ev.curl, ev.status,
			    ev.found, serve_class_name(o.class), o.name);
	}
	assert_int_equal(serve_classify(&ours).class, CLASS_OURS);
}

/* Asks a pretended server, as the programs do. */
static struct serve_facts ask(const char *const (*answers)[2], size_t n)
{
	struct serve_facts f = SERVE_FACTS_NONE;

	for (size_t i = 0; i < serve_nprobes; i++) {
		if (f.api != API_AUTO && !(serve_probes[i].apis & 1u << f.api))
			continue;
		for (size_t k = 0; k < n; k++)
			if (strcmp(answers[k][0], serve_probes[i].path) == 0)
				serve_probes[i].read(&f, text(answers[k][1]));
	}
	return f;
}

static void facts(void **state)
{
	static const char *const sglang[][2] = {
	    {"/v1/models",
		"{\"data\":[{\"id\":\"kimi\",\"owned_by\":\"sglang\",\"max_model_len\":262144}]}"},
	    {"/server_info",
		"{\"model_path\":\"/m/kimi\",\"version\":\"0.5\",\"context_length\":null,"
		"\"max_running_requests\":64,\"max_total_num_tokens\":500000,"
		"\"allow_auto_truncate\":true}"},
	    {"/model_info", "{\"model_path\":\"/m/kimi\",\"weight_version\":\"default\"}"}};
	static const char *const llamacpp[][2] = {
	    {"/v1/models", "{\"data\":[{\"id\":\"x.gguf\",\"owned_by\":\"llamacpp\"}]}"},
	    {"/props", "{\"total_slots\":4,\"model_path\":\"x.gguf\",\"build_info\":\"b1\","
		       "\"default_generation_settings\":{\"n_ctx\":2048}}"}};
	static const char *const plain[][2] = {{"/v1/models", "{\"data\":[{\"id\":\"gpt\"}]}"}};
	struct serve_facts f = ask(sglang, COUNT(sglang));

	(void)state;
	assert_int_equal(f.api, API_SGLANG);
	assert_string_equal(f.model, "/m/kimi");
	assert_string_equal(f.served, "kimi");
	assert_string_equal(f.weight_version, "default");
	assert_int_equal(f.context, 262144);
	assert_int_equal(f.slots, 64);
	assert_int_equal(f.kv_tokens, 500000);
	assert_int_equal(f.auto_truncate, 1);
	assert_int_equal(serve_room(&f), 262144);
	f.kv_tokens = 200000; /* a cache of less than the context */
	assert_int_equal(serve_room(&f), 200000);
	f.context = -1;
	assert_int_equal(serve_room(&f), 200000);
	f = ask(llamacpp, COUNT(llamacpp));
	assert_int_equal(f.api, API_LLAMACPP);
	assert_int_equal(f.slots, 4);
	assert_int_equal(f.context, 2048);
	assert_int_equal(serve_room(&f), 2048);
	f = ask(plain, COUNT(plain));
	assert_int_equal(serve_room(&f), -1);
	assert_int_equal(f.api, API_AUTO);
	assert_string_equal(f.served, "gpt");
	assert_int_equal(f.context, -1);
}

static void load(void **state)
{
	static const char sglang[] = "# HELP x\n# TYPE x gauge\n"
				     "sglang:num_running_reqs{model=\"a}b c\",rank=\"0\"} 3.0\n"
				     "sglang:num_running_reqs{rank=\"1\"} 4.0\n"
				     "sglang:token_usage{rank=\"0\"} 0.25\n"
				     "sglang:token_usage{rank=\"1\"} 0.5\r\n"
				     "sglang:num_queue_reqs NaN\n"
				     "sglang:generation_tokens_total 1e3 1234567";
	struct serve_load l;

	(void)state;
	assert_int_equal(serve_load_read(&l, text(sglang)), 5);
	assert_true(l.running == 7 && l.cache == 0.5 && l.motion == 1000);
	assert_true(l.waiting == -1 && l.preemptions == -1);
	assert_int_equal(serve_load_read(&l, text("")), 0);
	assert_int_equal(serve_load_read(&l, text("vllm:num_requests_waiting 2\n")), 1);
	assert_true(l.waiting == 2 && l.running == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bodies),
	    cmocka_unit_test(one_request_may_ask_for_less),
	    cmocka_unit_test(refused_extras),
	    cmocka_unit_test(outcomes),
	    cmocka_unit_test(facts),
	    cmocka_unit_test(load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
