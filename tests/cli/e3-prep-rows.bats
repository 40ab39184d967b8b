#!/usr/bin/env bats
# Every row of the ten sample files, against tests/data/raw/expect.tsv: what becomes of it, which
# repairs it needs, how many messages it has, whom it equals, and that its texts are untouched.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	raw=pipelines/demo/raw
	expect=tests/data/raw/expect.tsv
	prep=$E3_BIN/e3-prep
	out=$BATS_TEST_TMPDIR
}

# rows FILE: its lines of the table
rows() {
	grep "^$1	" "$expect"
}

# "ROW VERDICT REPAIRS" of each row, by --explain
verdicts() {
	for i in $(rows "$1" | cut -f 2); do
		"$prep" --dataset "${1%%.*}" --explain "$i" "$raw/$1" | awk -v row="$i" '
			/^  rejected: / { sub(":", "", $2); print row, "reject", $2; done = 1 }
			match($0, /\((utf8|surrogate|nan|lead|order-cut|role-cut|empty-cut|args|double-encoded|think-opener)\)$/) {
				why = substr($0, RSTART + 1, RLENGTH - 2)
				if (!(why in seen)) list = list (list == "" ? "" : ",") why
				seen[why]
			}
			END { if (!done) print row, list == "" ? "convert" : "repair", list == "" ? "-" : list }'
	done
}

# "ROW MESSAGES SYS TOOLS CALLS" of each record; SYS is m or -
shapes() {
	"$prep" -q --dataset "${1%%.*}" --rejects /dev/null "$raw/$1" 2>"$out/err" | jq -r '
		[(.id | split("/")[1]), (.messages | length),
		 (if .messages[0].role == "system" then "m" else "-" end), (.tools // [] | length),
		 ([.messages[].tool_calls // [] | length] | add)] | map(tostring) | join(" ")'
}

# dropped FILE DEDUP: the rows that it leaves out
dropped() {
	"$prep" -q --dataset "${1%%.*}" --rejects /dev/null "$raw/$1" 2>"$out/err" |
		jq -r .id | sort >"$out/all"
	"$prep" -q --dataset "${1%%.*}" --rejects /dev/null --dedup "$2" "$raw/$1" 2>"$out/err" |
		jq -r .id | sort | comm -3 "$out/all" - | sed 's,.*/,,' | sort -n
}

check() {
	rows "$1" | awk -F '\t' '{ print $2, $3, $4 }' >"$out/want"
	verdicts "$1" >"$out/got"
	diff "$out/want" "$out/got"
	# a system text in a column of its own is left out of what is asked again (c)
	rows "$1" | awk -F '\t' '$3 != "reject" { print $2, $7, $6 == "m" ? "m" : "-" }' >"$out/want"
	shapes "$1" | cut -d ' ' -f 1-3 >"$out/got"
	diff "$out/want" "$out/got"
	rows "$1" | awk -F '\t' '$5 ~ /^E/ { print $2 }' >"$out/want"
	dropped "$1" exact >"$out/got"
	diff "$out/want" "$out/got"
	rows "$1" | awk -F '\t' '$5 != "-" { print $2 }' >"$out/want"
	dropped "$1" prompt >"$out/got"
	diff "$out/want" "$out/got"
}

@test "A1_deepswekimi, row by row" { check A1_deepswekimi.jsonl; }
@test "A2_kimik25, row by row" { check A2_kimik25.jsonl; }
@test "B1_glaive, row by row" { check B1_glaive.json; }
@test "B2_opencodeinstruct, row by row" { check B2_opencodeinstruct.jsonl; }
@test "B3_magicoder, row by row" { check B3_magicoder.jsonl; }
@test "B4_mixturethoughts, row by row" { check B4_mixturethoughts.jsonl; }
@test "B5_openthoughts, row by row" { check B5_openthoughts.jsonl; }
@test "B6_ultrachat, row by row" { check B6_ultrachat.jsonl; }
@test "B7_sharegpt, row by row" { check B7_sharegpt.json; }
@test "B8_sweagent, row by row" { check B8_sweagent.jsonl; }

@test "the tools and calls of B1_glaive" {
	rows B1_glaive.json | awk -F '\t' '$3 != "reject" { print $2, $8, $9 }' >"$out/want"
	shapes B1_glaive.json | cut -d ' ' -f 1,4,5 >"$out/got"
	diff "$out/want" "$out/got"
}

@test "206 rows, 181 converted, 25 rejected, 20 repaired, in the counts too" {
	for f in "$raw"/*.json*; do
		n=${f##*/}
		"$prep" -q --dataset "${n%%.*}" --rejects /dev/null --stats "$out/$n.stats" "$f" >/dev/null 2>&1
	done
	run jq -s -c '[(map(.in) | add), (map(.out) | add), (map(.rejected) | add),
		(map(.counts.repaired) | add), (map(.counts.messages) | add),
		(map(.counts.special) | add)]' "$out"/*.stats
	[ "$output" = "[206,181,25,20,1046,9]" ]
}

# The rows with \ufffd for each half of a surrogate pair, at which jq stops.
whole_pairs() {
	sed -E 's/\\ud([89ab]..)\\ud([c-f]..)/@@\1@@\2/g; s/\\ud[89a-f]../\\ufffd/g
		s/@@(...)@@(...)/\\ud\1\\ud\2/g' "$1"
}

# The texts of each row's messages, a row a line.
raw_texts() {
	whole_pairs "$raw/$1" | jq -cR --arg list "$2" 'fromjson? | objects | [.[$list]? | (if type == "string" then fromjson else . end)? |
		arrays | .[] | .content // .value // .text // .system_prompt // "" |
		if type == "array" then map(.text) | join("") else . end]'
}

@test "the texts of lists of messages are those of the rows" {
	while read -r file list; do
		"$prep" -q --dataset "${file%%.*}" --rejects "$out/rejects" "$raw/$file" 2>"$out/err" |
			jq -c '[.messages[].content]' >"$out/got"
		raw_texts "$file" "$list" >"$out/raw"
		# each record's texts are where some row's texts begin, in order
		jq -n --slurpfile got "$out/got" --slurpfile raw "$out/raw" '
			reduce $raw[] as $r (0; if $got[.] != null and ($got[.] | length > 0) and
				$r[0:($got[.] | length)] == $got[.] then . + 1 else . end) |
			if . == ($got | length) then empty else "only \(.) of \($got | length)" | halt_error end'
	done <<-END
		A1_deepswekimi.jsonl messages
		B4_mixturethoughts.jsonl messages
		B5_openthoughts.jsonl conversations
		B6_ultrachat.jsonl messages
		B8_sweagent.jsonl trajectory
	END
}

@test "answers of A1 are spelled as they were, byte for byte" {
	line=$(sed -n 3p "$raw/A1_deepswekimi.jsonl")
	# the row's last message, as a JSON string
	text=$(printf '%s\n' "$line" | grep -o '"content": "[^"\\]*\(\\.[^"\\]*\)*"' | tail -n 1)
	"$prep" -q --dataset A1_deepswekimi --rejects /dev/null "$raw/A1_deepswekimi.jsonl" |
		sed -n 3p | grep -qF -- "\"content\":${text#\"content\": }"
}

@test "the filters count rows without a score, and compare numbers" {
	f=$raw/B2_opencodeinstruct.jsonl
	run "$prep" --dataset B2_opencodeinstruct --rejects /dev/null --filter 'average_test_score>=1' --stats "$out/stats" -o /dev/null "$f"
	[[ $output == *"30 in = 20 out"* ]]
	# the two without one, which are left out, and nothing else of what is
	[ "$(jq -c '.counts | [.["no-score"], .["format-input"]]' "$out/stats")" = '[2,20]' ]
	run "$prep" --dataset B2_opencodeinstruct --rejects /dev/null --filter 'average_test_score >= 0.7' -o /dev/null "$f"
	[[ $output == *"30 in = 23 out"* ]]
	run "$prep" --dataset B2_opencodeinstruct --rejects /dev/null --filter 'average_test_score!=99' -o /dev/null "$f"
	[[ $output == *"30 in = 26 out"* ]]
	run "$prep" --dataset B8_sweagent --rejects /dev/null --filter target=true -o /dev/null "$raw/B8_sweagent.jsonl"
	[[ $output == *"2 out"* ]]
}

@test "-j1, -j4 and pieces of one byte give the same bytes" {
	for f in B7_sharegpt.json B8_sweagent.jsonl; do
		"$prep" -q -j1 --dataset "${f%%.*}" --rejects "$out/r1" "$raw/$f" >"$out/1" 2>/dev/null
		"$prep" -q -j4 --dataset "${f%%.*}" --rejects "$out/r4" "$raw/$f" >"$out/4" 2>/dev/null
		cmp "$out/1" "$out/4"
		cmp "$out/r1" "$out/r4"
	done
	dd if="$raw/B7_sharegpt.json" bs=1 2>/dev/null |
		"$prep" -q --dataset B7_sharegpt --rejects /dev/null >"$out/p" 2>/dev/null
	"$prep" -q --dataset B7_sharegpt --rejects /dev/null <"$raw/B7_sharegpt.json" 2>/dev/null | cmp - "$out/p"
}

# The ten files as one dataset: 181 rows and, since nothing is native now, the one of A2 whose answer is
# null; 155 different prompts, and that one.
@test "duplicates are found across files" {
	cd "$raw" || return
	run "$prep" --dedup none --rejects /dev/null -o /dev/null [AB]*.json*
	[[ $output == *"206 in = 182 out (21 repaired) + 24 rejected"* ]]
	run "$prep" --dedup prompt --rejects /dev/null -o /dev/null [AB]*.json*
	[[ $output == *"206 in = 156 out (18 repaired) + 24 rejected"* ]]
}
