#include "test_prep.h"

/* Messages behind a question, of a set whose answers are the target's own: what comes of them. */
static void native_answers(void **state)
{
#define ANSWER		    "{\"role\":\"assistant\",\"content\":"
#define CALLS(members)	    "{\"role\":\"function_call\",\"content\":" members "}"
#define SAID(text, members) "{\"role\":\"assistant\",\"content\":\"" text "\"" members "}"
#define BARE_CALL(members)  SAID("", ",\"function_call\":{\"name\":\"f\"}" members)
#define WHY		    "\"reasoning_content\":"
#define F_TEXT		    "\"{\\\"name\\\":\\\"f\\\"}\""
#define F_CALL		    "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"
	static const struct {
		const char *messages, *got, *want; /* want: a part of the record */
		enum prep_count why;		   /* PREP_MESSAGES: no repair */
	} t[] = {
	    /* a turn that is a call thinks and weighs as others do */
	    {CALLS(F_TEXT ",\"weight\":0,\"reasoning_content\":\"why\""), "uA",
		"\"content\":\"\",\"reasoning_content\":\"why\",\"tool_calls\"", PREP_MESSAGES},
	    {CALLS(F_TEXT ",\"weight\":0"), "uA", F_CALL "],\"weight\":0", PREP_MESSAGES},
	    {CALLS("{\"name\":\"f\"},\"weight\":0"), "uA", F_CALL "],\"weight\":0", PREP_MESSAGES},
	    {CALLS("\"no call\",\"weight\":0"), "ua", "\"no call\",\"weight\":0", PREP_MESSAGES},
	    {CALLS(F_TEXT ",\"weight\":7"), "type", "", PREP_MESSAGES},
	    {CALLS("\"<think>why</think>{\\\"name\\\":\\\"f\\\"}\""), "uA",
		"\"content\":\"\",\"reasoning_content\":\"why\",\"tool_calls\"", PREP_MESSAGES},
	    {CALLS(F_TEXT) "," CALLS(F_TEXT ",\"weight\":0"), "uA", F_CALL "],\"weight\":0",
		PREP_MESSAGES},
	    {CALLS(F_TEXT ",\"thinking\":\"y\"") "," CALLS(F_TEXT ",\"thinking\":\"y\""), "uA",
		F_CALL ",{", PREP_MESSAGES},
	    {CALLS(F_TEXT) "," CALLS(F_TEXT ",\"thinking\":\"y\""), "uA", F_CALL "],",
		PREP_ORDER_CUT},
	    /* answers that are a call each */
	    {BARE_CALL("") "," BARE_CALL("") ",{\"role\":\"function\",\"content\":\"1\"},"
					     "{\"role\":\"function\",\"content\":\"2\"}," SAID(
						 "a", ""),
		"uAtta",
		F_CALL ",{\"id\":\"functions.f:1\",\"type\":\"function\"," F_CALL "],\"weight\":1},"
		       "{\"role\":\"tool\",\"content\":\"1\",\"tool_call_id\":\"functions.f:0\","
		       "\"name\":\"f\"},"
		       "{\"role\":\"tool\",\"content\":\"2\",\"tool_call_id\":\"functions.f:1\"",
		PREP_MESSAGES},
	    {BARE_CALL(",\"weight\":0") "," CALLS(F_TEXT), "uA", F_CALL "],\"weight\":0",
		PREP_MESSAGES},
	    {BARE_CALL("") "," SAID("a", ",\"function_call\":{\"name\":\"f\"}"), "uA",
		F_CALL "],\"weight\":0", PREP_ORDER_CUT},
	    /* what is not the end of its turn */
	    {SAID("a", "") "," BARE_CALL(""), "ua", ANSWER "\"a\",\"weight\":0", PREP_ORDER_CUT},
	    {SAID("a", "") ",{\"role\":\"tool\",\"content\":\"1\"}", "ua",
		ANSWER "\"a\",\"weight\":0", PREP_ORDER_CUT},
	    {SAID("a", "") ",{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"user\"}", "uau",
		ANSWER "\"a\",\"weight\":1", PREP_ORDER_CUT},
	    /* reasoning under several names, of a wrong type, and twice */
	    {SAID("a", ",\"reasoning_content\":\"\",\"reasoning\":\"y\""), "ua",
		ANSWER "\"a\"," WHY "\"y\",\"weight\"", PREP_MESSAGES},
	    {SAID("a", ",\"reasoning_content\":5"), "type", "", PREP_MESSAGES},
	    {SAID("a", ",\"thinking\":[\"y\"]"), "type", "", PREP_MESSAGES},
	    {SAID("<think>\\ny\\n</think>\\n\\na", "," WHY "\"y\""), "ua",
		ANSWER "\"\\n\\na\"," WHY "\"y\",\"weight\"", PREP_MESSAGES},
	    {SAID("<think>y</think>a", "," WHY "\"\\ny\""), "ua",
		ANSWER "\"a\"," WHY "\"\\ny\",\"weight\"", PREP_MESSAGES},
	    {SAID("<think>y</think>z</think>a", "," WHY "\"y</think>z\""), "ua",
		ANSWER "\"a\"," WHY "\"y</think>z\",\"weight\"", PREP_MESSAGES},
	    {SAID("<think>z</think>a", "," WHY "\"y\""), "ua",
		ANSWER "\"<think>z</think>a\"," WHY "\"y\",\"weight\"", PREP_MESSAGES},
	    {SAID("<think>y", "," WHY "\"y\""), "ua", ANSWER "\"<think>y\"," WHY "\"y\",\"weight\"",
		PREP_MESSAGES},
	};
	struct prep_rules rules = rules_of("openai");
	struct buf line = {0}, got = {0}, record = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	rules.native = rules.split_think = 1;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&line);
		buf_addf(&line, "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},%s]}",
		    t[i].messages);
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		assert_bytes(t[i].messages, got.data, got.len, t[i].got);
		if (!strstr(buf_cstr(&record), t[i].want))
			fail_msg("%s: %s", t[i].messages, record.data);
		for (int c = PREP_REPAIRED + 1; c < PREP_COUNTS; c++)
			if ((count[c] > 0) != (c == (int)t[i].why))
				fail_msg("%s: %s", t[i].messages, prep_count_name[c]);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(native_answers),
	};

	return cmocka_run_group_tests_name("prep_native", tests, NULL, NULL);
}
