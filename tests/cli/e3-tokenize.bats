#!/usr/bin/env bats
# e3-tokenize: records in, ids and masks out; what is refused; plain text; --show.

load holds

setup() {
	PATH=$E3_BIN:$PATH
	model=$BATS_TEST_DIRNAME/../../pipelines/demo/model
	cd "$BATS_TEST_TMPDIR"
}

tok() {
	e3-tokenize -q --model "$model" "$@"
}

# conv ID [MEMBERS]: two turns with reasoning, so two records
conv() {
	printf '{"id":"%s","dataset":"d","messages":[{"role":"user","content":"What is 2+2?"},{"role":"assistant","reasoning_content":"Simple sum.","content":"4"},{"role":"user","content":"And 3+3?"},{"role":"assistant","reasoning_content":"Again.","content":"6"}]%s}\n' "$1" "${2-}"
}

# short ID [MEMBERS]: one turn
short() {
	printf '{"id":"%s","dataset":"d","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]%s}\n' "$1" "${2-}"
}

# supervised FILE: the supervised text of each record, a line each
supervised() {
	jq -c '[.input_ids, .loss_mask] | transpose | map(select(.[1] == 1)[0])' "$1" | tok --decode
}

@test "a record has ids, mask and counts" {
	short a/1 | tok >out
	[ "$(jq -r '[.id, .dataset] | @csv' out)" = '"a/1","d"' ]
	[ "$(jq -r keys_unsorted[] out | tr '\n' ' ')" = "id dataset input_ids loss_mask seq_len n_prompt_tokens n_response_tokens " ]
	holds '(.input_ids | length) == .seq_len and (.loss_mask | length) == .seq_len' out
	holds '.n_prompt_tokens + .n_response_tokens == .seq_len' out
	holds '(.loss_mask | add) == .n_response_tokens' out
	[ "$(supervised out)" = "</think>ho<|im_end|>" ]
}

@test "turns whose history changes become records of their own" {
	conv a/1 | tok >out
	[ "$(jq -r .id out | tr '\n' ' ')" = "a/1#turn1 a/1#turn2 " ]
	[ "$(supervised out)" = "Simple sum.</think>4<|im_end|>
Again.</think>6<|im_end|>" ]
}

@test "the prompt is what the server is sent" {
	conv a/1 | tok --last-turn-only >out
	jq -c '.input_ids[:.n_prompt_tokens]' out | tok --decode >prompt
	[ "$(cat prompt)" = "<|im_user|>user<|im_middle|>What is 2+2?<|im_end|><|im_assistant|>assistant<|im_middle|><think></think>4<|im_end|><|im_user|>user<|im_middle|>And 3+3?<|im_end|><|im_assistant|>assistant<|im_middle|><think>" ]
	[ "$(jq -r .id out)" = a/1 ]
}

@test "the same bytes at any number of threads" {
	for i in $(seq 300); do conv "a/$i"; done >in
	tok -j1 in >one
	tok -j4 in >four
	cmp one four
	[ "$(wc -l <one)" -eq 600 ]
}

@test "masks: no-eot, after-first-user, all" {
	short a | tok --mask no-eot >out
	[ "$(supervised out)" = "</think>ho" ]
	conv a | tok --mask after-first-user >out
	[ "$(tail -n 1 out >last; supervised last)" = "</think>4<|im_end|><|im_user|>user<|im_middle|>And 3+3?<|im_end|><|im_assistant|>assistant<|im_middle|><think>Again.</think>6<|im_end|>" ]
	short a | tok --mask all >out
	holds '.n_prompt_tokens == 0' out
}

@test "--extend-left takes the token before each answer too" {
	echo '{"id":"a","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"},{"role":"user","content":"r"},{"role":"assistant","content":"y"}]}' >in
	tok in >as
	tok --extend-left in >left
	[ "$(supervised as)" = "</think>x<|im_end|></think>y<|im_end|>" ]
	[ "$(supervised left)" = "<think></think>x<|im_end|><think></think>y<|im_end|>" ]
	holds '(.loss_mask | add) == .n_response_tokens and .n_prompt_tokens + .n_response_tokens == .seq_len' left
}

@test "a line that is too long is a reject" {
	{ short a; short b ",\"meta\":\"$(printf '%05000d' 0)\""; short c; } >in
	tok --max-line 1K --rejects bad in >out
	[ "$(jq -r .id out | tr '\n' ' ')" = "a c " ]
	holds '.reject.line == 2' bad
}

@test "weight 0 is context; nothing supervised is dropped and counted" {
	echo '{"id":"z","messages":[{"role":"user","content":"q"},{"role":"assistant","weight":0,"content":"a"}]}' >in
	short a >>in
	tok --stats stats in >out
	[ "$(wc -l <out)" -eq 1 ]
	holds '.in == 2 and .out == 1 and .dropped == 1 and .reasons.unsupervised == 1' stats
}

@test "nothing supervised in the whole input is an error, and no output appears" {
	echo '{"id":"z","messages":[{"role":"user","content":"q"}]}' >in
	run tok -o out in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-tokenize: nothing to train on in the whole input: 1 in = 0 out + 1 dropped (unsupervised 1); prompts, which are unsupervised, want e3-infer first" ]
	run tok --max-len 3 < <(conv a)
	[ "$output" = "e3-tokenize: nothing to train on in the whole input: 1 in = 0 out + 1 dropped (long 1)" ]
	[ ! -e out ]
	echo '{"id":7}' >in
	run tok -o out --rejects bad in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-tokenize: nothing to train on in the whole input: 1 in = 0 out + 1 rejected (type 1)" ]
}

@test "empty input is an empty output" {
	tok </dev/null >out
	[ ! -s out ]
}

@test "--max-len drops, or cuts ids and mask together" {
	{ short a; conv b; } >in
	n=$(tok in | head -n 1 | jq .seq_len)
	tok --max-len "$n" --stats stats in >out
	[ "$(jq -r .id out)" = a ]
	holds '.reasons.long == 1 and .counts.long_sequences == null' stats
	tok --max-len "$((n - 1))" --on-long truncate in >out
	holds '(.input_ids | length) == .seq_len and (.loss_mask | length) == .seq_len' out
	[ "$(head -n 1 out | jq .seq_len)" -eq "$((n - 1))" ]
	[ "$(head -n 1 out >first; supervised first)" = "</think>ho" ]
}

@test "a cut that leaves nothing supervised drops the record" {
	{ short a; short b; } | tok --max-len 3 --on-long truncate --rejects r >out || status=$?
	[ "$status" -eq 1 ]
	[ ! -s out ]
}

@test "served ids are used as they are" {
	short a ',"generations":[{"message":1,"output_ids":[1,2,3],"prompt_token_ids":[7,8]}]' | tok >out
	[ "$(jq -c '[.input_ids, .loss_mask]' out)" = "[[7,8,1,2,3],[0,0,1,1,1]]" ]
}

@test "served ids and --mask: all takes none of them, after-first-user no foreign prompt" {
	short a >in
	short a ',"generations":[{"message":1,"output_ids":[1,2,3],"prompt_token_ids":[7,8]}]' >served
	tok --mask all in >want
	tok --mask all served | cmp - want
	tok --mask after-first-user served >out
	[ "$(jq -c '[.input_ids, .loss_mask]' out)" = "[[7,8,1,2,3],[0,0,1,1,1]]" ]
}

@test "--check-drift counts by dataset" {
	short a ',"generations":[{"message":1,"output_ids":[60,116,104]}]' >in
	run e3-tokenize --model "$model" --check-drift --stats stats -o out in
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "e3-tokenize: 1 in = 1 out" ]
	[ "${lines[1]}" = "e3-tokenize: drift: d: 1 records with served ids, 1 answers and 0 prompts that encode to others" ]
	holds '.drift.d.records == 1' stats
}

@test "--check-drift counts what is written, and writes no record's words to a terminal" {
	gen=',"generations":[{"message":1,"output_ids":[60,116,104],"prompt_token_ids":[7]}]'
	{
		short a "$gen"
		short a "$gen"
		short b "$gen" | jq -c '.dataset = "\u001b[31m\u0000"'
		short c "$gen" | jq -c 'del(.dataset)'
		short d "${gen/60/$(seq -s, 100)}"
		short e
	} >in
	run e3-tokenize --model "$model" --check-drift --max-len 50 --rejects bad --stats stats -o out in
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[ "${lines[1]}" = "e3-tokenize: drift: (no dataset): 1 records with served ids, 1 answers and 1 prompts that encode to others" ]
	[ "${lines[2]}" = "e3-tokenize: drift: ?[31m: 1 records with served ids, 1 answers and 1 prompts that encode to others" ]
	[ "${lines[3]}" = "e3-tokenize: drift: d: 1 records with served ids, 1 answers and 1 prompts that encode to others" ]
	holds '.rejected == 1 and .dropped == 1 and .out == 4' stats
	holds '.counts.answer_drift == ([.drift[].answers] | add) and .counts.prompt_drift == ([.drift[].prompts] | add)' stats
	tok --check-drift --max-len 50 --rejects bad in | cmp - out
}

@test "--check-drift: the datasets after the first 100 are counted together" {
	for i in $(seq 103); do short "$i" ',"generations":[{"message":1,"output_ids":[60,116,104]}]' | sed "s/\"d\"/\"d$i\"/"; done >in
	tok --check-drift --stats stats -j3 in >out
	holds '.drift | length == 101 and .["(others)"].records == 3 and (has("d101") | not) and has("d100")' stats
	[ "$(wc -l <out)" -eq 103 ]
	e3-tokenize --model "$model" --check-drift in 2>&1 >again | tail -n 1 >err
	[ "$(cat err)" = "e3-tokenize: drift: (others): 3 records with served ids, 3 answers and 0 prompts that encode to others" ]
	cmp again out
}

@test "ids of the embedding's padding are drift; who wants their text is told which they are" {
	cp -r "$model" padded
	n=$(jq .vocab_size padded/config.json)
	jq '.vocab_size += 8' "$model/config.json" >padded/config.json
	short a ",\"generations\":[{\"message\":1,\"output_ids\":[60,$((n + 7))],\"prompt_token_ids\":[7,8,9]}]" >in
	e3-tokenize -q --model padded --check-drift --stats stats in >out
	[ "$(jq -c .input_ids out)" = "[7,8,9,60,$((n + 7))]" ]
	holds '.drift.d == {records: 1, answers: 1, prompts: 1}' stats
	for f in in out; do
		run e3-tokenize -q --model padded --show $f
		[ "$status" -eq 1 ]
		[[ "$output" == "e3-tokenize: $f:1: input_ids[4]: there is no token $((n + 7)) "* ]]
	done
	run e3-tokenize -q --model padded --decode <<<"[7,$((n + 7))]"
	[ "$output" = "e3-tokenize: standard input:1: ids[1]: there is no token $((n + 7))" ]
}

@test "--keep carries members over byte for byte" {
	short a ',"meta":{"x":1.50},"n":12345678901234567890' | tok --keep meta,n,none >out
	[[ "$(cat out)" == *',"meta":{"x":1.50},"n":12345678901234567890}' ]]
}

@test "bad records: the place is named, the exit status is 1" {
	printf '%s\n' "$(short a)" '{"id":"b","messages":[{"role":5}]}' >in
	run tok in
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "e3-tokenize: in:2: messages[0].role: expected a string, not a number (--rejects FILE puts bad records there and goes on)" ]
}

@test "a JSON array, or an object over several lines, is told apart from a bad record" {
	{ short a; short b; } | jq -s . >in
	run tok in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-tokenize: in: a JSON array, where a record is a line: make lines of it with jq -c '.[]'" ]
	jq -c '.[]' in | tok >out
	[ "$(wc -l <out)" -eq 2 ]
	run bash -c "jq -c . in | e3-tokenize -q --model '$model'"
	[ "$output" = "e3-tokenize: standard input: a JSON array, where a record is a line: make lines of it with jq -c '.[]'" ]
	short a | jq . >in
	run tok in
	[ "$output" = "e3-tokenize: in: an object over several lines, where a record is one line: make lines of it with jq -c ., or .KEY[] for a list inside" ]
	jq -c . in | tok >out
	[ "$(wc -l <out)" -eq 1 ]
}

@test "counts that contradict the served ids are a reject, and so is a weight that is no number" {
	{
		short a ',"generations":[{"message":1,"completion_tokens":3,"prompt_tokens":2,"output_ids":[1,2,3],"prompt_token_ids":[7,8]}]'
		short b ',"generations":[{"message":1,"completion_tokens":4,"output_ids":[1,2,3]}]'
		short c ',"generations":[{"message":1,"prompt_tokens":1,"prompt_token_ids":[7,8],"output_ids":[1]}]'
		short d ',"generations":[{"message":1,"completion_tokens":4,"prompt_tokens":9}]'
		short e | jq -c '.messages[1].weight = true'
		short f | jq -c '.messages[1].weight = null'
	} | tok --rejects bad >out
	[ "$(jq -r .id out | tr '\n' ' ')" = "a d f " ]
	[ "$(jq -r '.reject | .class + " " + .reason' bad)" = "range generations[0].completion_tokens: 4, but there are 3 ids
range generations[0].prompt_tokens: 1, but there are 2 ids
weight messages[1].weight: expected the number 0 or 1" ]
}

@test "rejects or statistics in the place of an input are refused" {
	short a >in
	cp in kept
	ln -s in link
	for o in --rejects=in --stats=./in --rejects=link; do
		run tok "$o" -o out in
		[ "$status" -eq 2 ]
		[[ "$output" == *"is an input too"* ]]
		status=0
		tok "$o" <in >out || status=$?
		[ "$status" -eq 2 ]
		cmp in kept
	done
}

@test "--rejects takes them with their reasons, and nothing is lost" {
	{
		short a
		echo '{"id":"b","messages":[{"role":5}]}'
		echo '{"messages":[]}'
		echo '{"id":"d","messages":'
		echo '[1]'
		printf '{"id":"e\xff"}\n'
		printf '\0\n'
		short a
		echo '{"id":"f","messages":{}}'
		echo '{"id":"g"}'
		printf '{"id":"h","messages":[],"id":7}\n'
	} >in
	tok --rejects bad --stats stats in >out
	[ "$(wc -l <out)" -eq 1 ]
	holds '.in == 11 and .out == 1 and .rejected == 10' stats
	jq -r '.reject | "\(.line) \(.class)"' bad >classes
	[ "$(tr '\n' ',' <classes)" = "2 type,3 missing,4 json,5 type,6 utf8,7 json,8 duplicate,9 type,10 missing,11 type," ]
	holds -s 'any(.reject.line == 6 and (.raw_base64 | type) == "string")' bad
}

@test "CRLF, a BOM, blank lines and a missing last line end" {
	{ printf '\xef\xbb\xbf'; short a | sed 's/$/\r/'; printf '\r\n  \n'; short b | tr -d '\n'; } >in
	tok in >out
	[ "$(jq -r .id out | tr '\n' ' ')" = "a b " ]
}

@test "--invalid-utf8 replace" {
	printf '{"id":"a","messages":[{"role":"user","content":"x\xff\xc3"},{"role":"assistant","content":"y"}]}\n' >in
	run tok in
	[ "$status" -eq 1 ]
	tok --invalid-utf8 replace --stats stats in >out
	holds '.counts.utf8_replaced == 2' stats
	[[ "$(jq -c .input_ids out | tok --decode)" == *$'x\xef\xbf\xbd\xef\xbf\xbd<|im_end|>'* ]]
}

@test "special strings in content: parsed, counted, or text" {
	echo '{"id":"a","messages":[{"role":"user","content":"<|im_end|>"},{"role":"assistant","content":"y"}]}' >in
	tok --stats stats in >with
	holds '.counts.special_strings_in_content == 1' stats
	tok --no-special-in-content in >without
	[ "$(jq .seq_len with)" -lt "$(jq .seq_len without)" ]
	[ "$(jq -c .input_ids with | tok --decode)" = "$(jq -c .input_ids without | tok --decode)" ]
}

@test "--no-special-in-content leaves the template's own marks only, also beside tools and calls" {
	cat >in <<'EOF'
{"id":"a","messages":[{"role":"user","content":"q<|im_end|>"},{"role":"assistant","content":"","tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":{"x":"<|im_end|>"}}}]},{"role":"tool","tool_call_id":"functions.f:0","content":"<|im_end|>"},{"role":"assistant","content":"ok"}],"tools":[{"type":"function","function":{"name":"f","description":"<|im_end|>","parameters":{"type":"object","properties":{"x":{"oneOf":["<|im_end|>"]}}}}}]}
EOF
	end=$(echo '<|im_end|>' | tok --text | tr -d '[]')
	tok in >with
	tok --no-special-in-content in >without
	ends() { tail -n 1 "$1" | jq ".input_ids | map(select(. == $end)) | length"; }
	[ "$(ends with)" -eq 10 ]
	[ "$(ends without)" -eq 5 ]
}

@test "a token over the border of prompt and answer: never in what was served, in one rendering by its first byte" {
	echo "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% else %} th{{ m.content }}{% endif %}<|im_end|>{% endfor %}{% if add_generation_prompt %} th{% endif %}" >t.jinja
	echo '{"id":"a","messages":[{"role":"user","content":"s"},{"role":"assistant","weight":0,"content":"e cat"},{"role":"user","content":"t"},{"role":"assistant","content":"e cat"}]}' >in
	# pieces MASK: each token with its mask
	pieces() {
		tok --template t.jinja --mask "$1" in | jq -c '[.input_ids, .loss_mask] | transpose[]' |
		    while IFS=, read -r id bit; do echo "$(echo "$id]" | tok --decode)=${bit%]}"; done | tr '\n' ','
	}
	[ "$(pieces served)" = "s=0,<|im_end|>=0, the=0, c=0,at=0,<|im_end|>=0,t=0,<|im_end|>=0, th=0,e=1, c=1,at=1,<|im_end|>=1," ]
	[ "$(pieces all)" = "s=1,<|im_end|>=1, the=1, c=0,at=0,<|im_end|>=0,t=1,<|im_end|>=1, the=1, c=1,at=1,<|im_end|>=1," ]
}

@test "zstd in and out, stdin as -" {
	short a | zstd -q | tok -z - >out.zst
	zstd -dq <out.zst | holds ".seq_len > 0"
	short a | tok -o named.zst
	zstd -dq <named.zst | holds ".seq_len > 0"
}

@test "a full disk and a closed pipe are failures" {
	for i in $(seq 50); do conv "a/$i"; done >in
	run bash -c "e3-tokenize -q --model '$model' in >/dev/full"
	[ "$status" -eq 1 ]
	[[ "$output" == *"No space left"* ]]
	for i in $(seq 5000); do conv "b/$i"; done >in
	for o in "trap - PIPE;" "trap '' PIPE;" "set -- --show;" "set -- --text; trap '' PIPE;"; do
		run bash -c "$o set -o pipefail; e3-tokenize -q --model '$model' \$1 in | head -n 1 >/dev/null"
		[ "$status" -eq 141 ] || { echo "$o $status"; false; }
		[ -z "$output" ]
	done
}

@test "missing files and folders" {
	run tok nosuch.jsonl
	[ "$status" -eq 1 ]
	[[ "$output" == *"nosuch.jsonl"* ]]
	run e3-tokenize --model nosuch </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"nosuch"* ]]
	run tok --template nosuch.jinja
	[ "$status" -eq 1 ]
	[[ "$output" == *"nosuch.jinja: no such file"* ]]
}

@test "misuse is 2" {
	run e3-tokenize
	[ "$status" -eq 2 ]
	for o in "--mask some" "--nonsense" "--max-len 0" "--keep id" "--keep a,a" "--text --rejects r" "--pieces --decode" \
	    "--last-turn-only --mask all" "--check-drift --mask all" "--served-by me" "--on-long truncate"; do
		# shellcheck disable=SC2086
		run tok $o
		[ "$status" -eq 2 ]
	done
	for o in --show "--rejects f" "--stats f" --progress "--keep a" "--max-len 9" "--mask all" --last-turn-only --extend-left \
	    --check-drift "--template f" "--date 2025-01-01" "--served-by vllm"; do
		# shellcheck disable=SC2086
		run tok --count $o
		[ "$status" -eq 2 ]
		[ "${lines[0]}" = "e3-tokenize: ${o% *} is for records, not for plain text" ]
	done
	for o in "-o same --rejects same" "--rejects same --stats same"; do
		run tok $o in
		[ "$status" -eq 2 ]
	done
}

@test "another template can be given; a wrong one is an error" {
	echo '{% for m in messages %}{{ m.role }}{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}assistant{% endif %}' >t.jinja
	short a | tok --template t.jinja >out
	[ "$(jq -c .input_ids out | tok --decode)" = "userhi<|im_end|>assistantho<|im_end|>" ]
	for o in -o --stats --rejects; do
		run e3-tokenize --model "$model" --template t.jinja $o ./t.jinja </dev/null
		[ "$status" -eq 2 ]
		[[ "$output" == *"./t.jinja: is an input too; it would be lost"* ]]
	done
	echo '{{ messages[0].content }}' >t.jinja
	run bash -c "$(declare -f short); short a | e3-tokenize -q --model '$model' --template t.jinja"
	[ "$status" -eq 1 ]
}

@test "--date: a template that asks for the day must be given one" {
	echo '{{ strftime_now("%d %b %Y") }}{% for m in messages %}{{ m.role }}{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}assistant{% endif %}' >t.jinja
	run bash -c "$(declare -f short); short a | e3-tokenize -q --model '$model' --template t.jinja"
	[ "$status" -eq 1 ]
	[[ "$output" == *"asks for today's date, and none is given"* ]]
	short a | tok --template t.jinja --date 2024-02-29 >out
	[ "$(jq -c .input_ids out | tok --decode)" = "29 Feb 2024userhi<|im_end|>assistantho<|im_end|>" ]
	for d in 2023-02-29 2024-13-01 today 2024-1-1; do
		run tok --date "$d"
		[ "$status" -eq 2 ]
	done
}

@test "a turn that no rendering gives wants the ids that were sampled" {
	cat >open.jinja <<'EOF'
{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}
{%- if add_generation_prompt %}<|im_assistant|><think>{% endif %}
EOF
	run bash -c "$(declare -f tok short); model=$model; short a | tok --template open.jinja"
	[ "$status" -eq 1 ]
	[[ "$output" = *"messages[1]: "*"generations[].output_ids"* ]]
	ids=$(printf 'r</think>ho<|im_end|>' | tok --text)
	short a ",\"generations\":[{\"message\":1,\"output_ids\":$ids}]" | tok --template open.jinja >out
	[ "$(supervised out)" = "r</think>ho<|im_end|>" ]
}

@test "--show: what is supervised stands in brackets, turns on lines of their own" {
	conv a | tok --last-turn-only --show >out
	cat >want <<'EOF'
== a
<|im_user|>user<|im_middle|>What is 2+2?<|im_end|>
<|im_assistant|>assistant<|im_middle|><think></think>4<|im_end|>
<|im_user|>user<|im_middle|>And 3+3?<|im_end|>
<|im_assistant|>assistant<|im_middle|><think>⟦Again.</think>6<|im_end|>⟧
EOF
	head -n 5 out | cmp - want
	grep -q '^-- [0-9]* tokens: [0-9]* prompt, [0-9]* supervised in 1 span$' out
}

@test "--show of a prompt: what a server would be sent" {
	echo '{"id":"p","messages":[{"role":"user","content":"q"}]}' | tok --show >out
	cat >want <<'EOF'
== p
<|im_user|>user<|im_middle|>q<|im_end|>
<|im_assistant|>assistant<|im_middle|><think>
-- 9 tokens: 9 prompt, 0 supervised in 0 spans

EOF
	cmp out want
	# a recorded answer, which e3-infer would leave out
	tok --show <<<'{"id":"p","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","weight":0}]}' >out
	cmp out want
}

@test "--show: a line that goes on with what is supervised begins with a bar" {
	printf '%s\n' '{"id":"a","messages":[{"role":"user","content":"q\nr"},{"role":"assistant","content":"one\n\ntwo"}]}' |
	    tok --show >out
	cat >want <<'EOF'
== a
<|im_user|>user<|im_middle|>q↵
r<|im_end|>
<|im_assistant|>assistant<|im_middle|><think>⟦</think>one↵
│↵
│two<|im_end|>⟧
EOF
	head -n 6 out | cmp - want
}

@test "--show: turns of a family without an end-of-turn token begin a line" {
	cp -r "$model" glm
	# with the latter two, GLM's, a role's token is known to end the turn before too
	sed -i 's/<|im_user|>/<|user|>/; s/<|im_assistant|>/<|assistant|>/; s/\[EOT\]/[gMASK]/; s/<|im_system|>/<|observation|>/' glm/tokenizer_config.json
	ids=$(printf 'a<|user|>hi<|assistant|>ho' | e3-tokenize --model glm --text)
	echo "{\"id\":\"g\",\"input_ids\":$ids,\"loss_mask\":$(echo "$ids" | jq -c 'map(0)')}" |
	    e3-tokenize -q --model glm --show >out
	printf '== g\na\n<|user|>hi\n<|assistant|>ho\n' >want
	head -n 4 out | cmp - want
}

@test "--show: a turn ends with the token that the folder names, whatever its name" {
	cp -r "$model" own
	ids=$(printf 'a[EOT]b' | tok --text)
	jq ".eos_token_id = $(echo "$ids" | jq '.[1]')" "$model/generation_config.json" >own/generation_config.json
	echo "{\"id\":\"g\",\"input_ids\":$ids,\"loss_mask\":[0,0,0]}" | e3-tokenize -q --model own --show >out
	printf '== g\na[EOT]\nb\n' >want
	head -n 3 out | cmp - want
}

@test "--show reads tokenised records, and shows no control characters" {
	conv a | tok >ids
	conv a | tok --show >direct
	tok --show ids | cmp - direct
	echo '{"id":"e","messages":[{"role":"user","content":"\u001b[31m\nx"},{"role":"assistant","content":"y"}]}' |
	    tok --show >out
	grep -qF '\x1b[31m↵' out
	! grep -q $'\033' out || false
}

@test "plain text: ids a line, and back" {
	printf 'Hello world\n\nx  y\r\n你好' >in
	tok --text in >ids
	[ "$(wc -l <ids)" -eq 4 ]
	[ "$(sed -n 2p ids)" = "[]" ]
	[ "$(tok --decode ids)" = $'Hello world\n\nx  y\n你好' ]
}

@test "plain text: the same at any number of threads, over block edges" {
	for i in $(seq 20000); do echo "line $i of some text, and more of it to fill the block"; done >in
	tok --text -j1 in >one
	tok --text -j3 in >three
	cmp one three
	[ "$(wc -l <one)" -eq 20000 ]
	tok --decode one | cmp - in
	[ "$(tok --count in)" = "$(printf '{"texts":20000,"bytes":%d,"tokens":%d}' "$(($(wc -c <in) - 20000))" "$(tr -cd ,'\n' <one | wc -c)")" ]
}

@test "plain text: --whole is one text, with its line feeds" {
	printf 'a\n\nb\n' >in
	[ "$(tok --whole in | tok --decode --whole | od -An -c)" = "$(od -An -c in)" ]
	[ "$(tok --whole --count in)" = "$(printf '{"texts":1,"bytes":5,"tokens":%d}' "$(tok --whole in | jq length)")" ]
	[ "$(printf '' | tok --whole)" = "[]" ]
}

@test "plain text: a BOM at the start of a file is no text, but in a file that is one text" {
	printf '\xef\xbb\xbfHello\n\xef\xbb\xbfx\n' >in
	printf 'Hello\n' | tok --text >hello
	printf '\xef\xbb\xbfx\n' | tok --whole >later
	tok --text in in >out
	[ "$(sed -n 1p out)" = "$(cat hello)" ]
	[ "$(sed -n 3p out)" = "$(cat hello)" ]
	[ "$(sed -n 2p out | tok --decode | od -An -c)" = "$(printf '\xef\xbb\xbfx\n' | od -An -c)" ]
	[ "$(tok --decode --whole later | od -An -c)" = "$(printf '\xef\xbb\xbfx\n' | od -An -c)" ]
	{ printf '\xef\xbb\xbf'; cat hello; } >ids
	[ "$(tok --decode ids)" = Hello ]
	[ "$(tok --decode --whole ids)" = Hello ]
}

@test "plain text: --pieces" {
	[ "$(echo 'a<|im_end|>' | tok --pieces)" = '["a","<|im_end|>"]' ]
	echo 'Hello, world!' | tok --pieces | holds 'join("") == "Hello, world!"'
	echo 'a<|im_end|>' | tok --pieces --no-special-in-content | holds 'join("") == "a<|im_end|>" and length > 2'
}

@test "plain text: bad bytes have a place" {
	printf 'good\nba\xffd\n' >in
	run tok --text in
	[ "$status" -eq 1 ]
	[[ "$output" == "e3-tokenize: in:2: "* ]]
	tok --text --invalid-utf8 replace in | tok --decode >out
	[ "$(sed -n 2p out)" = $'ba\xef\xbf\xbdd' ]
	echo '[1,99999999]' >ids
	run tok --decode ids
	[ "$status" -eq 1 ]
	[[ "$output" == "e3-tokenize: ids:1: "* ]]
}

@test "plain text: --decode takes one array a line, or a file, and nothing else is lost" {
	printf ' [72 ,101]\t\n[]\n' >in
	[ "$(tok --decode in | od -An -c)" = "$(printf '%s\n\n' "$(echo '[72,101]' | tok --decode)" | od -An -c)" ]
	printf '\n[72,\n101] \n' >in
	[ "$(tok --decode --whole in)" = "$(echo '[72,101]' | tok --decode)" ]
	for bad in '[72][101]' '[72] 101' '[72' '[72]]' '' ' '; do
		echo "$bad" >in
		run tok --decode in
		[ "$status" -eq 1 ]
		[ "$output" = "e3-tokenize: in:1: expected an array of integers and nothing else" ]
		printf %s "$bad" >in
		run tok --decode --whole in
		[ "$status" -eq 1 ]
		[ "$output" = "e3-tokenize: in: expected an array of integers and nothing else" ]
	done
	printf '[72]\n[101]\n' >in
	run tok --decode --whole in
	[ "$output" = "e3-tokenize: in: expected an array of integers and nothing else" ]
	echo '{"input_ids":[72]}' >in
	run tok --decode in
	[ "$output" = "e3-tokenize: in:1: ids: expected an array of integers, not an object" ]
}

@test "plain text: no output in the place of an input, and none that can't be written, before the work" {
	echo hello >in
	cp in kept
	ln -s in link
	for mode in --text --whole --count --pieces --decode; do
		for to in in ./in link; do
			run tok $mode -o $to in
			[ "$status" -eq 2 ]
			[ "$output" = "e3-tokenize: $to: is an input too; it would be lost: name another file" ]
			status=0
			tok $mode -o $to <in 2>/dev/null || status=$?
			[ "$status" -eq 2 ]
		done
		# neither input nor tokenizer were looked at
		run e3-tokenize -q --model none $mode -o none/out none
		[ "$status" -eq 1 ]
		[ "$output" = "e3-tokenize: none/out: no file can be made in none: No such file or directory" ]
		run e3-tokenize -q --model none $mode in missing
		[ "$status" -eq 1 ]
		[ "$output" = "e3-tokenize: missing: No such file or directory" ]
	done
	cmp in kept
	tok --text -o out in
	tok --decode out | cmp - in
}

@test "plain text: a line is as long as --max-line at most, and no more of it is read" {
	for limit in 10 300000; do
		for end in '' '\n' '\r\n'; do
			printf "hi\n%0${limit}d$end" 1 >in
			[ "$(tok --max-line $limit --text in | wc -l)" -eq 2 ]
			printf "hi\n%0$((limit + 1))d$end" 1 >in
			run tok --max-line $limit --text -o never in
			[ "$status" -eq 1 ]
			[ "$output" = "e3-tokenize: in:2: the line is longer than $limit bytes (--max-line)" ]
		done
		[ "$(tok --max-line $limit --whole --count in | jq .texts)" -eq 1 ]
	done
	# a line without an end
	run bash -c 'timeout 60 e3-tokenize --model "$0" --max-line 1M --text </dev/zero' "$model"
	[ "$output" = "e3-tokenize: standard input:1: the line is longer than 1048576 bytes (--max-line)" ]
	[ ! -e never ]
}

@test "the manual's examples work" {
	ln -s "$model" model
	{ conv a; short b; } >in.jsonl
	sed -n 's/^\$ //p' "$BATS_TEST_DIRNAME/../../man/e3-tokenize.1" >examples
	[ "$(wc -l <examples)" -eq 7 ]
	set -o pipefail
	while read -r line; do
		bash -o pipefail -c "$line" >out </dev/null
		[ -s out ] || [ -s ids.jsonl ]
	done <examples
}

@test "a hostile tokenizer file: its name and place, in little memory and no time" {
	mkdir m
	json() { printf '{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE",%s},"added_tokens":[%s]}' "$1" "$2" >m/tokenizer.json; }
	# refused FILE MESSAGE
	refused() {
		local limit='ulimit -v 250000;'
		case $E3_BUILD in *asan* | *tsan*) limit= ;; esac
		run timeout 60 bash -c "$limit echo a | e3-tokenize --no-cache --model m --text"
		[ "$status" -eq 1 ]
		[[ $output == "e3-tokenize: m/$1"* && $output == *"$2"* ]] || { echo "got '$output', want '$2'"; return 1; }
	}
	truncate -s 2G m/tokenizer.json
	refused tokenizer.json: "more than 268435456 bytes"
	{ printf '{"model":'; head -c 1000000 /dev/zero | tr '\0' '['; } >m/tokenizer.json
	refused tokenizer.json: "more than 2048 levels deep"
	head -c 1000 "$model/tokenizer_config.json" >m/tokenizer.json
	refused tokenizer.json: "not JSON: it ends at byte 1000"
	json '"vocab":{"a":0,"b":16777216},"merges":[]'
	refused tokenizer.json: "token id 16777216: too high for 2 tokens"
	json '"vocab":{"a":0,"b":0},"merges":[]'
	refused tokenizer.json: "token id 0 stands twice"
	json '"vocab":{"a":0,"b":1e3},"merges":[]'
	refused tokenizer.json: "model.vocab.b: expected an id up to 16777216, not 1e3"
	json '"vocab":[],"merges":[]'
	refused tokenizer.json: "model.vocab: expected a JSON object"
	json '"vocab":{"a":0},"merges":["a zz"]'
	refused tokenizer.json: "model.merges[0]: 'a' and 'zz': the second is not in the vocabulary"
	json '"vocab":{"a":0},"merges":[]' '{"id":7,"content":"<x>"}'
	refused tokenizer.json: "added_tokens[0]: the id is 7, but tokenizers takes"
	json '"vocab":{"a":0},"merges":[]'
	{ printf '{"a":'; head -c 100000 /dev/zero | tr '\0' '['; } >m/tokenizer_config.json
	refused tokenizer_config.json:1: "maximum parsing depth"
	echo '{"added_tokens_decoder":{"1":{"content":5}}}' >m/tokenizer_config.json
	refused tokenizer_config.json: "added_tokens_decoder.1: expected an id and an object with content"

	# names of added tokens, wherever they stand
	local name half
	half=$(head -c 4194304 /dev/zero | tr '\0' x) name=${half}${half}x
	echo "{\"added_tokens_decoder\":{\"1\":{\"content\":\"$name\"}}}" >m/tokenizer_config.json
	refused tokenizer_config.json: "names of added tokens of more than 8388608 bytes"
	echo "{\"eos_token\":\"$name\"}" >m/tokenizer_config.json
	refused tokenizer_config.json: "names of added tokens of more than 8388608 bytes"
	echo "{\"extra_special_tokens\":{\"a\":\"$name\"}}" >m/tokenizer_config.json
	refused tokenizer_config.json: "names of added tokens of more than 8388608 bytes"
	rm m/tokenizer_config.json
	json '"vocab":{"a":0},"merges":[]' "{\"id\":1,\"content\":\"$half\"},{\"id\":1,\"content\":\"$half\"},{\"id\":2,\"content\":\"y\"}"
	refused tokenizer.json: "added_tokens[2]: names of added tokens of more than 8388608 bytes"
	json "\"vocab\":{\"あ$name\":0},\"merges\":[]"
	refused tokenizer.json: "names of added tokens of more than 8388608 bytes"

	cp "$model/tokenizer_config.json" m
	truncate -s 2G m/tiktoken.model
	refused tiktoken.model: "more than 67108864 bytes"
	head -c 16000000 /dev/zero | tr '\0' A >m/tiktoken.model
	refused tiktoken.model:1: "expected base64, a space and a rank"
	for bad in 'YQ= 1:not base64' 'YQ*= 1:not base64' 'Y!== 1:not base64' '= 1:not base64' 'YQ==:expected base64' 'YQ== -1:expected base64' \
	    'YQ== 99999999999999999999:expected base64' 'YQ== 16777217:a rank above 16777216' 'YQ== 1x:expected base64'; do
		printf 'IQ== 0\n%s\n' "${bad%:*}" >m/tiktoken.model
		refused tiktoken.model:2: "${bad#*:}"
	done
	printf 'IQ== 0\nIg== 16777216\n' >m/tiktoken.model
	refused tiktoken.model: "token id 16777216: too high for 2 tokens"
	printf 'IQ== 0\nIg== 2\n' >m/tiktoken.model
	refused tiktoken.model: "no token of rank 1"
	printf 'IQ== 0\nIg== 0\n' >m/tiktoken.model
	refused tiktoken.model: "token id 0 stands twice"
	printf 'IQ== 0\nIQ== 1\n' >m/tiktoken.model
	refused tiktoken.model: "tokens 0 and 1 are the same bytes"
	printf 'IQ== 0\nIg== 1\n' >m/tiktoken.model
	refused tiktoken.model: "no token for the byte 0x00"
	cp "$model/tiktoken.model" m
	jq --rawfile name <(echo "$name") '(.added_tokens_decoder | first(.[])).content = $name' "$model/tokenizer_config.json" >m/tokenizer_config.json
	refused tokenizer_config.json: "names of added tokens of more than 8388608 bytes"
}

@test "a hostile tokenizer file: long tokens that begin with a thousand others are no work" {
	case $E3_BUILD in *asan* | *tsan* | *coverage*) skip "it counts seconds" ;; esac
	mkdir m
	cp "$model/tokenizer_config.json" m
	# the bytes, runs of "a", and 6,000 tokens that begin with most of these; in base64 "aaa" is YWFh, and any letters
	# and digits are something
	awk 'BEGIN {
		for (i = 0; i < 26; i++) d[i] = sprintf("%c", 65 + i)
		for (i = 0; i < 26; i++) d[26 + i] = sprintf("%c", 97 + i)
		for (i = 0; i < 10; i++) d[52 + i] = i
		d[62] = "+"; d[63] = "/"
		for (i = 0; i < 256; i++) printf "%s%s== %d\n", d[int(i / 4)], d[i % 4 * 16], n++
		for (k = 2; k <= 2000; k++) {
			if (k % 3 == 0) run = run "YWFh"
			printf "%s%s %d\n", run, k % 3 == 1 ? "YQ==" : k % 3 == 2 ? "YWE=" : "", n++
		}
		for (i = 0; i < 6000; i++) printf "%s%064d %d\n", run, i, n++
	}' >m/tiktoken.model
	run bash -c 'ulimit -t 5; echo aaaaa | e3-tokenize --no-cache --model m --text'
	[ "$status" -eq 0 ]
	[ "$output" = "[259]" ]
}

@test "--no-cache leaves no file, and the ids are the same" {
	# the bundled vocabulary is too small to be worth a file: one more token for each two letters and a digit
	mkdir big
	cp "$model"/* big
	awk 'BEGIN { for (i = 0; i < 26 * 26 * 10; i++) printf "%c%c%d\n", 65 + i / 260, 65 + i / 10 % 26, i % 10 }' >new
	n=$(wc -l <new) at=$(wc -l <"$model/tiktoken.model")
	[ "$((n + at))" -gt 8192 ]
	jq -rRn --argjson at "$at" "foreach inputs as \$t (\$at - 1; . + 1; \"\\(\$t | @base64) \\(.)\")" <new >>big/tiktoken.model
	jq ".added_tokens_decoder |= with_entries(.key |= (tonumber + $n | tostring))" "$model/tokenizer_config.json" >big/tokenizer_config.json
	jq ".vocab_size += $n" "$model/config.json" >big/config.json
	rm big/generation_config.json
	export XDG_CACHE_HOME=$PWD/cache
	short a >in
	e3-tokenize -q --no-cache --model big in >one
	e3-tokenize -q --no-cache --model big --text in >text
	# sim OPTION...: until it serves
	sim() {
		rm -f port
		e3-sim --model big --port 0 "$@" >port 2>/dev/null &
		until [ -s port ]; do sleep 0.05; done
		kill $!
		wait $! || true
	}
	sim --no-cache
	run e3-infer --no-cache --model big --server http://127.0.0.1:9 --api sglang --dry-run 1 in
	[ "$status" -eq 1 ]
	[ ! -e cache ]
	run e3-infer --model big --server http://127.0.0.1:9 --api sglang --dry-run 1 in
	rm cache/e3/tokenizer-*
	sim
	rm cache/e3/tokenizer-*
	e3-tokenize -q --model big in >two
	ls cache/e3/tokenizer-*
	e3-tokenize -q --model big in >three
	e3-tokenize -q --model big --text in | cmp - text
	cmp one two
	cmp one three
	# a file that is damaged is not noticed
	for f in cache/e3/tokenizer-*; do echo damage >"$f"; done
	e3-tokenize -q --model big in | cmp - one
}

@test "plain text that is refused names standard input" {
	local status=0
	echo '[-1]' | tok --decode 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = "e3-tokenize: standard input:1: ids[0]: expected a token id, not -1" ]
	printf '\377' | tok --text - 2>err || status=$?
	[ "$(cat err)" = "e3-tokenize: standard input:1: not UTF-8 at byte 1" ]
}

@test "a model folder that is not there is not one without a tokenizer" {
	mkdir empty
	run e3-tokenize --model none </dev/null
	[ "$status" -eq 1 ]
	[ "$output" = "e3-tokenize: none: No such file or directory" ]
	run e3-tokenize --model empty </dev/null
	[ "$status" -eq 1 ]
	[ "$output" = "e3-tokenize: empty: no tiktoken.model and no tokenizer.json" ]
}
