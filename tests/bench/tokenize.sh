#!/bin/sh
# How fast e3-tokenize is, on one core: chats, agent sessions, sessions whose every turn is a record
# of its own; beside the bare tokenizer on the same text; what sessions cost as they grow, for the
# families' templates; and beside the trainers' own preprocessing of the same chats, in one run.
# E3_BIN, E3_SHARED; without the real model the demo's small one is used and the families are left
# out.
set -eu
cd "$(dirname "$0")/../.."
: "${E3_BIN:=bin}" "${E3_SHARED:=../shared}"
model=$E3_SHARED/models/kimi-k2.5
[ -d "$model" ] || model=pipelines/demo/model
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# seconds COMMAND...: CPU seconds, the best of seven, since what else the machine does costs caches;
# what it prints is in $dir/out, or $into
seconds() {
	python3 - "${into:-$dir/out}" "$@" <<'EOF'
import resource, subprocess, sys
def spent():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime
best = None
for _ in range(7):
    before = spent()
    with open(sys.argv[1], "wb") as out:
        subprocess.run(sys.argv[2:], stdout=out, check=True)
    t = spent() - before
    best = t if best is None else min(best, t)
print(f"{best:.4f}")
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
# By turns, since a quotient of two figures doubles what the machine's moods do.
t=9999 b=9999
for _ in 1 2 3; do
	t=$(printf '%s\n' "$t" "$(seconds $tok --last-turn-only "$dir/chat")" | sort -n | head -n 1)
	b=$(printf '%s\n' "$b" "$(seconds $tok --whole --count "$dir/text")" | sort -n | head -n 1)
done
awk -v t="$t" -v b="$b" -v s="$start" -v n="$(wc -c <"$dir/text")" 'BEGIN {
	printf "last turns of chat: filter %.3f s, bare tokenizer on their text %.3f s (%.1f MB/s): %.2f x\n", t - s, b - s, n / (b - s) / 1e6, (t - s) / (b - s)
	printf "=\tfilter, of the time of the bare tokenizer\t%.2f\tx\t<=2\n", (t - s) / (b - s)
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

[ -d "$E3_SHARED/models/qwen3" ] || exit 0

# session FAMILY KIND MESSAGES: milliseconds a conversation, beside the bare tokenizer's on its text
session() {
	count=$((1200 / $3))
	python3 tests/bench/tokenize_records.py "$2" $count "$3" >"$dir/long"
	of="$E3_BIN/e3-tokenize -q -j1 --model $dir/folders/$1"
	zero=$(seconds $of --date 2026-01-02 /dev/null)
	t=$(seconds $of --date 2026-01-02 "$dir/long")
	$of --date 2026-01-02 --last-turn-only "$dir/long" | jq -c .input_ids | $of --decode >"$dir/text"
	bare=$(seconds $of --whole --count "$dir/text")
	awk -v f="$1" -v k="$2" -v n="$3" -v t="$t" -v s="$zero" -v c=$count -v b="$bare" -v bytes="$(wc -c <"$dir/text")" 'BEGIN {
		printf "%-12s %-6s %3d messages, %4.0f KB: %7.2f ms, bare tokenizer %6.2f ms: %4.1f x\n", f, k, n, bytes / c / 1e3, (t - s) / c * 1e3, (b - s) / c * 1e3, (t - s) / (b - s)
	}'
}

echo "a conversation in one record:"
mkdir "$dir/folders"
python3 tests/bench/tokenize_folders.py "$E3_SHARED" "$dir/folders" >"$dir/names"
while read -r family; do
	case $family in
	deepseek-v3 | llama-3.1) kind=plain ;;
	gpt-oss) kind=calls ;;
	*) kind=agent ;;
	esac
	session "$family" $kind 84
	session "$family" $kind 400
done <"$dir/names"

# 300 chats of about 1,500 tokens through the trainers' own code, ten times as many through ours. Theirs
# has its rows parsed and leaves its tensors in memory; ours reads and makes JSON, but no file either.
ORACLE=trainers
. tests/oracle/venv.sh || exit 0
tok="$E3_BIN/e3-tokenize -q -j1 --model $E3_SHARED/models/qwen3"
start=$(seconds $tok /dev/null)
python3 tests/bench/tokenize_records.py chat 3000 >"$dir/chat"
t=$(into=/dev/null seconds $tok "$dir/chat")
"$PYTHON" tests/bench/tokenize_others.py "$E3_SHARED/models/qwen3" "$dir/chat" 300 2>/dev/null >"$dir/others"
awk -v t="$t" -v s="$start" 'BEGIN { printf "e3-tokenize: %.0f samples/s, three records each\n", 3000 / (t - s) }'
awk -v t="$t" -v s="$start" '/samples/ {
	printf "%s: e3-tokenize is %.0f x as fast\n", $0, 3000 / (t - s) / $2
	printf "=\ttimes as fast as %s\t%.0f\tx\t>=150\n", substr($1, 1, length($1) - 1), 3000 / (t - s) / $2 }' "$dir/others"
