"""jinja.py RENDERER TEMPLATES: compares RENDERER (jinja_render.c) with Jinja2; prints TAP.
jinja.py --record: what Jinja2 says to small templates, for RECORDED, which make check replays."""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import unicodedata

import jinja2
from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

sys.path.insert(0, os.path.dirname(__file__))
import jinja_battery  # noqa: E402
import jinja_random  # noqa: E402
import jinja_snippets  # noqa: E402

NOW = 1767323045  # 2026-01-02 03:04:05
SHOWN = 12
RECORDED = os.path.join(os.path.dirname(__file__), "../data/jinja.jsonl")
RECORDED_RANDOM = 600
RANDOM = int(os.environ.get("E3_RANDOM_TEMPLATES", "4000"))
SEED = int(os.environ.get("E3_SEED", "1"))
ADDRESS = re.compile(" at 0x|generator object|built-in method", re.I)
UNICODE = "14.0.0"  # of Python 3.11 and of the tables


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Raised(TemplateError):
    pass


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise Raised(message)

    now = datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None)
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=raise_exception, strftime_now=now.strftime)
    return env


class Renderer:
    def __init__(self, path):
        self.p = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render(self, template, context_json):
        line = '{"template": %s, "now": %d, "context": %s}\n' % (json.dumps(template), NOW, context_json)
        self.p.stdin.write(line.encode())
        self.p.stdin.flush()
        answer = self.p.stdout.readline()
        if not answer:
            raise SystemExit(f"Bail out! the renderer died on {template[:300]!r} {context_json[:300]}")
        return json.loads(answer)


def theirs(env, cache, template, context_json):
    """(text, None) or (None, error)"""
    try:
        t = cache.get(template)
        if t is None:
            t = cache[template] = env.from_string(template)
        if isinstance(t, Exception):
            raise t
        return t.render(**json.loads(context_json)), None
    except Exception as e:  # whatever Python raises ends the rendering
        if template not in cache:
            cache[template] = e
        return None, e


def difference(want, error, got):
    if error is None:
        if "error" in got:
            return f"they render, we fail: {got['error']}"
        if got["ok"] != want:
            n = next((i for i, (a, b) in enumerate(zip(want, got["ok"])) if a != b), min(len(want), len(got["ok"])))
            return f"at {n}: they {want[max(0, n - 40):n + 60]!r}, we {got['ok'][max(0, n - 40):n + 60]!r}"
        if got["runs"] and got["runs"][-1][0] != len(want.encode()) or not got["runs"] and want:
            return "the runs do not cover the text"
        return None
    if "ok" in got:
        return f"they fail ({type(error).__name__}: {error}), we render {got['ok'][:80]!r}"
    if isinstance(error, Raised) and "the template raises: " + clean(str(error)) not in got["error"]:
        return f"they raise {str(error)!r}, we say {got['error']!r}"
    return None


def clean(s):
    """As err_set cleans messages."""
    return "".join("?" if ord(c) < 0x20 or ord(c) == 0x7f else c for c in s)[:700]


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = False

    def ok(self, good, what):
        self.n += 1
        self.failed |= not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {what}")


def compare(tap, env, ours, cases, what):
    """cases: (label, template, context)"""
    cache, count, raised, wrong = {}, 0, 0, 0
    for label, template, context in cases:
        text = json.dumps(context)
        want, error = theirs(env, cache, template, text)
        if want and ADDRESS.search(want):
            continue
        got = ours.render(template, text)
        if "beyond 64 bits" in got.get("error", ""):
            continue  # a limit of ours
        count += 1
        raised += error is not None
        diff = difference(want, error, got)
        if diff:
            wrong += 1
            if wrong <= SHOWN:
                print(f"# {label}: {diff}")
    tap.ok(wrong == 0, f"{count} {what} as Jinja2 {jinja2.__version__} ({raised} raise), {wrong} differ")


def template_cases(files):
    contexts = list(jinja_battery.contexts())
    for path in files:
        with open(path, newline="", encoding="utf-8") as f:
            template = f.read()
        for name, context in contexts:
            yield f"{os.path.relpath(path, os.path.dirname(files[0]))}: {name}", template, context


def unicode_cases():
    """Every character through the methods that need tables."""
    template = "{{ s.lower() }}|{{ s.upper() }}|{{ s.title() }}|{{ s.capitalize() }}|{{ s.swapcase() }}|{{ [s] }}|" \
        "{{ s.isalpha() }}{{ s.isalnum() }}{{ s.isdigit() }}{{ s.isdecimal() }}{{ s.isnumeric() }}{{ s.isspace() }}" \
        "{{ s.isprintable() }}{{ s.islower() }}{{ s.isupper() }}|{{ s|trim }}|{{ ('A' ~ s ~ 'Σ' ~ s)|lower }}"
    for cp in range(0x110000):
        if not 0xD800 <= cp < 0xE000 and (cp < 0x3000 or 0xA000 <= cp < 0xAC00 or 0xF900 <= cp < 0x12000
                                          or 0x16000 <= cp < 0x17000 or 0x1D000 <= cp < 0x20000 or cp % 97 == 0):
            yield f"U+{cp:04X}", template, {"s": chr(cp)}


def recorded(env):
    """The lines of RECORDED: the context, then a template each with its text or its error."""
    cache, context = {}, json.dumps(jinja_snippets.CONTEXT)
    yield json.dumps({"context": jinja_snippets.CONTEXT, "now": NOW})
    for _, template, _ in [*jinja_snippets.cases(), *jinja_random.cases(1, RECORDED_RANDOM)]:
        want, error = theirs(env, cache, template, context)
        if error is None and not ADDRESS.search(want):
            yield json.dumps({"template": template, "want": want})
        elif error is not None:
            yield json.dumps({"template": template, "raises": clean(str(error)) if isinstance(error, Raised) else ""})


def check_recorded(tap, env):
    with open(RECORDED, encoding="utf-8") as f:
        have = f.read().splitlines()
    want = list(recorded(env))
    wrong = [w for h, w in zip(have, want) if h != w]
    for line in wrong[:SHOWN]:
        print(f"# Jinja2 says {line}")
    tap.ok(have == want, f"{len(want) - 1} recorded answers are Jinja2's")


def main():
    if sys.argv[1] == "--record":
        print("\n".join(recorded(environment())))
        return False
    ours, env, tap = Renderer(sys.argv[1]), environment(), Tap()
    check_recorded(tap, env)
    compare(tap, env, ours, jinja_snippets.cases(), "small templates")
    compare(tap, env, ours, jinja_random.cases(SEED, RANDOM), "random templates")
    if unicodedata.unidata_version == UNICODE:
        compare(tap, env, ours, unicode_cases(), "characters")
    else:
        tap.ok(True, f"characters # skip Python has Unicode {unicodedata.unidata_version}, not {UNICODE}")
    files = sorted(glob.glob(sys.argv[2] + "/*.jinja") + glob.glob(sys.argv[2] + "/llama.cpp/*.jinja"))
    if files:
        compare(tap, env, ours, template_cases(files), f"renderings of {len(files)} templates")
    else:
        print(f"ok {tap.n + 1} - templates # skip none in {sys.argv[2]}")
    print(f"1..{tap.n + (not files)}")
    return tap.failed


sys.exit(main())
