#!/bin/sh
# What e3-extract does to a set on disk, beside cp: bytes a second of elapsed time, synced, on the disk of
# E3_BENCH_DIR (default: the temporary directory). The set has Kimi-K2.5's width; GB: how much of it (1).
# --convert checks every value and writes the other layout as extraction does; --verify reads all of it.
set -eu
: "${GB:=1}"
work=$(mktemp -d "${E3_BENCH_DIR:-${TMPDIR:-/tmp}}/e3-bench.XXXXXX")
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work" "$dump"' EXIT
dump=$(mktemp -d /dev/shm/e3-bench.XXXXXX)
model=pipelines/demo/model

# 500 tokens of 57,344 bytes
awk -v n=$((GB * 35)) 'BEGIN {
	for (i = 0; i < n; i++) {
		ids = mask = ""
		for (t = 0; t < 500; t++) {
			ids = ids (t ? "," : "") (300 + (i * 131 + t * 17) % 3000)
			mask = mask (t ? "," : "") 1
		}
		printf "{\"id\":\"d/%d\",\"input_ids\":[%s],\"loss_mask\":[%s],\"seq_len\":500}\n", i, ids, mask
	}
}' >"$work/in"
"$E3_BIN/e3-sim" --model $model --port 0 --dump-dir "$dump" --hidden-size 7168 >"$work/port" 2>/dev/null &
pid=$!
while [ ! -s "$work/port" ]; do sleep 0.1; done
"$E3_BIN/e3-extract" -q --backend vllm --server "http://127.0.0.1:$(head -n 1 "$work/port")" --dump-dir "$dump" \
	--layers 2,4,5 --layout speculators --out-dir "$work/set" -o "$work/idx" --min-free 1M --concurrency 4 "$work/in"
bytes=$(du -sb "$work/set" | cut -f 1)

# rate NAME COMMAND...
rate() {
	name=$1
	shift
	sync
	start=$(date +%s.%N)
	"$@" >/dev/null 2>&1
	end=$(date +%s.%N)
	echo "$bytes $start $end" | awk -v name="$name" '{ printf "%-44s %8.0f MB/s\n", name, $1 / ($3 - $2) / 1e6 }'
}

copy() {
	cp -r "$work/set" "$work/copy"
	sync
}

convert() {
	"$E3_BIN/e3-extract" -q -j "$1" --convert "$work/set" --records "$work/in" --layout modelopt \
		--out-dir "$work/mo$1" -o "$work/mo$1.idx" "$work/idx"
}

rate "cp -r, sync" copy
rm -rf "$work/copy"
rate "e3-extract --convert, 1 thread" convert 1
rm -rf "$work/mo1"
rate "e3-extract --convert, 2 threads" convert 2
rm -rf "$work/mo2"
rate "cat" sh -c "cat $work/set/hidden_states/*"
rate "e3-extract --verify, 1 thread" "$E3_BIN/e3-extract" -q -j1 --verify "$work/set" "$work/idx"
rate "e3-extract --verify, 2 threads" "$E3_BIN/e3-extract" -q -j2 --verify "$work/set" "$work/idx"
