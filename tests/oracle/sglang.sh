#!/bin/sh
# The plug-in of pipelines/sglang: real hidden states of a real, if small, model go through its hooks,
# set into SGLang's own code by SGLang's own plug-in loader, into a dump directory, and through
# e3-extract into every layout that takes them, and come back equal. What of SGLang can't run without
# an accelerator is read: the places that the hooks touch are as they expect.
ORACLE=llama
. "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
PATH=${E3_BIN:-$here/../../bin}:$PATH
dir=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
mkdir "$dir/hs"
cd "$dir" || exit 1

"$PYTHON" "$here/sglang_dump.py" reads
"$PYTHON" "$here/sglang_dump.py" writer "$dir/hs"
"$PYTHON" "$here/infer.py" model "$oracle_venv/smollm2" >log 2>&1 && ln -s "$oracle_venv/smollm2" model &&
	"$PYTHON" "$here/sglang_dump.py" records >in || { cat log; exit 1; }
E3_DUMP_DIR=$dir/hs "$PYTHON" "$here/sglang_dump.py" serve >port 2>server.err &
server=$!
while [ ! -s port ]; do
	kill -0 $server 2>/dev/null || { cat server.err; exit 1; }
	sleep 0.1
done
url=http://127.0.0.1:$(head -n 1 port)

# extract LAYOUT OPTION...
extract() {
	layout=$1
	shift
	e3-extract -q --backend sglang-dump --server "$url" --dump-dir "$dir/hs" --layout "$layout" \
		--min-free 1M --concurrency 4 --out-dir "$layout" -o "$layout.idx" "$@" in
}

for l in seed specforge modelopt; do
	extract $l || { cat server.err; exit 1; }
done
extract speculators 2>refused
"$PYTHON" "$here/sglang_dump.py" compare
