#!/usr/bin/env bats
# e3-prep: its options, and what it does with bad input.

setup() {
bats_require_minimum_version 1.5.0

	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return
}

# ask N: N rows, {"prompt":"q1"} ...
ask() {
	i=1
	while [ "$i" -le "$1" ]; do
		echo "{\"prompt\":\"q$i\",\"response\":\"r$i\"}"
		i=$((i + 1))
	done
}

texts() {
	jq -r '.messages[0].content'
}

# ---- the command line ----

@test "misuse ends with 2 and says what is wrong" {
	for args in --nonesuch "--mode foreign" "--format nonesuch" "--dedup twice" "--explain 0" \
		"--dataset a/b" "--dataset a#b" "--filter x" "--filter x>=y" "--keep meta" --dataset \
		$'--dataset a\377' $'--filter a=\377' "--keep a,b,a" "--keep a --keep a" \
		"--explain 1 -o x" "--explain 1 -z" "--explain 1 --rejects x" "--explain 1 --stats x"; do
		run -2 e3-prep $args </dev/null
		[[ $output == *usage:* ]]
	done
	run -2 e3-prep --dataset a/b
	[ "${lines[0]}" = "e3-prep: --dataset: expected a name without '/' and '#', and with no blank in front, since ids are NAME/NUMBER, not 'a/b'" ]
}

@test "whole numbers are compared by all of their digits" {
	for id in 9007199254740992 9007199254740993 '"9007199254740993"' 9007199254740994 9007199254740993.5; do
		echo "{\"prompt\":\"q\",\"n\":$id}"
	done >rows
	[ "$(e3-prep -q --filter n=9007199254740993 rows | jq -r .id | tr '\n' ' ')" = "data/2 data/3 " ]
	[ "$(e3-prep -q --filter 'n!=9007199254740993' rows | jq -r .id | tr '\n' ' ')" = "data/1 data/4 data/5 " ]
	[ "$(e3-prep -q --filter 'n>9007199254740993' rows | jq -r .id | tr '\n' ' ')" = "data/4 data/5 " ]
	[ "$(e3-prep -q --filter 'n>=9007199254740993' --filter 'n<=9007199254740993' rows | jq -r .id | tr '\n' ' ')" = "data/2 data/3 " ]
}

@test "options take = or a blank, and may follow files" {
	ask 3 >rows
	run -0 e3-prep -q rows --dataset=d --format prompt
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[2]} == '{"id":"d/3","dataset":"d",'* ]]
	e3-prep --help | grep -q -- '--explain ROW'
	e3-prep --version | grep -q '^e3-prep '
}

@test "--list names the ten datasets with the rows of the reference run" {
	run -0 e3-prep --list
	for want in "A1_deepswekimi native 2800" "A2_kimik25 native 2000" "B1_glaive prompt 10000" \
		"B2_opencodeinstruct prompt 14714" "B3_magicoder prompt 10000" \
		"B4_mixturethoughts prompt 10002" "B5_openthoughts prompt 10000" \
		"B6_ultrachat prompt 15000" "B7_sharegpt prompt 10000" "B8_sweagent prompt 3572"; do
		echo "$output" | tr -s ' ' | grep -q "^ $want "
	done
}

@test "a dataset's name that is not known is told of, since it may be a typing error" {
	ask 1 >rows
	e3-prep --dataset B6_ultrachta rows 2>err >out
	grep -q '^e3-prep: dataset B6_ultrachta: not in --list' err
	e3-prep --dataset mine --format prompt rows 2>err >out
	run -1 grep -q 'dataset mine' err
	e3-prep -q --dataset mine rows 2>err >out
	[ ! -s err ]
	e3-prep --dataset B6_ultrachat --format prompt rows 2>err >out
	run -1 grep -q 'not in --list' err
}

@test "files one after the other, - is standard input, .zst in and out" {
	ask 2 >a
	ask 3 | zstd -q >b.zst
	ask 1 | e3-prep -q -o out.zst a - b.zst 2>err
	run -0 zstd -dc out.zst
	[ "${#lines[@]}" -eq 6 ]
	[[ ${lines[5]} == *data/6* ]]
}

@test "a word about each format, but not with -q" {
	ask 2 >rows
	run -0 e3-prep -o /dev/null rows
	[[ ${lines[0]} == 'e3-prep: rows:1: format prompt: column "prompt"'* ]]
	[[ ${lines[1]} == "e3-prep: 2 in = 2 out"* ]]
	run -0 e3-prep -q -o /dev/null rows
	[ -z "$output" ]
}

# ---- choosing ----

@test "a sample is the same whatever the order of the rows, and other with another seed" {
	ask 50 >rows
	sort -r rows >reversed
	e3-prep -q --sample 7 rows | texts | sort >a
	e3-prep -q --sample 7 reversed | texts | sort >b
	e3-prep -q --sample 7 --seed 1 rows | texts | sort >c
	[ "$(wc -l <a)" -eq 7 ]
	cmp a b
	! cmp -s a c || false
	e3-prep -q --sample 8 rows | texts | sort | comm -23 a - >d
	[ ! -s d ] # a larger sample holds the smaller one
	[ "$(e3-prep -q --sample 0 rows | wc -l)" -eq 50 ]
	[ "$(e3-prep -q --sample 60 rows | wc -l)" -eq 50 ]
}

@test "a sample leaves in the order of the rows, at any -j" {
	ask 2000 >rows
	e3-prep -q -j1 --sample 100 rows >a
	e3-prep -q -j8 --sample 100 rows >b
	cmp a b
	jq -r '.id | split("/")[1]' a >ids
	sort -n ids | cmp - ids
	# of rows that are the same the first ones
	for _ in 1 2 3 4 5; do ask 1; done | e3-prep -q --dataset d --dedup none --sample 2 | jq -r .id >ids
	[ "$(xargs <ids)" = "d/1 d/2" ]
}

@test "a sample without a place to wait fails" {
	ask 2 >rows
	TMPDIR=/nonesuch run -1 e3-prep -q --sample 1 rows
	[[ $output == *TMPDIR* ]]
}

@test "duplicates: of conversations, of prompts, and before the sample" {
	printf '%s\n' '{"prompt":"q","response":"r"}' '{"response":"r","prompt":"\u0071","x":1}' \
		'{"prompt":"q","response":"s"}' '{"prompt":"q","system":"y","response":"r"}' >rows
	run -0 e3-prep -o /dev/null --dedup exact rows
	[[ $output == *"4 in = 3 out + 1 dropped (duplicate 1)"* ]]
	run -0 e3-prep -o /dev/null --dedup prompt rows
	[[ $output == *"4 in = 2 out + 2 dropped (duplicate 2)"* ]]
	run -0 e3-prep -o /dev/null --dedup prompt --sample 1 rows
	[[ $output == *"4 in = 1 out + 3 dropped (duplicate 2, sample 1)"* ]]
}

@test "texts that join to the same are not the same" {
	printf '%s\n' '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"bc"}]}' \
		'{"messages":[{"role":"user","content":"ab"},{"role":"assistant","content":"c"}]}' >rows
	run -0 e3-prep -o /dev/null --dedup exact rows
	[[ $output == *"2 in = 2 out"* ]]
}

@test "equal prompts with other switches for the template are not equal" {
	printf '%s\n' '{"prompt":"a","chat_template_kwargs":{"thinking":true}}' '{"prompt":"a"}' \
		'{"prompt":"a","chat_template_kwargs":{"thinking":false}}' '{"prompt":"a","chat_template_kwargs":null}' >rows
	for d in exact prompt; do
		[ "$(e3-prep -q --dedup $d rows | jq -r .id | tr '\n' ' ')" = "data/1 data/2 data/3 " ]
	done
}

@test "equal prompts with other tools are not equal" {
	printf '%s\n' '{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f"}]}' \
		'{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"g"}]}' >rows
	run -0 e3-prep -o /dev/null --dedup prompt rows
	[[ $output == *"2 in = 2 out"* ]]
}

@test "--explain tells the steps, a duplicate's twin and the place in the sample" {
	{ ask 3; ask 1; } >rows
	run -0 e3-prep --explain 4 --dedup exact rows
	[[ $output == *"dropped: duplicate: it equals row 1"* ]]
	run -0 e3-prep --explain 2 --dedup exact --sample 1 rows
	[[ $output == *" of 3 by keyed hash, 1 are taken"* ]]
	run -0 e3-prep --explain 2 --filter prompt=q1 rows
	[[ $output == *"filter prompt=q1: left out"* ]]
	run -1 e3-prep --explain 5 rows
	[[ $output == *"the input has 4 rows"* ]]
}

@test "--explain passes over rows that are too long, and tells of them" {
	{ ask 2; printf '{"prompt":"%2000s"}\n' x; ask 1; } >rows
	run -0 e3-prep --explain 4 --max-line 1K --dedup exact rows
	[[ $output == *"dropped: duplicate: it equals row 1" ]]
	run -0 e3-prep --explain 3 --max-line 1K rows
	[ "$output" = $'row 3: rows:3\n  rejected: long: the line is longer than 1024 bytes (--max-line)' ]
	head -n 3 rows | run -0 e3-prep --explain 3 --max-line 1K
	[[ $output == *"rejected: long"* ]]
}

@test "--answers drop leaves out the last answer, and nothing else" {
	printf '%s\n' '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}' >rows
	[ "$(e3-prep -q --answers drop rows | jq -c '[.messages[].content]')" = '["a","b","c"]' ]
	[ "$(e3-prep -q --answers keep rows | jq -c '[.messages[].content]')" = '["a","b","c","d"]' ]
	run -2 e3-prep --answers drop --mode native rows
	{ cat rows; sed 's/"d"/"e"/' rows; } >two
	[ "$(e3-prep -q --answers drop --dedup exact two | wc -l)" -eq 2 ]
}

@test "--strict rejects what needs a repair" {
	printf '%s\n' '{"prompt":"a"}' '{"prompt":"\ud83d"}' '{"prompt":"a","response":""}' >rows
	run -0 e3-prep -o /dev/null --strict --rejects bad rows
	[[ $output == *"3 in = 1 out + 2 rejected (empty-cut 1, surrogate 1)"* ]]
}

# ---- what comes in ----

@test "empty input is no rows; blank lines, CR LF, a byte order mark and a missing end are no matter" {
	run -0 e3-prep </dev/null
	[ "$output" = "e3-prep: 0 in = 0 out" ]
	printf '\357\273\277{"prompt":"a"}\r\n\n \t\r\n{"prompt":"b\\r"}' >rows
	[ "$(e3-prep -q rows | jq -c '[.id, .messages[0].content]' | tr -d '\n')" = \
		'["data/1","a"]["data/2","b\r"]' ]
}

@test "U+2028, U+2029 and U+0085 end no line" {
	printf '{"prompt":"a\342\200\250b\342\200\251c\302\205d"}\n' >rows
	run -0 e3-prep -q rows
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *$'a\342\200\250b\342\200\251c\302\205d'* ]]
}

@test "a bad row ends the run with its place, or goes to the rejects" {
	{ ask 2; echo '{"prompt":'; ask 1; } >rows
	run -1 e3-prep rows
	[[ ${lines[-1]} == "e3-prep: rows:3: not JSON: "* ]]
	run -0 e3-prep -q --rejects bad rows
	[ "${#lines[@]}" -eq 3 ]
	[ "$(jq -c '[.raw, .reject.class, .reject.line]' bad)" = '["{\"prompt\":","json",3]' ]
	run -1 e3-prep -q --rejects bad --max-rejects 0 rows
}

@test "a failed run leaves no output, and what was there" {
	echo '{' >rows
	echo old >out
	run -1 e3-prep -q -o out rows
	[ "$(cat out)" = old ]
	run -1 e3-prep -q -o new rows
	[ ! -e new ]
}

@test "a call or a tool that can't be read is told with its place" {
	# told MESSAGE-MEMBER ROW-MEMBER PLACE
	told() {
		run -1 e3-prep -q <<<"{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",$1}]$2}"
		[[ $output == "e3-prep: standard input:1: $3 ("* ]] || { echo "$output"; false; }
	}
	told '"tool_calls":[{"name":"f"},{"id":"x"}]' "" "messages[1].tool_calls[1]: a call without a name"
	told '"tool_calls":[3]' "" "messages[1].tool_calls[0]: a call without a name"
	told '"tool_calls":"[{\"name\":\"f\"},{}]"' "" "messages[1].tool_calls[1]: a call without a name"
	told '"tool_calls":{"id":"x"}' "" "messages[1].tool_calls: a call without a name"
	told '"function_call":{"x":1}' "" "messages[1].function_call: a call without a name"
	told '"function_call":3' "" "messages[1].function_call: expected an object, not a number"
	one="expected a tool definition that has a name"
	told '"content":"a"' ',"tools":[{"name":"f"},{"x":1}]' "tools[1]: $one"
	told '"content":"a"' ',"tools":[{"function":{"name":"f"},"function":0}]' "tools[0]: $one" # the last of a key counts
	told '"content":"a"' ',"tools":"[{\"name\":\"f\"},{}]"' "tools[1]: $one"
	told '"content":"a"' ',"tools":"{\"name\":\"f\"}, {\"name\":\"g\"} x"' "tools[2]: $one"
	told '"content":"a"' ',"tools":{"x":1}' "tools: expected tool definitions that have a name"
}

@test "NUL: as an escape it is text, as a byte it is no JSON" {
	printf '{"prompt":"a\\u0000b"}\n' | e3-prep -q | grep -q '"a\\u0000b"'
	printf '{"prompt":"a\000b"}\n' >rows
	run -1 e3-prep -q rows
	[[ $output == *"not JSON"* ]]
}

@test "bytes that are not UTF-8 become U+FFFD, a reject keeps them" {
	printf '{"prompt":"a\377b\340\200c"}\n{"prompt":7,"x":"\377"}\n' >rows
	e3-prep -q --rejects bad --stats stats rows >out
	[ "$(jq -r '.messages[0].content' out)" = $'a\357\277\275b\357\277\275\357\277\275c' ]
	[ "$(jq .counts.utf8 stats)" = 3 ]
	[ "$(jq -r .raw_base64 bad | base64 -d)" = $'{"prompt":7,"x":"\377"}' ]
}

@test "half pairs become U+FFFD wherever they stand, pairs stay" {
	printf '%s\n' '{"prompt":"\ud83d \ude00 \ud83d\ude00 \\ud83d \ud83dx","k\ud83d":1}' |
		e3-prep -q --stats stats >out
	grep -qF '"\ufffd \ufffd \ud83d\ude00 \\ud83d \ufffdx"' out
	[ "$(jq .counts.surrogate stats)" = 4 ]
	# in JSON inside a string they show only when that is read
	printf '%s\n' '{"messages":"[{\"role\":\"user\",\"content\":\"\\ud83d\"}]"}' |
		e3-prep -q --stats stats | grep -qF '"\ufffd"'
	[ "$(jq .counts.surrogate stats)" = 1 ]
}

@test "of repeated keys the last one counts" {
	printf '{"prompt":"a","prompt":"b"}\n{"messages":[{"role":"tool","role":"user","content":1,"content":"c"}]}\n' |
		e3-prep -q | texts | tr '\n' ' ' | grep -qx 'b c '
}

@test "NaN in a column that nobody needs costs nothing" {
	printf '{"prompt":"NaN","x":NaN,"y":[-Infinity,Infinity]}\n{"prompt":NaN}\n' >rows
	run -0 e3-prep -q --rejects bad --stats stats --keep x,y rows
	[[ $output == *'"content":"NaN"'*'"x":null,"y":[null,null]'* ]]
	[ "$(jq -c '[.counts.nan, .reasons.missing]' stats)" = '[3,1]' ]
}

@test "a byte that is told of a row that was mended is not taken for one of the input" {
	run -1 e3-prep -q <<<'{"a":NaN,"prompt" "b"}'
	[[ $output == *"1: not JSON at byte 20: expected ':' (bytes are counted after repairs) ("* ]]
	run -1 e3-prep -q <<<'{"a":nil,"prompt" "b"}'
	[[ $output != *repairs* ]]
}

@test "numbers keep their digits where they are carried over" {
	printf '{"prompt":"a","n":[9007199254740993,18446744073709551616,1.0,1e400]}\n' |
		e3-prep -q --keep n | grep -qF '"n":[9007199254740993,18446744073709551616,1.0,1e400]'
}

@test "nesting: 1000 levels are read, 5000 are refused" {
	deep() {
		printf '{"prompt":"a","x":'
		printf "%$1s" '' | tr ' ' '['
		printf "%$1s" '' | tr ' ' ']'
		echo '}'
	}
	deep 1000 | e3-prep -q -o /dev/null
	deep 5000 >rows
	run -1 e3-prep -q rows
}

@test "a row of 64 MiB is read, a longer one is rejected whole" {
	long() {
		printf '{"prompt":"'
		head -c "$1" /dev/zero | tr '\0' x
		echo '"}'
	}
	long 67108800 | e3-prep -q | tail -c 100 | grep -q 'x"}'
	{ ask 1; long 2000; ask 1; } | e3-prep -q --max-line 1K --rejects bad >out
	[ "$(wc -l <out)" -eq 2 ]
	[ "$(jq -r .raw_base64 bad | base64 -d | wc -c)" -eq 2013 ]
}

# ---- arrays ----

@test "an array is read by elements, and errors name them" {
	printf '[{"prompt":"a"},\n {"prompt":\n"b"},3]' >rows
	run -1 e3-prep -q rows
	[ "${lines[-1]}" = "e3-prep: rows: element 3: expected a JSON object, not a number (--rejects FILE puts bad records there and goes on)" ]
	run -0 e3-prep -q --rejects bad rows
	[ "${#lines[@]}" -eq 2 ]
	[ "$(jq -c '[.raw, .reject.line]' bad)" = '["3",3]' ]
}

@test "a torn array and a comma too many are a reject each, never silence" {
	for text in '[{"prompt":"a"},{"prom' '[{"prompt":"a"},' '[{"prompt":"a"},]'; do
		printf '%s' "$text" >rows
		run -1 e3-prep -q -o /dev/null rows
		[[ $output == *"element 2: "* ]]
		run -0 e3-prep -q --rejects bad rows
		[ "${#lines[@]}" -eq 1 ]
	done
	printf '[{"prompt":"a"}' >rows
	run -1 e3-prep -q -o /dev/null rows
	[[ $output == *"the array does not end"* ]]
	printf '[]' | e3-prep | [ "$(wc -c)" -eq 0 ]
}

@test "a line that is an array is no row, one array a line neither" {
	printf '{"prompt":"a"}\n[{"prompt":"b"}]\n' >rows
	run -1 e3-prep -q rows
	[[ $output == *"rows:2: expected a JSON object, not an array"* ]]
}

# ---- what goes wrong outside ----

@test "missing and unreadable files, and a directory" {
	run -1 e3-prep nonesuch
	[[ $output == *nonesuch* ]]
	run -1 e3-prep .
	ask 1 >rows
	run -1 e3-prep -o nonesuch/out rows
	if [ "$(id -u)" -ne 0 ]; then
		chmod 0 rows
		run -1 e3-prep rows
	fi
}

@test "a full disk ends the run" {
	ask 1 >rows
	run -1 e3-prep -q -o /dev/full rows
	[[ $output == *"No space"* ]]
	run -1 sh -c 'e3-prep -q rows >/dev/full'
	for o in "--explain 1" --list --help --version; do
		run -1 sh -c "e3-prep $o rows >/dev/full"
		[ "$output" = "e3-prep: standard output: No space left on device" ]
	done
}

@test "standard output that is an input is refused: the run would read what it writes" {
	ask 2 >rows
	cp rows was
	for c in "rows >>rows" "- <rows >>rows" "<rows 1<>rows" "was rows -o - >>rows" "rows --stats - -o out >>rows"; do
		run -2 sh -c "e3-prep -q $c"
		[ "$output" = "e3-prep: standard output: is an input too; it would be lost: name another file" ]
		cmp rows was
	done
	run -0 sh -c 'e3-prep -q rows -o out >>rows'
	run -0 sh -c 'e3-prep -q was >>rows'
}

@test "a reader that goes away ends the run, as SIGPIPE does, also where that is ignored" {
	ask 5000 >rows
	for p in - "''"; do
		run -0 sh -c "trap $p PIPE; (e3-prep -q rows; echo \$? >status) | head -n 1 >first"
		[ -z "$output" ]
		[ "$(cat status)" -eq 141 ]
		[ "$(wc -l <first)" -eq 1 ]
	done
}

@test "rows in are rows out, rejected or dropped, in every count" {
	{ ask 10; echo nothing; echo '{"foo":1}'; ask 3; } >rows
	e3-prep -q --rejects bad --dedup exact --filter prompt!=q5 --sample 6 --stats stats -o out rows
	[ "$(jq '.in - .out - .rejected - .dropped' stats)" = 0 ]
	[ "$(jq -c '[.in, .out, .rejected, .dropped]' stats)" = '[15,6,2,7]' ]
	[ "$(jq '[.reasons[]] | add' stats)" = 9 ]
	[ "$(wc -l <out)" -eq 6 ]
	[ "$(wc -l <bad)" -eq 2 ]
}

@test "memory is bounded: 100,000 rows and an array of them in 48 MB of addresses" {
	case $E3_BUILD in *asan* | *tsan*) skip "a sanitizer needs more" ;; esac
	awk 'BEGIN { for (i = 0; i < 100000; i++)
		printf "{\"prompt\":\"question %d, with some words so that it has a length\",\"response\":\"%d\"}\n", i, i }' >rows
	{ echo '['; sed '$!s/$/,/' rows; echo ']'; } >array
	for f in rows array; do
		(ulimit -v 48000 && e3-prep -q -j1 --sample 1000 -o out $f)
		[ "$(wc -l <out)" -eq 1000 ]
	done
}
