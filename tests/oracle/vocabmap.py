"""Holds e3-vocabmap against speculators, SpecForge and Model-Optimizer. TAP on stdout."""

import contextlib
import io
import json
import logging
import random
import subprocess
import sys
import types
import warnings
from collections import Counter

import numpy as np
import torch
from datasets import Dataset

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
from specforge.data.preprocessing import process_token_dict_to_mappings
from specforge.modeling.draft.base import Eagle3DraftModel
from speculators.model import DraftVocabMixin
from speculators.train.vocab_mapping import (
    build_vocab_mappings_from_distribution,
    save_token_frequency_distribution,
)
from modelopt.torch.speculative.plugins.hf_eagle import HFEagleModel

program, folder = sys.argv[1:]
n = 0


def ok(what, good):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {what}", flush=True)


def make(seed, rows, ids, vocab):
    """Records with many equal counts, so that ties decide."""
    r = random.Random(seed)
    out = []
    for i in range(rows):
        k = r.randint(1, 60)
        v = [min(int(r.paretovariate(0.6)), ids) * 7919 % vocab for _ in range(k)]
        out.append({"id": f"r{i}", "input_ids": v, "loss_mask": [r.randint(0, 1) for _ in v]})
    return out


def run(records, vocab, draft, layout, where):
    path = f"{where}.jsonl"
    with open(path, "w") as f:
        f.writelines(json.dumps(r) + "\n" for r in records)
    subprocess.run([program, "-q", "--target-vocab", str(vocab), "--draft-vocab", str(draft), "--layout", layout,
                    "--out-dir", where, path], check=True, stdout=subprocess.DEVNULL)


def speculators_map(records, vocab, draft, where):
    data = Dataset.from_list([{"input_ids": r["input_ids"], "loss_mask": r["loss_mask"]} for r in records])
    data.set_format("torch")
    with contextlib.redirect_stderr(io.StringIO()):
        save_token_frequency_distribution(data, where + "/theirs.pt")
    freq = torch.load(where + "/theirs.pt", weights_only=True)
    return freq, *build_vocab_mappings_from_distribution(freq, draft, vocab)


for name, seed, rows, ids, vocab, draft in (
    ("ties at the cut", 1, 300, 3000, 5000, 500),
    ("few different ids: filled up", 2, 20, 100, 5000, 2000),
    ("Kimi's sizes", 3, 2000, 100000, 163840, 32000),
    ("all of the target's vocabulary", 4, 50, 300, 400, 400),
):
    where = f"{folder}/{seed}"
    records = make(seed, rows, ids, vocab)
    run(records, vocab, draft, "speculators", where)
    freq, d2t, t2d = speculators_map(records, vocab, draft, where)
    mine_d2t = torch.from_numpy(np.load(f"{where}/d2t-{draft}.npy"))
    mine_t2d = torch.from_numpy(np.load(f"{where}/t2d-{draft}.npy"))
    ok(f"speculators' map: {name}", torch.equal(mine_d2t, d2t) and torch.equal(mine_t2d, t2d))
    ok(f"speculators' counts: {name}", torch.load(where + "/token_freq.pt", weights_only=True) == freq)
    model = types.SimpleNamespace(use_draft_vocab=True, verifier_vocab_size=vocab, draft_vocab_size=draft, got=None)
    model.load_state_dict = lambda d, strict: setattr(model, "got", d)
    DraftVocabMixin.load_vocab_mappings(model, mine_t2d, mine_d2t)
    ok(f"speculators loads it: {name}", model.got is not None)

# SpecForge takes the first seen at a tie: the same map where no tie is cut
records = []
for i in range(900):
    records.append({"id": f"s{i}", "input_ids": [i * 37 % 4096] * (i % 450 + 1), "loss_mask": [1] * (i % 450 + 1)})
counts = Counter(t for r in records for t in r["input_ids"])
draft = 400
ranked = sorted(counts.values(), reverse=True)
assert ranked[draft - 1] != ranked[draft]
run(records, 4096, draft, "specforge", folder + "/sf")
with contextlib.redirect_stdout(io.StringIO()):
    d2t, t2d = process_token_dict_to_mappings(Counter(counts), draft, 4096)
path = folder + "/sf/vocab_mapping/vocab_mapping.pt"
mine = torch.load(path, weights_only=True)
ok("SpecForge's map", torch.equal(mine["d2t"], d2t) and torch.equal(mine["t2d"], t2d))
model = types.SimpleNamespace(t2d=torch.zeros(4096, dtype=torch.bool), d2t=torch.zeros(draft, dtype=torch.int64))
Eagle3DraftModel.load_vocab_mapping(model, path)
ok("SpecForge loads it", torch.equal(model.d2t, d2t) and torch.equal(model.t2d, t2d))

run(records, 4096, draft, "modelopt", folder + "/mo")
model = types.SimpleNamespace(
    eagle_config=types.SimpleNamespace(draft_vocab_size=draft, vocab_size=4096),
    eagle_module=types.SimpleNamespace(d2t=torch.zeros(draft, dtype=torch.int64)))
with contextlib.redirect_stdout(io.StringIO()):
    HFEagleModel.load_draft_vocab_cache(model, folder + "/mo/d2t.pt")
ok("Model-Optimizer loads it", torch.equal(model.eagle_module.d2t, d2t))

run(records, 4096, draft, "seed", folder + "/seed")
ok("t2d.pt and d2t.pt", torch.equal(torch.load(folder + "/seed/t2d.pt", weights_only=True), t2d)
   and torch.equal(torch.load(folder + "/seed/d2t.pt", weights_only=True), d2t))
