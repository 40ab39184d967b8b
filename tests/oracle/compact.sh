#!/bin/sh
# The compact layout on the hidden states of a small trained model: the same after packing, and how much smaller.
ORACLE=llama . "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$dir/hs"

"$PYTHON" "$here/compact.py" records "$dir" "$here"/../../man/e3-[eimp]*.1 2>/dev/null || exit 1
"$PYTHON" "$here/compact.py" serve "$dir" >"$dir/port" 2>"$dir/server.err" &
server=$!
i=0
while [ ! -s "$dir/port" ] && [ $i -lt 6000 ]; do
	sleep 0.1
	i=$((i + 1))
done
url=http://127.0.0.1:$(head -n 1 "$dir/port")
extract="$E3_BIN/e3-extract -q --min-free 1M"
for l in seed compact; do
	$extract --backend sglang-dump --server "$url" --dump-dir "$dir/hs" --layout $l --out-dir "$dir/$l" \
		-o "$dir/$l.idx" "$dir/in" || exit 1
done
kill "$server"
server=
$extract --verify "$dir/compact" --records "$dir/in" "$dir/compact.idx" || exit 1
$extract --convert "$dir/seed" --layout compact --out-dir "$dir/packed" -o "$dir/packed.idx" "$dir/seed.idx" || exit 1
$extract --convert "$dir/packed" --layout seed --out-dir "$dir/back" -o "$dir/back.idx" "$dir/packed.idx" || exit 1
"$PYTHON" "$here/compact.py" check "$dir" 2>/dev/null || exit 1
if diff -r "$dir/seed" "$dir/back" >"$dir/diff" && cmp "$dir/compact.idx" "$dir/packed.idx"; then
	echo "ok 3 - converted there and back bit for bit"
else
	echo "not ok 3 - converted there and back bit for bit"
fi
