#!/bin/sh
# e3-merge against cat | shuf, DuckDB and Hugging Face datasets shuffling the same tokenised records to
# JSONL: seconds of processor time and of the clock, MB a second read and written, and the most memory;
# then its memory a record, by short records of which only the index is held.
#
# MB megabytes of records (default 400) in the page cache. -j1 and one thread each: it is the work that
# is compared.
set -eu
: "${MB:=400}" "${TIMES:=3}"
ORACLE=bench
. "$(dirname "$0")/../oracle/venv.sh" || PYTHON=python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v mb="$MB" 'BEGIN {
	srand(7)
	for (i = 0; i < 5000; i++)
		pool = pool (i ? "," : "") int(rand() * 163840)
	for (i = 0; i < 5000; i++)
		mask = mask (i ? ",1" : "1")
	for (bytes = n = 0; bytes < mb * 1000000; n++) {
		len = int(exp(7 + rand() * 1.5))        # 1,100 to 4,900 tokens
		ids = substr(pool, 1, len * 6)
		sub(/,[0-9]*$/, "", ids)
		count = gsub(/,/, ",", ids) + 1
		line = "{\"id\":\"d" n % 10 "/" n "\",\"dataset\":\"d" n % 10 "\",\"input_ids\":[" ids
		line = line "],\"loss_mask\":[" substr(mask, 1, 2 * count - 1) "],\"seq_len\":" count "}"
		bytes += length(line) + 1
		print line
	}
}' >"$work/in"

cat >"$work/duck.py" <<'END'
import duckdb, sys
c = duckdb.connect(config={"threads": 1, "preserve_insertion_order": False})
c.sql(f"""copy (select * from read_json('{sys.argv[1]}', format='newline_delimited',
    maximum_object_size=200000000) order by hash(id)) to '{sys.argv[2]}' (format json)""")
END
cat >"$work/hf.py" <<'END'
import datasets, sys
d = datasets.load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2] + ".cache")
d.shuffle(seed=7).to_json(sys.argv[2], num_proc=1)
END

cat >"$work/meter.py" <<'END'
import resource, subprocess, sys, time
t = time.monotonic()
p = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if p.returncode:
    sys.exit(p.stderr.decode().strip().split("\n")[-1])
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(r.ru_utime + r.ru_stime, time.monotonic() - t, r.ru_maxrss)
END

# row NAME COMMAND...: the best of TIMES runs in processor time
row() {
	name=$1
	shift
	: >"$work/times"
	i=0
	while [ $i -lt "$TIMES" ]; do
		i=$((i + 1))
		rm -rf "$work/out" "$work/out.cache"
		if ! "$PYTHON" "$work/meter.py" "$@" >>"$work/times" 2>"$work/err"; then
			printf '%-32s failed: %s\n' "$name" "$(tail -n 1 "$work/err")"
			return
		fi
	done
	sort -n "$work/times" | awk -v name="$name" -v mb="$MB" 'NR == 1 {
		printf "%-32s %8.2f %8.2f %9.0f %9.0f\n", name, $1, $2, 2 * mb / $1, $3 / 1024 }'
	printf '%s\t%s\n' "$name" "$(sort -n "$work/times" | head -n 1 | cut -d ' ' -f 1)" >>"$work/rows"
}

# goals: what the rows say of what was asked for, in processor time
goals() {
	awk -F '\t' -v OFS='\t' -v mb="$MB" '
		{ s[$1] = $2 }
		END {
			e3 = s["e3-merge"]
			print "=", "e3-merge, read and written, a core", sprintf("%.0f", 2 * mb / e3), "MB/s", ">=1000"
			print "=", "with memory of a quarter of the input, of its speed", sprintf("%.2f", e3 / s["e3-merge, memory of a quarter"]), "x", ">=0.5"
			for (name in s)
				if (name == "DuckDB" || name == "datasets")
					print "=", "times as fast as " name, sprintf("%.1f", s[name] / e3), "x", ">=10"
		}' "$work/rows"
}

has() {
	"$PYTHON" -c "import $1" 2>/dev/null
}

printf '%s MB, %s records\n' "$MB" "$(wc -l <"$work/in")"
printf '%-32s %8s %8s %9s %9s\n' "" "cpu s" "clock s" "MB/cpu s" "MiB"
cat "$work/in" >/dev/null
row "e3-merge" "$E3_BIN/e3-merge" -q -j1 -o "$work/out" "$work/in"
row "e3-merge, memory of a quarter" "$E3_BIN/e3-merge" -q -j1 --memory "$((MB / 4))M" -o "$work/out" "$work/in"
row "e3-merge --dedup ids" "$E3_BIN/e3-merge" -q -j1 --dedup ids -o "$work/out" "$work/in"
row "e3-merge -z" "$E3_BIN/e3-merge" -q -j1 -z -o "$work/out" "$work/in"
row "cat" sh -c "cat '$work/in' >'$work/out'"
row "cat | shuf" sh -c "cat '$work/in' | shuf >'$work/out'"
if has duckdb; then row "DuckDB" "$PYTHON" "$work/duck.py" "$work/in" "$work/out"; else echo "DuckDB: not in $PYTHON"; fi
if has datasets; then row "datasets" "$PYTHON" "$work/hf.py" "$work/in" "$work/out"; else echo "datasets: not in $PYTHON"; fi
goals
rm -f "$work/in" "$work/out"

short() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "{\"id\":\"d/%d\",\"dataset\":\"d\",\"input_ids\":[%d,2],\"loss_mask\":[0,1]}\n", i, i }' >"$work/short"
}
for how in none ids; do
	for n in 200000 600000; do
		short $n
		"$PYTHON" "$work/meter.py" "$E3_BIN/e3-merge" -q -j1 --memory 16M --dedup $how -o "$work/out" "$work/short"
	done | awk -v how=$how '{ kib[NR] = $3 } END {
		bytes = (kib[2] - kib[1]) * 1024 / 400000
		printf "memory a record, --dedup %s: %.0f bytes\n", how, bytes
		printf "=\tmemory a record, --dedup %s\t%.0f\tbytes\t<=100\n", how, bytes }'
done
