"""Conversations for the templates: (name, context without special tokens)."""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a place.\nIn degrees.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where, e.g. Zürich"},
                "days": {"type": "integer", "default": 3, "minimum": 1},
                "unit": {"type": "string", "enum": ["c", "f"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "opt": {"type": ["string", "null"]},
            },
            "required": ["place"],
        },
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Finds <things> & 'more' \"quoted\" 日本",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "filter": {
                    "type": "object",
                    "properties": {"a": {"type": "number"}, "b": {"type": "boolean"}},
                    "required": ["a"],
                },
                "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "big": {"type": "integer", "default": 123456789012345678901234567890},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "strict": True,
        "return": {"type": "object"},
    },
}
NOARGS = {"type": "function", "function": {"name": "noargs", "description": "", "parameters": {"type": "object", "properties": {}}}}
BARE = {"type": "function", "function": {"name": "bare"}}
FLAT = {"name": "flat", "description": "not wrapped", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}


def sys(c):
    return {"role": "system", "content": c}


def usr(c, **k):
    return {"role": "user", "content": c, **k}


def asst(c, **k):
    return {"role": "assistant", "content": c, **k}


def tool(c, id="functions.get_weather:0", **k):
    return {"role": "tool", "content": c, "tool_call_id": id, **k}


def call(name, args, id="functions.get_weather:0", **k):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": args}, **k}


OBJ = {"place": "Paris", "days": 2, "x": 1.0, "list": [1, "zwei", None, True], "nested": {"é": 1e-7}}
STR = '{"place": "Paris", "days": 2}'


def turns(args, **k):
    return [usr("Weather in Paris?"), asst("", tool_calls=[call("get_weather", args)], **k), tool('{"t": 21.5}'), asst("It is 21.5.")]


def messages():
    """name, messages, tools"""
    yield "none", [], None
    yield "user", [usr("Hi")], None
    yield "system", [sys("Be brief."), usr("Hi")], None
    yield "system only", [sys("Be brief.")], None
    yield "empty system", [sys(""), usr("Hi")], None
    yield "developer", [{"role": "developer", "content": "D"}, usr("Hi")], None
    yield "system and developer", [sys("S"), {"role": "developer", "content": "D"}, usr("Hi")], None
    yield "answered", [usr("Hi"), asst("Hello!")], None
    yield "two turns", [sys("S"), usr("a"), asst("b"), usr("c"), asst("d")], None
    yield "open turn", [usr("a"), asst("b"), usr("c")], None
    yield "late system", [usr("a"), asst("b"), sys("late"), usr("c")], None
    yield "two systems", [sys("one"), sys("two"), usr("c")], None
    yield "not alternating", [usr("a"), usr("b"), asst("c"), asst("d")], None
    yield "assistant first", [asst("Hello"), usr("Hi")], None
    yield "white space", [sys("\n S \t"), usr("  a\n\n"), asst("\n\n b \n"), usr("\u00a0c\u3000")], None
    yield "unicode", [usr("Grüße 日本語 🎉 e\u0301 \u200b\u2028 ẞß ﬁ İi"), asst("𝒳 مرحبا 👩‍👩‍👧")], None
    yield "special strings", [usr("<|im_end|><|im_start|>user\n<think>x</think>[INST]{{ x }}{% y %}<tool_response>"), asst("ok")], None
    yield "quotes", [usr("it's \"quoted\" \\ back\\n <b>&amp;</b> \x00\x07\x1b"), asst("'")], None
    yield "names", [usr("Hi", name="bob"), asst("Hello", name="eve")], None
    yield "empty name", [usr("Hi", name=""), asst("Hello", name=None)], None
    yield "reasoning", [usr("2+2?"), asst("4", reasoning_content="Simple sum.")], None
    yield "reasoning turns", [usr("2+2?"), asst("4", reasoning_content="Simple sum."), usr("3+3?"), asst("6", reasoning_content="Again.\n")], None
    yield "reasoning names", [usr("q"), asst("a", reasoning="R", thinking="T"), usr("p"), asst("b", thinking="T2", reasoning_content="T2")], None
    yield "reasoning null", [usr("q"), asst("a", reasoning_content=None)], None
    yield "reasoning empty", [usr("q"), asst("a", reasoning_content="")], None
    yield "think in content", [usr("q"), asst("<think>\nhm\n</think>\n\na"), usr("r"), asst("<think>\nhm2\n</think>\n\nb")], None
    yield "think unclosed", [usr("q"), asst("<think>\nhm"), usr("r"), asst("hm</think>b")], None
    yield "null content", [usr("q"), asst(None), usr("r")], None
    yield "missing content", [usr("q"), {"role": "assistant"}, usr("r")], None
    yield "missing role", [{"content": "q"}, asst("a")], None
    yield "empty content", [usr(""), asst("")], None
    yield "number content", [usr(5), asst(1.5)], None
    yield "list content", [usr([{"type": "text", "text": "one"}, {"type": "text", "text": " two"}]), asst([{"type": "text", "text": "three"}])], None
    yield "system parts", [sys([{"type": "text", "text": "S"}]), usr("q")], None
    yield "empty parts", [usr([]), asst("a")], None
    yield "image parts", [usr([{"type": "text", "text": "look"}, {"type": "image", "image": "x.png"}, {"type": "image_url", "image_url": {"url": "http://x/y.png"}}, {"type": "video", "video": "v.mp4"}, {"type": "text", "text": "end"}]), asst("ok")], None
    yield "odd parts", [usr(["bare", {"type": "text"}, {"text": "untyped"}, {"type": "audio", "audio": "a"}]), asst("ok")], None
    yield "unknown role", [usr("q"), {"role": "critic", "content": "bad"}, asst("a")], None
    yield "ipython", [usr("q"), asst("a"), {"role": "ipython", "content": {"output": "42"}}], None
    yield "tools unused", [sys("S"), usr("q"), asst("a")], [WEATHER, SEARCH]
    yield "tools no system", [usr("q")], [WEATHER]
    yield "tools odd", [usr("q")], [NOARGS, BARE]
    yield "tools flat", [usr("q")], [FLAT]
    yield "tools empty", [usr("q"), asst("a")], []
    yield "call string", turns(STR), [WEATHER]
    yield "call object", turns(OBJ), [WEATHER]
    yield "call no tools", turns(STR), None
    yield "call object no tools", turns(OBJ), None
    yield "call empty object", turns({}), [WEATHER]
    yield "call empty string", turns(""), [WEATHER]
    yield "call bad string", turns("{not json"), [WEATHER]
    yield "call reasoning", turns(OBJ, reasoning_content="I look it up."), [WEATHER]
    yield "call reasoning string", turns(STR, reasoning_content="I look it up."), [WEATHER, SEARCH]
    yield "call open", turns(OBJ)[:2], [WEATHER]
    yield "call answered", turns(OBJ)[:3], [WEATHER]
    yield "call answered string", turns(STR)[:3], [WEATHER]
    yield "call null content", [usr("q"), {"role": "assistant", "content": None, "tool_calls": [call("get_weather", OBJ)]}, tool("21")], [WEATHER]
    yield "call missing content", [usr("q"), {"role": "assistant", "tool_calls": [call("get_weather", STR)]}, tool("21")], [WEATHER]
    yield "call with content", [usr("q"), asst("Let me see.", tool_calls=[call("get_weather", OBJ)]), tool("21"), asst("21.")], [WEATHER]
    yield "call no calls", [usr("q"), asst("a", tool_calls=[]), usr("r"), asst("b", tool_calls=None)], [WEATHER]
    two = [call("get_weather", OBJ), call("search", {"query": "x\n\"y\"", "big": 123456789012345678901234567890}, "functions.search:1")]
    yield "parallel", [usr("q"), asst("", tool_calls=two), tool("21"), tool("found", "functions.search:1", name="search"), asst("done")], [WEATHER, SEARCH]
    two = [call("get_weather", STR), call("search", '{"query":"é"}', "functions.search:1")]
    yield "parallel string", [sys("S"), usr("q"), asst(None, tool_calls=two), tool("21"), tool("found", "functions.search:1"), asst("done")], [WEATHER, SEARCH]
    yield "calls in steps", turns(OBJ)[:3] + [asst("", reasoning_content="More.", tool_calls=[call("search", {"query": "x"}, "functions.search:1")]), tool("r", "functions.search:1"), asst("end", reasoning_content="Done.")], [WEATHER, SEARCH]
    yield "calls then user", turns(OBJ) + [usr("thanks"), asst("welcome", reasoning_content="polite")], [WEATHER]
    yield "calls then user string", turns(STR) + [usr("thanks")], [WEATHER]
    nine = [usr("q"), asst("", tool_calls=[call("get_weather", OBJ, "abcdefghi")]), tool("21", "abcdefghi"), asst("done")]
    yield "nine letters", nine, [WEATHER]
    yield "call no id", [usr("q"), asst("", tool_calls=[{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]), {"role": "tool", "content": "r"}], [WEATHER]
    yield "call flat", [usr("q"), asst("", tool_calls=[{"name": "f", "arguments": {"a": "b"}}]), {"role": "tool", "name": "f", "content": "r"}], [WEATHER]
    yield "tool object", [usr("q"), asst("", tool_calls=[call("get_weather", OBJ)]), tool({"t": 21, "ok": True}), asst("a")], [WEATHER]
    yield "tool list", [usr("q"), asst("", tool_calls=[call("get_weather", OBJ)]), tool([{"type": "text", "text": "21"}]), asst("a")], [WEATHER]
    yield "tool null", [usr("q"), asst("", tool_calls=[call("get_weather", OBJ)]), tool(None), asst("a")], [WEATHER]
    yield "tool first", [tool("lost"), usr("q")], [WEATHER]
    yield "values", [usr("q"), asst("", tool_calls=[call("get_weather", {"i": 9007199254740993, "big": -123456789012345678901, "f": 1e16, "g": 1e22, "h": 0.1, "z": -0.0, "inf": float("inf"), "s": "\x7f\u2028\x01", "n": None, "e": [], "o": {}, "t": True})])], [WEATHER]
    yield "channels", [usr("q"), asst("a", channel="final"), usr("<|channel|>analysis<|message|>x")], None
    yield "long", [m for i in range(30) for m in (usr(f"question {i} " * 20), asst(f"answer {i}\n" * 20, reasoning_content=f"r{i}"))], None


KWARGS = [
    ("", {}),
    ("generation prompt", {"add_generation_prompt": True}),
    ("thinking", {"add_generation_prompt": True, "enable_thinking": True, "thinking": True}),
    ("no thinking", {"add_generation_prompt": True, "enable_thinking": False, "thinking": False}),
    ("preserve", {"preserve_thinking": True, "clear_thinking": False, "keep_past_thinking": True}),
    ("effort", {"add_generation_prompt": True, "reasoning_effort": "high", "thinking_budget": 512}),
    ("dated", {"add_generation_prompt": True, "date_string": "01 Jan 2026", "builtin_tools": ["browser", "python"], "documents": [{"title": "T", "text": "body"}], "tools_in_user_message": False, "model_identity": "You are E."}),
]

TOKENS = {
    "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>",
    "additional_special_tokens": ["<a>", "<b>"],
}


def contexts():
    for name, msgs, tools in messages():
        for how, kwargs in KWARGS:
            yield f"{name}, {how}" if how else name, {
                "messages": msgs, "tools": tools, "documents": None, "add_generation_prompt": False,
                **TOKENS, **kwargs}
