#!/bin/sh
# Masks against the trainers' own, where they agree by definition.
ORACLE=trainers . "$(dirname "$0")/venv.sh" || exit 0
if [ ! -d "$E3_SHARED/models/qwen3" ]; then
	echo "ok 1 - trainer_masks # skip no real models at E3_SHARED=$E3_SHARED"
	exit 0
fi
exec "$PYTHON" "$(dirname "$0")/trainer_masks.py" "$E3_BIN/e3-tokenize" "$E3_SHARED/models/qwen3"
