"""Prompts, answers and masks of e3-tokenize against transformers' apply_chat_template.

For each model folder a battery of conversations is tokenised with --last-turn-only: the ids before
the answer must be those of apply_chat_template with the generation prompt, and where the rendering
of the whole conversation begins with the prompt, the answer must be the rest of it. For templates
with generation tags the mask must be transformers' assistant mask."""

import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

import jinja2
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from kimi import Kimi

PROGRAM, SHARED = sys.argv[1], sys.argv[2]
DATE = "2026-03-04"
count = 0


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 3, 4)


chat_template_utils.datetime = Fixed


def report(good, what, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good:
        print("# " + str(why)[:600].replace("\n", "\n# "))


TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city.",
     "parameters": {"type": "object", "properties": {
         "city": {"type": "string", "description": "a city, é"},
         "days": {"type": "integer", "default": 3},
         "unit": {"type": "string", "enum": ["c", "f"]}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "now", "description": "The time <&'>.",
     "parameters": {"type": "object", "properties": {}}}},
]


def user(c):
    return {"role": "user", "content": c}


def said(c, r=None):
    m = {"role": "assistant", "content": c}
    if r is not None:
        m["reasoning_content"] = m["thinking"] = r
    return m


def call(name, args, content="", r=None, n=0):
    m = said(content, r)
    m["tool_calls"] = [{"id": f"functions.{name}:{n}", "type": "function",
                        "function": {"name": name, "arguments": args}}]
    return m


def result(c, n="functions.get_weather:0"):
    return {"role": "tool", "tool_call_id": n, "content": c}


SYSTEM = {"role": "system", "content": "Be brief.\n"}
ODD = "a <b> & 'c' \"d\" \\ é 你好 😀 \u2028 \t\n\n  x  "

# name, messages, tools, kwargs
BATTERY = [
    ("one turn", [user("hi"), said("hello")], None, {}),
    ("system", [SYSTEM, user("hi"), said("hello\n")], None, {}),
    ("odd characters", [user(ODD), said("x" + ODD + "y")], None, {}),
    ("two turns", [user("1+1?"), said("2"), user("2+2?"), said("4")], None, {}),
    ("reasoning", [user("1+1?"), said("2", "easy")], None, {}),
    ("reasoning in history", [user("1+1?"), said("2", "easy"), user("2+2?"), said("4", "again")],
     None, {}),
    ("tools", [user("weather?"), said("where?")], TOOLS, {}),
    ("a call", [user("weather?"), call("get_weather", {"city": "Köln", "days": 1})], TOOLS, {}),
    ("a call and its result", [user("weather?"), call("get_weather", {"city": "Köln"}),
                               result("{\"t\": 3}"), said("3 degrees")], TOOLS, {}),
    ("two calls after one another", [user("weather?"), call("get_weather", {"city": "A"}, r="hm"),
                                     result("1"), call("now", {}, n=1),
                                     result("2", "functions.now:1"), said("done", "so")],
     TOOLS, {}),
    ("thinking off", [user("hi"), said("hello")], None,
     {"enable_thinking": False, "thinking": False}),
    ("effort", [user("hi"), said("hello", "r")], None, {"reasoning_effort": "high"}),
    ("an empty answer", [user("hi"), said("")], None, {}),
]


def as_text(messages):
    out = json.loads(json.dumps(messages))
    for m in out:
        for c in m.get("tool_calls", []):
            c["function"]["arguments"] = json.dumps(c["function"]["arguments"], ensure_ascii=False)
    return out


def null_beside_calls(messages):
    out = json.loads(json.dumps(messages))
    for m in out:
        if m.get("tool_calls"):
            m["content"] = None
    return out


def for_transformers(messages):
    """What we make of a conversation for a template that takes arguments as objects only and no
    null content: transformers would encode the arguments twice, and raise."""
    out = json.loads(json.dumps(messages))
    for m in out:
        if m.get("content", "") is None:
            del m["content"]
        for c in m.get("tool_calls", []):
            if isinstance(c["function"]["arguments"], str):
                c["function"]["arguments"] = json.loads(c["function"]["arguments"])
    return out


def tokenize(folder, records, *options):
    """One result a record: its output records, or the class of its reject."""
    lines = "".join(json.dumps(dict(r, id=str(i)), ensure_ascii=False) + "\n"
                    for i, r in enumerate(records))
    p = subprocess.run([PROGRAM, "-q", "--model", folder, "--date", DATE, "--rejects",
                        "/dev/stderr", *options], input=lines.encode(), capture_output=True)
    out = [[] for _ in records]
    for line in p.stdout.decode().splitlines():
        r = json.loads(line)
        out[int(r["id"].split("#")[0])].append(r)
    for line in p.stderr.decode().splitlines():
        if line.startswith("{"):
            r = json.loads(line)
            out[int(r["id"])] = r["reject"]["class"] + ": " + r["reject"]["reason"]
        else:
            print("# " + line)
    return out


def fast(folder):
    """The folder's tokenizer as transformers has it, with its own template."""
    tok = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
    config = json.load(open(f"{folder}/tokenizer_config.json"))
    for name in ("bos_token", "eos_token", "unk_token", "pad_token"):
        v = config.get(name)
        if v:
            setattr(tok, name, v["content"] if isinstance(v, dict) else v)
    path = f"{folder}/chat_template.jinja"
    tok.chat_template = open(path).read() if os.path.exists(path) else config["chat_template"]
    return tok


def compare(tok, folder, kimi):
    name = os.path.basename(folder)
    variants = []
    for what, messages, tools, kwargs in BATTERY:
        if kimi and tools:
            continue  # its declarations are unit tests: they are no part of transformers
        variants.append((what, messages, tools, kwargs))
        if any(m.get("tool_calls") for m in messages):
            variants.append((what + ", arguments as text", as_text(messages), tools, kwargs))
            variants.append((what + ", null content", null_beside_calls(messages), tools, kwargs))
            variants.append((what + ", both", null_beside_calls(as_text(messages)), tools, kwargs))
    records = [dict(messages=m, **({"tools": t} if t else {}),
                    **({"chat_template_kwargs": k} if k else {})) for _, m, t, k in variants]
    results = tokenize(folder, records, "--last-turn-only")
    lost = 0
    for (what, messages, tools, kwargs), got in zip(variants, results):
        if isinstance(got, str):
            lost += 1
            print(f"# {name}: {what}: {got}")
            continue
        if name == "gpt-oss":
            messages = for_transformers(messages)
        try:
            prompt = tok.apply_chat_template(messages[:-1], tools=tools, tokenize=True,
                                             add_generation_prompt=True, return_dict=False, **kwargs)
        except jinja2.TemplateError as e:
            report(False, f"{name}: {what}", f"transformers raises {e}, we do not")
            continue
        ids, mask = got[0]["input_ids"], got[0]["loss_mask"]
        n = mask.index(1)
        good = ids[:n] == prompt and all(mask[n:])
        report(good, f"{name}: {what}: prompt",
               f"got  {tok.decode(ids[:n])!r}\nwant {tok.decode(prompt)!r}")
        if kimi:
            continue
        try:
            whole = tok.apply_chat_template(messages, tools=tools, tokenize=False, **kwargs)
            text = tok.apply_chat_template(messages[:-1], tools=tools, tokenize=False,
                                           add_generation_prompt=True, **kwargs)
        except (jinja2.TemplateError, TypeError):
            continue
        if whole.startswith(text):
            answer = tok.decode(ids[n:])
            report(answer == whole[len(text):].rstrip("\n"), f"{name}: {what}: answer",
                   f"got  {answer!r}\nwant {whole[len(text):]!r}")
    print(f"# {name}: {len(variants)} conversations, {lost} refused")


# The tokenizer beside each template with tags. Where there is none here, qwen3's with the
# template's marks added: a token that reaches over a tag's edge is the template's fault, and the
# two sides count it differently.
TAGGED = {
    "deepseekv3": ("deepseek-v3", []),
    "gptoss": ("gpt-oss", []),
    "qwen2_5": ("qwen3", []),
    "qwen3": ("qwen3", []),
    "glm4moe": ("qwen3", ["[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>",
                          "<|observation|>"]),
    "llama3": ("qwen3", ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
                         "<|eot_id|>"]),
}


def with_tokens(folder, names, to):
    doc = json.load(open(f"{folder}/tokenizer.json"))
    n = max(t["id"] for t in doc["added_tokens"]) + 1
    for i, name in enumerate(names):
        doc["added_tokens"].append({"id": n + i, "content": name, "special": True,
                                    "normalized": False, "lstrip": False, "rstrip": False,
                                    "single_word": False})
    json.dump(doc, open(f"{to}/tokenizer.json", "w"))
    config = json.load(open(f"{folder}/tokenizer_config.json"))
    config.pop("added_tokens_decoder", None)
    json.dump(config, open(f"{to}/tokenizer_config.json", "w"))


def masks(path):
    name = os.path.basename(path)
    model, names = TAGGED[name.removeprefix("trl-").removesuffix("_training.jinja")]
    cases = [c for c in BATTERY if not c[2]]
    same = refused = apart = 0
    with tempfile.TemporaryDirectory() as folder:
        with_tokens(f"{SHARED}/models/{model}", names, folder)
        results = tokenize(folder, [dict(messages=m, chat_template_kwargs=k)
                                    for _, m, _, k in cases], "--template", path)
        open(f"{folder}/chat_template.jinja", "w").write(open(path).read())
        tok = fast(folder)
    for (what, messages, _, kwargs), got in zip(cases, results):
        if isinstance(got, str):
            refused += 1
            print(f"# {name}: {what}: {got}")
            continue
        if len(got) > 1:
            apart += 1  # one rendering loses reasoning: each turn has its own
            continue
        want = tok.apply_chat_template(messages, return_dict=True, tokenize=True,
                                       return_assistant_tokens_mask=True, **kwargs)
        if not got:
            report(sum(want["assistant_masks"]) == 0, f"{name}: {what}: nothing supervised")
            continue
        ids, mask = got[0]["input_ids"], got[0]["loss_mask"]
        if ids == want["input_ids"] and mask == want["assistant_masks"]:
            same += 1
        else:
            report(False, f"{name}: {what}", f"got  {mask} {ids}\nwant "
                   f"{want['assistant_masks']} {want['input_ids']}")
    report(same > 0, f"{name}: {same} masks are transformers', {apart} turn by turn, "
           f"{refused} refused")


for model in ("qwen3", "deepseek-v3", "gpt-oss"):
    path = f"{SHARED}/models/{model}"
    compare(fast(path), path, False)
compare(Kimi(f"{SHARED}/models/kimi-k2.5"), f"{SHARED}/models/kimi-k2.5", True)
for path in sorted(glob.glob(f"{SHARED}/templates/trl-*_training.jinja")):
    masks(path)
print(f"1..{count}")
