#!/bin/sh
# Prompts, answers and masks against transformers' apply_chat_template, on the real model folders.
. "$(dirname "$0")/venv.sh" || exit 0
if [ ! -d "$E3_SHARED/models" ]; then
	echo "ok 1 - chat # skip no real models at E3_SHARED=$E3_SHARED"
	exit 0
fi
exec "$PYTHON" "$(dirname "$0")/chat.py" "$E3_BIN/e3-tokenize" "$E3_SHARED"
