#!/bin/bash
# pipelines/parquet with the real DuckDB: rows that go through parquet files make the same conversations
# as the same rows as lines of JSON.

# tests/run starts all of its kind by sh
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
: "${E3_BIN:=$PWD/bin}"
venv=${E3_DUCKDB_VENV:-build/oracle-duckdb}
{
	exec 9>"$venv.lock"
	flock 9
	[ -x "$venv/bin/duckdb" ] || { python3 -m venv "$venv" && "$venv/bin/python" -m pip install -q --disable-pip-version-check duckdb-cli; }
	flock -u 9
} >/dev/null 2>&1
export DUCKDB=$venv/bin/duckdb
"$DUCKDB" -c 'SELECT 1' >/dev/null 2>&1 || { echo "ok 1 - parquet # skip cannot install duckdb-cli"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

n=0
verdict() { # WHAT COMMAND...
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$dir/why" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		head -n 20 "$dir/why" | cut -c 1-300 | sed 's/^/# /'
	fi
}

# NAME: its rows, in two files with a quote in their names, and back. jq, since DuckDB spells text in its
# own way, without escapes.
round() {
	local half="SELECT * FROM read_json('$dir/raw/$1.jsonl', format = 'newline_delimited', maximum_object_size = 67108864)"
	"$DUCKDB" -c "COPY ($half LIMIT 20) TO '$dir/it''s $1-0.parquet'" &&
		"$DUCKDB" -c "COPY ($half OFFSET 20) TO '$dir/it''s $1-1.parquet'" &&
		pipelines/parquet "$dir/it's $1"-*.parquet >"$dir/$1.jsonl" 2>"$dir/said" &&
		grep -q "$(wc -l <"$dir/raw/$1.jsonl") rows in 2 files" "$dir/said" &&
		for f in raw/$1 "$1"; do
			"$E3_BIN/e3-prep" -q --dataset "$1" --rejects /dev/null "$dir/$f.jsonl" | jq -c . >"$dir/$f.out"
		done && [ "$(wc -l <"$dir/$1.out")" -gt 20 ] && cmp "$dir/raw/$1.out" "$dir/$1.out"
}

pipelines/100k/rows "$dir/raw" 0.006
for name in B2_opencodeinstruct B4_mixturethoughts B5_openthoughts B6_ultrachat B8_sweagent; do
	verdict "$name: through parquet and not, the same records" round $name
done

broken() {
	head -c 1000 "$dir/it's B6_ultrachat-0.parquet" >"$dir/cut.parquet"
	! pipelines/parquet "$dir/cut.parquet" && ! pipelines/parquet "$dir/none.parquet"
}
verdict "a file that is cut or missing is an error" broken
echo "1..$n"
