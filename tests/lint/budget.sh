#!/bin/sh
# Budgets: functions of 60 lines and 5 parameters (besides the struct err, which every module's
# function has), 4 levels of nesting, files of 600 lines. A file whose first lines say that it is
# generated has none; a test's tables may make its functions long.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap

files=
for file in src/*/*.[ch] tests/*/*.[ch]; do
	[ -f "$file" ] || continue
	head -n 3 "$file" | grep -qiE 'generated|(written|made) by' || files="$files $file"
done

# In this style a function's body is between a "{" and a "}" that stand alone in the first column;
# what stands before the "{", back to a blank line or the end of something else, is its head.
budget() {
	awk -v what="$1" '
	function parameters(head,    i, c, depth, n) {
		sub(/^[^(]*\(/, "", head)
		if (head ~ /^(void)?\)/)
			return 0
		for (i = 1; i <= length(head); i++) {
			c = substr(head, i, 1)
			if (c == "(" || c == "[")
				depth++
			else if (c == ")" && depth == 0)
				break
			else if (c == ")" || c == "]")
				depth--
			else if (c == "," && depth == 0)
				n++
		}
		return n + 1 - (head ~ /struct err \*/)
	}
	function over(why) {
		if (!((name " " bare) in may))
			print name ":" FNR ": " bare ": " why
	}
	FILENAME == "tests/lint/rules" { if ($1 == "budget") may[$2 " " $3] = 1; next }
	FNR == 1 { if (what == "file" && last > 600) print name ": " last " lines"
		   name = FILENAME; inside = 0; head = "" }
	{ last = FNR }
	/^\{/ && !inside { inside = 1; start = FNR; bare = head; sub(/\(.*/, "", bare)
		sub(/.*[^[:alnum:]_]/, "", bare)
		if (what == "parameters" && parameters(head) > 5)
			over(parameters(head) " parameters") }
	inside && what == "nesting" && /^\t\t\t\t\t\t[^ \t]/ { print name ":" FNR ": nested deeper than 4" }
	/^\}/ { if (inside && what == "function" && FNR - start + 1 > 60 && name !~ /^tests/)
			over(FNR - start + 1 " lines")
		inside = 0; head = ""; next }
	!inside { if ($0 ~ /^[ \t]*$|;[ \t]*$|^#|\*\/[ \t]*$/) head = ""
		  else head = head " " $0 }
	END { if (what == "file" && last > 600) print name ": " last " lines" }
	' tests/lint/rules $files >"$tap_out"
}

budget function
verdict "no function is longer than 60 lines" "$tap_out"
budget parameters
verdict "no function has more than 5 parameters and an error" "$tap_out"
budget nesting
verdict "no code is nested deeper than 4 levels" "$tap_out"
budget file
verdict "no file is longer than 600 lines" "$tap_out"
tap_end
