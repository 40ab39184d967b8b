#!/usr/bin/env bats
# e3-infer against the stand-in server: what goes in, what comes out.

bats_require_minimum_version 1.5.0
load infer
load holds

# ---- the command line ----

@test "misuse ends with 2 and says what is wrong" {
	for args in "" "--server http://x --servers f" "--server http://x --resume" \
		"--server http://x --resume -o -" "--server http://x --retry-rejects" \
		"--server http://x --temperature -1" "--server http://x --top-p 0" \
		"--server http://x --top-p 1.1" "--server http://x --min-p 2" \
		"--server http://x --top-k 0.5" "--server http://x --top-k 0" \
		"--server http://x --backoff 3601" "--server http://x --patience -1" \
		"--server http://x --timeout 4000001" "--server http://x --api soap" \
		"--server http://x --dry-run 3 -o f" "--server http://x --served-by vllm" \
		"--server http://x --shard 3/3" "--server http://x --api llamacpp" "--server http://x --max-attempts 0"; do
		run -2 e3-infer $args </dev/null
		[[ $output == *usage:* ]]
	done
}

@test "-j is told once, as what it is here" {
	run -0 e3-infer --help
	[[ $output == *"-j, --threads N "*"one thread does all"* ]]
	[ "$(grep -c -- '--threads' <<<"$output")" = 1 ]
	run -2 e3-infer -j 0 --server http://x
	[[ $output == *"--threads: expected a whole number from 1 to 1024"* ]]
}

@test "a URL that is none, and one with a secret in it" {
	for u in 127.0.0.1:1 http://me:hunter2@127.0.0.1:1 me:hunter2@127.0.0.1:1 'http://x/?key=hunter2'; do
		run -2 e3-infer --server "$u" </dev/null
		[[ $output == *"--server: "*"server's URL"* ]]
		[[ $output != *hunter2* ]]
		printf '# one\n%s\n' "$u" >servers
		run -1 e3-infer --servers servers </dev/null
		[[ $output == *"servers:2: "*"server's URL"* ]]
		[[ $output != *hunter2* ]]
	done
}

@test "a server that is not there" {
	serve
	stop "$PID"
	rows 3 >in
	run -1 e3-infer --server "$U" --model "$MODEL" -o out in
	[[ $output == *"$U: "*onnect* ]]
	[ ! -e out ]
	[ ! -e out.part ]
}

@test "an extra that sets what is not its own" {
	for extra in '{"stream":true}' '{' '[]' 7 '{"sampling_params":1}' '{"sampling_params":{"rid":"x"}}'; do
		run -2 e3-infer --server http://127.0.0.1:1 --extra "$extra" </dev/null
		[[ $output == *"--extra: "* ]]
	done
}

@test "a server that is given twice counts once" {
	serve --latency 20
	U=http://localhost:$PORT
	rows 12 | infer -q --concurrency 2 --server "$U/" --server "http://LocalHost:$PORT//" -o out
	[ "$(curl -s "$U/metrics" | grep '^e3sim:running_peak' | sed 's/.* //')" -le 2 ]
}

@test "an output or input that can't be is refused before a server is asked" {
	rows 2 >in
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
s.accept()
open("asked", "w").close()' >port 3>&- &
	PIDS=$!
	until [ -s port ]; do
		kill -0 $PIDS
		sleep 0.05
	done
	U=http://127.0.0.1:$(cat port)
	gen='"generations":[{"model":"m","sampling":{"max_new_tokens":9}}]'
	echo 'old' >there
	echo '{"id":"d/1","infer_key":"0123456789abcdef",'"$gen"'}' >other
	touch held.part
	flock held.part sleep 60 3>&- &
	PIDS="$PIDS $!"
	while flock -n held.part true; do
		kill -0 $!
		sleep 0.02
	done
	printf 'one\ntwo\nthr' >foreign.part
	touch -d @1000 there other held.part foreign.part
	for t in "is there already|-o there" "there:1: |--resume -o there" \
		"other:1: was made with|--resume -o other" "another run is writing it|--resume -o held" \
		"foreign.part:1: |--resume -o foreign" "none/out|-o none/out"; do
		run -1 infer ${t#*|} in
		[[ $output == *"${t%|*}"* ]] || { echo "$t: $output"; return 1; }
	done
	run -1 infer in absent
	[[ $output == *"absent: No such file"* ]]
	[ ! -e asked ]
	[ "$(stat -c %Y there other held.part foreign.part | sort -u)" = 1000 ]
	[ "$(cat foreign.part)" = "$(printf 'one\ntwo\nthr')" ]
}

@test "a run that is refused leaves a finished output as it was, its time too" {
	serve
	rows 3 >in
	infer -q -o out in
	touch -d @1000 out
	cp out was
	stop "$PID"
	run -1 infer --resume -o out in
	[ "$(stat -c %Y out)" = 1000 ]
	serve --served-model another
	run -1 infer --resume -o out in
	[[ $output == *"out: was made by the model"*"the server has another"* ]]
	[ "$(stat -c %Y out)" = 1000 ]
	stop "$PID"
	serve --weight-version two
	run -1 infer --resume -o out in
	[[ $output == *"out: was made by the weights default, the server has two: they don't go into one output"* ]]
	[ "$(stat -c %Y out)" = 1000 ]
	jq -c '.generations[-1].weight_version = "one"' out | sed 1d >mixed
	sed -n 1p out >>mixed
	run -1 infer --resume -o mixed in
	[[ $output == *"mixed:3: was made by the weights default, the lines before by one: "* ]]
	run -1 infer --resume --temperature 1 -o out in
	[ "$(stat -c %Y out)" = 1000 ]
	cmp was out
	[ ! -e out.part ]
}

@test "a server with another chat template is told of; its prompts are --model's all the same" {
	cp -r "$MODEL" other
	sed -i 's/<|im_user|>/<|im_system|>/' other/chat_template.jinja
	! cmp -s "$MODEL/chat_template.jinja" other/chat_template.jinja || false
	rows 3 >in
	for api in sglang vllm; do
		serve --api $api --model other
		infer -q -o $api in 2>err
		grep -q "$U: renders a test message to other ids than --model $MODEL ([0-9]* there, [0-9]* here): is its chat template another? (--template FILE)" err
		infer -q --template other/chat_template.jinja -o $api.same in 2>err
		[ ! -s err ]
		# one that is too old to be asked
		for hook in 'status, body = 422, b"{}"' 'body = b"[]"' 'raise SystemExit'; do
			U=http://127.0.0.1:$PORT
			relay "if path == '/tokenize': $hook"
			rm -f old
			infer -q -o old in 2>err
			[ ! -s err ]
		done
		stop "$PID"
	done
	holds '.generations[0].prompt_token_ids[0] == 3843' sglang vllm
}

# ---- what comes out ----

@test "records go through with their bytes, the answer and its ids" {
	serve
	rows 20 >in
	infer --stats st -o out in 2>err
	once 20 out
	grep -q '"n":7.50,' out
	holds '.messages | length == 2 and .[1].role == "assistant"' out
	holds '.generations[0] | .message == 1 and (.output_ids | length) == .completion_tokens
		and (.prompt_token_ids | length) == .prompt_tokens
		and .sampling == {"max_new_tokens":64} and .weight_version == "default"' out
	holds '.infer_key | test("^[0-9a-f]{16}$")' out
	holds '.in == 20 and .out == 20 and .answers == 20 and .written == 20' st
	grep -q '20 in = 20 out' err
}

@test "standard input and output, zstd in and out" {
	serve
	rows 5 | infer -q 2>err | once 5 -
	[ "$(wc -l <err)" -eq 0 ]
	rows 5 | zstd -q | infer -q -z | zstd -dcq | once 5 -
	rows 5 | infer -q -o out.zst
	zstd -dcq out.zst | once 5 -
}

@test "empty input, CRLF, BOM, blank lines, no final newline" {
	serve
	infer -o none </dev/null
	[ -e none ]
	[ ! -s none ]
	rows 4 | sed 's/$/\r/; 2s/^/\r\n/' | sed '1s/^/\xef\xbb\xbf/' | head -c -2 >in
	infer -o out in
	once 4 out
}

@test "chat on the server's side, with the ids that it returns, and without" {
	serve --api vllm
	rows 6 >in
	e3-infer -q --server "$U" --max-new-tokens 32 -o out in
	once 6 out
	holds '.generations[0].output_ids | length > 0' out
	e3-infer -q --no-ids --server "$U" --max-new-tokens 32 -o out2 in
	once 6 out2
}

@test "the completions API of vLLM takes ids and gives ids" {
	serve --api vllm
	rows 6 >in
	infer -o out in 2>err
	grep -q vllm err
	once 6 out
	holds '.generations[0].output_ids | length > 0' out
}

@test "the same sampling for every route goes into the record" {
	serve
	rows 1 | infer -q --temperature 0.5 --top-p 0.9 --top-k 40 --extra '{"stop_token_ids":[7]}' >out
	holds '.generations[0].sampling == {"max_new_tokens":64,"temperature":0.5,"top_p":0.9,
		"top_k":40,"stop_token_ids":[7]}' out
}

@test "ordered output" {
	serve --latency 5
	rows 200 >in
	infer -q --ordered -o out in
	rows 200 | jq -r .id | diff - <(jq -r .id out)
}

@test "shards are disjoint and whole" {
	serve
	rows 50 >in
	for i in 0 1 2; do
		infer -q --shard $i/3 -o out.$i in
	done
	once 50 out.0 out.1 out.2
}

@test "a dry run writes nothing and estimates" {
	serve
	rows 40 >in
	infer --dry-run 10 in >out 2>err
	[ ! -s out ]
	grep -qE 'dry run: of 40 records 10 were answered; all would take [0-9]+ s at this rate, [0-9]+ prompt tokens, [0-9]+ new tokens, ' err
	grep -q '40 in = 10 out + 30 dropped' err
}

# ---- bad records ----

@test "bad records are rejects with a reason, the others go on" {
	serve
	{
		rows 3
		echo '{"id":"x"'
		echo '[1]'
		echo '{"messages":[]}'
		echo '{"id":5,"messages":[]}'
		echo '{"id":"m"}'
		echo '{"id":"d/1","messages":[{"role":"user","content":"again"}]}'
		echo '{"id":"s","messages":[{"role":"system","content":"x"}]}'
		echo '{"id":"r","messages":[{"role":"user","content":{"a":1}}]}'
		printf '{"id":"\xff"}\n'
		head -c 9000 /dev/zero | tr '\0' x
		echo
	} >in
	infer --max-line 8K --rejects rej -o out in 2>err
	once 3 out
	[ "$(wc -l <rej)" -eq 10 ]
	jq -r .reject.class rej | sort | uniq -c | tr -s ' ' | sort >classes
	grep -q 'duplicate' classes
	grep -q 'turns' classes
	grep -q ' long$' classes
	grep -q '13 in = 3 out + 10 rejected' err
}

@test "a reject that is given again loses its reject member" {
	serve
	rows 1 | sed 's/}$/,"reject":{"program":"e3-infer","class":"tired"}}/' >in
	echo '{"id":"m","reject":{"program":"e3-infer","class":"old"},"n":1.50}' >>in
	infer --rejects rej -o out in
	holds 'has("reject") | not' out
	grep -q '"n":1.50,"' out
	# a member that no run made
	for own in '"worse"' '{"class":"own"}' null; do
		rows 1 | sed "s|}\$|,\"reject\":$own}|" | infer -q | holds ".reject == $own and has(\"reject\")"
	done
	[[ $(cat rej) == '{"id":"m","n":1.50,"reject":{"program":"e3-infer"'* ]]
	run -1 grep -q old rej
}

@test "without --rejects the first bad record ends the run, naming the place" {
	serve
	echo '{"id":"x"' >in
	run -1 infer -o out in
	[[ $output == *"in:1: "* ]]
	[ ! -e out ]
}

@test "more rejects than allowed" {
	serve
	{
		echo x
		echo y
		rows 2
	} >in
	run -1 infer --rejects rej --max-rejects 1 -o out in
	[ ! -e out ]
	[ -e out.part ]
}

@test "what can't fit is not sent" {
	serve --context 100
	{
		rows 2
		awk 'BEGIN { s = "word "; for (i = 0; i < 9; i++) s = s s
			printf "{\"id\":\"long\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}\n", s }'
	} >in
	infer -q --rejects rej -o out in
	once 2 out
	holds '.reject.class == "long" and .reject.permanent' rej
}

@test "a replay that grows out of the context keeps the turns that are done" {
	# a prompt of 7 tokens, an answer, and 64 more that the next one may have
	serve --context 80
	multi >in
	infer --turns all --rejects rej -o out in 2>err
	once 2 out
	holds '.generations[-1].ended == "prompt_too_long" and .generations[-1].status == "ok"
		and (.messages | length) == .generations[-1].message + 1
		and .messages[-1].role == "assistant"' out
	grep -q '2 in = 2 out$' err
	infer --turns all --rejects rej --resume -o out in 2>err
	grep -q '2 in = 0 out + 2 resumed' err
}

# ---- statuses and their policies ----

# odd FAULT - a server whose third request, the second of three records in `in`, gets such an answer
odd() {
	local tool='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}'
	rows 3 | sed "s|}\$|,\"tools\":[$tool]}|" >in
	rm -f out rej st err
	serve --call-rate 0 --fault "$1@3"
}

@test "each status: kept and marked, dropped, tried again, given up; counted each time" {
	for t in length:length blank:empty think-only:reasoning_only repeat:repetition bad-call:unparsed; do
		fault=${t%:*} status=${t#*:}
		option=--on-$(tr _ - <<<"$status")
		for policy in keep drop retry up; do
			odd "$fault"
			attempts=5
			[ $policy = up ] && policy=retry attempts=1
			infer --concurrency 1 --max-new-tokens 500 $option $policy --max-attempts $attempts \
				--stats st --rejects rej -o out in 2>err
			once 3 out rej
			got=$(jq -c "[.answers, .statuses.ok, .statuses.$status, .retries, .out, .rejected]" st)
			marked=$(jq -r '.generations[0].status' out | grep -vc '^ok$' || true)
			reject=$(jq -c '.reject | [.class, .attempts, .permanent, .reason, .status, (.body | length > 20)]' rej)
			case $policy$attempts in
			keep5) want="[3,2,1,0,3,0] 1 " ;;
			drop5) want="[3,2,1,0,2,1] 0 [\"$status\",1,true,\"the answer is $status\",200,true]" ;;
			retry5) want="[4,3,1,1,3,0] 0 " ;;
			retry1) want="[3,2,1,0,2,1] 0 [\"$status\",1,null,\"given up after 1 attempt: the answer is $status\",200,true]" ;;
			esac
			[ "$got $marked $reject" = "$want" ] || {
				echo "$fault $policy: $got $marked $reject"
				return 1
			}
			grep -qE "answers: [23] ok, 1 $status \((33.3|25)%\); " err
			[ $policy != keep ] || holds -s "map(.generations[0].status) | index(\"$status\") == 1" out
			stop "$PID"
		done
	done
}

@test "the statuses of answers that the server took apart" {
	for t in length:length blank:empty think-only:reasoning_only bad-call:unparsed; do
		odd "${t%:*}"
		e3-infer -q --server "$U" --api vllm --concurrency 1 --max-new-tokens 500 -o out in
		holds -s "map(.generations[0].status) == [\"ok\", \"${t#*:}\", \"ok\"]" out
		stop "$PID"
	done
}

@test "content that still holds reasoning or calls is unparsed: the server has no parser for it" {
	python3 "$TOP/tests/fault/chat_server.py" 0 >port 3>&- &
	PIDS=$!
	until [ -s port ]; do
		kill -0 $PIDS
		sleep 0.05
	done
	for say in 'so</think>yes' '<tool_call>{}' '<|tool_calls_section_begin|>' 'a < b'; do
		jq -cn --arg say "SAY $say" '{id: $say, messages: [{role: "user", content: $say}]}'
	done >in
	e3-infer -q --no-ids --server "http://127.0.0.1:$(cat port)" --ordered -o out in
	holds -s 'map(.generations[0].status) == ["unparsed", "unparsed", "unparsed", "ok"]
		and .[0].messages[1].content == "so</think>yes"' out
}

@test "a call that names no function is unparsed" {
	serve --api vllm
	relay 'body = body.replace(b"\"content\":", b"\"tool_calls\":[{\"function\":{\"arguments\":\"{}\"}}],\"content\":")'
	rows 3 | e3-infer -q --no-ids --server "$U" --max-new-tokens 500 -o out
	[ "$(jq -r '.generations[0].status' out | xargs)" = "unparsed unparsed unparsed" ]
}

@test "a replay ends at an answer that is not whole" {
	for t in length:length blank:empty think-only:reasoning_only; do
		serve --fault "${t%:*}@3"
		multi | head -n 1 | infer -q --turns all >out
		holds "[.generations[].status] == [\"ok\", \"${t#*:}\"] and (.messages | length) == 4" out
		stop "$PID"
	done
}

# ---- turns ----

@test "--turns last answers the last user message only" {
	serve
	multi | infer -q -o out
	holds '[.generations | length] == [1]' out
	jq -c '[.id, (.messages | length)]' out | sort | tr -d '\n' | grep -qF '["d/1",6]["d/2",4]'
	holds '.messages[1].content == "old"' out
}

@test "--turns all makes every answer anew, each prompt with the answers before it" {
	serve
	multi | infer -q --turns all -o out
	holds 'all(.messages[].content; . != "old")' out
	holds -s 'map(select(.id == "d/1"))[0] | [.generations[].message] == [1, 3, 5]' out
	# the second prompt begins with the first one
	holds '.generations | .[1].prompt_token_ids as $b | .[0].prompt_token_ids as $a
		| $b[:($a | length)] == $a' out
}

@test "finished turns survive a failure of a later one" {
	serve --fault 400@4
	multi | head -n 1 >in
	infer -q --turns all --rejects rej -o out in
	holds '.reject.progress.generations | length >= 1' rej
	stop "$PID"
	serve
	infer --turns all --resume --retry-rejects --rejects rej -o out in 2>err
	holds '[.generations[].message] == [1, 3, 5]' out
	grep -q '[12] answer' err
}

# kill_at N: kills the run $I once it has noted so many turns
kill_at() {
	for _ in $(seq 1000); do
		[ "$(grep -c generation out.turns 2>/dev/null)" = "$1" ] && break
		sleep 0.02
	done
	kill -9 $I
	wait $I || true
}

@test "finished turns survive a kill" {
	serve --fault stall@4
	multi | head -n 1 >in
	infer -q --turns all --resume -o out in &
	I=$!
	kill_at 2
	[ "$(wc -l <out.turns)" -eq 2 ]
	infer --turns all --resume -o out in 2>err
	grep -q ': 1 answer[;:]' err
	holds '[.generations[].message] == [1, 3, 5]' out
	[ ! -e out.turns ]
}

@test "of a turn in the rejects and a later one that a kill left the later one counts" {
	serve --fault 400@3
	multi | head -n 1 >in
	infer -q --turns all --rejects rej -o out in
	holds '.reject.progress.generations | length == 1' rej
	stop "$PID"
	serve --fault stall@3
	infer -q --turns all --resume --retry-rejects --rejects rej -o out in &
	I=$!
	kill_at 1
	infer --turns all --resume --retry-rejects --rejects rej -o out in 2>err
	grep -q ': 1 answer[;:]' err
	holds '[.generations[].message] == [1, 3, 5]' out
}

@test "tool calls get the recorded results under their new ids" {
	serve --call-rate 1
	cat >in <<'END'
{"id":"d/1","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"old","type":"function","function":{"name":"f","arguments":"{}"}}],"weight":0},{"role":"tool","tool_call_id":"old","content":"the result"},{"role":"assistant","content":"a","weight":0}]}
END
	infer -q --turns all -o out in
	holds '.messages[1].tool_calls[0].id as $id | .messages[2]
		| .role == "tool" and .content == "the result" and .tool_call_id == $id' out
	holds '.generations[1].ended == "call_without_result"' out
}
