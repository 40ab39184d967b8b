"""src/bpe against tiktoken and tokenizers: TAP, with the number of things compared.

    bpe.py BPE_ENCODE SHARED SCRATCH

BPE_ENCODE is the driver; SHARED/models has the real vocabularies, or not; SCRATCH is a directory. E3_ORACLE_FULL in the environment: an hour's worth instead of minutes.
"""
import base64
import json
import os
import random
import subprocess
import sys
import sysconfig
import unicodedata
from pathlib import Path

import numpy as np
import tiktoken
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

DRIVER, SHARED, SCRATCH = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
FULL = "E3_ORACLE_FULL" in os.environ
NO_SPECIAL, REPLACE = 1, 2

SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def cased(no, tail):
    up, low = f"[{UPPER}{no}]", f"[{LOWER}{no}]"
    return (rf"[^\r\n\p{{L}}\p{{N}}]?{up}*{low}+{SUFFIX}?|[^\r\n\p{{L}}\p{{N}}]?{up}+{low}*{SUFFIX}?"
            rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n{tail}]*|{BLANKS}")


PATTERNS = {
    "gpt2": [GPT2],
    "smollm2": [r"\p{N}", GPT2],
    "llama3": [SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BLANKS],
    "qwen2": [SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BLANKS],
    "qwen3.5": [SUFFIX + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + BLANKS],
    "o200k": [cased("", "/")],
    "kimi": [r"[\p{Han}]+|" + cased(r"&&[^\p{Han}]", "")],
    "deepseek3": [
        r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|" + BLANKS],
    "ling2": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|"
              r"\s*[\r\n]|\s+(?!\S)|\s+"],
}

TEMPLATES = ["{0}", "a{0}B b", " {0} 1{0}!{0}x", "{0}\n  \nx", "1{0}234", "A{0}B", "'{0}", "{0}'s",
             "\n{0}", " {0}", "{0}{0}'S ", "!{0}/\n"]

# one or two of every class that a pattern tells apart
REPRESENTATIVES = list("aZ's tDlLrReEvVmM09 \n\r\t!/.-_<|>[]{}") + [
    "\u00e9", "\u01c5", "\u02b0", "\u05d0", "\u0301", "\u0903", "\u0660", "\u00bd", "\u2167", "\u3007", "中",
    "の", "ア", "・", "\u2f00", "\u3005", "\u17f0", "\u017f", "\u212a", "\u00a0", "\u0085", "\u2028", "\u3000",
    "\u200b", "\ufeff", "\u0000", "\u001c", "\U0001f642", "\U00016ff0", "\U00020000", "\u0378", "\ue000",
    "\U000e0001", "\u4dc0", "\uac00", "한", "\u1100", "\u1161", "\u11a8", "\u212b", "A\u030a", "\u0323", "\u0344"]

count = 0


def report(ok, what):
    global count
    count += 1
    print(f"{'ok' if ok else 'not ok'} {count} - {what}", flush=True)


def scalars(full):
    """Every scalar value, or those of the first plane and the edges of Unicode's blocks and assignments."""
    kinds = [unicodedata.category(chr(c)) for c in range(0x110000)]
    return [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and
            (full or c < 0x10000 or c % 16 == 0 or c % 16 == 15 or kinds[c] != kinds[c - 1])]


def chunks(items, n):
    for i in range(0, len(items), n):
        yield items[i : i + n]


def drive(args, texts, flags=0, parts=2):
    """The driver's answers: for each text `parts` arrays of the same length."""
    data = [t.encode() if isinstance(t, str) else t for t in texts]
    ask = b"".join(np.array([flags, len(d)], np.uint32).tobytes() + d for d in data)
    got = np.frombuffer(subprocess.run([DRIVER, *args], input=ask, stdout=subprocess.PIPE, check=True).stdout, np.int32)
    answers, at = [], 0
    for _ in data:
        n = int(got[at])
        answers.append([got[at + 1 + k * n : at + 1 + (k + 1) * n] for k in range(parts)])
        at += 1 + parts * n
    assert at == len(got)
    return answers


def char_of_byte(text):
    """For each byte offset of the text, and its end, the number of characters before it."""
    b = np.frombuffer(text.encode(), np.uint8)
    return np.concatenate([[0], np.cumsum((b & 0xC0) != 0x80)])


def template_texts(points, size):
    for some in chunks(points, size):
        for t in TEMPLATES:
            yield "".join(t.format(c) for c in some)


def random_texts(n, longest, seed):
    r = random.Random(seed)
    return ["".join(r.choices(REPRESENTATIVES, k=r.randint(1, longest))) for _ in range(n)]


def compare_splits(family):
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in PATTERNS[family]])
    texts = list(template_texts(scalars(FULL), 2000)) + random_texts(20000, 12, family)
    pieces = bad = 0
    for some in chunks(texts, 200):
        for text, (ends,) in zip(some, drive(["split", family], some, parts=1)):
            ours = char_of_byte(text)[ends]
            want = np.array([e for _, (_, e) in pre.pre_tokenize_str(text)], np.int64)
            pieces += len(want)
            if not np.array_equal(ours, want):
                bad += 1
                if bad <= 3:
                    k = next(i for i, (x, y) in enumerate(zip(ours, want)) if x != y)
                    print(f"# {family}: {text[max(0, int(want[k]) - 12):int(want[k]) + 12]!r} ours {ours[k-1:k+2]} want {want[k-1:k+2]}")
    report(bad == 0, f"{family}: splits of {len(texts)} texts, {pieces} pieces: {bad} texts differ")


class Tiktoken:
    """Kimi's folder in the real tiktoken."""

    def __init__(self, folder):
        lines = (folder / "tiktoken.model").read_bytes().split(b"\n")
        ranks = {base64.b64decode(a): int(b) for a, b in (line.split() for line in lines if line)}
        config = json.loads((folder / "tokenizer_config.json").read_text())["added_tokens_decoder"]
        names = {config.get(str(i), {"content": f"<|reserved_token_{i}|>"})["content"]: i
                 for i in range(len(ranks), len(ranks) + 256)}
        self.encoding = tiktoken.Encoding("kimi", pat_str=PATTERNS["kimi"][0], mergeable_ranks=ranks,
                                          special_tokens=names)
        self.tokens = list(ranks)
        self.added = list(names)
        self.normalizes = False

    def __call__(self, text):
        return self.encoding.encode(text, allowed_special="all")


class Tokenizers:
    def __init__(self, folder):
        self.real = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.real.no_truncation()
        added = self.real.get_added_tokens_decoder()
        self.added = [t.content for t in added.values()]
        self.tokens = [self.real.decode([i]).encode() for i in range(self.real.get_vocab_size()) if i not in added]
        self.normalizes = self.real.normalizer is not None

    def __call__(self, text):
        return self.real.encode(text, add_special_tokens=False).ids


def compare_ids(what, folder, real, texts):
    texts = [t for t in texts if t]
    n = bad = size = 0
    for some in chunks(texts, 4000):
        for text, (ids, starts) in zip(some, drive([str(folder)], some)):
            want = real(text)
            n += len(want)
            size += len(text.encode())
            rising = len(starts) == 0 or (starts[0] >= 0 and np.all(np.diff(starts) >= 0) and starts[-1] < len(text.encode()))
            if ids.tolist() != want or not rising:
                bad += 1
                if bad <= 3:
                    k = next((i for i, (x, y) in enumerate(zip(ids, want)) if x != y), 0)
                    print(f"# {what}: {text[:60]!r} at token {k}: ours {ids[k:k+6]} want {want[k:k+6]} rising {rising}")
    report(bad == 0, f"{what}: {len(texts)} texts, {size} bytes, {n} ids: {bad} texts differ")


def pair_texts(tokens, n, seed):
    """Neighbouring vocabulary entries, where they are text."""
    r = random.Random(seed)
    for _ in range(n):
        try:
            yield (r.choice(tokens) + r.choice(tokens)).decode()
        except UnicodeDecodeError:
            continue


def added_texts(added):
    for name in added[:300]:
        for c in REPRESENTATIVES:
            yield f"{c}{name}{c}{c}{name}{name} {name} "


def corpus_texts(limit):
    """Whole files: Python's library, this repository, the system's documentation."""
    roots = [Path(sysconfig.get_paths()["stdlib"]), Path(__file__).resolve().parents[2] / "src", Path("/usr/share/doc"),
             Path("/usr/share/man"), Path("/usr/share/perl")]
    for root in roots:
        left = limit
        for path in sorted(root.rglob("*")) if root.is_dir() else []:
            if left <= 0:
                break
            if path.is_file() and path.suffix not in (".pyc", ".so", ".gz", ".pack") and path.stat().st_size < 1 << 20:
                text = path.read_bytes().decode(errors="replace")
                left -= len(text)
                yield text


def compare_model(name, folder, real, effort):
    compare_ids(f"{name}, templates", folder, real, template_texts(scalars(FULL)[:: effort["step"]], 500))
    compare_ids(f"{name}, random classes", folder, real, random_texts(effort["random"], 24, name))
    compare_ids(f"{name}, every token", folder, real,
                [t.decode() for t in real.tokens if t.decode(errors="ignore").encode() == t])
    compare_ids(f"{name}, token pairs", folder, real, pair_texts(real.tokens, effort["pairs"], name))
    compare_ids(f"{name}, added tokens", folder, real, added_texts(real.added))
    compare_ids(f"{name}, corpus", folder, real, corpus_texts(effort["corpus"]))


def make_model(family, texts, ignore_merges, nfc):
    """A small vocabulary learnt from texts, with added tokens of every flag."""
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if nfc:
        t.normalizer = normalizers.NFC()
    if family == "smollm2":
        steps = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    elif family == "gpt2":
        steps = [pre_tokenizers.ByteLevel(add_prefix_space=False)]
    else:
        steps = [pre_tokenizers.Split(Regex(p), "isolated") for p in PATTERNS[family]]
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    t.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=4000, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    for i in range(16):
        t.add_tokens([AddedToken(f"<f{i}>", single_word=bool(i & 1), lstrip=bool(i & 2), rstrip=bool(i & 4), normalized=bool(i & 8))])
    t.add_tokens([AddedToken("wörd", single_word=True, normalized=True), AddedToken("\u212bng", normalized=True),
                  AddedToken("<f1><f2>", normalized=False), AddedToken(" sp ", lstrip=True, rstrip=True, normalized=False)])
    t.add_special_tokens([AddedToken("<eos>", normalized=False)])
    folder = SCRATCH / f"{family}-{ignore_merges}-{nfc}"
    folder.mkdir()
    t.save(str(folder / "tokenizer.json"))
    return folder


def compare_repair():
    folder = SHARED / "models" / "kimi-k2.5"
    real = Tiktoken(folder)
    r = random.Random(7)
    alphabet = [b"a", b"\xf0\x9f\x99\x82", b"\xe4\xb8\xad", b"\xc3", b"\xe4\xb8", b"\xf0\x9f", b"\xed\xa0\x80", b"\x80", b"\xff", b"\xc0\xaf", b" "]
    texts = [b"".join(r.choices(alphabet, k=r.randint(1, 9))) for _ in range(20000)]
    answers = drive([str(folder)], texts, REPLACE)
    bad = sum(ids.tolist() != real(t.decode(errors="replace")) for t, (ids, _) in zip(texts, answers))
    report(bad == 0, f"repair as errors='replace': {len(texts)} texts: {bad} differ")


def main():
    print(f"# tiktoken {tiktoken.__version__}, tokenizers {tokenizers.__version__}")
    wanted = os.environ.get("E3_ORACLE_ONLY", "")
    for family in PATTERNS:
        if wanted in family:
            compare_splits(family)
    learn = list(corpus_texts(300000))
    small = {"step": 97, "random": 5000, "pairs": 5000, "corpus": 50000}
    for family in [f for f in PATTERNS if wanted in f]:
        for ignore_merges, nfc in ((False, True), (True, False)):
            folder = make_model(family, learn, ignore_merges, nfc)
            compare_model(folder.name, folder, Tokenizers(folder), small)
    large = {"step": 1, "random": 100000, "pairs": 100000, "corpus": 1000000}
    if FULL:
        large = {"step": 1, "random": 1000000, "pairs": 10000000, "corpus": 100000000}
    for name in ("kimi-k2.5", "qwen3", "deepseek-v3", "gpt-oss"):
        if wanted not in name:
            continue
        folder = SHARED / "models" / name
        if not folder.is_dir():
            report(True, f"{name} # skip no {folder}")
            continue
        real = Tiktoken(folder) if (folder / "tiktoken.model").exists() else Tokenizers(folder)
        compare_model(name, folder, real, large)
    if (SHARED / "models" / "kimi-k2.5").is_dir():
        compare_repair()
    print(f"1..{count}")


os.environ["TOKENIZERS_PARALLELISM"] = "false"
main()
