#!/bin/sh
# src/bpe against tiktoken and tokenizers, to the id.
. "$(dirname "$0")/venv.sh" || exit 0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
"$PYTHON" tests/oracle/bpe.py "$E3_BUILD/oracle/bpe_encode" "$E3_SHARED" "$scratch"
