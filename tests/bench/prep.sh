#!/bin/sh
# e3-prep against the same conversion in jq and in Python's json, on one core: MB of raw rows a second,
# and how many times as fast it is. Then the memory of a scan of 5 million rows.
#
# The rows are those of pipelines/demo/raw that all three can read, repeated to MB megabytes
# (default 100). jq and Python do only the bare conversion: no checks, no repairs, no order.
set -eu
: "${MB:=100}" "${ROWS:=5000000}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
raw=pipelines/demo/raw
prep=$E3_BIN/e3-prep

# seconds COMMAND...: of processor time, its output thrown away
seconds() {
	(
		"$@" >/dev/null 2>&1 || :
		times
	) | tail -n 1 | tr 'ms' '  ' | awk '{ printf "%.2f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

# rows NAME FILE: the good rows of a sample file, as lines, repeated
rows() {
	jq -cR 'fromjson? | objects' "$raw/$2" >"$work/one" 2>/dev/null || :
	case $2 in *.json) sed -E 's/\\ud[89a-f]..//g' "$raw/$2" | jq -c '.[] | objects' >"$work/one" ;; esac
	grep -v -e '"messages":{' -e '"conversations":null' -e '"chat":null' "$work/one" >"$work/good"
	: >"$work/$1"
	while [ "$(wc -c <"$work/$1")" -lt $((MB * 1000000)) ]; do
		for i in 1 2 3 4 5 6 7 8 9 10; do cat "$work/good"; done >>"$work/$1"
	done
}

cat >"$work/messages.py" <<'END'
import json, sys
key, role, text = sys.argv[1:4]
names = {"human": "user", "gpt": "assistant", "ai": "assistant"}
for n, line in enumerate(sys.stdin.buffer, 1):
    row = json.loads(line)
    out = []
    for m in row[key] if isinstance(row[key], list) else []:
        if not isinstance(m, dict):
            continue
        r = names.get(m.get(role), m.get(role))
        out.append({"role": r, "content": m.get(text) or ""})
        if r == "assistant":
            out[-1]["weight"] = 0
    json.dump({"id": f"d/{n}", "dataset": "d", "messages": out}, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")
END
cat >"$work/columns.py" <<'END'
import json, sys
ask, answer = sys.argv[1:3]
for n, line in enumerate(sys.stdin.buffer, 1):
    row = json.loads(line)
    out = [{"role": "user", "content": row[ask]},
           {"role": "assistant", "content": row[answer], "weight": 0}]
    json.dump({"id": f"d/{n}", "dataset": "d", "messages": out}, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")
END

messages_jq='{id: "d/\(input_line_number)", dataset: "d", messages: [(.[$key] | if type == "array" then . else [] end)[] | objects |
	{role: ({human: "user", gpt: "assistant", ai: "assistant"}[.[$role] // ""] // .[$role]), content: (.[$text] // "")} |
	if .role == "assistant" then . + {weight: 0} else . end]}'
columns_jq='{id: "d/\(input_line_number)", dataset: "d", messages: [{role: "user", content: .[$ask]},
	{role: "assistant", content: .[$answer], weight: 0}]}'

speed() {
	awk -v mb="$MB" -v s="$1" 'BEGIN { printf "%.0f", (s > 0 ? mb / s : 0) }'
}

# compare NAME JQ PYTHON: the three on $work/NAME; JQ and PYTHON are shell words
compare() {
	a=$(seconds "$prep" -q -j1 --sample 0 --dataset "$1" --rejects /dev/null "$work/$1")
	b=- c=-
	eval "b=\$(seconds jq -c $2 '$work/$1')"
	if command -v python3 >/dev/null; then
		c=$(eval "seconds sh -c 'exec python3 $3 <\"$work/$1\"'")
	fi
	printf '%-20s %8s %8s %8s' "$1" "$(speed "$a")" "$(speed "$b")" "$([ "$c" = - ] && echo - || speed "$c")"
	awk -v a="$a" -v b="$b" -v c="$c" 'BEGIN { printf " %7.1f %7.1f\n", b / a, c == "-" ? 0 : c / a }'
}

echo "MB/s on one core       e3-prep       jq   python    x jq x python"
while read -r file kind one two three; do
	name=${file%%.*}
	rows "$name" "$file"
	if [ "$kind" = list ]; then
		compare "$name" "--arg key $one --arg role $two --arg text $three '$messages_jq'" \
			"$work/messages.py $one $two $three"
	else
		compare "$name" "--arg ask $one --arg answer $two '$columns_jq'" "$work/columns.py $one $two"
	fi
	rm -f "$work/$name"
done <<END
A1_deepswekimi.jsonl list messages role content
B2_opencodeinstruct.jsonl columns input output
B4_mixturethoughts.jsonl list messages role content
B6_ultrachat.jsonl list messages role content
B7_sharegpt.json list conversations from value
B8_sweagent.jsonl list trajectory role text
END
name=B1_glaive
rows $name $name.json
a=$(seconds "$prep" -q -j1 --sample 0 --dataset $name --rejects /dev/null "$work/$name")
printf '%-20s %8s        -        -       -       - (calls and tools parsed)\n' $name "$(speed "$a")"

echo
echo "a scan of $ROWS rows, a sample of 14,714 of them, on one thread:"
awk -v n="$ROWS" 'BEGIN { for (i = 0; i < n; i++)
	printf "{\"id\":\"%d\",\"input\":\"Write a function that returns %d.\",\"output\":\"def f(): return %d\",\"average_test_score\":\"0.%d\"}\n", i, i, i, i % 10 }' |
	{
		exec 3<&0 # a command in the background has no standard input of its own
		"$prep" -q -j1 --dataset B2_opencodeinstruct --filter 'average_test_score>=0.3' \
			-o "$work/out" <&3 &
		pid=$!
		peak=0
		while [ -r /proc/$pid/status ]; do
			now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null || :)
			[ "${now:-0}" -gt "$peak" ] && peak=$now
			sleep 0.2
		done
		wait $pid
		echo "  $(wc -l <"$work/out") records, at most $((peak / 1000)) MB"
	}
