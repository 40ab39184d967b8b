"""Random templates over the context of jinja_snippets: cases(seed, n). What is left out differs on
purpose or by chance in Python: addresses in repr, the identity of equal strings, and slices of
constants with bad bounds, which Jinja2 folds to undefined."""
import random

import jinja_snippets

NAMES = [k for k in jinja_snippets.CONTEXT if k not in ("ss", "ctl", "big", "nbig")] + ["x", "undef"]
STRINGS = ["'a'", "''", "'Hello'", "' '", "'o'", "'é'", "'1'", "'%s'", "'{}'", "','", "'\\n'", "'5.5'", "'role'", "'a.b'"]
NUMBERS = ["0", "1", "2", "-1", "3", "7", "1.5", "-2.5", "100", "true", "false", "none", "0.0", "10"]
OTHERS = ["[]", "{}", "()", "range(4)", "namespace(a=1)", "loop"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
ATTRIBUTES = ["role", "content", "a", "b", "items", "x", "k", "n"]
TEMPLATES = ["%s", "%d", "%r", "%5s|%-3s", "%.2f", "%x", "%(a)s", "%%"]

# name: the fewest and the most arguments, or the arguments to choose from
FILTERS = {
    "length": (0, 0), "lower": (0, 0), "upper": (0, 0), "trim": (0, 1), "string": (0, 0), "list": (0, 0),
    "first": (0, 0), "last": (0, 0), "join": (0, 1), "unique": (0, 0), "reverse": (0, 0), "items": (0, 0),
    "default": (0, 2), "replace": (2, 3), "int": (0, 1), "float": (0, 1), "abs": (0, 0), "min": (0, 0),
    "max": (0, 0), "sum": (0, 0), "indent": (0, 0), "title": (0, 0), "capitalize": (0, 0), "safe": (0, 0),
    "e": (0, 0), "format": (0, 2), "center": (0, 0), "d": (0, 1), "attr": (1, 1),
    "tojson": ["", "indent=2", "ensure_ascii=true", "separators=(',', ':')", "sort_keys=true"],
    "sort": ["", "true", "attribute='role'", "case_sensitive=true"],
    "dictsort": ["", "true", "by='value'", "reverse=true"],
    "batch": ["2", "3, 'x'"],
    "map": ["attribute='role'", "attribute='content', default=0", "'upper'", "'length'", "'replace', 'a', 'b'", "'first'", "'tojson'"],
    "select": ["", "'string'", "'odd'", "'gt', 1", "'none'", "'number'"],
    "reject": ["", "'string'", "'defined'", "'in', l"],
    "selectattr": ["'role'", "'role', 'equalto', 'user'", "'n', 'gt', 1", "'content', 'none'", "0"],
    "rejectattr": ["'content'", "'role', 'in', ['user']", "'k', 'defined'"],
}
TESTS = {
    "defined": 0, "string": 0, "mapping": 0, "iterable": 0, "sequence": 0, "number": 0, "none": 0, "boolean": 0,
    "true": 0, "false": 0, "integer": 0, "float": 0, "odd": 0, "even": 0, "lower": 0, "upper": 0, "callable": 0,
    "in": 1, "eq": 1, "lt": 1, "ge": 1, "divisibleby": 1,
}
METHODS = {
    "upper": (0, 0), "lower": (0, 0), "strip": (0, 1), "lstrip": (0, 1), "split": (0, 2), "rsplit": (0, 2),
    "startswith": (1, 2), "endswith": (1, 2), "replace": (2, 3), "find": (1, 3), "count": (1, 1), "join": (1, 1),
    "title": (0, 0), "items": (0, 0), "keys": (0, 0), "values": (0, 0), "get": (1, 2), "index": (1, 1),
    "splitlines": (0, 0), "format": (0, 2), "partition": (1, 1), "removeprefix": (1, 1), "zfill": (1, 1),
    "ljust": (1, 2), "isdigit": (0, 0), "isalpha": (0, 0), "append": (1, 1), "pop": (0, 0), "swapcase": (0, 0),
}
VARIABLES = ["v", "w", "s", "i"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def one(self, *choices):
        """Of functions and strings."""
        c = self.r.choice(choices)
        return c() if callable(c) else c

    def atom(self):
        return self.r.choice(self.r.choices([NAMES, STRINGS, NUMBERS, OTHERS], [45, 25, 25, 5])[0])

    def args(self, how, depth):
        if isinstance(how, list):
            return self.r.choice(how)
        return ", ".join(self.expr(depth - 1) for _ in range(self.r.randint(*how)))

    def expr(self, depth):
        if depth <= 0 or self.r.random() < 0.12:
            return self.atom()
        kinds = [self.filtered] * 5 + [self.operation] * 4 + [self.tested, self.method] * 2 + [
            self.item, self.slice, self.attribute, self.conditional, self.literal, self.unary, self.percent]
        return self.r.choice(kinds)(depth)

    def filtered(self, d):
        name = self.r.choice(list(FILTERS))
        args = self.args(FILTERS[name], d)
        return f"({self.expr(d - 1)})|{name}" + (f"({args})" if args else "")

    def tested(self, d):
        name = self.r.choice(list(TESTS))
        arg = f"({self.expr(d - 1)})" if TESTS[name] else ""
        return f"({self.expr(d - 1)}) is {self.one('', '', 'not ')}{name}{arg}"

    def method(self, d):
        name = self.r.choice(list(METHODS))
        return f"({self.expr(d - 1)}).{name}({self.args(METHODS[name], d)})"

    def operation(self, d):
        return f"({self.expr(d - 1)} {self.r.choice(OPERATORS)} {self.expr(d - 1)})"

    def item(self, d):
        return f"({self.expr(d - 1)})[{self.expr(d - 1)}]"

    def slice(self, d):
        bound = ["", "1", "-1", "2", "i", "neg", "s"]
        return f"{self.r.choice(NAMES)}[{self.r.choice(bound)}:{self.r.choice(bound)}{self.one('', '', ':-1', ':2', ':z')}]"

    def attribute(self, d):
        return f"({self.expr(d - 1)}).{self.r.choice(ATTRIBUTES)}"

    def conditional(self, d):
        other = f" else {self.expr(d - 1)}" if self.r.random() < 0.7 else ""
        return f"({self.expr(d - 1)} if {self.expr(d - 1)}{other})"

    def literal(self, d):
        n = self.r.randint(0, 3)
        if self.r.random() < 0.6:
            return "[" + ", ".join(self.expr(d - 1) for _ in range(n)) + "]"
        return "{" + ", ".join(f"{self.atom()}: {self.expr(d - 1)}" for _ in range(n)) + "}"

    def unary(self, d):
        return f"({self.one('not', '-')} {self.expr(d - 1)})"

    def percent(self, d):
        return f"('{self.r.choice(TEMPLATES)}' % ({self.expr(d - 1)}))"

    def body(self, d):
        return "".join(self.statement(d) for _ in range(self.r.randint(1, 3)))

    def statement(self, d):
        if d <= 0 or self.r.random() < 0.3:
            return self.one("", "t ", "\n  ", " ") + "{{ " + self.expr(self.r.randint(0, 2)) + " }}"
        return self.r.choice([self.set, self.if_, self.if_, self.for_, self.for_, self.set_block, self.macro, self.block])(d)

    def set(self, d):
        return f"{{% set {self.r.choice(VARIABLES + ['ns.q'])} = {self.expr(2)} %}}"

    def if_(self, d):
        text = f"{{% if {self.expr(1)} %}}{self.body(d - 1)}"
        if self.r.random() < 0.3:
            text += f"{{% elif {self.expr(1)} %}}{self.body(d - 1)}"
        if self.r.random() < 0.5:
            text += f"{{% else %}}{self.body(d - 1)}"
        return text + "{% endif %}"

    def for_(self, d):
        head = self.one(lambda: f"{self.r.choice(VARIABLES)} in {self.expr(1)}", lambda: f"w in {self.one('l', 'names', 'msgs', 's')}",
                        "v, w in o.items()", "v, w in o|dictsort", "v, w in [(1, 2), (3, 4)]")
        test = f" if {self.expr(1)}" if self.r.random() < 0.25 else ""
        end = self.one("", "{{ loop.index }}", "{{ loop.last }}", "{{ loop.length }}", "{{ loop.previtem }}{{ loop.nextitem }}",
                       "{% break %}", "{% if loop.first %}{% continue %}{% endif %}")
        els = f"{{% else %}}{self.body(d - 1)}" if self.r.random() < 0.3 else ""
        return f"{{% for {head}{test} %}}{self.body(d - 1)}{end}{els}{{% endfor %}}"

    def set_block(self, d):
        return f"{{% set {self.r.choice(VARIABLES)} %}}{self.body(d - 1)}{{% endset %}}"

    def macro(self, d):
        return f"{{% macro m(v, w={self.expr(1)}) %}}{self.body(d - 1)}{{% endmacro %}}{{{{ m({self.args((0, 2), 1)}) }}}}"

    def block(self, d):
        return self.one(
            lambda: f"{{% filter {self.one('upper', 'trim', 'length', 'indent(2)')} %}}{self.body(d - 1)}{{% endfilter %}}",
            lambda: f"{{% with v = {self.expr(1)} %}}{self.body(d - 1)}{{% endwith %}}",
            lambda: "{{ m(" + self.args((0, 2), 1) + ") }}")

    def template(self):
        if self.r.random() < 0.6:
            return "{{ " + self.expr(self.r.randint(1, 4)) + " }}"
        return "{% set ns = namespace(q=1) %}" + self.body(3)


def cases(seed, n):
    maker = Maker(seed)
    for _ in range(n):
        template = maker.template()
        yield template, template, jinja_snippets.CONTEXT
