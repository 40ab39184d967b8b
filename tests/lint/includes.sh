#!/bin/sh
# Who includes whom in src/, against tests/lint/rules.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap
rules=tests/lint/rules

# FILE HEADER of every #include in src/, quotes and brackets kept.
grep -HoE '^[ 	]*#[ 	]*include[ 	]*["<][^">]*[">]' src/*/*.[ch] |
	sed -E 's/^src\/([^:]*):[^"<]*/\1 /' >"$tap_out.all"

for dir in src/*/; do
	folder=$(basename "$dir")
	awk -v folder="$folder" '
	    FNR == NR {
		if ($1 == "arrow" && $2 == folder) {
			known = ok[folder] = 1
			for (i = 3; i <= NF && $i !~ /^#/; i++)
				ok[$i] = 1
		}
		next
	    }
	    !said && !known { print "src/" folder " has no arrow line in tests/lint/rules"; said = 1 }
	    $1 ~ "^" folder "/" && $2 ~ /^"/ {
		split(substr($2, 2), to, "/")
		if (!(to[1] in ok))
			print "src/" $1 " includes " $2
	    }' "$rules" "$tap_out.all" >"$tap_out"
	verdict "src/$folder includes only what is below it" "$tap_out"
done

grep -E '^door[ 	]' "$rules" | while read -r _ header places; do
	set -f
	for place in $places; do
		echo "$header $place"
	done
	set +f
done >"$tap_out.doors"
while read -r file header; do
	case $header in
	\<*) ;;
	*) continue ;;
	esac
	header=${header#<}
	header=${header%>}
	case $header in # of C and POSIX, of Linux, and the rest is foreign
	assert.h|ctype.h|dirent.h|errno.h|fcntl.h|float.h|inttypes.h|limits.h|locale.h|math.h) continue ;;
	netdb.h|poll.h|pthread.h|sched.h|signal.h|stdarg.h|stdatomic.h|stdbool.h|stddef.h|stdint.h) continue ;;
	stdio.h|stdlib.h|string.h|strings.h|time.h|unistd.h|arpa/*|netinet/*|sys/*|linux/*|*mmintrin.h|arm_neon.h) continue ;;
	esac
	found=
	while read -r door place; do
		[ "$door" = "$header" ] || continue
		case $file in
		$place) found=1 ;;
		esac
	done <"$tap_out.doors"
	[ -n "$found" ] || echo "src/$file includes <$header>"
done <"$tap_out.all" >"$tap_out"
verdict "foreign headers stay behind their doors" "$tap_out"

for header in $(grep -lE 'private to' src/*/*.h); do
	name=${header#src/}
	grep -F "\"$name\"" "$tap_out.all" | grep -v "^${name%%/*}/" |
		sed 's|^|src/|; s|$| is private|'
done >"$tap_out"
verdict "headers that say so are private" "$tap_out"

# A module returns errors; main.c and the files of the print line may speak and end.
set -f
may=" $(grep -E '^print[ 	]' "$rules" | cut -d' ' -f2- | tr '\n' ' ') "
set +f
for file in src/*/*.c; do
	case "$may" in
	*" ${file#src/} "*) continue ;;
	esac
	[ "$(basename "$file")" = main.c ] && continue
	grep -nE '(^|[^_[:alnum:]])(printf|fprintf|vprintf|puts|fputs|putchar|perror|exit|_exit|prog_die|prog_warn|opt_misuse)\(' \
		"$file" | sed "s|^|$file:|"
done >"$tap_out"
verdict "modules neither print nor exit" "$tap_out"

tap_end
