/* Conversations: where the first answer belongs, what follows an answer, what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "infer/conv.h"
#include "json/rec.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define S	 "{\"role\":\"system\",\"content\":\"s\"}"
#define U(n)	 "{\"role\":\"user\",\"content\":\"" n "\"}"
#define A(n)	 "{\"role\":\"assistant\",\"content\":\"" n "\",\"weight\":0}"
#define NEW	 "{\"role\":\"assistant\",\"content\":\"new\"}"
#define CALL(id, name, args) \
	"{\"id\":\"" id "\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}}"
#define CALLS(list) "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" list "]}"
#define T(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

static struct span text(const char *s)
{
	return (struct span){s, strlen(s)};
}

static void begin(struct rec *r, struct buf *line, const char *messages)
{
	struct err e = {0};

	buf_reset(line);
	buf_addf(line, "{\"id\":\"x\",\"messages\":[%s],\"meta\":1}", messages);
	assert_int_equal(rec_parse(r, line->data, line->len, &e), 0);
}

static void refused(void **state)
{
	static const struct {
		enum turns turns;
		const char *record, *class, *msg;
	} table[] = {
	    {TURNS_LAST, "{}", "missing", "messages: missing"},
	    {TURNS_LAST, "{\"messages\":{}}", "type", "messages: expected an array, not an object"},
	    {TURNS_LAST, "{\"messages\":[1]}", "type",
		"messages[0]: expected an object, not a number"},
	    {TURNS_LAST, "{\"messages\":[]}", "turns",
		"messages: no user or tool message to answer"},
	    {TURNS_LAST, "{\"messages\":[" S "]}", "turns",
		"messages: no user or tool message to answer"},
	    {TURNS_ALL, "{\"messages\":[" S "]}", "turns", "messages: no user message to answer"},
	    {TURNS_ALL, "{\"messages\":[" A("a") "]}", "turns",
		"messages[0]: an assistant message before the first user message"},
	    {TURNS_ALL, "{\"messages\":[" U("a") "," U("b") "]}", "turns",
		"messages[1]: a user message behind another"},
	    {TURNS_ALL, "{\"messages\":[" U("a") "," T("c", "r") "]}", "turns",
		"messages[1]: a tool message without a call"},
	    {TURNS_ALL, "{\"messages\":[{\"role\":\"robot\"}]}", "turns",
		"messages[0]: a role that a replay does not know"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct rec r = {0};
		struct conv c;
		struct err e = {0};

		assert_int_equal(rec_parse(&r, table[i].record, strlen(table[i].record), &e), 0);
		if (conv_open(&c, &r, table[i].turns, &e) == 0)
			fail_msg("%s", table[i].record);
		assert_string_equal(e.class, table[i].class);
		assert_string_equal(e.msg, table[i].msg);
		conv_free(&c);
		rec_free(&r);
	}
}

/* Each answer in turn, then the messages that were made of them. */
static void conversations(void **state)
{
	static const struct {
		const char *name;
		enum turns turns;
		const char *messages;
		const char *answers[4];
		const char *want, *gens;
	} table[] = {
	    {"what follows the last user message goes", TURNS_LAST,
		S "," U("1") "," A("a") "," U("2") "," A("b"), {NEW},
		S "," U("1") "," A("a") "," U("2") "," NEW, "{\"message\":4,\"g\":1}"},
	    {"a tool result is answered too", TURNS_LAST, U("1") "," CALLS("") "," T("c", "r"),
		{NEW}, U("1") "," CALLS("") "," T("c", "r") "," NEW, "{\"message\":3,\"g\":1}"},
	    {"a replay makes every answer anew", TURNS_ALL,
		S "," U("1") "," A("a") "," A("b") "," U("2") "," A("c"), {NEW, NEW},
		S "," U("1") "," NEW "," U("2") "," NEW,
		"{\"message\":2,\"g\":1},{\"message\":4,\"g\":1}"},
	    {"a user message at the end is answered", TURNS_ALL, U("1") "," A("a") "," U("2"),
		{NEW, NEW}, U("1") "," NEW "," U("2") "," NEW,
		"{\"message\":1,\"g\":1},{\"message\":3,\"g\":1}"},
	    {"a call gets the recorded result", TURNS_ALL,
		U("1") "," CALLS(CALL("old", "f", "1")) "," T("old", "r") "," A("a"),
		{CALLS(CALL("new", "f", "1")), NEW},
		U("1") "," CALLS(CALL("new", "f", "1")) "," T("new", "r") "," NEW,
		"{\"message\":1,\"g\":1},{\"message\":3,\"g\":1}"},
	    {"calls are paired by name", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1") "," CALL("b", "g", "2")) "," T(
		    "b", "rg") "," T("a", "rf") "," A("a"),
		{CALLS(CALL("n1", "g", "2") "," CALL("n2", "f", "9")), NEW},
		U("1") "," CALLS(CALL("n1", "g", "2") "," CALL("n2", "f", "9")) "," T(
		    "n1", "rg") "," T("n2", "rf") "," NEW,
		"{\"message\":1,\"other_arguments\":1,\"g\":1},{\"message\":4,\"g\":1}"},
	    {"of calls of one name that with the same arguments", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1") "," CALL("b", "f", "2")) "," T(
		    "a", "r1") "," T("b", "r2"),
		{CALLS(CALL("n1", "f", "2") "," CALL("n2", "f", "1")), NEW},
		U("1") "," CALLS(CALL("n1", "f", "2") "," CALL("n2", "f", "1")) "," T(
		    "n1", "r2") "," T("n2", "r1") "," NEW,
		"{\"message\":1,\"g\":1},{\"message\":4,\"g\":1}"},
	    {"a call of other arguments takes none from one of the same", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1") "," CALL("b", "f", "2")) "," T(
		    "a", "r1") "," T("b", "r2"),
		{CALLS(CALL("n1", "f", "9") "," CALL("n2", "f", "1")), NEW},
		U("1") "," CALLS(CALL("n1", "f", "9") "," CALL("n2", "f", "1")) "," T(
		    "n1", "r2") "," T("n2", "r1") "," NEW,
		"{\"message\":1,\"other_arguments\":1,\"g\":1},{\"message\":4,\"g\":1}"},
	    {"one call less than recorded", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1") "," CALL("b", "f", "2")) "," T(
		    "a", "r1") "," T("b", "r2"),
		{CALLS(CALL("n", "f", "1")), NEW},
		U("1") "," CALLS(CALL("n", "f", "1")) "," T("n", "r1") "," NEW,
		"{\"message\":1,\"g\":1},{\"message\":3,\"g\":1}"},
	    {"a call of another function ends it", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1")) "," T("a", "r") "," A("a"),
		{CALLS(CALL("n", "h", "1"))}, U("1") "," CALLS(CALL("n", "h", "1")),
		"{\"message\":1,\"ended\":\"call_without_result\",\"g\":1}"},
	    {"a call where the record has none ends it", TURNS_ALL, U("1") "," A("a") "," U("2"),
		{CALLS(CALL("n", "h", "1"))}, U("1") "," CALLS(CALL("n", "h", "1")),
		"{\"message\":1,\"ended\":\"call_without_result\",\"g\":1}"},
	    {"no call where the record has one ends it", TURNS_ALL,
		U("1") "," CALLS(CALL("a", "f", "1")) "," T("a", "r") "," A("a"), {NEW},
		U("1") "," NEW, "{\"message\":1,\"ended\":\"no_call\",\"g\":1}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct buf line = {0}, got = {0}, want = {0};
		struct rec r = {0};
		struct conv c;
		struct err e = {0};
		size_t n = 0;

		begin(&r, &line, table[i].messages);
		assert_int_equal(conv_open(&c, &r, table[i].turns, &e), 0);
		while (!c.done) {
			if (!table[i].answers[n])
				fail_msg("%s: asks for more", table[i].name);
			conv_answer(&c, text(table[i].answers[n++]), text("{\"g\":1}"), 0);
		}
		if (n < 4 && table[i].answers[n])
			fail_msg("%s: asks for less", table[i].name);
		conv_output(&c, &r, 0xabcdef, &got);
		buf_addf(&want,
		    "{\"id\":\"x\",\"messages\":[%s],\"meta\":1,\"generations\":[%s],"
		    "\"infer_key\":\"0000000000abcdef\"}",
		    table[i].want, table[i].gens);
		if (strcmp(buf_cstr(&got), buf_cstr(&want)) != 0)
			fail_msg("%s:\n got  %s\n want %s", table[i].name, got.data, want.data);
		conv_free(&c);
		rec_free(&r);
		buf_free(&line);
		buf_free(&got);
		buf_free(&want);
	}
}

static void a_cut_answer_ends_a_replay(void **state)
{
	struct buf line = {0};
	struct rec r = {0};
	struct conv c;
	struct err e = {0};

	(void)state;
	begin(&r, &line, U("1") "," A("a") "," U("2"));
	assert_int_equal(conv_open(&c, &r, TURNS_ALL, &e), 0);
	conv_answer(&c, text(NEW), text("{\"status\":\"length\"}"), 1);
	assert_int_equal(c.done, 1);
	assert_int_equal(c.count, 2);
	conv_free(&c);
	rec_free(&r);
	buf_free(&line);
}

/* Also of one that goes on where another stood: what is asked is a list of its own then. */
static void cut_behind_an_answer(void **state)
{
	struct buf line = {0}, progress = {0}, got = {0};
	struct rec r = {0};
	struct conv c;
	struct err e = {0};

	(void)state;
	begin(&r, &line, S "," U("1") "," A("a") "," U("2") "," A("b"));
	for (int resumed = 0; resumed < 2; resumed++) {
		assert_int_equal(conv_open(&c, &r, TURNS_ALL, &e), 0);
		if (resumed)
			assert_int_equal(
			    conv_resume(&c, (struct span){progress.data, progress.len}), 0);
		else
			conv_answer(&c, text(NEW), text("{\"g\":1}"), 0);
		conv_progress(&c, &progress);
		assert_int_equal(c.done, 0);
		conv_cut(&c, "why");
		assert_int_equal(c.done, 1);
		assert_int_equal(c.count, 3);
		buf_reset(&got);
		conv_output(&c, &r, 1, &got);
		assert_string_equal(buf_cstr(&got),
		    "{\"id\":\"x\",\"messages\":[" S
		    "," U("1") "," NEW "],\"meta\":1,"
			       "\"generations\":[{\"message\":2,\"g\":1,\"ended\":\"why\"}],"
			       "\"infer_key\":\"0000000000000001\"}");
		conv_free(&c);
	}
	rec_free(&r);
	buf_free(&line);
	buf_free(&progress);
	buf_free(&got);
}

static void goes_on_where_it_stood(void **state)
{
	struct buf line = {0}, progress = {0}, a = {0}, b = {0};
	struct rec r = {0};
	struct conv c, d;
	struct err e = {0};

	(void)state;
	begin(&r, &line, U("1") "," A("a") "," U("2") "," A("b") "," U("3"));
	assert_int_equal(conv_open(&c, &r, TURNS_ALL, &e), 0);
	conv_answer(&c, text(NEW), text("{\"g\":1}"), 0);
	conv_answer(&c, text(NEW), text("{\"g\":2}"), 0);
	conv_progress(&c, &progress);
	assert_int_equal(conv_open(&d, &r, TURNS_ALL, &e), 0);
	assert_int_equal(conv_resume(&d, (struct span){progress.data, progress.len}), 0);
	assert_int_equal(d.answers, 2);
	assert_true(d.sum == c.sum);
	conv_answer(&c, text(NEW), text("{\"g\":3}"), 0);
	conv_answer(&d, text(NEW), text("{\"g\":3}"), 0);
	assert_true(c.done && d.done);
	conv_output(&c, &r, 1, &a);
	conv_output(&d, &r, 1, &b);
	assert_string_equal(buf_cstr(&a), buf_cstr(&b));
	assert_int_equal(
	    conv_resume(&d, text("{\"next\":99,\"messages\":[],\"generations\":[]}")), -1);
	assert_int_equal(conv_resume(&d, text("{}")), -1);
	/* what stood earlier takes no turn back */
	assert_int_equal(conv_resume(&d, (struct span){progress.data, progress.len}), -1);
	assert_int_equal(d.answers, 3);
	conv_free(&c);
	conv_free(&d);
	rec_free(&r);
	buf_free(&line);
	buf_free(&progress);
	buf_free(&a);
	buf_free(&b);
}

static void the_record_so_far(void **state)
{
	static const char record[] = "{\"id\":\"x\",\"messages\":[" U("1") "," A(
	    "a") "],\"tools\":[{\"a\": 1}],\"chat_template_kwargs\":{\"thinking\":false},\"x\":1}";
	struct rec r = {0};
	struct buf b = {0};
	struct conv c;
	struct err e = {0};

	(void)state;
	assert_int_equal(rec_parse(&r, record, strlen(record), &e), 0);
	assert_int_equal(conv_open(&c, &r, TURNS_LAST, &e), 0);
	conv_record(&c, &r, &b);
	assert_string_equal(buf_cstr(&b),
	    "{\"messages\":[" U("1") "],\"id\":\"x\",\"tools\":[{\"a\": 1}],"
				     "\"chat_template_kwargs\":{\"thinking\":false}}");
	assert_true(c.dropped_bytes > 0);
	conv_free(&c);
	rec_free(&r);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused),
	    cmocka_unit_test(conversations),
	    cmocka_unit_test(a_cut_answer_ends_a_replay),
	    cmocka_unit_test(cut_behind_an_answer),
	    cmocka_unit_test(goes_on_where_it_stood),
	    cmocka_unit_test(the_record_so_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
