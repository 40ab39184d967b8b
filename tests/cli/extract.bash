# What the tests of e3-extract share: a stand-in server, records, a run with usual options.

MODEL=pipelines/demo/model

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BIN:=$PWD/bin}"
	PATH=$E3_BIN:$PATH
	mkdir "$T/hs"
	PID=
}

# serve [OPTION...] - starts a server; U is its address, PID its process
serve() {
	serve_json --dump-dir "$T/hs" "$@"
}

# serve_json [OPTION...] - one that has no folder for files
serve_json() {
	rm -f "$T/port"
	e3-sim --model $MODEL --port 0 "$@" >"$T/port" 2>"$T/sim.err" 3>&- &
	PID=$!
	for _ in $(seq 1000); do
		[ -s "$T/port" ] && break
		sleep 0.02
	done
	U=http://127.0.0.1:$(head -n 1 "$T/port")
}

stop() {
	kill -9 "$PID" 2>/dev/null || true
	wait "$PID" 2>/dev/null || true
	PID=
}

# started JOB - waits until signals are the program's to read
started() {
	until grep -q '^SigBlk:.*4003$' "/proc/$1/status"; do
		kill -0 "$1"
		sleep 0.02
	done
}

# ended JOB - its status, S; one that does not end is killed
ended() {
	for _ in $(seq 1500); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.02
	done
	kill -9 "$1" 2>/dev/null || true
	S=0
	wait "$1" || S=$?
}

teardown() {
	[ -z "$PID" ] || stop
}

# records N [TOKENS] - N records of different ids and lengths
records() {
	awk -v n="$1" -v most="${2:-40}" 'BEGIN {
		for (i = 0; i < n; i++) {
			len = 2 + (i * 7) % most
			ids = mask = ""
			for (t = 0; t < len; t++) {
				ids = ids (t ? "," : "") (300 + (i * 131 + t * 17) % 3000)
				mask = mask (t ? "," : "") (t > len / 3 ? 1 : 0)
			}
			printf "{\"id\":\"d/%d\",\"dataset\":\"d\",\"input_ids\":[%s],\"loss_mask\":[%s],\"seq_len\":%d}\n", i, ids, mask, len
		}
	}'
}

# options LAYOUT - ARGS: the usual options; into $T/LAYOUT, index $T/LAYOUT.idx
options() {
	ARGS=(--backend vllm --server "$U" --dump-dir "$T/hs" --model $MODEL --min-free 1M -q
		--layout "$1" --out-dir "$T/$1" -o "$T/$1.idx")
}

# extract LAYOUT [OPTION...]
extract() {
	options "$1"
	shift
	e3-extract "${ARGS[@]}" "$@"
}

# verify LAYOUT [OPTION...]
verify() {
	local layout=$1
	shift
	e3-extract -q --verify "$T/$layout" "$T/$layout.idx" "$@"
}
