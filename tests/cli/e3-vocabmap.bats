#!/usr/bin/env bats
# e3-vocabmap: the rule, the files, counts that add up, and what is refused.

setup() {
	PATH=$E3_BIN:$PATH
	cd "$BATS_TEST_TMPDIR"
}

# rec ID IDS MASK: one record
rec() {
	printf '{"id":"%s","dataset":"d","input_ids":[%s],"loss_mask":[%s]}\n' "$1" "$2" "$3"
}

# i64 FILE: the numbers of an npy file of int64
i64() {
	tail -c +129 "$1" | od -An -v -t d8 | tr -s ' \n' ' '
}

bools() {
	tail -c +129 "$1" | od -An -v -t u1 | tr -s ' \n' ' '
}

# vm ARGS: the map as speculators' npy files, in ./out
vm() {
	e3-vocabmap -q --layout speculators --out-dir out "$@" >/dev/null
}

@test "the most frequent supervised ids, ascending; d2t is an offset" {
	{ rec a 7,7,3,9 1,1,1,0; rec b 9,9,9,3 0,0,0,1; } | vm --target-vocab 10 --draft-vocab 2
	[ "$(i64 out/d2t-2.npy)" = " 3 6 " ]
	[ "$(bools out/t2d-2.npy)" = " 0 0 0 1 0 0 0 1 0 0 " ]
}

@test "ties go to the lower id" {
	rec a 8,2,5,2,8,5 1,1,1,1,1,1 | vm --target-vocab 10 --draft-vocab 2
	[ "$(i64 out/d2t-2.npy)" = " 2 4 " ]
}

@test "too few different ids: the smallest unused ones fill up" {
	rec a 5,1 1,1 | vm --target-vocab 10 --draft-vocab 4
	[ "$(i64 out/d2t-4.npy)" = " 0 0 0 2 " ]
	rec a 5,1 1,1 >in
	run e3-vocabmap --target-vocab 10 --draft-vocab 4 in
	[[ "$output" == *"only 2 different tokens occur"* ]]
}

@test "--count-all ranks by all tokens, and a mask may then be missing" {
	rec a 1,1,1,2 0,0,0,1 >in
	vm --target-vocab 10 --draft-vocab 1 in
	[ "$(i64 out/d2t-1.npy)" = " 2 " ]
	echo '{"input_ids":[1]}' >>in
	vm --target-vocab 10 --draft-vocab 1 --count-all in
	[ "$(i64 out/d2t-1.npy)" = " 1 " ]
	run e3-vocabmap --target-vocab 10 --draft-vocab 1 in
	[ "$status" -eq 1 ]
	[[ "$output" == *"in:2: loss_mask: missing"* ]]
}

@test "--include pushes out the least frequent" {
	printf '# specials\n9 # end\n\n 0\t\n9\n' >keep
	rec a 1,1,1,2,2,3 1,1,1,1,1,1 | vm --target-vocab 10 --draft-vocab 3 --include keep
	[ "$(i64 out/d2t-3.npy)" = " 0 0 7 " ]
	rec a 1 1 >in
	run e3-vocabmap --target-vocab 10 --draft-vocab 1 --include keep --out-dir x in
	[ "$status" -eq 1 ]
	[[ "$output" == *"names 2 ids"* ]]
	echo 10 >keep
	run e3-vocabmap --target-vocab 10 --draft-vocab 1 --include keep in
	[ "$status" -eq 1 ]
	[[ "$output" == *"keep:1: expected a token id below 10"* ]]
	{ head -c 70000000 /dev/zero | tr '\0' ' '; echo 5; } >keep
	run e3-vocabmap --target-vocab 10 --draft-vocab 1 --include keep in
	[ "$status" -eq 1 ]
	[[ "$output" == *"keep:1: expected a token id below 10"* ]]
}

@test "N = V is the identity, and said" {
	rec a 1 1 >in
	run e3-vocabmap --target-vocab 3 --draft-vocab 3 --layout speculators --out-dir out in
	[ "$status" -eq 0 ]
	[[ "$output" == *"identity"* ]]
	[ "$(i64 out/d2t-3.npy)" = " 0 0 0 " ]
}

@test "N of 0, below 0 and over V are misuse" {
	rec a 1 1 >in
	for n in 0 -1 11 x; do
		run e3-vocabmap --target-vocab 10 --draft-vocab=$n in
		[ "$status" -eq 2 ]
	done
	run e3-vocabmap --target-vocab 10 in
	[ "$status" = 2 ]
	[ "${lines[0]}" = "e3-vocabmap: --draft-vocab 32000, the default, is more than the target's 10: give --draft-vocab N" ]
	run e3-vocabmap --draft-vocab 2 in
	[ "$status" -eq 2 ]
	[[ "$output" == *"--target-vocab or --model"* ]]
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --layout seed in
	[ "$status" -eq 2 ]
	[[ "$output" == *"--layout needs --out-dir DIR"* ]]
}

@test "V from the model folder, also a nested one" {
	mkdir m
	echo '{"vocab_size":99,"text_config":{"vocab_size":10}}' >m/config.json
	rec a 9 1 >in
	run e3-vocabmap --model m --draft-vocab 2 in
	[[ "$output" == *'"target_vocab":10,'* ]]
	run e3-vocabmap --model m --target-vocab 11 --draft-vocab 2 in
	[ "$status" -eq 1 ]
	[[ "$output" == *"says vocab_size 10"* ]]
	for v in '"vocab_size":2147483648' '"vocab_size":0' '"vocab_size":"9"' '"x":9'; do
		echo "{$v}" >m/config.json
		run e3-vocabmap --model m --draft-vocab 2 in
		[ "$status" -eq 1 ]
		[[ "$output" == "e3-vocabmap: m/config.json: no vocab_size from 1 to 2147483647: give "* ]]
	done
	run e3-vocabmap --model nowhere --draft-vocab 2 in
	[ "$status" -eq 1 ]
	[[ "$output" == *"nowhere/config.json"* ]]
}

@test "each layout has its files, and no others" {
	rec a 1 1 >in
	for l in seed specforge modelopt speculators; do
		e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --layout $l --out-dir $l in >/dev/null
	done
	[ "$(ls -A seed | xargs)" = "d2t.pt t2d.pt" ]
	[ "$(find specforge -type f)" = "specforge/vocab_mapping/vocab_mapping.pt" ]
	[ "$(ls -A modelopt | xargs)" = "d2t.pt" ]
	[ "$(ls -A speculators | xargs)" = "d2t-2.npy t2d-2.npy token_freq.pt" ]
}

@test "links in its folder are replaced, not followed; one in the place of a folder is refused" {
	rec a 1 1 >in
	map() { e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --out-dir out "$@" in >/dev/null; }
	mkdir out far
	echo far >far/t2d
	ln -s ../far/t2d out/t2d.pt
	ln -s ../far/none out/d2t.pt
	map
	[ "$(find out -type f | sort | tr '\n' ' ')" = "out/d2t.pt out/t2d.pt " ]
	[ "$(cat far/*)" = far ]
	for to in far none; do
		ln -sfn ../$to out/vocab_mapping
		run map --layout specforge
		[ "$status" -eq 1 ]
		[ "$output" = "e3-vocabmap: out/vocab_mapping: is a symbolic link, which is not followed: remove it" ]
	done
	[ "$(ls far)" = t2d ]
	# the folder that is named may be one
	ln -s far link
	map --out-dir link
	[ -f far/d2t.pt ]
}

@test "a map that can't be whole leaves nothing new" {
	rec a 1 1 >in
	mkdir -p out/d2t.pt
	run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --out-dir out in
	[ "$status" -eq 1 ]
	[ "$(ls -A out)" = "d2t.pt" ]
}

@test "counts of two shards give the map of the whole" {
	rec a 1,2,3 1,1,0 >a
	rec b 3,3,2 1,1,1 >b
	cat a b | e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out all >/dev/null
	for f in a b; do
		e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out $f.counts $f >/dev/null
	done
	e3-vocabmap -q --counts a.counts --counts b.counts --draft-vocab 2 --counts-out sum >/dev/null
	cmp all sum
	[ "$(head -n 1 sum)" = '{"target_vocab":10,"records":2,"supervised":5,"total":6}' ]
	[ "$(tail -n 1 sum)" = '{"id":3,"supervised":2,"total":3}' ]
	# counts and records together
	e3-vocabmap -q --counts a.counts --draft-vocab 2 --counts-out both b >/dev/null
	cmp all both
}

@test "damaged counts are refused" {
	rec a 1,2,3 1,1,0 | e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out c >/dev/null
	head -n 2 c >cut
	run e3-vocabmap --counts cut --draft-vocab 2
	[ "$status" -eq 1 ]
	[[ "$output" == *"cut: its lines do not add up"* ]]
	sed '1s/"supervised":2/"supervised":3/' c >more
	run e3-vocabmap --counts more --draft-vocab 2
	[[ "$output" == *"more: its lines do not add up"* ]]
	run e3-vocabmap --counts c --target-vocab 11 --draft-vocab 2
	[ "$status" -eq 1 ]
	[[ "$output" == *"c:1: counts of a target vocabulary of 10, expected 11"* ]]
	: >empty
	run e3-vocabmap --counts empty --draft-vocab 2
	[ "$status" -eq 1 ]
	echo '{"id":1}' >nohead
	run e3-vocabmap --counts nohead --draft-vocab 2
	[[ "$output" == *"nohead:1: no counts file"* ]]
	sed '1s/10/0/' c >none
	run e3-vocabmap --counts none --draft-vocab 2
	[ "$status" -eq 1 ]
	[[ "$output" == *"none:1: target_vocab: 0 is no vocabulary size"* ]]
	for l in '{"id":10,"supervised":0,"total":1}:id 10: not a count of this vocabulary' \
		'{"id":9,"supervised":2,"total":1}:id 9: not a count of this vocabulary' \
		'{"id":9,"supervised":-1,"total":1}:supervised: expected a count' \
		'{"id":9,"supervised":1}:total: expected a count' \
		'{"id":}:not JSON at byte 7'; do
		{
			cat c
			echo "${l%\}*}}"
		} >bad
		run e3-vocabmap --counts bad --draft-vocab 2
		[ "$status" -eq 1 ]
		[[ "$output" == *"bad:5: ${l##*\}:}"* ]]
	done
}

@test "coverage: a line a size, shares that end at 1" {
	rec a 1,1,1,2 1,1,1,1 | e3-vocabmap -q --target-vocab 5000 --draft-vocab 1 --coverage c.tsv >sum
	[ "$(cut -f 1 c.tsv | xargs)" = "draft_vocab 1 1000 2000 4000 5000" ]
	[ "$(sed -n 2p c.tsv)" = "1	3	0.750000	3	0.750000" ]
	[ "$(tail -n 1 c.tsv | cut -f 3)" = "1.000000" ]
	[ "$(jq -r .supervised_share sum)" = 0.75 ]
}

@test "bad records: the first ends the run, or all go to the rejects" {
	{
		rec ok 1,2 1,1
		rec dup 1 1
		rec dup 1 1
		rec over 10 0
		rec short 1,2 1
		rec mask 1,2 1,2
		rec none '' ''
		echo '{"id":"t","input_ids":[1.5],"loss_mask":[1]}'
		echo '{"id":"m","loss_mask":[1]}'
		echo '{"id":5,"input_ids":[1],"loss_mask":[1]}'
		echo '[1]'
		echo 'torn {'
	} >in
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir out in
	[ "$status" -eq 1 ]
	[[ "$output" == *"in:3: id: a record before has the same"* ]]
	[ ! -e out ]
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --rejects bad --stats st --counts-out c in >/dev/null
	[ "$(wc -l <bad)" -eq 10 ]
	[ "$(jq -c '[.in,.out,.rejected]' st)" = "[12,2,10]" ]
	[ "$(head -n 1 c)" = '{"target_vocab":10,"records":2,"supervised":3,"total":3}' ]
	jq -r .reject.reason bad | grep -q 'input_ids\[0\]: 10 is outside the target vocabulary of 10'
	# wherever it stands in a long record
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 <<<'{"id":"l","input_ids":[1,2,3,4,5,6,7,8,9,1,2,3,4,10,6,7,8],"loss_mask":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'
	[[ "$output" == *"input_ids[13]: 10 is outside the target vocabulary of 10"* ]]
}

@test "nothing supervised, and empty input: no map" {
	rec a 1,2 0,0 >in
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir out in
	[ "$status" -eq 1 ]
	[[ "$output" == *"no supervised token in 1 records"* ]]
	[ ! -e out ]
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir out </dev/null
	[ "$status" -eq 1 ]
	# counts of an empty shard are counts
	run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out c </dev/null
	[ "$status" -eq 0 ]
	[ "$(cat c)" = '{"target_vocab":10,"records":0,"supervised":0,"total":0}' ]
}

@test "-j1 and -j8, plain and zstd, CRLF and no last newline: the same" {
	for i in $(seq 500); do rec r$i "$((i % 50)),$((i * i % 97)),$((i % 7))" 1,1,0; done >in
	vm --target-vocab 100 --draft-vocab 32 -j1 in
	mv out one
	vm --target-vocab 100 --draft-vocab 32 -j8 in
	diff -r one out
	zstd -q in -o in.zst
	rm -r out
	vm --target-vocab 100 --draft-vocab 32 in.zst
	diff -r one out
	rm -r out
	sed 's/$/\r/' in | head -c -2 | vm --target-vocab 100 --draft-vocab 32 -
	diff -r one out
}

@test "blanks in arrays are read like none" {
	echo '{"id":"a","input_ids": [ 1 , 2,	3 ] ,"loss_mask":[ 1, 0 ,1 ]}' | vm --target-vocab 10 --draft-vocab 2
	[ "$(i64 out/d2t-2.npy)" = " 1 2 " ]
}

@test "a reader that goes away ends it as SIGPIPE does, and without a word" {
	rec a 1 1 >in
	for p in - "''"; do
		rm -f gone
		run bash -c "trap $p PIPE; set -o pipefail
			{ until [ -e gone ]; do sleep 0.01; done
			e3-vocabmap -q --target-vocab 10 --draft-vocab 2 in; } | { exec <&-; : >gone; }"
		[ "$status" -eq 141 ]
		[ -z "$output" ]
	done
}

@test "write errors reach the exit status" {
	rec a 1 1 >in
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 -o /dev/full in
	[ "$status" -eq 1 ]
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir /proc/x in
	[ "$status" -eq 1 ]
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 missing
	[ "$status" -eq 1 ]
	[[ "$output" == *"missing"* ]]
}

@test "one file for two outputs is misuse" {
	run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out f --coverage f </dev/null
	[ "$status" -eq 2 ]
	[[ "$output" == *"f: named for two outputs" ]]
	run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 -o f --stats f </dev/null
	[ "$status" -eq 2 ]
	[ ! -e f ]
}

@test "the map takes the place of no other output and of no input" {
	rec a 1 1 >in
	# refused FILE OPTION...: which FILE of out is named for two, or is an input
	refused() {
		local file=$1
		shift
		run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --out-dir out "$@"
		[ "$status" -eq 2 ]
		[[ "$output" == "e3-vocabmap: out/$file: "* ]] || { echo "$output"; return 1; }
	}
	mkdir out
	for o in -o --counts-out --coverage --stats --rejects; do
		refused d2t.pt $o out/../out/d2t.pt in
		refused t2d.pt --layout seed $o out/t2d.pt in
		refused token_freq.pt --layout speculators $o out/token_freq.pt in
		refused d2t-2.npy --layout speculators $o out/d2t-2.npy in
		mkdir -p out/vocab_mapping
		refused vocab_mapping/vocab_mapping.pt --layout specforge $o out/vocab_mapping/vocab_mapping.pt in
	done
	# names that it does not make
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --layout speculators --out-dir out --counts-out out/d2t.pt -o out/d2t-3.npy in
	[ "$(ls out | tr '\n' ' ')" = "d2t-2.npy d2t-3.npy d2t.pt t2d-2.npy token_freq.pt vocab_mapping " ]

	rm out/*.*
	cp in was
	cp in out/t2d.pt
	refused t2d.pt out/t2d.pt
	refused t2d.pt <out/t2d.pt
	echo 1 >out/t2d.pt
	refused t2d.pt --include out/t2d.pt in
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out out/t2d.pt in
	refused t2d.pt --counts out/t2d.pt
	ln -s ../in out/d2t.pt
	rm out/t2d.pt
	refused d2t.pt in
	cmp in was
}

@test "no output takes the place of an input" {
	rec a 1 1 >in
	echo 1 >list
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts-out sum in
	cp in in.was; cp list list.was; cp sum sum.was
	for o in "--coverage in" "--counts-out in" "-o in" "--include list --coverage list" \
		"--include list --stats list" "--counts sum --coverage ./sum"; do
		run e3-vocabmap -q --target-vocab 10 --draft-vocab 2 $o in
		[ "$status" -eq 2 ]
		[[ "$output" == *": is an input too; it would be lost: name another file" ]]
	done
	cmp in in.was && cmp list list.was && cmp sum sum.was
	# earlier counts may become the sum
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --counts sum --counts-out sum in
	[ "$(cksum <sum)" != "$(cksum <sum.was)" ]
}

@test "a file that can't be made is found before a record is read" {
	echo bad >in
	for o in -o --counts-out --coverage --stats --rejects; do
		run e3-vocabmap --target-vocab 10 --draft-vocab 2 $o none/f in
		[ "$status" -eq 1 ]
		[ "$output" = "e3-vocabmap: none/f: no file can be made in none: No such file or directory" ]
	done
	mkdir -p out/t2d.pt
	run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir out in
	[ "$output" = "e3-vocabmap: out/t2d.pt: Is a directory" ]
	for d in /proc/a /proc/a/b/; do
		run e3-vocabmap --target-vocab 10 --draft-vocab 2 --out-dir $d in
		[[ "$output" == "e3-vocabmap: /proc/a: no file can be made in /proc: "* ]]
	done
	rec a 1 1 >in
	e3-vocabmap -q --target-vocab 10 --draft-vocab 2 --layout specforge --out-dir new/set in
	[ -e new/set/vocab_mapping/vocab_mapping.pt ]
}
