"""SpecForge's own preprocessing of the same conversations, one core: MODEL RECORDS [COUNT].

Run by hand in an environment that has it (pip install specforge==0.2.0 --no-deps beside torch,
transformers and datasets); prints samples and tokens a CPU second."""

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
from transformers import AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
rows = [json.loads(line) for line in open(sys.argv[2])][:count]
conversations = [[{"role": m["role"], "content": m["content"]} for m in r["messages"]] for r in rows]
start = time.process_time()
out = preprocess_conversations(tokenizer, conversations, TEMPLATE_REGISTRY.get("qwen"),
                               max_length=8192, tools=[[] for _ in rows])
seconds = time.process_time() - start
tokens = sum(x.numel() for x in out["input_ids"])
print(f"specforge: {len(rows) / seconds:.0f} samples/s, {tokens / seconds / 1e6:.2f} Mtok/s")
