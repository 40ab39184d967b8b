#!/usr/bin/env bats
# Each system call on a file fails once in turn. Either the program does without it and its output is
# right, or it says which file, ends with status 1, and leaves what was there before.

load each

setup_file() {
	build_fault
	export WRITER=$BATS_FILE_TMPDIR/part_writer
	"${CC:-gcc}" -std=c17 -O1 -D_POSIX_C_SOURCE=200809L -I"$BATS_TEST_DIRNAME/../../src" ${E3_SAN:-} -pthread \
	    -o "$WRITER" "$BATS_TEST_DIRNAME/part_writer.c" "$E3_BUILD/libe3.a" -lzstd -lxxhash -ljansson -lm ||
		export WRITER=
}

setup() {
	in_work
}

records() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "{\"id\":\"a/%d\",\"dataset\":\"a\",\"input_ids\":[%d,2,3],\"loss_mask\":[0,1,1]}\n", i, i }'
}

@test "merge: every call on every file" {
	{ records 50; echo bad; } >in
	e3-merge -q -j1 --rejects want.rejects --manifest want.manifest --stats want.stats \
	    --split val=0.3:want.val -o want in
	before() {
		rm -f rejects manifest stats val
		echo old >out
	}
	good() {
		cmp out want
		cmp val want.val
		cmp rejects want.rejects
		jq .outputs[0].xxh64 manifest >a
		jq .outputs[0].xxh64 want.manifest | cmp - a
		[ -e stats ]
	}
	bad() {
		# once it is in place, only its folder is still to be synced
		[ "$(cat out)" = old ] || { cmp out want && grep -q ': out: its folder ' stderr; }
		grep -qE ': (in|out|rejects|manifest|stats|val): ' stderr
		[ -z "$(find . -name '.*.tmp')" ]
	}
	for call in open read write fsync close dup rename linkat; do
		each $call e3-merge -q -j1 --rejects rejects --manifest manifest --stats stats \
		    --split val=0.3:val -o out in
		case $call in
		read | rename | linkat) [ "$failures" -ge 1 ] ;; # a new file is linked in two ways
		fsync) [ "$failures" -eq 10 ] ;; # five files, and the folder after each
		*) [ "$failures" -ge 4 ] ;;
		esac
	done
}

@test "merge: the temporary file" {
	ids=$(seq -s, 20000)
	mask=$(yes 1 | head -n 20000 | paste -sd,)
	for i in $(seq 300); do
		printf '{"id":"a/%d","input_ids":[%s],"loss_mask":[%s]}\n' "$i" "$ids" "$mask"
	done >in
	for call in pread pwrite; do
		for n in 1 3; do
			echo old >out
			run with $call:$n:28 e3-merge -q -j1 --memory 16M -o out in
			[ "$status" -eq 1 ]
			[ -e "$E3_FAULT_MARK" ]
			[ "$output" = "e3-merge: a temporary file in . (--tmp-dir names another folder): No space left on device" ]
			[ "$(cat out)" = old ]
		done
	done
}

@test "merge: short reads and writes, interrupted and non-blocking calls change nothing" {
	records 300 >in
	e3-merge -q -j1 -o want in
	zstd -q in
	for fault in short read:0:4 write:0:4 read:0:11 write:0:11; do
		with $fault e3-merge -q -j1 -o out in
		cmp out want
		with $fault e3-merge -q -j1 -o out in.zst
		cmp out want
		with $fault e3-merge -q -j1 <in >out
		cmp out want
	done
}

@test "a file system without unnamed files: a temporary name, that is gone at the end" {
	records 50 >in
	e3-merge -q -j1 -o want in
	# the second open is that of the unnamed file; EOPNOTSUPP
	with open:1:95 e3-merge -q -j1 -o out in
	[ -e "$E3_FAULT_MARK" ]
	cmp out want
	[ "$(ls -A | tr '\n' ' ')" = "in out want " ]
	[ "$(stat -c %a out)" = "$(stat -c %a want)" ]
}

@test "every filter reports a failed write of its output" {
	records 50 >in
	for prog in e3-merge e3-vocabmap; do
		[ -x "$E3_BIN/$prog" ] || continue
		args=
		[ $prog = e3-vocabmap ] && args="--target-vocab 100 --draft-vocab 50"
		for call in write fsync dup; do
			rm -f out
			run with $call:1:28 $prog -q -j1 $args -o out in
			[ "$status" -eq 1 ]
			[ "$output" = "$prog: out: No space left on device" ]
			[ ! -e out ]
		done
	done
}

@test "part: every call fails once, and the run can go on" {
	[ -n "$WRITER" ] || skip "the driver does not link with this build's options"
	seq 40 >want
	"$WRITER" want.zst 40
	before() { rm -f out out.part out.zst out.zst.part; }
	for out in out out.zst; do
		good() {
			zstd -qdcf $out | cmp - want
		}
		bad() {
			[ ! -e $out ] || zstd -qdcf $out | cmp - want # only the folder's sync comes later
			"$WRITER" $out 40
			zstd -qdcf $out | cmp - want
			[ ! -e $out.part ]
		}
		for call in open write fdatasync fsync dup close rename; do
			each $call "$WRITER" $out 40
			[ "$failures" -ge 1 ]
		done
	done
	before
	printf '1\n2\n3' >out.part # and a torn line that can't be cut
	run with ftruncate:1:5 "$WRITER" out 40
	[ "$status" -eq 1 ]
	[ "$output" = "part_writer: out.part: Input/output error" ]
	"$WRITER" out 40
	cmp out want
	# no line goes to a file of which it is not known that its name will be there
	before
	run with fsync:1:5 "$WRITER" out 40
	[ "$status" -eq 1 ]
	[ -e out.part ]
	[ ! -s out.part ]
}
