"""Rows like the driver's for others' tokenizers: gigatoken|tiktoken|tokenizers DIR FILE..."""

import base64
import sys
import time
from pathlib import Path

which, folder, files = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
ranks = folder / "tiktoken.model"


def make():
    if which == "gigatoken":
        from gigatoken import Tokenizer
        t = Tokenizer.from_tiktoken(ranks, pretokenizer="kimi") if ranks.exists() else Tokenizer.from_json((folder / "tokenizer.json").read_bytes())
        return t.encode
    if which == "tiktoken":
        import tiktoken
        up, low = [rf"[{c}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^\p{{Han}}]]" for c in (r"\p{Lu}\p{Lt}", r"\p{Ll}")]
        lead, close = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        pattern = "|".join([r"[\p{Han}]+", f"{lead}{up}*{low}+{close}", f"{lead}{up}+{low}*{close}", r"\p{N}{1,3}",
                            r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
        lines = [line.split() for line in ranks.read_bytes().splitlines()]
        return tiktoken.Encoding("kimi", pat_str=pattern, special_tokens={},
                                 mergeable_ranks={base64.b64decode(a): int(b) for a, b in lines}).encode_ordinary
    from tokenizers import Tokenizer
    t = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda text: t.encode(text, add_special_tokens=False).ids


passes = 4 if which == "gigatoken" else 1
for name in files:
    encode, text, times = make(), Path(name).read_bytes().decode(), []
    if which != "gigatoken":
        text = text[:4_000_000]
    for _ in range(passes):
        start = time.process_time()
        ids = encode(text)
        times.append(time.process_time() - start)
    size = len(text.encode())
    print(name, size, len(ids), f"{size / 1e6 / times[0]:.1f}", f"{size / 1e6 / min(times[1:] or times):.1f}", sep="\t", flush=True)
