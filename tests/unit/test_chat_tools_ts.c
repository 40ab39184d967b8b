#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "chat/impl.h"

#define HEAD "# Tools\n\n## functions\nnamespace functions {\n"
#define FN(params) \
	"[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" params "}}]"
#define OBJ(props) FN("{\"type\":\"object\",\"properties\":{" props "}}")
#define DEFS(d, p) FN("{\"$defs\":{" d "},\"properties\":{" p "}}")
/* A property's comment can't be printed. */
#define BAD(more)                                                                  \
	"{" more "\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"," \
	"\"description\":[1]}}}"
#define OUT(params) HEAD "type f = (_: " params ") => any;\n}\n"
#define ONE(prop)   OUT("{\n  " prop "\n}")

static const struct {
	const char *in, *want; /* want NULL: the template falls back to JSON */
} rows[] = {
    /* the frame */
    {"[]", ""},
    {"[{\"type\":\"_plugin\"},{\"type\":\"function\",\"function\":{}}]", ""},
    {"[{\"type\":\"function\",\"function\":{\"name\":\"noargs\"}}]",
	HEAD "type noargs = (_: {}) => any;\n}\n"},
    {"[{\"type\":\"function\",\"function\":{\"description\":\"a\\n\\nb\"}}]",
	HEAD "// a\n\n// b\ntype function = (_: {}) => any;\n}\n"},
    {FN("null"), OUT("{}")},
    {FN("{\"type\":\"string\"}"), OUT("{}")},
    {FN("[1]"), NULL},
    {"[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":5}}]", NULL},
    /* objects */
    {OBJ("\"a\":{\"type\":\"string\"}"), ONE("a?: string")},
    {FN("{\"properties\":{\"a\":true,\"b\":false,\"c\":{}},\"required\":[\"c\",\"b\"]}"),
	OUT("{\n  b: null,\n  c: any,\n  a?: any\n}")},
    {OBJ("\"o\":{\"type\":\"object\",\"additionalProperties\":true}"),
	ONE("o?: {\n    [k: string]: any\n  }")},
    {OBJ("\"o\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","
	 "\"description\":\"not printed\"}}"),
	ONE("o?: {\n    [k: string]: number\n  }")},
    {OBJ("\"o\":{\"type\":\"object\",\"additionalProperties\":null}"), ONE("o?: {}")},
    {OBJ("\"o\":{\"type\":\"object\",\"additionalProperties\":1}"), NULL},
    {FN("{\"properties\":null}"), NULL},
    {FN("{\"properties\":{},\"required\":null}"), NULL},
    /* comments */
    {OBJ("\"a\":{\"type\":\"string\",\"pattern\":\"^a\",\"minLength\":1,\"maximum\":3,"
	 "\"description\":\"d\",\"default\":\"\xc3\xa9\"}"),
	ONE("// d\n  // minLength: 1, pattern: ^a\n  // Default: \"\xc3\xa9\"\n  a?: string")},
    {OBJ("\"a\":{\"type\":\"number\",\"maximum\":null,\"minimum\":1.0,\"default\":1.0}"),
	ONE("// maximum: None, minimum: 1.0\n  // Default: 1.0\n  a?: number")},
    {OBJ("\"a\":{\"type\":\"boolean\",\"default\":true}"), ONE("// Default: True\n  a?: boolean")},
    {OBJ("\"a\":{\"type\":\"object\",\"default\":{\"k\":[1,\"x\"]}}"),
	ONE("// Default: {\"k\": [1, \"x\"]}\n  a?: {}")},
    {OBJ("\"a\":{\"type\":\"string\",\"default\":null}"), ONE("a?: string")},
    {OBJ("\"a\":{\"type\":\"string\",\"description\":[1]}"), NULL},
    {OBJ("\"a\":{\"type\":\"string\",\"description\":[]}"), ONE("a?: string")},
    /* types */
    {OBJ("\"a\":{\"enum\":[\"x\\\"y\",1.0,null,true]}"), ONE("a?: \"x\"y\" | 1.0 | None | True")},
    {OBJ("\"a\":{\"enum\":[1,true,null],\"type\":\"integer\"}"), ONE("a?: 1 | True | None")},
    {OBJ("\"a\":{\"enum\":[1.5],\"type\":\"integer\"}"), NULL},
    {OBJ("\"a\":{\"enum\":[\"x\"],\"type\":[\"null\",\"string\"]}"), ONE("a?: \"x\"")},
    {OBJ("\"a\":{\"enum\":[\"x\"],\"type\":[\"string\",\"number\"]}"), NULL},
    {OBJ("\"a\":{\"enum\":[\"x\"],\"type\":[\"null\",\"string\",\"number\"]}"), NULL},
    {OBJ("\"a\":{\"anyOf\":[{\"type\":\"string\",\"description\":\"no\"},{\"type\":\"null\"}]}"),
	ONE("a?: string | null")},
    {OBJ("\"a\":{\"type\":[\"integer\",\"object\",\"array\"]}"),
	ONE("a?: number | {} | Array<any>")},
    {OBJ("\"a\":{\"type\":[\"any\"]}"), NULL},
    {OBJ("\"a\":{\"type\":\"date\"}"), ONE("a?: date")},
    {OBJ("\"a\":{\"oneOf\":[]}"), NULL},
    {OBJ("\"a\":{\"description\":\"only\"}"), NULL},
    {OBJ("\"a\":{\"type\":\"array\"}"), ONE("a?: Array<any>")},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":{},\"minItems\":1}"),
	ONE("// minItems: 1\n  a?: Array<any>")},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":2}}"),
	ONE("a?: Array<\n    // maxLength: 2\n    string\n  >")},
    /* references */
    {DEFS("\"A\":{\"type\":\"string\",\"description\":\"d\"}", "\"a\":{\"$ref\":\"#/$defs/A\"}"),
	HEAD "// d\ninterface A string\ntype f = (_: {\n  a?: A\n}) => any;\n}\n"},
    {DEFS("\"B\":{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#/$defs/B\"}}}", ""),
	HEAD "interface B {\n  n?: B\n}\ntype f = (_: {}) => any;\n}\n"},
    {FN("{\"properties\":{\"a\":{\"$ref\":\"#\"},\"b\":true},\"required\":[\"b\"],"
	"\"additionalProperties\":1}"),
	HEAD "interface parameters {\n  a?: parameters,\n  b: any\n}\ntype f = (_: parameters) => "
	     "any;\n}\n"},
    {DEFS("\"A\":{\"anyOf\":[{\"$ref\":\"#\"}]}", ""),
	HEAD "interface A parameters\ntype f = (_: {}) => any;\n}\n"},
    {OBJ("\"a\":{\"$ref\":\"#/$defs/A\"}"), NULL},
    {OBJ("\"a\":{\"$ref\":\"http://x\"}"), NULL},
    {DEFS("\"A\":true", ""), NULL},
    {DEFS("\"A\":{\"oneOf\":[]}", ""), NULL},
    /* values as Python prints them, and what is no schema */
    {OBJ("\"a\":{\"enum\":[[\"it's\", \"say \\\"hi\\\"\", \"both ' and \\\"\", \"b\\\\\", "
	 "\"\\n\\r\\t\\u0001\\u007f\", \"é\\u00a0\\u200b\"]]}"),
	ONE("a?: [\"it's\", 'say \"hi\"', 'both \\' and \"', 'b\\\\', '\\n\\r\\t\\x01\\x7f', "
	    "'é\\xa0\\u200b']")},
    {OBJ("\"a\":{\"enum\":[{\"k\": [null, false, true, 1, -2.5, 100000000000000000000000000000], "
	 "\"it's\": {}},false,100000000000000000000000000000,[]]}"),
	ONE("a?: {'k': [None, False, True, 1, -2.5, 100000000000000000000000000000], \"it's\": {}} "
	    "| False | 100000000000000000000000000000 | []")},
    {OBJ("\"a\":{\"type\":\"array\",\"maxItems\":[1,\"x\"],\"minItems\":{\"k\":\"v\"}}"),
	ONE("// maxItems: [1, 'x'], minItems: {'k': 'v'}\n  a?: Array<any>")},
    {OBJ("\"a\":{\"type\":\"boolean\",\"default\":false}"),
	ONE("// Default: False\n  a?: boolean")},
    {OBJ("\"a\":{\"type\":\"number\",\"default\":100000000000000000000000000000}"),
	ONE("// Default: 100000000000000000000000000000\n  a?: number")},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":0.0},\"b\":{\"type\":\"array\",\"items\":0}"),
	ONE("a?: Array<any>,\n  b?: Array<any>")},
    {OBJ("\"a\":{\"$ref\":5}"), NULL},
    {OBJ("\"a\":{\"enum\":5}"), NULL},
    {OBJ("\"a\":{\"anyOf\":5}"), NULL},
    {OBJ("\"a\":{\"anyOf\":[{\"oneOf\":[]}]}"), NULL},
    {OBJ("\"o\":{\"type\":\"object\",\"properties\":{},\"required\":[[1]]}"), NULL},
    {OBJ("\"o\":{\"type\":\"object\",\"properties\":{},\"required\":[{}]}"), NULL},
    {OBJ("\"o\":{\"type\":\"object\",\"$defs\":[1]}"), NULL},
    {OBJ("\"o\":{\"type\":\"object\",\"additionalProperties\":{\"oneOf\":[]}}"), NULL},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"description\":[1]}}"), NULL},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":" BAD("") "}"), NULL},
    {OBJ("\"a\":{\"type\":\"array\",\"items\":" BAD("\"description\":\"d\",") "}"), NULL},
    {OBJ("\"a\":{\"anyOf\":[" BAD("") "]}"), NULL},
    {FN("{\"properties\":{\"a\":{\"$ref\":\"#\"},\"b\":" BAD("") "}}"), NULL},
    {DEFS("\"A\":" BAD(""), ""), NULL},
    {"[{\"type\":\"function\",\"function\":\"f\"}]", NULL},
    {DEFS("\"A\":{\"type\":\"string\"},\"B\":{\"type\":\"number\"}",
	 "\"o\":{\"type\":\"object\",\"$defs\":{\"A\":{\"type\":\"boolean\"}}},\"a\":{\"$ref\":\"#/"
	 "$defs/A\"}"),
	HEAD "interface A boolean\ninterface B number\ntype f = (_: {\n  a?: A,\n  o?: {}\n}) => "
	     "any;\n}\n"},
    {DEFS("\"A\":{},\"B\":{},\"C\":{},\"D\":{},\"E\":{},\"F\":{},\"G\":{},\"H\":{},\"I\":{}", ""),
	HEAD "interface A any\ninterface B any\ninterface C any\ninterface D any\ninterface E "
	     "any\ninterface F any\ninterface G any\ninterface H any\ninterface I any\ntype f = "
	     "(_: {}) => any;\n}\n"},
    /* the reference's example */
    {"[{\"function\":{\"description\":\"Get weather\\nfor a place\",\"name\":\"get_weather\","
     "\"parameters\":{\"properties\":{\"days\":{\"default\":3,\"minimum\":1,\"type\":\"integer\"},"
     "\"loc\":{\"description\":\"city\",\"minLength\":1,\"type\":\"string\"},"
     "\"o\":{\"additionalProperties\":false,\"properties\":{\"x\":{\"type\":[\"string\",\"null\"]}}"
     ","
     "\"type\":\"object\"},\"tags\":{\"items\":{\"description\":\"tag\",\"type\":\"string\"},"
     "\"type\":\"array\"},\"unit\":{\"description\":\"unit\",\"enum\":[\"c\",\"f\"],"
     "\"type\":\"string\"}},\"required\":[\"loc\"],\"type\":\"object\"}},\"type\":\"function\"},"
     "{\"function\":{\"name\":\"noargs\"},\"type\":\"function\"}]",
	HEAD "// Get weather\n// for a place\ntype get_weather = (_: {\n  // city\n"
	     "  // minLength: 1\n  loc: string,\n  // minimum: 1\n  // Default: 3\n"
	     "  days?: number,\n  o?: {\n    x?: string | null,\n    [k: string]: never\n  },\n"
	     "  tags?: Array<\n    // tag\n    string\n  >,\n  // unit\n  unit?: \"c\" | \"f\"\n"
	     "}) => any;\ntype noargs = (_: {}) => any;\n}\n"},
};

static void declares_as_moonshot_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct arena a = {0};
		struct buf b = {0};
		struct jval v;
		struct chat_steps steps = {CHAT_STEPS, CHAT_STEPS};
		struct err e;
		int rc;

		if (val_parse(&v, (struct span){rows[i].in, strlen(rows[i].in)}, 0, &a, NULL, &e))
			fail_msg("%s: %s", rows[i].in, e.msg);
		rc = chat_tools_ts(&b, &v, &steps, &a);
		if (rows[i].want && rc < 0)
			fail_msg("%s: falls back", rows[i].in);
		if (!rows[i].want && rc == 0)
			fail_msg("%s: declared as %.*s", rows[i].in, (int)b.len, b.data);
		assert_bytes(rows[i].in, b.data, b.len, rows[i].want ? rows[i].want : "");
		buf_free(&b);
		arena_free(&a);
	}
}

/* What is looked for among much takes steps, and there is no fall back without any. */
static void takes_steps(void **state)
{
	enum { N = 1000 };
	static const struct {
		const char *open, *each, *then, *also, *close;
	} many[] = {
	    {"{\"$defs\":{\"x\":{}", ",\"%d\":{}", "},\"properties\":{\"x\":{}", "", "}}"},
	    {"{\"$defs\":{\"x\":{}", ",\"%d\":{}", "},\"properties\":{\"x\":{}",
		",\"%d\":{\"$ref\":\"#/$defs/%d\"}", "}}"},
	    {"{\"required\":[\"x\"", ",\"%d\"", "],\"properties\":{\"x\":{}", ",\"%d\":{}", "}}"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(many); i++) {
		struct chat_steps steps = {SIZE_MAX, SIZE_MAX};
		struct arena a = {0};
		struct buf in = {0}, out = {0};
		struct jval v;
		struct err e;
		size_t took;

		buf_addf(
		    &in, "[{\"type\":\"function\",\"function\":{\"parameters\":%s", many[i].open);
		for (int k = 0; k < N; k++)
			buf_addf(&in, many[i].each, k);
		buf_adds(&in, many[i].then);
		for (int k = 0; k < N; k++)
			buf_addf(&in, many[i].also, k, k);
		buf_addf(&in, "%s}}]", many[i].close);
		assert_int_equal(val_parse(&v, (struct span){in.data, in.len}, 0, &a, NULL, &e), 0);
		assert_int_equal(chat_tools_ts(&out, &v, &steps, &a), 0);
		took = steps.all - steps.left;
		assert_in_range(took, N * N / 32, N * N);
		steps = (struct chat_steps){took, took};
		assert_int_equal(chat_tools_ts(&out, &v, &steps, &a), -1);
		assert_int_equal(steps.left, 0);
		buf_free(&in);
		buf_free(&out);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(declares_as_moonshot_does),
	    cmocka_unit_test(takes_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
