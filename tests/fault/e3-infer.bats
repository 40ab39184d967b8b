#!/usr/bin/env bats
# e3-infer when its server dies of a record, or when everything dies at random.

load each
load ../cli/holds

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	TOP=$PWD
	: "${E3_BIN:=$PWD/bin}"
	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return
	PIDS=
}

teardown() {
	for p in $PIDS; do
		# a loop that stands still starts no other child
		kill -STOP "$p" 2>/dev/null || true
		pkill -9 -P "$p" 2>/dev/null || true
		kill -9 "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
}

# serve - a server that is started again half a second after it died, when whoever looks has seen it
serve() {
	(
		python3 "$TOP/tests/fault/chat_server.py" 0 >port || true
		while :; do
			echo died >>deaths
			sleep 0.5
			python3 "$TOP/tests/fault/chat_server.py" "$(cat port)" || true
		done
	) >/dev/null 2>&1 3>&- &
	PIDS="$PIDS $!"
	for _ in $(seq 1000); do
		[ -s port ] && break
		sleep 0.02
	done
	U=http://127.0.0.1:$(cat port)
}

rows() {
	seq "$1" | sed 's|.*|{"id":"d/&","messages":[{"role":"user","content":"question &"}]}|'
}

@test "a record that kills the server is found, tried alone, and rejected; the others are answered" {
	serve
	{
		rows 10
		echo '{"id":"bad","messages":[{"role":"user","content":"POISON"}]}'
	} >in
	e3-infer --no-ids --server "$U" --concurrency 4 --max-attempts 1 --rejects rej -o out in 2>err
	[ "$(jq -r .id out | sort -u | wc -l)" -eq 10 ]
	holds '.id == "bad" and .reject.class == "poison" and .reject.permanent' rej
	# the fifth may not be written down yet
	for _ in $(seq 100); do
		[ "$(wc -l <deaths)" -lt 5 ] || break
		sleep 0.02
	done
	[ "$(wc -l <deaths)" -eq 5 ]
	grep -q '11 in = 10 out + 1 rejected (poison 1)' err
}

# a server of answers in an instant, outside of the folder where calls fail
stand_in() {
	e3-sim --model "$TOP/pipelines/demo/model" --port 0 --answer-tokens 12 >"$BATS_TEST_TMPDIR/port" 2>/dev/null 3>&- &
	PIDS="$PIDS $!"
	for _ in $(seq 1000); do
		[ -s "$BATS_TEST_TMPDIR/port" ] && break
		sleep 0.02
	done
	U=http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")
}

told() {
	[ "$(grep -vc ' keeps what is done; the same ' stderr)" -eq 1 ] &&
		grep -qE '^e3-infer: (in|out[a-z.]*|rej|st): (.*: )?Input/output error$' stderr
}

wrong() {
	echo "$out, $call $n, exit $rc: $(cat stderr)"
	return 1
}

@test "each call on each file fails once: one error that names the file, and the run goes on" {
	build_fault
	stand_in
	in_work
	{
		rows 30
		echo bad
		echo '{"id":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}'
	} >in
	run="e3-infer -q --server $U --model $TOP/pipelines/demo/model --no-cache --max-new-tokens 64 --turns all
		--rejects rej --stats st --resume"
	for out in out out.zst; do
		for call in open read write fsync close rename linkat; do
			failures=0
			for n in $(seq 100); do
				[ "$n" -lt 100 ] # it ends
				rm -rf out* rej st
				rc=0
				with "$call:$n:5" $run -o $out in 2>stderr || rc=$?
				[ -e "$E3_FAULT_MARK" ] || break
				if [ $rc -ne 0 ]; then
					failures=$((failures + 1))
					[ $rc -eq 1 ] && told || wrong
					$run -o $out in 2>stderr || wrong
				fi
				if [ $out = out ]; then cat out; else zstd -dcq out.zst; fi >got
				[ "$(jq -r .id got | sort -u | wc -l) $(wc -l <got) $(wc -l <rej)" = "31 31 1" ] || wrong
				[ -s st ] || wrong
				[ ! -e out.turns ] || wrong
			done
			case $call in
			linkat) ;; # a new file is linked in two ways
			*) [ "$failures" -ge 1 ] || { echo "$out: no $call failed"; return 1; } ;;
			esac
		done
	done
}

@test "killed at random, client and server, with faults on: every id once" {
	"$TOP/tests/fault/infer-chaos" 3 $RANDOM
}
