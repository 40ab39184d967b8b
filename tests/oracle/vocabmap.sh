#!/bin/sh
# e3-vocabmap against the trainers' own counting, mapping and loading.
ORACLE=trainers . "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$PYTHON" "$here/vocabmap.py" "$E3_BIN/e3-vocabmap" "$dir"
