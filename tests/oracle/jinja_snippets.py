"""Small templates, one rule each; jinja.py compares what they give. One context for all."""

CONTEXT = {
    "s": "Hello World", "u": "Grüße 日本 🎉 e\u0301", "e": "", "ws": " \t\n x y \u00a0\u3000\x1f\u200b", "n": None,
    "t": True, "f": False, "i": 7, "z": 0, "neg": -7, "big": 123456789012345678901234567890,
    "nbig": -123456789012345678901234567890, "d": 1.5, "one": 1.0, "huge": 1e22, "tiny": 1e-7,
    "inf": float("inf"), "l": [3, 1, 2], "m": [1, "a", None, True, 2.5, [1], {"k": "v"}],
    "el": [], "ed": {}, "o": {"b": 1, "A": 2, "c": None, "items": "mine", "x y": 3, "_p": 4, "get": 5},
    "msgs": [{"role": "user", "content": "q", "n": 2}, {"role": "assistant", "content": "a", "n": 1},
             {"role": "user", "content": None}, {"role": "tool"}],
    "names": ["b", "A", "a", "C"], "q": "it's", "dq": 'say "x"', "html": "<a href='x'>&\"</a>",
    "deep": {"a": {"b": {"c": [10, {"d": "end"}]}}}, "nl": "a\n\nb\r\nc\u2028d", "dup": [1, 1.0, True, "1", "1"],
    "ctl": "\x00\x01\x7f\x80\u200b\ud7ff\ue000\U0001f600\u0378", "ss": "straße ẞ ΑΣ ΌΣΟΣ İ ﬁn ǆ",
}

EXPRESSIONS = r"""
1 + 2
7 / 2
6 / 2
-7 // 2
-7 % 3
7 % -3
7 // -2
7.5 // 2
-7.5 % 2
7 % 2.5
2 ** 3
2 ** -1
2 ** 0.5
2 ** 3 ** 2
-2 ** 2
0 ** 0
0 ** -1
1 / 0
1 // 0
1 % 0
1.0 / 0
9223372036854775807
-9223372036854775808
1e16
1e15
1e100
123456789.123456789
0.1 + 0.2
1e-5
0.0001
1.0
-0.0
1_000
0x1F
0o17
0b101
1_0.5_0
1e5
2e-3
5 // 2.0
7 - 2 - 1
2 + 3 * 4
(2 + 3) * 4
true + 1
true + true
-true
+true
+i
-neg
+s
-s
big
nbig
big == big
big > 1
nbig < 1
big < inf
big == 1e40
1 < big
big|string
big|tojson
-d
huge
tiny
inf
-inf
one == 1
one == true
'1' == 1
1 == 1.0 == true
1 < 2 < 3
1 < 2 > 3
3 > 2 >= 2 != 1
1 < 's'
n < 1
[1, 2] < [1, 3]
[1] < [1, 0]
(1, 2) == (1, 2)
(1, 2) == [1, 2]
[1, 2] == [1.0, 2]
{'a': 1} == {'a': true}
{'a': 1, 'b': 2} == {'b': 2, 'a': 1}
'a' < 'b'
'Z' < 'a'
'é' > 'z'
'🎉' > '\uffff'
[] == ()
none == none
undefined == undefined
undefined == none
x.y
x['y']
x[0]
x + 1
1 + x
x ~ 'a'
-x
x < 1
x == x2
x != 1
'a' in x
x in 'abc'
x in [1]
x in x
1 in l
'a' in o
'b' in o
'z' not in o
1 in o
'Hello' in s
'' in s
1 in s
n in s
'a' in n
1 in n
1 in 5
'a' in 'abc' and 'b' in 'abc'
[1] in o
none in m
2.5 in m
[1] in m
not 1
not x
not x or 1
x and 1
1 and 0
0 or ''
'' or [] or 'z'
1 if x
1 if x else 2
1 if t else 2
(1 if f) is defined
1 if t else 2 if t else 3
'a' if f else 'b' if f else 'c'
'a' ~ 1 ~ none ~ 1.0 ~ [1, 'x'] ~ true
'a' + 'b'
'a' + 1
1 + 'a'
'a' 'b' "c"
'a' * 3
3 * 'ab'
'a' * -1
'a' * 1.5
[1] * 2
2 * [1, 2]
[1] + [2]
(1,) + (2,)
[1] + (2,)
l + [4]
l - [1]
'%s and %d' % ('x', 5)
'%s' % 'y'
'%s' % [1, 2]
'%s %s' % 'y'
'%d' % 'x'
'%05.1f|%x|%X|%o|%e|%g' % (3.14159, 255, 255, 8, 12345.678, 0.0001)
'%5s|%-5s|%+d|% d' % ('a', 'b', 3, 4)
'%(a)s-%(b)r' % {'a': 1, 'b': 'x'}
'%%' % ()
'100%' % ()
'%c%c' % ('x', 65)
'%.2s' % 'abc'
'%i' % 3.99
'%s' % x
'%s %s' % (1,)
'%s' % (1, 2)
'%*d' % (5, 42)
'%5.2f' % 1
'%r' % 'a'
'%r' % q
'%s' % none
'%q' % 1
s[0]
s[-1]
s[99]
s[1:3]
s[:5]
s[6:]
s[-5:]
s[::-1]
s[::2]
s[8:2:-2]
s[:-1]
s[5:2]
s[-100:100]
s[::0]
s['x']
s[1.0]
s[true]
u[6]
u[7:10]
u[::-1]
u|length
u[-2:]
l[0]
l[-1]
l[3]
l[1:]
l[::-1]
l[:2]
l[5:]
l[1:x]
l['a']
l.0
l.0 + 1
o.b
o['b']
o.items
o['items']
o.get
o.x
o['x y']
o._p
o['_p']
o.__class__
o['__class__']
o.__foo__
o.A
o.c
o[1]
o[none]
o[[1]]
o['zz']
o['keys']
s.upper
s['upper']()
o[1:2]
{(1, 2): 'x'}[1, 2]
l[1, 2]
n.x
n['x']
n[0]
n[1:]
i.x
i[0]
5.x
t.x
deep.a.b.c[1].d
deep['a']['b']['c'][0]
deep.a.x.y
deep.a.x
deep.a.x is defined
deep.x.y is defined
[1, 2, 3]
[1, 'a', none, true, 1.5]
(1,)
(1, 2)
()
[]
{}
{'a': 1, 'b': [1, 2], 3: 'x', none: 1, true: 2}
{'a': 1, 'a': 2}
{1: 'a', 1.0: 'b', true: 'c'}
{[1]: 2}
{(1, 2): 3}
{'a': 1}.a
{'a': 1}['a']
[[1, [2]], 3]
q
[q, dq, q ~ dq]
[nl]
[ctl]
[u, 'é\u200b']
['\\', '\n\t\r', '\x00']
[s|safe]
[x]
[1.0, 1e22, 1e-7, inf]
m
o
'\u00e9\x41\n\t\\\'\"'
'\q\d\é\🎉'
'\101\60'
'\U0001f600'
'a\
b'
'\x4'
'\u12'
"it's" ~ 'x"y'
range(5)|list
range(2, 5)|list
range(5, 0, -2)|list
range(0)|list
range(3)
range(1, 9, 2)
range(3)[1]
range(3)[-1]
range(10)[2:5]
range(10)[::2]|list
range(3)|length
2 in range(3)
range(1.5)
range('a')
range(100000)|length
range(100001)|length
range(1, 2, 0)
range()
dict(a=1, b=2)
dict([('a', 1), ('b', 2)])
dict({'a': 1}, b=2)
dict(o).b
namespace(a=1).a
namespace(a=1).b
namespace(a=1)['a']
namespace({'a': 1}, b=2).b
namespace(a=1)
namespace() is mapping
raise_exception('stop')
raise_exception('Größe: ' ~ 5)
raise_exception(5)
raise_exception()
raise_exception('a', 'b')
strftime_now('%Y-%m-%d')
strftime_now('%d %b %Y')
strftime_now('%B %d, %Y')
strftime_now('%H:%M:%S %A %a %j %y %p %I')
strftime_now('')
strftime_now('%%')
strftime_now(5)
strftime_now('%z|%Z|%f|%-d|%%z|%c|%x')
nofunc()
s()
5()
x()
n()
o.nomethod()
msgs[0].role
msgs[-1].content
msgs[2].content
msgs[3].content
msgs[9].content
msgs[0]['n'] + 1
msgs[1:]|length
msgs[::-1]|first
(1, 2)[0]
(1, 2, 3)[1:]
(1 + 2) ~ 3
1 ~ 2 + 3
1 + 2 ~ 3
- 1 ~ 2
not 1 == 2
not (1 == 2)
1 if 1 else 1/0
f and 1/0
t or 1/0
"a" "b" ~ 'c'
1 in [1] == true
1 == 1 in [1]
[1, 2][0] + [3][0]
{'a': {'b': [1, 2]}}.a.b[-1]
s.upper().lower().title()
"abc"|upper ~ "d"
-5|abs
(-5)|abs
-5.5|abs
2|abs + 1
1 + 2|string ~ 'x'
'a' if 'b' is string else 'c'
x is defined and x.y
(x or {}).y
true
True
false
False
none
None
TRUE
'a' is defined
1.e5
1.
.5
1..real
"""

FILTERS = r"""
s|length
e|length
u|length
l|length
o|length
x|length
n|length
5|length
range(3)|count
l|map('string')|length
s|lower
s|upper
u|upper
ss|lower
ss|upper
ss|title
ss|capitalize
5|upper
n|lower
x|upper
s|title
'hello-world (foo) [bar] {baz} <q>'|title
"it's a dog's"|title
s|capitalize
ws|trim
[ws|trim]
s|trim('Hd')
s|trim(chars='H')
5|trim
n|trim
x|trim
s|trim(none)
s|trim(5)
'éaé'|trim('é')
s|string
5|string
n|string
[1]|string
x|string
s|string is string
s|replace('o', '0')
s|replace('o', '0', 1)
s|replace('o', '0', 0)
s|replace('', '-')
s|replace('', '-', 3)
e|replace('', '-')
u|replace('', '.')
5|replace('5', 6)
n|replace('N', 'n')
s|replace('l')
s|replace('lo', '')
'aaa'|replace('aa', 'b')
l|join
l|join(',')
l|join(', ')
l|join(1)
m|join('|')
o|join(',')
s|join('-')
u|join('-')
x|join(',')
n|join(',')
5|join(',')
msgs|join(',', attribute='role')
msgs|join(',', 'content')
l|map('string')|join('+')
o|items|list
x|items|list
n|items|list
l|items|list
s|items
(o|items)|first
o.items()|list
x|default('d')
x|default
n|default('d')
n|default('d', true)
e|default('d', true)
e|d('x', boolean=true)
0|default(5, true)
f|default(1)
deep.x|default('z')
deep.x.y|default('z')
l|list
s|list
u|list
o|list
x|list
n|list
5|list
(1, 2)|list
s|safe
s|safe is string
[html|safe]
html|safe
'<' ~ html|safe
'<' + html|safe
html|safe + '<'
html|safe + html|safe
(html|safe) ~ '<'
html|e
html|escape
5|e
[html|e|upper]
html|e|e
(html|safe).replace('x', '<')
(html|safe)|replace('x', '<')
('<%s>'|safe) % '<'
('<%s>'|safe).format('<')
('<{}>'|safe).format('<')
('<{}>'|safe).format('<'|safe)
('<'|safe).join(['<', '>'])
['<', '>'|safe]|join('&')
(html|safe)[0:2] + '<'
(html|safe).upper() + '<'
(html|safe).split('x')
(html|safe)|trim + '<'
(html|safe)|string + '<'
(html|safe) * 2 + '<'
html|safe is escaped
html is escaped
o|dictsort
o|dictsort(true)
o|dictsort(false, 'value')
{'b': 2, 'a': 3}|dictsort(by='value')
{'b': 2, 'a': 3}|dictsort(reverse=true)
{'b': 2, 'a': 3}|dictsort(by='nope')
{1: 2, 'a': 3}|dictsort
x|dictsort
l|dictsort
l|sort
l|sort(reverse=true)
names|sort
names|sort(case_sensitive=true)
m|sort
['a', 1]|sort
[]|sort
x|sort
s|sort
o|sort
msgs|sort(attribute='role')|map(attribute='role')|list
msgs|sort(attribute='n')
msgs[:2]|sort(attribute='n')|map(attribute='role')|list
msgs[:2]|sort(attribute='role,n')|map(attribute='n')|list
[[2, 1], [1, 2]]|sort(attribute=0)
[3, true, 2.5, false]|sort
names|unique|list
names|unique(true)|list
dup|unique|list
msgs|unique(attribute='role')|map(attribute='role')|list
[[1], [1]]|unique|list
x|unique|list
l|min
l|max
el|min
names|min
names|max(case_sensitive=true)
msgs[:2]|min(attribute='n')
[1, 'a']|max
x|min
l|sum
[1.5, 2]|sum
[[1], [2]]|sum(start=[])
msgs[:2]|sum(attribute='n')
names|sum
el|sum
el|sum(start=3)
l|first
l|last
el|first
el|last
s|first
s|last
u|last
e|first
o|first
o|last
x|first
x|last
n|first
range(3)|last
(l|map('string'))|first
(l|map('string'))|last
o.items()|last
l|reverse|list
s|reverse
u|reverse
o|reverse|list
x|reverse|list
5|reverse
l|map('string')|reverse|list
(1, 2)|reverse|list
l|batch(2)|list
l|batch(2, 'x')|list
l|batch(0)|list
[]|batch(2)|list
l|map('string')|list
l|map('multiply')|list
names|map('upper')|list
names|map('replace', 'a', 'X')|list
msgs|map(attribute='content')|list
msgs|map(attribute='zz')|list
msgs|map(attribute='zz', default='D')|list
msgs|map(attribute='content', default='D')|list
[deep]|map(attribute='a.b.c.0')|list
[deep]|map(attribute='a.b.c.1.d')|list
[[1, 2], [3, 4]]|map(attribute=1)|list
[[1, 2], [3, 4]]|map('first')|list
[[1, 2], [3, 4]]|map('join', '-')|list
l|map|list
l|map('nope')
l|map('nope')|list
x|map('upper')|list
n|map('upper')|list
5|map('upper')|list
0|map('upper')|list
msgs|map(attribute='a', foo=1)|list
m|select|list
m|reject|list
m|select('string')|list
m|select('number')|list
m|reject('string')|list
l|select('gt', 1)|list
l|select('odd')|list
l|select('divisibleby', 2)|list
l|select('in', [1, 2])|list
l|reject('equalto', 1)|list
l|select('==', 1)|list
l|select('nope')|list
l|select('nope')
msgs|selectattr('content')|map(attribute='role')|list
msgs|selectattr('role', 'equalto', 'user')|list|length
msgs|selectattr('role', 'eq', 'user')|list|length
msgs|selectattr('content', 'none')|list
msgs|selectattr('content', 'defined')|list|length
msgs|rejectattr('content', 'defined')|list
msgs|rejectattr('role', 'equalto', 'user')|map(attribute='role')|join(',')
msgs|rejectattr('content')|list|length
msgs|selectattr('role', 'in', ['user', 'tool'])|list|length
msgs|selectattr('role', 'string')|list|length
msgs|selectattr
msgs|selectattr|list
x|selectattr('a')|list
n|selectattr('a')|list
l|selectattr('a')|list
(msgs|selectattr('zz')) and true
msgs|selectattr('zz')|length
(el|select) is iterable
(el|select) is sequence
(el|select) is mapping
(el|select) is string
l|tojson
o|tojson
m|tojson
u|tojson
ctl|tojson
ctl|tojson(ensure_ascii=true)
u|tojson(ensure_ascii=true)
u|tojson(true)
[inf, -inf, 1.0, 1e22, 1e-7, 0.1]|tojson
n|tojson
x|tojson
[x]|tojson
(1, 2)|tojson
{1: 2, none: 3, true: 4, 1.5: 5}|tojson
{(1, 2): 3}|tojson
range(3)|tojson
o.items()|tojson
l|map('string')|tojson
namespace()|tojson
raise_exception|tojson
o|tojson(indent=2)
m|tojson(indent=4)
m|tojson(indent=0)
m|tojson(indent=-1)
m|tojson(indent='--')
m|tojson(indent=none)
m|tojson(indent=true)
m|tojson(indent=2.5)
[]|tojson(indent=2)
{'a': [], 'b': {}}|tojson(indent=2)
o|tojson(separators=(',', ':'))
o|tojson(separators=[',', ':'])
o|tojson(separators=(',',))
o|tojson(indent=1, separators=(' ,', '= '))
o|tojson(sort_keys=true)
{'b': 1, 'a': {'d': 1, 'c': 2}}|tojson(sort_keys=true)
{1: 1, 'a': 2}|tojson(sort_keys=true)
o|tojson(false, 2)
o|tojson(nope=1)
html|tojson
html|safe|tojson
'/'|tojson
s|indent
nl|indent
nl|indent(2)
nl|indent(2, true)
nl|indent(2, first=true)
nl|indent(2, blank=true)
nl|indent('> ')
nl|indent(width=1, first=true, blank=true)
'a\n'|indent
e|indent(first=true)
'a\nb'|indent(-1)
x|indent
5|indent
'5'|int
'5.7'|int
' 12 '|int
'x'|int
'x'|int(9)
'x'|int(default=3)
'0x1f'|int(base=16)
'1f'|int(0, 16)
'0b11'|int(0, 0)
'1_000'|int
'_1'|int
'-5'|int
'+5'|int
'٣'|int
5.9|int
-5.9|int
1e22|int
inf|int
n|int
t|int
x|int
l|int
big|int
'123456789012345678901234567890'|int
'1e3'|int
''|int
'5'|float
'x'|float
'x'|float(1.5)
'1e3'|float
'inf'|float
'nan'|float
' 1.5 '|float
5|float
n|float
x|float
t|float
2.5|round
3.5|round
2.567|round(2)
2.567|round(1, 'floor')
2.567|round(1, 'ceil')
-2.5|round
1234|round(-2)
5|round
5|round(2)
1234.5|round(-2)
's'|round
2.5|round(0, 'x')
0.5|round
1.005|round(2)
-5|abs
's'|abs
s|center(20)
'ab'|center(5)
'abc'|center(6)
'abc'|center(1)
'%s-%s'|format('a', 1)
'%(x)s'|format(x=1)
'%s'|format
5|format
'a'|format(1)
'%d'|format('x')
msgs[0]|attr('role')
s|attr('upper')
o|attr('b')
l|attr('append')
s|nofilter
s|upper|nofilter
s|trim(1, 2, 3)
s|trim(nope=1)
s|lower(1)
s|upper()
(s|upper)|lower
o|length > 3 and 'big'
s|replace("o", "<")|upper|trim('H')
x|default(l|first)
l|map('string')|map('length')|list
"a,b"|list
"a,b".split(",")|map("upper")|join("/")
(l|map('string')|list)[0]
names|sort|join(',')|upper
"%.2f"|format(2)
"abc"|first ~ "abc"|last
"a"|attr("b").c
1|string|length
[1, [2, [3]]]|string
"x"|default(1/0)
"{}"|format()
not_defined|upper|default("x")
"abc"|list|reverse|join
l|sort|first + l|sort|last
o|items|map('first')|list
o|items|map(attribute=0)|join
o|dictsort|first|first
msgs|map(attribute='role')|unique|list
msgs|map(attribute='role')|list|string
msgs|selectattr('role', 'equalto', 'user')|selectattr('content')|list|length
"a" is filter
"upper" is filter
"nope" is filter
"tojson" is filter
"defined" is test
"nope" is test
"""

TESTS = r"""
s is defined
x is defined
x is undefined
x is not defined
n is defined
n is none
x is none
0 is none
f is none
t is true
1 is true
f is false
0 is false
n is false
t is boolean
1 is boolean
s is string
u is string
n is string
x is string
html|safe is string
1 is number
1.5 is number
t is number
big is number
'1' is number
1 is integer
t is integer
big is integer
1.0 is integer
1.0 is float
1 is float
o is mapping
l is mapping
x is mapping
s is iterable
o is iterable
l is iterable
x is iterable
n is iterable
5 is iterable
range(3) is iterable
o.items() is iterable
namespace() is iterable
s is sequence
o is sequence
l is sequence
(1,) is sequence
x is sequence
n is sequence
5 is sequence
range(3) is sequence
o.items() is sequence
o.keys() is sequence
l|map('string') is sequence
s is callable
range is callable
s.upper is callable
x is callable
dict is callable
3 is odd
4 is even
4 is odd
1.0 is odd
's' is odd
x is even
6 is divisibleby 3
6 is divisibleby(4)
6 is divisibleby(0)
1 is sameas 1
t is sameas true
1 is sameas true
n is sameas none
l is sameas l
[1] is sameas [1]
s is sameas s
1 is eq 1
1 is equalto 1.0
1 is ne 2
1 is lt 2
2 is le 2
3 is gt 2
3 is ge 4
3 is greaterthan 2
3 is lessthan 2
's' is lt 1
1 is in [1, 2]
'a' is in 'abc'
1 is in 5
s is lower
'abc' is lower
'ABC' is upper
'123' is lower
5 is upper
'ǅ' is upper
s is nope
s is not nope
not s is string
s is string and n is none
s is string == true
1 is number is true
s is string ~ 'x'
x.y is defined
o.x is defined
o.x.y is defined
o['x'] is defined
o.items is defined
msgs[9] is defined
msgs[0].zz is undefined
s is defined(1)
1 is divisibleby
loop is defined
raise_exception is defined
strftime_now is defined
namespace is defined
cycler is defined
lipsum is defined
caller is defined
"""

METHODS = r"""
s.upper()
s.lower()
s.title()
"they're bill's x3y".title()
s.capitalize()
s.swapcase()
s.strip('Hd')
ws.strip()|tojson
ws.lstrip()|tojson
ws.rstrip()|tojson
'xxaxx'.strip('x')
'xxaxx'.lstrip('x')
'xxaxx'.rstrip('x')
'abcba'.strip('ab')
'\n a'.lstrip('\n')
s.strip(none)
s.strip(5)
s.split()
' a  b '.split()
' a  b '.split(' ')
'a,b,,c'.split(',')
'a,b,c'.split(',', 1)
'a b  c d'.split(none, 2)
'a b  c '.split(none, 1)
' a b '.split(none, 0)
'a,b,c'.split(',', -1)
'a,b,c'.split(',', 0)
'a,b,c'.split(sep=',', maxsplit=1)
'a'.split('')
'a'.split(5)
e.split(',')
e.split()
'a--b'.split('--')
u.split(' ')
'<think>x</think>y'.split('</think>')[-1].lstrip('\n')
'a,b,c'.rsplit(',', 1)
'a b c'.rsplit(none, 1)
' a b c '.rsplit()
' a b '.rsplit(none, 0)
'aXbXc'.rsplit('X')
nl.splitlines()
nl.splitlines(true)
'a\n'.splitlines()
e.splitlines()
'a\n\n'.splitlines()
s.startswith('He')
s.startswith('x')
s.startswith('')
s.startswith(('x', 'H'))
s.startswith(['H'])
s.startswith('e', 1)
s.startswith('l', 2, 3)
s.startswith('', 99)
s.startswith(1)
s.startswith()
s.endswith('ld')
s.endswith(('x', 'd'))
s.endswith('o', 0, 5)
s.endswith('o', -7, -6)
u.startswith('Grü')
s.replace('o', '0')
s.replace('o', '0', 1)
s.replace('', '-')
s.replace('o')
s.replace(1, 2)
s.replace('l', '')
s.find('o')
s.find('o', 5)
s.find('zz')
s.find('')
u.find('日')
u.find('🎉', 3)
s.rfind('o')
s.rfind('lo')
s.rfind('')
s.find('o', -3)
s.index('W')
s.index('zz')
s.rindex('o')
s.count('l')
s.count('')
s.count('ll')
'aaa'.count('aa')
s.count('l', 4)
s.join(['a', 'b'])
','.join(l)
','.join(names)
','.join('abc')
','.join(o)
','.join([])
','.join(x)
s.partition(' ')
s.partition('zz')
s.rpartition('o')
s.rpartition('zz')
s.partition('')
s.removeprefix('Hello ')
s.removesuffix('World')
s.removeprefix('x')
s.ljust(15) ~ '|'
s.rjust(15, '*')
s.center(16, '-')
'ab'.center(5)
'abc'.center(6)
s.center(3)
s.rjust(15, 'ab')
'5'.zfill(3)
'-5'.zfill(4)
'+'.zfill(3)
'abc'.zfill(2)
'abc'.isalpha()
'ab1'.isalnum()
'123'.isdigit()
'²'.isdigit()
'½'.isnumeric()
'١'.isdecimal()
''.isdigit()
' '.isspace()
''.isprintable()
'a\n'.isprintable()
'é'.isascii()
''.isascii()
'ab'.islower()
'AB'.isupper()
'{} {}'.format(1, 'a')
'{0} {1} {0}'.format('a', 'b')
'{a} {b}'.format(a=1, b=2)
'{} {a}'.format(1, a=2)
'{0.role} {0[content]}'.format(msgs[0])
'{0[0]}'.format(l)
'{{}}'.format()
'{'.format()
'}'.format()
'{}'.format()
'{0} {}'.format(1, 2)
'{} {0}'.format(1, 2)
'{x}'.format(a=1)
'{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd')
'{:05d} {:+d} {:,} {:x} {:#x} {:b} {:o} {:X}'.format(42, 42, 1234567, 255, 255, 5, 8, 255)
'{:.2f} {:8.3f} {:e} {:g} {:%} {:.1%}'.format(3.14159, 2.5, 12345.678, 0.0001, 0.5, 0.256)
'{:.2}'.format('abc')
'{:.3}'.format(3.14159)
'{}'.format(1.0)
'{:f}'.format(1)
'{:d}'.format(1.5)
'{:d}'.format('a')
'{:s}'.format(1)
'{!r} {!s}'.format('a', 'b')
'{0!r:>5}'.format('a')
'{}'.format(none)
'{:5}'.format(none)
'{:5}'.format(true)
'{}'.format(true)
'{:>10}'.format(x)
'{}'.format(x)
'{0.__class__}'.format(s)
'{0.zz}'.format(o)
'{:,.2f}'.format(1234567.891)
'{:_}'.format(1234567)
'{:c}'.format(65)
'{:010.2f}'.format(-3.14159)
'{:<05}'.format(5)
'{:=+6}'.format(5)
'{a[b]}'.format(a={'b': 1})
o.get('b')
o.get('zz')
o.get('zz', 5)
o.get('zz') is none
o.get('c', 1)
o.get()
o.get([1])
o.get(key='b')
o.keys()|list
o.keys()
o.values()|list
o.values()
o.items()
o.items()|list
o.keys()|length
'b' in o.keys()
1 in o.values()
('b', 1) in o.items()
o.keys()[0]
ed.keys()
(ed.items()) and 1
o.copy()
o.update({'a': 1})
o.pop('b')
o.clear()
o.setdefault('a', 1)
o.popitem()
o.update
l.append(1)
l.append
l.pop()
l.insert(0, 1)
l.sort()
l.reverse()
l.extend([1])
l.remove(1)
l.clear()
l.index(2)
l.index(9)
l.count(1)
l.copy()
(1, 2, 1).count(1)
(1, 2).index(2)
(1, 2).append(3)
l.append is defined
s.nope
s.nope()
s.__len__()
s.__class__
l.__class__.__name__
''.__class__.__mro__
s._private
n.strip()
5.strip()
x.strip()
s.upper.lower
s.upper(1)
range(3).start
"abc".upper().lower().title().strip('C')
s.split(' ')[0].upper()
s.split(' ')|first
s.split('o')|length
"a\tb".split('\t')
"x=1;y=2".split(';')[1].split('=')[1]
o.items()|map('first')|list
o.get('nope', {}).get('x', 'y')
"".join(['a'])
"a".join("b")
"é".join(['1', '2'])
"""

STATEMENTS = [
    # white space
    "a\n{% if t %}\nb\n{% endif %}\nc\n",
    "a\n  {% if t %}  \n  b\n  {% endif %}\n c",
    "  {% if t %}x{% endif %}  \n",
    " x {% if t %}y{% endif %}",
    "a\n  {%+ if t %}x\n  {%+ endif +%}\n",
    "a\n{% if t -%}\n\n  x  \n\n{%- endif %}\nb",
    "a \n {%- if t %} x {% endif -%} \n b",
    "a  {{- 1 -}}  b", "a\n\n{{ 1 }}\n\nb", "a {{ 1 -}}\n\n b", "  {{ 1 }}\n", "{{ 1 }}\n\n", "\n\n",
    "a{# c #}\nb", "a\n  {# c #}\nb", "a {#- c -#} b", "a\n {#+ c #}\nb", "{# a\nb #}\n\nc", "{#- c #}\nx", "{# {{ x }} {% y %} #}z",
    "a\r\nb\r{% if t %}\r\nc\r\n{% endif %}\r\n", "a\r\n", "a\n\n", "a\r",
    "{% raw %}{{ x }}{% y %}{% endraw %}", "a\n  {% raw %}\n x\n  {% endraw %}\nb", "{%- raw -%} x {%- endraw -%} y", "{% raw %}{# x #}",
    "{{ '{{' }}{{ '%}' }}{{ \"}}\" }}", "{% set a = '}}' %}{{ a }}", "{{ {'a': {'b': 1}}}}", "{{ {'a': 1}['a'] }}", "{{ [1,\n2] }}",
    "{ { } } {% if t %}{}{% endif %} { % %}", "{{", "{%", "{#", "{{ x", "{% if t", "{{ }}", "{% %}", "{{ 1 }", "{{ 1 %}", "{% if t }}",
    "\u00a0{% if t %}\u00a0\n{% endif %}", "x\u2003\n\u2003{%- if t %}y{% endif %}", "{{ 1\u00a0+\u00a02 }}",
    "{% if t %}\n\n\na{% endif %}", "{% for i in l %}\n  {{ i }}\n{% endfor %}\n", "{%if t%}x{%endif%}", "{%-if t-%} x {%-endif-%}",
    "{{-1}}", "{{ -1 }}", "{{+1}}", "{{ 1 +}}", "{{1-}} x", "{% set x = 1 -%}\n {{ x }}", "{{ 'a\r\nb' }}", "{{ 'a\n  b' }}", "{#-#}x", "{##}x", "{% if t +%}\nx{% endif %}",
    # if
    "{% if x %}a{% elif t %}b{% else %}c{% endif %}", "{% if f %}a{% elif f %}b{% elif t %}c{% else %}d{% endif %}", "{% if f %}{% else %}{% if t %}x{% endif %}{% endif %}",
    "{% if 1, 2 %}x{% endif %}", "{% if %}x{% endif %}", "{% if t %}x", "{% if t %}x{% else %}y{% elif t %}z{% endif %}", "{% endif %}", "{% if t: %}x{% endif %}", "{% if t %}{% endfor %}",
    "{% if x is defined and x.y %}a{% else %}b{% endif %}", "{% if n == none %}a{% endif %}", "{% elif t %}", "{% unknown %}", "{% 5 %}", "{% if t %}{% unknown %}{% endif %}",
    # unknown filters and tests
    "{% if f %}{{ s|nofilter }}{% endif %}ok", "{% if t %}{{ s|nofilter }}{% endif %}ok", "{% if f %}{{ s is notest }}{% endif %}ok", "{{ s|nofilter if f else 'x' }}", "{{ 'x' if t else s|nofilter }}",
    "{% if f %}{% for i in l %}{{ i|nofilter }}{% endfor %}{% endif %}ok", "{% for i in el %}{{ i|nofilter }}{% endfor %}ok", "{% if s is notest %}a{% endif %}", "{% if f and s is notest %}a{% endif %}ok",
    "{% macro m() %}{{ s|nofilter }}{% endmacro %}ok", "{% if f %}{% for i in l|nofilter %}{% endfor %}{% endif %}ok", "{% if f %}{% set y = s|nofilter %}{% endif %}ok", "{% if f %}{% macro m() %}{{ s|nofilter }}{% endmacro %}{% endif %}ok",
    "{% if f %}{% filter nofilter %}x{% endfilter %}{% endif %}ok", "{% if f %}{% if t %}{{ s|nofilter }}{% endif %}{% endif %}ok", "{% filter nofilter %}x{% endfilter %}", "{% if f %}{% for i in l if i is notest %}{% endfor %}{% endif %}ok",
    # set and scopes
    "{% set a = 1 %}{{ a }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set (a, b) = [1, 2] %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set a, b = [1, 2, 3] %}", "{% set a, b = 'xy' %}{{ b }}", "{% set a = 1, 2 %}{{ a }}",
    "{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}", "{% set a, = [1] %}{{ a }}", "{% set true = 1 %}", "{% set none = 1 %}", "{% set 5 = 1 %}", "{% set a.b.c = 1 %}", "{% set o.b = 1 %}", "{% set a['x'] = 1 %}", "{% set s = s ~ '!' %}{{ s }}",
    "{% set zz = 1 %}{% if t %}{% set zz = 2 %}{% endif %}{{ zz }}", "{% if f %}{% set s = 2 %}{% endif %}{{ s }}", "{% if f %}{% set zz = 2 %}{% endif %}{{ zz is defined }}", "{{ s }}{% set s = 1 %}{{ s }}",
    "{% for i in l %}{% set s = i %}{{ s }}{% endfor %}{{ s }}", "{% set c = 0 %}{% for i in l %}{% set c = c + i %}{{ c }},{% endfor %}{{ c }}", "{% for i in l %}{{ s }}{% set s = i %}{% endfor %}",
    "{% for i in l %}{% if i == 1 %}{% set q2 = 'one' %}{% endif %}{{ q2 }}|{% endfor %}", "{% for i in l %}{% if loop.first %}{% set s = 'first' %}{% endif %}{{ s }}|{% endfor %}{{ s }}", "{% for i in l %}{% for j in l %}{% set i = j %}{% endfor %}{{ i }}{% endfor %}",
    "{% for i in l %}{% set y = i %}{% for j in [1] %}{{ y }}{% set y = 9 %}{{ y }}{% endfor %}{{ y }}{% endfor %}{{ y is defined }}", "{% for s in l %}{{ s }}{% endfor %}{{ s }}", "{% for i in [1,2] %}{% if zz is defined %}again{% endif %}{% set zz = 1 %}{% endfor %}",
    "{% set ns = namespace(x=0) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}", "{% set ns = namespace() %}{% set ns.a = 1 %}{% set ns.a, ns.b = 2, 3 %}{{ ns.a }}{{ ns.b }}", "{% set ns = namespace(l=[]) %}{% for i in l %}{% set ns.l = ns.l + [i] %}{% endfor %}{{ ns.l }}",
    "{% set ns = namespace(x=1) %}{{ ns }}", "{% set nope.x = 1 %}", "{% set s.x = 1 %}", "{% set ns = {} %}{% set ns.x = 1 %}", "{% set ns = namespace(s='') %}{% for m in msgs %}{% set ns.s = ns.s ~ m.role ~ ' ' %}{% endfor %}[{{ ns.s|trim }}]",
    "{% set a %}x{{ 1 }}{% endset %}{{ a }}", "{% set a | upper %}x{{ s }}{% endset %}{{ a }}", "{% set a | upper | replace('X', 'y') %}x{% endset %}{{ a }}", "{% set a %}{% set b = 1 %}{{ b }}{% endset %}{{ a }}{{ b is defined }}", "{% set a %}{% endset %}[{{ a }}]{{ a is string }}", "{% set a, b %}xy{% endset %}{{ a }}",
    "{% set ns = namespace() %}{% set ns.x %}in{% endset %}{{ ns.x }}", "{% set x %}{% for i in l %}{{ i }}{% endfor %}{% endset %}{{ x }}", "{% set x %}\n  a\n{% endset %}[{{ x }}]",
    "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter upper|replace('A', 'z') %}abc{% endfilter %}", "{% filter indent(2) %}a\nb{% endfilter %}", "{% filter trim %} {% set qq = 1 %}{{ qq }} {% endfilter %}{{ qq is defined }}", "{% filter %}x{% endfilter %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}", "{% with %}{% set a = 1 %}{{ a }}{% endwith %}{{ a }}", "{% with a = s %}{% set s = 1 %}{{ a }}{{ s }}{% endwith %}{{ s }}", "{% with a = 1 %}{% with b = a %}{{ b }}{% endwith %}{% endwith %}",
    # for
    "{% for i in l %}{{ i }}{% endfor %}", "{% for i in el %}x{% else %}none{% endfor %}", "{% for i in l %}{{ i }}{% else %}none{% endfor %}", "{% for i in x %}x{% else %}undef{% endfor %}", "{% for i in n %}x{% endfor %}", "{% for i in 5 %}x{% endfor %}", "{% for c in s %}{{ c }}.{% endfor %}", "{% for k in o %}{{ k }}.{% endfor %}",
    "{% for k, v in o.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in o|items %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in x|items %}{{ k }}{% else %}e{% endfor %}", "{% for k, v in [[1, 2], [3, 4]] %}{{ k }}{{ v }};{% endfor %}", "{% for k, v in [[1, 2], [3]] %}{{ k }}{{ v }};{% endfor %}", "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% for k, v in [1] %}{% endfor %}",
    "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.depth }}{{ loop.depth0 }};{% endfor %}", "{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }};{% endfor %}", "{% for i in l %}{{ loop.previtem is defined }}{{ loop.nextitem is undefined }};{% endfor %}", "{% for m in msgs %}{% if loop.previtem and loop.previtem.role == 'user' %}[{{ m.role }}]{% endif %}{% endfor %}", "{% for i in l %}{{ loop.nextitem.x }}{% endfor %}",
    "{% for i in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}", "{% for i in l %}{{ loop.nope }}{% endfor %}", "{% for i in l %}{{ loop['index'] }}{% endfor %}", "{% for i in l %}{% for j in l %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}", "{% for i in l %}{% set outer = loop %}{% for j in l %}{{ outer.index }}{{ loop.index }}.{% endfor %}{% endfor %}",
    "{% for i in l if i > 1 %}{{ i }}{{ loop.index }}{{ loop.last }}{{ loop.length }};{% endfor %}", "{% for i in l if i > 5 %}x{% else %}none{% endfor %}", "{% for m in msgs if m.content %}{{ m.role }}{% if not loop.last %}, {% endif %}{% endfor %}", "{% for k, v in o.items() if v %}{{ k }}{% endfor %}", "{% for i in l if loop.index %}{% endfor %}", "{% set ns = namespace(stop=false) %}{% for i in l if not ns.stop %}{{ i }}{% set ns.stop = true %}{% endfor %}", "{% for i in l if not zz %}{{ i }}{% set zz = 1 %}{% endfor %}", "{% for i in l if i != 2 %}{{ loop.nextitem }}{% endfor %}", "{% for i in [1,2,3,4] if i % 2 %}{{ loop.revindex }}{{ loop.nextitem }}{% endfor %}",
    "{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}", "{% for i in l %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "{% for i in l %}{% break %}{% else %}else{% endfor %}", "{% for i in l %}{% continue %}{% else %}else{% endfor %}", "{% for i in l %}{% if loop.last %}{% break %}{% endif %}{% else %}else{% endfor %}", "{% for i in l %}{% for j in l %}{% break %}{% endfor %}{{ i }}{% endfor %}", "{% break %}", "{% if t %}{% continue %}{% endif %}", "{% for i in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "{% for i in l %}{% set a %}x{% break %}{% endset %}{% endfor %}ok", "{% for i in l %}a{% filter upper %}b{% if i == 1 %}{% break %}{% endif %}{% endfilter %}{% endfor %}ok", "{% for i in el %}{% else %}{% break %}{% endfor %}", "{% for i in l %}{% for j in el %}{% else %}{% break %}{% endfor %}{{ i }}{% endfor %}",
    "{% for loop in l %}{% endfor %}", "{% for i in l %}{% set loop = 1 %}{% endfor %}", "{% set loop = 5 %}{{ loop }}", "{% set loop = 5 %}{% for i in l %}{{ loop }}{% endfor %}", "{% for i in 1, 2 %}{{ i }}{% endfor %}", "{% for i in (1, 2) if i == 1 %}{{ i }}{% endfor %}", "{% for i in l|sort|reverse %}{{ i }}{% endfor %}", "{% for i in range(3) %}{{ i }}{% endfor %}", "{% for i in range(2, -1, -1) %}{{ l[i] }}{% endfor %}", "{% for i in l[::-1] %}{{ i }}{% endfor %}",
    "{% set g = l|map('string') %}{% for i in g %}{{ i }}{% endfor %}|{% for i in g %}{{ i }}{% else %}empty{% endfor %}", "{% set g = l|select %}{{ g|first }}{{ g|list }}", "{% set g = l|select %}{% for i in g %}{{ i }}{% break %}{% endfor %}{{ g|list }}", "{% set g = el|select %}{% if g %}true{% endif %}", "{% set r = l|reverse %}{{ r|list }}{{ r|list }}", "{% set v = o.items() %}{{ v|list|length }}{{ v|list|length }}", "{% for i in l|map('string') %}{{ loop.length }}{{ loop.last }}{% endfor %}", "{% for i in l|map('string') %}{{ loop.nextitem }}{% endfor %}", "{% set g = l|select %}{{ 1 in g }}{{ g|list }}", "{% set g = [1, 'a', 2]|map('abs') %}{{ g|first }}", "{% set g = ['a']|map('abs') %}never used",
    "{% for i in l %}{{ loop }}{% break %}{% endfor %}" if False else "{% for i in l %}{{ loop is defined }}{% endfor %}{{ loop is defined }}", "{% for a in [[1, 2], [3]] %}{% for b in a %}{{ loop.index }}{{ loop.last }}{% endfor %}{{ loop.last }};{% endfor %}", "{% for i in l %}{{ i }}{{ ',' if not loop.last }}{% endfor %}", "{% for m in msgs %}{{ m.role }}{{ m.content }}{% endfor %}", "{% for i in l recursive %}{% endfor %}" if False else "", "{% for i in %}{% endfor %}", "{% for in l %}{% endfor %}", "{% for i l %}{% endfor %}", "{% for i in l %}", "{% for a.b in l %}{% endfor %}", "{% for i in l if %}x{% endfor %}", "{% for i in l else %}{% endfor %}",
    "{% for i in l %}{{ loop.index }}{% endfor %}{% for i in names %}{{ loop.index0 }}{% endfor %}", "{% for i in s.split(' ') %}{{ loop.length }}{% endfor %}", "{% for c in u %}{{ c }}|{% endfor %}", "{% for i in range(3) %}{{ range(i)|list }}{% endfor %}", "{% for t in [1] %}{{ t }}{% endfor %}{{ t }}",
    # macros
    "{% macro m(a, b=2) %}{{ a }}-{{ b }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=4, a=5) }}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}", "{% macro m(a) %}{{ a is defined }}{{ a is undefined }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{{ a.b }}{% endmacro %}{{ m() }}", "{% macro m(a, b=a) %}{{ b }}{% endmacro %}{{ m(1) }}", "{% macro m(a=b, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m() }}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m(a, a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}", "{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}", "{% macro m(a) %}{{ kwargs }}{% endmacro %}{{ m(b=1, a=2, c=3) }}", "{% macro m() %}{{ caller }}{% endmacro %}[{{ m() }}]", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro m() %}{{ caller }}{% endmacro %}{{ m(caller=5) }}", "{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1) }}",
    "{% macro m() %}{{ s }}{% endmacro %}{% set s = 'new' %}{{ m() }}", "{% macro m() %}{{ y }}{% endmacro %}{{ m() }}{% set y = 'late' %}{{ m() }}", "{% macro m() %}{{ i }}{% endmacro %}{% for i in l %}{{ m() }}|{% endfor %}", "{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}", "{% macro m() %}{% set s = 1 %}{{ s }}{% endmacro %}{{ m() }}{{ s }}", "{% macro m(s) %}{{ s }}{% endmacro %}{{ m('in') }}{{ s }}", "{% set ns = namespace(c=0) %}{% macro m() %}{% set ns.c = ns.c + 1 %}{% endmacro %}{{ m() }}{{ m() }}{{ ns.c }}", "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}", "{{ later() }}{% macro later() %}{% endmacro %}",
    "{% macro fact(n) %}{% if n > 1 %}{{ n * (fact(n - 1)|int) }}{% else %}1{% endif %}{% endmacro %}{{ fact(5) }}", "{% macro m(x) %}{% if x is iterable and x is not string %}{% for y in x %}{{ m(y) }}{% endfor %}{% else %}<{{ x }}>{% endif %}{% endmacro %}{{ m([1, [2, ['a']]]) }}", "{% macro m() %} x {% endmacro %}[{{ m() }}][{{ m()|trim }}]", "{% macro m() -%} x {%- endmacro %}[{{ m() }}]", "{% set r = m %}{% macro m() %}x{% endmacro %}{{ r }}", "{% macro m() %}x{% endmacro %}{{ m.name }}{{ m is callable }}{{ m is string }}", "{% macro m() %}x{% endmacro %}{{ m() is string }}{{ m()|length }}{{ m() ~ 'y' }}", "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 3, 'b': 4}) }}{{ m(1, *[2]) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*5) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**5) }}", "{{ dict(**{'a': 1}) }}", "{{ m(1, a=2, 3) }}", "{{ m(a=1, a=2) }}", "{{ m(**{}, 1) }}",
    "{% if f %}{% macro m() %}x{% endmacro %}{% endif %}{{ m is defined }}{{ m() }}", "{% if t %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% macro m() %}{{ l|first }}{% endmacro %}{% filter upper %}{{ m() }}{% endfilter %}", "{% macro _p() %}x{% endmacro %}{{ _p() }}", "{% macro m() %}{{ m2() }}{% endmacro %}{% macro m2() %}{{ s }}{% endmacro %}{% for s in l %}{{ m() }}{% endfor %}", "{% macro outer(v) %}{% macro inner() %}{{ v }}{% endmacro %}{{ inner() }}{% endmacro %}{{ outer(1) }}{{ outer(2) }}", "{% set ns = namespace() %}{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{% set ns.m = m %}{{ ns.m() }}{% endfor %}",
    "{% macro m %}x{% endmacro %}", "{% macro 5() %}{% endmacro %}", "{% macro m() %}", "{% endmacro %}", "{% macro m(a.b) %}{% endmacro %}", "{% macro m(a,) %}{% endmacro %}{{ m() }}", "{% call m() %}{% endcall %}",
    "{% macro m(msg) %}{%- if msg.role == 'user' -%}U:{{ msg.content }}{%- else -%}{{ raise_exception('bad role ' ~ msg.role) }}{%- endif -%}{% endmacro %}{% for x in msgs %}{{ m(x) }}{% endfor %}",
    "{% macro m(items) %}{% for x in items %}{{ loop.index }}{{ x }}{% endfor %}{% endmacro %}{% for i in [1] %}{{ m(l) }}{{ loop.index }}{% endfor %}", "{% macro m(x=l|first) %}{{ x }}{% endmacro %}{{ m() }}", "{% macro m(x=1) %}{{ x }}{% endmacro %}{{ m(none) }}{{ m(zz) }}",
    # generation
    "{% generation %}a{{ s }}{% endgeneration %}b", "{% for m in msgs %}{% generation %}{{ m.role }}{% set zz = 1 %}{% endgeneration %}{{ zz is defined }}{% endfor %}", "{%- generation -%} x {%- endgeneration -%} y", "{% generation %}{{ loop is defined }}{% endgeneration %}", "{% for i in l %}{% generation %}{{ loop.index }}{{ i }}{% endgeneration %}{% endfor %}", "{% for i in l %}{% generation %}{% break %}{% endgeneration %}{% endfor %}", "{% generation %}x", "{% endgeneration %}", "a\n  {% generation %}\nb\n  {% endgeneration %}\nc",
    # literals and syntax
    "{{ 'a' 'b' }}", "{{ 1 2 }}", "{{ 'a", "{{ \"a' }}", "{{ (1 }}", "{{ [1 }}", "{{ 1) }}", "{{ [1) }}", "{{ {1} }}", "{{ {1: } }}", "{{ a. }}", "{{ a.[0] }}", "{{ a[] }}", "{{ a[1:2:3:4] }}", "{{ |upper }}", "{{ a| }}", "{{ a is }}", "{{ a is not }}", "{{ a if }}", "{{ if }}", "{{ not }}", "{{ 1 + }}", "{{ + }}", "{{ 1 not 2 }}", "{{ a b }}", "{{ a; b }}", "{{ a ? b }}", "{{ a && b }}", "{{ a || b }}", "{{ !a }}", "{{ a = 1 }}", "{{ a == }}", "{{ , }}", "{{ 1, }}", "{{ (1,) }}", "{{ f(,) }}", "{{ range(3,) }}", "{{ `a` }}", "{{ @ }}", "{{ $a }}", "{{ a\\b }}",
    "{{ loop }}", "{{ self }}" if False else "{{ 1 }}", "{{ 'x'.y }}", "{{ 1 if true else 2 if true else 3 }}", "{{ [1, 2,] }}", "{{ {'a': 1,} }}", "{{ (((1))) }}", "{{ not not true }}", "{{ - - 1 }}", "{{ 1 - -1 }}", "{{ 1 --1 }}", "{{ 2 ** -1 }}", "{{ 'a'.upper ().lower() }}", "{{ x is defined is true }}", "{{ 1 in [1] in [true] }}", "{{ true is true }}", "{{ 'é' }}", "{{ é }}", "{{ {'é': 1}.é }}", "{% set ñ = 1 %}{{ ñ }}", "{{ 1e400 }}", "{{ 'a' is string }}", "{{ foo.bar.baz }}", "{{ s.0 }}", "{{ s.0.0 }}", "{{ l.1.x }}", "{{ (1, 2).0 }}", "{% set and = 1 %}", "{{ not }}", "{{ in }}", "{{ is }}", "{{ a.if }}", "{{ o.in }}", "{{ {'if': 1}.if }}", "{{ {'not': 1}.not }}",
    "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}", "{% from 'x' import y %}",
    # adding up
    "{% set ns = namespace(found=false) %}{% for m in msgs[::-1] %}{% if not ns.found and m.role == 'user' %}{% set ns.found = true %}{% set ns.i = loop.index0 %}{% endif %}{% endfor %}{{ ns.i }}{{ ns.found }}",
    "{% for m in msgs %}{% if m.content is string %}{% set c = m.content %}{% else %}{% set c = '-' %}{% endif %}{{ c }}{% endfor %}{{ c is defined }}",
    "{% for m in msgs %}{% if m.content %}{% set c = m.content %}{% endif %}{{ c|default('none') }}{% endfor %}",
    "{% if msgs[0].role == 'system' %}{% set sys = msgs[0].content %}{% set rest = msgs[1:] %}{% else %}{% set rest = msgs %}{% endif %}{{ sys is defined }}{{ rest|length }}",
    "{% set last = namespace(i=msgs|length - 1) %}{% for m in msgs[::-1] %}{% set idx = (msgs|length - 1) - loop.index0 %}{% if m.role == 'assistant' %}{% set last.i = idx %}{% endif %}{% endfor %}{{ last.i }}",
    "{% for m in msgs %}{{ '<|' + m.role + '|>' + (m.content or '') + ('!' if loop.last else '') }}{% endfor %}", "{{ msgs|tojson(indent=2) }}", "{{ msgs }}", "{{ ({'a': 1}, 'x', none, true) }}", "{% set content = msgs[0].content if msgs[0].content is string else '' %}{{ content }}",
    "{{ (msgs|map(attribute='content')|select('string')|list)|join(' ') }}", "{% set d2 = dict(o, zz=1) %}{{ d2.zz }}{{ o.zz is defined }}", "{% for k, v in o.items() %}{% if v is mapping %}m{% elif v is none %}n{% elif v is number %}{{ v }}{% endif %}{% endfor %}", "{% set keys = [] %}{% for k in o %}{% set keys = keys + [k] %}{% endfor %}{{ keys }}", "{% set x = [] %}{{ x.append(1) }}{{ x }}", "{% set x = [] %}{% if x.append(1) %}{% endif %}", "{% do l.append(1) %}",
    "{% set s2 = 'a' %}{% set s3 = s2 ~ 'b' %}{% set s4 = s2 ~ 'c' %}{{ s2 }}{{ s3 }}{{ s4 }}", "{% set a1 = 'x' + 'y' %}{% set a2 = a1 + 'z' %}{% set a3 = a1 + 'w' %}{{ a1 }} {{ a2 }} {{ a3 }} {{ a2 + a3 }} {{ a1[1:] + a2[1:] }}", "{% set ns = namespace(s='') %}{% for i in range(50) %}{% set ns.s = ns.s + u %}{% endfor %}{{ ns.s|length }}{{ ns.s[-5:] }}",
]


def cases():
    for group in (EXPRESSIONS, FILTERS, TESTS, METHODS):
        for line in group.strip("\n").replace("\\\n", "\\\0").split("\n"):
            line = line.replace("\\\0", "\\\n")
            yield line, "{{ " + line + " }}", CONTEXT
    for template in STATEMENTS:
        yield template, template, CONTEXT
