#!/bin/sh
# e3-infer against a real server with a real, if small, model on the CPU: llama.cpp's own server and
# SmolLM2-135M-Instruct. Conversations of one and more turns, e3-infer killed twice on the way: every
# id is there once, each prompt's ids are what the server itself renders and tokenises, and greedy
# answers come out the same a second time.
# E3_ORACLE_N: conversations (8; 200 take a quarter of an hour on two cores).
ORACLE=llama
. "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
PATH=${E3_BIN:-$here/../../bin}:$PATH
n=${E3_ORACLE_N:-8}
dir=$(mktemp -d) || exit 1
server=
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir" || exit 1

"$PYTHON" "$here/infer.py" folder "$dir/model" >log 2>&1 &&
	"$PYTHON" "$here/infer.py" records "$n" >in || { cat log; exit 1; }
port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$PYTHON" "$here/infer.py" serve "$port" >log 2>&1 &
server=$!
u=http://127.0.0.1:$port

# answer FILE [OPTION...]
answer() {
	out=$1
	shift
	exec e3-infer -q --server "$u" --model "$dir/model" --max-new-tokens 12 --temperature 0 \
		--turns all --concurrency 1 --patience 120 --resume -o "$out" "$@" in
}

for after in 6 12; do
	answer first &
	run=$!
	sleep $after
	kill -9 $run 2>/dev/null
	wait $run 2>/dev/null
done
tap() {
	if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; fi
}
(answer first)
tap $? 1 "the run goes on after two kills, to the end"
jq -r .id first | sort >got
jq -r .id in | sort | cmp -s - got
tap $? 2 "every id once"
"$PYTHON" "$here/infer.py" prompts "$u" <first
tap $? 3 "prompt ids are the server's own"
(answer second)
[ "$(jq -cS '[.id, .generations[].output_ids]' first | sort)" = "$(jq -cS '[.id, .generations[].output_ids]' second | sort)" ]
tap $? 4 "greedy answers are the same a second time"
echo 1..4
