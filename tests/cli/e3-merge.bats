#!/usr/bin/env bats
# e3-merge: one order whatever the files, the choices, the splits, the manifest, and what is refused.

load holds

setup() {
	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR"
}

# rec ID DATASET IDS MASK [MORE]: one record
rec() {
	printf '{"id":"%s","dataset":"%s","input_ids":[%s],"loss_mask":[%s]%s}\n' "$1" "$2" "$3" "$4" "${5-}"
}

# set N: N records of three datasets, of 1 to 40 tokens, the half of them supervised
some() {
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++) {
			d = substr("abc", i % 3 + 1, 1)
			ids = mask = ""
			len = i * 7 % 40 + 1
			for (k = 0; k < len; k++) {
				ids = ids (k ? "," : "") (i * 31 + k) % 1000
				mask = mask (k ? "," : "") (k >= len / 2)
			}
			printf "{\"id\":\"%s/%d\",\"dataset\":\"%s\",\"input_ids\":[%s],\"loss_mask\":[%s],\"seq_len\":%d,\"n\":1.50}\n", d, i, d, ids, mask, len
		}
	}'
}

ids() {
	jq -r .id "$@"
}

@test "the order is the hash of the ids, and a seed is another order" {
	some 200 >in
	e3-merge -q in >out
	[ "$(sort out)" = "$(sort in)" ]
	e3-merge -q --seed 1 in >other
	[ "$(sort other)" = "$(sort in)" ]
	# as python-xxhash sorts them
	[ "$(head -n 4 out | ids | tr '\n' ' ')" = "a/117 b/118 c/134 a/87 " ]
	[ "$(head -n 4 other | ids | tr '\n' ' ')" = "b/127 b/145 b/49 c/44 " ]
}

@test "the same bytes however the input is cut, in whatever order, at any -j, in any memory" {
	some 3000 >in
	e3-merge -q in >want
	split -n l/7 in part.
	zstd -q --rm part.a[cd]
	e3-merge -q part.ag part.ac.zst part.aa part.ab part.ad.zst part.af part.ae >out
	cmp want out
	cat part.af part.ab | e3-merge -q part.ag part.ac.zst - part.aa part.ad.zst part.ae >out
	cmp want out
	for j in 1 2 8; do
		e3-merge -q -j$j in >out
		cmp want out
	done
	tac in | e3-merge -q >out
	cmp want out
}

@test "more than fits in memory goes through a temporary file that nobody sees" {
	mkdir tmp
	ids=$(seq -s, 20000)
	mask=$(yes 1 | head -n 20000 | paste -sd,)
	for i in $(seq 200); do
		rec a/$i a "$ids" "$mask"
	done >in
	[ "$(wc -c <in)" -gt 24000000 ]
	e3-merge -q in >want
	e3-merge -q --memory 16M --tmp-dir tmp in >out
	cmp want out
	[ -z "$(ls -A tmp)" ]
	e3-merge -q --memory 16M --no-shuffle -o out in
	cmp in out
	run e3-merge --memory 16M --tmp-dir none -o never in
	[ "$status" -eq 1 ]
	[[ "$output" == *"a temporary file in none (--tmp-dir names another folder): No such file or directory" ]]
	[ ! -e never ]
	# also where the records fit into memory
	run e3-merge --tmp-dir none -o never /dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"a temporary file in none"* ]]
}

@test "memory is bounded by --memory and a part of the set, a 64th at 16M" {
	case $E3_BUILD in *san*) skip "a sanitizer needs all the address space" ;; esac
	ids=$(seq -s, 20000)
	mask=$(yes 1 | head -n 20000 | paste -sd,)
	rec ID a "$ids" "$mask" >one
	while cat one; do :; done 2>/dev/null | head -n 2000 | awk '{ sub(/ID/, NR) } 1' >in
	[ "$(wc -c <in)" -gt 280000000 ]
	(ulimit -v 60000 && e3-merge -q -j1 --memory 16M --no-shuffle -o out in)
	cmp in out
	(ulimit -v 60000 && e3-merge -q -j1 --memory 16M -o out in)
	run bash -c 'ulimit -v 120000 && e3-merge -q -j1 --memory 1G -o out in'
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: out of memory" ]
}

@test "a record costs under 100 bytes of memory, also with --dedup ids" {
	case $E3_BUILD in *san*) skip "a sanitizer needs all the address space" ;; esac
	awk 'BEGIN { for (i = 0; i < 1000000; i++)
		printf "{\"id\":\"d/%d\",\"dataset\":\"d\",\"input_ids\":[%d,2],\"loss_mask\":[0,1]}\n", i, i }' >in
	# 85 MiB more than a process needs for few
	head -n 1000 in | bash -c 'ulimit -v 60000 && e3-merge -q -j1 --memory 16M --dedup ids -o out'
	(ulimit -v 145000 && e3-merge -q -j1 --memory 16M --dedup ids -o out in)
	[ "$(wc -l <out)" -eq 1000000 ]
}

@test "--no-shuffle keeps the order of the files, and chooses the same" {
	some 300 >in
	e3-merge -q --no-shuffle in >out
	cmp in out
	e3-merge -q --cap a=10 --mix b=2 --mix c=1 in | sort >shuffled
	e3-merge -q --cap a=10 --mix b=2 --mix c=1 --no-shuffle in >kept
	[ "$(sort kept)" = "$(cat shuffled)" ]
	grep -F -x -f kept in | cmp - kept
}

@test "lengths" {
	{ rec x d 1 1; rec y d 1,2 0,1; rec z d 1,2,3 0,1,1; } >in
	[ "$(e3-merge -q --min-len 2 --max-len 2 in | ids)" = y ]
	[ "$(e3-merge -q --min-response 2 in | ids)" = z ]
	run e3-merge --min-len 2 --max-len 2 -o out in
	[ "$output" = "e3-merge: 3 in = 1 out + 2 dropped (max_len 1, min_len 1)" ]
	e3-merge -q --min-response 9 in >out
	[ ! -s out ]
}

@test "a second record with an id is bad; which one does not depend on the order" {
	{ rec x d 1,2 0,1; rec y d 1 1; rec x d 3,4 0,1; } >in
	run e3-merge in
	[ "$status" -eq 1 ]
	[[ "$output" == *'id: another record has the same, "x" (--rejects '* ]]
	e3-merge --rejects bad --stats stats in >out 2>err
	grep -q '3 in = 2 out + 1 rejected (duplicate 1)' err
	[ "$(jq -c '[.in,.out,.rejected,.reasons.duplicate]' stats)" = "[3,2,1,1]" ]
	[ "$(jq -r .reject.class bad)" = duplicate ]
	tac in | e3-merge -q --rejects bad2 >out2
	cmp out out2
	[ "$(jq -c 'del(.reject)' bad)" = "$(jq -c 'del(.reject)' bad2)" ]
	[ "$(jq .reject.line bad)" = "$(grep -nF "$(jq -c 'del(.reject)' bad)" in | cut -d: -f1)" ]
}

@test "--dedup drops by id, by ids, by prompt" {
	{ rec x d 1,2,3 0,0,1; rec x d 9,9 0,1; rec y d 1,2,3 0,0,1; rec z d 1,2,4 0,0,1; } >in
	run e3-merge --dedup id -o out in
	[ "$output" = "e3-merge: 4 in = 3 out + 1 dropped (duplicate_id 1)" ]
	grep -v 9,9 in | e3-merge --dedup ids -o out 2>err
	[ "$(cat err)" = "e3-merge: 3 in = 2 out + 1 dropped (duplicate_ids 1)" ]
	grep -v 9,9 in | e3-merge --dedup prompt -o out 2>err
	[ "$(cat err)" = "e3-merge: 3 in = 1 out + 2 dropped (duplicate_prompt 2)" ]
	grep -v 9,9 in | tac | e3-merge --dedup prompt -q -o out2
	cmp out out2
}

@test "--cap keeps the first of the order" {
	some 300 >in
	e3-merge -q in >all
	e3-merge --cap a=7 --cap b=0 -o out in 2>err
	[ "$(cat err)" = "e3-merge: 300 in = 107 out + 193 dropped (cap 193)" ]
	{ grep '"id":"a/' all | head -n 7; grep '"id":"c/' all; } | sort >want
	[ "$(sort out)" = "$(cat want)" ]
	run e3-merge --cap nobody=7 in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: --cap: there is no record of dataset nobody" ]
}

@test "--mix keeps proportions, after caps and duplicates" {
	some 300 >in
	e3-merge -q --mix a=1 --mix b=0.5 in >out
	[ "$(jq -r .dataset out | sort | uniq -c | tr -s ' \n' ' ')" = " 100 a 50 b 100 c " ]
	e3-merge -q --cap a=10 --mix a=1 --mix b=2 --mix c=0 in >out
	[ "$(jq -r .dataset out | sort | uniq -c | tr -s ' \n' ' ')" = " 10 a 20 b " ]
	run e3-merge -q --cap a=0 --mix a=1 in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: --mix: no record of dataset a is left" ]
}

@test "--split keeps conversations together, whatever the seed" {
	for i in $(seq 200); do
		for k in 0 1 2; do rec "a/$i#turn$k" a "$i,$k" 0,1; done
		rec "b/$i" b "$i" 1
	done >in
	e3-merge --split val=0.2:val --split test=0.1:test.zst --seed 5 -o train in 2>err
	[ "$(cat err)" = "e3-merge: 800 in = 800 out" ]
	zstd -q -d test.zst
	[ "$(sort train val test)" = "$(sort in)" ]
	for f in train val test; do
		ids $f | sed 's/#.*//' | sort -u >$f.names
		[ "$(grep -c 'a/.*#' $f)" -eq "$(($(grep -c a/ $f.names) * 3))" ]
	done
	[ -z "$(sort train.names val.names test.names | uniq -d)" ]
	n=$(wc -l <val.names)
	[ "$n" -gt 50 ]
	[ "$n" -lt 110 ]
	e3-merge -q --split val=0.2:val2 --seed 6 --no-shuffle in >train2
	[ "$(ids val2 | sort)" = "$(ids val | sort)" ]
}

@test "the manifest tells what the set is made of" {
	some 100 >a
	rec z/1 z 1,2,3 0,0,1 >b
	e3-merge -q --seed 7 --cap a=5 --split val=0.3:val -o train.zst --manifest m a b
	[ "$(jq -c '[.program,.options.seed,.options.cap,.in,.dropped,.rejected]' m)" = '["e3-merge",7,["a=5"],101,29,0]' ]
	[ "$(jq -c '[.inputs[]|[.file,.records,.bytes]]' m)" = "[[\"a\",100,$(wc -c <a)],[\"b\",1,$(wc -c <b)]]" ]
	[ "$(jq -c '[.outputs[]|[.name,.file]]' m)" = '[["train","train.zst"],["val","val"]]' ]
	zstd -q -d train.zst
	for i in 0 1; do
		f=$(jq -r ".outputs[$i].name" m)
		jq -s '{records: length, tokens: (map(.input_ids|length)|add), response_tokens: (map(.loss_mask|add)|add),
		    longest: (map(.input_ids|length)|max), datasets: (group_by(.dataset)|map({key: .[0].dataset, value: length})|from_entries)}' $f >want
		jq ".outputs[$i]|{records, tokens, response_tokens, longest: .lengths.longest, datasets: (.datasets|map_values(.records))}" m >got
		diff want got
		[ "$(jq ".outputs[$i].bytes" m)" -eq "$(wc -c <$f)" ]
		[ "$(jq ".outputs[$i].lengths.below|add" m)" -eq "$(wc -l <$f)" ]
		holds --slurpfile set $f ".outputs[$i].lengths.below | to_entries | all((.key|tonumber) as \$k |
		    .value == ([\$set[].input_ids | length | select(. < \$k and . >= \$k / 2)] | length))" m
		[ "$(jq ".outputs[$i]|.tokens == .prompt_tokens + .response_tokens" m)" = true ]
	done
	e3-merge -q --seed 7 --cap a=5 --split val=0.3:val -o train.zst --manifest m2 a b
	cmp m m2
}

@test "the hash is xxHash's" {
	some 50 >a
	e3-merge -q -o out --manifest m a
	[ "$(jq -r '.outputs[0].xxh64' m)" = "$(xxhsum -H1 out | cut -c1-16)" ]
	[ "$(jq -r '.inputs[0].xxh64' m)" = "$(xxhsum -H1 a | cut -c1-16)" ]
}

@test "--check says what differs" {
	some 100 >a
	e3-merge -q --split val=0.3:val -o train --manifest m a
	run e3-merge -q --check m
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run e3-merge --check m
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "e3-merge: "*" in = "*" out" ]]
	[ "${lines[2]}" = "e3-merge: m: the set agrees" ]
	[ "${#lines[@]}" -eq 3 ]
	mv train moved.1 && mv val moved.2
	e3-merge -q --check m moved.1 moved.2
	zstd -q moved.1
	e3-merge -q --check m moved.1.zst moved.2
	run e3-merge -q --check m
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: train: No such file or directory" ]
	run e3-merge --check m moved.1
	[ "$status" -eq 2 ]
	[ "$output" = "e3-merge: m: has 2 outputs, and 1 files are named" ]

	{ sed 1d moved.1; rec new d 5 1; } >train
	cp moved.2 val
	run e3-merge -q --check m
	[ "$status" -eq 1 ]
	[[ "$output" == *"train: xxh64: the manifest says \""*"\", the set \""* ]]
	[[ "$output" == *"train: datasets: d: the manifest says nothing, the set {\"records\": 1,"* ]]
	[[ "$output" == *"e3-merge: m: the set is another" ]]
	[[ "$output" != *"val:"* ]]
	sed 's/"n":1.50/"n":1.5 /' moved.1 >train # the same counts, another spelling
	run e3-merge -q --check m
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 2 ]
	run e3-merge --check m
	[ "$status" -eq 1 ]
	[[ "$output" != *agrees* ]]
	run sh -c 'e3-merge -q --check m >/dev/full'
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: standard output: No space left on device" ]
	echo '{"outputs":[{}]}' >bad
	run e3-merge --check bad
	[ "$output" = "e3-merge: bad: no manifest of e3-merge: an output without name or file" ]
	run e3-merge --check none
	[[ "$output" == "e3-merge: none: "* ]]
}

@test "bad records: an error, or a reject, and nothing lost" {
	{
		some 5
		echo 'no json'
		printf '{"id":"\377"}\n'
		rec x d 1,2 0
		rec y d 1,x 0,1
		printf '\n \r\n{"input_ids":[1],"loss_mask":[1]}\r\n'
		rec z d 1 1 ',"seq_len":2'
		printf '{"id":"torn","inp'
	} >in
	run e3-merge -o out in
	[ "$status" -eq 1 ]
	[[ "$output" == "e3-merge: in:6: "* ]]
	[ ! -e out ]
	for j in 1 4; do
		e3-merge -j$j --rejects bad.$j -o out.$j in 2>err
		grep -q '^e3-merge: 12 in = 5 out + 7 rejected' err
	done
	cmp bad.1 bad.4
	cmp out.1 out.4
	[ "$(jq -c '[.reject.line]|add' bad.1 | tr '\n' ' ')" = "6 7 8 9 12 13 14 " ]
	[ "$(sort out.1)" = "$(head -n 5 in | sort)" ]
	run e3-merge --max-rejects 6 --rejects bad -o none in
	[ "$status" -eq 1 ]
	[ "$(wc -l <bad)" -eq 7 ]
	[ ! -e none ]
}

@test "a NUL in a dataset's name is refused, in an id it is a character" {
	{ rec x 'a\u0000b' 1 1; rec 'y\u0000 1' a 1 1; rec 'y\u0000 2' a 1 1; rec z a 1 1; } >in
	e3-merge -q --rejects bad -o out --manifest m in
	[ "$(jq -c '[.id, .reject.class, .reject.reason]' bad)" = '["x","range","dataset: holds a NUL"]' ]
	[ "$(sort out)" = "$(sed 1d in)" ]
	[ "$(jq -c '.outputs[0].datasets | map_values(.records)' m)" = '{"a":3}' ]
	e3-merge -q --check m
}

@test "nothing in, nothing out" {
	run e3-merge -o out /dev/null
	[ "$status" -eq 0 ]
	[ "$output" = "e3-merge: 0 in = 0 out" ]
	[ -e out ]
	[ ! -s out ]
	e3-merge -q --manifest m -z </dev/null | zstd -d | cmp - /dev/null
	[ "$(jq -c '.outputs[0]|[.records,.lengths.shortest,.datasets]' m)" = '[0,0,{}]' ]
	e3-merge -q --check m </dev/null
}

@test "no final newline, CRLF and a BOM change nothing" {
	some 20 >in
	e3-merge -q in >want
	{ printf '\357\273\277'; sed 's/$/\r/' in | head -c -2; } >in2
	e3-merge -q in2 >out
	cmp want out
}

@test "misuse is status 2, with the usage" {
	for args in "--cap a" "--mix a=-1" "--split val=2:f" "--dedup all" "--memory 1M" "--seed -1" "--no-such" \
		"--min-len 6 --max-len 5" "--min-response 6 --max-len 5"; do
		run e3-merge $args
		[ "$status" -eq 2 ]
		[[ "$output" == "e3-merge: "*"usage: e3-merge "* ]]
	done
	run e3-merge --split val=0.5:same -o same
	[ "$status" -eq 2 ]
	[[ "$output" == "e3-merge: same: named for two outputs"* ]]
	some 2 >in
	run e3-merge --check in in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: in:2: end of file expected near '{': expected a manifest, as --manifest writes it" ]
}

@test "a file that can't be made is found before a record is read" {
	echo bad >in
	for o in --manifest --stats "--split v=0.1"; do
		o="$o none/f"
		run e3-merge ${o/0.1 /0.1:} -o out in
		[ "$status" -eq 1 ]
		[ "$output" = "e3-merge: none/f: no file can be made in none: No such file or directory" ]
	done
	[ ! -e out ]
}

@test "no output takes the place of an input or of another output" {
	some 5 >in
	cp in was
	for args in "--manifest in" "--split v=0.1:in" "--manifest ./in --no-shuffle" "--stats in"; do
		run e3-merge $args -o o in
		[ "$status" -eq 2 ]
		[ "${output##*: is}" = " an input too; it would be lost: name another file" ]
		run bash -c 'e3-merge "$@" <in' - $args -o o
		[ "$status" -eq 2 ]
	done
	for args in "--split a=0.6:f --split b=0.1:./f" "--split a=0.6:o" "--manifest o" \
		"--rejects r --split a=0.6:r" "--stats s --manifest s" "--manifest m --split a=0.6:m"; do
		run e3-merge $args -o o in
		[ "$status" -eq 2 ]
		[[ "$output" == *": named for two outputs" ]]
	done
	run e3-merge --manifest - in
	[ "$status" -eq 2 ]
	cmp in was
	[ ! -e o ]
	e3-merge -q -o in in # on purpose
	cmp <(sort in) <(sort was)
}

@test "a reader that goes away ends it as SIGPIPE does, and without a word" {
	some 5000 >in
	for p in - "''"; do
		run bash -c "trap $p PIPE; set -o pipefail; e3-merge -q in | head -n 1 >/dev/null"
		[ "$status" -eq 141 ]
		[ -z "$output" ]
	done
}

@test "a full disk and a missing file are errors, and leave nothing" {
	some 50 >in
	run e3-merge -q -o /dev/full in
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: /dev/full: No space left on device" ]
	run bash -c 'e3-merge -q in >/dev/full'
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: standard output: No space left on device" ]
	run e3-merge -q --split val=0.5:/dev/full -o out --manifest m in
	[ "$status" -eq 1 ]
	[ ! -e out ]
	[ ! -e m ]
	run e3-merge -q -o out in none
	[ "$output" = "e3-merge: none: No such file or directory" ]
	head -c 300 in | zstd -q | head -c 60 >torn.zst
	run e3-merge -q -o out torn.zst
	[ "$status" -eq 1 ]
	[ "$output" = "e3-merge: torn.zst: the zstd frame ends early: the file was cut" ]
	[ ! -e out ]
	[ "$(ls -A | tr '\n' ' ')" = "in torn.zst " ]
}

@test "a closed pipe ends it quietly" {
	some 3000 >in
	e3-merge -q in 2>err | head -n 1 >out
	[ -s out ]
	[ ! -s err ]
}

@test "the manual's examples work" {
	mkdir -p prepared/B1_glaive prepared/B3_magicoder prepared/B6_ultrachat
	for d in prepared/*; do
		some 60 | sed "s|\"./|\"${d##*/}/|; s|\"dataset\":\".\"|\"dataset\":\"${d##*/}\"|" >"$d/tokenized_data.jsonl"
	done
	awk '/^\$ / || more { sub(/^\$ /, ""); more = sub(/\\e$/, ""); printf "%s%s", $0, more ? "" : "\n" }' \
		"$BATS_TEST_DIRNAME/../../man/e3-merge.1" >examples
	[ "$(wc -l <examples)" -eq 4 ]
	while read -r line; do
		bash -c "$line" </dev/null
	done <examples
	[ "$(jq '.outputs[0].records + .outputs[1].records' train.json)" -eq 180 ]
	[ "$(zstd -d <mixed.jsonl.zst | wc -l)" -eq 150 ]
}

@test "a reject member of an earlier run does not get into a set" {
	some 20 >in
	jq -c '. + {reject: {program: "e3-merge", reason: "then"}, last: 1}' in >again
	jq -c '. + {last: 1}' in | e3-merge -q >want
	e3-merge -q again >out
	cmp want out
	# where it stands decides nothing, nor whether another thread did it
	sed 's/^{/{"reject":{"reason":"a, }b"}, /' in | e3-merge -q -j4 --no-shuffle >out
	sed 's/^{/{ /' in | cmp - out
}

@test "a manifest names every file and split, or the run does not begin" {
	some 5 >in
	odd=$'a\xff'
	cp in "$odd"
	for args in "$odd" "in -o $odd" "in --split $odd=0.5:val" "in --split val=0.5:$odd" "in --cap $odd=1" "in --mix $odd=1"; do
		run e3-merge --manifest m $args
		[ "$status" -eq 2 ]
		[[ $output == "e3-merge: "*"a?"*": not UTF-8, so that no --manifest can name it"* ]]
		[ ! -e m ]
	done
	e3-merge -q "$odd" >out
}
