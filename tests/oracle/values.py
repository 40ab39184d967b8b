"""Our reading of values against Python's json, on random and on mutated texts."""
import json
import random
import re
import subprocess
import sys

rng = random.Random(7)
NUMBERS = ["0", "-0", "-0.0", "1", "1.0", "1e5", "1E400", "-1E400", "1e-7", "0.1", "1e16", "1e15", "123456789012345678",
           "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1.7976931348623157e308", "5e-324",
           "2.2250738585072014e-308", "0.30000000000000004", "100000000000000000000.5", "1e22", "1e21", "123e-20"]
PIECES = ["a", "é", "中", "😀", "\\n", "\\u0000", "\\u00e9", "\\ud83d\\ude00", "\\\"", "\\\\", "\\/", " ", "\u2028", "\x7f", "<", "'"]


def string():
    return '"' + "".join(rng.choice(PIECES) for _ in range(rng.randrange(6))) + '"'


def number():
    if rng.random() < 0.5:
        return rng.choice(NUMBERS)
    x = rng.random() * 10 ** rng.randrange(-30, 30)
    return rng.choice([repr(x), "%.3e" % x, str(rng.getrandbits(rng.randrange(1, 90))), "-" + repr(x)])


def value(depth):
    kind = rng.randrange(8 if depth else 6)
    if kind < 2:
        return number()
    if kind < 4:
        return string()
    if kind < 6:
        return rng.choice(["null", "true", "false", "NaN", "Infinity", "-Infinity"])
    blank = rng.choice(["", " ", "\t"])
    if kind == 6:
        return "[" + blank + ",".join(value(depth - 1) + blank for _ in range(rng.randrange(4))) + "]"
    return "{" + ",".join(blank + string() + blank + ":" + value(depth - 1) for _ in range(rng.randrange(5))) + "}"


def mutated(text):
    at = rng.randrange(len(text) + 1)
    what = rng.randrange(3)
    if what == 0:
        return text[:at] + text[at + 1:]
    if what == 1:
        return text[:at] + rng.choice('{}[]",:0-.eE\\ntu ') + text[at:]
    return text[:at]


def want(line):
    # json.loads keeps a lone surrogate, which is U+FFFD here
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except ValueError:
        return "error"
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


lines = []
for _ in range(40000):
    text = value(4)
    lines.append(text)
    lines.append(mutated(text))
lines = [x for x in lines if "\n" not in x]
got = subprocess.run([sys.argv[1]], input="".join(x + "\n" for x in lines).encode(), capture_output=True, check=True)
got = got.stdout.decode().split("\n")[:-1]
assert len(got) == len(lines)
bad = [(x, g, want(x)) for x, g in zip(lines, got) if g != want(x)]
for x, g, w in bad[:5]:
    print(f"# {x!r}: got {g!r}, want {w!r}")
print(f"{'not ' if bad else ''}ok 1 - {len(lines)} texts read as Python's json reads them, {got.count('error')} refused")
