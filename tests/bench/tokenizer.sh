#!/bin/sh
# The tokenizer on one core beside gigatoken, tiktoken and tokenizers: MB/s of CPU time, cold (tables
# just loaded) and warm, on the same texts. E3_BUILD, E3_SHARED. The others are installed, and the
# texts fetched, into build/.
set -eu
cd "$(dirname "$0")/../.."
: "${E3_BUILD:=build/release}" "${E3_SHARED:=../shared}"
[ -d "$E3_SHARED/models" ] || { echo "no models in $E3_SHARED"; exit 0; }
make -s BUILD="$E3_BUILD" "$E3_BUILD/oracle/bpe_encode"
venv=build/bench-venv texts=build/bench-texts
mkdir -p "$texts"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check gigatoken==0.10.0 tiktoken tokenizers || echo "not all of the others can be had"
python3 tests/bench/tokenizer_texts.py "$texts"
one="taskset -c 0"
for model in kimi-k2.5 qwen3 gpt-oss; do
	dir=$E3_SHARED/models/$model
	set -- gigatoken tokenizers
	[ -f "$dir/tiktoken.model" ] && set -- gigatoken tiktoken
	{
		$one "$E3_BUILD/oracle/bpe_encode" time "$dir" "$texts"/*.txt | sed 's/^/e3	/'
		for other; do
			$one "$venv/bin/python" -I tests/bench/tokenizer.py "$other" "$dir" "$texts"/*.txt | sed "s/^/$other	/" || true
		done
	} | awk -F '\t' -v model="$model" '
		{ sub(".*/", "", $2) }
		$1 == "e3" { cold[$2] = $5; warm[$2] = $6 }
		{ printf "%-10s %-10s %-13s %6.1f MB %9d ids, cold %6.1f MB/s, warm %6.1f MB/s", model, $1, $2, $3 / 1e6, $4, $5, $6
		  if ($1 != "e3") printf ": ours is %.2f x and %.2f x", cold[$2] / $5, warm[$2] / $6
		  printf "\n" }'
done
