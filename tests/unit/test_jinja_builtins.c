#include "jinja_run.h"

static void tojson(void **state)
{
	static const struct row rows[] = {
	    {"{{ o|tojson }}",
		"{\"o\": {\"b\": [1, 2.0, null, true], \"a\": "
		"\"\\u00e9<'&\\\"\\\\/\\u007f\\u2028\\u0001\\n\"}}",
		"{\"b\": [1, 2.0, null, true], \"a\": "
		"\"\xc3\xa9<'&\\\"\\\\/\x7f\xe2\x80\xa8\\u0001\\n\"}"},
	    {"{{ s|tojson(ensure_ascii=true) }}", "{\"s\": \"\xc3\xa9\xf0\x9f\x8e\x89\\u007f\"}",
		"\"\\u00e9\\ud83c\\udf89\\u007f\""},
	    {"{{ o|tojson(indent=2) }}", "{\"o\": {\"a\": [1, {}], \"b\": []}}",
		"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}"},
	    {"{{ o|tojson(separators=(',', ':')) }}", "{\"o\": {\"a\": [1, 2]}}", "{\"a\":[1,2]}"},
	    {"{{ o|tojson(sort_keys=true) }}", "{\"o\": {\"b\": 1, \"a\": 2}}",
		"{\"a\": 2, \"b\": 1}"},
	    {"{{ [n, 1e22, 1e-7, 0.1]|tojson }}", "{\"n\": -12345678901234567890123}",
		"[-12345678901234567890123, 1e+22, 1e-07, 0.1]"},
	    {"{{ {1: 2, none: 3, true: 4}|tojson }}", NULL, "{\"1\": 4, \"null\": 3}"},
	    {"{{ range(3)|tojson }}", NULL,
		"!t:1:13: a value of type 'range' can't be written as JSON"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void filters(void **state)
{
	static const struct row rows[] = {
	    {"[{{ s|trim }}][{{ 'xax'|trim('x') }}]", "{\"s\": \"\\u00a0 a\\u200b\\u001f\"}",
		"[a\xe2\x80\x8b][a]"},
	    {"{{ s|upper }} {{ s|lower }}",
		"{\"s\": \"stra\xc3\x9f"
		"e \xce\x91\xce\xa3\"}",
		"STRASSE \xce\x91\xce\xa3 stra\xc3\x9f"
		"e \xce\xb1\xcf\x82"},
	    {"{{ x|default('d') }}{{ ''|default('e', true) }}{{ none|default('f') }}", NULL,
		"deNone"},
	    {"{{ [3, 1]|sort }} {{ ['b', 'A']|sort }} {{ ['a', 'A', 'b']|unique|list }}", NULL,
		"[1, 3] ['A', 'b'] ['a', 'b']"},
	    {"{{ {'b': 1, 'A': 2}|dictsort }}", NULL, "[('A', 2), ('b', 1)]"},
	    {"{{ m|selectattr('r', 'equalto', 'u')|map(attribute='c')|join('+') }}",
		"{\"m\": [{\"r\": \"u\", \"c\": \"1\"}, {\"r\": \"a\"}, {\"r\": \"u\", \"c\": "
		"\"2\"}]}",
		"1+2"},
	    {"{{ [1, 'a', none]|select('string')|list }}{{ [0, 1]|reject|list }}", NULL,
		"['a'][0]"},
	    {"{{ 'a\nb'|indent(2) }}|{{ 'a\nb'|indent(2, true) }}", NULL, "a\n  b|  a\n  b"},
	    {"{{ '42.9'|int }} {{ 'x'|int(7) }} {{ 2.5|round }} {{ [1, 3]|max }} {{ [1, 2]|sum }}",
		NULL, "42 7 2.0 3 3"},
	    {"{{ 'aXbX'|replace('X', '-', 1) }}", NULL, "a-bX"},
	    {"{{ []|first is undefined }}{{ 'abc'|last }}", NULL, "Truec"},
	    {"{{ '%s-%03d'|format('a', 5) }} {{ '%.2f' % 3.14159 }}", NULL, "a-005 3.14"},
	    {"{{ '<' + '<b>'|safe }} {{ '<'|e }}", NULL, "&lt;<b> &lt;"},
	    {"{{ 5|items }}", NULL, "<generator>"},
	    {"{{ 5|items|list }}", NULL,
		"!t:1:12: items of a value of type 'int', which is no mapping"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void methods(void **state)
{
	static const struct row rows[] = {
	    {"{{ ' a  b '.split() }}{{ 'a,b,c'.split(',', 1) }}", NULL, "['a', 'b']['a', 'b,c']"},
	    {"{{ 'a</think>b'.split('</think>')[-1] }}{{ '\n a'.lstrip('\n') }}", NULL, "b a"},
	    {"{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith('c') }}{{ 'abc'.find('c') }}",
		NULL, "TrueTrue2"},
	    {"{{ '{} {x} {0.a}'.format(1, x=2) }}", NULL,
		"!t:1:18: format: fields with and without a number"},
	    {"{{ '{0[a]}-{x:>3}-{1!r}'.format({'a': 1}, 'q', x=2) }}", NULL, "1-  2-'q'"},
	    {"{{ 'abc'.upper().lower().title() }}{{ ','.join(['a', 'b']) }}", NULL, "Abca,b"},
	    {"{{ {'a': 1}.items() }}{{ {'a': 1}.keys()|list }}", NULL,
		"dict_items([('a', 1)])['a']"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void tests_of_kind(void **state)
{
	/* string, mapping, iterable, sequence, number, boolean, none, defined */
	static const char ask[] =
	    "{% for v in l %}{{ 1 if v is string else 0 }}{{ 1 if v is mapping else 0 }}"
	    "{{ 1 if v is iterable else 0 }}{{ 1 if v is sequence else 0 }}{{ 1 if v is number "
	    "else 0 }}"
	    "{{ 1 if v is boolean else 0 }}{{ 1 if v is none else 0 }}{{ 1 if v is defined else 0 "
	    "}} "
	    "{% endfor %}{{ x is iterable }}{{ x is sequence }}{{ x is mapping }}"
	    "{{ 1 is true }}{{ true is true }}{{ 0 is false }}";
	static const struct row rows[] = {
	    {ask, "{\"l\": [\"s\", {}, [], 1, 1.5, true, null]}",
		"10110001 01110001 00110001 00001001 00001001 00001101 00000011 "
		"TrueTrueFalseFalseTrueFalse"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tojson),
	    cmocka_unit_test(filters),
	    cmocka_unit_test(methods),
	    cmocka_unit_test(tests_of_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
