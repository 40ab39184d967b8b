#include "test_prep.h"

#include "prep/filter.h"

/* Roles as letters to a row: s u a t c, x an unknown one; a capital has no text. */
static void row_of(struct buf *b, const char *roles)
{
	static const struct {
		char letter;
		const char *role, *text;
	} t[] = {
	    {'s', "system", "rules"},
	    {'u', "human", "question"},
	    {'a', "gpt", "answer"},
	    {'t', "observation", "result"},
	    {'c', "function_call", "{\\\"name\\\":\\\"f\\\"}"},
	    {'x', "martian", "?"},
	};

	buf_reset(b);
	buf_adds(b, "{\"conversations\":[");
	for (const char *p = roles; *p; p++)
		for (size_t i = 0; i < LEN(t); i++)
			if (t[i].letter == (*p | 32))
				buf_addf(b, "%s{\"from\":\"%s\",\"value\":\"%s\"}",
				    p > roles ? "," : "", t[i].role, *p & 32 ? t[i].text : "");
	buf_adds(b, "]}");
}

static void order(void **state)
{
	static const struct {
		const char *roles, *want;
		enum prep_count why; /* PREP_MESSAGES: no repair */
	} t[] = {
	    {"ua", "ua", PREP_MESSAGES},
	    {"suaua", "suaua", PREP_MESSAGES},
	    {"u", "u", PREP_MESSAGES},
	    {"uau", "uau", PREP_MESSAGES},
	    {"", "empty", PREP_MESSAGES},
	    {"a", "nouser", PREP_LEAD},
	    {"s", "nouser", PREP_MESSAGES},
	    {"U", "empty", PREP_MESSAGES},
	    {"Ua", "empty", PREP_MESSAGES},
	    {"aua", "ua", PREP_LEAD},
	    {"asua", "ua", PREP_LEAD},
	    {"saua", "sua", PREP_LEAD},
	    {"ssua", "sua", PREP_LEAD},
	    {"xtua", "ua", PREP_LEAD},
	    {"uua", "u", PREP_ORDER_CUT},
	    {"uaau", "ua", PREP_ORDER_CUT},
	    {"utaa", "u", PREP_ORDER_CUT},
	    {"uata", "ua", PREP_ORDER_CUT},
	    {"ucta", "uAta", PREP_MESSAGES},
	    {"uccttauct", "uAttauAt", PREP_MESSAGES},
	    {"ucu", "uAu", PREP_MESSAGES},
	    {"uca", "uA", PREP_ORDER_CUT},
	    {"uac", "ua", PREP_ORDER_CUT},
	    {"uctu", "uAt", PREP_ORDER_CUT},
	    {"ucTa", "uAta", PREP_MESSAGES},
	    {"uaxua", "ua", PREP_ROLE_CUT},
	    {"uasua", "ua", PREP_ROLE_CUT},
	    {"uaUa", "ua", PREP_EMPTY_CUT},
	    {"uA", "u", PREP_EMPTY_CUT},
	    {"uauA", "uau", PREP_EMPTY_CUT},
	    {"uC", "u", PREP_EMPTY_CUT},
	};
	struct prep_rules rules = rules_of("B7_sharegpt");
	struct buf line = {0}, got = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		row_of(&line, t[i].roles);
		convert(&rules, buf_cstr(&line), &got, count, NULL);
		assert_bytes(t[i].roles, got.data, got.len, t[i].want);
		for (int c = PREP_REPAIRED + 1; c < PREP_COUNTS; c++)
			if ((count[c] > 0) != (c == (int)t[i].why))
				fail_msg("%s: %s counted %d times", t[i].roles, prep_count_name[c],
				    (int)count[c]);
	}
	buf_free(&line);
	buf_free(&got);
}

/* What calls in text become: the arguments as they stand in the record, and what is counted. */
static void calls_in_text(void **state)
{
	static const struct {
		const char *call, *want;
		enum prep_count why;
	} t[] = {
	    {"{\"name\": \"f\", \"arguments\": '{\"a\": \"it's\"}'}", "{\"a\": \"it's\"}", 0},
	    {"{\"name\": \"f\", \"arguments\": '{\"a\": 1}' } ", "{\"a\": 1}", 0},
	    {"{\"arguments\": {\"a\": 1.50}, \"name\": \"f\"}", "{\"a\": 1.50}", 0},
	    {"{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}", "{\"a\": 1}", 0},
	    {"{\"name\": \"f\", \"arguments\": \"\\\"{}\\\"\"}", "{}", PREP_DOUBLE},
	    {"{\"name\": \"f\", \"arguments\": null}", "{}", 0},
	    {"{\"name\": \"f\"}", "{}", 0},
	    {"{\"name\": \"f\"", "{}", 0},
	    {"{\"name\": \"f\", \"arguments\": [1]}", "[1]", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": \"x\"}", "x", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": ''}", "", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": '{\"a\": 012}'}", "{\"a\": 012}", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": '{\"a\": \\'x\\'}'}", "{\"a\": \\'x\\'}", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": '{\"a\": \"\\'x\\'\"}'}", "{\"a\": \"'x'\"}", 0},
	    {"{\"name\": \"f\", \"arguments\": {\"a\": ", "{\"a\":", PREP_ARGS},
	    {"{\"name\": \"f\", \"arguments\": {\"a\": \"\\ud83d\"}}", "{\"a\": \"\\ufffd\"}",
		PREP_SURROGATE},
	    {"{\"name\": \"f\", \"arguments\": {\"a\": \"\\ud83d\"}, \"x\": '1'}",
		"{\"a\": \"\\ufffd\"}", PREP_SURROGATE},
	    {"{\"name\": \"\\ud83d\", \"arguments\": '{}'}", "{}", PREP_SURROGATE},
	    {"{\"name\": \"\", \"arguments\": {}}", NULL, PREP_CALL_TEXT},
	    {"get_rate(1)", NULL, PREP_CALL_TEXT},
	    {"", NULL, PREP_CALL_TEXT},
	};
	struct prep_rules rules = rules_of("B1_glaive");
	struct buf line = {0}, got = {0}, record = {0}, want = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf chat = {0};

		buf_addf(
		    &chat, "USER: q\n\n\nASSISTANT: <functioncall> %s <|endoftext|>", t[i].call);
		buf_reset(&line);
		buf_adds(&line, "{\"chat\":");
		buf_add_json(&line, chat.data, chat.len);
		buf_addc(&line, '}');
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		assert_bytes(t[i].call, got.data, got.len, t[i].want ? "uA" : "ua");
		if (t[i].want) {
			buf_reset(&want);
			buf_adds(&want, "\"arguments\":");
			buf_add_json(&want, t[i].want, strlen(t[i].want));
			buf_addc(&want, '}');
			if (!strstr(buf_cstr(&record), buf_cstr(&want)))
				fail_msg("%s: %s", t[i].call, record.data);
		}
		for (int c = PREP_UNBALANCED; c < PREP_COUNTS; c++)
			if (c != PREP_REPAIRED && (count[c] > 0) != (c == (int)t[i].why))
				fail_msg("%s: %s", t[i].call, prep_count_name[c]);
		buf_free(&chat);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
	buf_free(&want);
}

/* Several calls in one turn: names and arguments, as they stand in the record. */
static void calls_in_turn(void **state)
{
#define CALL(name, args) "<functioncall> {\"name\": \"" name "\", \"arguments\": " args "}"
	static const struct {
		const char *turn, *want[4]; /* name, arguments, name, arguments */
		enum prep_count why;
	} t[] = {
	    {CALL("f", "'{\"a\": 1}'") "\n" CALL("g", "'{}'"), {"f", "{\"a\": 1}", "g", "{}"}, 0},
	    {"Both: " CALL("f", "{\"a\": 1}") " <|endoftext|>\n" CALL("g", "'{}'"),
		{"f", "{\"a\": 1}", "g", "{}"}, 0},
	    {CALL("f", "'{\"a\": 01}'") CALL("g", "'{}'"), {"f", "{\"a\": 01}", "g", "{}"},
		PREP_ARGS},
	    /* the word inside of an argument */
	    {CALL("f", "'{\"a\": \"<functioncall> {\\\"name\\\": 1}\"}'"),
		{"f", "{\"a\": \"<functioncall> {\\\"name\\\": 1}\"}"}, 0},
	    {CALL("f", "{}") " <functioncall> g()", {"f", "{}"}, 0},
	};
	struct prep_rules rules = rules_of("B1_glaive");
	struct buf line = {0}, got = {0}, record = {0}, want = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf chat = {0};
		const char *at;

		buf_addf(&chat, "USER: q\n\n\nASSISTANT: %s <|endoftext|>", t[i].turn);
		buf_reset(&line);
		buf_adds(&line, "{\"chat\":");
		buf_add_json(&line, chat.data, chat.len);
		buf_addc(&line, '}');
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		at = strstr(buf_cstr(&record), "\"tool_calls\":[");
		buf_reset(&want);
		for (int k = 0; k < 4 && t[i].want[k]; k += 2) {
			buf_adds(&want, k ? "," : "\"tool_calls\":[");
			buf_addf(&want, "{\"id\":\"functions.%s:%d\",\"type\":\"function\",",
			    t[i].want[k], k / 2);
			buf_addf(
			    &want, "\"function\":{\"name\":\"%s\",\"arguments\":", t[i].want[k]);
			buf_add_json(&want, t[i].want[k + 1], strlen(t[i].want[k + 1]));
			buf_adds(&want, "}}");
		}
		buf_addc(&want, ']');
		if (!at || strncmp(at, want.data, want.len) != 0)
			fail_msg("%s: %s", t[i].turn, record.data);
		assert_int_equal(count[PREP_ARGS], t[i].why == PREP_ARGS);
		buf_free(&chat);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
	buf_free(&want);
}

static void thoughts(void **state)
{
	static const struct {
		const char *answer, *content, *reasoning;
		enum prep_count why;
	} t[] = {
	    {"plain", "plain", NULL, 0},
	    {"<think>a</think>b", "b", "a", 0},
	    {"<think>\na\n</think>\n\nb", "\n\nb", "\na\n", 0},
	    {"<think></think>b", "b", NULL, 0},
	    {"a</think>b", "b", "a", PREP_OPENER},
	    {"a</think>b</think>c", "b</think>c", "a", PREP_OPENER},
	    {"<think>a</think>b</think>", "b</think>", "a", 0},
	    {" <think>a</think>b", " <think>a</think>b", NULL, 0},
	    {"<think>a", "<think>a", NULL, 0},
	    {"see <think> and </think>", "see <think> and </think>", NULL, 0},
	};
	struct prep_rules rules = rules_of("A2_kimik25");
	struct buf line = {0}, got = {0}, record = {0}, want = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&line);
		buf_adds(&line, "{\"problem\":\"q\",\"solution\":");
		buf_add_json(&line, t[i].answer, strlen(t[i].answer));
		buf_addc(&line, '}');
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		buf_reset(&want);
		buf_adds(&want, "\"assistant\",\"content\":");
		buf_add_json(&want, t[i].content, strlen(t[i].content));
		if (t[i].reasoning) {
			buf_adds(&want, ",\"reasoning_content\":");
			buf_add_json(&want, t[i].reasoning, strlen(t[i].reasoning));
		}
		buf_adds(&want, ",\"weight\":1");
		if (!strstr(buf_cstr(&record), buf_cstr(&want)))
			fail_msg("%s: %s", t[i].answer, record.data);
		assert_int_equal(count[PREP_OPENER], t[i].why == PREP_OPENER);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
	buf_free(&want);
}

static void filters(void **state)
{
	static const struct {
		const char *expr, *column;
		int passes, none;
	} t[] = {
	    {"x>=0.7", "0.7", 1, 0},
	    {"x>=0.7", "\"0.70\"", 1, 0},
	    {"x>=0.7", "\"0.69\"", 0, 0},
	    {"x>=0.7", "\"nan\"", 0, 1},
	    {"x>=0.7", "\"\"", 0, 1},
	    {"x>=0.7", "null", 0, 1},
	    {"x>=0.7", "true", 0, 1},
	    {"x<1e1", "9", 1, 0},
	    {"x>9", "9", 0, 0},
	    {"x<9", "9", 0, 0},
	    {"x<=9", "9.0", 1, 0},
	    {"x=1", "\"1.0\"", 1, 0},
	    {"x=true", "true", 1, 0},
	    {"x = a b ", "\"a b\"", 1, 0},
	    {"x=ab", "\"a\\u0062\"", 1, 0},
	    {"x= =1", "\"=1\"", 1, 0},
	    {"x!=1", "2", 1, 0},
	    {"x!=1", "null", 1, 1},
	    {"x.y=3", "{\"y\":3}", 1, 0},
	    {"x.y=3", "\"{\\\"y\\\":3}\"", 1, 0},
	    {"x.y.z=3", "{\"y\":{\"z\":3}}", 1, 0},
	    {"x.y=3", "\"{'y':3}\"", 0, 1},
	    {"x.y=3", "[3]", 0, 1},
	    {"z=3", "3", 0, 1},
	    {"a.b=3", "{},\"a.b\":3", 1, 0},
	    {"a.b=3", "{},\"a.b\":3,\"a\":{\"b\":4}", 1, 0},
	    {"a.b=3", "{},\"a.b\":null,\"a\":{\"b\":3}", 0, 1},
	    {"a.b=3", "{},\"a.c\":4,\"a\":{\"b\":3}", 1, 0},
	    {"x.a.b=3", "{\"a.b\":3}", 1, 0},
	    {"x.a.b=3", "\"{\\\"a.b\\\":3}\"", 1, 0},
	    {"x.a.=3", "{\"a\":{\"\":3}}", 1, 0},
	};
	static const char *const wrong[] = {
	    "", "x", "=3", "x>=a", "x<", "x==1", "x!==1", "x=>1", "x=<1"};
	struct prep_rules rules = rules_of("any");
	struct buf line = {0}, got = {0};
	uint64_t count[PREP_COUNTS];
	struct prep_filter f;
	struct err e;

	(void)state;
	rules.filters = &f;
	rules.nfilters = 1;
	for (size_t i = 0; i < LEN(t); i++) {
		assert_int_equal(prep_filter_parse(&f, t[i].expr, &e), 0);
		buf_reset(&line);
		buf_addf(&line, "{\"prompt\":\"q\",\"x\":%s}", t[i].column);
		convert(&rules, buf_cstr(&line), &got, count, NULL);
		assert_bytes(t[i].expr, got.data, got.len, t[i].passes ? "u" : "filtered");
		assert_int_equal(count[PREP_NO_SCORE], t[i].none);
	}
	for (size_t i = 0; i < LEN(wrong); i++)
		assert_int_equal(prep_filter_parse(&f, wrong[i], &e), -1);
	buf_free(&line);
	buf_free(&got);
}

/* Content in parts: the message that they become, or the class of the reject. */
static void parts(void **state)
{
#define TEXT	"{\"type\":\"text\",\"text\":\"x\"}"
#define THOUGHT "{\"type\":\"reasoning\",\"text\":\"y\"}"
#define A_CALL	"{\"type\":\"tool_call\",\"text\":\"{\\\"name\\\":\\\"f\\\"}\"}"
#define NO_CALL "{\"type\":\"tool_call\",\"text\":\"f()\"}"
#define PICTURE "{\"type\":\"image_url\",\"text\":\"z\"}"
#define ANSWER	"{\"role\":\"assistant\",\"content\":"
	static const struct {
		const char *role, *content, *got, *want; /* want: a part of the record */
	} t[] = {
	    {"assistant", TEXT "," TEXT, "ua", ANSWER "\"xx\",\"weight\""},
	    {"assistant", "\"a\"," TEXT, "ua", ANSWER "\"ax\",\"weight\""},
	    {"assistant", "{\"type\":\"t\\u0065xt\",\"text\":\"x\"}", "ua",
		ANSWER "\"x\",\"weight\""},
	    {"assistant", "{\"type\":7,\"text\":\"x\"}", "type", ""},
	    {"assistant", THOUGHT "," TEXT, "ua", ANSWER "\"x\",\"reasoning_content\":\"y\""},
	    {"assistant", A_CALL, "uA", ANSWER "\"\",\"tool_calls\":[{\"id\":\"functions.f:0\""},
	    {"assistant", NO_CALL, "type", ""},
	    {"assistant", PICTURE, "type", ""},
	    {"assistant", "7", "type", ""},
	    {"user", TEXT "," TEXT, "u", "{\"role\":\"user\",\"content\":\"xx\"}"},
	    {"user", TEXT "," THOUGHT, "type", ""},
	    {"user", TEXT "," A_CALL, "type", ""},
	    {"system", A_CALL, "type", ""},
	};
	struct prep_rules rules = rules_of("openai");
	struct buf line = {0}, got = {0}, record = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&line);
		buf_addf(&line, "{\"messages\":[%s{\"role\":\"%s\",\"content\":[%s]}]}",
		    *t[i].role == 'a' ? "{\"role\":\"user\",\"content\":\"q\"}," : "", t[i].role,
		    t[i].content);
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		assert_bytes(line.data, got.data, got.len, t[i].got);
		if (!strstr(buf_cstr(&record), t[i].want))
			fail_msg("%s: %s", line.data, record.data);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
}

/* What a message's own weight becomes, where the target wrote the answers and where not. */
static void weights(void **state)
{
	static const struct {
		const char *weight, *native, *prompt; /* NULL: a reject */
	} t[] = {
	    {"0", "0", "0"},
	    {"0.0", "0", "0"},
	    {"false", "0", "0"},
	    {"1", "1", "0"},
	    {"1.0", "1", "0"},
	    {"true", "1", "0"},
	    {"null", "1", "0"},
	    {"\"0\"", NULL, "0"},
	    {"0.5", NULL, "0"},
	};
	struct prep_rules rules = rules_of("openai");
	struct buf line = {0}, got = {0}, record = {0}, want = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < 2 * LEN(t); i++) {
		const char *weight = t[i / 2].weight,
			   *w = i % 2 ? t[i / 2].native : t[i / 2].prompt;

		rules.native = i % 2;
		buf_reset(&line);
		buf_addf(&line,
		    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"
		    "{\"role\":\"assistant\",\"content\":\"a\",\"weight\":%s}]}",
		    weight);
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		assert_bytes(weight, got.data, got.len, w ? "ua" : "type");
		buf_reset(&want);
		buf_addf(&want, "\"weight\":%s}", w ? w : "");
		if (w && !strstr(buf_cstr(&record), buf_cstr(&want)))
			fail_msg("%s: %s", weight, record.data);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
	buf_free(&want);
}

/* What a column of scores becomes in meta: a number as JSON spells it, else null. */
static void scores(void **state)
{
	static const struct {
		const char *column, *want;
	} t[] = {
	    {"0.50", "0.50"},
	    {"\"0.50\"", "0.50"},
	    {"\"-1E+2\"", "-1E+2"},
	    {"\"1e400\"", "1e400"},
	    {"\"1.e5\"", "null"},
	    {"\"1.\"", "null"},
	    {"\"01\"", "null"},
	    {"\"-\"", "null"},
	    {"\"0x1\"", "null"},
	    {"\"1 \"", "null"},
	    {"\"nan\"", "null"},
	    {"\"\"", "null"},
	    {"true", "null"},
	    {"[1]", "null"},
	    {"null", "null"},
	};
	struct prep_rules rules = rules_of("B2_opencodeinstruct");
	struct buf line = {0}, got = {0}, record = {0}, want = {0};
	uint64_t count[PREP_COUNTS];

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&line);
		buf_addf(&line, "{\"input\":\"q\",\"average_test_score\":%s}", t[i].column);
		buf_reset(&record);
		convert(&rules, buf_cstr(&line), &got, count, &record);
		buf_reset(&want);
		buf_addf(&want, "\"average_test_score\":%s}}", t[i].want);
		if (!strstr(buf_cstr(&record), buf_cstr(&want)))
			fail_msg("%s: %s", t[i].column, record.data);
	}
	buf_free(&line);
	buf_free(&got);
	buf_free(&record);
	buf_free(&want);
}

/* The reference run: ten sets, two of them native, 88,088 rows. */
static void datasets(void **state)
{
	uint64_t rows = 0;
	int known = 0, native = 0;

	(void)state;
	for (const struct prep_dataset *d = prep_datasets; d->name; d++) {
		assert_ptr_equal(prep_dataset_named(d->name), d);
		assert_non_null(d->format[0]);
		assert_null(d->format[3]); /* the list has an end */
		rows += d->sample;
		known += d->sample > 0;
		native += d->native;
	}
	assert_int_equal(rows, 88088);
	assert_int_equal(known, 10);
	assert_int_equal(native, 2);
	for (size_t i = 0; prep_all_formats[i]; i++)
		assert_ptr_equal(prep_all_formats[i], &prep_formats[i]);
	assert_null(prep_dataset_named("other")->name);
	assert_null(prep_format_named("other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order),
	    cmocka_unit_test(calls_in_text),
	    cmocka_unit_test(calls_in_turn),
	    cmocka_unit_test(thoughts),
	    cmocka_unit_test(filters),
	    cmocka_unit_test(parts),
	    cmocka_unit_test(weights),
	    cmocka_unit_test(scores),
	    cmocka_unit_test(datasets),
	};

	return cmocka_run_group_tests_name("prep_row", tests, NULL, NULL);
}
