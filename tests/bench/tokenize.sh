#!/bin/sh
# How fast e3-tokenize is, on one core: chats, agent sessions, sessions whose every turn is a record
# of its own; whether its cost is linear in the messages; and beside the bare tokenizer on the same
# text. E3_BIN, E3_SHARED; without the real model the demo's small one is used.
set -eu
cd "$(dirname "$0")/../.."
: "${E3_BIN:=bin}" "${E3_SHARED:=../shared}"
model=$E3_SHARED/models/kimi-k2.5
[ -d "$model" ] || model=pipelines/demo/model
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# seconds COMMAND...: CPU seconds, the best of three; what it prints is in $dir/out
seconds() {
	python3 - "$dir/out" "$@" <<'EOF'
import os, subprocess, sys
best = None
for _ in range(3):
    before = os.times()
    with open(sys.argv[1], "wb") as out:
        subprocess.run(sys.argv[2:], stdout=out, check=True)
    after = os.times()
    t = after.children_user + after.children_system - before.children_user - before.children_system
    best = t if best is None else min(best, t)
print(f"{best:.3f}")
EOF
}

tok="$E3_BIN/e3-tokenize -q -j1 --model $model"

start=$(seconds $tok /dev/null)
echo "model $model, start-up $start s of CPU (taken off below), one core"

# row NAME RECORDS: samples and tokens a second
row() {
	t=$(seconds $tok "$dir/$1")
	awk -v name="$1" -v n="$2" -v t="$t" -v s="$start" -v bytes="$(wc -c <"$dir/$1")" -v lines="$(wc -l <"$dir/out")" \
	    -v tokens="$(jq -s 'map(.seq_len) | add' "$dir/out")" 'BEGIN {
		t -= s
		printf "%-8s %6d records -> %6d, %9d tokens out: %8.0f records/s, %6.2f Mtok/s, %6.1f MB/s of JSON in\n", name, n, lines, tokens, n / t, tokens / t / 1e6, bytes / t / 1e6
	}'
}

python3 tests/bench/tokenize_records.py chat 2000 >"$dir/chat"
python3 tests/bench/tokenize_records.py agent 60 >"$dir/agent"
python3 tests/bench/tokenize_records.py apart 30 >"$dir/apart"
row chat 2000
row agent 60
row apart 30

# The bare tokenizer over the text of the same chats, each turn's prompt and answer once.
$tok --last-turn-only "$dir/chat" | jq -c .input_ids | $tok --decode >"$dir/text"
t=$(seconds $tok --last-turn-only "$dir/chat")
b=$(seconds $tok --whole --count "$dir/text")
awk -v t="$t" -v b="$b" -v s="$start" -v n="$(wc -c <"$dir/text")" 'BEGIN {
	printf "last turns of chat: filter %.3f s, bare tokenizer on their text %.3f s (%.1f MB/s): %.2f x\n", t - s, b - s, n / (b - s) / 1e6, (t - s) / (b - s)
}'

echo "cost a message, as sessions grow (microseconds):"
for kind in agent apart; do
	for n in 20 40 84 168; do
		python3 tests/bench/tokenize_records.py $kind $((2400 / n)) "$n" >"$dir/long"
		t=$(seconds $tok "$dir/long")
		awk -v k=$kind -v n="$n" -v t="$t" -v s="$start" -v c=$((2400 / n)) -v out="$(wc -c <"$dir/out")" 'BEGIN {
			printf "%s: %3d messages: %6.1f, %5.1f MB written\n", k, n, (t - s) / (n * c) * 1e6, out / 1e6
		}'
	done
done
