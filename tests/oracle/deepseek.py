"""DeepSeek V3.2's layout against encoding_dsv32.py of the SGLang package.

For each way of serving, random conversations go through e3-tokenize, over a vocabulary of bytes and
marks, so that ids are text. Of each supervised turn, what stands before it must be what the encoder
makes of the messages before it, and the turn itself what the encoder puts behind that for the answer,
from which the encoder's own parser must get the message back. Where the encoder raises, the record
must be a reject; where a turn holds what its prompt leaves no room for, or lost its reasoning, too.

What the servers do to messages before the encoder sees them is done here as their sources do it:
SGLang's serving_chat.py, and vLLM's deepseek_v32.py, which is not in the package. The blank lines that
DeepSeek's own encoder has in its text for tools and the copies lost are taken from llama.cpp's
template."""

import ast
import copy
import importlib.util
import json
import os
import random
import subprocess
import sys

import jinja2

PROGRAM, SHARED, N = sys.argv[1], sys.argv[2], int(sys.argv[3])
SGLANG = os.path.dirname(importlib.util.find_spec("sglang").origin) + "/srt"
MODEL = f"{os.path.dirname(os.path.abspath(__file__))}/../data/deepseek_v32"
MARKS = [t["content"] for t in json.load(open(f"{MODEL}/tokenizer.json"))["added_tokens"]]
count = 0


def report(good, what, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good:
        print("# " + str(why)[:3000].replace("\n", "\n# "))


def module(path):
    spec = importlib.util.spec_from_file_location("encoding", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def function(path, name):
    """One function of a module that can't be imported."""
    tree = ast.parse(open(path).read())
    tree.body = [d for d in tree.body if isinstance(d, ast.FunctionDef) and d.name == name]
    space = {}
    exec(compile(tree, path, "exec"), space)
    return space[name]


COPY = module(f"{SGLANG}/entrypoints/openai/encoding_dsv32.py")
OWN = module(f"{SGLANG}/entrypoints/openai/encoding_dsv32.py")
flatten = function(f"{SGLANG}/parser/jinja_template_utils.py", "process_content_for_template_format")


def own_tools_text():
    path = f"{SHARED}/templates/deepseek-ai-DeepSeek-V3.2.jinja"
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = json.dumps
    env.filters["from_json"] = json.loads
    text = env.from_string(open(path).read()).render(
        messages=[], tools=[{"type": "function", "function": "HERE"}], bos_token="")
    before, after = text.split('"HERE"')
    assert after == "\n</functions>\n"
    return before.replace("<｜DSML｜", "<{dsml_token}").replace("</｜DSML｜", "</{dsml_token}") + \
        "{tool_schemas}" + after


OWN.TOOLS_SYSTEM_TEMPLATE = own_tools_text()

# ---- the servers ----


def thinking(kwargs, names):
    return "thinking" if any(kwargs.get(n) for n in names) else "chat"


def reasoning(m):
    """Under whatever name it came, as a server's parser gives it."""
    for name in ("reasoning_content", "thinking", "reasoning"):
        if m.get(name) is not None:
            return m[name]
    return None


def renamed(messages):
    out = []
    for m in copy.deepcopy(messages):
        r = reasoning(m)
        for name in ("reasoning_content", "thinking", "reasoning"):
            m.pop(name, None)
        if r is not None:
            m["reasoning_content"] = r
        m.pop("weight", None)
        out.append(m)
    return out


def join(messages, glue):
    for m in messages:
        if isinstance(m.get("content"), list):
            m["content"] = glue.join(p["text"] for p in m["content"])
    return messages


def hf(messages, tools, kwargs):
    messages = join(renamed(messages), "")
    if not messages or messages[0]["role"] != "system":
        messages.insert(0, {"role": "system"})
    if tools:
        messages[0]["tools"] = tools
    return OWN.encode_messages(messages, thinking(kwargs, ["thinking", "enable_thinking"]))


def sglang(messages, tools, kwargs):
    messages = renamed(messages)
    for m in messages:
        for c in m.get("tool_calls") or []:
            f = c["function"]
            if isinstance(f["arguments"], str):
                f["arguments"] = json.loads(f["arguments"])
                if not isinstance(f["arguments"], dict):
                    raise ValueError
        if m.get("content") is None:
            m["content"] = ""
    messages = [flatten(m, "string", [], [], [], [], use_dpsk_v32_encoding=True) for m in messages]
    if not messages or messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": ""})
    if tools:
        messages[0]["tools"] = [
            {"type": "function", "function": {
                "description": t["function"].get("description"), "name": t["function"]["name"],
                "parameters": t["function"].get("parameters"),
                "strict": t["function"].get("strict", False)}} for t in tools]
    return COPY.encode_messages(messages, thinking(kwargs, ["thinking"]))


def vllm(messages, tools, kwargs):
    messages = join(renamed(messages), "\n")
    last = messages[-1]["role"] if messages else None
    for m in messages:
        if m.get("content") is None:
            m["content"] = ""
        for c in m.get("tool_calls") or []:
            f = c["function"]
            if isinstance(f["arguments"], str):
                try:
                    f["arguments"] = json.loads(f["arguments"]) or {}
                except ValueError:
                    f["arguments"] = {}
    if tools:
        messages.insert(0, {"role": "system", "tools": [
            {"type": "function", "function": {
                "name": t["function"]["name"], "description": t["function"].get("description"),
                "parameters": t["function"].get("parameters")}} for t in tools]})
    return COPY.encode_messages(messages, thinking(kwargs, ["thinking", "enable_thinking"]),
                                drop_thinking=last == "user")


# ---- conversations ----

WORDS = ["yes", "a\nb", "1 < 2 & \"x\"", "é你好 😀", "\u2028", "  wide  ", "{\"k\": 1}", "tab\there",
         "\\", "</result>", "<result>", "line\n\n", "\n\n<x", "'", "{dsml_token}", "{}", "0"]
KEYS = ["a", "city", "größe", "a b", "n\"q", "x</y"]


def text(r, empty=0.15):
    return "" if r.random() < empty else "".join(r.choice(WORDS) for _ in range(r.randint(1, 3)))


def content(r, empty=0.15):
    c = text(r, empty)
    if r.random() < 0.1:
        return [{"type": "text", "text": c}, {"type": "text", "text": text(r)}]
    return c


def value(r, depth=0):
    k = r.randint(0, 7 if depth < 2 else 5)
    if k == 6:
        return [value(r, depth + 1) for _ in range(r.randint(0, 3))]
    if k == 7:
        return {r.choice(KEYS): value(r, depth + 1) for _ in range(r.randint(0, 3))}
    return [text(r), r.randint(-9, 10**20), r.choice([1.0, 1e5, 0.1, -2.5e-7, 1e22]), True, None,
            "plain"][k]


def arguments(r):
    a = {r.choice(KEYS): value(r) for _ in range(r.randint(0, 3))}
    if r.random() < 0.4:
        return a
    k = r.random()
    if k < 0.03:
        return "[1]"
    if k < 0.05:
        return "{\"a\":"
    return json.dumps(a, ensure_ascii=r.random() < 0.5,
                      separators=r.choice([None, (",", ":")]))


def tool(r):
    f = {"name": r.choice(["get", "set_é", "f"])}
    if r.random() < 0.8:
        f["description"] = text(r)
    if r.random() < 0.8:
        f["parameters"] = {"type": "object", "properties": {
            k: {"type": r.choice(["string", "integer"])} for k in r.sample(KEYS, 2)}}
    if r.random() < 0.2:
        f["strict"] = r.random() < 0.5
    return {"type": "function", "function": f}


def answer(r, on):
    m = {"role": "assistant", "content": content(r)}
    if r.random() < 0.1:
        m["content"] = None
    if r.random() < (0.93 if on else 0.06):
        m[r.choice(["reasoning_content", "reasoning", "thinking"])] = text(r, 0.03) or ""
    if r.random() < 0.1:
        m["weight"] = 0
    return m


def conversation(r):
    kwargs = r.choice([{}, {"thinking": True}, {"thinking": True}, {"enable_thinking": True},
                       {"thinking": False}, {"thinking": 1}, {"enable_thinking": False,
                                                              "thinking": True}])
    on = any(kwargs.values())
    messages = []
    if r.random() < 0.5:
        messages.append({"role": "system", "content": r.choice([text(r), None, content(r)])})
    for _ in range(r.randint(1, 4)):
        k = r.random()
        if k < 0.05:
            m = {"role": "developer", "content": text(r)}
            if r.random() < 0.3:
                m["tools"] = [tool(r)]
            if r.random() < 0.3:
                m["response_format"] = value(r)
            messages.append(m)
        elif k < 0.06:
            messages.append({"role": r.choice(["critic", "function"]), "content": "x"})
        elif k < 0.08:
            messages.append({"role": "system", "content": text(r)})
        if k > 0.02:
            messages.append({"role": "user", "content": content(r)})
        if r.random() < 0.02:
            messages[-1]["content"] = None
        while r.random() < 0.4:
            m = answer(r, on)
            n = r.randint(1, 3)
            m["tool_calls"] = [{"id": f"c{i}", "type": "function", "function": {
                "name": r.choice(["get", "set_é"]), "arguments": arguments(r)}} for i in range(n)]
            messages.append(m)
            n += -1 if r.random() < 0.03 else 1 if r.random() < 0.02 else 0
            messages += [{"role": "tool", "tool_call_id": f"c{i}", "content": content(r)}
                         for i in range(n)]
        if r.random() < 0.97:
            messages.append(answer(r, on))
    out = {"messages": messages}
    if r.random() < 0.4:
        out["tools"] = [tool(r) for _ in range(r.randint(1, 3))]
    if kwargs:
        out["chat_template_kwargs"] = kwargs
    return out


# ---- what must come out ----


class Refused(Exception):
    pass


def taught(m):
    return m["role"] == "assistant" and m.get("weight") != 0


def check_arguments(m):
    """What a model is taught to write must be there, whatever a server makes of it in history."""
    for c in m.get("tool_calls") or []:
        a = c["function"]["arguments"]
        if isinstance(a, str) and not isinstance(json.loads(a), dict):
            raise Refused("arguments")


def spoken(m):
    """What the message says, in the shape of the encoder's parser, or None where it can't tell."""
    calls = []
    for c in m.get("tool_calls") or []:
        a = c["function"]["arguments"]
        calls.append((c["function"]["name"], json.loads(a) if isinstance(a, str) else a))
    return reasoning(m) or "", calls


def turns(record, serve):
    """(index, prompt, target) of each supervised turn; raises where the record must be refused."""
    messages, kwargs = record["messages"], record.get("chat_template_kwargs", {})
    tools = record.get("tools")
    out = []
    for i, m in enumerate(messages):
        if not taught(m):
            continue
        check_arguments(m)
        prompt = serve(messages[:i], tools, kwargs)
        if i == 0 or messages[i - 1]["role"] in ("assistant", "system") or not prompt.endswith("think>"):
            raise Refused("no answer is asked for")
        on = prompt.endswith("<think>")
        if on and reasoning(m) == "" and not m.get("tool_calls"):
            # the encoder knows no closed block that it did not open: as it is with some reasoning
            whole = serve(messages[:i] + [dict(m, reasoning_content="+")], tools, kwargs)
            target = whole[len(prompt) + 1:]
        else:
            whole = serve(messages[:i + 1], tools, kwargs)
            target = whole[len(prompt):]
        if not whole.startswith(prompt):
            raise Refused("the rendering does not go on")
        if not on and (reasoning(m) or "").strip() and kwargs.get("thinking") is not False \
                and kwargs.get("enable_thinking") is not False:
            raise Refused("reasoning is lost")
        parses(target, "thinking" if on else "chat", m)
        out.append((i, prompt, target))
    return out


stats = {"turns": 0, "parsed": 0, "refused": 0, "records": 0}


def parses(target, mode, m):
    """The encoder's parser has the message back, but where the text looks like its marks."""
    try:
        back = COPY.parse_message_from_completion_text(target, mode)
    except (COPY.DS32EncodingError, TypeError):
        return
    said, calls = spoken(m)
    got = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in back["tool_calls"]]
    if mode == "thinking" and back["reasoning_content"] != said or got != calls:
        raise AssertionError(f"{target!r} says {back}, not {m}")
    stats["parsed"] += 1


def decode(ids):
    return b"".join(bytes([i]) if i < 256 else MARKS[i - 256].encode() for i in ids).decode()


def tokenize(records, *options):
    """Of each record its sequences, or the reason it was refused for."""
    lines = "".join(json.dumps(dict(r, id=str(i)), ensure_ascii=False) + "\n"
                    for i, r in enumerate(records))
    p = subprocess.run([PROGRAM, "-q", "--model", MODEL, "--rejects", "/dev/stderr", *options],
                       input=lines.encode(), capture_output=True)
    out = [[] for _ in records]
    for line in p.stdout.decode().split("\n")[:-1]:
        r = json.loads(line)
        out[int(r["id"].split("#")[0])].append(r)
    for line in p.stderr.decode().split("\n")[:-1]:
        if line.startswith("{"):
            r = json.loads(line)
            out[int(r["id"])] = r["reject"]["class"] + ": " + r["reject"]["reason"]
        else:
            print("# " + line)
    return out


def spans(seq):
    """(what stands before it, what is supervised) of each stretch."""
    ids, mask, at = seq["input_ids"], seq["loss_mask"], 0
    while at < len(ids):
        if not mask[at]:
            at += 1
            continue
        end = at
        while end < len(ids) and mask[end]:
            end += 1
        yield decode(ids[:at]), decode(ids[at:end])
        at = end


def check(record, got, serve):
    """None where all is well."""
    try:
        want = turns(record, serve)
    except AssertionError:
        raise
    except Exception as e:  # whatever the encoder raises
        stats["refused"] += 1
        return None if isinstance(got, str) else f"not refused: {e!r}"
    if isinstance(got, str):
        return f"refused: {got}"
    had = [s for seq in got for s in spans(seq)]
    stats["turns"] += len(had)
    if had == [(p, t) for _, p, t in want]:
        return None
    for (p, t), (_, wp, wt) in zip(had, want):
        if p != wp or t != wt:
            return f"got  {p!r}\n     {t!r}\nwant {wp!r}\n     {wt!r}"
    return f"{len(had)} turns, not {len(want)}"


def shares(record, got, serve):
    """Turns that go on from one another share a record, and others have their own."""
    last, records = None, 0
    for _, prompt, target in turns(record, serve):
        records += last is None or not prompt.startswith(last)
        last = prompt + target
    return records == len(got)


def battery(name, serve):
    r = random.Random(f"deepseek {name}")
    records = [conversation(r) for _ in range(N)]
    stats.update(turns=0, parsed=0, refused=0, records=0)
    bad = unshared = None
    for record, got in zip(records, tokenize(records, "--served-by", name)):
        why = check(record, got, serve)
        if why and not bad:
            bad = f"{json.dumps(record, ensure_ascii=False)}\n{why}"
        if not isinstance(got, str) and not why:
            stats["records"] += len(got)
            if not shares(record, got, serve) and not unshared:
                unshared = json.dumps(record, ensure_ascii=False)
    report(not bad, f"{name}: {stats['turns']} turns of {N} conversations, {stats['parsed']} parsed "
           f"again, {stats['refused']} conversations refused by both", bad)
    report(not unshared, f"{name}: {stats['records']} records", unshared)
    report(stats["turns"] > N / 2 and stats["parsed"] > N / 4 and stats["refused"] > N / 50,
           f"{name}: enough of each", stats)

    whole = []
    for record in records:
        try:
            for m in filter(taught, record["messages"]):
                check_arguments(m)
            whole.append((record, serve(record["messages"], record.get("tools"),
                                        record.get("chat_template_kwargs", {}))))
        except Exception:
            continue
    bad, same = None, 0
    for (record, want), got in zip(whole, tokenize([w for w, _ in whole], "--served-by", name,
                                                   "--mask", "all")):
        if isinstance(got, str):
            if not got.startswith("lost"):
                bad = bad or f"{json.dumps(record, ensure_ascii=False)}\n{got}"
        elif got and decode(got[0]["input_ids"]) != want:
            bad = bad or f"got  {decode(got[0]['input_ids'])!r}\nwant {want!r}"
        else:
            same += bool(got)
    report(not bad and same > N / 4, f"{name}: {same} whole conversations", bad)


for name, serve in (("hf", hf), ("sglang", sglang), ("vllm", vllm)):
    battery(name, serve)
print(f"1..{count}")
