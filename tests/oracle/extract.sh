#!/bin/sh
# e3-extract's files in the trainers' own loaders, and the hidden states of a small real model
# through the dump contract into every layout.
ORACLE=trainers . "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
model=$here/../../pipelines/demo/model
mkdir "$dir/hs"

# serve COMMAND... - its first line is the port
serve() {
	rm -f "$dir/port"
	"$@" >"$dir/port" 2>"$dir/server.err" &
	server=$!
	i=0
	while [ ! -s "$dir/port" ] && [ $i -lt 3000 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	url=http://127.0.0.1:$(head -n 1 "$dir/port")
}

# extract LAYOUT OPTION... - into $dir/$set/LAYOUT
extract() {
	layout=$1
	shift
	mkdir -p "$dir/$set"
	"$E3_BIN/e3-extract" -q --server "$url" --dump-dir "$dir/hs" --layout "$layout" --min-free 1M \
		--out-dir "$dir/$set/$layout" -o "$dir/$set/$layout.idx" "$@" "$dir/in" || exit 1
}

"$PYTHON" "$here/extract.py" records "$dir"

# the stand-in server: what a vLLM connector delivers
set=sim
serve "$E3_BIN/e3-sim" --model "$model" --port 0 --dump-dir "$dir/hs"
for l in seed speculators modelopt; do
	extract $l --backend vllm --model "$model"
done
extract specforge --backend vllm --model "$model" --apply-norm
kill "$server"
"$PYTHON" "$here/extract.py" trainers "$dir" "$model" 0 || exit 1

# a real model behind the dump contract
set=real
serve "$PYTHON" "$here/extract.py" serve "$dir" after
for l in seed specforge modelopt compact; do
	extract $l --backend sglang-dump
done
# convert FROM TO LAYOUT
convert() {
	"$E3_BIN/e3-extract" -q --convert "$dir/real/$1" --layout "$3" --out-dir "$dir/real/$2" \
		-o "$dir/real/$2.idx" "$dir/real/$1.idx" || exit 1
}
convert seed made modelopt
convert compact unpacked specforge
kill "$server"
serve "$PYTHON" "$here/extract.py" serve "$dir" before
extract speculators --backend sglang-dump
kill "$server"
"$PYTHON" "$here/extract.py" real "$dir" 7
