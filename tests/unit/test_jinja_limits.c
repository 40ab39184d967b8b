#include "jinja_run.h"

static void hostile_templates_get_an_error(void **state)
{
	static const struct jinja_limits few = {
	    .steps = 100000, .output = 10000, .memory = 1 << 20, .depth = 20};
	static const struct {
		const char *template, *want;
	} rows[] = {
	    {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"macros call one another deeper than 20"},
	    {"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
		"more than 100000 steps"},
	    {"{{ range(100000)|list|length }}{{ range(100001) }}", ""},
	    {"{{ range(100001) }}", "more than 100000 numbers"},
	    {"{{ 'x' * 1000000000 }}", "more than 1048576 bytes of memory"},
	    {"{{ ('x' * 1000)|replace('x', 'x' * 1000)|length }}", ""},
	    {"{{ 'x' * 20000 }}", "prints more than 10000 bytes"},
	    {"{% for i in range(3000) %}xxxxxxxx{% endfor %}", "prints more than 10000 bytes"},
	    {"{{ [1] * 1000000000 }}", "bytes of memory"},
	    {"{{ 2 ** 100 }}", "beyond 64 bits"},
	    {"{{ '%1000000000d' % 1 }}", "too large"},
	    {"{{ 'a'.center(1000000000) }}", "bytes of memory"},
	    {"{{ 'a'|indent(1000000000) }}", "bytes of memory"},
	    {"{% set ns = namespace(x=[]) %}{% for i in range(2000) %}{% set ns.x = [ns.x] %}"
	     "{% endfor %}{{ ns.x }}",
		"nested too deep"},
	    {"{% set ns = namespace(x=[]) %}{% for i in range(2000) %}{% set ns.x = [ns.x] %}"
	     "{% endfor %}{{ ns.x|tojson }}",
		"nested too deep"},
	    {"{% set ns = namespace(x=[], y=[]) %}{% for i in range(2000) %}{% set ns.x = [ns.x] %}"
	     "{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
		"nested too deep"},
	    {"{% set ns = namespace(x=()) %}{% for i in range(2000) %}{% set ns.x = (ns.x,) %}"
	     "{% endfor %}{{ {ns.x: 1} }}",
		"nested too deep"},
	    {"{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "nested too deep"},
	    {"{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}"
	     "{% endfor %}",
		"bytes of memory"},
	    {"{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}"
	     "{% endfor %}",
		"bytes of memory"},
	};
	struct jinja_out out = {0};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		int rc = render(&out, rows[i].template, "{}", &few, &e);

		if (rc == 0)
			fail_msg("%s: renders", rows[i].template);
		if (!strstr(e.msg, rows[i].want))
			fail_msg("%s: %s, want %s", rows[i].template, e.msg, rows[i].want);
	}
	jinja_out_free(&out);
}

/* before * n, middle, after * n */
static void nested(
    struct buf *b, const char *before, size_t n, const char *middle, const char *after)
{
	buf_reset(b);
	for (size_t i = 0; i < n; i++)
		buf_adds(b, before);
	buf_adds(b, middle);
	for (size_t i = 0; i < n; i++)
		buf_adds(b, after);
}

static void deep_templates_get_an_error(void **state)
{
	static const struct {
		const char *before, *middle, *after;
	} rows[] = {
	    {"{% if 1 %}", "x", "{% endif %}"},
	    {"{% for i in [1] %}", "x", "{% endfor %}"},
	    {"{% set x %}", "x", "{% endset %}"},
	    {"{% filter upper %}", "x", "{% endfilter %}"},
	    {"{% macro m() %}", "x", "{% endmacro %}"},
	    {"{{ ", "(((((((((((((((((((1)))))))))))))))))))", " }}"},
	};
	static const char *const operators[] = {"-", "not ", "[", "(", "{1:", "1 if 1 else ", "f("};
	static const char *const chains[] = {" + 1", " ~ 1", ".x", "[0]", "|upper", " is string",
	    " and 1", " or 1", "()", " if 1", " * 1", " < 1", " ** 1"};
	struct jinja_out out = {0};
	struct buf b = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		nested(&b, rows[i].before, 20000, rows[i].middle, rows[i].after);
		render(&out, buf_cstr(&b), "{}", NULL, &e);
	}
	for (size_t i = 0; i < LEN(operators); i++) {
		nested(&b, operators[i], 20000, "1", "");
		struct buf t = {0};
		buf_addf(&t, "{{ %s }}", buf_cstr(&b));
		assert_int_equal(render(&out, buf_cstr(&t), "{}", NULL, &e), -1);
		buf_free(&t);
	}
	for (size_t i = 0; i < LEN(chains); i++) {
		struct buf t = {0};

		nested(&b, chains[i], 20000, "", "");
		buf_addf(&t, "{{ x%s }}", buf_cstr(&b));
		render(&out, buf_cstr(&t), "{\"x\": \"y\"}", NULL, &e);
		buf_free(&t);
	}
	buf_free(&b);
	jinja_out_free(&out);
}

/* Strings that grow by appending cost what is appended: 880,000 bytes in 80,000 pieces would take
 * 35 GB if each were a copy. */
static void appending_is_linear(void **state)
{
	static const struct jinja_limits few = {.steps = 2000000, .memory = 32 << 20};
	static const char *const rows[] = {
	    "{% set ns.s = ns.s + s + 'x' %}",
	    "{% set ns.s = ns.s ~ s ~ 'x' %}",
	    "{% set piece = s ~ 'x' %}{% set ns.s = ns.s ~ piece %}",
	};
	struct jinja_out out = {0};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e = {0};
		struct buf t = {0};

		buf_adds(&t, "{% set ns = namespace(s='') %}{% for i in range(80000) %}");
		buf_adds(&t, rows[i]);
		buf_adds(&t, "{% endfor %}{{ ns.s|length }}");
		if (render(&out, buf_cstr(&t), "{\"s\": \"0123456789\"}", &few, &e) < 0)
			fail_msg("%s: %s", rows[i], e.msg);
		assert_bytes(rows[i], out.text.data, out.text.len, "880000");
		buf_free(&t);
	}
	jinja_out_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hostile_templates_get_an_error),
	    cmocka_unit_test(deep_templates_get_an_error),
	    cmocka_unit_test(appending_is_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
