#!/usr/bin/env bats
# pipelines/: the reference run's order and resumption, with programs that only note that they ran,
# and the demo as a whole, with the real ones.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BIN:=$PWD/bin}"
}

# Programs that write a record with their name to -o, and to the log when they begin and end. SERVES: the
# model that answers.
stubs() {
	mkdir -p "$T/bin"
	for p in prep infer tokenize merge extract vocabmap; do
		cat >"$T/bin/e3-$p" <<-'END'
			#!/bin/sh
			me=${0##*/} out= dir=
			all="$*"
			record() {
				echo "{\"by\":\"$1\",\"generations\":[{\"model\":\"$SERVES\"}]}"
			}
			while [ $# -gt 0 ]; do
				case $1 in
				-o) out=$2 ;;
				--out-dir) dir=$2 ;;
				esac
				shift
			done
			echo "begin $me ${out:-$dir} $all" >>"$LOG"
			sleep 0.02
			case "$FAIL" in
			"") ;;
			*) case "$out" in *$FAIL*) record half >>"$out.part"; echo "fail $me $out" >>"$LOG"; exit 1 ;; esac ;;
			esac
			if [ -n "$out" ]; then
				cat "$out.part" >"$out" 2>/dev/null
				rm -f "$out.part"
				record "$me" >>"$out"
			else
				touch "$dir/t2d.pt" "$dir/d2t.pt"
			fi
			case "$LATE" in
			"") ;;
			*) case "$out" in *$LATE*) exit 1 ;; esac ;;
			esac
			echo "end $me ${out:-$dir}" >>"$LOG"
		END
		chmod +x "$T/bin/e3-$p"
	done
	export LOG=$T/log FAIL= LATE= SERVES=
}

reference() {
	make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" MODEL=M \
	    RAW=../demo/raw SERVERS="http://a http://b" "$@"
}

# With a table and rows of the test's own, $T/datasets and $T/raw: what is made, and which file; and
# what make says where it fails.
own_rows() {
	stubs
	cp pipelines/100k/datasets.tsv "$T/datasets"
	cp -r pipelines/demo/raw "$T/raw"
}

again() {
	: >"$T/log"
	reference DATASETS="$T/datasets" RAW="$T/raw" "$@" >"$T/said" 2>&1 || cat "$T/said"
	awk '$1 == "begin" { sub(/.*\/out\//, "", $3); print $2, $3 }' "$T/log"
}

@test "the table: 88,088 samples, 83,288 of them asked for" {
	run awk -F '\t' '!/^#/ && NF { all += $4; n++ } $2 == "prompt" { asked += $4 } $5 == "prompt" { by = by $1 " " } END { print n, all, asked, by }' pipelines/100k/datasets.tsv
	[ "$output" = "10 88088 83288 B5_openthoughts B8_sweagent " ]
}

@test "make -n names each stage once a dataset" {
	stubs
	reference -n >"$T/plan"
	[ "$(grep -c '^.*/e3-prep ' "$T/plan")" = 10 ]
	[ "$(grep -c '^.*/e3-infer ' "$T/plan")" = 8 ]
	[ "$(grep -c '^.*/e3-tokenize ' "$T/plan")" = 10 ]
	[ "$(grep -c '^.*/e3-merge ' "$T/plan")" = 1 ]
	[ "$(grep -c '^.*/e3-extract ' "$T/plan")" = 1 ]
	[ "$(grep -c '^.*/e3-vocabmap ' "$T/plan")" = 1 ]
	[ ! -e "$T/log" ]
}

@test "short before long, one dataset's requests at a time, even at make -j8" {
	stubs
	reference -j8 >/dev/null
	# no two runs of e3-infer overlap, and the long one is the last
	run awk '/e3-infer/ { if ($1 == "begin" && open) bad = 1; open = $1 == "begin"; if (open) last = $3 } END { print bad + 0, last }' "$T/log"
	[ "$output" = "0 $T/out/prepared/B8_sweagent/answers.jsonl" ]
	[ "$(grep -c '^begin e3-infer' "$T/log")" = 8 ]
	grep '^begin e3-infer' "$T/log" | grep -v B8_sweagent | while read -r line; do
		[[ $line = *"--server http://a --server http://b --model M --max-new-tokens 10240 "*"--concurrency 150 "*" --resume "* ]] || { echo "$line"; false; }
	done
	grep '^begin e3-infer' "$T/log" | grep B8_sweagent | grep -q -e '--max-new-tokens 16384 .*--concurrency 32 '
	# native answers are never asked for
	[ "$(grep '^begin e3-infer' "$T/log" | grep -c /A)" = 0 ]
	grep '^begin e3-tokenize' "$T/log" | grep A1_deepswekimi | grep -q 'A1_deepswekimi/prompts.jsonl$'
	grep '^begin e3-tokenize' "$T/log" | grep B1_glaive | grep -q 'B1_glaive/answers.jsonl$'
	for f in prepared/B1_glaive/prompts.jsonl prepared/B1_glaive/tokenized_data.jsonl merged.jsonl states/index.jsonl vocab/t2d.pt vocab/d2t.pt; do
		[ -e "$T/out/$f" ]
	done
	# and then there is nothing left to do
	[ "$(reference -n | grep -c e3-)" = 0 ]
}

@test "a broken run goes on at its stage, and half a file is never used" {
	stubs
	FAIL=B3_magicoder/answers run reference
	[ "$status" -ne 0 ]
	[ -e "$T/out/prepared/B3_magicoder/answers.jsonl.part" ]
	[ ! -e "$T/out/prepared/B3_magicoder/answers.jsonl" ]
	[ "$(grep -c 'begin e3-merge' "$T/log")" = 0 ]
	reference status | grep -q 'B3_magicoder .* 1+ '
	: >"$T/log"
	reference >/dev/null
	[ "$(grep -c 'begin e3-infer.*B1_glaive' "$T/log")" = 0 ]
	[ "$(head -n 1 "$T/out/prepared/B3_magicoder/answers.jsonl" | jq -r .by)" = half ]
	[ -e "$T/out/states/index.jsonl" ]
}

@test "a dataset without raw rows is named" {
	stubs
	mkdir "$T/raw"
	run make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" RAW="$T/raw" prompts
	[ "$status" -ne 0 ]
	[[ $output = *"no raw rows: $T/raw/A1_deepswekimi.jsonl (RAW=DIR says where they are)"* ]]
	# from another folder the table is not found: nothing is run on no datasets
	mkdir "$T/else"
	run make --no-print-directory -C "$T/else" -f "$PWD/pipelines/100k/Makefile" BIN="$T/bin"
	[ "$status" -eq 2 ]
	[[ $output = *"there is no datasets.tsv: make -C FOLDER, with OUT and RAW as whole paths"* ]]
	run reference BIN= prompts
	[ "$status" -eq 2 ]
	[[ "$output" == *"no e3-prep in ../../bin nor in PATH"* ]]
	reference BIN= status >/dev/null
	run pipelines/report/report "$T/none" pipelines/100k/datasets.tsv
	[ "$status" -eq 1 ]
	[ "$output" = "report: there is no $T/none: nothing is made yet" ]
}

@test "a folder with a blank in its name is refused: make would take it for two" {
	stubs
	mkdir "$T/a b"
	run reference OUT="$T/a b"
	[ "$status" -eq 2 ]
	[[ "$output" == *"OUT=$T/a b: make can't do with blanks in the names of files and folders"* ]]
	run reference RAW="$T/a b" MODEL="$T/c d" -n
	[[ "$output" == *"MODEL=$T/c d RAW=$T/a b: make can't"* ]]
	[ -z "$(ls "$T/a b")" ]
}

@test "raw rows may be several files, compressed too" {
	stubs
	mkdir -p "$T/raw/A1_deepswekimi"
	touch "$T/raw/A1_deepswekimi/2.jsonl.zst" "$T/raw/A1_deepswekimi/1.jsonl"
	make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" RAW="$T/raw" "$T/out/prepared/A1_deepswekimi/prompts.jsonl" >/dev/null
	grep -q "A1_deepswekimi/1.jsonl $T/raw/A1_deepswekimi/2.jsonl.zst$" "$T/log"
}

@test "only what changed is made anew: a setting, a line of the table, raw rows" {
	own_rows
	again >/dev/null
	[ -z "$(again)" ]
	# a longest sequence: the ids of all and what is made of them, but no request
	again MAX_LEN=100 >"$T/what"
	[ "$(grep -c tokenize "$T/what")" -eq 10 ]
	[ "$(grep -cE 'merge|vocabmap|extract' "$T/what")" -eq 3 ]
	[ "$(grep -cE '^e3-(prep|infer)' "$T/what")" -eq 0 ]
	[ -z "$(again MAX_LEN=100)" ]
	again DRAFT_VOCAB=100 MAX_LEN=100 >"$T/what"
	[ "$(cut -d ' ' -f 1 "$T/what")" = e3-vocabmap ]
	# a line of the table, with an option that needs its quotes: that dataset alone
	sed -i "/^B2_/s/\$/\t--filter 'average_test_score>=0.9'/" "$T/datasets"
	again MAX_LEN=100 DRAFT_VOCAB=100 >"$T/what"
	[ "$(sort "$T/what" | grep -c B2_)" -eq 3 ]
	[ "$(grep -c prepared "$T/what")" -eq 3 ]
	grep -q -e "--filter average_test_score>=0.9 " "$T/log"
	[ -z "$(again MAX_LEN=100 DRAFT_VOCAB=100)" ]
	touch "$T/raw/A1_deepswekimi.jsonl"
	again MAX_LEN=100 DRAFT_VOCAB=100 >"$T/what"
	[ "$(grep prepared "$T/what" | sed 's/prepared.//' | xargs)" = "e3-prep A1_deepswekimi/prompts.jsonl e3-tokenize A1_deepswekimi/tokenized_data.jsonl" ]
	# a server is no such setting
	[ -z "$(again MAX_LEN=100 DRAFT_VOCAB=100 SERVERS=http://c IN_FLIGHT=3)" ]
}

@test "a dataset that is taken out of the table leaves the set" {
	own_rows
	again >/dev/null
	sed -i '/^B3_/d' "$T/datasets"
	again >"$T/what"
	[ "$(cut -d ' ' -f 1 "$T/what" | sort | xargs)" = "e3-extract e3-merge e3-vocabmap" ]
	[ "$(grep 'begin e3-merge' "$T/log" | grep -c B3_)" -eq 0 ]
	[ -z "$(again)" ]
}

@test "a raw file that is taken away, or another in its place, makes the prompts anew" {
	own_rows
	mkdir "$T/raw/A2_kimik25"
	mv "$T/raw/A2_kimik25.jsonl" "$T/raw/A2_kimik25/1.jsonl"
	cp "$T/raw/A2_kimik25/1.jsonl" "$T/raw/A2_kimik25/2.jsonl"
	again >/dev/null
	rm "$T/raw/A2_kimik25/2.jsonl"
	again | grep -qx 'e3-prep prepared/A2_kimik25/prompts.jsonl'
	[ -z "$(again)" ]
	# as old as the one before it
	head -n 2 "$T/raw/A2_kimik25/1.jsonl" >"$T/new"
	touch -r "$T/raw/A2_kimik25/1.jsonl" "$T/new"
	mv "$T/new" "$T/raw/A2_kimik25/1.jsonl"
	again | grep -qx 'e3-prep prepared/A2_kimik25/prompts.jsonl'
	# elsewhere they are the same, and when all prompts are made they are not needed
	mv "$T/raw" "$T/else"
	[ -z "$(again RAW="$T/else")" ]
	[ -z "$(again)" ]
}

@test "another tokenizer or template: ids anew, answers refused until they are moved away" {
	own_rows
	cp -r pipelines/demo/model "$T/model"
	again MODEL="$T/model" >/dev/null
	touch "$T"/model/*
	[ -z "$(again MODEL="$T/model")" ]
	echo >>"$T/model/chat_template.jinja"
	again MODEL="$T/model" native >"$T/what"
	[ "$(cut -d ' ' -f 1 "$T/what" | xargs)" = "e3-tokenize e3-tokenize" ]
	again MODEL="$T/model" short | grep -q "^$T/out/prepared/B1_glaive/answers.jsonl: was begun with another tokenizer or template than $T/model has now: "
	[ ! -s "$T/log" ]
	rm "$T/out/prepared/B1_glaive/answers.jsonl"
	again MODEL="$T/model" "$T/out/prepared/B1_glaive/answers.jsonl" | grep -q '^e3-infer prepared/B1_glaive'
	# what is half done, too
	mv "$T/out/prepared/B1_glaive/answers.jsonl" "$T/out/prepared/B1_glaive/answers.jsonl.part"
	cp pipelines/demo/model/chat_template.jinja "$T/model"
	again MODEL="$T/model" short | grep -q "B1_glaive/answers.jsonl: was begun with another"
	# a folder that is not there for once is not taken for another
	FAIL=B1_glaive/answers again MODEL="$T/none" short | grep -q Error
	again MODEL="$T/model" short | grep -q "B1_glaive/answers.jsonl: was begun with another"
	# and where all is made, there is nothing to be held against
	echo >>"$T/model/chat_template.jinja"
	again MODEL="$T/model" "$T/out/prepared/B1_glaive/tokenized_data.jsonl" >/dev/null
	mv "$T/model" "$T/else"
	[ -z "$(again MODEL="$T/model" "$T/out/prepared/B1_glaive/tokenized_data.jsonl")" ]
}

@test "a full disk does not make the answers' own tokenizer another one" {
	own_rows
	cp -r pipelines/demo/model "$T/model"
	FAIL=B1_glaive/answers again MODEL="$T/model" short | grep -q Error
	# nothing can be written
	(ulimit -f 0; reference DATASETS="$T/datasets" RAW="$T/raw" MODEL="$T/model" short 2>&1) | grep -q "File size limit"
	reference DATASETS="$T/datasets" RAW="$T/raw" MODEL="$T/model" short >/dev/null
	[ "$(head -n 1 "$T/out/prepared/B1_glaive/answers.jsonl" | jq -r .by)" = half ]
}

@test "answers of two datasets by two models are refused" {
	own_rows
	again "$T/out/prepared/B1_glaive/answers.jsonl" >/dev/null
	for i in 1 2; do
		SERVES=else again short >"$T/what"
		grep -qF "answers by 2 models: move those away that are not by the target, or allow MODEL_NAMES=2" "$T/what"
		grep -qF "  else, such as $T/out/prepared/B2_opencodeinstruct/answers.jsonl" "$T/what"
		[ "$(grep -c '^e3-infer' "$T/what")" -eq 1 ]
	done
	SERVES=else again MODEL_NAMES=2 short >"$T/what"
	[ "$(grep -c '^e3-infer' "$T/what")" -eq 6 ]
	# nor by two versions of its weights
	echo '{"generations":[{"model":"m","weight_version":"1"}]}' | tee "$T/a" | sed 's/"1"/"2"/' >"$T/b"
	pipelines/100k/one-model 1 "$T/a" "$T/a"
	run pipelines/100k/one-model 1 "$T/a" "$T/b"
	[ "$status" -eq 1 ]
	[ "${lines[2]}" = "  m 2, such as $T/b" ]
}

@test "what is moved away is made anew, and what follows from it" {
	own_rows
	again >/dev/null
	rm "$T/out/prepared/B1_glaive/answers.jsonl"
	again >"$T/what"
	[ "$(cut -d ' ' -f 1 "$T/what" | sort | xargs)" = "e3-extract e3-infer e3-merge e3-tokenize e3-vocabmap" ]
	[ "$(grep -c B1_glaive "$T/what")" -eq 2 ]
	rm "$T/out/merged.jsonl"
	again >"$T/what"
	[ "$(cut -d ' ' -f 1 "$T/what" | sort | xargs)" = "e3-extract e3-merge e3-vocabmap" ]
	[ -z "$(again)" ]
}

@test "what a failed stage left is not taken for that of the settings before" {
	own_rows
	again >/dev/null
	LATE=A1_deepswekimi/tokenized again MAX_LEN=100 | grep -q Error
	again >"$T/what"
	grep -qx 'e3-tokenize prepared/A1_deepswekimi/tokenized_data.jsonl' "$T/what"
	LATE=merged again SEED=1 | grep -q Error
	again >"$T/what"
	grep -q e3-merge "$T/what"
	[ -z "$(again)" ]
}

@test "an option with a backslash is the same twice" {
	own_rows
	sed -i "/^B2_/s/\$/\t--filter 'input~\"\\\\\\\\n\"'/" "$T/datasets"
	again >/dev/null
	grep -qF '~"\\n"' "$T/out/prepared/B2_opencodeinstruct/prep.args"
	[ -z "$(again)" ]
}

@test "a table or a shard that is none is refused, and nothing is run" {
	own_rows
	refused() { # WORDS MAKE'S...
		local words=$1
		shift
		run reference DATASETS="$T/datasets" RAW="$T/raw" "$@"
		[ "$status" -eq 2 ]
		[[ "$output" == *"$words"* ]] || { echo "$output"; false; }
		[ ! -e "$T/log" ]
	}
	refused "SHARDS=4 SHARD=4: there is no such shard" SHARDS=4 SHARD=4 short
	refused "SHARDS=0 SHARD=: there is no such shard" SHARDS=0
	refused "SHARDS=x SHARD=: there is no such shard" SHARDS=x
	sed -n '/^A/p; /^B[12]_/s/short/middle/p' "$T/datasets" >"$T/odd"
	refused "B1_glaive:prompt:middle B2_opencodeinstruct:prompt:middle: no dataset, its mode and partition" DATASETS="$T/odd"
	sed 's/\t/ /g' "$T/datasets" >"$T/odd"
	refused "no dataset, its mode and partition, with tabs between" DATASETS="$T/odd"
	sed -n '/^B1_/{p;p}' "$T/datasets" >"$T/odd"
	refused "names a dataset twice" DATASETS="$T/odd"
	refused "names no dataset" DATASETS=/dev/null
	# the first shard of one is all
	again SHARDS=1 SHARD=0 short >"$T/what"
	[ "$(grep -c '^e3-infer prepared/.*/answers.jsonl$' "$T/what")" -eq 7 ]
}

@test "shards: one of them alone, then what all of them made" {
	stubs
	reference prompts native >/dev/null
	: >"$T/log"
	reference SHARDS=2 SHARD=1 short >/dev/null
	[ "$(grep -c '^begin' "$T/log")" -eq 7 ]
	[ "$(grep -c '^begin e3-infer .*answers.1-2.jsonl .*--shard 1/2 ' "$T/log")" -eq 7 ]
	reference SHARDS=2 SHARD=1 tokenized >/dev/null
	[ ! -e "$T/out/prepared/B1_glaive/tokenized_data.0-2.jsonl" ]
	reference SHARDS=2 SHARD=0 tokenized >/dev/null
	: >"$T/log"
	reference SHARDS=2 >/dev/null
	[ "$(grep -c 'begin e3-infer' "$T/log")" -eq 0 ]
	[ "$(grep 'begin e3-merge' "$T/log" | tr ' ' '\n' | grep -c 'tokenized_data.*jsonl')" -eq 18 ]
	grep -q "begin e3-extract $T/out/states.1-2/index.jsonl .*--shard 1/2 .*--out-dir $T/out/states.1-2 " "$T/log"
	[ -e "$T/out/vocab/t2d.pt" ]
	[ "$(reference SHARDS=2 -n | grep -c e3-)" = 0 ]
}

@test "shards: all that is to be had on one machine is its own shard, then the others' are waited for" {
	stubs
	run reference -j4 SHARDS=2 SHARD=1
	[ "$status" -eq 2 ]
	[[ "$output" == *"B1_glaive/answers.0-2.jsonl: is for another machine to make, with SHARD=0"* ]]
	[ "$(grep -c '^end e3-infer .*answers.1-2.jsonl$' "$T/log")" -eq 8 ]
	[ "$(grep -c '^begin e3-infer' "$T/log")" -eq 8 ]
	# the last one goes on
	reference -j4 SHARDS=2 SHARD=0 >/dev/null
	[ -e "$T/out/merged.jsonl" ]
	[ -e "$T/out/states.0-2/index.jsonl" ]
	[ ! -e "$T/out/states.1-2" ]
}

@test "slurm: jobs in order, arrays of shards, and what a task runs" {
	mkdir "$T/bin"
	cat >"$T/bin/sbatch" <<-'END'
		#!/bin/sh
		echo "$*" >>"$LOG"
		echo "$(wc -l <"$LOG");cluster"
	END
	printf '#!/bin/sh\necho "$*"\n' >"$T/bin/make"
	chmod +x "$T/bin/sbatch" "$T/bin/make"
	LOG=$T/log PATH=$T/bin:$PATH run pipelines/slurm/submit 3 "MODEL=a b" OUT=o
	[ "$status" -eq 0 ]
	[ "$(xargs <<<"$output")" = "1 prepare 2 short 3 long 4 tokenize 5 merge 6 states" ]
	[ "$(grep -c -- '--requeue .*SHARDS=3 MODEL=a b OUT=o$' "$T/log")" -eq 6 ]
	[ "$(grep -c -- '--array=0-2 ' "$T/log")" -eq 4 ]
	[ "$(grep -o 'e3-[a-z]* .*after[a-z]*:[0-9]*' "$T/log" | sed 's/--[a-z]*=[0-9]-[0-9] //; s/--dependency=//' | tr '\n' ';')" = \
		"e3-short afterok:1;e3-long afterok:2;e3-tokenize aftercorr:3;e3-merge afterok:4;e3-states afterok:5;" ]
	[ "$(PATH=$T/bin:$PATH SLURM_ARRAY_TASK_ID=2 pipelines/slurm/task short SHARDS=3)" = "--no-print-directory short SHARDS=3 SHARD=2" ]
	[ "$(PATH=$T/bin:$PATH pipelines/slurm/task merged)" = "--no-print-directory merged" ]
	run pipelines/slurm/submit x
	[ "$status" -eq 2 ]
}

@test "servers from a file, one for each shard" {
	stubs
	echo 'http://s1 # the second' >"$T/servers.1"
	reference prompts >/dev/null
	reference SHARDS=2 SHARD=1 SERVERS_FILE="$T/servers.%" short >/dev/null
	grep -q "begin e3-infer .*--servers $T/servers.1 " "$T/log"
	touch "$T/out/merged.jsonl"
	run reference SHARDS=2 SHARD=1 SERVERS_FILE="$T/servers.%" -n states
	[[ "$output" == *"e3-extract "*" --server http://s1 "* ]]
}

@test "pace: the command is the same process, and notes end with it" {
	cd "$T"
	E3_PACE=1 "$OLDPWD/pipelines/100k/pace" "$T/x" sh -c 'echo $$ >pid; echo some >x.part; sleep 2.2; mv x.part x; exit 3' &
	p=$!
	rc=0
	wait $p || rc=$? # not by run, whose shell has no such child
	[ $rc -eq 3 ]
	[ "$(cat pid)" -eq $p ]
	# it may take a moment, but not for ever
	for _ in $(seq 8); do
		n=$(wc -l <x.pace)
		sleep 1.3
		[ "$(wc -l <x.pace)" -ne "$n" ] || break
	done
	[ "$(wc -l <x.pace)" -eq "$n" ]
	[ "$n" -ge 2 ]
	[ "$(tail -n 1 x.pace | cut -d ' ' -f 2)" -eq 5 ]
}

@test "status: counts, rates, time left, and whether the disk is large enough" {
	d=$T/out/prepared/B1_glaive
	mkdir -p "$d" "$T/out/states"
	printf 'A2_kimik25\tnative\t-\t20\tx\ty\nB1_glaive\tprompt\tshort\t100\tx\ty\nB8_sweagent\tprompt\tlong\t30\tx\ty\n' >"$T/table"
	touch "$d/prompts.jsonl"
	echo '{"out":100}' >"$d/prep.stats.json"
	seq 1000 1039 >"$d/answers.jsonl.part" # 40 lines, 200 bytes
	echo bad >"$d/infer.rejects.jsonl"
	now=$(date +%s)
	# half an answer a second for the last minutes; before them a night in which nothing ran
	printf '%s 0\n%s 50\n%s 100\n%s 150\n%s 200\n' $((now - 40000)) $((now - 39980)) $((now - 50)) $((now - 30)) $((now - 10)) >"$d/answers.jsonl.pace"
	run pipelines/100k/status "$T/out" "$T/table"
	[ "$status" -eq 0 ]
	echo "$output"
	[[ "$output" == *"B1_glaive            short       100      100       40+  41%        1 "* ]]
	[[ "$output" == *"requests  41 of 130; short: 59 left at 0.50 a second, 2 min; long: 30 left, none under way"* ]]
	[[ "$output" == *"no set yet"* ]]
	touch "$T/out/merged.jsonl"
	echo '{"outputs":[{"records":5,"tokens":1000000000000,"response_tokens":250000000000,"lengths":{"longest":9}}]}' >"$T/out/merged.manifest.json"
	run pipelines/100k/status "$T/out" "$T/table"
	[[ "$output" == *"25% of them trained"* ]]
	[[ "$output" == *"states    0 of 5 records"* ]]
	[[ "$output" == *"DOES NOT FIT"* ]]
	# nothing is there yet
	run pipelines/100k/status "$T/nowhere" pipelines/100k/datasets.tsv
	[ "$status" -eq 0 ]
	[[ "$output" == *"requests  0 of 83288"* ]]
}

@test "status and report count one number of shards, and tell of another" {
	d=$T/out/prepared/B1_glaive
	mkdir -p "$d" "$T/out/states" "$T/out/states.0-2" "$T/out/states.1-2"
	printf 'B1_glaive\tprompt\tshort\t100\tx\ty\n' >"$T/table"
	touch "$d/prompts.jsonl" "$d/answers.jsonl"
	echo '{"out":100}' >"$d/prep.stats.json"
	echo '{"out":40,"resumed":0}' >"$d/infer.stats.json"
	seq 3 >"$d/infer.rejects.jsonl"
	touch "$d/answers.0-2.jsonl" "$d/tokenized_data.0-2.jsonl"
	echo '{"out":30,"resumed":0}' >"$d/infer.0-2.stats.json"
	echo '{"out":29,"counts":{"tokens":2900,"supervised":290}}' >"$d/tokenize.0-2.stats.json"
	seq 20 >"$d/answers.1-2.jsonl.part"
	seq 5 >"$T/out/states/index.jsonl"
	seq 2 >"$T/out/states.0-2/index.jsonl"
	seq 2 >"$T/out/states.1-2/index.jsonl.part"
	run pipelines/100k/status "$T/out" "$T/table"
	[ "$status" -eq 0 ]
	[[ "$output" == *"B1_glaive            short       100      100        40  43%        3        -            -      -"* ]]
	[[ "$output" == *"states    5 of 0 records"* ]]
	[[ "$output" == *"not counted: what is in another number of SHARDS than 1, such as $d/answers.0-2.jsonl" ]]
	run pipelines/100k/status "$T/out" "$T/table" 2
	[[ "$output" == *"B1_glaive            short       100      100       50+  50%        0       29         2900    10%"* ]]
	[[ "$output" == *"states    4 of 0 records"* ]]
	[[ "$output" == *"SHARDS than 2, such as $d/answers.jsonl" ]]
	stubs
	reference DATASETS="$T/table" SHARDS=2 report >"$T/said"
	grep -q 'answers .* 50.0 % .* 50 of 100 requests' "$T/said"
	rm -r "$d"/*answers.jsonl "$T/out/states"
	run reference DATASETS="$T/table" SHARDS=2 status
	[[ "$output" == *"50+  50%"* ]]
	[[ "$output" != *"not counted"* ]]
}

@test "status: what can't be read is a failure" {
	mkdir -p "$T/out/prepared/B1_glaive"
	echo '{"out":' >"$T/out/prepared/B1_glaive/prep.stats.json"
	run pipelines/100k/status "$T/out" pipelines/100k/datasets.tsv
	[ "$status" -ne 0 ]
	# the last line of a run at work may be half written
	rm "$T/out/prepared/B1_glaive/prep.stats.json"
	mkdir "$T/out/states"
	printf '{"bytes":1000,"seq_len":10}\n{"bytes":10' >"$T/out/states/index.jsonl.part"
	run pipelines/100k/status "$T/out" pipelines/100k/datasets.tsv
	[ "$status" -eq 0 ]
	[[ "$output" == *" at 100 bytes a token, "* ]]
}

@test "parquet: rows that can't be counted are a failure" {
	printf '#!/bin/sh\ncase "$*" in *count*) exit 1 ;; esac\necho "{}"\n' >"$T/duckdb"
	chmod +x "$T/duckdb"
	DUCKDB=$T/duckdb run pipelines/parquet pipelines/100k/datasets.tsv
	[ "$status" -ne 0 ]
	[ -z "$output" ]
}

# ---- with the real programs ----

teardown() {
	[ -z "$SIM" ] || { kill -9 "$SIM"; wait "$SIM" || true; } 2>/dev/null
}

# Everything that a run of the demo makes, but its talk with clocks and addresses.
sums() {
	(cd "$1" && find . -type f ! -name '*.log' ! -name sim.port ! -name '*.stats.json' | sort |
		while read -r f; do
			printf '%s %s\n' "$f" "$(sed "s#127\.0\.0\.1:[0-9]*##g; s#$1##g" "$f" | sha256sum)"
		done)
}

# Runs the demo once for the tests that look at it: ONE is its folder, TALK what it said.
demo_once() {
	ONE=$BATS_FILE_TMPDIR/one TALK=$BATS_FILE_TMPDIR/talk
	[ ! -e "$TALK" ] || return 0
	DEMO_OUT=$ONE DEMO_JOBS=1 pipelines/demo/run >"$TALK" 2>&1 || { tail -n 30 "$TALK"; false; }
}

@test "the demo makes what it says, the same at one thread and at eight" {
	demo_once
	for f in merged.jsonl vocab/t2d.pt vocab/d2t.pt vocab_mapping/vocab_mapping.pt seed/index.jsonl; do
		[ -s "$ONE/$f" ] || { echo "no $f"; false; }
	done
	n=$(wc -l <"$ONE/merged.jsonl")
	[ "$n" -gt 150 ]
	[ "$(find "$ONE/specforge" -name '*.ckpt' | wc -l)" -eq "$n" ]
	[ "$(find "$ONE/speculators" -name '*.safetensors' | wc -l)" -eq "$n" ]
	# one line a dataset, with counts in every column
	sed -n '/What was made/,/^$/p' "$TALK" >"$T/table"
	[ "$(grep -cE '^  [AB][0-9]_[a-z0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +(-|[0-9]+) +[0-9]+ +[0-9]+ +[0-9]+$' "$T/table")" -eq 10 ]
	DEMO_OUT=$T/two DEMO_JOBS=8 pipelines/demo/run >/dev/null 2>&1
	diff <(sums "$ONE") <(sums "$T/two")
	[ ! -e "$T/two/dump" ]
	# no server is left behind
	[ "$(pgrep -f "$ONE|$T/two" | wc -l)" -eq 0 ]
}

@test "the demo names a dataset without rows" {
	mkdir "$T/raw"
	cp pipelines/demo/raw/A1_deepswekimi.jsonl "$T/raw"
	DEMO_RAW=$T/raw DEMO_OUT=$T/out run pipelines/demo/run
	[ "$status" -eq 1 ]
	[[ "$output" == *"demo: no raw rows: $T/raw/A2_kimik25.jsonl" ]]
}

@test "the demo leaves a folder that is not its own alone" {
	mkdir "$T/mine"
	touch "$T/mine/precious"
	DEMO_OUT=$T/mine run pipelines/demo/run
	[ "$status" -eq 1 ]
	[ -e "$T/mine/precious" ]
}

@test "the demo's suggestions for looking at it work" {
	demo_once
	sed -n '/To look at it/,$p' "$TALK" | sed 1d >"$T/look"
	[ "$(wc -l <"$T/look")" -eq 6 ]
	while read -r line; do
		bash -o pipefail -c "$line" >"$T/shown" 2>"$T/said" || [ $? -eq 141 ] || { echo "$line"; cat "$T/said"; false; }
		[ -s "$T/shown" ] || { echo "$line: nothing"; false; }
	done <"$T/look"
}

real() { # OUT MAKE'S...
	local out=$T/$1
	shift
	make --no-print-directory -C pipelines/100k BIN="$E3_BIN" OUT="$out" DATASETS="$T/table" \
	    MODEL="$PWD/pipelines/demo/model" RAW=../demo/raw SERVERS="$URL" DUMP_DIR="$T/dump" \
	    LAYERS=2,4,5 MIN_FREE=1M DRAFT_VOCAB=1000 NEW_TOKENS_short=300 NEW_TOKENS_long=300 "$@"
}

@test "the README's lines run as they are, one after the other" {
	"$E3_BIN/e3-sim" --model pipelines/demo/model --port 0 >"$T/port" 2>/dev/null &
	until [ -s "$T/port" ]; do sleep 0.1; done
	kill $!
	wait $! || true
	# but for the port, which may be taken, and the programs, which may be others
	sed -n '/^\tPATH=/,/^\tkill/p' README | sed "s/30000/$(cat "$T/port")/; s|PATH=\$PWD/bin:|PATH=$E3_BIN:|" >"$T/lines"
	[ "$(grep -c '^	e3-' "$T/lines")" = 7 ]
	HOME=$T bash -e -o pipefail -c "trap 'kill \$! 2>&- || true' EXIT; . $T/lines" >"$T/talk" 2>&1 || { cat "$T/talk"; false; }
	[ "$(wc -l <"$T/e3-try/states.jsonl")" = 20 ]
	[ -s "$T/e3-try/vocab/t2d.pt" ]
}

@test "a small rehearsal: made-up rows, timed stages, two kills, the same bytes" {
	KILLS=2 JOBS=1 E3_BIN=$E3_BIN run pipelines/100k/rehearse "$T/r" 0.0015
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"killed 2 times, make -j1: the same prompts, set, vocabulary and states"* ]]
	[ "$(grep -cE '^(prompts|answers|tokenized|merged|vocab|states|all) +[0-9.]+ +[0-9.]+% ' <<<"$output")" -eq 7 ]
	grep -qE '^answers: [0-9.]+ s$' <<<"$output"
	[ -z "$(ls -d "$T"/r/dump* 2>/dev/null)" ]
	pipelines/report/report "$T/r/whole" "$T/r/datasets.tsv" >"$T/said" 2>"$T/err"
	cmp "$T/said" "$T/r/whole/report.txt"
	page=$T/r/whole/report.html
	grep -q "of 136 *all datasets are full" "$T/said"
	grep -q '<div class="check good">answers<b>100.0 %</b><span>[0-9]* of [0-9]* requests</span></div>' "$page"
	[ "$(grep -c '^<tr><td>' "$page")" -eq 11 ]
	# self-contained, and in the reader's colours
	[ "$(grep -cE '<script|<link|src=|@import|url\(' "$page")" -eq 0 ]
	grep -q 'prefers-color-scheme: dark' "$page"
	if command -v gnuplot >/dev/null; then
		[ "$(grep -c '<svg' "$page")" -eq 5 ]
		[ "$(sed -n '/<svg/,$p' "$page" | grep -cE "[\"']black[\"']")" -eq 0 ]
		[ ! -s "$T/err" ]
	fi
	sum=$(cat "$T"/r/raw/*.json* | sha256sum)
	pipelines/100k/rows "$T/again" 0.0015
	[ "$(cat "$T"/again/*.json* | sha256sum)" = "$sum" ]
}

@test "a rehearsal names the program that it lacks" {
	mkdir "$T/bin"
	ln -s "$(command -v dirname)" "$T/bin"
	PATH=$T/bin run /bin/bash pipelines/100k/rehearse "$T/r"
	[ "$status" -eq 1 ]
	[ "$output" = "rehearse: no python3: apt-get install python3" ]
	[ ! -e "$T/r" ]
}

@test "a rehearsal whose results can't be summed is a failure" {
	printf '#!/bin/sh\nexit 1\n' >"$T/sha256sum"
	chmod +x "$T/sha256sum"
	PATH=$T:$PATH KILLS=1 JOBS=1 E3_BIN=$E3_BIN run pipelines/100k/rehearse "$T/r" 0.0001
	[ "$status" -ne 0 ]
	[[ "$output" == *"killed after "* ]]
	[[ "$output" != *"the same prompts"* ]]
}

@test "report: what is not known yet, and what is not good" {
	d=$T/out/prepared/B1_glaive
	mkdir -p "$d"
	printf 'B1_glaive\tprompt\tshort\t1\tx\ty\n' >"$T/table"
	run pipelines/report/report "$T/out" "$T/table"
	[ "$status" -eq 0 ]
	# answers are not begun, which is no fault
	[ "${lines[0]}" = "Look at: samples" ]
	[[ "$output" == *"nothing is merged"*"not drawn"* ]]
	# before there is a set: 1,820 tokens of 57,344 bytes
	[[ "$output" == *"about 104 MB "*"104 MB to come"*"a forecast, nothing is merged"* ]]
	# no disk holds the states of a billion samples
	printf 'B1_glaive\tprompt\tshort\t1000000000\tx\ty\n' >"$T/large"
	run pipelines/report/report "$T/out" "$T/large"
	[ "${lines[0]}" = "Not good: disk for states" ]
	touch "$d/prompts.jsonl" "$d/answers.jsonl"
	echo '{"out":100}' >"$d/prep.stats.json"
	# a run that went on: the rejects and the ends are those of all its answers
	echo '{"out":3,"resumed":89,"output_statuses":{"ok":70,"length":20,"empty":0,"reasoning_only":0,"repetition":0,"unparsed":0},"statuses":{"ok":2,"length":0,"empty":1,"reasoning_only":0,"repetition":0,"unparsed":0}}' >"$d/infer.stats.json"
	seq 8 >"$d/infer.rejects.jsonl"
	run pipelines/report/report "$T/out" "$T/table"
	[[ "$output" == "Not good: rejected, cut by the limit"* ]]
	[[ "$output" == *"B1_glaive               71.43    20.41     0.00     8.16"* ]]
	grep -q '<td class=bad>22.2 %' "$T/out/report.html"
	# at work again: its last 2,000 answers stand for all of them, whatever the statistics said before
	rm "$d/answers.jsonl"
	awk 'BEGIN { while (i++ < 10000) printf "{\"generations\":[{\"status\":\"%s\"}]}\n", i % 10 ? "ok" : "length" }' >"$d/answers.jsonl.part"
	run pipelines/report/report "$T/out" "$T/table"
	[[ "$output" == *"B1_glaive               89.93     9.99     0.00     0.08"* ]]
	run pipelines/report/report "$T/none" "$T/table"
	[ "$status" -eq 1 ]
}

@test "GNU parallel: four shards make the set of one machine, as e3(7) says" {
	"$E3_BIN/e3-sim" --model pipelines/demo/model >"$T/port" 2>/dev/null 3>&- &
	SIM=$!
	while [ ! -s "$T/port" ]; do sleep 0.05; done
	"$E3_BIN/e3-prep" -q --dataset B6_ultrachat --rejects /dev/null -o "$T/prompts.jsonl" pipelines/demo/raw/B6_ultrachat.jsonl
	ln -s "$PWD/pipelines/demo/model" "$T/M"
	sed -n '/GNU parallel/,/^.Ed/p' man/e3.7 | sed '/^\./d; s/\\e$/\\/' | sed 1d >"$T/lines"
	[ "$(grep -c '^parallel\|^e3-merge' "$T/lines")" -eq 3 ]
	sed -i "s#http://n{}:30000#http://127.0.0.1:$(cat "$T/port")#" "$T/lines"
	(cd "$T" && HOME=$T PATH=$E3_BIN:$PATH bash -e ./lines >"$T/said" 2>&1) || { cat "$T/said"; false; }
	"$E3_BIN/e3-infer" -q --server "http://127.0.0.1:$(cat "$T/port")" --model "$T/M" -o "$T/all" "$T/prompts.jsonl" 2>/dev/null
	"$E3_BIN/e3-tokenize" -q --model "$T/M" "$T/all" | "$E3_BIN/e3-merge" -q --seed 42 -o "$T/one"
	[ -s "$T/one" ]
	cmp "$T/one" "$T/set.jsonl"
	[ -s "$T/part-3.jsonl" ]
}

@test "the reference run, killed again and again, ends with the same bytes" {
	mkdir "$T/dump"
	grep -E '^(A2|B1|B6|B8)_' pipelines/100k/datasets.tsv >"$T/table"
	"$E3_BIN/e3-sim" --model pipelines/demo/model --dump-dir "$T/dump" --latency 60 --slots 4 \
	    >"$T/port" 2>/dev/null 3>&- &
	SIM=$!
	while [ ! -s "$T/port" ]; do sleep 0.05; done
	URL=http://127.0.0.1:$(cat "$T/port")
	real whole >/dev/null 2>&1
	for wait in 0.3 0.8 1.3; do
		# a group of its own, before there is anything to wait for
		set -m
		real killed >/dev/null 2>&1 3>&- &
		run=$!
		set +m
		sleep $wait
		kill -9 -- -$run 2>/dev/null || true
		wait $run 2>/dev/null || true
		# one that is killed in a sync ends when that has, and holds its lock until then
		while pgrep -g $run -r D,R,S,T >/dev/null; do sleep 0.02; done
		[ $wait != 0.3 ] || [ ! -e "$T/killed/merged.jsonl" ]
	done
	real killed >/dev/null 2>&1
	for f in merged.jsonl vocab/t2d.pt vocab/d2t.pt; do
		cmp "$T/whole/$f" "$T/killed/$f"
	done
	[ "$(jq -r .id "$T/killed/states/index.jsonl" | sort | uniq -d | wc -l)" -eq 0 ]
	cmp <(jq -c '[.id,.xxh64]' "$T/whole/states/index.jsonl" | sort) <(jq -c '[.id,.xxh64]' "$T/killed/states/index.jsonl" | sort)
	[ "$(jq -r .id "$T/killed/merged.jsonl" | sort)" = "$(jq -r .id "$T/killed/states/index.jsonl" | sort)" ]
	# other parameters are refused, and what is there is as old as it was
	touch "$T/now"
	run real whole NEW_TOKENS_short=200
	[ "$status" -ne 0 ]
	[[ "$output" == *"give the same options, or another output"* ]]
	run real whole -n
	[[ "$output" != *e3-* ]]
	[ -z "$(find "$T/whole" -newer "$T/now" -name '*.jsonl')" ]
}
