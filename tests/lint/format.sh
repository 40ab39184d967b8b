#!/bin/sh
# The sources are as clang-format leaves them. Releases differ in details: Debian 12's is the one.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap
format=$(command -v clang-format-14 || echo clang-format)
version=$("$format" --version 2>/dev/null | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
if [ "${version:-0}" -ne 14 ]; then
	skip "sources are formatted" "clang-format 14 is not installed"
else
	for f in src/*/*.[ch] tests/*/*.[ch]; do
		[ -f "$f" ] && ! head -n 3 "$f" | grep -qiE 'generated|(written|made) by' && echo "$f"
	done | { xargs -n 20 -P 2 "$format" --dry-run --ferror-limit=1 2>&1 || echo "failed: $format"; } |
		sed -nE -e 's/^([^:]*):.*clang-format-violations.*/\1/p' -e '/^failed: /p' | sort -u >"$tap_out"
	verdict "sources are formatted" "$tap_out"
fi
tap_end
