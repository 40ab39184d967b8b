#!/usr/bin/env bats
# e3-infer goes on: after kills, signals, a full disk.

bats_require_minimum_version 1.5.0
load infer
load holds
load long

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
	for after in 0.1 1.2 0.3 1.35 1.27 9 120; do
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
	# but not of a run that failed before it asked
	echo '{"question":"a raw row"}' >raw
	run infer -o out2 raw
	[ "$status" -eq 1 ]
	[[ $output = *"raw:1: id: missing"* && $output != *"nothing was left to ask"* ]]
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

@test "an output's FILE.part and FILE.turns are no way to elsewhere" {
	serve
	rows 2 >in
	cp in other
	for to in other none; do
		ln -s $to out.part
		run -1 infer --resume -o out in
		[[ $output == *"out.part: Too many levels of symbolic links"* ]]
		run -1 infer -o out in
		[[ $output == *"out.part: is there from an earlier run"* ]]
		rm out.part
	done
	ln -s other out.turns
	run -1 infer --turns all -o out in
	[[ $output == *"out.turns: Too many levels of symbolic links"* ]]
	cmp in other
	[ ! -e none ]
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
	cp "$MODEL/chat_template.jinja" same
	sed 's/^/ /' same >edited
	infer -q --resume --template same -o out in
	touch -d @1000 out
	for t in '--turns last|--turns all' 'ids|--no-ids' '--served-by hf|--served-by vllm' \
		'--turns last --served-by hf|--turns all --served-by sglang' \
		"another record, --model, template or --date|--date 2026-01-01" \
		"another record, --model, template or --date|--template edited"; do
		run -1 infer -q --resume ${t#*|} -o out in
		[ "$output" = "e3-infer: in:1: out has an answer of this id, made with ${t%|*}: give the same, or write elsewhere" ]
	done
	run -1 e3-infer -q --server "$U" --api sglang --max-new-tokens 64 --resume -o out in
	[[ $output == *": out has an answer of this id, made with another record, --model, template or --date: "* ]]
	sed -i 's/question 2/another question/' in
	run -1 infer -q --resume -o out in
	[[ $output == "e3-infer: in:2: out has an answer of this id, made with another record, "* ]]
	# all of this leaves the output as it is; one that begins to answer does not
	[ "$(stat -c %Y out)" = 1000 ]
	[ ! -e out.part ]
	[ ! -e out.turns ]
	rows 4 | tail -n 1 | cat - in >in2
	run -1 infer -q --resume -o out in2
	[[ $output == *"out.part keeps what is done"*"in2:3: out has an answer"* ]]
	[ "$(wc -l <out.part)" -ge 3 ]
	[ ! -e out ]
}

@test "answers of records that the input no longer has are refused, and nothing is lost" {
	serve
	rows 6 >in
	infer -q --rejects rej -o out in
	cp out before
	sed 2,3d in >less
	run -1 infer -q --resume --rejects rej -o out less
	[ "$output" = "e3-infer: out holds 2 answers of records that are not in the input: give the whole input, take them out of the file, or move it away" ]
	cmp before out
	[ ! -e out.part ]
	# what is answered by then is kept, but not as a whole output
	{ sed 2d less; rows 9 | tail -n 3; } >other
	run -1 infer -q --resume --stats st -o out other
	[[ $output == *"out.part keeps what is done"*"out holds 3 answers of records that are not in the input"* ]]
	[ ! -e out ]
	[ ! -e st ]
	[ "$(wc -l <out.part)" -eq 9 ]
	run -1 infer -q --resume --shard 0/2 -o out other
	[[ $output == *"out holds "*" not in the input, or of another shard: "* ]]
	[ "$(wc -l <out.part)" -eq 9 ]
	rows 9 >in
	infer --resume -o out in 2>err
	grep -q '9 in = 0 out + 9 resumed' err
	once 9 out
	# or they are taken out
	sed -i '/"id":"d\/[23789]"/d' out
	infer -q --resume -o out less
	[ "$(wc -l <out)" -eq 4 ]
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
	# not three in a row, which would be the server's fault
	serve $(seq 2 4 30 | sed 's/^/--fault 400@/')
	infer -q --rejects rej -o out in
	n=$(wc -l <rej)
	[ "$n" -gt 0 ]
	stop "$PID"
	serve
	infer --resume --rejects rej -o out in 2>err
	grep -q "30 in = 0 out + $n rejected (refused $n) + $((30 - n)) resumed" err
	once 30 out rej
	# nor what has been mended since
	cp out was
	cp rej were
	sed "s#^\(.*\"$(head -n 1 rej | jq -r .id)\".*\)question#\1mended#" in >mended
	infer --resume --rejects rej -o out mended 2>err
	grep -q "30 in = 1 out + $((n - 1)) rejected" err
	cp was out
	cp were rej
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

@test "a run that is stopped keeps the rejects that it did not come to" {
	rows 6 >in
	serve --fault 400@2 --fault 400@6 --fault 400@7
	infer -q --concurrency 1 --rejects rej -o out in
	[ "$(jq -r .id rej | tr -d '\n')" = d/1d/5d/6 ]
	cp rej before
	stop "$PID"
	# the last two behind two that are new, of which the first stalls
	{ head -n 4 in; rows 8 | tail -n 2; tail -n 2 in; } >more
	mv more in
	serve --fault stall@2
	infer --concurrency 1 --window 1 --resume --rejects rej -o out in 2>err &
	I=$!
	said '1 at once'
	tells '3 done, 1 rejected, 1 in flight'
	kill -TERM $I
	said 'stopping: '
	kill -TERM $I
	ends
	[ "$RC" -eq 143 ]
	cmp before rej
	# so does one that has too many
	run -1 infer -q --resume --max-rejects 0 --rejects rej -o out in
	[[ $output == *"more than 0 rejects"* ]]
	cmp before rej
	stop "$PID"
	serve
	infer --resume --rejects rej -o out in 2>err
	grep -q '8 in = 2 out + 3 rejected (refused 3) + 3 resumed' err
	once 8 out rej
}

@test "--stats tells how all answers in the output ended, and what this run was answered" {
	serve --fault length@3
	rows 5 >in
	head -n 3 in | infer -q --concurrency 1 --stats st -o out
	holds '.output_statuses == .statuses and .statuses.ok == 2 and .statuses.length == 1' st
	infer -q --resume --stats st -o out in
	holds '[.statuses, .output_statuses | [.ok, .length]] == [[2, 0], [4, 1]]' st
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

# piped - a run I of the records that descriptor 9 is given, behind its first questions
piped() {
	serve
	mkfifo pipe
	infer -o out <pipe 2>err &
	I=$!
	exec 9>pipe
	said ' at once, prompts as ids'
}

@test "SIGTERM before the first record: the run does not say that nothing was left" {
	piped
	tells '^e3-infer: 0 done'
	kill -TERM $I
	ends
	exec 9>&-
	[ "$RC" -eq 143 ]
	grep -q 'stopped by signal 15' err
	! grep 'nothing was left' err || false
}

@test "a FIFO that nobody has opened for writing keeps no signal waiting; one that comes late is read" {
	serve
	mkfifo pipe
	rows 2 >two
	rows 5 | tail -n 3 >three
	# also as a later file
	printf '\r\n \n  ' >>two
	for files in pipe "two pipe"; do
		rm -f out* err
		infer --resume -o out $files 2>err &
		I=$!
		said ' at once, prompts as ids'
		tells "^e3-infer: $(cat ${files%pipe} </dev/null | grep -c q) done"
		kill -TERM $I
		ends
		[ "$RC" -eq 143 ]
	done
	rm -f out*
	infer -q -o out two pipe 3>&- &
	sleep 1
	cat three >pipe
	wait $!
	once 5 out
	e3-prep -q --mode native -o all pipe 3>&- &
	sleep 0.5
	cat out >pipe
	wait $!
	[ "$(wc -l <all)" -eq 5 ]
	# a writer that says nothing
	e3-prep -q --mode native -o none pipe 3>&- &
	: >pipe
	wait $!
	[ -e none ]
	[ ! -s none ]
}

@test "half a line of input keeps no signal waiting" {
	piped
	rows 3 >&9
	tells '^e3-infer: 3 done'
	printf '{"id":' >&9
	sleep 0.5 # until it is read
	kill -TERM $I
	ends
	exec 9>&-
	[ "$RC" -eq 143 ]
	once 3 out.part
}

@test "signals are heard while an output of many gigabytes is read; nothing of it changes" {
	serve
	rows 3 >in
	long_output >out.zst.part
	cp out.zst.part before
	# which status it has tells whether it had to be killed
	rc=0
	timeout -s INT -k 10 1 infer --resume -o out.zst in 2>err || rc=$?
	[ "$rc" -eq 124 ]
	cmp out.zst.part before
}

@test "a second SIGINT stops at once and aborts what runs" {
	serve --fault stall@3
	rows 10 >in
	env --default-signal=INT infer -o out in 2>err &
	I=$!
	begun
	kill -INT $I
	# of two signals that wait at once one is lost
	said 'stopping: '
	SECONDS=0
	kill -INT $I
	rc=0
	wait $I || rc=$?
	[ $rc -eq 130 ]
	# the aborts are waited for, at most 2 s, and no answer
	[ "$SECONDS" -le 20 ]
	curl -s "$U/metrics" | grep -E '^sglang:num_running_reqs[ {].* 0(\.0)?$'
}

@test "SIGUSR1 tells the state" {
	serve --latency 1500 --fault length@2 --fault slow@2:0
	rows 10 >in
	infer -q -o out in 2>err &
	I=$!
	begun
	tells ': 1 answer: 1 length (100%); [0-9]* tokens in, 64 out in '
	tells "$U: up, 8 of 8 in flight"
	wait $I
	grep -q 'oldest in flight: e3;' err
}

# ---- our own limits ----

@test "the key comes from the environment and is nowhere to be seen" {
	serve
	rows 2 >in
	E3_API_KEY=s3cr3t-k3y infer --rejects rej --stats st -o out in >all 2>&1
	! grep -q s3cr3t all out st sim.err || false
}

@test "no proxy of the environment is used" {
	serve
	rows 2 >in
	http_proxy=http://127.0.0.1:1 infer -q -o out in
	once 2 out
}

# spent - the processor time of the run I, in hundredths of a second
spent() {
	awk '{ print $14 + $15 }' "/proc/$I/stat"
}

@test "a pipe as a file: it is waited for without work, also where standard input is at its end" {
	serve
	mkfifo pipe
	infer -q -o out pipe </dev/null &
	I=$!
	exec 9>pipe
	rows 3 | head -n 1 >&9
	for _ in $(seq 500); do
		[ -s out.part ] && break
		sleep 0.02
	done
	before=$(spent)
	sleep 2
	[ "$(spent)" -lt $((before + 20)) ]
	rows 3 | tail -n 2 >&9
	exec 9>&-
	wait $I
	once 3 out
}

@test "answers are synced each second also while what is not for this run is passed over" {
	serve
	rows 20 >in
	infer -q --shard 0/2 -o one in
	infer -q --shard 1/2 -o two in
	{
		head -n 9 in
		yes "$(grep "\"id\":\"$(head -n 1 two | jq -r .id)\"" in)" | head -n 6000000
	} | zstd -q -1 >many.zst
	infer -q --shard 0/2 -o out many.zst &
	I=$!
	for _ in $(seq 100); do
		[ ! -s out.part ] || break
		sleep 0.1
	done
	[ -s out.part ]
	kill -9 $I
	wait $I || true
}

@test "a server is waited for with words only when it is silent, not when what is read before is slow" {
	serve
	rows 2 >in
	mkfifo servers
	{
		sleep 6
		echo "$U"
	} >servers &
	e3-infer --servers servers --model "$MODEL" --max-new-tokens 64 -o out in 2>err
	once 2 out
	! grep waiting err || false
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

@test "what is answered is in the file within a second or so, though the run goes on" {
	serve --fault stall@4
	rows 5 >in
	infer -q -o out in 2>err &
	I=$!
	for _ in $(seq 400); do
		[ "$(cat out.part 2>/dev/null | wc -l)" -lt 4 ] || break
		sleep 0.05
	done
	kill -9 $I # which was still there
	[ "$(wc -l <out.part)" -eq 4 ]
}
