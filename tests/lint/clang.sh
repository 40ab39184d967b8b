#!/bin/sh
# The sources pass clang's warnings too: the fuzzers are built with it.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap
if ! command -v clang >/dev/null; then
	skip "sources are clean under clang" "clang is not installed"
else
	flags=$(make -s --no-print-directory CC=clang flags)
	for f in src/*/*.c tests/fuzz/*.c; do
		# what is built for one processor has flags of its own
		case $f in *_avx*) ;; *) echo "$f" ;; esac
	done | xargs -n 20 -P 2 clang $flags -fsyntax-only >"$tap_out" 2>&1 || echo "clang failed" >>"$tap_out"
	verdict "sources are clean under clang" "$tap_out"
fi
tap_end
