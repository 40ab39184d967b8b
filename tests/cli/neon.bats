#!/usr/bin/env bats
# The boundary finder's NEON vectors, by a cross compiler and an emulator.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
}

@test "windows by NEON vectors agree with the walker" {
	command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
	command -v qemu-aarch64-static >/dev/null || skip "no qemu-aarch64-static"
	aarch64-linux-gnu-gcc -static -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -DEVERY=31 -Isrc -Itests/cross \
	    -Itests/unit -o "$BATS_TEST_TMPDIR/windows" tests/unit/test_bpe_window.c src/bpe/window*.c \
	    src/bpe/split.c src/bpe/unicode.c src/bpe/unicode_tables.c src/base/utf8.c src/base/buf.c \
	    src/base/mem.c src/base/prog.c src/base/err.c
	aarch64-linux-gnu-nm "$BATS_TEST_TMPDIR/windows" | grep -q window_base
	run qemu-aarch64-static "$BATS_TEST_TMPDIR/windows"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -eq 5 ]
}
