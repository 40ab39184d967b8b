"""Texts for tests/bench/tokenizer.sh: DIR. English from the system's documentation, Python from its
library, Chinese and Japanese from the translated manual packages, where apt can fetch them; each up
to 40 MB. What is there already stays."""

import gzip
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

LIMIT = 40_000_000
out = Path(sys.argv[1])


def texts(roots, pattern, want=""):
    size = 0
    for root in roots:
        for path in sorted(Path(root).rglob(pattern)):
            if size >= LIMIT or not path.is_file() or want not in str(path):
                continue
            data = path.read_bytes()
            try:
                text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
            except (UnicodeDecodeError, OSError, EOFError):
                continue
            if path.suffix == ".html":
                text = re.sub(r"<[^>]*>", "", text)
            size += len(text.encode())
            yield text


def package(name):
    where = out / name
    if not where.is_dir():
        subprocess.run(["apt-get", "-qq", "download", name], cwd=out, check=True, stderr=subprocess.DEVNULL)
        for deb in out.glob(name + "_*.deb"):
            subprocess.run(["dpkg-deb", "-x", deb, where], check=True)
    return where


def write(name, make):
    path = out / name
    try:
        if not path.exists():
            path.write_text("".join(make())[:LIMIT])
    except (subprocess.CalledProcessError, OSError) as e:
        print(f"no {name}: {e}", file=sys.stderr)


write("english.txt", lambda: texts(["/usr/share/doc", "/usr/share/man", "/usr/share/perl"], "*"))
write("python.txt", lambda: texts([sysconfig.get_paths()["stdlib"], "/usr/lib/python3"], "*.py"))
write("chinese.txt", lambda: texts([package("manpages-zh"), package("debian-reference-zh-cn")], "*", "zh"))
write("japanese.txt", lambda: texts([package("manpages-ja"), package("debian-reference-ja")], "*", "ja"))
