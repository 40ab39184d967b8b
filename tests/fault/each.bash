# What the tests share in which each system call on a file fails once in turn (fault.c).

# build_fault - once a file; FAULT is the library
build_fault() {
	export FAULT=$BATS_FILE_TMPDIR/fault.so
	"${CC:-gcc}" -std=c17 -O1 -fPIC -shared -o "$FAULT" "$BATS_TEST_DIRNAME/fault.c" -ldl
}

# in_work - the folder of a test, where calls may fail
in_work() {
	PATH=$E3_BIN:$PATH
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work"
	export E3_FAULT_DIR=$PWD E3_FAULT_MARK=$BATS_TEST_TMPDIR/mark
	# a sanitizer's runtime wants to be the first library
	export ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-}
}

with() {
	fault=$1
	shift
	rm -f "$E3_FAULT_MARK"
	E3_FAULT=$fault LD_PRELOAD=$FAULT "$@"
}

# each CALL COMMAND...: makes the 1st, 2nd ... CALL of the command fail, until there are no more;
# calls `good` or `bad` after each run. $failures counts the runs that failed.
each() {
	call=$1
	shift
	failures=0
	for n in $(seq 200); do
		before
		status=0
		with "$call:$n:5" "$@" >stdout 2>stderr || status=$?
		[ -e "$E3_FAULT_MARK" ] || return 0
		if [ "$status" -eq 0 ]; then
			good
		else
			[ "$status" -eq 1 ]
			# one error; a file that a server wrote meanwhile may be told of before it
			[ "$(grep -vc 'that nobody waited for: deleted$' stderr)" -eq 1 ]
			# an input that can't be read may be a reject, and no other place was named for it
			grep -qE '^(e3-[a-z]+|part_writer): .*: Input/output error( \(--rejects FILE .*)?$' stderr
			failures=$((failures + 1))
			bad
		fi
	done
	echo "$call does not end" >&2
	return 1
}
