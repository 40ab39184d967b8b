#!/usr/bin/env bats
# e3-infer against the stand-in server's faults: nothing lost, nothing twice. The table of failures row
# by row: each test names its row.

bats_require_minimum_version 1.5.0
load infer
load holds
load fast

# meets OUTCOME FAULT[:ARG]... - one of 60 requests after the other meets one of these, $GAP (2) apart.
# OUTCOME is what the summary must say. All are sent at once, so that no record meets two: what is sent
# again comes behind the last fault
meets() {
	local outcome=$1 n=5 args= gap=${GAP:-2}
	shift
	for f in "$@"; do
		args="$args --fault ${f%%:*}@$n$(expr "x$f" : 'x[^:]*\(:.*\)' || true)"
		n=$((n + gap))
	done
	rows 60 >in
	rm -f out out.part rej
	serve $args
	infer --concurrency 60 --rejects rej -o out in 2>err || true
	once 60 out rej && grep -q "$outcome" err || {
		echo "$*: $(cat err)"
		return 1
	}
	stop "$PID"
}

# absorbed FAULT [OPTION...] - every record is answered all the same
absorbed() {
	local fault=$1
	shift
	rows 60 >in
	rm -f out out.part rej
	serve --fault "$fault"
	infer "$@" --max-attempts 9 --rejects rej -o out in 2>err && once 60 out || {
		echo "$fault: $(cat err)"
		return 1
	}
	stop "$PID"
}

# stops FAULT... - at each of these, behind some answers, the run ends with one line, rejects nothing, and
# goes on when the server is right again
stops() {
	for f in "$@"; do
		rows 60 >in
		rm -f out out.part rej
		serve --fault "$f"
		run -1 infer -q --rejects rej -o out in
		[ "${#lines[@]}" -eq 2 ] && [[ $output == *"$U: "* ]] || {
			echo "$f: $output"
			return 1
		}
		[ ! -s rej ]
		[ -e out.part ]
		stop "$PID"
		serve
		infer -q --resume --rejects rej -o out in
		once 60 out
		stop "$PID"
	done
}

# ---- success ----

@test "success: oddities in members that nobody needs cost nothing" {
	meets ' 0 retries, 0 outages' nan surrogate nul bad-utf8 deep double-key big-int null-text
}

@test "success: an answer as slow or as big as it likes" {
	meets ' 0 retries, 0 outages' trickle:1 big-body slow:30
}

# ---- permanent, the record's fault ----

@test "permanent: 400, 403, 404, 413, 422 for one record: rejected with the body, not sent again" {
	# nor does a test request, which follows 403 and 404
	GAP=12 meets '55 out + 5 rejected (refused 5)' 400 status:403 404 status:413 status:422
	[ "$(jq -r .reject.status rej | sort | xargs)" = "400 403 404 413 422" ]
	holds '.reject | .class == "refused" and .attempts == 1 and .permanent and (.body | length > 0)
		and (.reason | startswith("HTTP 4"))' rej
	serve
	infer --resume --rejects rej -o out in 2>err
	grep -q '60 in = 0 out + 5 rejected (refused 5) + 55 resumed' err
}

@test "permanent: 401, 403, 404 at every request are the run's fault: it stops" {
	stops 401@20-999 status@20-999:403 404@20-999
	serve --fault 401=1
	run -1 infer --rejects rej2 -o out2 in
	[[ $output == *"HTTP 401"* ]]
	[ ! -e out2 ]
}

@test "permanent: one that follows another is asked about; all at once are the records' own, too" {
	rows 40 >in
	serve --fault 400@2-21 # then comes the test request
	infer --concurrency 20 --rejects rej -o out in 2>err
	once 40 out rej
	grep -q '40 in = 20 out + 20 rejected (refused 20)$' err
	grep -q ' 0 outages' err
	stop "$PID"
	# and of a server that refuses everything from now on
	rm out rej
	serve --fault 400@12-9999
	run -1 infer -q --rejects rej -o out in
	[[ $output == *"a test request for one token fails: refused: "*"HTTP 400"* ]]
	[ "$(wc -l <rej)" -le 1 ]
}

# ---- transient ----

@test "transient: lost connections are tried again" {
	meets ' 5 retries, 0 outages' reset reset-headers reset-body half-body half-chunk
}

@test "transient: 5xx, an abort, no token: tried again" {
	meets ' 6 retries, 0 outages' 500 502 status:504 status:599 abort empty
}

@test "transient: after the attempts allowed it is a reject, and sent again by a later run" {
	rows 1 >in
	serve --fault 500@2 --fault 500@3
	infer --max-attempts 2 --rejects rej -o out in
	[ ! -s out ]
	holds '.reject | .attempts == 2 and .status == 500 and (.permanent | not)
		and (.reason | startswith("given up after 2 attempts: HTTP 500: "))' rej
	infer -q --resume --rejects rej -o out in
	once 1 out
}

@test "transient: a time-out costs an attempt; the old request is aborted before the next, of another id" {
	rows 1 >in
	serve --fault stall@2-3
	infer --timeout 2 -o out in 2>err &
	I=$!
	begun
	while kill -USR1 $I; do
		sleep 0.2
	done 2>/dev/null
	wait $I
	once 1 out
	grep -q ' 2 retries' err
	[ "$(sed -n 's/.*oldest in flight: e3;.*;t0;\(a[0-9]*\); .*/\1/p' err | uniq | head -n 2 | xargs)" = "a0 a1" ]
	kill "$PID"
	wait "$PID" || true
	grep -q ', 2 aborted' sim.err
}

@test "transient: requests that are out of time together are no outage" {
	rows 20 >in
	serve --fault stall@2-41
	infer --concurrency 20 --timeout 1 --max-attempts 2 --rejects rej -o out in 2>err &
	I=$!
	ends
	[ "$RC" -eq 0 ]
	grep -q '20 in = 0 out + 20 rejected (transient 20)' err
	grep -q ' 20 retries, 0 outages' err
	holds '.reject | .attempts == 2 and (.reason | test("^given up after 2 attempts: timed out: "))' rej
}

@test "transient: retries over a tenth of the requests wait, and are not rejected for it" {
	# of one length: they are sent in their order
	seq 1001 1200 | sed 's|.*|{"id":"d/&","messages":[{"role":"user","content":"question &"}]}|' >in
	# 60 of the first 120 requests behind the test request fail, each record once: the one that may be
	# sent again at once comes next, and the others may be when another ten were sent, of which the last
	# one failed
	serve $(seq 3 2 121 | sed 's/.*/--fault 500@&/')
	infer --concurrency 1 --backoff 0 --max-attempts 2 --stats st -o out in
	holds '.out == 200 and .retries == 60 and .requests == 260' st
	# 10 and a tenth of 120 could be made at once; the others came when the new ones had been sent
	late=$(jq -r .id out | awk -F/ '$2 < max { late++ } $2 > max { max = $2 } END { print late + 0 }')
	[ "$late" -ge 30 ]
}

@test "transient: retries that wait go together when no new record is left to send" {
	rows 60 >in
	serve $(seq 3 2 57 | sed 's/.*/--fault 500@&/') --fault stall@62-99
	infer --concurrency 60 -o out in 2>err &
	I=$!
	begun
	tells ': up, 28 of 60 in flight, 32 ok, 28 failed, 0 outages'
	kill -9 $I
	wait $I || true
}

# ---- busy ----

@test "busy: 408, 425, 429, with Retry-After obeyed, and 503 cost nothing" {
	SECONDS=0
	meets ' 0 retries, 4 turned away, 0 outages' 408 status:425 429:2 503
	[ "$SECONDS" -ge 2 ]
}

@test "busy: a server that takes eight at once answers all of a run that would send more" {
	rows 400 >in
	serve --slots 4 --max-queued 4 --latency 20
	infer --concurrency 64 --max-attempts 1 --stats stats -o out in 2>err
	once 400 out
	! infer -q --concurrency 64 in 2>&1 >/dev/null | grep . || false
	grep -q ': turns requests away, fewer are sent at once: HTTP 503: The request queue is full\.$' err
	# 56 of the first 64, and one for two answers from then on
	holds '.retries == 0 and .outages == 0 and .turned_away >= 56 and .turned_away < 400' stats
}

@test "busy: a server that turns all away has an outage; nobody pays" {
	rows 60 >in
	serve --fault 503@2-61
	infer --concurrency 60 --max-attempts 1 -o out in 2>err
	once 60 out
	grep -q ': down: turns every request away: HTTP 503' err
	grep -q ' 0 retries, 60 turned away, 1 outage' err
}

@test "busy: a record that is turned away more than 20 times pays, at last with a reject" {
	rows 1 >in
	# between them the test requests after an outage
	serve --fault 503@2-9 --fault 503@11-18 --fault 503@20-99
	infer --max-attempts 2 --rejects rej -o out in 2>err
	holds '.reject | .class == "busy" and .attempts == 2 and .status == 503 and (.permanent | not)' rej
	grep -q ' 1 retry, 22 turned away, 2 outages' err
}

# ---- unparsable ----

@test "unparsable: cut, HTML, no HTTP, another 2xx, a header too long, failed checks: tried again" {
	meets ' 13 retries, 0 outages' half-close no-http big-header garbage html cut-json trailing \
		wrong-ids wrong-count wrong-rid no-stop status:201 status:299
}

@test "unparsable: a reply over the limit is not read on" {
	meets ' 1 retry, 0 outages' big-body:70000000
}

@test "unparsable: what never makes sense is a reject with its body after three attempts" {
	rows 1 >in
	serve --fault garbage@2-4
	infer --rejects rej -o out in
	[ ! -s out ]
	holds '.reject | .class == "unparsed" and .attempts == 3 and (.body | length > 0)
		and (.permanent | not)' rej
	stop "$PID"
	serve --fault garbage=1
	run -1 infer --rejects rej2 -o out2 in
	[[ $output == *"test request"* ]]
}

@test "unparsable: a server all whose answers are is waited for" {
	rows 60 >in
	serve --fault html@2-65
	infer --concurrency 60 --rejects rej -o out in 2>err
	once 60 out
	[ ! -s rej ]
	grep -q ': down: [0-9]* requests failed in a row, the last one: the reply is not one whole JSON object$' err
	grep -q ': up again$' err
}

# ---- outage, the server's fault ----

@test "outage: refused, loading, a storm of errors: no attempt is spent" {
	for f in refused@30:2000 loading@30:2000; do
		absorbed $f --max-attempts 1
		grep -q ' 0 retries, 1 outage$' err
		grep -q 'up again' err
	done
	# eight in a row, also where an answer of before comes after seven of them
	absorbed 500@30-45
	grep -q ' 1 outage$' err
}

@test "outage: a server that is loading at the start is waited for" {
	rows 5 >in
	serve --fault loading@0:1500
	infer -q --rejects rej -o out in
	once 5 out
}

@test "outage: a server that is loading is waited for also where another one is not there" {
	rows 5 >in
	serve
	stop "$PID"
	dead=$U
	serve --fault loading@0:2500
	e3-infer -q --server "$U" --server "$dead" --model "$MODEL" --max-new-tokens 64 -o out in
	once 5 out
}

@test "outage: one that comes back is given half its load, then more" {
	serve --latency 100 --fault refused@30:2000
	rows 900 >in
	infer --concurrency 40 -o out in 2>err &
	I=$!
	said 'up again'
	# 20 and four more each second; not 40, and not for ever
	tells ': up, [0-9]* of 2[0-9] in flight'
	tells ': up, [0-9]* of \(2[4-9]\|3[0-9]\) in flight'
	wait $I
	once 900 out
	run -1 grep ': up, [0-9]* of 1\?[0-9] in flight' err
}

@test "outage: a record that runs alone gives its server free when it fails otherwise" {
	rows 1 >in
	# each time it is back it is first asked for a test answer
	serve --fault refused@2:100 --fault refused@4:100 --fault refused@6:100 --fault 500@8
	infer -o out in 2>err &
	I=$!
	ends
	[ $RC -eq 0 ]
	once 1 out
	grep -q ' 1 retry, 3 outages' err
}

@test "outage: a health check that says no while the server works is none" {
	rows 20 >in
	serve --fault health@0 --fault reset@5
	infer -o out in 2>err
	once 20 out
	grep -q ' 1 retry, 0 outages' err
}

@test "outage: a server whose test answer takes its time is waited for, not turned round after" {
	rows 5 >in
	serve --fault refused@2:100 --fault stall@3-99
	infer -o out in 2>err &
	I=$!
	said ': down'
	sleep 2
	read -r -a ticks <"/proc/$I/stat"
	sleep 3
	read -r -a later <"/proc/$I/stat"
	kill -9 $I
	wait $I || true
	# of three seconds
	[ $((later[13] + later[14] - ticks[13] - ticks[14])) -lt "$(getconf CLK_TCK)" ]
}

@test "outage: a server that makes no token for five minutes hangs; nobody pays" {
	rows 40 >in
	serve --fault stall@2-1000
	bad=$U
	serve --latency 500
	fast 30 infer --server "$bad" --max-attempts 1 -o out in 2>err
	once 40 out
	grep -q "^e3-infer: $bad: down: 8 requests, and no token in 300 s\$" err
	grep -q ' 0 retries, 1 outage' err
}

# no_figures HOOK - what stands before the server U keeps its figures back; HOOK does more
no_figures() {
	relay "if path == '/metrics': status = 404
$1"
}

@test "outage: long answers, whose tokens are counted when they end, are no hang" {
	# as SGLang does; what the cache holds grows before that. Six minutes by that clock
	rows 8 >in
	serve --latency 1200 --fault slow@2-9
	relay 'if path == "/metrics": was["n"] = was.get("n", 0) + 40; body += b"sglang:num_used_tokens{tp_rank=\"0\"} %d\n" % was["n"]'
	fast 30 infer --max-attempts 1 -o out in 2>err
	once 8 out
	grep -q ' 0 outages' err
}

@test "outage: without figures, a server of which nothing is heard for five minutes hangs" {
	rows 40 >in
	serve --fault stall@2-1000 --fault health@0
	no_figures
	bad=$U
	serve --latency 500
	fast 30 infer --server "$bad" --max-attempts 1 -o out in 2>err
	once 40 out
	grep -q "^e3-infer: $bad: no figures at /metrics: a hang shows only at /health\$" err
	grep -q "^e3-infer: $bad: down: 8 requests, and no answer, not even about its health, in 300 s\$" err
	grep -q ' 0 retries, 1 outage' err
}

@test "outage: without figures, an answer or good health is a sign of life" {
	# six minutes by that clock each
	rows 8 >in
	serve --latency 1200 --fault slow@2-9
	no_figures
	fast 30 infer --max-attempts 1 -o out in 2>err
	once 8 out
	grep -q ' 0 outages' err
	# three minutes each, three times
	rows 12 >in
	serve --latency 6000 --fault health@0
	no_figures
	fast 30 infer --concurrency 4 --max-attempts 1 -o out2 in 2>err
	once 12 out2
	grep -q ' 0 outages' err
}

# ---- configuration ----

@test "configuration: redirect, 402, 405, 415, 431, no ids, a prompt cut: the run stops" {
	stops 307@20 status@20:402 status@20:405 status@20:415 status@20:431 missing-ids@20 cut-prompt@20
	serve --fault 307@20
	run -1 infer -q -o out2 in
	[[ $output == *"$U: redirect: HTTP 307 to $U/elsewhere: Temporary Redirect" ]]
}

# odd KIND - a host that is no model server; U is its address, and port gets a line a request
odd() {
	rm -f port
	python3 "$TOP/tests/fault/odd_host.py" "$1" >port 3>&- &
	PID=$!
	PIDS="$PIDS $PID"
	until [ -s port ]; do
		kill -0 "$PID"
		sleep 0.05
	done
	U=http://127.0.0.1:$(head -n 1 port)
}

@test "configuration: a host that is no model server: what was asked, what came, what to look at" {
	local tells='does not say which model it serves: GET /v1/models:' on='; --served-model NAME goes on without'
	local test='a test request for one token fails:' URL="(is this a model server's URL, without /v1?)"
	local other='(is another program at this port, or https?)' key="(is E3_API_KEY the server's key?)"
	local leads="HTTP 301 to https://example.org/ (give that URL if it is the server's)"
	rows 2 >in
	while IFS='|' read -r kind first second; do
		odd "$kind"
		run -1 infer -o out in
		[ "$output" = "e3-infer: $U: $first" ] || { echo "$kind: $output"; return 1; }
		run -1 infer --served-model m --api sglang -o out in
		[ "$output" = "e3-infer: $U: $second" ] || { echo "$kind: $output"; return 1; }
		[ ! -e out.part ]
		stop "$PID"
	done <<-END
		html|$tells HTTP 200: <!DOCTYPE html> $URL$on|$test no reply of this API: the reply is not one whole JSON object: POST /generate: HTTP 200: <!DOCTYPE html> $URL
		404|$tells HTTP 404: Not Found $URL$on|$test refused: POST /generate: HTTP 404: Not Found $URL
		redirect|$tells $leads$on|$test redirect: POST /generate: $leads
		key|$tells HTTP 401: key? $key$on|$test refused: POST /generate: HTTP 401: key? $key
		ssh|GET /v1/models: no HTTP: Unsupported protocol $other|GET /v1/models: no HTTP: Unsupported protocol $other
		tls|GET /v1/models: no HTTP: Unsupported protocol $other|GET /v1/models: no HTTP: Unsupported protocol $other
		close|GET /v1/models: no answer: Server returned nothing (no headers, no data) $other|GET /v1/models: no answer: Server returned nothing (no headers, no data) $other
	END
}

@test "outage: a server that takes connections and says nothing is told of while it is waited for" {
	odd silent
	off=$U
	odd silent
	rows 2 >in
	printf '%s\n' "$off" "$U" >servers
	e3-infer --servers servers -o out in 2>err &
	I=$!
	until grep -q asked port; do
		kill -0 $I
		sleep 0.05
	done
	echo "$U" >servers
	kill -HUP $I
	said "$U: waiting: no answer from /v1/models yet"
	said 'servers read again'
	! sed "0,/servers read again/d" err | grep "$off" || false
	kill -9 $I
	wait $I || true
}

@test "configuration: a certificate that is not trusted ends the run, and nothing is rejected" {
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
	until [ -s port ]; do
		kill -0 $PIDS
		sleep 0.05
	done
	rows 2 >in
	run -1 e3-infer --server "https://127.0.0.1:$(cat port)" --no-ids --rejects rej -o out in
	[[ $output == *"certificate not trusted"* ]]
	[ ! -e asked ]
	[ ! -s rej ]
}

# small - a model folder of the demo's first 2000 tokens, with its special ones behind them
small() {
	cp -r "$MODEL" small
	head -n 2000 "$MODEL/tiktoken.model" >small/tiktoken.model
	jq '.added_tokens_decoder |= with_entries(.key |= (tonumber - 1840 | tostring))' \
		"$MODEL/tokenizer_config.json" >small/tokenizer_config.json
	jq '.eos_token_id = 2002' "$MODEL/generation_config.json" >small/generation_config.json
	jq '.vocab_size = 2256' "$MODEL/config.json" >small/config.json
}

@test "configuration: ids that are not of --model's vocabulary" {
	small
	rows 60 >in
	which="is that the folder of the model served ($MODEL)?"
	# the test request's answer, of one token, may be in both; one without a token tells nothing
	for t in "another vocabulary: |--seed 1" "$U: another vocabulary: |--fault empty@1"; do
		serve ${t#*|}
		run -1 infer --model small --rejects rej -o out in
		[[ $output == *"${t%|*}the server's answer has id "[0-9]*", which --model small has not: $which" ]]
		[ ! -s rej ]
		[ ! -s out.part ]
		rm -f out.part
		stop "$PID"
	done
	serve --model small
	run -1 infer -o out in
	[[ $output == *"a test request for one token fails: refused: POST /generate: HTTP 400: token id "*" (is --model $MODEL the folder of the model served, small?)" ]]
	[ ! -e out ]
}

@test "unparsable: an id of no token, once among many, is that record's" {
	serve
	relay 'if path == "/generate" and 40 <= n < 43: body = re.sub(rb"(output_ids.:\[)\d+", rb"\g<1>5000", body)'
	rows 60 >in
	infer --concurrency 1 --rejects rej -o out in 2>err
	once 60 out rej
	grep -q ' 3 retries' err
	[ ! -s rej ]
}

@test "configuration: the first answers are all unparsed; none is written until one is not" {
	local tool='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}'
	rows 60 | sed "s|}\$|,\"tools\":[$tool]}|" >in
	serve --call-rate 0 --fault bad-call=1
	run -1 infer --max-new-tokens 500 --rejects rej -o out in
	[[ $output == *"the first 20 answers can't be told into their parts: is --model $MODEL the folder of the model served ($MODEL)? (--on-unparsed keep goes on all the same)" ]]
	[ ! -s rej ]
	[ ! -s out.part ]
	# few are kept, the last at the end of the input; and all where the user says so
	head -n 19 in | infer -q --max-new-tokens 500 --ordered -o few
	[ "$(jq -r .id few | xargs)" = "$(seq -f d/%g 19 | xargs)" ]
	infer -q --max-new-tokens 500 --on-unparsed keep -o all in
	[ "$(jq -r '.generations[0].status' all | sort | uniq -c | xargs)" = "60 unparsed" ]
	# a window that they fill
	head -n 12 in | infer -q --max-new-tokens 500 --window 1 --concurrency 2 -o narrow
	[ "$(wc -l <narrow)" -eq 12 ]
	stop "$PID"
	serve --call-rate 0 --fault bad-call@2-16
	infer -q --max-new-tokens 500 --resume --rejects rej -o out in
	once 60 out
	[ "$(jq -r '.generations[0].status' out | sort | uniq -c | xargs)" = "45 ok 15 unparsed" ]
}

@test "configuration: nor is an answer that was cut, kept or dropped, until one is whole or 20 were cut" {
	local tool='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}'
	rows 60 | sed "s|}\$|,\"tools\":[$tool]}|" >in
	serve --call-rate 0 --fault length@2-11 --fault bad-call@12-99
	run -1 infer --max-new-tokens 500 --on-length drop --rejects rej -o out in
	[[ $output == *"the first 20 answers can't be told into their parts: "* ]]
	[ ! -s out.part ]
	[ ! -s rej ]
	stop "$PID"
	rm out.part
	serve --call-rate 0 --fault length@2-11
	infer -q --max-new-tokens 500 --on-length drop --rejects rej -o out in
	once 60 out rej
	[ "$(jq -r .reject.class rej | sort | uniq -c | xargs)" = "10 length" ]
	stop "$PID"
	serve --call-rate 0 --fault length@2-21 --fault bad-call@22-99
	infer -q --max-new-tokens 500 -o cut in
	[ "$(jq -r '.generations[0].status' cut | sort | uniq -c | xargs)" = "20 length 40 unparsed" ]
}

@test "configuration: answers that end with a token which ends no turn in --model" {
	cp -r "$MODEL" other
	jq '.eos_token_id = 3841' "$MODEL/generation_config.json" >other/generation_config.json
	rows 60 >in
	serve --model other
	run -1 infer --max-new-tokens 500 --rejects rej -o out in
	[[ $output == *"the first 20 answers end with [EOS], which ends no turn in --model $MODEL: is that the folder of the model served (other)? (--on-unparsed keep goes on all the same)" ]]
	[ ! -s rej ]
	[ ! -s out.part ]
	infer -q --max-new-tokens 500 --on-unparsed keep -o all in
	[ "$(jq -r '.generations[0].status' all | sort | uniq -c | xargs)" = "60 unparsed" ]
	# one that the user asked for is no mistake
	infer -q --max-new-tokens 500 --extra '{"stop_token_ids":[3841]}' -o asked in
	[ "$(jq -r '.generations[0].status' asked | sort | uniq -c | xargs)" = "60 ok" ]
}

@test "configuration: what waits in doubt is written when the run is interrupted" {
	local tool='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}'
	rows 30 | sed "s|}\$|,\"tools\":[$tool]}|" >in
	serve --call-rate 0 --fault bad-call=1 --fault slow@8-99:1000 --latency 20
	infer --max-new-tokens 500 --concurrency 3 -o out in 2>err &
	I=$!
	begun
	tells ' 6 unparsed'
	kill -INT $I
	said stopping:
	kill -INT $I
	ends
	[ "$RC" -eq 130 ]
	[ "$(jq -r '.generations[0].status' out.part | sort | uniq -c | xargs)" = "6 unparsed" ]
}

@test "configuration: a server that comes back as another one" {
	rows 2000 >in
	for t in "serves other, the run is with |--served-model other" \
		"has weights w2, the run is with default|--weight-version w2" \
		"has a context of 4096 tokens, the run is with |--context 4096" \
		"gives no token ids|--fault missing-ids=1"; do
		rm -f out out.part rej
		serve --latency 100
		infer --rejects rej -o out in 2>err &
		I=$!
		begun
		tells ' [1-9][0-9]* answers*: '
		stop "$PID"
		# one that is back before anybody looks is only seen to have lost what it had
		said ': down: '
		serve --port "$PORT" ${t#*|}
		rc=0
		wait $I || rc=$?
		[ $rc -eq 1 ]
		grep -q "$U: .*${t%|*}" err || {
			cat err
			return 1
		}
		[ ! -s rej ]
		[ -e out.part ]
		stop "$PID"
	done
}

@test "configuration: a server that comes back as another one before it was seen to be away" {
	rows 2000 >in
	for t in "serves other, the run is with |--served-model other" \
		"has weights w2, the run is with default|--weight-version w2" \
		"has a context of 4096 tokens, the run is with |--context 4096"; do
		rm -f out out.part rej
		serve --latency 100
		infer --concurrency 4 --rejects rej -o out in 2>err &
		I=$!
		begun
		tells ' [1-9][0-9]* answers*: '
		kill -STOP $I
		stop "$PID"
		serve --port "$PORT" ${t#*|}
		kill -CONT $I
		rc=0
		wait $I || rc=$?
		[ $rc -eq 1 ]
		grep -q "$U: .*${t%|*}" err
		run -1 grep w2 out.part
		[ ! -s rej ]
		stop "$PID"
	done
}

@test "configuration: a server that is another one after a time without requests" {
	serve
	mkfifo pipe
	infer --rejects rej -o out <pipe 2>err &
	I=$!
	exec 9>pipe
	rows 5 >&9
	begun
	tells ': 5 answers: '
	stop "$PID"
	serve --port "$PORT" --weight-version w2
	rows 10 | tail -n 5 >&9
	exec 9>&-
	ends
	[ "$RC" -eq 1 ]
	grep -q "$U: another server: has weights w2, the run is with default" err
	[ ! -s rej ]
	jq -r .id out.part | sort | cmp - <(rows 5 | jq -r .id | sort)
}

@test "configuration: what a server that lost a connection does not say again is as it was" {
	rows 40 >in
	serve --fault reset@12
	# the weights are told once
	relay 'if path.endswith("model_info"):
    if was: status = 500; open("asked", "w").close()
    was[path] = 1'
	infer --rejects rej -o out in 2>err || {
		cat err
		false
	}
	once 40 out
	[ -e asked ]
	grep -q ' 1 retry, 0 outages' err
}

@test "configuration: a server that comes back is asked for nothing until it tells what it is" {
	rows 300 >in
	serve --latency 20 --fault refused@40:500
	# back again, it keeps its weights to itself until somebody has seen it
	relay 'if path.endswith("model_info"):
    was["asked"] = was.get("asked", 0) + 1
    if was["asked"] > 1 and not os.path.exists("seen"): status = 500
    was["untold"] = status == 500
elif was.get("untold"): open("sent", "a").write(path + "\n")'
	infer --rejects rej -o out in 2>err &
	I=$!
	said ": down: does not tell its weights, the run is with default"
	: >seen
	said ': up again'
	wait $I
	once 300 out
	! grep -q generate sent || false
}

@test "configuration: a server that joins is asked for nothing until it tells what it is" {
	rows 200 >in
	serve --latency 100
	a=$U
	serve --weight-version w2
	relay 'if path.endswith("model_info") and not os.path.exists("seen"): status = 500
if path == "/generate": open("sent", "w").close()'
	echo "$a" >servers
	e3-infer --servers servers --model "$MODEL" --concurrency 4 --max-new-tokens 64 -o out in 2>err &
	I=$!
	U=$a begun
	echo "$U" >>servers
	kill -HUP $I
	said "$U: down: does not tell its weights, the run is with default"
	: >seen
	said "$U: has weights w2, the run is with default: left out"
	wait $I
	once 200 out
	[ ! -e sent ]
}

@test "configuration: servers that differ do not go into one run" {
	rows 5 >in
	# which of the two is the first to answer, and so the run's, is open
	for t in "serves .*, the run is with|--served-model two" "has weights .*, the run is with|--weight-version two" \
		"has a context of .*, the run is with|--context 4096"; do
		serve
		a=$U
		serve ${t#*|}
		run -1 e3-infer --server "$a" --server "$U" --model "$MODEL" -o out in
		echo "$output"
		grep -q "${t%|*}" <<<"$output"
		[ ! -e out.part ]
	done
}

# ---- our fault ----

@test "ours: out of descriptors ends the run clean, and it goes on" {
	serve --latency 300
	rows 100 >in
	run -1 bash -c 'ulimit -n 30; infer -q --concurrency 60 --rejects rej -o out in'
	[[ $output == *"no socket"* ]]
	[ ! -s rej ]
	infer -q --resume --rejects rej -o out in
	once 100 out
}

@test "ours: several servers get no more requests together than files may be open" {
	rows 300 >in
	for _ in 1 2 3 4; do
		serve --latency 300
		echo "$U" >>servers
	done
	(
		ulimit -n 100
		e3-infer -q --servers servers --model "$MODEL" --concurrency 60 --max-new-tokens 64 -o out in
	)
	once 300 out
}

@test "ours: a disk that is full ends the run clean" {
	serve
	rows 5 >in
	run -1 infer -q --rejects rej -o /dev/full in
	[[ $output == *"No space left"* ]]
	[ ! -s rej ]
}

@test "ours: a file that can't be made is found before a server is asked" {
	rows 5 >in
	for o in "-o out --stats" "-o out --rejects" -o "--resume -o"; do
		U=http://127.0.0.1:1 run -1 infer $o none/f in
		[ "$output" = "e3-infer: none/f: no file can be made in none: No such file or directory" ]
	done
	U=http://127.0.0.1:1 run -2 infer --stats in -o out in
	[[ $output == *"in: is an input too; it would be lost"* ]]
	[ ! -e out.part ]
	# nor one that it makes of its own
	for f in part turns; do
		cp in out.$f
		U=http://127.0.0.1:1 run -2 infer --turns all -o out out.$f
		[[ $output == *"out.$f: is an input too; it would be lost"* ]]
		cmp in out.$f
		rm out.$f
		U=http://127.0.0.1:1 run -2 infer --turns all --stats out.$f -o out in
		[[ $output == *"out.$f: named for two outputs" ]]
	done
}

@test "ours: a disk that is full under the rejects or the counts leaves the output unfinished" {
	serve
	{ rows 5; echo bad; } >in
	for f in "--rejects /dev/full" "--rejects rej --stats /dev/full"; do
		rm -f out rej
		run -1 infer -q $f -o out in
		[[ $output == *"out.part keeps what is done"*"/dev/full: No space left"* ]]
		[ ! -e out ]
		infer -q --resume --rejects rej -o out in
		once 5 out
		[ "$(wc -l <rej)" -eq 1 ]
	done
}

@test "ours: a reader that goes away" {
	serve
	rows 200 >in
	{ infer -q in 2>err || echo $? >status; } | head -n 1 >first
	[ "$(wc -l <first)" -eq 1 ]
	[ ! -s err ]
	[ "$(cat status)" -eq 141 ]
	{ infer in 2>err || echo $? >status; } | head -n 1 >first
	[ "$(cat status)" -eq 141 ]
	[[ $(cat err) == "e3-infer: $U: "*" at once, prompts as ids" ]] # which it says before
	# compressed, it shows at the end only, when all has been counted
	{
		until [ -e gone ]; do sleep 0.01; done
		infer -z in 2>err || echo $? >status
	} | {
		exec <&-
		: >gone
	}
	[ "$(tail -n 1 err)" = "e3-infer: standard output: Broken pipe" ]
	[ "$(cat status)" -eq 1 ]
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
	serve --latency 150
	a=$U
	victim=$PID
	serve --latency 150
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

@test "a server that goes wrong in whatever way costs nothing that another one can do" {
	serve --latency 20
	good=$U
	rows 150 >in
	for f in html garbage wrong-count wrong-ids empty abort 400 401 404 500 307 missing-ids; do
		rm -f out rej
		serve --fault "$f@2-999999"
		e3-infer --server "$good" --server "$U" --model "$MODEL" --concurrency 8 --max-new-tokens 64 \
			--backoff 0.02 --rejects rej -o out in 2>err
		# of one that refuses everything the first is not known to be its fault
		once 150 out rej && [ "$(wc -l <rej)" -le "$([ $f != 400 ]; echo $?)" ] && grep -q "$U: down: " err || {
			echo "$f: $(cat err)"
			false
		}
		stop "$PID"
	done
}

@test "a server that joins with another model is left out; one that is alone with it ends the run" {
	serve --latency 200
	a=$U
	rows 60 >in
	echo "$a" >servers
	serve --served-model other
	for list in "$a $U" "$U"; do
		echo "$a" >servers
		rm -f out
		e3-infer --servers servers --model "$MODEL" --concurrency 4 --max-new-tokens 64 -o out in 2>err &
		I=$!
		U=$a begun
		tr ' ' '\n' <<<"$list" >servers
		kill -HUP $I
		rc=0
		wait $I || rc=$?
		grep -q "$U: serves other, the run is with $MODEL" err
		if [ "$list" = "$U" ]; then
			[ $rc -eq 1 ]
		else
			grep -q ': left out$' err
			once 60 out
		fi
	done
}

@test "a server that is taken off the list and put back on it works again" {
	serve --latency 1000
	a=$U
	serve --latency 100
	rows 120 >in
	echo "$a" >servers
	e3-infer --servers servers --model "$MODEL" --concurrency 2 --max-new-tokens 64 -o out in 2>err &
	I=$!
	U=$a begun
	echo "$U" >servers
	kill -HUP $I
	said 'read again: 2'
	printf '%s\n%s\n' "$a" "$U" >servers
	kill -HUP $I
	tells "$a: up, 2 of 2 in flight"
	wait $I
	once 120 out
}

# parts [OPTION...] - a run at a server A of these, which doubts an answer of it: the 404 of one request.
# While it is asked for a test answer, which takes long, it is taken off the list for another one
parts() {
	serve --latency 2000 --fault 404@6 "$@"
	a=$U
	serve --latency 10
	rows 40 >in
	rm -f out rej
	echo "$a" >servers
	e3-infer --servers servers --model "$MODEL" --concurrency 6 --max-new-tokens 64 --rejects rej -o out in 2>err &
	I=$!
	U=$a begun
	tells "$a: suspect"
	echo "$U" >servers
	kill -HUP $I
	said 'read again: 2'
}

@test "a server that is taken off the list while it is in doubt keeps no record" {
	parts
	ends
	[ $RC -eq 0 ]
	once 40 out rej
	[ "$(wc -l <rej)" -eq 1 ]
}

@test "a server that is taken off the list and back on it while it is in doubt keeps no record" {
	parts
	printf '%s\n%s\n' "$a" "$U" >servers
	kill -HUP $I
	ends
	[ $RC -eq 0 ]
	once 40 out rej
	[ "$(wc -l <rej)" -eq 1 ]
}

@test "a server that is taken off the list and is found to be none of the run's ends no run" {
	parts --fault missing-ids@8
	ends
	[ $RC -eq 0 ]
	[ ! -s rej ]
	once 40 out
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
	said 'servers stay as they were: servers:2: '
	run -1 grep -e s3cr3t -e "$U" err
	echo "$U" >servers
	kill -HUP $I
	wait $I
	once 60 out
	grep -q 'servers read again: 2' err
	grep -q "$U: sglang" err
}
