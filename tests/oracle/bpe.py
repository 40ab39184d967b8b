"""src/bpe against tiktoken and tokenizers: TAP, with the number of things compared.

    bpe.py BPE_ENCODE SHARED SCRATCH

BPE_ENCODE is the driver; SHARED/models has the real vocabularies, or not; SCRATCH is a directory. In the environment
E3_ORACLE_FULL asks for all code points and millions of pairs (hours instead of minutes: see bpe-all), E3_ORACLE_ONLY
for the tasks whose name has that in it.

Short texts are compared many at a time, joined by an added token: both sides cut the text there, and the real
libraries take longer to be called than to encode.
"""
import base64
import contextlib
import io
import itertools
import json
import multiprocessing
import os
import random
import re
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
NO_SPECIAL, REPLACE, HF_COMPAT = 1, 2, 4
JOIN = 50000  # characters of short texts in one call

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
             "\n{0}", " {0}", "{0}{0}'S ", "!{0}/\n", "a{0}\u0323"]

# one or two of every class that a pattern tells apart
REPRESENTATIVES = list("aZ's tDlLrReEvVmM09 \n\r\t!/.-_<|>[]{}") + [
    "\u00e9", "\u01c5", "\u02b0", "\u05d0", "\u0301", "\u0903", "\u0660", "\u00bd", "\u2167", "\u3007", "中",
    "の", "ア", "・", "\u2f00", "\u3005", "\u17f0", "\u017f", "\u212a", "\u00a0", "\u0085", "\u2028", "\u3000",
    "\u200b", "\ufeff", "\u0000", "\u001c", "\U0001f642", "\U00016ff0", "\U00020000", "\u0378", "\ue000",
    "\U000e0001", "\u4dc0", "\uac00", "한", "\u1100", "\u1161", "\u11a8", "\u212b", "A\u030a", "\u0323", "\u0344"]

def report(ok, what):
    print(f"{'ok' if ok else 'not ok'} - {what}", flush=True)


def scalars(full):
    """Every scalar value, or those of the first plane and the edges of Unicode's blocks and assignments. In the planes
    that have no assignments (4 to 13) and in those for private use the blocks are larger."""
    kinds = [unicodedata.category(chr(c)) for c in range(0x110000)]
    step = [16 if p < 4 or p == 14 else 256 for p in range(17)]
    return [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and
            (full or c < 0x10000 or (c + 1) % step[c >> 16] < 2 or kinds[c] != kinds[c - 1])]


def chunks(items, n):
    for i in range(0, len(items), n):
        yield items[i : i + n]


class Driver:
    """The driver's answers: for each text `parts` arrays of the same length."""

    def __init__(self, *args, parts=2):
        self.parts = parts
        self.process = subprocess.Popen([DRIVER, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, text, flags=0):
        data = text.encode() if isinstance(text, str) else text
        self.process.stdin.write(np.array([flags, len(data)], np.uint32).tobytes() + data)
        self.process.stdin.flush()
        n = int(np.frombuffer(self.read(4), np.uint32)[0])
        return [np.frombuffer(self.read(4 * n), np.int32) for _ in range(self.parts)]

    def read(self, n):
        data = self.process.stdout.read(n)
        assert len(data) == n, "the driver is gone"
        return data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait() == 0


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


def exhaustive_texts(length):
    """All strings of so many of one character of each class, with a word behind them."""
    some = ["a", "Z", "'", "s", "0", " ", "\n", "\r", "!", "/", "\u0301", "\u05d0", "中", "\u3000"]
    return ["".join(t) + "b" for t in itertools.product(some, repeat=length)]


def compare_splits(family):
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in PATTERNS[family]])
    texts = list(template_texts(scalars(FULL), 2000)) + random_texts(20000, 12, family) + exhaustive_texts(5 if FULL else 4)
    pieces = bad = 0
    with Driver("split", family, parts=1) as driver:
        for text in texts:
            ours = char_of_byte(text)[driver(text)[0]]
            want = np.array([e for _, (_, e) in pre.pre_tokenize_str(text)], np.int64)
            pieces += len(want)
            if not np.array_equal(ours, want):
                bad += 1
                if bad <= 3:
                    k = next(i for i, (x, y) in enumerate(zip(ours, want)) if x != y)
                    print(f"# {family}: {text[max(0, int(want[k]) - 12):int(want[k]) + 12]!r} ours {ours[k-1:k+2]} want {want[k-1:k+2]}")
    report(bad == 0, f"{family}: splits of {len(texts)} texts, {pieces} pieces: {bad} texts differ")


class Tiktoken:
    """A Kimi folder in the real tiktoken, or its ranks with another family's split."""

    def __init__(self, folder, family="kimi"):
        lines = (folder / "tiktoken.model").read_bytes().split(b"\n")
        ranks = {base64.b64decode(a): int(b) for a, b in (line.split() for line in lines if line)}
        config = json.loads((folder / "tokenizer_config.json").read_text())["added_tokens_decoder"]
        names = {config.get(str(i), {"content": f"<|reserved_token_{i}|>"})["content"]: i
                 for i in range(len(ranks), len(ranks) + 256)}
        self.encoding = tiktoken.Encoding(family, pat_str=PATTERNS[family][0], mergeable_ranks=ranks,
                                          special_tokens=names)
        self.tokens = list(ranks)
        self.added = list(names)
        self.border = next(iter(names))

    def __call__(self, text):
        return self.encoding.encode_to_numpy(text, allowed_special="all").astype(np.int32)

    def plain(self, text):
        return self.encoding.encode_ordinary(text)


class Tokenizers:
    def __init__(self, folder):
        self.real = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.real.no_truncation()
        added = self.real.get_added_tokens_decoder()
        self.added = [t.content for t in added.values()]
        self.border = next(t.content for t in added.values() if not t.normalized and not t.lstrip and not t.rstrip and not t.single_word)
        bare = Tokenizer(self.real.model)  # the added tokens are not looked for, and the rest is as in the file
        bare.pre_tokenizer = self.real.pre_tokenizer
        if self.real.normalizer is not None:
            bare.normalizer = self.real.normalizer
        self.bare = bare
        byte = {c: b for b, c in byte_alphabet().items()}
        self.tokens = [bytes(byte[c] for c in t) for t in self.real.get_vocab(with_added_tokens=False) if all(c in byte for c in t)]

    def __call__(self, text):
        return np.array(self.real.encode(text, add_special_tokens=False).ids, np.int32)

    def plain(self, text):
        return self.bare.encode(text, add_special_tokens=False).ids


def byte_alphabet():
    """The character that stands for each byte in tokenizer.json."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(0x100 + i) for i, b in enumerate(rest)}}


def joined(texts, border):
    """The texts, many in one; a long one is by itself."""
    some, size = [], 0
    for t in texts:
        some.append(t)
        size += len(t)
        if size > JOIN:
            yield border.join(some)
            some, size = [], 0
    if some:
        yield border.join(some)


def compare_ids(what, driver, real, texts):
    count = n = bad = size = 0

    def counted():
        nonlocal count
        for t in texts:
            count += 1
            yield t

    for text in joined(counted(), real.border):
        ids, starts = driver(text)
        want = real(text)
        n += len(want)
        size += (length := len(text.encode()))
        rising = len(starts) == 0 or (starts[0] >= 0 and np.all(np.diff(starts) >= 0) and starts[-1] < length)
        if not np.array_equal(ids, want) or not rising:
            bad += 1
            if bad <= 3:
                k = next((i for i, (x, y) in enumerate(zip(ids, want)) if x != y), 0)
                at = int(starts[k]) if len(starts) > k else 0
                print(f"# {what}: {text.encode()[max(0, at - 30):at + 30].decode(errors='replace')!r} at token {k}: "
                      f"ours {ids[k:k+6]} want {want[k:k+6]} rising {rising}")
    report(bad == 0, f"{what}: {count} texts, {size} bytes, {n} ids: {bad} of {size // JOIN + 1} blocks differ")


def pair_texts(tokens, n, seed):
    """Neighbouring vocabulary entries, where they are text."""
    r = random.Random(seed)
    for _ in range(n):
        try:
            yield (r.choice(tokens) + r.choice(tokens)).decode()
        except UnicodeDecodeError:
            continue


def walk_texts(tokens, n, seed):
    """n neighbouring vocabulary entries, a thousand in a row."""
    text = [t.decode() for t in tokens if t.decode(errors="ignore").encode() == t]
    r = np.random.default_rng(list(seed.encode()))
    for _ in range(0, n, 1000):
        yield "".join(text[i] for i in r.integers(len(text), size=1001))


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


def compare_specials_off(name, driver, real):
    """With no special string parsed: ordinary encoding over the whole text."""
    r = random.Random(name)
    bad = 0
    texts = ["".join(r.choices(REPRESENTATIVES + real.added[:100], k=r.randint(1, 12))) for _ in range(3000)]
    for t in texts:
        bad += driver(t, NO_SPECIAL)[0].tolist() != real.plain(t)
    report(bad == 0, f"{name}, special strings as text: {len(texts)} texts: {bad} differ")


def compare_neighbours(name, folder, real, n):
    with Driver(str(folder)) as driver:
        compare_ids(f"{name}, {n} neighbouring tokens", driver, real, walk_texts(real.tokens, n, name))


def compare_model(name, folder, real, effort):
    with Driver(str(folder)) as driver:
        compare_ids(f"{name}, templates", driver, real, template_texts(scalars(FULL)[:: effort["step"]], 500))
        compare_ids(f"{name}, random classes", driver, real, random_texts(effort["random"], 24, name))
        compare_ids(f"{name}, every token", driver, real,
                    [t.decode() for t in real.tokens if t.decode(errors="ignore").encode() == t])
        compare_ids(f"{name}, token pairs", driver, real, pair_texts(real.tokens, effort["pairs"], name))
        compare_ids(f"{name}, added tokens", driver, real, added_texts(real.added))
        compare_ids(f"{name}, corpus", driver, real, corpus_texts(effort["corpus"]))
        compare_specials_off(name, driver, real)


def compare_with_tiktoken(family):
    """Every family whose split is one expression, with Kimi's ranks, in tiktoken: another regex engine than tokenizers'."""
    folder = SHARED / "models" / "kimi-k2.5"
    real = Tiktoken(folder, family)
    with Driver("as", family, str(folder)) as driver:
        compare_ids(f"{family} over Kimi's ranks, templates", driver, real, template_texts(scalars(FULL), 500))
        compare_ids(f"{family} over Kimi's ranks, random classes", driver, real, random_texts(100000, 24, family))
        compare_ids(f"{family} over Kimi's ranks, corpus", driver, real, corpus_texts(500000))


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


def compare_made(family):
    learn = list(corpus_texts(150000))
    small = {"step": 97, "random": 5000, "pairs": 5000, "corpus": 50000}
    for ignore_merges, nfc in ((False, True), (True, False)):
        folder = make_model(family, learn, ignore_merges, nfc)
        compare_model(folder.name, folder, Tokenizers(folder), small)
        compare_neighbours(folder.name, folder, Tokenizers(folder), 50000)


def real_model(name):
    folder = SHARED / "models" / name
    return folder, Tiktoken(folder) if (folder / "tiktoken.model").exists() else Tokenizers(folder)


def compare_real(name):
    effort = {"step": 4, "random": 100000, "pairs": 50000, "corpus": 500000}
    if FULL:
        effort = {"step": 1, "random": 1000000, "pairs": 1000000, "corpus": 20000000}
    compare_model(name, *real_model(name), effort)


def compare_real_neighbours(name):
    compare_neighbours(name, *real_model(name), 10000000 if FULL else 200000)


def compare_demo():
    """The bundled folder: Kimi's kind with a vocabulary of its own."""
    folder = Path(__file__).resolve().parents[2] / "pipelines" / "demo" / "model"
    compare_model("the bundled model", folder, Tiktoken(folder), {"step": 7, "random": 50000, "pairs": 50000, "corpus": 500000})
    compare_neighbours("the bundled model", folder, Tiktoken(folder), 200000)


def added(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True, **flags}


def compare_config():
    """What tokenizer_config.json adds to tokenizer.json, in transformers' AutoTokenizer."""
    from transformers import AutoTokenizer  # slow to load
    configs = [
        {"added_tokens_decoder": {"258": added("<one>"), "259": added("<two>")}},
        {"added_tokens_decoder": {"260": added("<b>"), "259": added("<a>")}},
        {"added_tokens_decoder": {"257": added("<incl>")}},
        {"added_tokens_decoder": {"258": added("<one>", lstrip=True, special=False)}},
        {"added_tokens_decoder": {"258": added("<one>", single_word=True, normalized=True)}},
        {"eos_token": "<eos>", "pad_token": "<incl>", "additional_special_tokens": ["<x>", "<y>"]},
        {"extra_special_tokens": {"image_token": "<x>"}, "bos_token": {"__type": "AddedToken", **added("<bos>", rstrip=True)}},
        {"bos_token": "<one>", "unk_token": "a"},
    ]
    base = Tokenizer(models.BPE(vocab={**{c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, "ab": 256, "<incl>": 257},
                                merges=[("a", "b")]))
    base.pre_tokenizer, base.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    base.add_special_tokens(["<one>"])
    text = " ".join(["x", "<one>", "<two> <incl>", "<eos>  <x><y>a<a><b>", "ab<bos>  <one>b"])
    bad = 0
    for i, config in enumerate(configs):
        folder = SCRATCH / f"config-{i}"
        folder.mkdir()
        base.save(str(folder / "tokenizer.json"))
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **config}))
        want = AutoTokenizer.from_pretrained(folder).encode(text, add_special_tokens=False)
        with Driver(str(folder)) as driver:
            ours = driver(text)[0].tolist()
        if ours != want:
            bad += 1
            print(f"# {config}: ours {ours} want {want}")
    report(bad == 0, f"tokenizer_config.json's added tokens: {len(configs)} folders: {bad} differ")


def compare_repair():
    folder = SHARED / "models" / "kimi-k2.5"
    real = Tiktoken(folder)
    r = random.Random(7)
    alphabet = [b"a", b"\xf0\x9f\x99\x82", b"\xe4\xb8\xad", b"\xc3", b"\xe4\xb8", b"\xf0\x9f", b"\xed\xa0\x80", b"\x80", b"\xff", b"\xc0\xaf", b" "]
    texts = [b"".join(r.choices(alphabet, k=r.randint(1, 9))) for _ in range(20000)]
    with Driver(str(folder)) as driver:
        bad = sum(driver(t, REPLACE)[0].tolist() != real(t.decode(errors="replace")).tolist() for t in texts)
    report(bad == 0, f"repair as errors='replace': {len(texts)} texts: {bad} differ")


def slices(text):
    """Where Kimi's wrapper cuts a text that has none of its names: blocks, and runs of one kind in them."""
    for at in range(0, len(text), 400000):
        block, begin, run = text[at : at + 400000], 0, 0
        for i, c in enumerate(block):
            run = run + 1 if i > 0 and c.isspace() == block[i - 1].isspace() else 1
            if run > 25000:
                yield block[begin:i]
                begin, run = i, 1
        yield block[begin:]


def compare_cuts():
    folder = SHARED / "models" / "kimi-k2.5"
    real = Tiktoken(folder)
    names = {t["content"] for t in json.loads((folder / "tokenizer_config.json").read_text())["added_tokens_decoder"].values()}
    border = re.compile("(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")")
    parts = ["7", "ab ", " ", "\x1c", "\n", "中", "x\u3000", "<|im_end|>", "<|reserved_token_163592|>", "</think>", "word " * 7]
    r = random.Random(5)
    bad = size = 0
    with Driver(str(folder)) as driver:
        for _ in range(15):
            text = "".join(r.choice(parts) * r.choice([1, 3, 100, 9000, 24999, 25001, 60001]) for _ in range(r.randint(1, 9)))[:900000]
            size += len(text)
            want = [i for stretch in border.split(text) for s in slices(stretch) if s for i in real(s).tolist()]
            bad += driver(text, HF_COMPAT)[0].tolist() != want
    report(bad == 0, f"the wrapper's cuts: 15 texts, {size} characters: {bad} differ")


def tasks():
    """Name, needs the shared models, function and its arguments; the long ones first."""
    real = ("qwen3", "deepseek-v3", "gpt-oss", "kimi-k2.5")
    yield from ((name, name, compare_real, name) for name in real)
    yield from ((f"neighbours {name}", name, compare_real_neighbours, name) for name in real)
    yield from ((f"split {family}", None, compare_splits, family) for family in PATTERNS)
    yield from ((f"made {family}", None, compare_made, family) for family in PATTERNS)
    yield from ((f"tiktoken {family}", "kimi-k2.5", compare_with_tiktoken, family) for family, p in PATTERNS.items() if len(p) == 1)
    yield "demo", None, compare_demo
    yield "config", None, compare_config
    yield "repair", "kimi-k2.5", compare_repair
    yield "cuts", "kimi-k2.5", compare_cuts


def run(task):
    """What a task prints."""
    name, model, function, *args = task
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if model and not (SHARED / "models" / model).is_dir():
            report(True, f"{name} # skip no {SHARED / 'models' / model}")
        else:
            began = os.times()
            function(*args)
            print(f"# {name}: {sum(os.times()[:2]) - sum(began[:2]):.0f} s of the real libraries")
    return out.getvalue()


def main():
    print(f"# tiktoken {tiktoken.__version__}, tokenizers {tokenizers.__version__}")
    wanted = [t for t in tasks() if os.environ.get("E3_ORACLE_ONLY", "") in t[0]]
    count = 0
    with multiprocessing.Pool(2) as pool:
        for text in pool.imap(run, wanted, chunksize=1):
            for line in text.splitlines():
                if " - " in line and not line.startswith("#"):
                    count += 1
                    line = line.replace(" - ", f" {count} - ", 1)
                print(line, flush=True)
    print(f"1..{count}")


os.environ["TOKENIZERS_PARALLELISM"] = "false"
main()
