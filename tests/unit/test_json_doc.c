#include "base/err.h"
#include "unit.h"
#include "json/doc.h"

static void reads_big_integers_as_reals(void **state)
{
	static const struct {
		const char *text, *want; /* "" is an error */
	} table[] = {
	    {"{\"a\":1000000000000000019884624838656,\"b\":7}",
		"{\"a\":1.0000000000000000199e30,\"b\":7}"},
	    {"[9223372036854775807,99999999999999999999]", "[9.2233720368547758e18,1e20]"},
	    {"[\"99999999999999999999\\\"99999999999999999999\",-99999999999999999999]",
		"[\"99999999999999999999\\\"99999999999999999999\",-1e20]"},
	    {"[99999999999999999999,0.99999999999999999999,1e5]", "[1e20,1.0,100000.0]"},
	    {"[9223372036854775807]", "[9223372036854775807]"},
	    {"[99999999999999999999", ""},
	};

	(void)state;
	for (size_t i = 0; i < LEN(table); i++) {
		struct err e = {0};
		json_t *j = doc_parse(table[i].text, strlen(table[i].text), "x.json", &e);
		json_t *want = json_loads(table[i].want, JSON_DECODE_ANY, NULL);

		assert_int_equal(j == NULL, table[i].want[0] == '\0');
		if (j) {
			assert_true(json_equal(j, want));
		} else {
			assert_string_equal(e.class, "json");
		}
		json_decref(j);
		json_decref(want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_big_integers_as_reals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
