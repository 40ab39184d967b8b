"""Conversations for the benchmark of e3-tokenize, as records on stdout: KIND COUNT [MESSAGES].

chat	three turns with reasoning, about 1,500 tokens: three records each
agent	a session of tool calls whose turns extend one another: one record
apart	answers with reasoning to a user who goes on: every turn is a record of its own
plain	the same without reasoning: one record, with any template
calls	agent, with reasoning or a text beside a call but not both, as gpt-oss wants it

The words are those of the toolkit's own manuals and sources; the same numbers give the same text."""

import glob
import json
import random
import sys

KIND, COUNT = sys.argv[1], int(sys.argv[2])
MESSAGES = int(sys.argv[3]) if len(sys.argv) > 3 else 84
rand = random.Random(7)
words = " ".join(open(f, encoding="utf-8").read() for f in
                 sorted(glob.glob("man/*.[157]") + glob.glob("src/*/*.h"))).split(" ")


def text(n):
    at = rand.randrange(len(words) - n)
    return " ".join(words[at:at + n])


def user(n):
    return {"role": "user", "content": text(n)}


def said(n, reasoning):
    return {"role": "assistant", "reasoning_content": text(reasoning), "content": text(n)}


def chat():
    return [m for _ in range(3) for m in (user(70), said(120, 90))]


def agent():
    out = [user(60)]
    for i in range((MESSAGES - 2) // 2):
        call = {"id": f"functions.run:{i}", "type": "function",
                "function": {"name": "run", "arguments": json.dumps({"command": text(12)})}}
        out.append(dict(said(10, 30), tool_calls=[call]))
        out.append({"role": "tool", "tool_call_id": f"functions.run:{i}", "content": text(500)})
    return out + [said(60, 20)]


def apart():
    return [m for _ in range(MESSAGES // 2) for m in (user(400), said(100, 40))]


def plain():
    return [m for _ in range(MESSAGES // 2)
            for m in (user(400), {"role": "assistant", "content": text(140)})]


def calls():
    out = agent()
    for m in out:
        if m.get("tool_calls"):
            m["content"] = None
    return out


for i in range(COUNT):
    messages = [{"role": "system", "content": text(20)}] + globals()[KIND]()
    print(json.dumps({"id": f"{KIND}/{i}", "dataset": KIND, "messages": messages}))
