"""Model folders of many families for the benchmark of e3-tokenize: SHARED TO.

The real tokenizers beside the real templates; where there is no tokenizer, qwen3's with the marks of
the family added. Prints the folders' names."""

import json
import os
import shutil
import sys

SHARED, TO = sys.argv[1], sys.argv[2]
GLM = ["[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"]

FAMILIES = {
    "kimi-k2.5": ("kimi-k2.5", None, []),
    "qwen3": ("qwen3", None, []),
    "qwen3.5": ("qwen3", "Qwen3.5-4B.jinja", []),
    "deepseek-v3": ("deepseek-v3", None, []),
    "gpt-oss": ("gpt-oss", None, []),
    "glm-4.6": ("qwen3", "GLM-4.6.jinja", GLM),
    "llama-3.1": ("qwen3", "meta-llama-Llama-3.1-8B-Instruct.jinja",
                  ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]),
    "minimax-m2": ("qwen3", "MiniMax-M2.jinja", ["]~!b[", "]~b]", "[e~["]),
}


def add_tokens(folder, names):
    path = f"{folder}/tokenizer.json"
    doc = json.load(open(path))
    n = max(t["id"] for t in doc["added_tokens"]) + 1
    for i, name in enumerate(names):
        doc["added_tokens"].append({"id": n + i, "content": name, "special": True,
                                    "normalized": False, "lstrip": False, "rstrip": False,
                                    "single_word": False})
    json.dump(doc, open(path, "w"))
    path = f"{folder}/tokenizer_config.json"
    config = json.load(open(path))
    config.pop("added_tokens_decoder", None)
    json.dump(config, open(path, "w"))


for name, (model, template, tokens) in FAMILIES.items():
    folder = f"{TO}/{name}"
    os.makedirs(folder)
    for entry in os.scandir(f"{SHARED}/models/{model}"):
        if entry.is_file():
            shutil.copyfile(entry.path, f"{folder}/{entry.name}")
    if tokens:
        add_tokens(folder, tokens)
    if template:
        shutil.copyfile(f"{SHARED}/templates/{template}", f"{folder}/chat_template.jinja")
    print(name)
