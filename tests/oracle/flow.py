"""The files of two runs of the demo against tiktoken, Jinja2, torch, safetensors and numpy. TAP.

usage: flow.py RUN RUN SHARED       two runs that must be equal; the folder of models and raw rows
"""

import base64
import glob
import hashlib
import json
import os
import re
import sys

import jinja2
import numpy as np
import safetensors.torch
import tiktoken
import torch
from jinja2.sandbox import ImmutableSandboxedEnvironment

RUN, OTHER, SHARED = sys.argv[1:]
MODEL = SHARED + "/models/kimi-k2.5"
HIDDEN, AUX, LAYERS = 32, [2, 30, 58], 61
count = 0


def report(what, good, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)
    if not good:
        print("# " + str(why)[:1500].replace("\n", "\n# "))


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f.read().split("\n") if line]


# ---- the tokenizer ----

UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
NO_HAN, SUFFIX = r"&&[^\p{Han}]", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join([
    r"[\p{Han}]+",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}{NO_HAN}]*[{LOWER}{NO_HAN}]+{SUFFIX}",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}{NO_HAN}]+[{LOWER}{NO_HAN}]*{SUFFIX}",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


def load_tokenizer():
    ranks = {}
    with open(MODEL + "/tiktoken.model", "rb") as f:
        for line in f.read().splitlines():
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    with open(MODEL + "/tokenizer_config.json", encoding="utf-8") as f:
        named = {int(k): v["content"] for k, v in json.load(f)["added_tokens_decoder"].items()}
    special = {named.get(i, f"<|reserved_token_{i}|>"): i
               for i in range(len(ranks), len(ranks) + 256)}
    return tiktoken.Encoding("kimi", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special)


TOKENIZER = load_tokenizer()


def encode(text):
    return TOKENIZER.encode(text, allowed_special="all")


# ---- the template ----

def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def load_template():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=["jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    with open(MODEL + "/chat_template.jinja", encoding="utf-8") as f:
        return env.from_string(f.read())


TEMPLATE = load_template()


def ts_type(schema, indent):
    """The kinds of schema that the sample rows have; another one is an error here."""
    if not set(schema) <= {"type", "description", "properties", "required", "enum", "items"}:
        raise ValueError(f"no declaration known for {schema}")
    if "enum" in schema:
        return " | ".join(f'"{v}"' if isinstance(v, str) else str(v) for v in schema["enum"])
    kind = schema["type"]
    if kind == "array":
        return f"Array<{ts_type(schema['items'], indent) if schema.get('items') else 'any'}>"
    if kind == "object":
        return ts_object(schema, indent)
    return {"integer": "number"}.get(kind, kind)


def ts_comment(text, indent):
    return "".join(f"{indent}// {t}\n" if t else "\n" for t in (text or "").split("\n") if text)


def ts_object(schema, indent=""):
    required = set(schema.get("required") or [])
    properties = schema.get("properties") or {}
    entries = []
    for name in sorted(properties, key=lambda n: (n not in required, n)):
        p = properties[name]
        mark = "" if name in required else "?"
        entries.append(ts_comment(p.get("description"), indent + "  ") +
                       f"{indent}  {name}{mark}: {ts_type(p, indent + '  ')}")
    return "{\n" + ",\n".join(entries) + f"\n{indent}}}" if entries else "{}"


def declare(tools):
    functions = []
    for tool in tools:
        f = tool["function"]
        functions.append(ts_comment(f.get("description"), "") +
                         f"type {f['name']} = (_: {ts_object(f.get('parameters') or {})}) => any;")
    return "# Tools\n\n## functions\nnamespace functions {\n" + "\n".join(functions) + "\n}\n"


def sorted_keys(x):
    if isinstance(x, dict):
        return {k: sorted_keys(x[k]) for k in sorted(x)}
    return [sorted_keys(v) for v in x] if isinstance(x, list) else x


def prompt_of(row, n):
    context = dict(row.get("chat_template_kwargs") or {})
    if row.get("tools"):
        context["tools"] = sorted_keys(row["tools"])
        context["tools_ts_str"] = declare(context["tools"])
    messages = [{k: v for k, v in m.items() if v is not None and not (k == "tool_calls" and not v)}
                for m in row["messages"][:n]]
    return TEMPLATE.render(messages=messages, add_generation_prompt=True, **context)


def answer_text(m):
    text = (m.get("reasoning_content") or "") + "</think>" + (m.get("content") or "")
    if m.get("tool_calls"):
        text += "<|tool_calls_section_begin|>"
        for c in m["tool_calls"]:
            text += ("<|tool_call_begin|>" + c["id"] + "<|tool_call_argument_begin|>" +
                     c["function"]["arguments"] + "<|tool_call_end|>")
        text += "<|tool_calls_section_end|>"
    return text + "<|im_end|>"


# ---- conversations to records, by the rule of the reference ----

def records_of(row):
    """(id, input_ids, loss_mask) of each record that the conversation must become."""
    served = {g["message"]: g for g in row.get("generations", [])}
    out, turn = [], 0
    for i, m in enumerate(row["messages"]):
        if m["role"] != "assistant":
            continue
        turn += 1
        if m.get("weight", 1) != 1:
            continue
        g = served.get(i, {})
        prompt = g.get("prompt_token_ids") or encode(prompt_of(row, i))
        target = g.get("output_ids") or encode(answer_text(m))
        if out and len(prompt) > len(out[-1][1]) and prompt[:len(out[-1][1])] == out[-1][1]:
            _, ids, mask = out.pop()
        else:
            ids, mask = [], []
        mask = mask + [0] * (len(prompt) - len(ids)) + [1] * len(target)
        out.append((turn, prompt + target, mask))
    if len(out) == 1:
        return [(row["id"], out[0][1], out[0][2])]
    return [(f"{row['id']}#turn{t}", ids, mask) for t, ids, mask in out]


def check_ids():
    prompts = bad = records = 0
    why = ""
    for folder in sorted(glob.glob(RUN + "/prepared/*/")):
        asked = os.path.exists(folder + "answers.jsonl")
        rows = lines(folder + ("answers.jsonl" if asked else "prompts.jsonl"))
        made = {r["id"]: r for r in lines(folder + "tokenized_data.jsonl")}
        rejected = {r["id"] for r in lines(folder + "tokenize.rejects.jsonl")} \
            if os.path.exists(folder + "tokenize.rejects.jsonl") else set()
        for row in rows:
            for g in row.get("generations", []):
                prompts += 1
                if encode(prompt_of(row, g["message"])) != g["prompt_token_ids"]:
                    bad, why = bad + 1, f"prompt of {row['id']}"
            if row["id"] in rejected:
                continue
            for name, ids, mask in records_of(row):
                r = made.pop(name, None)
                records += 1
                if r is None or r["input_ids"] != ids or r["loss_mask"] != mask or \
                        r["seq_len"] != len(ids) or r["n_response_tokens"] != sum(mask) or \
                        r["n_prompt_tokens"] != len(ids) - sum(mask):
                    bad, why = bad + 1, f"record {name}: {'missing' if r is None else 'differs'}"
        if made:
            bad, why = bad + 1, f"{folder}: records of nobody: {list(made)[:3]}"
    report(f"{prompts} prompts and {records} records hold tiktoken's ids of the rendered text",
           bad == 0 and prompts > 100 and records > 100, why)


# ---- counts ----

def check_counts():
    with open(SHARED + "/raw/EXPECT.md", encoding="utf-8") as f:
        table = re.findall(r"^\| (\w+)\.jsonl? \| (\d+) \| (\d+) \| \d+ \| (\d+) \|", f.read(), re.M)
    why = ""
    for name, rows, convert, reject in table:
        with open(f"{RUN}/prepared/{name}/prep.stats.json", encoding="utf-8") as f:
            s = json.load(f)
        if (s["in"], s["out"] + s["dropped"], s["rejected"]) != (int(rows), int(convert), int(reject)):
            why += f"{name}: {rows} {convert} {reject} expected, {s}\n"
    report("the counts of the raw rows are EXPECT.md's", len(table) == 10 and not why, why)


def check_conservation():
    why = ""
    files = glob.glob(RUN + "/prepared/*/*.stats.json") + glob.glob(RUN + "/*.stats.json")
    for path in files:
        with open(path, encoding="utf-8") as f:
            s = json.load(f)
        if s["in"] != s["out"] + s["rejected"] + s["dropped"] + s["resumed"]:
            why += f"{path}: {s}\n"
    report("in = out + rejected + dropped + resumed in every stage", len(files) > 20 and not why, why)
    for folder in glob.glob(RUN + "/prepared/B*/"):
        n = [len(lines(folder + f)) for f in ("prompts.jsonl", "answers.jsonl")]
        if n[0] != n[1]:
            why += f"{folder}: {n}\n"
    report("every prompt got its answer", not why, why)
    ids = [r["id"] for r in lines(RUN + "/merged.jsonl")]
    made = [r["id"] for f in glob.glob(RUN + "/prepared/*/tokenized_data.jsonl") for r in lines(f)]
    with open(RUN + "/merge.stats.json", encoding="utf-8") as f:
        s = json.load(f)
    report("the set holds each record once, but for the duplicates that were dropped",
           len(set(ids)) == len(ids) and set(ids) <= set(made) and
           len(made) == len(ids) + s["dropped"] and ids != sorted(ids), f"{len(ids)} {len(made)} {s}")


# ---- hidden states ----

def mix(x):
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7feb352d)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846ca68b)
    return x ^ (x >> np.uint32(16))


def state(ids, layer, after):
    """What e3-sim(1) says: bf16 bits, [tokens, HIDDEN]."""
    ids = np.array(ids, dtype=np.uint32)
    at = np.arange(len(ids), dtype=np.uint32)
    with np.errstate(over="ignore"):
        row = mix(ids * np.uint32(0x85ebca6b) + at * np.uint32(0xc2b2ae35) +
                  np.uint32(layer * 0x27d4eb2f + 1 & 0xffffffff))
        c = np.arange(HIDDEN, dtype=np.uint32) * np.uint32(0x9e3779b9)
        x = mix(row[:, None] + c[None, :])
    base = np.uint32(120) if after else np.uint32(116) + (row & np.uint32(7))[:, None]
    bits = (x >> 31) << 15 | (base + (x >> 28 & 7)) << 7 | (x >> 21 & 0x7f)
    return torch.from_numpy(bits.astype(np.uint16).view(np.int16))


def aux(ids):
    return torch.cat([state(ids, k, False) for k in AUX], dim=1)


def bits(t):
    assert t.dtype == torch.bfloat16
    return t.view(torch.int16)


def check_speculators(records):
    why, index = "", lines(RUN + "/speculators/index.jsonl")
    for k, entry in enumerate(index):
        r = records[entry["id"]]
        path = RUN + "/speculators/" + entry["file"]
        t = safetensors.torch.load_file(path)
        want = torch.stack([state(r["input_ids"], n, False) for n in AUX + [LAYERS]], dim=1)
        if os.path.basename(path) != f"hs_{k}.safetensors" or \
                t["token_ids"].tolist() != r["input_ids"] or \
                not torch.equal(bits(t["hidden_states"]), want) or \
                os.path.getsize(path) != entry["bytes"]:
            why += path + "\n"
    report(f"safetensors opens {len(index)} files of speculators, bit for bit",
           len(index) == len(records) and not why, why)


def check_torch(layout, end, records, some):
    why, index = "", lines(f"{RUN}/{layout}/index.jsonl")
    for entry in index:
        r = records[entry["id"]]
        path = f"{RUN}/{layout}/{entry['file']}"
        t = torch.load(path, weights_only=True, mmap=True)
        ids = r["input_ids"]
        a, last = aux(ids), state(ids, LAYERS + 1, True)
        if layout == "specforge":
            good = torch.equal(bits(t["aux_hidden_state"]), a[None]) and \
                torch.equal(bits(t["hidden_state"]), last[None])
        else:
            good = torch.equal(bits(t["hidden_states"]), a) and \
                torch.equal(bits(t["last_hidden_states"]), last)
        good = good and t["input_ids"].dtype == t["loss_mask"].dtype == torch.int64
        if not good or t["input_ids"].tolist() != ids or t["loss_mask"].tolist() != r["loss_mask"]:
            why += path + "\n"
    report(f"torch.load opens {len(index)} files of {layout}, bit for bit",
           len(index) == some and not why and all(e["file"].endswith(end) for e in index), why)


# ---- vocabulary ----

def check_vocab(records):
    v, n = 163840, 32000
    seen = np.zeros(v, dtype=np.int64)
    for r in records.values():
        ids, mask = np.array(r["input_ids"]), np.array(r["loss_mask"])
        np.add.at(seen, ids[mask == 1], 1)
    order = sorted(np.flatnonzero(seen).tolist(), key=lambda i: (-seen[i], i))[:n]
    chosen = set(order)
    for i in range(v):
        if len(chosen) == n:
            break
        chosen.add(i)
    want = torch.tensor(sorted(chosen))
    t2d = torch.load(RUN + "/vocab/t2d.pt", weights_only=True)
    d2t = torch.load(RUN + "/vocab/d2t.pt", weights_only=True)
    both = torch.load(RUN + "/vocab_mapping/vocab_mapping.pt", weights_only=True)
    report("t2d and d2t: shapes, dtypes and the invariant",
           t2d.shape == (v,) and t2d.dtype == torch.bool and d2t.shape == (n,) and
           d2t.dtype == torch.int64 and int(t2d.sum()) == n and
           torch.equal(torch.nonzero(t2d)[:, 0], torch.arange(n) + d2t))
    report("t2d and d2t hold the most frequent supervised ids",
           torch.equal(torch.arange(n) + d2t, want))
    report("SpecForge's one file holds the same two",
           set(both) == {"t2d", "d2t"} and torch.equal(both["t2d"], t2d) and
           torch.equal(both["d2t"], d2t))


# ---- twice the same ----

def sums(run):
    out = {}
    for folder, _, files in os.walk(run):
        for f in files:
            path = os.path.join(folder, f)
            if f in ("sim.port", "sim.log") or f.endswith(".stats.json"):
                continue
            with open(path, "rb") as h:
                data = h.read()
            # the address of the server, and the folder's own name, are the run's own
            data = re.sub(rb"127\.0\.0\.1:\d+", b"HOST", data.replace(run.encode(), b"RUN"))
            out[os.path.relpath(path, run)] = hashlib.sha256(data).hexdigest()
    return out


def main():
    check_counts()
    check_conservation()
    check_ids()
    records = {r["id"]: r for r in lines(RUN + "/merged.jsonl")}
    check_speculators(records)
    check_torch("specforge", ".ckpt", records, len(records))
    check_torch("seed", ".pt", records, 5)
    check_vocab(records)
    a, b = sums(RUN), sums(OTHER)
    differ = [f for f in sorted(set(a) | set(b)) if a.get(f) != b.get(f)]
    report(f"{len(a)} files are the same bytes in two runs, at -j1 and -j8", not differ, differ[:10])


main()
