"""Masks of e3-tokenize against those of SpecForge and speculators: PROGRAM MODEL.

speculators renders each turn's prompt and the conversation through its answer, as served; here
transformers stands for its server. Its rows are our turns, and the line feed that Qwen's template
writes behind the end of the turn. SpecForge renders the whole conversation once, and puts a system prompt of
its own before one that has none: a single turn with a system prompt and without reasoning is the
same in both."""

import json
import random
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")

from specforge.data.preprocessing import preprocess_conversations
from specforge.data.template import TEMPLATE_REGISTRY
from speculators.data_generation import preprocessing as speculators
from transformers import AutoTokenizer

PROGRAM, MODEL = sys.argv[1], sys.argv[2]
tokenizer = AutoTokenizer.from_pretrained(MODEL)
rand = random.Random(5)
PHRASES = ["yes", "a\nb", "1 < 2 & \"x\"", "é你 😀", "```c\nint x;\n```", "{\"k\": 1}", "a long line of words"]


def render(endpoint, messages, *, add_generation_prompt, tools=None, **truncation):
    return tokenizer.apply_chat_template(messages, tools=tools, return_dict=False,
                                         add_generation_prompt=add_generation_prompt)


speculators.render_conversation = render


def text():
    return " ".join(rand.choice(PHRASES) for _ in range(rand.randrange(1, 9)))


def chat(turns, reasoning, system):
    out = [{"role": "system", "content": text()}] if system else []
    for _ in range(turns):
        out.append({"role": "user", "content": text()})
        out.append({"role": "assistant", "content": text()})
        if reasoning and rand.random() < 0.7:
            out[-1]["reasoning_content"] = text()
    return out


def ours(chats):
    lines = "".join(json.dumps({"id": str(i), "messages": m}) + "\n" for i, m in enumerate(chats))
    got = subprocess.run([PROGRAM, "-q", "--model", MODEL], input=lines.encode(), capture_output=True,
                         check=True).stdout
    out = [[] for _ in chats]
    for line in got.decode().splitlines():
        r = json.loads(line)
        out[int(r["id"].split("#")[0])].append((r["input_ids"], r["loss_mask"]))
    return out


def holds(rows, ids, mask):
    """Whether some record has the turn: its ids, and its mask from the turn's first id on."""
    at = mask.index(1)
    return any(i[:len(ids)] == ids and m[at:len(ids)] == mask[at:] and m[at - 1] == 0
               for i, m in rows)


def of_speculators():
    chats = [chat(rand.randrange(1, 6), True, rand.random() < 0.5) for _ in range(60)]
    turns = 0
    for messages, rows in zip(chats, ours(chats)):
        theirs = speculators._preprocess_batch({"conversations": [messages]}, False, "here", 1 << 20)
        for ids, mask in zip(theirs["input_ids"], theirs["loss_mask"]):
            if not holds(rows, ids.tolist()[:-1], mask.tolist()[:-1]):
                return f"a turn differs: {messages}"
            turns += 1
    print(f"# {turns} turns")
    return None


def of_specforge():
    chats = [chat(1, False, True) for _ in range(60)]
    theirs = preprocess_conversations(tokenizer, chats, TEMPLATE_REGISTRY.get("qwen"),
                                      max_length=1 << 20, tools=[[] for _ in chats])
    for k, rows in enumerate(ours(chats)):
        ids, mask = rows[0]
        if theirs["input_ids"][k][0].tolist()[:len(ids)] != ids:
            return f"ids differ: {chats[k]}"
        if theirs["loss_mask"][k][0].tolist()[:len(ids)] != mask:
            return f"the mask differs: {chats[k]}"
    return None


print("1..2")
for n, (name, check) in enumerate((("speculators", of_speculators), ("SpecForge", of_specforge)), 1):
    why = check()
    print(f"{'not ok' if why else 'ok'} {n} - masks are those of {name}")
    if why:
        print("# " + why[:600].replace("\n", "\\n"))
