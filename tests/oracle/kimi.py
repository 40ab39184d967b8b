"""Kimi as its own Python has it: the template through Jinja2 as transformers sets it up, and tiktoken
with the model's ranks, pattern and special tokens."""

import base64
import json

import jinja2
import jinja2.ext
import tiktoken
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        parser.stream.expect("name:generation")
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return body


def dumps(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def fail(msg):
    raise jinja2.TemplateError(msg)


class Kimi:
    """Kimi's wrapper: tools sorted, the template through Jinja2, tiktoken with its pattern."""

    PATTERN = "|".join([
        r"[\p{Han}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])

    def __init__(self, folder):
        ranks = {}
        for line in open(f"{folder}/tiktoken.model", "rb"):
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        config = json.load(open(f"{folder}/tokenizer_config.json"))
        named = {int(k): v["content"] for k, v in config["added_tokens_decoder"].items()}
        special = {named.get(i, f"<|reserved_token_{i}|>"): i
                   for i in range(len(ranks), len(ranks) + 256)}
        self.enc = tiktoken.Encoding("kimi", pat_str=self.PATTERN, mergeable_ranks=ranks,
                                     special_tokens=special)
        env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                            extensions=[Generation, "jinja2.ext.loopcontrols"])
        env.filters["tojson"] = dumps
        env.globals.update(raise_exception=fail)
        self.template = env.from_string(open(f"{folder}/chat_template.jinja").read())

    def apply_chat_template(self, messages, tools=None, add_generation_prompt=False, tokenize=True,
                            return_dict=False, **kwargs):
        text = self.template.render(messages=messages, tools=tools, documents=None,
                                    add_generation_prompt=add_generation_prompt, **kwargs)
        return self.enc.encode(text, allowed_special="all") if tokenize else text

    def decode(self, ids):
        return self.enc.decode(ids)
