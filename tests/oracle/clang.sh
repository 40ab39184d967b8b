#!/bin/sh
# The unit tests and the fuzzers' corpora in a build of clang's with its UBSan, which sees what gcc's
# does not: an offset from a null pointer, be it 0. What they report is the reason.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap
what="clang's UBSan has nothing to say of the unit tests and corpora"
if ! command -v clang >/dev/null; then
	skip "$what" "clang is not installed"
else
	build=$PWD/build/clang
	make -s -j2 BUILD=build/clang CC=clang OPT="-O1 -g" WARN= SAN=-fsanitize=undefined tests >"$tap_out.make" 2>&1 ||
		tail -n 20 "$tap_out.make" >"$tap_out"
	UBSAN_OPTIONS=log_path=$tap_out.ubsan E3_BIN=$build/bin E3_BUILD=$build tests/run unit fuzz >"$tap_out.run" 2>&1 ||
		tail -n 20 "$tap_out.run" >>"$tap_out"
	cat "$tap_out".ubsan* 2>/dev/null | grep 'runtime error' | sort -u >>"$tap_out"
	verdict "$what" "$tap_out"
fi
tap_end
