#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "chat/impl.h"
#include "json/rec.h"

enum { HIST, TURN };

/* What the template can take. */
#define TEXT                   \
	{                      \
		.args_text = 1 \
	}
#define OBJ                    \
	{                      \
		.args_text = 0 \
	}
#define PARTS                                    \
	{                                        \
		.args_text = 1, .takes_parts = 1 \
	}
#define NONUL                                     \
	{                                         \
		.args_text = 0, .null_dropped = 1 \
	}

#define USER(c) "{\"role\":\"user\",\"content\":" c "}"
#define ASST(m) "{\"role\":\"assistant\"," m "}"
#define CALL(args)                                                                                \
	ASST("\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":" args \
	     "}}]")
#define CALLED(args)                                                                               \
	"{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{\"function\": {\"name\": " \
	"\"f\", \"arguments\": " args "}}]}"
#define USED(c)	 "{\"role\": \"user\", \"content\": " c "}"
#define SAID(m)	 "{\"role\": \"assistant\"" m "}"
#define TWO	 "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]"
#define IMAGE	 "[{\"type\":\"image\"}]"
#define ALL3(r)	 "\"reasoning_content\": " r ", \"thinking\": " r ", \"reasoning\": " r
#define FIRST(m) "messages[0]" m

static const struct {
	enum chat_served served;
	struct chat_tmpl t;
	int turn;
	const char *in, *want; /* want NULL: an error, msg */
	const char *msg;
} rows[] = {
    /* null members go, but content's null is the server's business */
    {SERVED_HF, TEXT, HIST, ASST("\"content\":\"a\",\"name\":null,\"tool_calls\":null"),
	SAID(", \"content\": \"a\""), NULL},
    {SERVED_HF, TEXT, HIST, ASST("\"content\":null"), SAID(", \"content\": null"), NULL},
    {SERVED_SGLANG, TEXT, HIST, ASST("\"content\":null"), SAID(", \"content\": \"\""), NULL},
    {SERVED_VLLM, TEXT, HIST, ASST("\"content\":null"), SAID(""), NULL},
    {SERVED_HF, TEXT, HIST, "{\"role\":\"assistant\"}", SAID(""), NULL},
    {SERVED_SGLANG, TEXT, HIST, "{\"role\":\"assistant\"}", SAID(", \"content\": \"\""), NULL},
    {SERVED_VLLM, TEXT, HIST, "{\"role\":\"assistant\"}", SAID(""), NULL},
    {SERVED_HF, NONUL, HIST,
	ASST("\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]"),
	SAID(", \"tool_calls\": [{\"function\": {\"name\": \"f\"}}]"), NULL},
    {SERVED_HF, NONUL, HIST, ASST("\"content\":null"), SAID(", \"content\": null"), NULL},
    {SERVED_HF, TEXT, HIST, ASST("\"content\":\"a\",\"tool_calls\":[]"),
	SAID(", \"content\": \"a\""), NULL},
    {SERVED_HF, TEXT, HIST, ASST("\"content\":\"a\",\"weight\":0"), SAID(", \"content\": \"a\""),
	NULL},
    /* reasoning under its three names */
    {SERVED_HF, TEXT, HIST, ASST("\"reasoning_content\":\"r\""), SAID(", " ALL3("\"r\"")), NULL},
    {SERVED_VLLM, TEXT, HIST, ASST("\"reasoning\":\"r\",\"reasoning_content\":null"),
	SAID(", \"reasoning\": \"r\", \"reasoning_content\": \"r\", \"thinking\": \"r\""), NULL},
    {SERVED_HF, TEXT, HIST, ASST("\"reasoning\":\"b\",\"thinking\":\"a\""),
	SAID(", \"reasoning\": \"b\", \"thinking\": \"a\", \"reasoning_content\": \"a\""), NULL},
    /* arguments as text */
    {SERVED_HF, TEXT, HIST, CALL("\"{\\\"a\\\":1}\""), CALLED("\"{\\\"a\\\":1}\""), NULL},
    {SERVED_HF, OBJ, HIST, CALL("\"{\\\"a\\\":1.0}\""), CALLED("{\"a\": 1.0}"), NULL},
    {SERVED_SGLANG, TEXT, HIST, CALL("\"{\\\"a\\\":1}\""), CALLED("{\"a\": 1}"), NULL},
    {SERVED_VLLM, TEXT, HIST, CALL("\"{\\\"a\\\":1}\""), CALLED("{\"a\": 1}"), NULL},
    {SERVED_SGLANG, TEXT, TURN, CALL("\"{\\\"a\\\":1}\""), CALLED("\"{\\\"a\\\":1}\""), NULL},
    {SERVED_VLLM, OBJ, TURN, CALL("\"{\\\"a\\\":1}\""), CALLED("{\"a\": 1}"), NULL},
    {SERVED_HF, OBJ, HIST, CALL("\" \""), CALLED("{}"), NULL},
    {SERVED_HF, OBJ, HIST, CALL("null"), CALLED("{}"), NULL},
    {SERVED_HF, OBJ, HIST, CALL("\"[1]\""), NULL,
	FIRST(".tool_calls[0].function.arguments: expected an object, not a list")},
    {SERVED_HF, TEXT, HIST, CALL("\"{oops\""), CALLED("\"{oops\""), NULL},
    {SERVED_SGLANG, TEXT, HIST, CALL("\"\""), NULL, FIRST(".tool_calls[0].function.arguments: ")},
    {SERVED_SGLANG, TEXT, HIST, CALL("\"7\""), NULL,
	FIRST(".tool_calls[0].function.arguments: expected an object, not a number")},
    {SERVED_VLLM, TEXT, HIST, CALL("\"{oops\""), CALLED("{}"), NULL},
    {SERVED_VLLM, TEXT, HIST, CALL("\"\""), CALLED("{}"), NULL},
    {SERVED_VLLM, TEXT, HIST, CALL("\"null\""), CALLED("{}"), NULL},
    {SERVED_VLLM, OBJ, TURN, CALL("\"{oops\""), NULL, FIRST(".tool_calls[0].function.arguments: ")},
    {SERVED_HF, TEXT, HIST, CALL("{\"a\":1}"), CALLED("{\"a\": 1}"), NULL},
    /* parts */
    {SERVED_HF, TEXT, HIST, USER(TWO), USED("\"ab\""), NULL},
    {SERVED_SGLANG, TEXT, HIST, USER(TWO), USED("\"a b\""), NULL},
    {SERVED_VLLM, TEXT, HIST, USER(TWO), USED("\"a\\nb\""), NULL},
    {SERVED_HF, PARTS, HIST, USER("[{\"type\":\"text\",\"text\":\"a\"}]"),
	USED("[{\"type\": \"text\", \"text\": \"a\"}]"), NULL},
    {SERVED_HF, PARTS, HIST, USER(IMAGE), USED("[{\"type\": \"image\"}]"), NULL},
    {SERVED_HF, TEXT, HIST, USER(IMAGE), NULL, FIRST(".content[0]: the template takes text only")},
};

static void prepares_as_served(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct chat c = {.served = rows[i].served, .plain = rows[i].t};
		struct arena a = {0};
		struct buf text = {0}, out = {0};
		struct rec r = {0};
		struct chat_conv conv;
		struct chat_prep p;
		struct jval m;
		struct err e = {0};
		int rc;

		buf_addf(&text, "{\"messages\":[%s]}", rows[i].in);
		assert_int_equal(rec_parse(&r, text.data, text.len, &e), 0);
		if (chat_read(&conv, &r, &a, &e) < 0 || chat_prepare(&p, &c, &conv, &a, &e) < 0)
			fail_msg("%s: %s", rows[i].in, e.msg);
		rc = rows[i].turn ? chat_prepare_turn(&p, 0, &m, &e)
				  : chat_prepare_history(&p, 1, &e);
		if (rows[i].want && rc < 0)
			fail_msg("%zu %s: %s", i, rows[i].in, e.msg);
		if (!rows[i].want && rc == 0)
			fail_msg("%zu %s: accepted", i, rows[i].in);
		if (rc == 0) {
			val_write(&out, rows[i].turn ? &m : &p.hist[0], NULL);
			assert_bytes(rows[i].in, out.data, out.len, rows[i].want);
		} else if (strncmp(e.msg, rows[i].msg, strlen(rows[i].msg)) != 0) {
			fail_msg("%s: %s", rows[i].in, e.msg);
		}
		rec_free(&r);
		buf_free(&text);
		buf_free(&out);
		arena_free(&a);
	}
}

#define FN "{\"function\":{\"parameters\":{\"b\":1,\"a\":2},\"name\":\"f\"},\"type\":\"function\"}"

static void dumps_tools_as_served(void **state)
{
	static const struct {
		enum chat_served served;
		int kimi;
		const char *want;
	} how[] = {
	    {SERVED_HF, 0,
		"[{\"function\": {\"parameters\": {\"b\": 1, \"a\": 2}, \"name\": \"f\"}, "
		"\"type\": \"function\"}]"},
	    {SERVED_SGLANG, 0,
		"[{\"type\": \"function\", \"function\": {\"description\": null, \"name\": \"f\", "
		"\"parameters\": {\"b\": 1, \"a\": 2}, \"strict\": false}}]"},
	    {SERVED_VLLM, 0,
		"[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null, "
		"\"parameters\": {\"b\": 1, \"a\": 2}}}]"},
	    {SERVED_HF, 1,
		"[{\"function\": {\"name\": \"f\", \"parameters\": {\"a\": 2, \"b\": 1}}, "
		"\"type\": \"function\"}]"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(how); i++) {
		struct chat c = {.served = how[i].served, .kimi = how[i].kimi};
		struct arena a = {0};
		struct buf out = {0};
		struct jval tools;
		struct chat_conv conv = {.tools = &tools};
		struct chat_prep p;
		struct err e;

		assert_int_equal(val_parse(&tools, SPAN("[" FN "]"), 0, &a, NULL, &e), 0);
		assert_int_equal(chat_prepare(&p, &c, &conv, &a, &e), 0);
		val_write(&out, p.tools, NULL);
		assert_bytes("tools", out.data, out.len, how[i].want);
		buf_free(&out);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prepares_as_served),
	    cmocka_unit_test(dumps_tools_as_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
