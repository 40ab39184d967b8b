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

static void filters_of_numbers(void **state)
{
	static const struct row rows[] = {
	    {"{{ [' 1_000 '|int, '007'|int, '+5'|int, '-0x1F'|int(0, 16), '0b11'|int(0, 2), "
	     "'0o17'|int(0, 8), '12'|int(9, 1), 'zz'|int(0, 36), '12'|int(5, 'a')] }}",
		NULL, "[1000, 7, 5, -31, 3, 15, 12, 1295, 12]"},
	    {"{{ ['000123456789012345678901234567890'|int, '-123456789012345678901234567890'|int] "
	     "}}",
		NULL, "[123456789012345678901234567890, -123456789012345678901234567890]"},
	    {"{{ 'ffffffffffffffffffff'|int(0, 16) }}", NULL,
		"!t:1:27: an integer beyond 64 bits in base 16"},
	    {"{{ ['+1.5'|float, '-1.5e3'|float, '1_0.5'|float, 'inf'|float, '-Infinity'|float, "
	     "'+nan'|float, 'x'|float(2), ' 1 '|float, '1__0'|float(3)] }}",
		NULL, "[1.5, -1500.0, 10.5, inf, -inf, nan, 2, 1.0, 3]"},
	    {"{{ [-3|abs, 2.5|abs, (-2.5)|abs, b|abs, n|abs, true|abs] }}",
		"{\"b\": 123456789012345678901234567890, \"n\": -123456789012345678901234567890}",
		"[3, 2.5, 2.5, 123456789012345678901234567890, 123456789012345678901234567890, 1]"},
	    {"{{ zz|abs }}", NULL, "!t:1:7: 'zz' is undefined"},
	    {"{{ zz|round }}", NULL, "!t:1:7: 'zz' is undefined"},
	    {"{{ 2.5|round('a') }}", NULL,
		"!t:1:8: an integer is needed, not a value of type 'str'"},
	    {"{{ [2.5|round, 3.5|round, 2.675|round(2), 1234|round(-2), 1234.5|round(-2), "
	     "true|round, 5|round, 1.5|round(400), 1e300|round(-310), 2.1|round(1, 'ceil'), "
	     "2.19|round(1, 'floor'), 7|round(0, 'ceil'), 15|round(-1), -2.5|round] }}",
		NULL, "[2.0, 4.0, 2.67, 1200, 1200.0, 1, 5, 1.5, 0.0, 2.1, 2.1, 7.0, 20, -2.0]"},
	    {"{{ [inf|round(2), (-0.4)|round, (-5.5)|round(-400)] }}", "{\"inf\": 1e999}",
		"[inf, -0.0, -0.0]"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void filters_of_sequences(void **state)
{
	static const struct row rows[] = {
	    {"{{ [{'a': 1, 'b': 2}|last, {'a': 1}.items()|last, [1, 2]|last, {'a': 1}|first] }}",
		NULL, "['b', ('a', 1), 2, 'a']"},
	    {"{{ ['a', 'b']|sum }}", NULL, "!t:1:15: no '+' of values of type 'int' and 'str'"},
	    {"{{ ['a', 'b']|sum(start='') }}", NULL, "!t:1:15: sum of strings: use join"},
	    {"{{ [[[1], [2]]|sum(start=[]), [1.5, 2]|sum, [{'a': 3}]|sum('a', 4), []|sum] }}", NULL,
		"[[1, 2], 3.5, 7, 0]"},
	    {"{{ range(12)|batch(20)|list }}", NULL, "[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]"},
	    {"{{ range(40)|batch(33)|map('length')|list }}{{ [1, 2, 3]|batch(2, 'x')|list }}", NULL,
		"[33, 7][[1, 2], [3, 'x']]"},
	    {"{{ [1, 2, 3]|batch(2.0)|list }}{{ [1, 2, 3]|batch(2.5)|list }}{{ [1]|batch(0)|list "
	     "}}",
		NULL, "[[1, 2], [3]][[1, 2, 3]][[], [1]]"},
	    {"{{ [{'a': 'b', 'n': 1}, {'a': 'B', 'n': 0}, {'a': 'a', 'n': "
	     "5}]|sort(attribute='a,n')|map(attribute='n')|list }}{{ ['b', 'B', 'a']|sort(true, "
	     "true) }}",
		NULL, "[5, 0, 1]['b', 'a', 'B']"},
	    {"{{ {'b': 'x', 'A': 'Y', 'c': 'a'}|dictsort(false, 'value') }}{{ {'b': 1, 'A': "
	     "2}|dictsort(true) }}{{ {'b': 1, 'A': 2}|dictsort(reverse=true) }}",
		NULL,
		"[('c', 'a'), ('b', 'x'), ('A', 'Y')][('A', 2), ('b', 1)][('b', 1), ('A', 2)]"},
	    {"{{ {'b': 1, 1: 2}|dictsort }}", NULL,
		"!t:1:19: no order between values of type 'int' and 'str'"},
	    {"{{ [1, 'a']|sort }}", NULL,
		"!t:1:13: no order between values of type 'str' and 'int'"},
	    {"{{ 5|last }}", NULL, "!t:1:6: a value of type 'int' can't be walked backwards"},
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

static void methods_of_the_sandbox(void **state)
{
	static const struct row rows[] = {
	    {"{% set l = [1, 2, 1, 1.0] %}{{ l.count(1) }}{{ l.index(2) }}{{ (1, 2).index(2) }}{{ "
	     "(1, 1).count(1) }}",
		NULL, "3112"},
	    {"{{ [1].index(3) }}", NULL, "!t:1:7: the value is not in the list"},
	    {"{{ {}.clear() }}", NULL,
		"!t:1:12: the sandbox refuses attribute 'clear' of a value of type 'dict'"},
	    {"{{ [].append(1) }}", NULL,
		"!t:1:13: the sandbox refuses attribute 'append' of a value of type 'list'"},
	    {"{{ {'a': 1}.update(b=2) }}", NULL,
		"!t:1:19: the sandbox refuses attribute 'update' of a value of type 'dict'"},
	    {"{{ {'a': 1}.setdefault('b', 2) }}", NULL,
		"!t:1:23: the sandbox refuses attribute 'setdefault' of a value of type 'dict'"},
	    {"{{ [].copy() }}{{ {'a': 1}.copy() }}", NULL, "[]{'a': 1}"},
	    {"{{ 'abc'.find('c', b) }}{{ 'abcabc'.find('c', n) }}{{ 'abc'.rfind('a', 0, b) }}{{ "
	     "'abcabc'.count('c', 3) }}{{ 'abc'.find('c', 5) }}{{ 'abc'.count('', 1) }}{{ "
	     "'abc'.startswith('b', 1) }}",
		"{\"b\": 123456789012345678901234567890, \"n\": -123456789012345678901234567890}",
		"-1201-13True"},
	    {"{{ 'abc'.index('z') }}", NULL, "!t:1:9: the substring is not found"},
	    {"{{ 'abc'.encode() }}", NULL,
		"!t:1:9: this method of a value of type 'str' is not supported"},
	    {"{{ 'abc'.__class__ }}", NULL, ""},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void functions(void **state)
{
	static const struct row rows[] = {
	    {"{{ dict([('a', 1), ['b', 2]], c=3) }}{{ dict({'a': 1}, a=2) }}{{ dict() }}", NULL,
		"{'a': 1, 'b': 2, 'c': 3}{'a': 2}{}"},
	    {"{{ dict([1]) }}", NULL, "!t:1:8: a value of type 'int' can't be iterated"},
	    {"{{ dict([(1, 2, 3)]) }}", NULL, "!t:1:8: a dict is made of pairs"},
	    {"{{ dict({}, {}) }}", NULL, "!t:1:8: at most one argument by position"},
	    {"{{ dict([([], 1)]) }}", NULL, "!t:1:8: a value of type 'list' can't be a key"},
	    {"{% for i in [1] %}{{ loop.cycle() }}{% endfor %}", NULL,
		"!t:1:26: cycle needs something to cycle through"},
	    {"{% for i in [1, 2, 3] %}{{ loop.cycle('a', 'b') }}{{ loop.changed(i // 2) }}{{ "
	     "loop.revindex0 }}{% endfor %}",
		NULL, "aTrue2bTrue1aFalse0"},
	    {"{{ '%s'|format('a', b=1) }}", NULL,
		"!t:1:9: format takes arguments by position or by name, not both"},
	    {"{{ '%(a)s'|format(a=1) }}", NULL, "1"},
	    {"{{ 'ab cd-ef'|title }}{{ 'x'|center(4) }}|{{ 'abcd'|center(3) }}{{ "
	     "'a\nb\n\nc'|indent('> ') }}{{ [{'a': 1}, {'a': 2}]|join('-', 'a') }}",
		NULL, "Ab Cd-Ef x  |abcda\n> b\n\n> c1-2"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void formats(void **state)
{
	static const struct row rows[] = {
	    {"{{ '{:>35}|{:<35}|{:^36}|{:035d}|{}'.format(b, b, b, b, b) }}",
		"{\"b\": 123456789012345678901234567890}",
		"     123456789012345678901234567890|123456789012345678901234567890     |   "
		"123456789012345678901234567890   "
		"|00000123456789012345678901234567890|123456789012345678901234567890"},
	    {"{{ '{:,}'.format(b) }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:10: this format of an integer beyond 64 bits"},
	    {"{{ '{:+d}'.format(b) }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:11: this format of an integer beyond 64 bits"},
	    {"{{ '{:x}'.format(b) }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:10: this format of an integer beyond 64 bits"},
	    {"{{ '{:35}|'.format(b) }}", "{\"b\": -123456789012345678901234567890}",
		"    -123456789012345678901234567890|"},
	    {"{{ '{:#X} {:#o} {:#b} {:#x}'.format(255, 8, 5, 255) }}", NULL,
		"0XFF 0o10 0b101 0xff"},
	    {"{{ '{:n} {:n} {:.3}  {:.20} {:8}|'.format(12, 1.5, 2.0, 3.0, 1.5) }}", NULL,
		"12 1.5 2.0  3.0      1.5|"},
	    {"{{ '{:c}'.format(55296) }}", NULL, "!t:1:10: no character has this number"},
	    {"{{ '{:c}'.format(1114112) }}", NULL, "!t:1:10: no character has this number"},
	    {"{{ '{:c}{:c}'.format(233, 128512) }}", NULL, "é😀"},
	    {"{{ '{:99999999999}'.format('a') }}", NULL,
		"!t:1:20: a format's width of more than 100000"},
	    {"{{ '{:.}'.format(1.5) }}", NULL, "!t:1:10: format: a precision is missing"},
	    {"{{ '{:{}}'.format(1.5, 3) }}", NULL,
		"!t:1:11: format: fields inside a specification are not supported"},
	    {"{{ '{a!x}'.format(a=1) }}", NULL,
		"!t:1:11: format: a conversion that does not exist"},
	    {"{{ '{a!r}{a!s:>4}'.format(a='q') }}", NULL, "'q'   q"},
	    {"{{ '{a.}'.format(a=1) }}", NULL, "!t:1:10: format: a field that can't be read"},
	    {"{{ '{a[b}'.format(a=1) }}", NULL, "!t:1:11: format: a field that can't be read"},
	    {"{{ '{a[b]c}'.format(a={'b': 2}) }}", NULL,
		"!t:1:13: format: a field that can't be read"},
	    {"{{ '%(a' % {'a': 1} }}", NULL, "!t:1:10: format: a name without its end"},
	    {"{{ '%(z)s' % {'a': 1} }}", NULL, "!t:1:12: format: a name that the mapping has not"},
	    {"{{ '%(a)s-%(a)05d' % {'a': 1} }}", NULL, "1-00001"},
	    {"{{ '[%*d][%-*d][%*d][%.*f][%.*f]' % (4, 1, 4, 2, -4, 3, 1, 2.55, -1, 2.55) }}", NULL,
		"[   1][2   ][3   ][2.5][3]"},
	    {"{{ '%*d' % ('a', 1) }}", NULL, "!t:1:10: format: * needs a small integer"},
	    {"{{ '%*d' % (1,) }}", NULL, "!t:1:10: format: not enough values"},
	    {"{{ '%.*d' % ('a', 1) }}", NULL, "!t:1:11: format: * needs a small integer"},
	    {"{{ '%ld %hd %Lf' % (1, 2, 1.5) }}", NULL, "1 2 1.500000"},
	    {"{{ '%05s|%.2s|%.2r|%5r' % ('a', 'bcd', 'bcd', 'e') }}", NULL, "    a|bc|'b|  'e'"},
	    {"{{ '%d %i %d %d' % (2.9, -2.9, 1e20, -1e20) }}", NULL,
		"2 -2 100000000000000000000 -100000000000000000000"},
	    {"{{ '%d' % x }}", "{\"x\": 1e999}",
		"!t:1:9: format: a float that is no number as an integer"},
	    {"{{ '%d' % (1e300 * 1e300) }}", NULL,
		"!t:1:9: format: a float that is no number as an integer"},
	    {"{{ '%c%c' % ('a', 66) }}", NULL, "aB"},
	    {"{{ '%c' % 'ab' }}", NULL, "!t:1:9: format: %c needs one character"},
	    {"{{ '%.5d|%8.5d|%-8.3x|%#x|%#o|%#X' % (3, -3, 10, 255, 8, 255) }}", NULL,
		"00003|  -00003|00a     |0xff|0o10|0XFF"},
	    {"{{ '%d %5d|' % (b, b) }}", "{\"b\": 123456789012345678901234567890}",
		"123456789012345678901234567890 123456789012345678901234567890|"},
	    {"{{ '{:.5}'.format(1.5) }}{{ '{:.2d}'.format(3) }}", NULL,
		"!t:1:37: format: precision is not allowed in an integer's specification"},
	    {"{{ '{:.5}'.format(b) }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:11: format: precision is not allowed in an integer's specification"},
	    {"{{ '%x' % b }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:9: this format of an integer beyond 64 bits"},
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
	    cmocka_unit_test(filters_of_numbers),
	    cmocka_unit_test(filters_of_sequences),
	    cmocka_unit_test(methods),
	    cmocka_unit_test(methods_of_the_sandbox),
	    cmocka_unit_test(functions),
	    cmocka_unit_test(formats),
	    cmocka_unit_test(tests_of_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
