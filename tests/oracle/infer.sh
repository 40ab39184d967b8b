#!/bin/sh
# e3-infer against real servers with a real, if small, model on the CPU: two of llama.cpp's own and
# SmolLM2-135M-Instruct. Conversations of one to three turns, e3-infer killed twice on the way: every
# id is there once, each prompt's ids are what the server itself renders and tokenises, and greedy
# answers come out the same a second time. What tells a hang from a long answer moves while one is made.
# E3_ORACLE_N: conversations (200).
ORACLE=llama
. "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
PATH=${E3_BIN:-$here/../../bin}:$PATH
n=${E3_ORACLE_N:-200}
dir=$(mktemp -d) || exit 1
servers=
trap 'kill $servers 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir" || exit 1

"$PYTHON" "$here/infer.py" folder "$dir/model" >log 2>&1 &&
	"$PYTHON" "$here/infer.py" records "$n" >in || { cat log; exit 1; }
# Two servers of one thread each: threads that wait for each other crawl beside any other process.
for i in 1 2; do
	"$PYTHON" "$here/infer.py" serve url$i >log$i 2>&1 &
	server=$!
	servers="$servers $server"
	while [ ! -s url$i ]; do
		kill -0 $server 2>/dev/null || { cat log$i; exit 1; }
		sleep 0.1
	done
	cat url$i >>urls
done

# answer FILE - the records on the standard input; one request a server and none of its caches, so that
# nothing rounds otherwise
answer() {
	exec e3-infer -q --servers urls --model "$dir/model" --max-new-tokens 4 --temperature 0 \
		--turns all --concurrency 1 --extra '{"cache_prompt":false}' --patience 120 \
		--resume -o "$1"
}
tap() {
	if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; fi
}
ids() {
	jq -cS '[.id, .generations[].output_ids]' "$1" | sort
}

kills=0
for part in 4 2; do
	# of an input that has some records more, and no end: the run is there when it is to be killed
	mkfifo some
	exec 7<>some
	head -n $((n / part + 4)) in >some 7>&- &
	answer first <some 7>&- &
	run=$!
	while [ "$(cat first.part 2>/dev/null | wc -l)" -lt $((n / part)) ] && kill -0 $run 2>/dev/null; do
		sleep 0.2
	done
	kill -9 $run 2>/dev/null && kills=$((kills + 1))
	wait $run 2>/dev/null
	exec 7>&-
	rm some
done
(answer first <in)
[ $? -eq 0 ] && [ $kills -eq 2 ]
tap $? 1 "the run goes on after two kills, to the end"
jq -r .id first | sort >got
jq -r .id in | sort | cmp -s - got
tap $? 2 "every id once, of $n"
"$PYTHON" "$here/infer.py" prompts "$(head -n 1 urls)" <first
tap $? 3 "prompt ids are the server's own"
(answer second <in)
[ "$(ids first)" = "$(ids second)" ]
tap $? 4 "greedy answers are the same a second time"
"$PYTHON" "$here/infer.py" moves "$(head -n 1 urls)"
tap $? 5 "a long answer shows in the server's figures while it is made"
echo 1..5
