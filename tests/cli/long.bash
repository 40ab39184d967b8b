# long_output - zstd frames that hold some ten gigabytes of blank lines, in a third of a megabyte
long_output() {
	yes '' | head -c 512M | zstd -q >"$BATS_TEST_TMPDIR/frame"
	for _ in $(seq 32); do
		cat "$BATS_TEST_TMPDIR/frame"
	done
}
