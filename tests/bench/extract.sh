#!/bin/sh
# e3-extract beside cp, on the disk of E3_BENCH_DIR (default: the temporary directory): MB a second. The set has
# Kimi-K2.5's width; GB: how much of it (1). States come from a folder in memory, as a server's do; cp -r and a sync
# have the same to do. Each is run ROUNDS times (3) in turn, the best counts: a disk that others use is no measure.
# --verify and the compact layout are counted by processor time, beside cat and zstd on the same files.
# What real states pack to: tests/oracle/compact.sh.
set -eu
: "${GB:=1}" "${ROUNDS:=3}"
work=$(mktemp -d "${E3_BENCH_DIR:-${TMPDIR:-/tmp}}/e3-bench.XXXXXX")
dump=$(mktemp -d /dev/shm/e3-bench.XXXXXX)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work" "$dump"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
model=$here/../../pipelines/demo/model
mkdir "$dump/hs"

"${CC:-gcc}" -std=c17 -D_POSIX_C_SOURCE=200809L -O2 -I"$here/../../src" -o "$work/cpu" "$here/extract_cpu.c" \
	"$E3_BUILD/libe3.a" -ljansson -lzstd -lxxhash -lm && "$work/cpu" | tee "$work/cpu.out"

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
# small ones, where syncs are all there is to do
awk 'BEGIN { for (i = 0; i < 2000; i++)
	printf "{\"id\":\"s/%d\",\"input_ids\":[%d,7,8,9],\"loss_mask\":[0,1,1,1],\"seq_len\":4}\n", i, 300 + i }' >"$work/small"

# serve COMMAND...
serve() {
	rm -f "$work/port"
	"$@" >"$work/port" 2>/dev/null &
	pid=$!
	while [ ! -s "$work/port" ]; do sleep 0.1; done
	url=http://127.0.0.1:$(head -n 1 "$work/port")
}

stop() {
	kill "$pid"
	wait "$pid" 2>/dev/null || :
	pid=
}

# extract NAME INPUT LAYOUT
extract() {
	"$E3_BIN/e3-extract" -q --backend vllm --server "$url" --dump-dir "$dump/hs" --layers 2,4,5 --min-free 1M \
		--concurrency 8 --layout "$3" --out-dir "$work/$1" -o "$work/$1.idx" "$2"
}

serve "$E3_BIN/e3-sim" --model "$model" --port 0 --dump-dir "$dump/hs" --hidden-size 7168
extract set "$work/in" speculators
stop
bytes=$(du -sb "$work/set" | cut -f 1)

seconds() {
	date +%s.%N
}

# took FILE COMMAND... - adds the seconds it took to FILE
took() {
	out=$1
	shift
	sync
	start=$(seconds)
	"$@" >/dev/null
	echo "$start $(seconds)" | awk '{ printf "%.6f\n", $2 - $1 }' >>"$out"
}

# cpu FILE COMMAND... - the processor time
cpu() {
	out=$1
	shift
	(
		"$@" >/dev/null 2>&1 || :
		times
	) | tail -n 1 | tr 'ms' '  ' | awk '{ printf "%.6f\n", $1 * 60 + $2 + $3 * 60 + $4 + 0.0001 }' >>"$out"
}

# row NAME FILE [BASE]: of the best; with BASE, as a share of that
row() {
	best=$(sort -n "$work/$2" | head -n 1)
	base=$(sort -n "$work/${3:-$2}" | head -n 1)
	echo "$bytes $best $base" | awk -v name="$1" -v rel="${3:-}" '{
		printf "%-44s %8.0f MB/s%s\n", name, $1 / $2 / 1e6, rel ? sprintf("   %5.0f %%", 100 * $3 / $2) : ""
		if (rel ~ /cp|hash/)
			printf "=\t%s, of the speed of %s\t%.0f\t%%\t>=90\n", name, rel ~ /cp/ ? "cp" : "cat | xxhsum", 100 * $3 / $2 }'
}

copy() {
	cp -r "$dump/hs" "$work/copy"
	sync
}

convert() {
	"$E3_BIN/e3-extract" -q --convert "$work/set" --records "$work/in" --layout modelopt --out-dir "$work/mo" \
		-o "$work/mo.idx" "$work/idx"
}

for _ in $(seq "$ROUNDS"); do
	cp "$work/set/hidden_states/"* "$dump/hs"
	took "$work/t.cp" copy
	rm -rf "$work/copy"
	serve python3 "$here/extract_replay.py" "$dump/hs"
	took "$work/t.extract" extract again "$work/in" seed
	stop
	rm -rf "$work/again"*
	rm -f "$dump/hs/"*
	cp "$work/set.idx" "$work/idx"
	took "$work/t.convert" convert
	rm -rf "$work/mo"*
done
row "cp -r from memory, sync" t.cp
row "e3-extract, all verified, from memory" t.extract t.cp
row "e3-extract --convert, all verified" t.convert t.cp

cat "$work/set/hidden_states/"* >/dev/null
pack() {
	"$E3_BIN/e3-extract" -q -j1 --convert "$1" --layout "$2" --records "$work/in" --out-dir "$work/$3" -o "$work/$3.idx" "$4"
}
for _ in $(seq "$ROUNDS"); do
	cpu "$work/c.cat" sh -c "cat $work/set/hidden_states/*"
	cpu "$work/c.hash" sh -c "cat $work/set/hidden_states/* | xxhsum -H64 -"
	cpu "$work/c.verify" "$E3_BIN/e3-extract" -q -j1 --verify "$work/set" "$work/set.idx"
	rm -rf "$work/packed"* "$work/plain"*
	cpu "$work/c.pack" pack "$work/set" compact packed "$work/set.idx"
	cpu "$work/c.zstd" sh -c "zstd -1 -c $work/set/hidden_states/*"
	cpu "$work/c.unpack" pack "$work/packed" speculators plain "$work/packed.idx"
done
cmp "$work/set.idx" "$work/plain.idx"
echo "by processor time:"
row "cat" c.cat
row "cat | xxhsum -H64" c.hash
row "e3-extract --verify" c.verify c.hash
row "zstd -1" c.zstd
row "--convert to compact" c.pack c.zstd
row "--convert back" c.unpack
rm -rf "$work/packed"* "$work/plain"*

serve "$E3_BIN/e3-sim" --model "$model" --port 0 --dump-dir "$dump/hs" --slots 64
start=$(seconds)
extract many "$work/small" seed
echo "$start $(seconds)" | awk '{ printf "%-44s %8.0f records/s\n", "2000 records of 4 tokens, synced", 2000 / ($2 - $1) }'
