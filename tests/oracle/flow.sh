#!/bin/sh
# The whole flow on the shared rows with Kimi-K2.5's tokenizer and template, twice, at one thread and at
# eight; then every file that it made is read by the real libraries and held against what tiktoken,
# Jinja2 and arithmetic say it must hold.
. "$(dirname "$0")/venv.sh" || exit 0
if [ ! -d "$E3_SHARED/models/kimi-k2.5" ] || [ ! -d "$E3_SHARED/raw" ]; then
	echo "ok 1 - the flow # skip no real model and rows at E3_SHARED=$E3_SHARED"
	exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
DEMO_MODEL=$E3_SHARED/models/kimi-k2.5 DEMO_RAW=$E3_SHARED/raw DEMO_DRAFT=32000 DEMO_HIDDEN=32
export DEMO_MODEL DEMO_RAW DEMO_DRAFT DEMO_HIDDEN

for jobs in 1 8; do
	DEMO_OUT=$dir/j$jobs DEMO_JOBS=$jobs "$here/../../pipelines/demo/run" >"$dir/talk" 2>&1 || {
		echo "not ok 1 - the flow at -j$jobs"
		tail -n 20 "$dir/talk" | sed 's/^/# /'
		exit 1
	}
done
exec "$PYTHON" "$here/flow.py" "$dir/j1" "$dir/j8" "$E3_SHARED"
