#!/bin/sh
# A program's manual lists the options that its --help lists, its synopsis too; mandoc has no
# complaint. E3_BIN: the programs.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap
: "${E3_BIN:=bin}"

# Options of --help: each "-x" and "--name" before the words about it.
help_options() {
	"$1" --help | sed -nE 's/^  (-., |    )?(-[^ ]+).*/\1\n\2/p' | grep -oE -- '--?[[:alnum:]][[:alnum:]-]*' | sort -u
}

# Options in lines of mdoc: what follows every "Fl", up to the next macro: "Fl o , -output Ar FILE".
fl_options() {
	tr -d '"' | awk '{
		on = 0
		for (i = 1; i <= NF; i++) {
			if ($i == "Fl" || $i == ".Fl")
				on = 1
			else if ($i ~ /^\.?[A-Z][a-z]$/)
				on = 0
			else if (on && $i ~ /^-?[[:alnum:]]/)
				print "-" $i
		}
	}' | sort -u
}

# The synopsis may name an option by either of its names.
synopsis_lacks() {
	"$1" --help | grep -E '^  +-' | sed -E 's/^ +//; s/  .*//' | while read -r line; do
		names=$(echo "$line" | grep -oE -- '(^|, |^ +)--?[[:alnum:]][[:alnum:]-]*' | sed 's/^, //')
		for name in $names; do
			grep -qxF -- "$name" "$2" && continue 2
		done
		case $names in
		*--help* | *--version*) ;;
		*) echo "SYNOPSIS lacks $(echo $names)" ;;
		esac
	done
}

for main in src/*/main.c; do
	[ -f "$main" ] || continue
	prog=e3-$(basename "$(dirname "$main")")
	page=man/$prog.1
	if [ ! -x "$E3_BIN/$prog" ]; then
		skip "$page agrees with $prog --help" "$prog is not built"
		continue
	fi
	if [ ! -f "$page" ]; then
		echo "there is no $page" >"$tap_out"
		verdict "$page agrees with $prog --help" "$tap_out"
		continue
	fi
	help_options "$E3_BIN/$prog" >"$tap_out.help"
	grep -E '^\.It ' "$page" | fl_options >"$tap_out.page"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$page" | fl_options >"$tap_out.synopsis"
	{
		comm -23 "$tap_out.help" "$tap_out.page" | grep -vxE -- '-h|--help|-V|--version' | sed 's/^/not in the page: /'
		comm -13 "$tap_out.help" "$tap_out.page" | sed 's/^/not in --help: /'
		comm -13 "$tap_out.help" "$tap_out.synopsis" | sed 's/^/in SYNOPSIS, not in --help: /'
		synopsis_lacks "$E3_BIN/$prog" "$tap_out.synopsis"
		"$E3_BIN/$prog" --help | awk 'length > 80 { print "--help: more than 80 columns: " $0 }'
		for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
			grep -qE "^\.Sh \"?$section" "$page" || echo "no section $section"
		done
	} >"$tap_out"
	verdict "$page agrees with $prog --help" "$tap_out"
done

for page in man/*.[157]; do
	[ -f "$page" ] || continue
	if ! command -v mandoc >/dev/null; then
		skip "$page is clean mdoc" "mandoc is not installed"
		continue
	fi
	# the reference to a page of ours that is not installed yet is no fault of the page
	mandoc -Tlint -W warning "$page" | grep -v 'referenced manual not found' >"$tap_out"
	verdict "$page is clean mdoc" "$tap_out"
done
tap_end
