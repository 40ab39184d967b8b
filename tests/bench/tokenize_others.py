"""The trainers' own preprocessing of the same conversations, one core: MODEL RECORDS [COUNT].

Run in the trainers' environment (tests/oracle/venv.sh). Prints samples and tokens a CPU second.
SpecForge renders a conversation once and finds the answers by a pattern. speculators asks a server to
render each turn twice; here that server is transformers in the same process, without HTTP, which is
better than it can be."""

import json
import os
import sys
import time
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import torch
from specforge.data.preprocessing import preprocess_conversations
from specforge.data.template import TEMPLATE_REGISTRY
from speculators.data_generation import preprocessing as speculators
from transformers import AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
rows = [json.loads(line) for line in open(sys.argv[2])][:count]


def render(endpoint, messages, *, add_generation_prompt, tools=None, **truncation):
    return tokenizer.apply_chat_template(messages, tools=tools, return_dict=False,
                                         add_generation_prompt=add_generation_prompt)


speculators.render_conversation = render


def specforge_rows():
    chats = [[{"role": m["role"], "content": m["content"]} for m in r["messages"]] for r in rows]
    return preprocess_conversations(tokenizer, chats, TEMPLATE_REGISTRY.get("qwen"), max_length=8192,
                                    tools=[[] for _ in rows])


def speculators_rows():
    return speculators._preprocess_batch({"conversations": [r["messages"] for r in rows]}, False,
                                         "here", 8192)


for name, work in (("specforge:", specforge_rows), ("speculators:", speculators_rows)):
    seconds = None
    for _ in range(3):  # the best, as ours is
        start = time.process_time()
        out = work()
        spent = time.process_time() - start
        seconds = spent if seconds is None else min(seconds, spent)
    tokens = sum(x.numel() for x in out["input_ids"])
    print(f"{name} {len(rows) / seconds:.0f} samples/s, {tokens / seconds / 1e6:.2f} Mtok/s")
