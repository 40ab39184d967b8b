#!/bin/sh
# e3-prep against the same conversion in jq and in Python's json, on one core: MB of raw rows a second,
# and how many times as fast it is. Then the memory of a scan of 5 million rows.
#
# The rows are those of a rehearsal (pipelines/100k/rows), which have the shapes and lengths of the ten
# datasets, as lines, repeated to MB megabytes (default 60); the best of TIMES runs (3) in processor
# time. jq and Python do only the bare conversion: no checks, no repairs, no order.
set -eu
: "${MB:=60}" "${ROWS:=5000000}" "${TIMES:=3}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prep=$E3_BIN/e3-prep

# seconds COMMAND...: of processor time, its output thrown away; the best of TIMES. bash's clock, since sh's has ticks of
# 10 ms
seconds() {
	for _ in $(seq "$TIMES"); do
		bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>"$0" || sed "s/^/failed: /" "$0" >&2' "$work/err" "$@"
	done 2>&1 | awk '
		/^failed: / { print >"/dev/stderr"; next }
		best == "" || $1 + $2 < best { best = $1 + $2 }
		END { print best }'
}

# rows FILE: the good rows of a file, as lines, repeated; into $work/in
rows() {
	case $1 in *.json) sed 's/^\[//; s/[],]$//' "$1" ;; *) cat "$1" ;; esac | grep -v '"note":"nothing in it"' >"$work/good"
	: >"$work/in"
	while [ "$(wc -c <"$work/in")" -lt $((MB * 1000000)) ]; do
		cat "$work/good" >>"$work/in"
	done
}

cat >"$work/messages.py" <<'END'
import json, sys
key, role, texts = sys.argv[1], sys.argv[2], sys.argv[3].split("|")
names = {"human": "user", "gpt": "assistant", "ai": "assistant"}
for n, line in enumerate(sys.stdin.buffer, 1):
    row = json.loads(line)
    out = []
    for m in row[key]:
        r = names.get(m.get(role), m.get(role))
        out.append({"role": r, "content": next((m[k] for k in texts if m.get(k)), "")})
        if r == "assistant":
            out[-1]["weight"] = 0
    sys.stdout.write(json.dumps({"id": f"d/{n}", "dataset": "d", "messages": out}, ensure_ascii=False) + "\n")
END
cat >"$work/columns.py" <<'END'
import json, sys
ask, answer, thought = sys.argv[1].split("|"), sys.argv[2].split("|"), sys.argv[3]
for n, line in enumerate(sys.stdin.buffer, 1):
    row = json.loads(line)
    out = [{"role": "user", "content": next(row[k] for k in ask if k in row)},
           {"role": "assistant", "content": next(row[k] for k in answer if k in row), "weight": 0}]
    if thought in row:
        out[1]["reasoning_content"] = row[thought]
    sys.stdout.write(json.dumps({"id": f"d/{n}", "dataset": "d", "messages": out}, ensure_ascii=False) + "\n")
END
cat >"$work/glaive.py" <<'END'
import json, sys
roles = {"USER": "user", "ASSISTANT": "assistant", "FUNCTION RESPONSE": "tool"}
decoder = json.JSONDecoder()
for n, line in enumerate(sys.stdin.buffer, 1):
    row = json.loads(line)
    text, tools, out = row["system"].removeprefix("SYSTEM: "), [], []
    at = text.find("{")
    while at >= 0:
        tool, end = decoder.raw_decode(text, at)
        tools.append({"type": "function", "function": tool})
        at = text.find("{", end)
    out.append({"role": "system", "content": text[: text.find("{")].rstrip()})
    for turn in row["chat"].split("\n\n\n"):
        who, _, body = turn.lstrip("\n").partition(": ")
        if who not in roles:
            continue
        m = {"role": roles[who], "content": body}
        if who == "ASSISTANT":
            m["content"] = body = body.strip().removesuffix("<|endoftext|>").strip()
            if body.startswith("<functioncall> "):
                name, _, args = body[15:].partition(', "arguments": ')
                m["content"] = ""
                m["tool_calls"] = [{"id": "c", "type": "function", "function": {
                    "name": json.loads(name + "}")["name"], "arguments": json.dumps(json.loads(args.rstrip()[1:-2]))}}]
            m["weight"] = 0
        out.append(m)
    sys.stdout.write(json.dumps({"id": f"d/{n}", "dataset": "d", "messages": out, "tools": tools}, ensure_ascii=False) + "\n")
END

messages_jq='{id: "d/\(input_line_number)", dataset: "d", messages: [.[$a][] |
	{role: ({human: "user", gpt: "assistant", ai: "assistant"}[.[$b] // ""] // .[$b]), content: (first(.[($c | split("|"))[]] // empty) // "")} |
	if .role == "assistant" then . + {weight: 0} else . end]}'
columns_jq='{id: "d/\(input_line_number)", dataset: "d", messages: [
	{role: "user", content: (.[($a | split("|"))[]] // empty)},
	{role: "assistant", content: (.[($b | split("|"))[]] // empty), weight: 0} +
		if .[$c] then {reasoning_content: .[$c]} else {} end]}'
glaive_jq='(.system | ltrimstr("SYSTEM: ") | index("{")) as $at | (.system | ltrimstr("SYSTEM: ")) as $s | {id: "d/\(input_line_number)", dataset: "d",
	messages: ([{role: "system", content: ($s[:$at])}] + [.chat | split("\n\n\n")[] | ltrimstr("\n") |
		if startswith("USER: ") then {role: "user", content: .[6:]}
		elif startswith("FUNCTION RESPONSE: ") then {role: "tool", content: .[19:]}
		elif startswith("ASSISTANT: <functioncall> ") then (.[26:] | rtrimstr(" <|endoftext|>") | split(", \"arguments\": ")) as $c |
			{role: "assistant", content: "", weight: 0, tool_calls: [{id: "c", type: "function", function:
				{name: ($c[0] + "}" | fromjson | .name), arguments: ($c[1][1:-2] | fromjson | tojson)}}]}
		elif startswith("ASSISTANT: ") then {role: "assistant", content: (.[11:] | rtrimstr(" <|endoftext|>")), weight: 0}
		else empty end]),
	tools: [$s[$at:] | split("\n}\n")[] | select(length > 1) | . + "}" | fromjson | {type: "function", function: .}]}'

speed() {
	awk -v bytes="$(wc -c <"$work/in")" -v s="$1" 'BEGIN { printf "%.0f", (s > 0 ? bytes / 1e6 / s : 0) }'
}

# agree NAME COMMAND...: the command must make of most rows as much text as e3-prep does, to 5 %: all but what that
# repairs and trims
agree() {
	name=$1
	shift
	head -n 40 "$work/in" >"$work/few"
	"$prep" -q --sample 0 --dataset "$name" "$work/few" | jq "$text" >"$work/ours"
	"$@" <"$work/few" | jq "$text" | paste "$work/ours" - | awk -v what="$name, $1" '
		{ d = $1 - $2; same += d * d <= $1 * $1 / 400 }
		END { if (same < NR * 3 / 4) { print what ": another conversion"; exit 1 } }' >&2
}
text='[.messages[] | .role + .content + .reasoning_content, .tool_calls[]?.function.name | length] | add'

# compare NAME KIND ARGUMENT...: the three on $work/in
compare() {
	name=$1 kind=$2
	shift 2
	case $kind in
	messages) program=$messages_jq ;;
	columns) program=$columns_jq ;;
	glaive) program=$glaive_jq ;;
	esac
	agree "$name" jq -c --arg a "${1:-}" --arg b "${2:-}" --arg c "${3:-}" "$program"
	agree "$name" python3 "$work/$kind.py" "$@"
	a=$(seconds "$prep" -q -j1 --sample 0 --dataset "$name" "$work/in")
	b=$(seconds jq -c --arg a "${1:-}" --arg b "${2:-}" --arg c "${3:-}" "$program" "$work/in")
	c=-
	if command -v python3 >/dev/null; then
		c=$(seconds sh -c 'exec python3 "$@" <"$0"' "$work/in" "$work/$kind.py" "$@")
	fi
	printf '%-20s %8s %8s %8s' "$name" "$(speed "$a")" "$(speed "$b")" "$([ "$c" = - ] && echo - || speed "$c")"
	awk -v a="$a" -v b="$b" -v c="$c" 'BEGIN { printf " %7.1f %7.1f\n", b / a, c == "-" ? 0 : c / a }'
	printf '=\t%s, a core\t%s\tMB/s\t>=300\n' "$name" "$(speed "$a")"
	awk -v OFS='\t' -v name="$name" -v a="$a" -v b="$b" -v c="$c" 'BEGIN {
		print "=", name ", times as fast as jq", sprintf("%.1f", b / a), "x", ">=10"
		if (c != "-")
			print "=", name ", times as fast as Python", sprintf("%.1f", c / a), "x", ">=10" }'
}

pipelines/100k/rows "$work/rows" 0.01
echo "MB/s on one core       e3-prep       jq   python    x jq x python"
while read -r name kind one two three; do
	rows "$(ls "$work/rows/$name".*)"
	compare "$name" "$kind" ${one:+"$one"} ${two:+"$two"} ${three:+"$three"}
done <<END
A1_deepswekimi messages messages role content
A2_kimik25 columns problem solution thinking
B1_glaive glaive
B2_opencodeinstruct columns input output -
B3_magicoder columns problem|instruction solution|response -
B4_mixturethoughts messages messages role content
B5_openthoughts messages conversations from value
B6_ultrachat messages messages role content
B7_sharegpt messages conversations from value
B8_sweagent messages trajectory role text|system_prompt
END
rm -f "$work/in"

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
		printf '=\tmemory of a scan of %s rows\t%s\tMB\t<=100\n' "$ROWS" $((peak / 1000))
	}
