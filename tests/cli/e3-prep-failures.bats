#!/usr/bin/env bats
# What went wrong in others' converters, by their issues, and must not here.

load holds

setup() {
	bats_require_minimum_version 1.5.0
	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return
}

# prep DATASET [OPTION...]: rows from standard input to ./out, ./rejects and ./stats
prep() {
	dataset=$1
	shift
	e3-prep -q --dataset "$dataset" --rejects rejects --stats stats -o out "$@"
}

@test "hiyouga/LlamaFactory#2529: one odd row of glaive ends no conversion" {
	prep B1_glaive <<-'END'
		{"system":"","chat":"USER: a\n\n\nASSISTANT: b"}
		{"system":"","chat":"what is this?"}
		{"system":"","chat":"USER: c\n\n\nASSISTANT: d"}
	END
	[ "$(jq -r .id out | tr '\n' ' ')" = "B1_glaive/1 B1_glaive/3 " ]
	holds '.in == 3 and .out == 2 and .reasons.nouser == 1' stats
}

@test "what a row without a known role, or rows in a list, want is said" {
	prep B7_sharegpt <<<'{"conversations":[{"from":"Human","value":"a"},{"from":"gpt","value":"b"}]}'
	[ "$(jq -r .reject.reason rejects)" = 'no user message; "Human" is no role that is known' ]
	run e3-prep <<<'{"data":[{"conversations":[]}]}'
	[[ $output == *"there are: data; a list of rows is made lines with jq -c '.data[]' ("* ]]
}

@test "a filter by a name that no row has is told of" {
	row='{"conversations":[{"from":"human","value":"a"}],"score":1}'
	for f in "scoer>=1" "scoer!=1"; do
		run e3-prep --dataset B7_sharegpt --filter "$f" -o out2 <<<"$row"
		[ "${lines[0]}" = "e3-prep: --filter \"$f\": no row has a value of that name" ]
		rm out2
	done
	# one that was never asked, and one whose value some row has, are not
	run e3-prep --dataset B7_sharegpt --filter "score>=2" --filter "scoer>=1" -o out2 <<<"$row"
	[ "${#lines[@]}" -eq 1 ]
}

@test "hiyouga/LlamaFactory#2962: several user turns in a row are cut, and counted" {
	prep B7_sharegpt <<<'{"conversations":[{"from":"human","value":"a"},{"from":"human","value":"b"},{"from":"gpt","value":"c"}]}'
	holds '[.messages[].content] == ["a"]' out
	holds '.counts["order-cut"] == 1' stats
}

@test "sgl-project/SpecForge#57: bing, bard and chatgpt answer; nothing is joined around a turn that is dropped" {
	prep B7_sharegpt <<-'END'
		{"conversations":[{"from":"human","value":"a"},{"from":"bing","value":"b"},{"from":"human","value":"c"},{"from":"bard","value":"d"},{"from":"human","value":"e"},{"from":"chatgpt","value":"f"}]}
		{"conversations":[{"from":"human","value":"a"},{"from":"nobody","value":"b"},{"from":"human","value":"c"},{"from":"gpt","value":"d"}]}
	END
	jq -se '.[0].messages | map(.role) == ["user", "assistant", "user", "assistant", "user", "assistant"]' out
	jq -se '.[1].messages | map(.content) == ["a"]' out
	holds '.counts["role-cut"] == 1' stats
}

@test "sgl-project/SpecForge#429, axolotl-ai-cloud/axolotl#3136: arguments are one type, what is in them stays" {
	prep openai <<-'END'
		{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":"1"}}}]}]}
		{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1.0}"}}]}]}
		{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"a"}}]}]}
		{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}]}
	END
	jq -se 'map(.messages[1].tool_calls[0].function.arguments) == ["{\"a\":\"1\"}", "{\"a\":1.0}", "a", "{}"]' out
}

@test "arguments are found under the names that they have, never taken for none" {
	prep d <<-'END'
		{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","args":{"x":1},"arguments":null,"type":"tool_call"},{"name":"g","input":{"y":2}},{"name":"h","parameters":{"z":3}},{"name":"i"}]}]}
	END
	holds '[.messages[1].tool_calls[].function.arguments] == ["{\"x\":1}", "{\"y\":2}", "{\"z\":3}", "{}"]' out
}

@test "vllm-project/speculators#561: tool messages, calls and ids are kept" {
	prep openai <<<'{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_7","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_7","content":"r"},{"role":"assistant","content":"d"}]}'
	holds '[.messages[].role] == ["user", "assistant", "tool", "assistant"]' out
	holds '.messages[1].tool_calls[0].id == "call_7" and .messages[2].tool_call_id == "call_7"' out
}

@test "lightseekorg/TorchSpec#115: an opener that was part of the prompt is restored, unbalanced tags are counted" {
	prep A2_kimik25 <<-'END'
		{"problem":"p","solution":"why</think>so"}
		{"messages":[{"role":"user","content":"p"},{"role":"assistant","content":"so","reasoning":"why"}]}
		{"problem":"p","solution":"<think>why"}
	END
	jq -se 'map(.messages[1] | [.content, .reasoning_content]) == [["so", "why"], ["so", "why"], ["<think>why", null]]' out
	holds '.counts | .["think-opener"] == 1 and .["think-unbalanced"] == 1 and .["think-left"] == 1' stats
	prep A2_kimik25 <<-'END'
		{"problem":"p","thinking":"why","solution":"<think>how</think>so"}
		{"problem":"p","thinking":"why","solution":"<think> why </think>so"}
		{"problem":"p","thinking":"","solution":"<think>how</think>so"}
		{"problem":"p","solution":"\n<think>how</think>so"}
	END
	jq -se 'map(.messages[1] | [.content, .reasoning_content]) == [["<think>how</think>so", "why"],
		["so", "why"], ["so", "how"], ["\n<think>how</think>so", null]]' out
	holds '.counts["think-left"] == 2 and .counts.repaired == null' stats
}

@test "a result without an id is that of a call of its name, and none is that of two" {
	prep d <<-'END'
		{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"name":"f"},{"name":"g"},{"name":"f"}]},{"role":"tool","name":"g","content":"1"},{"role":"tool","name":"f","content":"2"},{"role":"tool","name":"x","content":"3"}]}
		{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","name":"f"},{"id":"2","name":"g"}]},{"role":"tool","tool_call_id":"2","content":"1"},{"role":"tool","content":"2"},{"role":"tool","content":"3"},{"role":"tool","tool_call_id":"1","content":"4"}]}
	END
	jq -se 'map([.messages[2:][] | [.content, .tool_call_id, .name]]) == [
		[["1", "functions.g:1", "g"], ["2", "functions.f:0", "f"], ["3", "functions.f:2", "x"]],
		[["1", "2", "g"], ["2", "1", "f"], ["3", null, null], ["4", "1", "f"]]]' out
}

@test "NVIDIA/Model-Optimizer#1751, #1680: the turns are in messages, not in prompt" {
	prep B6_ultrachat <<<'{"prompt":"a","prompt_id":"f","messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"},{"content":"c","role":"user"},{"content":"d","role":"assistant"}]}'
	holds '[.messages[].content] == ["a", "b", "c", "d"]' out
}

@test "huggingface/transformers#45419, #45348: content is always there, arguments are text or objects as asked" {
	row='{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","content":null}]}'
	prep openai <<<"$row"
	holds '.messages[1].content == "" and .messages[2].content == ""' out
	holds '.messages[1].tool_calls[0].function.arguments == "{\"a\": 1}"' out
	prep openai --arguments object <<<"$row"
	holds '.messages[1].tool_calls[0].function.arguments == {a: 1}' out
}

@test "NousResearch/atropos#478: an apostrophe in quoted arguments costs no call" {
	prep B1_glaive <<'END'
{"system":"","chat":"USER: a\n\n\nASSISTANT: <functioncall> {\"name\": \"f\", \"arguments\": '{\"who\": \"O'Neill's\"}'} <|endoftext|>"}
END
	holds '.messages[1].tool_calls[0].function.arguments | fromjson == {who: "O'"'"'Neill'"'"'s"}' out
}

@test "SWE-bench/SWE-smith#58: messages in a string, and no tool schema" {
	prep swe-smith <<<'{"messages":"[{\"role\":\"user\",\"content\":\"\\u00e9 true\"}]","instance_id":"i"}'
	holds '.messages == [{role: "user", content: "é true"}] and (has("tools") | not)' out
}

@test "definitions that stand in the system message are the tools" {
	prep d <<-'END'
		{"messages":[{"role":"system","content":"","tools":[{"name":"f"}]},{"role":"user","content":"a","tools":[{"name":"no"}]}]}
		{"messages":[{"role":"system","content":"s","tools":"[{\"name\":\"f\"}]"},{"role":"user","content":"a"}],"tools":[{"name":"g"}]}
		{"messages":[{"role":"system","content":"s","tools":[]},{"role":"user","content":"a"}],"tools":[{"name":"g"}]}
		{"messages":[{"role":"system","content":"s","tools":[1]},{"role":"user","content":"a"}]}
	END
	jq -se 'map([.tools[].function.name]) == [["f"], ["f"], ["g"]]' out
	holds '.reject.reason == "messages[0].tools[0]: expected a tool definition that has a name"' rejects
}

@test "SWE-agent/SWE-agent#1130: a tool description that is not there is not invented" {
	prep B8_sweagent <<<'{"instance_id":"i","trajectory":[{"role":"system","system_prompt":"SETTING","text":null},{"role":"user","text":"x"}]}'
	holds '.messages[0].content == "SETTING" and (has("tools") | not)' out
}

@test "openai/tiktoken#82: half a surrogate pair becomes U+FFFD and is counted" {
	prep B7_sharegpt <<<'{"conversations":[{"from":"human","value":"a \ud83d b"},{"from":"gpt","value":"\ude00"}]}'
	holds '[.messages[].content] == ["a � b", "�"]' out
	holds '.counts.surrogate == 2' stats
}

@test "aqlaboratory/openfold-3#167, ICRAR/ijson#139: NaN costs nothing where it is not needed, else names its place" {
	prep B2_opencodeinstruct <<-'END'
		{"input":"a","output":"b","average_test_score":NaN}
		{"input":NaN,"output":"b"}
	END
	holds '.messages[0].content == "a" and .meta.average_test_score == null' out
	holds '.reject.class == "missing" and .reject.line == 2 and (.reject.reason | startswith("input"))' rejects
}

@test "MoonshotAI/kimi-cli#1616, bytedance/deer-flow#3043: reasoning stays beside calls, also an empty one" {
	prep openai <<<'{"messages":[{"role":"user","content":"x"},{"role":"assistant","reasoning_content":"why","tool_calls":[{"function":{"name":"f"}}]},{"role":"tool","content":"1"},{"role":"assistant","reasoning_content":"","tool_calls":[{"function":{"name":"f"}}]},{"role":"tool","content":"2"},{"role":"assistant","content":"d","reasoning_content":""}]}'
	holds '[.messages[] | select(.role == "assistant") | .reasoning_content] == ["why", "", null]' out
}

@test "OpenHands#6830, SWE-Gym#9: empty messages and odd orders end a conversation, and are counted" {
	prep swe-rebench <<-'END'
		{"instance_id":"i","trajectory":[{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":"b"}]}
		{"instance_id":"i","trajectory":[{"role":"assistant","content":"z"},{"role":"user","content":"a"},{"role":"tool","content":"r"}]}
	END
	jq -se 'map(.messages | map(.content)) == [["a"], ["a"]]' out
	holds '.counts | .["empty-cut"] == 1 and .lead == 1 and .["order-cut"] == 1' stats
}

@test "what belongs behind a question is put there or missed, never left out" {
	prep d --format alpaca <<-'END'
		{"instruction":"a","input":5,"output":"c"}
		{"instruction":"a","input":["b"],"output":"c"}
		{"instruction":"a","input":null,"output":"c"}
		{"instruction":"a","input":"","output":"c"}
		{"instruction":"a","input":"b","output":"c"}
	END
	[ "$(jq -r .reject.reason rejects | tr '\n' ';')" = "input: expected a string, not a number;input: expected a string, not an array;" ]
	jq -se 'map(.messages[0].content) == ["a", "a", "a\nb"]' out
	prep d <<-'END'
		{"instruction":"a","context":"b","response":"c"}
		{"instruction":"a","input":"b\u0000","context":"c\n","output":"d"}
		{"question":"a","context":"CREATE TABLE b","answer":"c"}
		{"input":"a","context":"","output":"c"}
		{"question":"a","context":{"b":1},"answer":"c"}
		{"instruction":"","input":"a\nb","output":"c"}
	END
	jq -se 'map(.messages[0].content) == ["a\nb", "a\nb\u0000\nc\n", "a\nCREATE TABLE b", "a", "a\nb"]' out
	holds '.reject.reason == "context: expected a string, not an object"' rejects
	prep d <<-'END'
		{"instruction":"e","input":"f","output":"g","history":[["a","b"],["c","d"]]}
		{"query":"c","response":"d","history":[["a","b"]],"system":"s"}
		{"instruction":"a","output":"b","history":[]}
		{"instruction":"c","output":"d","history":[["a",""]]}
		{"prompt":"a","response":"b","history":[["a"]]}
		{"prompt":"a","response":"b","history":[["a","b",1]]}
		{"prompt":"a","response":"b","history":[{"a":"b"}]}
		{"prompt":"a","response":"b","history":"a"}
	END
	jq -se 'map([.messages[].content]) ==
		[["a", "b", "c", "d", "e\nf", "g"], ["s", "a", "b", "c", "d"], ["a", "b"], ["a"]]' out
	jq -se 'map(.reject.reason) == ["history[0]: expected a list of two strings",
		"history[0]: expected a list of two strings", "history[0]: expected a list of two strings",
		"history: expected an array, not a string"]' rejects
}

@test "a query is answered by calls or, as in MetaMathQA, by a text" {
	prep d --mode native <<-'END'
		{"query":"a","response":"b","original_question":"c"}
		{"query":"a","answers":"[{\"name\":\"f\",\"arguments\":{}}]","response":"b"}
		{"query":"a"}
	END
	jq -se 'map(.messages[1] | [.content, (.tool_calls | length)]) == [["b", 0], ["", 1]]' out
	holds '.reject.reason == "solution: missing"' rejects
}

@test "of several columns, or members of a message, for one thing the first with a text counts" {
	prep A2_kimik25 <<<'{"problem":"a","solution":"","answer":"b","thinking":"","reasoning":"why"}'
	holds '.messages[1] | .content == "b" and .reasoning_content == "why"' out
	prep d --format problem <<<'{"problem":"a","solution":null,"answer":"","system":"","system_prompt":"s"}'
	holds '[.messages[].content] == ["s", "a"]' out
	prep B8_sweagent <<<'{"trajectory":[{"role":"system","system_prompt":"s","text":""},{"from":"user","role":"","content":"","text":"a"},{"role":"ai","content":"","text":null}]}'
	holds '[.messages[].content] == ["s", "a"]' out
}

@test "a native answer that is no whole turn gets weight 0, and is counted" {
	prep d --mode native <<-'END'
		{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}]}
		{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}
	END
	jq -se 'map(.messages[1].weight) == [0, 1]' out
	holds '.counts | .["cut-answer"] == 1 and .["order-cut"] == 1 and .repaired == 1' stats
}
