#!/bin/sh
# What must not stand in the project's own text: one machine's paths, promises, stray bytes.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap

# Others' data may say anything.
project_files | grep -vE '^tests/(data|golden|fuzz/corpus)/|\.jsonl(\.zst)?$|^pipelines/demo/(raw|rows|data)/|^tests/lint/' |
	while read -r f; do
		[ -f "$f" ] && grep -Iq . "$f" && echo "$f"
	done >"$tap_out.files"

in_files() {
	xargs grep -nE "$1" <"$tap_out.files" | cut -c1-160 >"$tap_out"
}

in_files '/(tmp|home|work|root|mnt)/[[:alnum:]_.]'
grep -vE '/(home|mnt|work)/(USER|user|me)|\$\{?TMPDIR|XXXXXX' "$tap_out" >"$tap_out.p"
verdict "no path of one machine" "$tap_out.p"

in_files '(^|[^[:alpha:]])(TODO|FIXME|XXX|HACK)([^[:alpha:]]|$)'
verdict "nothing is left to do" "$tap_out"

in_files "$(printf '\r')\$"
verdict "no carriage returns" "$tap_out"

in_files '[ 	]+$'
verdict "no blanks at the end of a line" "$tap_out"

grep -E '\.[ch]$' "$tap_out.files" | xargs grep -nE '^[ 	]*//|[;{}][ 	]*//' >"$tap_out"
verdict "comments are /* */" "$tap_out"

grep -E '\.[ch]$' "$tap_out.files" | xargs grep -nE '^	* \*[^ /*	]' >"$tap_out"
verdict "a blank behind the star of a comment's line" "$tap_out"

while read -r f; do
	[ -n "$(tail -c 1 "$f")" ] && echo "$f"
done <"$tap_out.files" >"$tap_out"
verdict "the last line ends" "$tap_out"

for f in $(cat "$tap_out.files"); do
	case $(head -c 12 "$f" | head -n 1) in
	'#!/bin/sh'*) sh -n "$f" 2>&1 ;;
	'#!/bin/bash'*) bash -n "$f" 2>&1 ;;
	esac
done >"$tap_out"
verdict "shell scripts parse" "$tap_out"

# bats stops a test at a failing command by set -e, which looks at neither of these
grep -E '\.bats$' "$tap_out.files" |
	xargs grep -nE '^[ 	]*(! .*[^|][^e]$|\[ [^]]*\] && .*\]$)' | grep -v '|| false$' >"$tap_out"
verdict "no check in a test whose failure is ignored" "$tap_out"
tap_end
