#!/bin/sh
# e3-vocabmap's counting on one core, beside Python's json and Counter, and beside speculators' own counting: MB of
# tokenised records a second of processor time. MB: how much (default 200).
set -eu
: "${MB:=200}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seconds COMMAND...: of processor time, its output thrown away
seconds() {
	(
		"$@" >/dev/null 2>&1 || :
		times
	) | tail -n 1 | tr 'ms' '  ' | awk '{ printf "%.2f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

# Ids as frequent as in text: the k-th some 1/k times as often as the first.
awk -v size="$MB" 'BEGIN {
	srand(1)
	for (n = 0; bytes < size * 1000000; n++) {
		len = 200 + int(rand() * 3000)
		ids = mask = ""
		for (t = 0; t < len; t++) {
			ids = ids (t ? "," : "") int(exp(rand() * log(163840)) - 1)
			mask = mask (t ? "," : "") (t > 200 ? 1 : 0)
		}
		line = "{\"id\":\"d/" n "\",\"dataset\":\"d\",\"input_ids\":[" ids "],\"loss_mask\":[" mask "],\"seq_len\":" len "}"
		print line
		bytes += length(line) + 1
	}
}' >"$work/in"
head -c $((MB * 50000)) "$work/in" | sed '$d' >"$work/part"

cat >"$work/count.py" <<'END'
import json, sys
from collections import Counter
c = Counter()
for line in open(sys.argv[1], "rb"):
    r = json.loads(line)
    c.update(t for t, m in zip(r["input_ids"], r["loss_mask"]) if m)
END
cat >"$work/theirs.py" <<'END'
import json, sys, time, logging
logging.disable(logging.WARNING)
from datasets import Dataset
from speculators.train.vocab_mapping import save_token_frequency_distribution
rows = [json.loads(l) for l in open(sys.argv[1])]
d = Dataset.from_list([{"input_ids": r["input_ids"], "loss_mask": r["loss_mask"]} for r in rows])
d.set_format("torch")
t = time.process_time()
save_token_frequency_distribution(d, sys.argv[2])
print(time.process_time() - t)
END

row() {
	awk -v name="$1" -v bytes="$2" -v s="$3" -v base="${4:-0}" 'BEGIN {
		printf "%-44s %8.1f MB/s%s\n", name, bytes / s / 1e6, base ? sprintf("%8.0f times", bytes / s / base) : ""
		if (name ~ /beside speculators/)
			printf "=\ttimes as fast as speculators\t%.0f\tx\t>=50\n", bytes / s / base
		if (name ~ /beside Python/)
			printf "=\te3-vocabmap, a core\t%.0f\tMB/s\t>=1000\n", bytes / s / 1e6
	}'
}

all=$(wc -c <"$work/in") part=$(wc -c <"$work/part")
# best COMMAND...: of five runs, since what else the machine does costs caches, too
best() {
	for _ in 1 2 3 4 5; do
		seconds "$@"
	done | sort -n | head -n 1
}

none=$(best "$E3_BIN/e3-vocabmap" -q -j1 --target-vocab 163840 /dev/null)
s=$(best "$E3_BIN/e3-vocabmap" -q -j1 --target-vocab 163840 "$work/in")
s=$(echo "$s $none" | awk '{ print $1 - $2 }')
py=$(seconds python3 "$work/count.py" "$work/part")
row "Python: json and Counter" "$part" "$py"
ORACLE=trainers
if . "$(dirname "$0")/../oracle/venv.sh"; then
	t=$("$PYTHON" "$work/theirs.py" "$work/part" "$work/freq.pt" 2>/dev/null)
	row "speculators: counting alone, from Arrow" "$part" "$t"
	row "e3-vocabmap, beside speculators" "$all" "$s" "$(echo "$part $t" | awk '{ print $1 / $2 }')"
fi
row "e3-vocabmap, beside Python" "$all" "$s" "$(echo "$part $py" | awk '{ print $1 / $2 }')"
