#!/usr/bin/env bats
# Each system call on a file of tensors fails once in turn: in e3-vocabmap's files, in e3-extract --convert, in
# --verify and in extraction itself. Either all is right, or the program names the file, ends with status 1, leaves
# nothing that is half, and the next run succeeds.

load each

setup_file() {
	build_fault
	export MODEL=$BATS_TEST_DIRNAME/../../pipelines/demo/model SETS=$BATS_FILE_TMPDIR
	PATH=$E3_BIN:$PATH
	mkdir "$SETS/hs"
	e3-sim --model "$MODEL" --port 0 --dump-dir "$SETS/hs" >"$SETS/port" 2>/dev/null 3>&- &
	echo $! >"$SETS/pid"
	for _ in $(seq 500); do
		[ -s "$SETS/port" ] && break
		sleep 0.02
	done
	export URL=http://127.0.0.1:$(head -n 1 "$SETS/port")
	records 2 >"$SETS/in"
	for l in seed speculators modelopt compact; do
		extract $l "$SETS/$l"
	done
}

teardown_file() {
	kill "$(cat "$SETS/pid")"
}

setup() {
	in_work
}

records() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "{\"id\":\"a/%d\",\"input_ids\":[%d,301,302],\"loss_mask\":[0,1,1],\"seq_len\":3}\n", i, i + 310 }'
}

# extract LAYOUT OUT [OPTION...]
extract() {
	local layout=$1 to=$2
	shift 2
	e3-extract -q --backend vllm --server "$URL" --dump-dir "$SETS/hs" --model "$MODEL" --min-free 1M -j1 \
	    --concurrency 1 --layout "$layout" --out-dir "$to" -o "$to.idx" "$@" "$SETS/in"
}

@test "vocabmap: every call on every file" {
	records 20 >in
	for l in seed speculators; do
		map() { e3-vocabmap -q -j1 --target-vocab 400 --draft-vocab 50 --layout $l --out-dir "$1" -o sum in; }
		map want.$l
		before() { rm -rf out; }
		good() { diff -r out want.$l; }
		bad() {
			grep -qE ': (out|in|sum)' stderr
			# what is there is whole, and never a d2t beside a t2d that is not
			[ -z "$(find out -name '.*.tmp' 2>/dev/null)" ]
			for f in $(find out -type f 2>/dev/null); do cmp "$f" "want.$l/${f#out/}"; done
			map out
			diff -r out want.$l
		}
		for call in open write fsync close; do
			each $call e3-vocabmap -q -j1 --target-vocab 400 --draft-vocab 50 --layout $l --out-dir out -o sum in
			[ "$failures" -ge 1 ]
		done
	done
}

@test "--convert: every call on every file" {
	before() { rm -rf out out.idx; }
	while read -r from to; do
		[ -e $from ] || cp -r "$SETS/$from" "$SETS/$from.idx" .
		good() {
			diff -r out "$SETS/$to"
			cmp out.idx "$SETS/$to.idx"
		}
		bad() {
			grep -qE ": (out|$from)[./:]" stderr
			[ ! -e out.idx ] || grep -q 'its folder' stderr
			[ -z "$(find out -name '.*' ! -name . 2>/dev/null)" ]
			rm -f out.idx
			e3-extract -q -j1 --convert $from --records "$SETS/in" --layout $to --out-dir out -o out.idx $from.idx
			good
		}
		for call in open read write fsync rename close mmap; do
			each $call e3-extract -q -j1 --convert $from --records "$SETS/in" --layout $to --out-dir out \
			    -o out.idx $from.idx
			case $call in
			close) ;; # of what was only read it does not matter
			*) [ "$failures" -ge 1 ] ;;
			esac
		done
	done <<-END
	seed compact
	compact speculators
	speculators modelopt
	END
}

@test "--verify: a file that can't be read is a bad one" {
	for l in seed compact speculators; do
		cp -r "$SETS/$l" "$SETS/$l.idx" .
		for call in open mmap; do
			for n in 1 2 3 4 5; do
				run with $call:$n:5 e3-extract -q -j1 --verify $l $l.idx
				[ -e "$E3_FAULT_MARK" ] || continue
				[ "$status" -eq 1 ]
				[[ "$output" == *"Input/output error"* ]]
				[[ "$output" == *"$l"* ]]
			done
		done
		e3-extract -q -j1 --verify $l $l.idx
	done
}

@test "extraction: every call on every file, and the run goes on" {
	for l in compact; do
		before() {
			rm -rf out out.idx*
			rm -f "$SETS/hs/"*
		}
		good() {
			diff -r out "$SETS/$l"
			cmp out.idx "$SETS/$l.idx"
		}
		bad() {
			grep -qE ': .*out[./:]' stderr
			extract $l "$PWD/out" --resume --sweep 2>/dev/null
			good
			[ -z "$(ls -A "$SETS/hs")" ]
		}
		for call in open write fsync fdatasync rename close; do
			each $call e3-extract -q --backend vllm --server "$URL" --dump-dir "$SETS/hs" --model "$MODEL" \
			    --min-free 1M -j1 --concurrency 1 --layout $l --out-dir "$PWD/out" -o "$PWD/out.idx" "$SETS/in"
			[ "$failures" -ge 1 ]
		done
	done
}

@test "vocabmap: a map that can't be put in another's place leaves no d2t beside a t2d that is not its own" {
	records 20 >in
	for l in seed speculators; do
		map() { e3-vocabmap -q -j1 --target-vocab 400 --draft-vocab 50 --layout $l --out-dir "$1" "${@:2}" in; }
		map new.$l -o sum
		seq 200 239 >ids
		map old.$l -o sum --include ids
		before() { rm -rf out && cp -r old.$l out; }
		good() { diff -r out new.$l >/dev/null; }
		bad() { [ -z "$(find out -name 'd2t*')" ] || good || diff -r out old.$l >/dev/null; }
		for call in linkat rename; do
			each $call e3-vocabmap -q -j1 --target-vocab 400 --draft-vocab 50 --layout $l --out-dir out -o sum in
			[ "$failures" -ge 2 ]
		done
		# what had appeared is taken back
		before() { rm -rf out sum; }
		bad() { [ -z "$(find out -type f 2>/dev/null)" ] || good || grep -q 'its folder' stderr; }
		each fsync e3-vocabmap -q -j1 --target-vocab 400 --draft-vocab 50 --layout $l --out-dir out -o sum in
		[ "$failures" -ge 2 ]
	done
}

@test "extraction: states are on disk before their file has its name" {
	E3_FAULT_DIR=$PWD/out/.new
	run with fsync:1:5 extract seed "$PWD/out"
	echo "$output"
	[ "$status" -eq 1 ]
	[ -e "$E3_FAULT_MARK" ]
	[[ "$output" == *"/out/.new-"*": cannot sync: Input/output error" ]]
}

@test "extraction: a file's name is on disk before its line" {
	E3_FAULT_DIR=$PWD/out/rows
	run with fsync:1:5 extract seed "$PWD/out"
	[ "$status" -eq 1 ]
	[ -e "$E3_FAULT_MARK" ]
	[[ "$output" == *"/out/rows_0-2000: "*"Input/output error" ]]
	[ ! -s out.idx.part ]
}
