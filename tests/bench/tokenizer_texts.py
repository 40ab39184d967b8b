"""Texts for tests/bench/tokenizer.sh: DIR. English from the system's documentation, Python from its
library, Chinese and Japanese from translated manuals and documentation, which apt fetches; of each
what there is, and 40 MB at most. Chat takes turns of all four. What is there already stays; for each
text its size, and how much of it are lines that came before, are printed."""

import gzip
import html
import itertools
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

LIMIT = 40_000_000
out = Path(sys.argv[1])
KANA, HAN = re.compile("[\u3040-\u30ff]"), re.compile("[\u4e00-\u9fff]")
CHINESE = ["manpages-zh", "libreoffice-help-zh-cn", "libreoffice-help-zh-tw", "debian-reference-zh-cn",
           "debian-reference-zh-tw", "maint-guide-zh-cn", "maint-guide-zh-tw", "fortunes-zh"]
JAPANESE = ["manpages-ja", "lilypond-doc-html-ja", "libreoffice-help-ja", "debian-reference-ja",
            "developers-reference-ja", "maint-guide-ja"]


def read(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    if "<html" in text[:2000]:
        text = html.unescape(re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", "", text))
    return text


def texts(roots, pattern="*"):
    for root in roots:
        for path in sorted(Path(root).rglob(pattern)):
            try:
                if path.is_file():
                    yield read(path)
            except (UnicodeDecodeError, OSError, EOFError):
                continue


def chinese(text):
    return 10 * len(HAN.findall(text)) > len(text) and 100 * len(KANA.findall(text)) < len(text)


def japanese(text):
    return 20 * len(KANA.findall(text)) > len(text)


def package(name):
    where = out / name
    if not where.is_dir():
        subprocess.run(["apt-get", "-qq", "download", name], cwd=out, check=True, stderr=subprocess.DEVNULL)
        for deb in out.glob(name + "_*.deb"):
            subprocess.run(["dpkg-deb", "-x", deb, where], check=True)
    return where


def packages(names):
    for name in names:
        try:
            yield package(name)
        except (subprocess.CalledProcessError, OSError) as e:
            print(f"no {name}: {e}", file=sys.stderr)


def chat():
    """A question of a few lines, an answer of many with a program in it, in one language after the other."""
    languages = [(out / name).read_text().splitlines(keepends=True) for name in ("english.txt", "chinese.txt", "japanese.txt")]
    program = (out / "python.txt").read_text().splitlines(keepends=True)
    at = [0] * len(languages)
    for turn in itertools.count():
        k, code = turn % len(languages), program[turn * 24 : turn * 24 + 8 + turn % 16]
        question, answer = 1 + turn % 5, 10 + turn % 30
        lines = languages[k][at[k] : at[k] + question + answer]
        at[k] += question + answer
        if len(lines) < question + answer or not code:
            return
        yield "".join(["User: ", *lines[:question], "\nAssistant: ", *lines[question:], "\n```python\n", *code, "```\n\n"])


def write(name, make):
    path = out / name
    if not path.exists():
        text, size = [], 0
        for t in make():
            text.append(t)
            size += len(t.encode())
            if size >= LIMIT:
                break
        path.write_text("".join(text).encode()[:LIMIT].decode(errors="ignore"))
    lines = path.read_bytes().splitlines(keepends=True)
    size = sum(map(len, lines))
    print(f"{name}: {size / 1e6:.1f} MB, {100 - 100 * sum(map(len, set(lines))) / size:.0f} % in lines that came before")


write("english.txt", lambda: texts(["/usr/share/doc", "/usr/share/man", "/usr/share/perl"]))
write("python.txt", lambda: texts([sysconfig.get_paths()["stdlib"], "/usr/lib/python3"], "*.py"))
write("chinese.txt", lambda: filter(chinese, texts(packages(CHINESE))))
write("japanese.txt", lambda: filter(japanese, texts(packages(JAPANESE))))
write("chat.txt", chat)
