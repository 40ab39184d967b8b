#!/usr/bin/env bats
# e3-infer against the stand-in server and its faults: nothing lost, nothing twice.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	MODEL=$PWD/pipelines/demo/model
	: "${E3_BIN:=$PWD/bin}"
	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return
	PIDS=
	export MODEL U
	mkdir bin
	# what all tests have in common; a program, so that a signal reaches e3-infer and no shell
	cat >bin/infer <<'END'
#!/bin/sh
exec e3-infer --server "$U" --model "$MODEL" --max-new-tokens 64 --concurrency 8 --backoff 0.02 "$@"
END
	chmod +x bin/infer
	PATH=$PWD/bin:$PATH
}

teardown() {
	for p in $PIDS; do
		kill -9 "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
}

# serve [OPTION...] - starts a server; U is its address, PID its process
serve() {
	rm -f port
	e3-sim --model "$MODEL" --port 0 --answer-tokens 12 "$@" >port 2>sim.err 3>&- &
	PID=$!
	PIDS="$PIDS $PID"
	for _ in $(seq 100); do
		[ -s port ] && break
		sleep 0.02
	done
	PORT=$(head -n 1 port)
	U=http://127.0.0.1:$PORT
}

stop() {
	kill -9 "$1"
	wait "$1" 2>/dev/null || true
}

# rows N - N records
rows() {
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++)
		printf "{\"id\":\"d/%d\",\"dataset\":\"d\",\"messages\":[{\"role\":\"user\",\"content\":\"question %d\"}],\"n\":%d.50}\n", i, i, i }'
}

# begun - waits until a run has its first requests, behind its test request, in flight at U
begun() {
	for _ in $(seq 400); do
		[ "$(curl -s "$U/metrics" | sed -n 's/^e3sim:requests_total{.*} //p')" -ge 2 ] && break
		sleep 0.02
	done
	sleep 0.2
}

# once N FILE... - the ids of these files are those of `rows N`, each once
once() {
	local n=$1
	shift
	cat "$@" | jq -r .id | sort >got.ids
	rows "$n" | jq -r .id | sort >want.ids
	cmp want.ids got.ids
}

# ---- the command line ----

@test "misuse ends with 2 and says what is wrong" {
	for args in "" "--server http://x --servers f" "--server http://x --resume" \
		"--server http://x --resume -o -" "--server http://x --retry-rejects" \
		"--server http://x --temperature -1" "--server http://x --top-p 0" \
		"--server http://x --top-k 0.5" "--server http://x --api soap" \
		"--server http://x --dry-run 3 -o f" "--server http://x --served-by vllm" \
		"--server http://x --shard 3/3" "--server http://x --max-attempts 0"; do
		run -2 e3-infer $args </dev/null
		[[ $output == *usage:* ]]
	done
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

@test "an output or input that can't be is refused before a server is asked" {
	rows 2 >in
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
s.accept()
open("asked", "w").close()' >port 3>&- &
	PIDS=$!
	for _ in $(seq 100); do
		[ -s port ] && break
		sleep 0.05
	done
	U=http://127.0.0.1:$(cat port)
	gen='"generations":[{"model":"m","sampling":{"max_new_tokens":9}}]'
	echo 'old' >there
	echo '{"id":"d/1","infer_key":"0123456789abcdef",'"$gen"'}' >other
	touch held.part
	flock held.part sleep 60 3>&- &
	PIDS="$PIDS $!"
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
	run -1 infer --resume --temperature 1 -o out in
	[ "$(stat -c %Y out)" = 1000 ]
	cmp was out
	[ ! -e out.part ]
}

# ---- what comes out ----

@test "records go through with their bytes, the answer and its ids" {
	serve
	rows 20 >in
	infer --stats st -o out in 2>err
	once 20 out
	grep -q '"n":7.50,' out
	jq -e '.messages | length == 2 and .[1].role == "assistant"' out >/dev/null
	jq -e '.generations[0] | .message == 1 and (.output_ids | length) == .completion_tokens
		and (.prompt_token_ids | length) == .prompt_tokens
		and .sampling == {"max_new_tokens":64} and .weight_version == "default"' out >/dev/null
	jq -e '.infer_key | test("^[0-9a-f]{16}$")' out >/dev/null
	jq -e '.in == 20 and .out == 20 and .answers == 20 and .written == 20' st
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
	e3-infer -q --server "$U" --max-new-tokens 32 -o out in || skip "e3-sim serves no chat"
	once 6 out
	jq -e '.generations[0].output_ids | length > 0' out >/dev/null
	e3-infer -q --no-ids --server "$U" --max-new-tokens 32 -o out2 in
	once 6 out2
}

@test "the completions API of vLLM takes ids and gives ids" {
	serve --api vllm
	rows 6 >in
	infer -o out in 2>err
	grep -q vllm err
	once 6 out
	jq -e '.generations[0].output_ids | length > 0' out >/dev/null
}

@test "the same sampling for every route goes into the record" {
	serve
	rows 1 | infer -q --temperature 0.5 --top-p 0.9 --top-k 40 --extra '{"stop_token_ids":[7]}' >out
	jq -e '.generations[0].sampling == {"max_new_tokens":64,"temperature":0.5,"top_p":0.9,
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
	} >in
	infer --rejects rej -o out in 2>err
	once 3 out
	[ "$(wc -l <rej)" -eq 9 ]
	jq -r .reject.class rej | sort | uniq -c | tr -s ' ' | sort >classes
	grep -q 'duplicate' classes
	grep -q 'turns' classes
	grep -q '12 in = 3 out + 9 rejected' err
}

@test "a reject that is given again loses its reject member" {
	serve
	rows 1 | sed 's/}$/,"reject":{"program":"e3-infer","class":"tired"}}/' >in
	echo '{"id":"m","reject":{"class":"old"},"n":1.50}' >>in
	infer --rejects rej -o out in
	jq -e 'has("reject") | not' out
	grep -q '"n":1.50,"' out
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
	jq -e '.reject.class == "long" and .reject.permanent' rej
}

# ---- the failure table: what a fault does to a record ----

# absorbed FAULT [OPTION...] - every record is answered all the same
absorbed() {
	local fault=$1
	shift
	rows 60 >in
	rm -f out out.part rej
	serve --fault "$fault"
	infer "$@" --max-attempts 9 --rejects rej -o out in 2>err || {
		echo "$fault: $(cat err)"
		return 1
	}
	once 60 out || {
		echo "$fault: $(cat err)"
		return 1
	}
	stop "$PID"
}

# each RETRIES FAULT... - one request after the other meets one of these
each() {
	local retries=$1 n=5 args=
	shift
	for f in "$@"; do
		args="$args --fault $f@$n"
		n=$((n + 2))
	done
	rows 60 >in
	serve $args
	infer --rejects rej -o out in 2>err
	once 60 out
	grep -q " $retries retries, 0 outages" err || {
		cat err
		return 1
	}
}

@test "connections that break: tried again" {
	each 5 reset reset-headers reset-body half-body half-chunk
}

@test "errors that may pass: tried again" {
	each 6 408 500 502 503 abort empty
}

@test "replies that make no sense: tried again" {
	each 11 half-close no-http big-header garbage html cut-json trailing wrong-ids wrong-count \
		wrong-rid no-stop
}

@test "oddities in members that nobody needs cost nothing" {
	each 0 nan surrogate nul bad-utf8 deep double-key big-int null-text
}

@test "a health check that says no while the server works" {
	rows 20 >in
	serve --fault health@0 --fault reset@5
	infer -o out in 2>err
	once 20 out
	grep -q ' 1 retries, 0 outages' err
}

@test "a reply that never makes sense is a reject with its body" {
	rows 60 >in
	serve --fault garbage=0.4 --seed 4
	infer --rejects rej -o out in
	once 60 out rej
	jq -e -s 'length > 0 and all(.reject | .class == "unparsed" and .attempts == 3
		and (.body | length > 0))' rej
	stop "$PID"
	serve --fault garbage=1
	run -1 infer --rejects rej2 -o out2 in
	[[ $output == *"test request"* ]]
}

@test "429 with Retry-After is obeyed" {
	rows 10 >in
	serve --fault 429@4:1
	SECONDS=0
	infer -o out in 2>err
	once 10 out
	[ "$SECONDS" -ge 1 ]
	grep -q ' 1 retries' err
}

@test "refused records are rejects with status, attempts and body, and are not sent again" {
	rows 40 >in
	serve --fault 400=0.2
	infer --rejects rej -o out in
	once 40 out rej
	[ -s rej ]
	jq -e '.reject | .class == "refused" and .status == 400 and .attempts == 1 and .permanent
		and (.body | length > 0) and (.reason | startswith("HTTP 400: "))' rej >/dev/null
}

@test "404 for one record is its own fault, for all it is ours" {
	rows 40 >in
	serve --fault 404@9
	infer --rejects rej -o out in
	once 40 out rej
	[ "$(wc -l <rej)" -eq 1 ]
	stop "$PID"
	serve --fault 401=1
	run -1 infer --rejects rej2 -o out2 in
	[[ $output == *"HTTP 401"* ]]
	[ ! -e out2 ]
}

@test "an error that stays ends in a reject after the attempts allowed" {
	rows 1 >in
	serve --fault 500@2 --fault 500@3
	infer --max-attempts 2 --rejects rej -o out in
	jq -e '.reject | .attempts == 2 and .status == 500 and (.permanent | not)' rej
}

@test "configuration ends the run and rejects nothing" {
	rows 60 >in
	for f in missing-ids@9 cut-prompt@9 307@9; do
		rm -f out.part rej
		serve --fault $f
		run -1 infer --rejects rej -o out in
		[ ! -s rej ]
		[ -e out.part ]
		stop "$PID"
	done
}

@test "an outage costs no attempt: refused, loading, a storm of errors" {
	for f in refused@30:700 loading@30:700; do
		absorbed $f --max-attempts 1
		grep -q ' 0 retries, 1 outages' err
		grep -q 'up again' err
	done
	absorbed storm@30:700
	grep -q ' 1 outages' err
}

@test "a server that never answers, with a time-out, and its request is aborted" {
	absorbed stall@20 --timeout 0.5
	grep -q ' 1 retries' err
}

@test "trickling and big replies" {
	absorbed trickle@5:1
	absorbed big-body@5
}

# ---- statuses and their policies ----

@test "a cut answer is kept and marked, dropped, or tried again" {
	rows 20 >in
	serve --fault length=0.3
	infer --stats st -o out in 2>err
	once 20 out
	n=$(jq -r '.generations[0].status' out | grep -c '^length$')
	[ "$n" -gt 0 ]
	jq -e ".statuses.length == $n" st
	grep -q "20 answers: $((20 - n)) ok, $n length ($((5 * n))%)" err
	jq -e -s 'all(.[].generations[0] | select(.status == "length");
		.finish_reason == "length" and .completion_tokens == 64)' out >/dev/null
	infer --on-length drop --rejects rej -o out2 in
	once 20 out2 rej
	jq -e '.reject | .class == "length" and .permanent' rej >/dev/null
	infer --on-length retry --max-attempts 9 --rejects rej3 -o out3 in
	once 20 out3 rej3
}

@test "a tool call whose arguments do not parse is unparsed, on each route" {
	serve --call-rate 1 --fault bad-call@2
	f='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}'
	rows 3 | sed "s|}\$|,\"tools\":[$f]}|" >in
	for how in "--model $MODEL" "--api vllm"; do
		e3-infer -q --server "$U" $how --concurrency 1 --max-new-tokens 500 -o out in
		jq -s -e 'map(.generations[0].status) | sort == ["ok","ok","unparsed"]' out
		jq -s -e 'map(select(.generations[0].status == "unparsed")) | .[0].messages[1].tool_calls[0].function.arguments' out
		rm out
		stop "$PID"
		serve --call-rate 1 --fault bad-call@2
	done
}

@test "an answer that loops until it is cut" {
	rows 5 >in
	serve --fault repeat=1
	infer --max-new-tokens 512 -o out in
	jq -e '.generations[0].status == "repetition"' out >/dev/null
}

# ---- going on ----

@test "an output that is there is not written over" {
	serve
	rows 2 >in
	touch out
	run -1 infer -o out in
	[ ! -s out ]
	rm out
	touch out.part
	run -1 infer -o out in
}

@test "--resume starts, and goes on after kills at any moment" {
	serve --latency 50 --fault reset=0.02
	rows 400 >in
	for after in 0.1 1.2 0.3 1.35 1.27 9 9; do
		infer -q --rejects rej --resume -o out in 2>>err &
		I=$!
		timeout $after tail --pid=$I -f /dev/null || true
		kill -9 $I 2>/dev/null || true
		wait $I && break
	done 2>/dev/null
	[ -e out ]
	[ ! -e out.part ]
	once 400 out
	infer --resume --rejects rej -o out in 2>err
	grep -q '400 in = 0 out + 400 resumed' err
	grep -q 'nothing was left to ask' err
}

@test "a torn last line is cut" {
	serve
	rows 10 >in
	infer -q -o out in
	head -c -20 out >out.part
	rm out
	infer --resume -o out in 2>err
	once 10 out
	grep -q '9 resumed' err
}

@test "an output that is something else stays as it is" {
	serve
	rows 2 >in
	cp in other
	run -1 infer --resume -o other in
	[[ $output == *"other:1: infer_key: missing"* ]]
	cmp in other
	printf '[{"a":1},{"a":2}]' >array
	cp array other
	run -1 infer --resume -o other in
	[[ $output == *"other: its end is torn"* ]]
	cmp array other
	[ ! -e other.part ]
}

@test "a compressed output that was killed goes on" {
	serve --latency 80
	rows 300 >in
	infer -q --resume -o out.zst in &
	I=$!
	sleep 1.3
	kill -9 $I
	wait $I 2>/dev/null || true
	infer -q --resume -o out.zst in
	zstd -dcq out.zst >out
	once 300 out
}

@test "other parameters or another record are refused with the difference" {
	serve
	rows 3 >in
	infer -q -o out in
	run -1 infer --resume --temperature 1 -o out in
	[[ $output == *'{"max_new_tokens":64}'*'"temperature":1.0'* ]]
	sed -i 's/question 2/another question/' in
	run -1 infer --resume -o out in
	[[ $output == *"in:2: "* ]]
	[ "$(cat out out.part 2>/dev/null | wc -l)" -eq 3 ]
}

@test "a second run on the same output is refused" {
	serve --latency 500
	rows 60 >in
	infer -q --resume -o out in &
	I=$!
	begun
	run -1 infer --resume -o out in
	wait $I
	once 60 out
}

@test "permanent rejects are carried over, the others are sent again" {
	rows 30 >in
	serve --fault 400=0.3
	infer -q --rejects rej -o out in
	n=$(wc -l <rej)
	[ "$n" -gt 0 ]
	stop "$PID"
	serve
	infer --resume --rejects rej -o out in 2>err
	grep -q "30 in = 0 out + $n rejected (refused $n) + $((30 - n)) resumed" err
	once 30 out rej
	infer --resume --retry-rejects --rejects rej -o out in 2>err
	grep -q "30 in = $n out + $((30 - n)) resumed" err
	once 30 out
}

@test "a record that grew tired of attempts is sent again on resume" {
	rows 30 >in
	serve --fault 500=0.3
	infer -q --max-attempts 1 --rejects rej -o out in || true
	stop "$PID"
	serve
	infer -q --resume --rejects rej -o out in
	once 30 out
	[ ! -s rej ]
}

# ---- signals ----

@test "SIGINT drains: what is in flight is finished, nothing else is begun" {
	serve --latency 400
	rows 100 >in
	env --default-signal=INT infer -o out in 2>err &
	I=$!
	begun
	kill -INT $I
	rc=0
	wait $I || rc=$?
	[ $rc -eq 130 ]
	[ "$(wc -l <out.part)" -ge 8 ]
	grep -q 'stopped by signal 2' err
	grep -q 'out.part keeps what is done; the same command with --resume goes on' err
	infer -q --resume --concurrency 100 -o out in
	once 100 out
}

@test "a second SIGINT stops at once and aborts what runs" {
	serve --fault stall@3
	rows 10 >in
	env --default-signal=INT infer -o out in 2>err &
	I=$!
	begun
	kill -INT $I
	sleep 0.1
	SECONDS=0
	kill -INT $I
	rc=0
	wait $I || rc=$?
	[ $rc -eq 130 ]
	[ "$SECONDS" -le 3 ]
	sleep 0.1
	curl -s "$U/metrics" | grep -E '^sglang:num_running_reqs[ {].* 0(\.0)?$'
}

@test "SIGUSR1 tells the state" {
	serve --latency 1500
	rows 10 >in
	infer -q -o out in 2>err &
	I=$!
	begun
	kill -USR1 $I
	wait $I
	grep -q "$U: up, 8 of 8 in flight" err
	grep -q 'oldest in flight: e3;' err
}

# ---- many servers ----

@test "work goes to whoever is free; one of them is dead" {
	serve
	dead=$U
	stop "$PID"
	serve --latency 5
	a=$U
	serve --latency 50
	rows 100 >in
	e3-infer --server "$dead" --server "$a" --server "$U" --model "$MODEL" --concurrency 4 \
		--max-new-tokens 64 -o out in 2>err
	once 100 out
}

@test "a server that dies in the middle gives its work back" {
	serve --latency 50
	a=$U
	victim=$PID
	serve --latency 50
	rows 150 >in
	e3-infer --server "$a" --server "$U" --model "$MODEL" --concurrency 4 --max-new-tokens 64 \
		--max-attempts 1 -o out in 2>err &
	I=$!
	begun
	stop "$victim"
	wait $I
	once 150 out
	grep -q "$a: down" err
	grep -q ' 0 retries' err
}

@test "the servers file is read again on SIGHUP" {
	serve --latency 100
	a=$U
	serve --latency 100
	rows 60 >in
	printf '# servers\n%s\n' "$a" >servers
	e3-infer --servers servers --model "$MODEL" --concurrency 2 --max-new-tokens 64 -o out in 2>err &
	I=$!
	U=$a begun
	# of a list that is wrong nothing is taken, and nothing is shown
	printf '%s\nhttp://user:s3cr3t@h\n' "$U" >servers
	kill -HUP $I
	for _ in $(seq 100); do
		grep -q 'servers stay as they were: servers:2: ' err && break
		sleep 0.02
	done
	run -1 grep -e s3cr3t -e "$U" err
	echo "$U" >servers
	kill -HUP $I
	wait $I
	once 60 out
	grep -q 'servers read again: 2' err
	grep -q "$U: sglang" err
}

@test "servers with different models do not go into one run" {
	serve --served-model one
	a=$U
	serve --served-model two
	rows 5 >in
	run -1 e3-infer --server "$a" --server "$U" --model "$MODEL" -o out in
	[[ $output == *"serves "*", the run is with "* ]]
}

# ---- turns ----

multi() {
	u='{"role":"user","content":"q"}' a='{"role":"assistant","content":"old","weight":0}'
	echo "{\"id\":\"d/1\",\"messages\":[$u,$a,$u,$a,$u,$a]}"
	echo "{\"id\":\"d/2\",\"messages\":[$u,$a,$u]}"
}

@test "--turns last answers the last user message only" {
	serve
	multi | infer -q -o out
	jq -e '[.generations | length] == [1]' out >/dev/null
	jq -c '[.id, (.messages | length)]' out | sort | tr -d '\n' | grep -qF '["d/1",6]["d/2",4]'
	jq -e '.messages[1].content == "old"' out >/dev/null
}

@test "--turns all makes every answer anew, each prompt with the answers before it" {
	serve
	multi | infer -q --turns all -o out
	jq -e 'all(.messages[].content; . != "old")' out >/dev/null
	jq -e -s 'map(select(.id == "d/1"))[0] | [.generations[].message] == [1, 3, 5]' out
	# the second prompt begins with the first one
	jq -e '.generations | .[1].prompt_token_ids as $b | .[0].prompt_token_ids as $a
		| $b[:($a | length)] == $a' out >/dev/null
}

@test "finished turns survive a failure of a later one" {
	serve --fault 400@4
	multi | head -n 1 >in
	infer -q --turns all --rejects rej -o out in
	jq -e '.reject.progress.generations | length >= 1' rej
	stop "$PID"
	serve
	infer --turns all --resume --retry-rejects --rejects rej -o out in 2>err
	jq -e '[.generations[].message] == [1, 3, 5]' out
	grep -q '[12] answers' err
}

@test "finished turns survive a kill" {
	serve --fault stall@4
	multi | head -n 1 >in
	infer -q --turns all --resume -o out in &
	I=$!
	for _ in $(seq 200); do
		[ "$(wc -l 2>/dev/null <out.turns)" = 2 ] && break
		sleep 0.05
	done
	kill -9 $I
	wait $I || true
	[ "$(wc -l <out.turns)" -eq 2 ]
	infer --turns all --resume -o out in 2>err
	grep -q ': 1 answers' err
	jq -e '[.generations[].message] == [1, 3, 5]' out
	[ ! -e out.turns ]
}

@test "tool calls get the recorded results under their new ids" {
	serve --call-rate 1
	cat >in <<'END'
{"id":"d/1","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"old","type":"function","function":{"name":"f","arguments":"{}"}}],"weight":0},{"role":"tool","tool_call_id":"old","content":"the result"},{"role":"assistant","content":"a","weight":0}]}
END
	infer -q --turns all -o out in
	jq -e '.messages[1].tool_calls[0].id as $id | .messages[2]
		| .role == "tool" and .content == "the result" and .tool_call_id == $id' out
	jq -e '.generations[1].ended == "call_without_result"' out
}

# ---- our own limits ----

@test "a full disk ends the run clean, and it goes on" {
	serve
	rows 5 >in
	run -1 infer -q -o /dev/full in
	[[ $output == *"No space left"* ]]
}

@test "a reader that goes away" {
	serve
	rows 200 >in
	infer -q in 2>err | head -n 1 >first
	[ "$(wc -l <first)" -eq 1 ]
}

@test "the key comes from the environment and is nowhere to be seen" {
	serve
	rows 2 >in
	E3_API_KEY=s3cr3t-k3y infer --rejects rej --stats st -o out in >all 2>&1
	! grep -q s3cr3t all out st sim.err || false
}

@test "a certificate that is not trusted ends the run, and nothing is rejected" {
	command -v openssl >/dev/null || skip "no openssl"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=127.0.0.1 2>/dev/null
	python3 -c 'import socket, ssl
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain("cert", "key")
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    try: got = c.wrap_socket(s.accept()[0], server_side=True).recv(9)
    except OSError: got = b""
    if got: open("asked", "wb").write(got)' >port 3>&- &
	PIDS=$!
	for _ in $(seq 100); do
		[ -s port ] && break
		sleep 0.05
	done
	rows 2 >in
	run -1 e3-infer --server "https://127.0.0.1:$(cat port)" --no-ids --rejects rej -o out in
	[[ $output == *"certificate not trusted"* ]]
	[ ! -e asked ]
	[ ! -s rej ]
}

@test "no proxy of the environment is used" {
	serve
	rows 2 >in
	http_proxy=http://127.0.0.1:1 infer -q -o out in
	once 2 out
}

@test "standard input that is slower than the server" {
	serve
	{
		rows 3 | head -n 1
		sleep 0.5
		rows 3 | tail -n 2
	} | infer -q -o out
	once 3 out
}
