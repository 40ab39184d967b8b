#!/usr/bin/env bats
# What all programs' command lines have in common: completion, slips, misuse.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	T=$BATS_TEST_TMPDIR
	: "${E3_BIN:=$PWD/bin}"
	PATH=$E3_BIN:$PATH
	MODEL=$PWD/pipelines/demo/model
}

# complete PROGRAM WORD...: what bash would offer for the last word, and what else it is told.
complete_words() {
	"$1" --help=bash >"$T/$1"
	cat >"$T/try" <<-'END'
		. "$1"
		shift
		compopt() { told=$*; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) told=
		_${1/-/_}
		echo "$(printf '%s ' "${COMPREPLY[@]}" | sed 's/ *$//')${told:+ [$told]}"
	END
	bash "$T/try" "$T/$1" "$@"
}

@test "every set of words that --help shows is what is completed, and what is taken" {
	for p in prep infer tokenize merge extract vocabmap sim; do
		e3-$p --help | grep -oE -- '--[a-z-]+ [a-z0-9-]+(\|[a-z0-9-]+)+' >"$T/sets"
		while read -r option words <&3; do
			[ "$(complete_words e3-$p "$option" '')" = "${words//|/ } [+o default]" ]
			run e3-$p "$option" nonesuch
			[ "$status" = 2 ]
			[[ "$output" == *"$option: expected one of $words, not 'nonesuch'"* ]]
		done 3<"$T/sets"
	done
	grep -q -- '--norm before|after' "$T/sets"
}

@test "the datasets and formats of e3-prep --list are completed" {
	e3-prep --list | awk '/^formats/ { exit } /^  / { print $1 }' | paste -sd ' ' >"$T/datasets"
	e3-prep --list | awk '/^formats/ { on = 1 } on && /^  / { print $1 }' | paste -sd ' ' >"$T/formats"
	[ "$(complete_words e3-prep --dataset '')" = "$(cat "$T/datasets") [+o default]" ]
	[ "$(complete_words e3-prep --format '')" = "auto $(cat "$T/formats") [+o default]" ]
	[ "$(complete_words e3-prep --format = conv)" = "conversations conversation [+o default]" ]
	e3-sim --faults | awk '{ print $1 }' | paste -sd ' ' >"$T/faults"
	[ "$(complete_words e3-sim --fault '')" = "$(cat "$T/faults") [+o default]" ]
}

@test "files are completed where a file is taken, folders for a folder, nothing for a number" {
	[ "$(complete_words e3-merge --manifest '')" = "" ]
	[ "$(complete_words e3-merge --check '')" = "" ]
	[ "$(complete_words e3-merge -o '')" = "" ]
	[ "$(complete_words e3-extract --verify '')" = " [+o default -o dirnames]" ]
	[ "$(complete_words e3-sim --model '')" = " [+o default -o dirnames]" ]
	[ "$(complete_words e3-infer --server '')" = " [+o default]" ]
	[ "$(complete_words e3-infer -j '')" = " [+o default]" ]
}

@test "a slip is told what it may have meant, and no program takes it" {
	says() { # STATUS MESSAGE COMMAND...
		local status_wanted=$1 message=$2
		shift 2
		run "$@" </dev/null
		[ "$status" = "$status_wanted" ]
		[ "${lines[0]}" = "$message" ] || { echo "${lines[0]}" >&2; false; }
	}
	says 2 "e3-prep: there is no option --formt: did you mean --format?" e3-prep --formt auto
	says 2 "e3-infer: there is no option --concurr: did you mean --concurrency?" e3-infer --concurr 5
	says 2 "e3-infer: there is no option --thread: did you mean --threads?" e3-infer --thread 5
	says 2 "e3-merge: there is no option -dedup: did you mean --dedup?" e3-merge -dedup id
	says 2 "e3-extract: --layout: expected one of seed|specforge|modelopt|speculators|compact, not 'specforg': did you mean specforge?" \
		e3-extract --layout specforg
	says 2 "e3-prep: --format mesages: no such format (--list): did you mean messages?" e3-prep --format mesages
	says 2 "e3-prep: there is no option --server" e3-prep --server x
	says 0 "e3-prep: dataset ultrachat: not in --list, so it sets neither format, mode nor sample: did you mean B6_ultrachat?" \
		e3-prep --dataset ultrachat
}

@test "--max-rejects without --rejects is misuse, since it would do nothing" {
	for p in prep merge "vocabmap --target-vocab 9 --draft-vocab 2" "tokenize --model $MODEL" \
		"infer --server http://127.0.0.1:9" \
		"extract --server http://127.0.0.1:9 --backend vllm --layers 1 --dump-dir $T --layout seed --out-dir $T/o"; do
		# shellcheck disable=SC2086
		run e3-$p --max-rejects 5 </dev/null
		[ "$status" = 2 ]
		[[ "${lines[0]}" == "e3-${p%% *}: --max-rejects needs --rejects FILE" ]]
	done
}

@test "an input in UTF-16 or of gzip ends the run, and is named" {
	cd "$T"
	echo '{"messages":[{"role":"user","content":"q"}]}' >good
	{ printf '\xff\xfe'; iconv -f UTF-8 -t UTF-16LE good; } >little
	{ printf '\xfe\xff'; iconv -f UTF-8 -t UTF-16BE good; } >big
	gzip -c good >gzip
	for bad in little big gzip; do
		case $bad in
		little) why="UTF-16 (it begins with FF FE): iconv -f UTF-16 -t UTF-8 FILE | ..." ;;
		big) why="UTF-16 (it begins with FE FF): iconv -f UTF-16 -t UTF-8 FILE | ..." ;;
		gzip) why="gzip: zcat FILE | ..." ;;
		esac
		for p in prep merge "vocabmap --target-vocab 9 --draft-vocab 2" "tokenize --model $MODEL"; do
			rm -f rej
			# shellcheck disable=SC2086
			run e3-$p --rejects rej -o out good $bad
			[ "$status" = 1 ]
			[ "${lines[-1]}" = "e3-${p%% *}: $bad: $why" ]
			[ ! -e out ]
		done
		zstd -q -f $bad
		run e3-prep $bad.zst
		[ "$output" = "e3-prep: $bad.zst: $why" ]
		run e3-prep <$bad
		[ "$output" = "e3-prep: standard input: $why" ]
	done
}

@test "what becomes of a line is there before the next one comes" {
	cd "$T"
	mkfifo in
	printf '{"id":"a/1","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}\n' >record
	for args in "prep --dataset a --mode native" "tokenize --model $MODEL"; do
		e3-$args -q -j2 <in >out 2>err 3>&- &
		exec 4>in
		for n in 1 2; do
			sed "s/1/$n/" record >&4
			# only how soon depends on the machine
			for _ in $(seq 400); do
				[ "$(wc -l <out)" -lt $n ] || break
				sleep 0.05
			done
			[ "$(wc -l <out)" -eq $n ] || { cat err; kill $!; false; }
		done
		exec 4>&-
		wait $!
		[ "$(wc -l <out)" -eq 2 ]
	done
}
