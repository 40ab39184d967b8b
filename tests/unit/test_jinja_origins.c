#include "jinja_run.h"

/* "1:abc 0:, 2!:x": the runs, with their origins, "!" inside {% generation %}. */
static void show(const struct jinja_out *out, struct buf *b)
{
	size_t from = 0;

	buf_reset(b);
	for (size_t i = 0; i < out->nruns; i++) {
		const struct jinja_run *r = &out->runs[i];

		buf_addf(b, "%s%u%s:%.*s", i ? " " : "", r->origin, r->generation ? "!" : "",
		    (int)(r->end - from), out->text.data + from);
		from = r->end;
	}
}

/* a is "hello" (1), b "WORLD" (2), l ["x" (3), "y" (4)], u "é-ß" (5) */
static const char context[] = "{\"a\": \"hello\", \"b\": \"WORLD\", \"l\": [\"x\", \"y\"], \"u\": "
			      "\"\xc3\xa9-\xc3\x9f\", \"i\": 5}";

static void strings_keep_their_origin(void **state)
{
	static const struct {
		const char *template, *want;
	} rows[] = {
	    {"a", "0:a"},
	    {"{{ a }}", "1:hello"},
	    {"<{{ a }}>{{ a }}{{ b }}", "0:< 1:hello 0:> 1:hello 2:WORLD"},
	    {"{{ a ~ '-' ~ b }}", "1:hello 0:- 2:WORLD"},
	    {"{{ a + b }}", "1:hello 2:WORLD"},
	    {"{{ (a ~ b)[3:7] }}", "1:lo 2:WO"},
	    {"{{ (a ~ b)[::-1] }}", "2:DLROW 1:olleh"},
	    {"{{ a[1] }}{{ a[:-1] }}", "1:ehell"},
	    {"{{ ('  ' ~ a ~ '  ')|trim }}", "1:hello"},
	    {"{{ (a ~ ',' ~ b).split(',')[1] }}", "2:WORLD"},
	    {"{{ l|join('+') }}", "3:x 0:+ 4:y"},
	    {"{{ a|replace('l', b) }}", "1:he 2:WORLDWORLD 1:o"},
	    {"{{ a|upper }}{{ b.lower() }}{{ u|upper }}", "1:HELLO 2:world 5:\xc3\x89-SS"},
	    {"{{ (a ~ b)|title }}", "1:Hello 2:world"},
	    {"{{ a|tojson }}", "0:\" 1:hello 0:\""},
	    {"{{ {'k': (a ~ b)}|tojson }}", "0:{\"k\": \" 1:hello 2:WORLD 0:\"}"},
	    {"{{ '%s|%5s' % (a, l[0]) }}", "1:hello 0:|     3:x"},
	    {"{{ '{}={}'.format(a, i) }}", "1:hello 0:=5"},
	    {"{{ a ~ i }}{{ i }}", "1:hello 0:55"},
	    {"{{ [a] }}", "0:['hello']"},
	    {"{% set s %}<{{ a }}>{% endset %}{{ s }}{{ s|length }}", "0:< 1:hello 0:>7"},
	    {"{% macro m(x) %}({{ x }}){% endmacro %}{{ m(a) }}{{ m(b) ~ '!' }}",
		"0:( 1:hello 0:)( 2:WORLD 0:)!"},
	    {"{% filter upper %}x{{ a }}{% endfilter %}", "0:X 1:HELLO"},
	    {"{% set ns = namespace(s='') %}{% for x in l %}{% set ns.s = ns.s + x + ';' %}{% "
	     "endfor %}"
	     "{{ ns.s }}",
		"3:x 0:; 4:y 0:;"},
	    {"{{ a|e }}{{ a|string }}{{ a|safe }}{{ a|list|last }}{{ a|first }}",
		"1:hellohellohellooh"},
	    {"{{ x|default(a) }}{{ a or b }}", "1:hellohello"},
	    {"{{ (a ~ '\n' ~ b)|indent(1) }}", "1:hello 0:\n  2:WORLD"},
	    {"{{ a.partition('l')[2] }}{{ a.removeprefix('he') }}", "1:lollo"},
	    {"{% set p = a ~ b %}{% set q = p ~ '1' %}{% set r = p ~ '2' %}{{ p }} {{ q }} {{ r }}",
		"1:hello 2:WORLD 0:  1:hello 2:WORLD 0:1  1:hello 2:WORLD 0:2"},
	    {"a{% generation %}b{{ a }}{% endgeneration %}c{{ a }}",
		"0:a 0!:b 1!:hello 0:c 1:hello"},
	};
	struct jinja_out out = {0};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};

		if (render(&out, rows[i].template, context, NULL, &e) < 0)
			fail_msg("%s: %s", rows[i].template, e.msg);
		show(&out, &b);
		assert_bytes(rows[i].template, b.data, b.len, rows[i].want);
	}
	jinja_out_free(&out);
	buf_free(&b);
}

/* One jinja_out for rendering after rendering. */
static void an_output_is_used_again(void **state)
{
	struct jinja_out out = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(render(&out, "{{ a }}{{ b }}", context, NULL, &e), 0);
	assert_int_equal(out.nruns, 2);
	assert_int_equal(render(&out, "{{ a }}{{ nothing.at_all }}", context, NULL, &e), -1);
	assert_int_equal(render(&out, "", context, NULL, &e), 0);
	assert_int_equal(out.nruns, 0);
	assert_int_equal(out.text.len, 0);
	jinja_out_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(strings_keep_their_origin),
	    cmocka_unit_test(an_output_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
