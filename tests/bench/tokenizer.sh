#!/bin/sh
# The tokenizer beside gigatoken, tiktoken and tokenizers on the same texts: MB/s cold (tables just
# loaded) and warm, on one core by CPU time and on two by the clock; with each kind of vectors; texts
# that are meant to be slow; and the most memory that e3-tokenize takes. E3_BUILD, E3_SHARED; E3_MODELS
# and E3_TEXTS, a part of them. The others are installed, and the texts fetched, into build/.
set -eu
cd "$(dirname "$0")/../.."
: "${E3_BIN:=bin}" "${E3_BUILD:=build/release}" "${E3_SHARED:=../shared}" "${E3_MODELS:=kimi-k2.5 qwen3 gpt-oss}"
: "${E3_TEXTS:=english python chinese japanese chat}"
[ -d "$E3_SHARED/models" ] || { echo "no models in $E3_SHARED"; exit 0; }
make -s BUILD="$E3_BUILD" "$E3_BUILD/oracle/bpe_encode"
encode=$E3_BUILD/oracle/bpe_encode
texts=build/bench-texts
mkdir -p "$texts"
ORACLE=bench
. tests/oracle/venv.sh || PYTHON=python3
python3 tests/bench/tokenizer_texts.py "$texts"
set --
for text in $E3_TEXTS; do
	[ ! -s "$texts/$text.txt" ] || set -- "$@" "$texts/$text.txt"
done
echo "load $(cut -d' ' -f 1-3 /proc/loadavg) at the beginning; two processors of $(nproc)"

# table TITLE: rows NAME FILE BYTES IDS COLD WARM; those of "e3" are what the others are measured by.
# Of a row that comes several times, the best counts: runs of ours and of others take turns.
table() {
	awk -F '\t' -v title="$1" '
		{ sub(".*/", "", $2); row = $1 "\t" $2
		  if (!(row in cold)) { order[++n] = row; bytes[row] = $3; ids[row] = $4 }
		  if ($5 > cold[row]) cold[row] = $5
		  if ($6 > warm[row]) warm[row] = $6 }
		END { for (i = 1; i <= n; i++) {
			split(order[i], x, "\t"); ours = "e3\t" x[2]; row = order[i]
			printf "%-10s %-10s %-13s %5.1f MB %9d ids, cold %6.1f MB/s, warm %6.1f MB/s", title, x[1], x[2], bytes[row] / 1e6, ids[row], cold[row], warm[row]
			if (x[1] != "e3" && cold[ours]) printf ": ours is %.2f x and %.2f x", cold[ours] / cold[row], warm[ours] / warm[row]
			printf "\n"
			what = title ", " x[2]
			if (x[1] == "gigatoken" && cold[ours]) {
				goal = x[2] ~ /english|python|chinese/
				printf "=\t%s, cold, times gigatoken\t%.2f\tx\t%s\n", what, cold[ours] / cold[row], goal ? ">=2" : ""
				printf "=\t%s, warm, times gigatoken\t%.2f\tx\t%s\n", what, warm[ours] / warm[row], goal ? ">=1.5" : ""
			}
			if (x[1] == "two cores")
				printf "=\t%s, two cores, times one, warm\t%.2f\tx\t>=1.9\n", what, warm[row] / warm["one core\t" x[2]]
			if (x[1] == "hostile")
				printf "=\t%s, hostile, cold\t%.1f\tMB/s\t>=20\n", what, cold[row] } }'
}

for model in $E3_MODELS; do
	dir=$E3_SHARED/models/$model
	slow=tokenizers
	[ -f "$dir/tiktoken.model" ] && slow=tiktoken
	for round in 1 2; do
		taskset -c 0 "$encode" time "$dir" "$@" | sed 's/^/e3	/'
		taskset -c 0 "$PYTHON" -I tests/bench/tokenizer.py gigatoken "$dir" "$@" | sed "s/^/gigatoken	/" || true
		[ $round = 2 ] || taskset -c 0 "$PYTHON" -I tests/bench/tokenizer.py $slow "$dir" "$@" | sed "s/^/$slow	/" || true
	done | table "$model"
	{
		"$encode" time "$dir" "$@" | sed 's/^/one core	/'
		"$encode" two "$dir" "$@" | sed 's/^/two cores	/'
		for vectors in plain base avx2 avx512; do
			E3_VECTORS=$vectors "$encode" time "$dir" "$@" | sed "s/^/$vectors	/"
		done
	} | table "$model"
	"$encode" hostile "$dir" | sed 's/^/hostile	/' | table "$model"
	for j in 1 2; do
		"$PYTHON" -I tests/bench/peak.py "$E3_BIN/e3-tokenize" -q -j$j --model "$dir" --text --count "$@" |
			sed "s/^/$model: e3-tokenize -j$j --text --count: /" | tee "$texts/peak"
		awk -v OFS='\t' -v m="$model" -v j=$j '{ for (i = 2; i <= NF; i++) if ($i ~ /^Mi?B/) print "=", m ", memory, -j" j, $(i - 1), $i, "<=150" }' "$texts/peak"
	done
done
