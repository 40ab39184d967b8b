#!/usr/bin/env bats
# make install and make deb: what stands where, and that it works without the checkout.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BUILD:=$PWD/build/release}" "${E3_BIN:=$PWD/bin}"
	# the settings of the make that runs the tests are not those of the make that is tested
	unset MAKEFLAGS MAKELEVEL MFLAGS
}

# The tree under test is built already: only its files are put down.
installed() {
	make -s install BUILD="${E3_BUILD#"$PWD"/}" DESTDIR="$T/dest" "$@"
}

@test "install puts down programs, pages, completions and pipelines, in DESTDIR and prefix" {
	installed prefix=/opt/e3
	cd "$T/dest"
	[ "$(ls)" = opt ]
	[ "$(ls opt/e3/bin | wc -l)" = 7 ]
	[ "$(opt/e3/bin/e3-prep --version)" = "$("$E3_BIN/e3-prep" --version)" ]
	[ "$(ls opt/e3/share/man/man1 | wc -l)" = 7 ]
	[ -s opt/e3/share/man/man5/e3-record.5 ]
	[ -s opt/e3/share/man/man7/e3.7 ]
	[ -s opt/e3/share/doc/e3-drafter-data/README ]
	[ -x opt/e3/share/e3/pipelines/100k/status ]
	[ ! -e opt/e3/share/e3/pipelines/packages ]
	[ -z "$(find . ! -type d ! -perm -444)" ]
}

@test "make help is the head of the Makefile, and names targets that there are" {
	run make help
	[ "$status" = 0 ]
	[ "${lines[0]}" = "e3: Unix filters that make the training data of EAGLE-3 drafters." ]
	for target in $(sed -nE 's/^  make ([a-z-]+).*/\1/p' <<<"$output"); do
		grep -qE "^$target:" Makefile || { echo "no target $target"; false; }
	done
	[[ "$output" == *"make check-oracle "* ]]
	[[ "$output" == *"V=1" ]]
}

@test "the installed completions complete" {
	installed prefix=/usr
	cat >"$T/try" <<-'END'
		. "$1/e3-prep"
		compopt() { :; } # only in a real completion
		COMP_WORDS=(e3-prep --mode '') COMP_CWORD=2
		_e3_prep
		echo "${COMPREPLY[@]}"
		COMP_WORDS=(e3-prep --exp) COMP_CWORD=1
		_e3_prep
		echo "${COMPREPLY[@]}"
		COMP_WORDS=(e3-prep --mode =) COMP_CWORD=2
		_e3_prep
		echo "${COMPREPLY[@]}"
		COMP_WORDS=(e3-prep --mode = p) COMP_CWORD=3
		_e3_prep
		echo "${COMPREPLY[@]}"
		COMP_WORDS=(e3-prep a) COMP_CWORD=1
		_e3_prep
		echo "${#COMPREPLY[@]}" $(complete -p e3-prep)
	END
	run bash "$T/try" "$T/dest/usr/share/bash-completion/completions"
	[ "${lines[0]}" = "native prompt" ]
	[ "${lines[1]}" = "--explain" ]
	[ "${lines[2]}" = "native prompt" ]
	[ "${lines[3]}" = "prompt" ]
	# files are readline's
	[ "${lines[4]}" = "0 complete -o default -F _e3_prep e3-prep" ]
	[ "$(head -n 1 "$T/dest/usr/share/zsh/site-functions/_e3-merge")" = "#compdef e3-merge" ]
}

@test "the installed demo and reference run find the installed programs" {
	installed prefix=/usr
	mkdir "$T/home"
	cd "$T/home"
	PATH=$T/dest/usr/bin:$PATH
	unset E3_BIN
	"$T/dest/usr/share/e3/pipelines/demo/run" >"$T/talk" 2>&1 || { tail -n 30 "$T/talk"; false; }
	[ "$(wc -l <demo-out/merged.jsonl)" = 161 ]
	grep -q "$T/dest/usr/bin/e3-tokenize --model $T/dest/usr/share/e3/pipelines/demo/model --show" "$T/talk"
	run make -n -C "$T/dest/usr/share/e3/pipelines/100k" OUT="$T/out" RAW="$T/raw"
	[ "$status" = 0 ]
	[[ "$output" == *"$T/dest/usr/bin/e3-infer "* ]]
	run make -C "$T/dest/usr/share/e3/pipelines/100k" REHEARSAL="$T/r" rehearsal
	[ "$status" = 2 ]
	[[ "$output" == *"rehearse: its rows are pieces of e3's source, which is not here: run it in a checkout"* ]]
}

@test "the Debian package holds what is installed, and is the same twice" {
	case $E3_BUILD in *asan* | *tsan*) skip "the package is of the release build" ;; esac
	pipelines/deb "$T/one" >/dev/null
	pipelines/deb "$T/two" >/dev/null
	cmp "$T"/one/e3-drafter-data_*.deb "$T"/two/e3-drafter-data_*.deb
	[ "$(dpkg-deb -f "$T"/one/e3-drafter-data_*.deb Package)" = e3-drafter-data ]
	dpkg-deb -f "$T"/one/e3-drafter-data_*.deb Depends | grep -q 'libcurl'
	dpkg-deb -x "$T"/one/e3-drafter-data_*.deb "$T/x"
	[ "$(ls "$T/x/usr/bin" | wc -l)" = 7 ]
	[ "$(gzip -dc "$T/x/usr/share/man/man1/e3-prep.1.gz" | cksum)" = "$(cksum <man/e3-prep.1)" ]
}

@test "a Debian package whose libraries can't be told is none" {
	case $E3_BUILD in *asan* | *tsan*) skip "the package is of the release build" ;; esac
	mkdir "$T/stubs"
	printf '#!/bin/sh\necho "no dependency information" >&2\nexit 25\n' >"$T/stubs/dpkg-shlibdeps"
	chmod +x "$T/stubs/dpkg-shlibdeps"
	PATH=$T/stubs:$PATH run pipelines/deb "$T/one"
	[ "$status" -ne 0 ]
	[[ "$output" == *"no dependency information"* ]]
	[ -z "$(ls "$T/one")" ]
}

@test "tests/all adds up what targets say, and tells a silent failure" {
	mkdir "$T/bin"
	cat >"$T/bin/make" <<-'END'
		#!/bin/sh
		case $1 in
		good) echo "    ok 3 - a # SKIP no torch"; echo "3 passed, 0 failed, 1 skipped" ;;
		mute) echo "done" ;;
		dies) echo "2 passed, 0 failed, 0 skipped"; exit 2 ;;
		none) echo "0 passed, 0 failed, 0 skipped" ;;
		esac
	END
	chmod +x "$T/bin/make"
	PATH=$T/bin:$PATH
	run tests/all good mute
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "4 passed, 0 failed" ]
	[[ "$output" == *"1   make good: no torch"* ]]
	run tests/all good dies
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
	run tests/all good none
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "3 passed, 1 failed" ]
}

@test "tests/run tells why a unit test was skipped" {
	[ -x "$E3_BUILD/unit/test_bpe_kimi" ] || skip "the unit tests are not built"
	mkdir -p "$T/build/unit"
	for t in tests/unit/test_*.c; do
		printf '#!/bin/sh\necho ok 1 - a\n' >"$T/build/unit/$(basename "$t" .c)"
	done
	chmod +x "$T"/build/unit/*
	cp "$E3_BUILD/unit/test_bpe_kimi" "$T/build/unit/"
	E3_BUILD=$T/build E3_SHARED=$T/nowhere run tests/run unit
	[ "$status" = 0 ]
	[[ "$output" == *"    ok 2 - knows_the_folder # SKIP no E3_SHARED/models/kimi-k2.5"* ]]
	[[ "$output" == *" 0 failed, 7 skipped" ]]
}

@test "it builds in a folder with a blank in its name, and says nothing of a compiler that is still to come" {
	mkdir "$T/a b"
	cp Makefile "$T/a b"
	ln -s "$PWD/src" "$T/a b/src"
	cd "$T/a b"
	make -s build/release/obj/base/clock.o
	run make CC=nowhere help
	[ "$status" = 0 ]
	[[ "$output" != *nowhere* ]]
	run make -n demo
	[[ "$output" == *"E3_BIN='$PWD/bin' pipelines/demo/run"* ]]
}
