# fast N COMMAND... - by a clock that runs N times as fast: with 60, ten minutes pass in ten seconds
fast() {
	local n=$1
	shift
	# a sanitizer's runtime wants to be the first library
	ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-} faketime -f "+0 x$n" "$@"
}
