#!/usr/bin/env bats
# The stand-in server, as its clients see it.

load holds

MODEL=pipelines/demo/model

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BIN:=$PWD/bin}"
}

# serve [OPTION...] - starts a server; U is its address, PID its process
serve() {
	rm -f "$T/port"
	"$E3_BIN/e3-sim" --model $MODEL --port 0 --hidden-size 8 "$@" >"$T/port" 2>"$T/err" 3>&- &
	PID=$!
	for _ in $(seq 1000); do
		[ -s "$T/port" ] && break
		sleep 0.02
	done
	PORT=$(head -n 1 "$T/port")
	U=http://127.0.0.1:$PORT
}

# Ends the server, without a word from the shell.
stop() {
	kill "$PID" 2>/dev/null || true
	wait "$PID" 2>/dev/null || true
}

teardown() {
	[ -z "$PID" ] || stop
}

# post PATH BODY [CURL-OPTION...] - the reply's body
post() {
	local path=$1 body=$2
	shift 2
	curl -s -m 20 "$@" "$U$path" -H 'Content-Type: application/json' -d "$body"
}

status() { # PATH BODY - the reply's status
	post "$1" "$2" -o /dev/null -w '%{http_code}'
}

# until_metric NAME VALUE - waits, at most 20 s
until_metric() {
	for _ in $(seq 400); do
		curl -s "$U/metrics" | grep -q "^$1{.*} $2\$" && return
		sleep 0.05
	done
	curl -s "$U/metrics"
	false
}

# until_health STATUS - likewise
until_health() {
	for _ in $(seq 400); do
		[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/health")" != "$1" ] || return 0
		sleep 0.05
	done
	false
}

ASK='{"input_ids":[300,301,302],"rid":"r;","return_prompt_token_ids":true,"sampling_params":{"max_new_tokens":2000}}'

@test "the port is the first line; it answers what clients ask first" {
	serve --context 5000 --served-model demo --weight-version w7
	[[ $PORT =~ ^[0-9]+$ ]]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/health")" = 200 ]
	[ "$(curl -s "$U/v1/models" | jq -r '.data[0] | "\(.id) \(.max_model_len)"')" = "demo 5000" ]
	for p in /model_info /get_model_info; do
		[ "$(curl -s "$U$p" | jq -r '"\(.model_path) \(.weight_version)"')" = "$MODEL w7" ]
	done
	for p in /server_info /get_server_info; do
		[ "$(curl -s "$U$p" | jq -c '[.context_length,.speculative_algorithm,.enable_return_aux_hidden_states,.eagle_aux_hidden_state_layer_ids,.norm]')" = '[5000,null,true,[2,4,5],"before"]' ]
	done
	curl -s "$U/metrics" | grep -q '^sglang:num_running_reqs{.*} 0$'
	[ "$(curl -s "$U/v1/loads" | jq -c '[.[0].num_running_reqs]')" = '[0]' ]
	[ "$(status /flush_cache '')" = 200 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/nothing")" = 404 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/generate")" = 405 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/abort_request")" = 405 ]
}

@test "the metrics are those of one server" {
	serve
	[ "$(curl -s "$U/metrics" | grep -o '^[a-z0-9]*:' | sort -u | xargs)" = "e3sim: sglang:" ]
	stop
	serve --api vllm
	[ "$(curl -s "$U/metrics" | grep -o '^[a-z0-9]*:' | sort -u | xargs)" = "e3sim: vllm:" ]
}

@test "--api leaves only that server's endpoints" {
	serve --api vllm
	[ "$(status /generate "$ASK")" = 404 ]
	[ "$(curl -s "$U/version" | jq -r .version | cut -d ' ' -f 1)" = e3-sim ]
	[ "$(status /v1/completions '{"model":"x","prompt":[300]}')" = 404 ]
	[ "$(status /v1/completions '{"model":"'$MODEL'","prompt":[300]}')" = 200 ]
	stop
	serve --api openai
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/health")" = 404 ]
	[ "$(status /v1/completions '{"prompt":[300]}')" = 200 ]
}

@test "one seed, one answer; another seed, another" {
	serve --seed 5
	a=$(post /generate "$ASK")
	b=$(post /generate "$ASK")
	stop
	serve --seed 5 --slots 1 --latency 20
	c=$(post /generate "$ASK")
	stop
	serve --seed 6
	d=$(post /generate "$ASK")
	[ "$a" = "$b" ]
	[ "$(jq -c .output_ids <<<"$a")" = "$(jq -c .output_ids <<<"$c")" ]
	[ "$(jq -c .output_ids <<<"$a")" != "$(jq -c .output_ids <<<"$d")" ]
}

@test "an answer: ids, text, counts and finish reason agree" {
	serve
	a=$(post /generate "$ASK")
	[ "$(jq -c '[.prompt_token_ids, .meta_info.prompt_tokens, .meta_info.id]' <<<"$a")" = '[[300,301,302],3,"r;"]' ]
	holds '(.output_ids | length) == .meta_info.completion_tokens' <<<"$a"
	holds '.meta_info.finish_reason | .type == "stop" and .matched == 3842' <<<"$a"
	holds '.output_ids[-1] == 3842 and (.output_ids[:-1] | index(3842)) == null' <<<"$a"
	[ "$(post /detokenize "$(jq -c '{tokens: .output_ids[:-1]}' <<<"$a")" | jq .text)" = "$(jq .text <<<"$a")" ]
	a=$(post /generate '{"input_ids":[300,301,302],"sampling_params":{"max_new_tokens":7,"ignore_eos":true}}')
	holds '.meta_info.finish_reason == {"type":"length","length":7} and (.output_ids | length) == 7' <<<"$a"
	holds 'has("prompt_token_ids") | not' <<<"$a"
}

@test "text and its ids give the same answer; completions the same as generate" {
	serve
	ids=$(post /tokenize '{"prompt":"What is 2+2?<|im_end|>"}')
	holds '.tokens[-1] == 3842 and .count == (.tokens | length)' <<<"$ids"
	a=$(post /generate '{"text":"What is 2+2?<|im_end|>","sampling_params":{"max_new_tokens":500}}')
	b=$(post /v1/completions "$(jq -c '{prompt: .tokens, max_tokens: 500, return_token_ids: true}' <<<"$ids")")
	c=$(post /v1/completions '{"prompt":"What is 2+2?<|im_end|>","max_tokens":500}')
	[ "$(jq -c .output_ids <<<"$a")" = "$(jq -c '.choices[0].token_ids' <<<"$b")" ]
	[ "$(jq -c .tokens <<<"$ids")" = "$(jq -c '.choices[0].prompt_token_ids' <<<"$b")" ]
	[ "$(jq .text <<<"$a")" = "$(jq '.choices[0].text' <<<"$c")" ]
	holds '.choices[0] | has("token_ids") | not' <<<"$c"
	holds '.usage.completion_tokens == (.choices[0].token_ids | length)' <<<"$b"
}

@test "the limits servers have when none is given" {
	serve --answer-tokens 5000
	[ "$(post /generate '{"text":"a"}' | jq .meta_info.completion_tokens)" = 128 ]
	[ "$(post /v1/completions '{"prompt":"a"}' | jq .usage.completion_tokens)" = 16 ]
}

@test "what servers refuse is refused with 400" {
	serve --context 100
	while read -r body; do
		[ "$(status /generate "$body")" = 400 ] || { echo "$body"; false; }
	done <<-'END'
		not json
		[]
		{"sampling_params":{}}
		{"input_ids":[]}
		{"input_ids":[[1,2]]}
		{"input_ids":[1.5]}
		{"input_ids":[4096]}
		{"text":["a","b"]}
		{"text":"a","stream":true}
		{"text":"a","sampling_params":{"temperature":-1}}
		{"text":"a","sampling_params":{"top_p":0}}
		{"text":"a","sampling_params":{"top_p":1.5}}
		{"text":"a","sampling_params":{"top_k":0}}
		{"text":"a","sampling_params":{"min_p":2}}
		{"text":"a","sampling_params":{"repetition_penalty":0}}
		{"text":"a","sampling_params":{"max_new_tokens":-1}}
		{"text":"a","sampling_params":{"max_new_tokens":1.5}}
		{"text":"a","sampling_params":{"max_new_tokens":200}}
		{"text":"a","sampling_params":{"max_new_tokens":5,"min_new_tokens":6}}
	END
	[[ "$(post /generate '{"text":"a","sampling_params":{"max_new_tokens":200}}' | jq -r .error.message)" = *"context length"* ]]
	[ "$(status /generate '{"text":"a","sampling_params":{"temperature":0,"top_p":1,"top_k":-1,"max_new_tokens":9}}')" = 200 ]
}

@test "vLLM takes other parameters than SGLang" {
	while IFS='|' read -r body sglang vllm; do
		for api in sglang vllm; do
			serve --api $api
			[ "$(status /v1/completions "$body")" = "${!api}" ] || { echo "$api: $body"; false; }
			stop
		done
	done <<-'END'
		{"prompt":[300],"top_k":0}|400|200
		{"prompt":[300],"top_k":-1}|200|200
		{"prompt":[300],"top_k":-2}|400|400
		{"prompt":[300],"temperature":2.5}|200|400
		{"prompt":[300],"repetition_penalty":2.5}|400|200
		{"prompt":[300],"repetition_penalty":0}|400|400
		{"prompt":[300],"max_tokens":0}|200|400
		{"prompt":[300],"max_tokens":5,"min_tokens":6}|400|400
	END
}

@test "reasoning comes first where the prompt opens it" {
	serve
	a=$(post /generate '{"text":"hi<think>","sampling_params":{"max_new_tokens":3000}}')
	holds '[.output_ids[] | select(. == 3863)] | length == 1' <<<"$a"
	holds '(.output_ids | index(3863)) == .meta_info.reasoning_tokens' <<<"$a"
	holds '.text | contains("</think>")' <<<"$a"
	a=$(post /generate '{"text":"hi<think></think>","sampling_params":{"max_new_tokens":3000}}')
	holds '.output_ids | index(3863) == null' <<<"$a"
	stop
	serve --fault think-only=1
	a=$(post /generate '{"text":"hi<think>","sampling_params":{"max_new_tokens":3000}}')
	holds '(.output_ids | index(3863) == null and length > 1) and .meta_info.finish_reason.type == "stop"' <<<"$a"
	stop
	serve --fault blank=1
	a=$(post /generate '{"text":"hi<think>","sampling_params":{"max_new_tokens":3000}}')
	holds '.output_ids == [3863, 3842]' <<<"$a"
}

@test "messages go through the model's template" {
	serve
	a=$(post /v1/chat/completions '{"messages":[{"role":"user","content":"hi"}],"max_tokens":3000,"return_token_ids":true}')
	p=$(post /tokenize '{"prompt":"<|im_user|>user<|im_middle|>hi<|im_end|><|im_assistant|>assistant<|im_middle|><think>"}')
	[ "$(jq -c .prompt_token_ids <<<"$a")" = "$(jq -c .tokens <<<"$p")" ]
	[ "$(jq -c '.choices[0].prompt_token_ids' <<<"$a")" = "$(jq -c .tokens <<<"$p")" ]
	[ "$(post /tokenize '{"messages":[{"role":"user","content":"hi"}]}' | jq -c .tokens)" = "$(jq -c .tokens <<<"$p")" ]
	holds '.choices[0] | .finish_reason == "stop" and .token_ids[-1] == 3842' <<<"$a"
	holds '.choices[0].message | .reasoning == .reasoning_content and (.content | length) > 0' <<<"$a"
	t=$(post /detokenize "$(jq -c '{tokens: .choices[0].token_ids[:-1]}' <<<"$a")" | jq -r .text)
	[ "$t" = "$(jq -r '.choices[0].message | "\(.reasoning)</think>\(.content)"' <<<"$a")" ]
	a=$(post /v1/chat/completions '{"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"ignore_eos":true}')
	holds '.choices[0] | .finish_reason == "length" and .message.content == null' <<<"$a"
	a=$(post /v1/chat/completions '{"messages":[{"role":"user","content":"hi"}],"chat_template_kwargs":{"thinking":false}}')
	holds '.choices[0].message | has("reasoning") | not' <<<"$a"
	[ "$(status /v1/chat/completions '{"messages":[]}')" = 400 ]
	[ "$(status /v1/chat/completions '{"messages":"x"}')" = 400 ]
}

@test "a folder without a template serves text and ids" {
	local demo=$MODEL
	mkdir "$T/model"
	cp $MODEL/* "$T/model/"
	rm "$T/model/chat_template.jinja"
	MODEL=$T/model
	serve --no-cache
	[ "$(status /generate "$ASK")" = 200 ]
	[[ "$(post /v1/chat/completions '{"messages":[{"role":"user","content":"hi"}]}' | jq -r .error.message)" = *template* ]]
}

@test "what the tokenizer's endpoints refuse" {
	serve
	[ "$(post /tokenize '{"content":"hi"}')" = "$(post /tokenize '{"prompt":"hi"}')" ]
	while read -r path body; do
		[ "$(status $path "$body")" = 400 ] || { echo "$path $body"; false; }
	done <<-'END'
		/tokenize not json
		/tokenize {}
		/tokenize {"prompt":[1]}
		/tokenize {"messages":[]}
		/tokenize {"messages":[{"role":"user","content":"hi"}],"tools":1}
		/detokenize {"tokens":[4096]}
		/detokenize {"tokens":"a"}
		/detokenize {}
	END
	[ "$(post /detokenize '{"tokens":[]}' | jq -c '[.text,.prompt]')" = '["",""]' ]
}

@test "tools are called" {
	serve --call-rate 1
	a=$(post /v1/chat/completions '{"messages":[{"role":"user","content":"add"}],"tools":[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"value":{"type":"integer"}}}}}],"max_tokens":4000}')
	holds '.choices[0] | .finish_reason == "tool_calls" and .message.tool_calls[0].function.name == "add"' <<<"$a"
	holds '.choices[0].message.tool_calls[0] | .id == "functions.add:0" and (.function.arguments | fromjson | .value >= 0)' <<<"$a"
	stop
	serve --call-rate 0 --fault bad-call=1
	a=$(post /v1/chat/completions '{"messages":[{"role":"user","content":"add"}],"tools":[{"type":"function","function":{"name":"add","parameters":{}}}],"max_tokens":4000}')
	run jq '.choices[0].message.tool_calls[0].function.arguments | fromjson' <<<"$a"
	[ "$status" -ne 0 ]
}

@test "slots and time: four answers of 100 ms on one slot take 400 ms" {
	serve --slots 1 --latency 100
	start=$(date +%s%N)
	for i in 1 2 3 4; do post /generate '{"text":"a","rid":"'$i'"}' >/dev/null & pids="$pids $!"; done
	wait $pids
	ms=$((($(date +%s%N) - start) / 1000000))
	[ "$ms" -ge 400 ]
	curl -s "$U/metrics" | grep -q '^e3sim:running_peak{.*} 1$'
	curl -s "$U/metrics" | grep -q '^e3sim:answered_total{.*} 4$'
}

@test "one more than may wait is turned away, as by SGLang" {
	serve --slots 1 --max-queued 1 --latency 60000
	post /generate '{"text":"a","rid":"1"}' >/dev/null &
	until_metric e3sim:requests_total 1
	post /generate '{"text":"a","rid":"2"}' >/dev/null &
	until_metric e3sim:requests_total 2
	a=$(post /generate '{"text":"a","rid":"3"}')
	jq -e '.error | .message == "The request queue is full." and .code == 503' <<<"$a"
	[ "$(status /v1/completions '{"prompt":"a"}')" = 503 ]
	post /abort_request '{"rid":"2"}' >/dev/null
	post /generate '{"text":"a","rid":"4"}' -m 1 || [ $? -eq 28 ]
}

@test "how busy the slots were, by its own account" {
	serve --slots 2 --latency 300
	post /generate "$ASK" >/dev/null &
	post /generate "${ASK/r;/q;}" >/dev/null
	wait $!
	curl -s "$U/metrics" >"$T/m"
	used=$(sed -n 's/^e3sim:slot_microseconds_total{.*} //p' "$T/m")
	# twice 300 ms, and not a moment more once they are done
	[ "$used" -ge 600000 ]
	curl -s "$U/metrics" | grep -q "^e3sim:slot_microseconds_total{.*} $used\$"
	[ "$(sed -n 's/^e3sim:uptime_microseconds{.*} //p' "$T/m")" -ge 300000 ]
}

@test "speed: 50 tokens at 200 a second take a quarter of a second" {
	serve --tokens-per-second 200
	t=$(post /generate '{"text":"a","sampling_params":{"max_new_tokens":50,"ignore_eos":true}}' -o /dev/null -w '%{time_total}')
	awk -v t="$t" 'BEGIN { exit !(t >= 0.25 && t < 10) }'
}

@test "an answer that takes for ever is not one at once" {
	for o in "--latency 1e300" "--tokens-per-second 1e-300" "--latency 1000 --fault slow=1:1000000"; do
		serve $o
		run post /generate '{"text":"a"}' -m 1
		[ "$status" -eq 28 ] || { echo "$o: $status"; false; }
		stop
	done
}

@test "abort by prefix ends queued and running requests, and no others" {
	serve --slots 1 --latency 60000
	n=0
	for rid in run/1/ run/2/ other; do
		post /generate '{"text":"a","rid":"'$rid'"}' >"$T/$(tr -d / <<<$rid)" & pids="$pids $!"
		until_metric e3sim:requests_total $((n += 1))
	done
	[ "$(status /abort_request '{"rid":""}')" = 200 ]
	[ "$(status /generate '{"text":"a","rid":"other"}')" = 400 ]
	[ "$(status /abort_request '{"rid":"run/"}')" = 200 ]
	until_metric sglang:num_aborted_requests_total 2
	wait ${pids% *}
	holds '.meta_info.finish_reason.type == "abort" and .meta_info.id == "run/1/"' "$T/run1"
	holds '.meta_info.finish_reason.type == "abort"' "$T/run2"
	[ ! -s "$T/other" ]
	[ "$(status /abort_request '{"abort_all":true}')" = 200 ]
	wait $pids
	holds '.meta_info.finish_reason.type == "abort"' "$T/other"
}

@test "a client that hangs up gives its slot back" {
	serve --slots 1 --latency 600000
	run post /generate '{"text":"a"}' -m 2
	[ "$status" -eq 28 ]
	until_metric e3sim:clients_gone_total 1
	until_metric sglang:num_running_reqs 0
}

@test "a client that is slow to send and to read is not cut off, an idle one is" {
	serve --fault big-body=1:30000000
	python3 - "$PORT" 3>&- <<-'END'
		import socket, sys, time
		body = b'{"text":"a"}'
		head = b"POST /generate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
		sender, reader = (socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in "ab")
		sender.sendall(head + body[:3])
		reader.sendall(head + body)
		time.sleep(7)
		sender.sendall(body[3:])
		for s in sender, reader:
		    n = 0
		    while n < 30000000:
		        got = len(s.recv(1 << 20))
		        assert got, "cut after %d bytes" % n
		        n += got
		s.settimeout(20)
		while s.recv(1 << 20):
		    pass
	END
}

@test "a client that hangs up while it waits gives its place to those behind it" {
	serve --slots 1 --latency 600000
	post /generate '{"text":"a","rid":"a;"}' >/dev/null -m 60 & first=$!
	until_metric sglang:num_running_reqs 1
	post /generate '{"text":"b"}' -m 4 & second=$!
	post /generate '{"text":"c"}' -m 4 & third=$!
	until_metric sglang:num_queue_reqs 2
	run wait $second
	run wait $third
	until_metric e3sim:clients_gone_total 2
	until_metric sglang:num_queue_reqs 0
	post /generate '{"text":"d","rid":"d;"}' >"$T/d" & fourth=$!
	until_metric sglang:num_queue_reqs 1
	[ "$(status /abort_request '{"rid":"a;"}')" = 200 ]
	until_metric sglang:num_queue_reqs 0
	until_metric sglang:num_running_reqs 1
	[ "$(status /abort_request '{"rid":"d;"}')" = 200 ]
	wait $first $fourth
	holds '.meta_info.finish_reason.type == "abort" and (.output_ids | length) > 0' "$T/d"
}

@test "the first signal drains, the second does not wait" {
	serve --latency 3000
	post /generate '{"text":"a"}' >"$T/answer" & client=$!
	until_metric sglang:num_running_reqs 1
	kill -TERM "$PID"
	for _ in $(seq 400); do
		run curl -s -m 20 "$U/health"
		[ "$status" -ne 7 ] || break
		sleep 0.02
	done
	[ "$status" -eq 7 ]
	wait "$PID"
	wait $client
	holds '.meta_info.completion_tokens > 0' "$T/answer"
	grep -q '1 requests, 1 answered' "$T/err"
	serve --latency 60000
	post /generate '{"text":"a"}' >/dev/null & client=$!
	until_metric sglang:num_running_reqs 1
	kill -TERM "$PID"; kill -INT "$PID"
	wait "$PID"
	run wait $client
	[ "$status" -ne 0 ]
}

# What a client sees of each fault that ends or replaces the reply: curl's exit and the status.
@test "faults on the wire and in the status" {
	while read -r fault want_exit want_status; do
		serve --fault "$fault@1"
		rc=0
		# only these two are waited for in vain
		case $fault in stall | trickle) limit=2 ;; *) limit=20 ;; esac
		s=$(post /generate "$ASK" -m $limit -o "$T/body" -w '%{http_code}') || rc=$?
		[ "$rc $s" = "$want_exit $want_status" ] || { echo "$fault: exit $rc, status $s"; false; }
		stop
	done <<-'END'
		reset 56 000
		reset-headers 56 200
		reset-body 56 200
		half-body 18 200
		half-close 0 200
		half-chunk 18 200
		stall 28 000
		trickle 28 200
		no-http 1 000
		big-header 27 200
		400 0 400
		401 0 401
		404 0 404
		408 0 408
		429 0 429
		500 0 500
		502 0 502
		503 0 503
		307 0 307
		loading 0 503
		storm 0 500
		status 0 500
	END
	serve --fault status@1:413
	[ "$(status /generate "$ASK")" = 413 ]
}

@test "faults in a reply with status 200" {
	while IFS='|' read -r fault check; do
		serve --fault "$fault=1"
		post /generate "$ASK" -o "$T/body"
		stop
		(eval "$check") <"$T/body" >/dev/null 2>&1 || { echo "$fault: $check"; head -c 300 "$T/body"; false; }
	done <<-'END'
		abort|holds '.meta_info.finish_reason.type == "abort"'
		empty|holds '.output_ids == [] and .meta_info.completion_tokens == 0'
		garbage|! jq .
		html|grep -q '<html>'
		cut-json|! jq .
		trailing|grep -q 'served from cache'
		big-body|test $(wc -c) -gt 5000000
		nan|grep -q '"note":NaN'
		surrogate|grep -qF '"\ud83d"'
		nul|grep -qF 'a\u0000b'
		bad-utf8|! iconv -f utf-8 -t utf-8
		deep|test $(wc -c) -gt 200000
		double-key|grep -q '"note":1,"note"'
		big-int|grep -q 1234567890123456789012345678901234567890
		wrong-ids|holds '.prompt_token_ids != [300,301,302] and (.prompt_token_ids | length) == 3'
		missing-ids|holds '(has("output_ids") or has("prompt_token_ids")) | not'
		cut-prompt|holds '.meta_info.prompt_tokens == 2'
		wrong-count|holds '.meta_info.completion_tokens == (.output_ids | length) + 1'
		wrong-rid|holds '.meta_info.id != "r;"'
		no-stop|holds '.meta_info.finish_reason.type == "stop" and .output_ids[-1] != 3842'
		null-text|holds '.text == null and (.output_ids | length) > 0'
		repeat|holds '(.output_ids | length) == 2000 and .output_ids[1] == .output_ids[1999]'
		length|holds '.meta_info.finish_reason.type == "length"'
		blank|holds '.output_ids == [3842] and .meta_info.finish_reason.type == "stop"'
	END
	# an answer that its length would have cut is one of those that only say that they stopped
	serve --fault no-stop=1
	post /generate '{"text":"a","sampling_params":{"max_new_tokens":1}}' |
		holds '.meta_info.finish_reason.type == "stop" and .output_ids[-1] != 3842'
}

@test "429 says when to come back, 307 where to go" {
	serve --fault 429@1:7 --fault 307@2
	post /generate "$ASK" -D "$T/head" -o /dev/null
	grep -qi '^retry-after: 7' "$T/head"
	post /generate "$ASK" -D "$T/head" -o /dev/null
	grep -qi '^location: /elsewhere' "$T/head"
}

@test "a crash cuts what is in flight; the server is back on its port" {
	serve --latency 60000 --fault refused@2:3000
	post /generate "$ASK" >/dev/null & client=$!
	until_metric sglang:num_running_reqs 1
	run post /generate '{"text":"a"}'
	[ "$status" -eq 56 ]
	run wait $client
	[ "$status" -ne 0 ]
	run curl -s "$U/health"
	[ "$status" -eq 7 ]
	until_health 200
}

@test "a server comes back also where its port was taken in the meantime" {
	serve --fault refused@1:2000
	run post /generate "$ASK"
	[ "$status" -eq 56 ]
	python3 - "$PORT" 3>&- <<-'END'
		import socket, sys, time
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", int(sys.argv[1])))
		s.listen(1)
		time.sleep(3)
	END
	until_health 200
	grep -q "^e3-sim: 127.0.0.1 port $PORT: Address already in use$" "$T/err"
}

@test "loading from the start, then not" {
	serve --fault loading@0:4000
	[[ "$(curl -s "$U/health" | jq -r .error.message)" = "Loading model" ]]
	[ "$(status /generate "$ASK")" = 503 ]
	until_health 200
	[ "$(status /generate "$ASK")" = 200 ]
}

@test "health can lie" {
	serve --fault health@0
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$U/health")" = 503 ]
	[ "$(status /generate "$ASK")" = 200 ]
}

@test "the layers that are captured by default, of models of all sizes" {
	local demo=$MODEL
	mkdir "$T/model"
	cp $MODEL/* "$T/model/"
	MODEL=$T/model
	while read -r n layers; do
		jq ".num_hidden_layers = $n" "$demo/config.json" >"$T/model/config.json"
		serve
		[ "$(curl -s "$U/server_info" | jq -c .eagle_aux_hidden_state_layer_ids)" = "$layers" ] || { echo $n; false; }
		stop
	done <<-'END'
		1 [0]
		2 [0,1]
		3 [0,2]
		6 [0,5]
		7 [2,3,4]
		61 [2,30,58]
	END
}

@test "vLLM's states: a path in the reply, a file, a lock that readers wait for" {
	mkdir "$T/dump"
	serve --dump-dir "$T/dump" --fault hs-late=1:2000
	a=$(post /v1/completions '{"prompt":[300,301,302],"max_tokens":1,"return_token_ids":true}')
	f=$(jq -r .kv_transfer_params.hidden_states_path <<<"$a")
	[ -e "$f.lock" ]
	[ ! -e "$f" ]
	start=$(date +%s%N)
	flock -s "$f.lock" true
	[ $((($(date +%s%N) - start) / 1000000)) -ge 200 ]
	[ -s "$f" ]
	# 3 tokens of 4 slots of 8 bf16, and their ids
	n=$(od -An -tu8 -N8 "$f")
	[ "$(stat -c %s "$f")" -eq $((8 + n + 3 * 4 * 8 * 2 + 3 * 8)) ]
	[ "$(tail -c 24 "$f" | od -An -td8 | xargs)" = "300 301 302" ]
}

@test "vLLM's states are written also where the client has gone, and at the end what is due" {
	mkdir "$T/dump"
	serve --dump-dir "$T/dump" --latency 600000 --fault hs-late=1:600000
	run post /v1/completions '{"prompt":[300,301],"max_tokens":1,"request_id":"gone"}' -m 1
	[ "$status" -eq 28 ]
	until_metric e3sim:clients_gone_total 1
	[ "$(cd "$T/dump" && echo cmpl-gone-0-*)" != "cmpl-gone-0-*" ]
	[ -z "$(find "$T/dump" -name '*.safetensors')" ]
	kill -TERM "$PID"
	wait "$PID"
	[ -s "$T"/dump/cmpl-gone-0-????????.safetensors ]
}

@test "states in the wrong place" {
	mkdir "$T/dump"
	serve --dump-dir "$T/dump" --fault hs-outside@1 --fault hs-link@2-3 --fault hs-missing@4-5
	a=$(post /v1/completions '{"prompt":[300],"max_tokens":1}')
	[ "$(jq -r .kv_transfer_params.hidden_states_path <<<"$a")" = /etc/hostname ]
	f=$(post /v1/completions '{"prompt":[300],"max_tokens":1}' | jq -r .kv_transfer_params.hidden_states_path)
	flock -s "$f.lock" true
	[ -L "$f" ]
	[ -s "$f" ]
	post /generate '{"input_ids":[300],"rid":"link","return_hidden_states":true}' >/dev/null
	[ "$(readlink "$T/dump/link.safetensors")" = "$T/dump/link.safetensors.real" ]
	f=$(post /v1/completions '{"prompt":[300],"max_tokens":1}' | jq -r .kv_transfer_params.hidden_states_path)
	flock -s "$f.lock" true
	[ ! -e "$f" ]
	[ "$(status /generate '{"input_ids":[300],"rid":"none","return_hidden_states":true}')" = 200 ]
	[ ! -e "$T/dump/none.safetensors" ]
}

@test "a dump that can't be written is an error, and no part of it stays" {
	mkdir "$T/dump"
	serve --dump-dir "$T/dump"
	mkdir "$T/dump/taken.safetensors"
	a=$(post /generate '{"input_ids":[300],"rid":"taken","return_hidden_states":true}')
	[ "$(jq -r .error.message <<<"$a")" = "$T/dump/taken.safetensors: Is a directory" ]
	[ "$(ls -A "$T/dump")" = taken.safetensors ]
	rmdir "$T/dump/taken.safetensors" "$T/dump"
	a=$(post /generate '{"input_ids":[300],"rid":"x","return_hidden_states":true}')
	[ "$(jq -r .error.message <<<"$a")" = "$T/dump/.x.part: No such file or directory" ]
}

@test "a dump directory that is not there, or is none, is refused at the start" {
	touch "$T/file"
	while IFS=: read -r dir why; do
		run timeout 10 "$E3_BIN/e3-sim" --model $MODEL --port 0 --dump-dir "$dir"
		[ "$status" -eq 1 ]
		[ "$output" = "e3-sim: --dump-dir $dir: $why" ]
	done <<-END
		$T/none:No such file or directory
		$T/file:Not a directory
	END
}

@test "a dump directory: a file by rid, whole when the reply comes" {
	mkdir "$T/dump"
	serve --dump-dir "$T/dump" --norm after --layers 1,3
	post /generate '{"input_ids":[300,301],"rid":"a:1;","return_hidden_states":true,"sampling_params":{"max_new_tokens":1}}' >/dev/null
	[ "$(ls -A "$T/dump")" = "a:1;.safetensors" ]
	n=$(od -An -tu8 -N8 "$T/dump/a:1;.safetensors")
	h=$(tail -c +9 "$T/dump/a:1;.safetensors" | head -c $n)
	holds '.__metadata__ == {"layers":"1,3","convention":"in","norm":"after","rid":"a:1;"}' <<<"$h"
	holds '.aux_hidden_states.shape == [2,16] and .last_hidden_states.shape == [2,8] and .input_ids.shape == [2]' <<<"$h"
	[ "$(status /generate '{"input_ids":[300],"rid":"../x","return_hidden_states":true}')" = 500 ]
	[ ! -e "$T/x.safetensors" ]
}

@test "states as JSON, where there is no directory" {
	serve
	a=$(post /generate '{"input_ids":[300,301],"return_hidden_states":true,"sampling_params":{"max_new_tokens":1}}')
	holds '.meta_info.hidden_states | length == 1 and (.[0] | length) == 2 and (.[0][0] | length) == 24' <<<"$a"
}

@test "holds 10,000 connections" {
	[ "$(ulimit -Hn)" -ge 10200 ] || skip "the hard limit of open files is $(ulimit -Hn)"
	serve --fault stall=1
	python3 - "$PORT" >"$T/ok" 3>&- <<-'END' &
		import resource, socket, sys
		port = int(sys.argv[1])
		hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
		resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
		body = b'{"input_ids":[300],"sampling_params":{"max_new_tokens":1}}'
		clients = []
		for _ in range(10000):
		    s = socket.create_connection(("127.0.0.1", port))
		    s.sendall(b"POST /generate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
		    clients.append(s)
		print(sum(s.recv(65536).startswith(b"HTTP/1.1 200") for s in clients))
	END
	client=$!
	until_metric sglang:num_running_reqs 10000
	[ "$(status /abort_request '{"abort_all":true}')" = 200 ]
	wait $client
	[ "$(cat "$T/ok")" = 10000 ]
	until_metric e3sim:running_peak 10000
	until_metric sglang:num_aborted_requests_total 10000
}

@test "clients that are cut for want of descriptors are told of" {
	ulimit -n 80
	serve --fault stall=1
	python3 - "$PORT" 3>&- <<-'END'
		import select, socket, sys
		clients = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(60)]
		assert select.select(clients, [], [], 20)[0]
	END
	stop
	grep -q '^e3-sim: [0-9]* connections cut: there were not enough open files$' "$T/err"
}

@test "misuse exits 2, what can't be opened exits 1" {
	for o in "" "--model" "--model $MODEL --port 70000" "--model $MODEL --api x" \
		"--model $MODEL --latency -1" "--model $MODEL --call-rate 2" "--model $MODEL --mode" \
		"--model $MODEL --fault nope=1" "--model $MODEL --fault reset" "--model $MODEL --fault reset=2" \
		"--model $MODEL --layers 5,3" "--model $MODEL --layers 2,x"; do
		run "$E3_BIN/e3-sim" $o
		[ "$status" -eq 2 ] || { echo "$o: $status"; false; }
		[[ $output = e3-sim:* ]]
	done
	run "$E3_BIN/e3-sim" --model $MODEL --fault resett=1
	[ "${lines[0]}" = "e3-sim: --fault resett: no such fault (--faults lists them): did you mean reset?" ]
	for o in "--model $T/none" "--model $MODEL --layers 8" "--model $MODEL --host 256.0.0.1"; do
		run "$E3_BIN/e3-sim" $o
		[ "$status" -eq 1 ] || { echo "$o: $status"; false; }
		[[ $output = e3-sim:* ]]
	done
	serve
	run "$E3_BIN/e3-sim" --model $MODEL --port "$PORT"
	[ "$status" -eq 1 ]
	[[ $output = *"in use"* ]]
}

@test "a closed standard output is an error" {
	for o in "--model $MODEL" --faults --help --version; do
		run sh -c "'$E3_BIN/e3-sim' $o >/dev/full"
		[ "$status" -eq 1 ]
		[ "$output" = "e3-sim: standard output: No space left on device" ]
	done
	run sh -c "'$E3_BIN/e3-sim' --faults >&-"
	[ "$status" -eq 1 ]
	[ "$output" = "e3-sim: standard output: Bad file descriptor" ]
}

@test "the manual has every fault, and says that this is no model" {
	"$E3_BIN/e3-sim" --faults | while read -r name _; do
		grep -qx ".It Cm $name" man/e3-sim.1 || { echo "$name"; false; }
	done
	grep -q 'without a model' man/e3-sim.1
}

@test "the manual's examples work" {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh LIMITS/p' man/e3-sim.1 | sed -n '/^\.Bd/,/^\.Ed/{/^\.B/d;/^\.E/d;s/\\e$/\\/;p;}' >"$T/example"
	[ "$(wc -l <"$T/example")" -eq 5 ]
	ln -s "$PWD/pipelines" "$T/pipelines"
	run sh -c "cd '$T' && PATH=$E3_BIN:\$PATH && . ./example"
	[ "$status" -eq 0 ]
	[[ $output = *'"owned_by": "e3-sim"'* ]]
	"$E3_BIN/e3-sim" --faults | grep -q '^reset '
}
