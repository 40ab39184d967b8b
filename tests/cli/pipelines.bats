#!/usr/bin/env bats
# pipelines/: the reference run's order and resumption, with programs that only note that they ran,
# and the demo as a whole, with the real ones.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BIN:=$PWD/bin}"
}

# Programs that write their name to -o, and to the log when they begin and end.
stubs() {
	mkdir -p "$T/bin"
	for p in prep infer tokenize merge extract vocabmap; do
		cat >"$T/bin/e3-$p" <<-'END'
			#!/bin/sh
			me=${0##*/} out= dir=
			all="$*"
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
			*) case "$out" in *$FAIL*) echo half >>"$out.part"; echo "fail $me $out" >>"$LOG"; exit 1 ;; esac ;;
			esac
			if [ -n "$out" ]; then
				cat "$out.part" >"$out" 2>/dev/null
				rm -f "$out.part"
				echo "$me" >>"$out"
			else
				touch "$dir/t2d.pt" "$dir/d2t.pt"
			fi
			echo "end $me ${out:-$dir}" >>"$LOG"
		END
		chmod +x "$T/bin/e3-$p"
	done
	export LOG=$T/log FAIL=
}

reference() {
	make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" MODEL=M \
	    RAW=../demo/raw SERVERS="http://a http://b" "$@"
}

@test "the table: 88,088 samples, 83,288 of them asked for" {
	run awk -F '\t' '!/^#/ && NF { all += $4; n++ } $2 == "prompt" { asked += $4 } END { print n, all, asked }' pipelines/100k/datasets.tsv
	[ "$output" = "10 88088 83288" ]
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
		[[ $line = *"--server http://a --server http://b --model M --concurrency 150 --max-new-tokens 10240 "*" --resume "* ]]
	done
	grep '^begin e3-infer' "$T/log" | grep B8_sweagent | grep -q -e '--concurrency 32 --max-new-tokens 16384 '
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
	[ "$(head -n 1 "$T/out/prepared/B3_magicoder/answers.jsonl")" = half ]
	[ -e "$T/out/states/index.jsonl" ]
}

@test "a dataset without raw rows is named" {
	stubs
	mkdir "$T/raw"
	run make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" RAW="$T/raw" prompts
	[ "$status" -ne 0 ]
	[[ $output = *"no raw rows: $T/raw/A1_deepswekimi.jsonl"* ]]
}

@test "raw rows may be several files, compressed too" {
	stubs
	mkdir -p "$T/raw/A1_deepswekimi"
	touch "$T/raw/A1_deepswekimi/2.jsonl.zst" "$T/raw/A1_deepswekimi/1.jsonl"
	make --no-print-directory -C pipelines/100k BIN="$T/bin" OUT="$T/out" RAW="$T/raw" "$T/out/prepared/A1_deepswekimi/prompts.jsonl" >/dev/null
	grep -q "A1_deepswekimi/1.jsonl $T/raw/A1_deepswekimi/2.jsonl.zst$" "$T/log"
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

real() {
	make --no-print-directory -C pipelines/100k BIN="$E3_BIN" OUT="$T/$1" DATASETS="$T/table" \
	    MODEL="$PWD/pipelines/demo/model" RAW=../demo/raw SERVERS="$URL" DUMP_DIR="$T/dump" \
	    LAYERS=2,4,5 MIN_FREE=1M DRAFT_VOCAB=1000 NEW_TOKENS_short=300 NEW_TOKENS_long=300
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
		export -f real
		export T URL E3_BIN
		setsid bash -c 'real killed' >/dev/null 2>&1 3>&- &
		run=$!
		sleep $wait
		kill -9 -- -$run 2>/dev/null || true
		wait $run 2>/dev/null || true
		[ $wait != 0.3 ] || [ ! -e "$T/killed/merged.jsonl" ]
	done
	real killed >/dev/null 2>&1
	for f in merged.jsonl vocab/t2d.pt vocab/d2t.pt; do
		cmp "$T/whole/$f" "$T/killed/$f"
	done
	[ "$(jq -r .id "$T/killed/states/index.jsonl" | sort | uniq -d | wc -l)" -eq 0 ]
	cmp <(jq -c '[.id,.xxh64]' "$T/whole/states/index.jsonl" | sort) <(jq -c '[.id,.xxh64]' "$T/killed/states/index.jsonl" | sort)
	[ "$(jq -r .id "$T/killed/merged.jsonl" | sort)" = "$(jq -r .id "$T/killed/states/index.jsonl" | sort)" ]
}
