"""What tests/oracle/extract.sh needs of Python, by its first argument:

records DIR         writes DIR/in, tokenised records
trainers DIR MODEL  the sets of the stand-in server in the trainers' own loaders
serve DIR NORM      a small real model behind SGLang's /generate and the dump contract; its last
                    state before or after the norm
real DIR            the sets that were made from it, against transformers
"""

import json
import os
import random
import subprocess
import sys
import warnings

import torch

warnings.simplefilter("ignore")
n = 0


def ok(what, good):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {what}", flush=True)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)


def records(folder):
    r = random.Random(5)
    with open(folder + "/in", "w") as f:
        for i in range(12):
            k = r.choice((3, 4, 17, 90, 200))
            ids = [r.randrange(300, 3000) for _ in range(k)]
            mask = [0] * (k // 3) + [1] * (k - k // 3)
            f.write(json.dumps({"id": f"d/{i}", "input_ids": ids, "loss_mask": mask, "seq_len": k}) + "\n")


def lines(path):
    with open(path) as f:
        return [json.loads(x) for x in f]


# ---- the stand-in server's arithmetic (src/sim/states.h) ----


def mix(x):
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


def sim_states(ids, layer, hidden):
    """bf16 [S, hidden] of what enters a layer; layer n: the last one's output before the norm."""
    ids = torch.tensor(ids, dtype=torch.int64)
    at = torch.arange(len(ids))
    row = mix((ids * 0x85EBCA6B + at * 0xC2B2AE35 + layer * 0x27D4EB2F + 1) & 0xFFFFFFFF)
    x = mix((row[:, None] + torch.arange(hidden)[None] * 0x9E3779B9) & 0xFFFFFFFF)
    exponent = 116 + (x >> 28 & 7) + (row & 7)[:, None]
    bits = (x >> 31) << 15 | exponent << 7 | (x >> 21 & 0x7F)
    return torch.where(bits >= 32768, bits - 65536, bits).to(torch.int16).view(torch.bfloat16)


def rms_norm(x, weight, eps):
    x = x.to(torch.float64)
    return (x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight.to(torch.float64)).to(torch.bfloat16)


# ---- the trainers' loaders ----


def specforge_batches(path):
    from specforge.algorithms.eagle3.providers import algorithm_providers
    from specforge.runtime.data_plane import LocalFeatureStore
    from specforge.runtime.data_plane.feature_dataloader import FeatureDataLoader

    offline = algorithm_providers().offline[0]
    reader = offline.build_reader(path, run_id="r", ttt_length=1, max_len=4096)
    loader = FeatureDataLoader(LocalFeatureStore("r"), refs=reader.read(), batch_size=1,
                               collate_fn=offline.build_collator(),
                               per_sample_transform=offline.build_normalizer(4096, ttt_length=1))
    return [b.tensors for b in loader]


def specforge(folder, recs, last):
    import contextlib
    import io

    from specforge.data.preprocessing import build_offline_eagle3_dataset

    path = folder + "/sim/specforge"
    # file names sort as strings: back to records by their ids
    by_ids = {tuple(r["input_ids"]): r for r in recs}
    with contextlib.redirect_stdout(io.StringIO()):
        old = build_offline_eagle3_dataset(path, max_len=4096)
        old = [old[i] for i in range(len(old))]
    new = specforge_batches(path)
    for what, samples in (("offline reader", new), ("older dataset", old)):
        good = len(samples) == len(recs)
        for s in samples:
            r = by_ids[tuple(s["input_ids"].reshape(-1).tolist())]
            mask = r["loss_mask"][:-1] + [0]
            good &= s["loss_mask"].reshape(-1).tolist() == mask
            good &= same(s["hidden_state"][0], aux_of(r)) and s["hidden_state"].ndim == 3
            good &= s["target"].shape == (1, len(mask), 64) and close(s["target"][0], last(r))
        ok(f"SpecForge's {what}", good)


def speculators(folder, recs):
    from speculators.data_generation.offline import check_hidden_states
    from speculators.train.data import ArrowDataset, CollateFn
    from safetensors.torch import load_file

    path = folder + "/sim/speculators"
    index = lines(path + ".idx")
    by_id = {r["id"]: r for r in recs}
    rows = [by_id[x["id"]] for x in index]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines/speculators/arrow")
    subprocess.run([sys.executable, script, path + ".idx", folder + "/in", path], check=True,
                   capture_output=True, env=os.environ | {"HF_HOME": folder + "/hf"})
    data = ArrowDataset(4096, path, on_missing="raise")
    good = len(data) == len(recs)
    for i, r in enumerate(rows):
        s = data[i]
        good &= s["input_ids"].tolist() == r["input_ids"] and s["loss_mask"].tolist() == r["loss_mask"]
        good &= same(s["hidden_states"], aux_of(r))
        good &= same(s["verifier_last_hidden_states"], sim_states(r["input_ids"], 8, 64))
        check_hidden_states(load_file(f"{path}/hidden_states/hs_{i}.safetensors"), r["input_ids"])
    ok("speculators' ArrowDataset", good)
    with open(path + ".idx") as f, open(path + ".less", "w") as to:
        to.writelines(f.readlines()[1:])
    r = subprocess.run([sys.executable, script, path + ".less", folder + "/in", path + ".arrow"],
                       capture_output=True, text=True, env=os.environ | {"HF_HOME": folder + "/hf"})
    ok("an index that lacks a line makes no data", r.returncode != 0 and ".less:1: hidden_states/hs_1" in r.stderr)
    batch = CollateFn(512, 64)([data[0], data[1]])
    ok("speculators' CollateFn", batch["hidden_states"].shape == (1, 512, 192)
       and same(batch["hidden_states"][0, :len(rows[0]["input_ids"])], aux_of(rows[0])))


def modelopt(folder, recs, layout, prenorm, last):
    from pathlib import Path

    from modelopt.torch.speculative.eagle.utils import EagleOfflineDataCollator, OfflineSupervisedDataset

    by_ids = {tuple(r["input_ids"]): r for r in recs}
    files = sorted(str(p) for p in Path(layout).rglob("*.pt"))
    data = OfflineSupervisedDataset(files, answer_only_loss=True)
    good = len(data) == len(recs)
    for i in range(len(data)):
        s = data[i]
        r = by_ids[tuple(s["input_ids"].tolist())]
        good &= s["loss_mask"].tolist() == r["loss_mask"] and s["base_hidden_prenorm"] is prenorm
        good &= same(s["aux_hidden_states"], aux_of(r)) and close(s["base_model_hidden_states"], last(r))
        good &= torch.load(files[i], weights_only=True, mmap=True)["conversation_id"] == r["id"]
    ok(f"Model-Optimizer's dataset, prenorm={prenorm}", good)
    b = EagleOfflineDataCollator(256)([data[0], data[1]])
    ok("Model-Optimizer's collator", b["base_model_outputs"]["aux_hidden_states"].shape[:2] == (2, 256))


aux_of = None


def close(a, b):
    """Equal, or one unit of bf16 apart where float32 and float64 round differently."""
    ulp = (a.view(torch.int16).int() - b.view(torch.int16).int()).abs()
    return a.shape == b.shape and a.dtype == b.dtype and int(ulp.max()) <= 1


def trainers(folder, model):
    global aux_of
    import logging

    from safetensors.torch import load_file

    logging.disable(logging.WARNING)
    os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    recs = lines(folder + "/in")
    aux_of = lambda r: torch.cat([sim_states(r["input_ids"], k, 64) for k in (2, 4, 5)], 1)
    before = lambda r: sim_states(r["input_ids"], 8, 64)
    weight = load_file(model + "/model.safetensors")["model.norm.weight"]
    after = lambda r: rms_norm(before(r), weight, 1e-5)
    specforge(folder, recs, after)
    speculators(folder, recs)
    modelopt(folder, recs, folder + "/sim/modelopt", True, before)
    good = True
    for x, r in zip(lines(folder + "/sim/seed.idx"), recs):
        d = torch.load(f"{folder}/sim/seed/{x['file']}", weights_only=True, mmap=True)
        good &= list(d) == ["input_ids", "loss_mask", "hidden_states", "last_hidden_states"]
        good &= d["input_ids"].tolist() == r["input_ids"] and d["loss_mask"].tolist() == r["loss_mask"]
        good &= same(d["hidden_states"], aux_of(r)) and same(d["last_hidden_states"], before(r))
    ok("the seed layout, bit for bit", good)


# ---- a real model ----

LAYERS = (2, 4, 5)


def real_model():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(11)
    c = LlamaConfig(vocab_size=4096, hidden_size=64, intermediate_size=96, num_hidden_layers=8,
                    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=1024)
    return LlamaForCausalLM(c).to(torch.bfloat16).eval()


@torch.no_grad()
def real_states(model, ids, norm="after"):
    """aux [S, 3 * H] of what enters LAYERS, and the last before or after the norm."""
    before = []
    hook = model.model.norm.register_forward_pre_hook(lambda m, x: before.append(x[0]))
    h = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    hook.remove()
    last = h[-1][0] if norm == "after" else before[0][0]
    return torch.cat([h[k][0] for k in LAYERS], 1).contiguous(), last.contiguous()


def serve(folder, norm="after"):
    from http.server import BaseHTTPRequestHandler, HTTPServer

    from safetensors.torch import save_file

    model = real_model()

    class Handler(BaseHTTPRequestHandler):
        def reply(self, body):
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            if self.path == "/server_info":
                self.reply({"model_path": "tiny", "version": "test", "speculative_algorithm": "EAGLE3"})
            else:
                self.reply({"data": [{"id": "tiny", "root": "tiny", "owned_by": "sglang"}]})

        def do_POST(self):
            q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            ids, rid = q["input_ids"], q["rid"]
            aux, last = real_states(model, ids, norm)
            save_file({"input_ids": torch.tensor(ids), "aux_hidden_states": aux, "last_hidden_states": last},
                      f"{folder}/hs/.{rid}", {"layers": ",".join(map(str, LAYERS)), "convention": "in", "norm": norm, "rid": rid})
            os.rename(f"{folder}/hs/.{rid}", f"{folder}/hs/{rid}.safetensors")
            self.reply({"text": "x", "output_ids": [5], "meta_info": {
                "id": rid, "finish_reason": {"type": "length", "length": 1}, "prompt_tokens": len(ids),
                "completion_tokens": 1}})

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def real(folder):
    from safetensors.torch import load_file

    model = real_model()
    recs = lines(folder + "/in")
    names = {"seed": ("hidden_states", "last_hidden_states"), "specforge": ("aux_hidden_state", "hidden_state"),
             "modelopt": ("aux_hidden_states", "hidden_states"), "made": ("aux_hidden_states", "hidden_states"),
             "unpacked": ("aux_hidden_state", "hidden_state")}
    for layout, (aux_name, last_name) in names.items():
        good = True
        for x, r in zip(lines(f"{folder}/real/{layout}.idx"), recs):
            aux, last = real_states(model, r["input_ids"])
            d = torch.load(f"{folder}/real/{layout}/{x['file']}", weights_only=True)
            good &= same(d[aux_name].reshape(-1, 192), aux) and same(d[last_name].reshape(-1, 64), last)
            good &= d["input_ids"].tolist() == r["input_ids"] and "hidden_states_prenorm" not in d
        ok(f"a real model's states: {layout}", good)
    good = True
    for x, r in zip(lines(f"{folder}/real/speculators.idx"), recs):
        aux, last = real_states(model, r["input_ids"], "before")
        d = load_file(f"{folder}/real/speculators/{x['file']}")
        good &= same(d["hidden_states"].reshape(-1, 256), torch.cat([aux, last], 1))
        good &= d["hidden_states"].shape[1:] == (4, 64) and d["token_ids"].tolist() == r["input_ids"]
    ok("a real model's states: speculators", good)
    ok("the dump directory is empty", os.listdir(folder + "/hs") == [])


if __name__ == "__main__":
    what, folder = sys.argv[1:3]
    if what in ("trainers", "real"):
        n = int(sys.argv[-1])
    {"records": lambda: records(folder), "serve": lambda: serve(folder, sys.argv[3]), "real": lambda: real(folder),
     "trainers": lambda: trainers(folder, sys.argv[3])}[what]()
