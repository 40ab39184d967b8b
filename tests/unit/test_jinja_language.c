#include "jinja_run.h"

static void white_space(void **state)
{
	static const struct row rows[] = {
	    {"a\n{% if true %}\nb\n{% endif %}\nc\n", NULL, "a\nb\nc"},
	    {"a\n  {% if true %}  \n  b\n  {% endif %}\n c", NULL, "a\n  \n  b\n c"},
	    {" x {% if true %}y{% endif %}", NULL, " x y"},
	    {"a\n  {%+ if true +%}\nb{% endif %}", NULL, "a\n  \nb"},
	    {"a \n {%- if true -%} \n b {%- endif %} c", NULL, "ab c"},
	    {"  {{ 1 }}\n", NULL, "  1"},
	    {"a {{- 1 -}} b", NULL, "a1b"},
	    {"{{ 1 }}\n\n", NULL, "1\n"},
	    {"a\r\nb\rc\r\n", NULL, "a\nb\nc"},
	    {"a\n  {# c #}\nb {#- c -#} d", NULL, "a\nbd"},
	    {"{% raw %}{{ x }}{% y %}{% endraw %}", NULL, "{{ x }}{% y %}"},
	    {"{{ '}}' }}{% set a = '%}' %}{{ a }}", NULL, "}}%}"},
	    {"{{ {'a': {'b': 1}}}}", NULL, "{'a': {'b': 1}}"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void expressions(void **state)
{
	static const struct row rows[] = {
	    {"{{ 7 / 2 }} {{ 6 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 3 }} {{ 2 ** -1 }}", NULL,
		"3.5 3.0 -4 2 8 0.5"},
	    {"{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1e16 }} {{ 0.1 + 0.2 }} {{ 1e-7 }}", NULL,
		"3.0 0.5 1e+16 0.30000000000000004 1e-07"},
	    {"{{ 2 + 3 * 4 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}", NULL, "14 64 4"},
	    {"{{ 1 == 1.0 == true }} {{ '1' == 1 }} {{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }}", NULL,
		"True False True False"},
	    {"{{ n }} {{ n + 1 if false else 'x' }} {{ n == n }} {{ n > 1 }}",
		"{\"n\": 123456789012345678901234567890}",
		"123456789012345678901234567890 x True True"},
	    {"{{ n + 1 }}", "{\"n\": 9223372036854775807}",
		"!t:1:6: an integer beyond 64 bits, which is not supported in arithmetic"},
	    {"{{ none or 'a' }} {{ 0 and 1 }} {{ not 1 }} {{ 1 if 0 }} {{ 'b' if 0 else 'c' }}",
		NULL, "a 0 False  c"},
	    {"{{ 'a' ~ 1 ~ none ~ true }} {{ 'a' + 'b' }} {{ 'ab' * 2 }} {{ [1] + [2] }}", NULL,
		"a1NoneTrue ab abab [1, 2]"},
	    {"{{ 'a' + 1 }}", NULL, "!t:1:8: no '+' of values of type 'str' and 'int'"},
	    {"{{ 1 / 0 }}", NULL, "!t:1:6: division by zero"},
	    {"{{ [1, 'x', none, 1.0, (1,), {'a': \"it's\"}] }}", NULL,
		"[1, 'x', None, 1.0, (1,), {'a': \"it's\"}]"},
	    {"{{ s[1] }}{{ s[-1] }}|{{ s[1:3] }}|{{ s[::-1] }}|{{ s[9] }}|{{ s|length }}",
		"{\"s\": \"h\xc3\xa9\xf0\x9f\x8e\x89y\"}",
		"\xc3\xa9y|\xc3\xa9\xf0\x9f\x8e\x89|y\xf0\x9f\x8e\x89\xc3\xa9h||4"},
	    {"{{ l[1:] }} {{ l[::-1] }} {{ l[-1] }} {{ l[5] }} {{ l.0 }}", "{\"l\": [3, 1, 2]}",
		"[1, 2] [2, 1, 3] 2  3"},
	    {"{{ 'x' 'y' \"z\" }} {{ '\\n\\x41\\u00e9\\q' }}", NULL, "xyz \nA\xc3\xa9\\q"},
	    {"{{ 'b' in 'abc' }} {{ 'a' in o }} {{ 9 not in [1] }} {{ 'a' in u }}",
		"{\"o\": {\"a\": 1}}", "True True True False"},
	    {"{{ [1, 2, 3][n:b] }}{{ 'abc'[b:n:-1] }}{{ (1, 2)[:b] }}",
		"{\"b\": 123456789012345678901234567890, \"n\": -123456789012345678901234567890}",
		"[1, 2, 3]cba(1, 2)"},
	    {"{{ [1, 2][b] is undefined }}", "{\"b\": 123456789012345678901234567890}", "True"},
	    {"{% macro f() %}{% endmacro %}{{ f }}", NULL, "<Macro 'f'>"},
	    {"{{ {b: 1}[b] }}{{ {b: 1, 2: 3}[2] }}{{ b in [b] }}",
		"{\"b\": 123456789012345678901234567890}", "13True"},
	    {"{{ 5|string|upper()|length }}{{ (4 is odd)|string }}{{ ('a' is string)|lower }}",
		NULL, "1Falsetrue"},
	    {"{% macro f() %}{{ kwargs }}{% endmacro %}{{ f(a=1, **{'b': 2}) }}{{ dict(a=1, "
	     "**{'b': 2}) }}",
		NULL, "{'a': 1, 'b': 2}{'a': 1, 'b': 2}"},
	    {"{{ dict(**{1: 2}) }}", NULL, "!t:1:12: ** needs strings as keys"},
	    {"{{ 'abc'.removeprefix('') }}{{ 'abc'.removesuffix('abcd') }}{{ "
	     "'abc'.removesuffix('bc') }}{{ 'abc'.removeprefix('ab') }}",
		NULL, "abcabcac"},
	    {"{{ range(10)[2:8:3]|list }}{{ range(5)[::-1]|list }}", NULL, "[2, 5][4, 3, 2, 1, 0]"},
	    {"{{ cycler('a') }}", NULL, "!t:1:10: this function is not supported"},
	    {"{{ 'a'.encode }}", NULL,
		"!t:1:7: attribute 'encode' of a value of type 'str' is not supported"},
	    {"{{ 'ab' is divisibleby }}", NULL, "!t:1:9: 'divisibleby' needs 1 arguments"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

/* Printed at once, without making the sum, where that is the same. */
static void arithmetic(void **state)
{
	static const struct row rows[] = {
	    {"{{ [7 // -1, 7 % -1, -7 // 2, -7 % 2, 7 // -2, 7 % -2] }}", NULL,
		"[-7, 0, -4, 1, -4, -1]"},
	    {"{{ [5.5 - 2, 7 - 0.5, 7.5 / 2, -7.5 // 2, -7.5 % 2, 7.5 % -2.5, 0.0 % -3, 6.0 // "
	     "0.1, 1e300 // 1e-5 > 1] }}",
		NULL, "[3.5, 6.5, 3.75, -4.0, 0.5, -0.0, -0.0, 59.0, True]"},
	    {"{{ [-m, -m - 1, m, -b, -n, 0 - m] }}",
		"{\"m\": 9223372036854775807, \"b\": 123456789012345678901234567890, \"n\": "
		"-123456789012345678901234567890}",
		"[-9223372036854775807, -9223372036854775808, 9223372036854775807, "
		"-123456789012345678901234567890, 123456789012345678901234567890, "
		"-9223372036854775807]"},
	    {"{{ -(-m - 1) }}", "{\"m\": 9223372036854775807}", "9223372036854775808"},
	    {"{{ (-m - 1) // -1 }}", "{\"m\": 9223372036854775807}",
		"!t:1:13: an integer beyond 64 bits, which is not supported in arithmetic"},
	    {"{{ 3 ** 50 }}", NULL,
		"!t:1:6: an integer beyond 64 bits, which is not supported in arithmetic"},
	    {"{{ b + 1 }}", "{\"b\": 123456789012345678901234567890}",
		"!t:1:6: an integer beyond 64 bits, which is not supported in arithmetic"},
	    {"{{ [2 ** 3, 2 ** -1, 2.0 ** 3, 0 ** 0, (-8) ** 3, 4 ** 0.5] }}", NULL,
		"[8, 0.5, 8.0, 1, -512, 2.0]"},
	    {"{{ 0.0 ** -1 }}", NULL, "!t:1:8: division by zero"},
	    {"{{ 0 ** -1 }}", NULL, "!t:1:6: division by zero"},
	    {"{{ (-8) ** 0.5 }}", NULL, "!t:1:9: a power that is a complex number"},
	    {"{{ 10.0 ** 400 }}", NULL, "!t:1:9: the result of ** is too large"},
	    {"{{ 1.0 / 0 }}", NULL, "!t:1:8: division by zero"},
	    {"{{ 1.0 // 0 }}", NULL, "!t:1:8: division by zero"},
	    {"{{ ['ab' * -1, 2 * 'ab', [1] * 2, [1] * -1, [] * 3, (1,) * 2, 'a' * 0] }}", NULL,
		"['', 'abab', [1, 1], [], [], (1, 1), '']"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void comparisons(void **state)
{
	static const struct row rows[] = {
	    {"{{ [b > 1, b < 1, n < 1, n < b, b > n, b == b, b > c, c < b, n > m, [n, b]|sort, b "
	     "== 1.5] }}",
		"{\"b\": 123456789012345678901234567890, \"c\": 12345678901234567890123, \"n\": "
		"-123456789012345678901234567890, \"m\": -12345678901234567890123}",
		"[True, False, True, True, True, True, True, True, False, "
		"[-123456789012345678901234567890, 123456789012345678901234567890], False]"},
	    {"{{ [b < 1e300, b > 1e300] }}",
		"{\"b\": "
		"1000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000}",
		"[False, True]"},
	    {"{{ [b < 1e300, b > 1e300] }}",
		"{\"b\": "
		"-100000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"00000000000000000000000000000000000000000000000000000000000000000000000000}",
		"[True, False]"},
	    {"{{ [range(3) == range(3), range(3) == range(4), range(0) == range(5, 2), range(0, 1, "
	     "5) == range(1), range(0, 4, 2) == range(0, 4, 3), range(0, 4, 2) == range(0, 3, 2), "
	     "range(1, 4) == range(3)] }}",
		NULL, "[True, False, True, True, False, True, False]"},
	    {"{% set l = [1, 2] %}{% set d = {'a': 1} %}{{ [l == l, l == [1], [1, 3] == l, (1,) == "
	     "(1, 2), (1, 2) == [1, 2], d == d, d == {}, d == {'a': 1, 'b': 2}, d == {'b': 1}, d "
	     "== {'a': 1.0}] }}",
		NULL, "[True, False, False, False, False, True, False, False, False, True]"},
	    {"{{ [[1, 2] < [1, 3], [1] < [1, 2], (2,) > (1, 5), [1, 2] <= [1, 2], [] < [1]] }}",
		NULL, "[True, True, True, True, True]"},
	    {"{{ [1, 'a'] < [1, 2] }}", NULL,
		"!t:1:13: no order between values of type 'str' and 'int'"},
	    {"{% macro f() %}{% endmacro %}{% macro g() %}{% endmacro %}{{ [f == f, f == g] }}",
		NULL, "[True, False]"},
	    {"{{ [b > 1.5, 1.5 < b, n < -1.5, -1.5 > n, 1e300 > b, b < 1e300] }}",
		"{\"b\": 10000000000000000000000000, \"n\": -10000000000000000000000000}",
		"[True, True, True, True, True, True]"},
	    {"{{ [b == 1e25, c == 1e25, b < 1e25, c > 1e25, 1e25 == c, 1e25 > b, -1e300 < b] }}",
		"{\"b\": 10000000000000000000000000, \"c\": 10000000000000000905969664}",
		"[False, True, True, False, True, True, True]"},
	    {"{% set nan = inf - inf %}{{ [nan == nan, nan < 1, 1 < nan, 1.5 < nan, nan != 1, 3 < "
	     "inf, 3 > inf, 3 > -inf, 3 < -inf, b < inf, b > nan, 1 == nan] }}",
		"{\"inf\": 1e999, \"b\": 123456789012345678901234567890}",
		"[False, False, False, False, True, True, False, True, False, True, False, False]"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void printed_sums(void **state)
{
	static const struct row rows[] = {
	    {"{{ 'a' + s + 'b' + s[1:] + '' + 'c' }}", "{\"s\": \"xyz\"}", "axyzbyzc"},
	    {"{{ 1 + 2 + 3 }} {{ [1] + [2] + [3] }} {{ (1,) + (2,) }}", NULL, "6 [1, 2, 3] (1, 2)"},
	    {"{{ '<' + '&'|safe + '>' }} {{ '<' + '>' + '&'|safe }} {{ '&'|safe + '<' + '>' }}",
		NULL, "&lt;&&gt; &lt;&gt;& &&lt;&gt;"},
	    {"{{ 'a' + ('b' + 'c') + ('d' ~ 1) }} {{ ('x' + 'y')|upper + 'z' }}", NULL,
		"abcd1 XYz"},
	    {"{{ 'a' + 'b' + 1 + x.y }}", NULL,
		"!t:1:14: no '+' of values of type 'str' and 'int'"},
	    {"{{ 'a' + x.y + 1 }}", NULL, "!t:1:11: 'x' is undefined"},
	    {"{{ 'a' + 'b' + x }}", NULL, "!t:1:14: 'x' is undefined"},
	    {"{{ 1 + 'a' + 'b' }}", NULL, "!t:1:6: no '+' of values of type 'int' and 'str'"},
	    {"{% macro m() %}{{ 'a' + 'b' }}{% endmacro %}{{ 'c' + m() + 'd' }}"
	     "{% set t %}{{ 'e' + 'f' }}{% endset %}{{ t + t }}",
		NULL, "cabdefef"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void undefined_values(void **state)
{
	static const struct row rows[] = {
	    {"[{{ x }}]{{ x is defined }}{{ x|length }}{% for i in x %}!{% endfor %}", NULL,
		"[]False0"},
	    {"{{ x.y }}", NULL, "!t:1:5: 'x' is undefined"},
	    {"{{ o.x.y is defined }}", "{\"o\": {}}",
		"!t:1:7: a value of type 'dict' has no attribute 'x'"},
	    {"{{ o.x is defined }}{{ o['x'] is defined }}{{ l[3] is defined }}",
		"{\"o\": {}, \"l\": []}", "FalseFalseFalse"},
	    {"{{ x + 1 }}", NULL, "!t:1:6: 'x' is undefined"},
	    {"{{ x|tojson }}", NULL,
		"!t:1:6: a value of type 'Undefined' can't be written as JSON"},
	    {"{{ x in 'abc' }}", NULL,
		"!t:1:6: 'in' a string needs a string on its left, not 'Undefined'"},
	    {"{{ n|length }}", "{\"n\": null}", "!t:1:6: a value of type 'None' has no length"},
	    {"{% for i in n %}{% endfor %}", "{\"n\": null}",
		"!t:1:4: a value of type 'None' can't be iterated"},
	    {"{{ l[4].x }}", "{\"l\": []}", "!t:1:8: a value of type 'list' has no element 4"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void attributes(void **state)
{
	static const struct row rows[] = {
	    {"{{ o['items'] }} {{ o.items() | list | length }} {{ o.get('x', 5) }} {{ o.x is none "
	     "}}",
		"{\"o\": {\"items\": 1}}", "1 1 5 False"},
	    {"{{ o.items }}", "{\"o\": {\"items\": 1}}", "<method>"},
	    {"{{ o._p }}", "{\"o\": {\"_p\": 4}}", "4"},
	    {"{{ l.append(1) }}", "{\"l\": []}",
		"!t:1:12: the sandbox refuses attribute 'append' of a value of type 'list'"},
	    {"{{ l.pop() }}", "{\"l\": [1]}",
		"!t:1:9: the sandbox refuses attribute 'pop' of a value of type 'list'"},
	    {"{{ o.update({}) }}", "{\"o\": {}}",
		"!t:1:12: the sandbox refuses attribute 'update' of a value of type 'dict'"},
	    {"{{ ''.__class__.__mro__ }}", NULL,
		"!t:1:16: the sandbox refuses attribute '__class__' of a value of type 'str'"},
	    {"{{ 'a'.encode() }}", NULL,
		"!t:1:7: this method of a value of type 'str' is not supported"},
	    {"{{ 'a'.nothing() }}", NULL,
		"!t:1:15: a value of type 'str' has no attribute 'nothing'"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void scopes(void **state)
{
	static const struct row rows[] = {
	    {"{% set a = 0 %}{% for i in [1, 2] %}{% set a = a + i %}{{ a }}{% endfor %}{{ a }}",
		NULL, "120"},
	    {"{% if true %}{% set a = 1 %}{% endif %}{{ a }}", NULL, "1"},
	    {"{% set ns = namespace(x=0) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor "
	     "%}"
	     "{{ ns.x }}",
		NULL, "3"},
	    {"{% macro m() %}{{ v }}{% endmacro %}{{ m() }}{% set v = 'late' %}{{ m() }}",
		"{\"v\": \"context\"}", "late"},
	    {"{% macro m() %}{{ i }}{% endmacro %}{% for i in [1] %}[{{ m() }}]{% endfor %}", NULL,
		"[]"},
	    {"{% for i in [1, 2] %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}", NULL,
		"12"},
	    {"{% macro m(a, b=2) %}{{ a }}{{ b }}{{ a is defined }};{% endmacro %}{{ m(1) }}"
	     "{{ m(b=3) }}",
		NULL, "12True;3False;"},
	    {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", NULL,
		"!t:1:35: macro 'm' takes at most 1 arguments, 2 are given"},
	    {"{% set a %}x{{ 1 }}{% endset %}[{{ a }}]", NULL, "[x1]"},
	    {"{% filter upper %}a{{ 'b' }}{% endfilter %}", NULL, "AB"},
	    {"{% set x.y = 1 %}", NULL,
		"!t:1:8: can't set an attribute of 'x', which is no namespace"},
	    {"{% with a = 1 %}{{ a }}{% endwith %}{{ a }}", NULL, "1"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

static void loops(void **state)
{
	static const struct row rows[] = {
	    {"{% for i in [7, 8] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}"
	     "{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
		NULL, "10TrueFalse28;21FalseTrue27;"},
	    {"{% for i in [1, 2, 3] if i != 3 %}{{ i }}{{ loop.last }}{% endfor %}", NULL,
		"1False2True"},
	    {"{% for i in [] %}x{% else %}none{% endfor %}", NULL, "none"},
	    {"{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}",
		NULL, "1"},
	    {"{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
		NULL, "13"},
	    {"{% for i in [1] %}{% break %}{% else %}else{% endfor %}", NULL, "else"},
	    {"{% for k, v in o.items() %}{{ k }}={{ v }};{% endfor %}",
		"{\"o\": {\"b\": 1, \"a\": 2}}", "b=1;a=2;"},
	    {"{% for k, v in [[1, 2, 3]] %}{% endfor %}", NULL,
		"!t:1:4: too many values to unpack"},
	    {"{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}", NULL, "321"},
	    {"{% for i in [1] recursive %}{% endfor %}", NULL,
		"!t:1:17: recursive loops are not supported"},
	    {"{% set g = [1, 2]|map('string') %}{{ g|first }}{{ g|list }}{{ g|list }}", NULL,
		"1['2'][]"},
	    {"{% set ns = namespace(s=0) %}{% for i in [1, 2, 3] if ns.s == 0 %}{{ i }}"
	     "{% set ns.s = 1 %}{% endfor %}",
		NULL, "1"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

#define SIXTEEN	   "abcdefghijklmnop"
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN

static void errors_have_places(void **state)
{
	static const struct row rows[] = {
	    {"a\n\n  {{ raise_exception('Bad ' ~ 'role') }}", NULL,
		"!t:3:21: the template raises: Bad role"},
	    {"\xc3\xa9 {{ x.y }}", NULL, "!t:1:7: 'x' is undefined"},
	    {"{% if true %}\n{{ 'a'|shuffle }}{% endif %}", NULL,
		"!t:2:8: no filter named 'shuffle'"},
	    {"{% if false %}{{ 'a'|shuffle }}{% endif %}ok", NULL, "ok"},
	    {"{{ 'a'|shuffle }}", NULL, "!t:1:8: no filter named 'shuffle'"},
	    {"{{ 1 is prime }}", NULL, "!t:1:6: no test named 'prime'"},
	    {"{% if true %}", NULL, "!t:1:4: the block has no {% endif %}"},
	    {"{% for i in [1] %}", NULL, "!t:1:4: the block has no {% endfor %}"},
	    {"{% include 'x' %}", NULL, "!t:1:4: the statement 'include' is not supported"},
	    {"{% call m() %}{% endcall %}", NULL, "!t:1:4: the statement 'call' is not supported"},
	    {"{% wibble %}", NULL, "!t:1:4: unknown tag 'wibble'"},
	    {"{{ (1 }}", NULL, "!t:1:7: unexpected '}', expected ')'"},
	    {"{{ 'a }}", NULL, "!t:1:4: the string has no end"},
	    {"{{ 1 + }}", NULL, "!t:1:8: expected an expression, found }}"},
	    {"{{ a b }}", NULL, "!t:1:6: expected }}, found 'b'"},
	    {"{{ '\\ud83d' }}", NULL, "!t:1:4: the string has an escape for half a surrogate pair"},
	    {"{# x", NULL, "!t:1:1: the comment has no end"},
	    {"{{ ''|trim(1, 2) }}", NULL, "!t:1:7: 'trim' takes at most 1 arguments, 2 are given"},
	    {"{{ ''|trim(" SIXTY_FOUR "=1) }}", NULL,
		"!t:1:7: 'trim' has no argument '" SIXTY_FOUR "', or has it already"},
	    {"{{ ''|trim(" SIXTY_FOUR "s=1) }}", NULL,
		"!t:1:7: 'trim' has no argument '" SIXTY_FOUR "', or has it already"},
	    {"{{ strftime_now('%d %b %Y') }}", NULL, "02 Jan 2026"},
	    {"\xff", NULL, "!t: not UTF-8 at byte 1"},
	    {"{% for loop in [] %}{% endfor %}", NULL,
		"!t:1:8: can't assign to 'loop' inside a loop"},
	    {"{% break %}", NULL, "!t:1:4: 'break' outside a loop"},
	    {"{{ [1 2] }}", NULL, "!t:1:7: expected ,, found a number"},
	    {"{{ {'a': 1 'b': 2} }}", NULL, "!t:1:12: expected ,, found a string"},
	    {"{% set ns.1 = 2 %}", NULL, "!t:1:11: expected a name, found a number"},
	    {"{{ l[1:*] }}", NULL, "!t:1:8: expected an expression, found *"},
	    {"{{ l[1, *] }}", NULL, "!t:1:9: expected an expression, found *"},
	    {"{{ 1|round(*) }}", NULL, "!t:1:13: expected an expression, found )"},
	    {"{{ 1 is divisibleby(*) }}", NULL, "!t:1:22: expected an expression, found )"},
	    {"{{ 1 is divisibleby [*] }}", NULL, "!t:1:22: expected an expression, found *"},
	    {"{% for x in l|%}{% endfor %}", NULL, "!t:1:15: expected a name, found %}"},
	    {"{% filter | %}{% endfilter %}", NULL, "!t:1:11: expected a name, found |"},
	    {"{% with a = 1 b = 2 %}{% endwith %}", NULL, "!t:1:15: expected ,, found 'b'"},
	    {"{% with a %}{% endwith %}", NULL, "!t:1:11: expected =, found %}"},
	    {"{% with a = * %}{% endwith %}", NULL, "!t:1:13: expected an expression, found *"},
	    {"{% macro f(a=*) %}{% endmacro %}", NULL, "!t:1:14: expected an expression, found *"},
	};

	(void)state;
	check_rows(rows, LEN(rows));
}

/* Without a time nothing may depend on it. */
static void no_time(void **state)
{
	static const char text[] =
	    "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}";
	struct jval none = {.kind = J_OBJ};
	struct jinja_env env = {.context = &none, .now = JINJA_NO_TIME};
	struct jinja_out out = {0};
	struct err e = {0};
	struct jinja *t = jinja_open(text, sizeof(text) - 1, "t", &e);

	(void)state;
	assert_non_null(t);
	assert_int_equal(jinja_render(t, &env, &out, &e), -1);
	assert_string_equal(e.msg, "t:1:48: the template asks for today's date, and none is given");
	jinja_close(t);
	jinja_out_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(white_space),
	    cmocka_unit_test(expressions),
	    cmocka_unit_test(arithmetic),
	    cmocka_unit_test(comparisons),
	    cmocka_unit_test(printed_sums),
	    cmocka_unit_test(undefined_values),
	    cmocka_unit_test(attributes),
	    cmocka_unit_test(scopes),
	    cmocka_unit_test(loops),
	    cmocka_unit_test(errors_have_places),
	    cmocka_unit_test(no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
