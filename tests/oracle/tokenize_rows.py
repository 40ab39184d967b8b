"""Every turn of every sample row: its prompt is what Jinja2 renders and tiktoken encodes, its answer
what the model wrote. Rows that only supply prompts get an answer, so that they are tokenised too."""

import glob
import json
import os
import subprocess
import sys

from kimi import Kimi

BIN, SHARED = sys.argv[1], sys.argv[2]
FOLDER = f"{SHARED}/models/kimi-k2.5"
kimi = Kimi(FOLDER)


def run(*argv, data=None):
    return subprocess.run(argv, input=data, capture_output=True, check=True).stdout.decode()


def answer(m):
    """Kimi's turn behind <think>; the rows have no calls of their own kind."""
    assert not m.get("tool_calls")
    return (m.get("reasoning_content") or "") + "</think>" + (m.get("content") or "") + "<|im_end|>"


def clean(messages):
    """What every server drops before the template sees it."""
    out = []
    for m in messages:
        out.append({k: v for k, v in m.items()
                    if k != "weight" and (k == "content" or v is not None) and v != []})
    return out


def declared(tools, prompt):
    """The template's two readings of tools. The declarations are taken from our own prompt: what
    they should be has tests of its own, this is about where they stand."""
    if not tools:
        return {}
    text = kimi.enc.decode(prompt)
    head = "<|im_system|>tool_declare<|im_middle|>"
    assert text.startswith(head)
    return {"tools": tools, "tools_ts_str": text[len(head):text.index("<|im_end|>")]}


def spans(r):
    """(prompt ids, answer ids) of each supervised turn of a record."""
    ids, mask, out, k = r["input_ids"], r["loss_mask"], [], 0
    while 1 in mask[k:]:
        start = mask.index(1, k)
        end = start
        while end < len(mask) and mask[end]:
            end += 1
        out.append((ids[:start], ids[start:end]))
        k = end
    return out


def check(path):
    name = os.path.basename(path).split(".json")[0]
    rows = [json.loads(line) for line in
            run(f"{BIN}/e3-prep", "-q", "--dataset", name, "--rejects", "/dev/null", path).split("\n")[:-1]]
    for r in rows:
        if not any(m["role"] == "assistant" and m.get("weight", 1) for m in r["messages"]):
            r["messages"].append({"role": "assistant", "reasoning_content": "Hm.", "content": "Yes."})
    data = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode()
    out = {}
    for line in run(f"{BIN}/e3-tokenize", "-q", "--model", FOLDER, data=data).split("\n")[:-1]:
        r = json.loads(line)
        out.setdefault(r["id"].split("#")[0], []).extend(spans(r))
    turns = tokens = 0
    for r in rows:
        got = iter(out[r["id"]])
        for i, m in enumerate(r["messages"]):
            if m["role"] != "assistant" or not m.get("weight", 1):
                continue
            prompt, target = next(got)
            want = kimi.apply_chat_template(clean(r["messages"][:i]), add_generation_prompt=True,
                                            **declared(r.get("tools"), prompt))
            if prompt != want:
                return f"{r['id']}: messages[{i}]: the prompt differs"
            if target != kimi.enc.encode(answer(m), allowed_special="all"):
                return f"{r['id']}: messages[{i}]: the answer differs"
            turns += 1
            tokens += len(prompt) + len(target)
        if next(got, None):
            return f"{r['id']}: a turn too many"
    print(f"# {name}: {len(rows)} rows, {turns} turns, {tokens} ids compared")
    return None


paths = sorted(glob.glob(f"{SHARED}/raw/[AB]*.json*"))
print(f"1..{len(paths)}")
for n, path in enumerate(paths, 1):
    why = check(path)
    print(f"{'not ok' if why else 'ok'} {n} - {os.path.basename(path)}: {why or 'as Jinja2 and tiktoken'}")
