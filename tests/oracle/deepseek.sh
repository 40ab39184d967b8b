#!/bin/sh
# DeepSeek's conversations, prompts, answers and refusals, against the encoder that SGLang serves them
# with: random conversations, byte for byte.
# E3_ORACLE_N: conversations a server's way (2000).
ORACLE=llama
. "$(dirname "$0")/venv.sh" || exit 0
exec "$PYTHON" "$(dirname "$0")/deepseek.py" "$E3_BIN/e3-tokenize" "$E3_SHARED" "${E3_ORACLE_N:-2000}"
