"""Writes the tables of what Python's str methods know of Unicode.

usage: jinja_utable.py props > src/jinja/utable.c
       jinja_utable.py case > src/jinja/utable_case.c
"""
import sys
import unicodedata

N = 0x110000
CPS = [c for c in range(N) if not 0xD800 <= c < 0xE000]


def toggles(pred):
    """The code points at which a property begins or ends."""
    out, on = [], False
    for c in range(N):
        p = not 0xD800 <= c < 0xE000 and pred(chr(c))
        if p != on:
            out.append(c)
            on = p
    return out


def case_ignorable(ch):
    """What str.lower skips before a sigma, looking for a letter."""
    return ("A" + ch + "\u03a3").lower()[-1] == "\u03c2" and ("1" + ch + "\u03a3").lower()[-1] == "\u03c3"


def cased(ch):
    return (ch + "a").title()[-1] == "a"


def ranges(fn):
    """Runs of (first, last, stride, delta) of simple mappings."""
    pairs = [(c, ord(fn(chr(c))) - c) for c in CPS if len(fn(chr(c))) == 1 and fn(chr(c)) != chr(c)]
    out = []
    for c, d in pairs:
        if out:
            first, last, stride, delta = out[-1]
            if d == delta and (c - last == stride or first == last and c - last in (1, 2)):
                out[-1] = (first, c, c - last, delta)
                continue
        out.append((c, c, 1, d))
    return out


def emit_ints(name, values):
    print(f"\nconst uint32_t {name}[] = {{")
    line = "   "
    for v in values:
        item = f" {v:#x},"
        if len(line) + len(item) > 96:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")
    print(f"const size_t {name}_n = {len(values)};")


def emit_ranges(name, rs):
    print(f"\nconst struct ucase {name}[] = {{")
    line = "   "
    for r in rs:
        item = " {%#x, %#x, %d, %d}," % r
        if len(line) + len(item) > 96:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")
    print(f"const size_t {name}_n = {len(rs)};")


def emit_special(name, fn, other):
    items = [(c, fn(chr(c))) for c in CPS if fn(chr(c)) != other(chr(c))]
    print(f"\nconst struct uspecial {name}[] = {{")
    line = "   "
    for c, s in items:
        cps = [ord(x) for x in s] + [0] * (3 - len(s))
        item = " {%#x, {%#x, %#x, %#x}}," % (c, *cps)
        if len(line) + len(item) > 96:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")
    print(f"const size_t {name}_n = {len(items)};")


def simple(fn):
    return lambda ch: fn(ch) if len(fn(ch)) == 1 else ch


PROPS = {
    "printable": str.isprintable,
    "cased": cased,
    "ignorable": case_ignorable,
    # lower and upper follow from the mappings, but for these
    "lower_odd": lambda ch: ch.islower() != (cased(ch) and ch.lower() == ch),
    "upper_odd": lambda ch: ch.isupper() != (ch.lower() != ch),
    "alpha": str.isalpha,
    "numeric": str.isnumeric,
    "digit": str.isdigit,
    "decimal": str.isdecimal,
}

print(f"/* Written by tests/oracle/jinja_utable.py from Unicode {unicodedata.unidata_version}, as in Python "
      f"{sys.version_info[0]}.{sys.version_info[1]}. */")
print("/* clang-format off */")
print('#include "jinja/utable.h"')
if sys.argv[1] == "props":
    for name, pred in PROPS.items():
        emit_ints("utable_" + name, toggles(pred))
else:
    emit_ranges("utable_tolower", ranges(str.lower))
    emit_ranges("utable_toupper", ranges(str.upper))
    emit_special("utable_upper_special", str.upper, simple(str.upper))
    emit_special("utable_title_special", str.title, str.upper)
