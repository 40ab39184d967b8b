#!/usr/bin/env bats
# e3-infer when its server dies of a record, or when everything dies at random.

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
		pkill -9 -P "$p" 2>/dev/null || true
		kill -9 "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
}

# serve - a server that is started again whenever it dies
serve() {
	PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	U=http://127.0.0.1:$PORT
	(
		while :; do
			python3 "$TOP/tests/fault/chat_server.py" "$PORT" || true
			echo died >>deaths
		done
	) >/dev/null 2>&1 3>&- &
	PIDS="$PIDS $!"
	for _ in $(seq 100); do
		curl -s "$U/health" >/dev/null && break
		sleep 0.05
	done
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
	jq -e '.id == "bad" and .reject.class == "poison" and .reject.permanent' rej
	[ "$(wc -l <deaths)" -eq 5 ]
	grep -q '11 in = 10 out + 1 rejected (poison 1)' err
}

@test "killed at random, client and server, with faults on: every id once" {
	"$TOP/tests/fault/infer-chaos" 3 $RANDOM
}
