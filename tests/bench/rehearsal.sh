#!/bin/sh
# The reference run with made-up rows and e3-sim, a share of SCALE (0.03) of its 88,088 samples: where the
# time goes, by stage. All of it, and killed on the way: make -C pipelines/100k rehearsal.
set -eu
cd "$(dirname "$0")/../.."
: "${SCALE:=0.03}" "${E3_BIN:=bin}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
KILLS=0 E3_BIN=$E3_BIN pipelines/100k/rehearse "$dir" "$SCALE" >"$dir/table" 2>"$dir/said" || { cat "$dir/said"; exit 1; }
cat "$dir/table"
awk -v OFS='\t' -v scale="$SCALE" '$1 == "all" {
	print "=", "the whole flow, programs of the reference run, by a share of " scale, sprintf("%.0f", $4 / scale), "s of CPU", ""
	print "=", "the same by the clock, less half of the server processor time", sprintf("%.0f", ($2 - $5 / 2) / scale), "s", "<=600" }' "$dir/table"
