"""A mixed corpus for tests/oracle/bpe-all: bpe_corpus.py DIR BYTES

Files of about 1 MB of UTF-8 each, DIR/0000.txt on, from Debian's documentation, translated manuals and source
packages, fetched by apt-get download into DIR/deb. What is there already stays.
"""
import gzip
import io
import itertools
import lzma
import subprocess
import sys
import tarfile
from pathlib import Path

WHERE, LIMIT = Path(sys.argv[1]), int(sys.argv[2])
SIZE = 1 << 20
PACKAGES = ["linux-source-6.1", "debian-handbook", "installation-guide-amd64", "gnome-user-docs", "libreoffice-help-zh-cn",
            "libreoffice-help-ja", "libreoffice-help-ko", "libreoffice-help-hi", "libreoffice-help-ru", "manpages-zh",
            "manpages-ja", "manpages-ru", "manpages-de"]
BINARY = (".png", ".jpg", ".svgz", ".pdf", ".gif", ".ico", ".webm", ".ogg", ".woff", ".db", ".jar", ".idx", ".cfs")


def fetch(name):
    deb = WHERE / "deb"
    deb.mkdir(parents=True, exist_ok=True)
    if not list(deb.glob(name + "_*.deb")):
        subprocess.run(["apt-get", "-qq", "download", name], cwd=deb, check=True, stderr=subprocess.DEVNULL)
    return next(deb.glob(name + "_*.deb"))


def members(stream):
    """The regular files of a tar stream that are no pictures; an inner archive's in its place."""
    with tarfile.open(fileobj=stream, mode="r|*") as tar:
        for m in tar:
            if not m.isreg() or m.name.endswith(BINARY):
                continue
            data = tar.extractfile(m).read()
            if m.name.endswith(".tar.xz"):
                yield from members(lzma.open(io.BytesIO(data)))
                continue
            yield gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def texts(name):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", fetch(name)], stdout=subprocess.PIPE) as tar:
        for data in members(tar.stdout):
            try:
                yield data.decode()
            except UnicodeDecodeError:
                continue
        tar.stdout.read()


def blocks(name):
    text = ""
    for t in texts(name):
        text += t
        while len(text) > SIZE // 2:
            data = text[:SIZE].encode()[:SIZE].decode(errors="ignore")
            yield data
            text = text[len(data):]


def main():
    sources, size = [blocks(p) for p in PACKAGES], 0
    number = itertools.count()
    while sources and size < LIMIT:
        for s in list(sources):
            try:
                block = next(s).encode()
            except StopIteration:
                sources.remove(s)
                continue
            except (OSError, subprocess.CalledProcessError) as e:
                print(f"# a package is missing: {e}", file=sys.stderr)
                sources.remove(s)
                continue
            (WHERE / f"{next(number):04}.txt").write_bytes(block)
            size += len(block)
            if size >= LIMIT:
                break
    (WHERE / "whole").write_text(f"{size}\n")
    print(f"# corpus of {size} bytes in {next(number)} files")


if not (WHERE / "whole").exists():
    main()
