# What the tests of e3-infer share: a stand-in server, records, a run with usual options.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	TOP=$PWD MODEL=$PWD/pipelines/demo/model
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
	for _ in $(seq 1000); do
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

# relay HOOK - in between of the server U and who asks: tests/fault/relay.py; U is its address from then on
relay() {
	rm -f port
	python3 "$TOP/tests/fault/relay.py" "$U" "$1" >port 3>&- &
	PIDS="$PIDS $!"
	until [ -s port ]; do
		kill -0 $!
		sleep 0.05
	done
	U=http://127.0.0.1:$(cat port)
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

# said TEXT - waits until err, where the run talks, has it
said() {
	for _ in $(seq 1000); do
		grep -q "$1" err && return
		sleep 0.02
	done
	false
}

# tells TEXT - asks the run I for its state until err has it, for a minute
tells() {
	for _ in $(seq 600); do
		kill -USR1 "$I"
		sleep 0.1
		grep -q "$1" err && return
	done
	false
}

# ends - the run I ends within 20 s: RC is its status
ends() {
	for _ in $(seq 400); do
		kill -0 "$I" 2>/dev/null || break
		sleep 0.05
	done
	run -1 kill -9 "$I"
	RC=0
	wait "$I" || RC=$?
}

# once N FILE... - the ids of these files are those of `rows N`, each once
once() {
	local n=$1
	shift
	cat "$@" | jq -r .id | sort >got.ids
	rows "$n" | jq -r .id | sort >want.ids
	cmp want.ids got.ids
}

# two conversations of several turns
multi() {
	u='{"role":"user","content":"q"}' a='{"role":"assistant","content":"old","weight":0}'
	echo "{\"id\":\"d/1\",\"messages\":[$u,$a,$u,$a,$u,$a]}"
	echo "{\"id\":\"d/2\",\"messages\":[$u,$a,$u]}"
}
