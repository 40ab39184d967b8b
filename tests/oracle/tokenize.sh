#!/bin/sh
# The sample rows through e3-prep and e3-tokenize with Kimi's folder, against Jinja2 and tiktoken.
. "$(dirname "$0")/venv.sh" || exit 0
if [ ! -d "$E3_SHARED/models/kimi-k2.5" ]; then
	echo "ok 1 - tokenize # skip no real models at E3_SHARED=$E3_SHARED"
	exit 0
fi
exec "$PYTHON" "$(dirname "$0")/tokenize_rows.py" "$E3_BIN" "$E3_SHARED"
