#!/bin/sh
# Processor time and memory a request of e3-infer, prompts rendered and answers parsed (ids) or not
# (chat), against the stand-in server with answers of one second; beside it a plain aiohttp client.
cd "$(dirname "$0")/../.." || exit 1
: "${E3_BIN:=$PWD/bin}"
PATH=$E3_BIN:$PATH
top=$PWD
model=$PWD/pipelines/demo/model
dir=$(mktemp -d) || exit 1
server=
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
command -v python3 >/dev/null || { echo "# skipped: no python3 to measure with"; exit 0; }

e3-sim --model "$model" --port 0 --latency 1000 --answer-tokens 200 --api vllm >port 2>/dev/null &
server=$!
while [ ! -s port ]; do sleep 0.05; done
u=http://127.0.0.1:$(head -n 1 port)

rows() {
	awk -v n="$1" 'BEGIN { s = "word of text "; for (i = 0; i < 8; i++) s = s s
		for (i = 1; i <= n; i++)
			printf "{\"id\":\"d/%d\",\"messages\":[{\"role\":\"user\",\"content\":\"question %d %s\"}]}\n", i, i, s }'
}

# measure NAME CONCURRENCY COMMAND... - on 6 waves of requests
measure() {
	name=$1 at=$2
	shift 2
	rows $((at * 6)) >in
	python3 - "$name" "$at" "$@" <<'END'
import resource, subprocess, sys, time
name, at, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
n, begin = at * 6, time.time()
rc = subprocess.run(command, stdin=open("in"), stdout=open("out", "w"), stderr=open("err", "w")).returncode
wall, u = time.time() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{name:22} {at:6} {1e6 * (u.ru_utime + u.ru_stime) / n:9.0f} {u.ru_maxrss / 1024:8.1f} "
      f"{100 * 6 / wall:8.1f}", "" if rc == 0 else open("err").read()[-300:])
END
}

echo "client                at once  us/request  MB    busy %"
for at in 150 1000; do
	measure "e3-infer, chat" $at e3-infer -q --server "$u" --max-new-tokens 400 --concurrency $at
	measure "e3-infer, ids" $at e3-infer -q --server "$u" --model "$model" --max-new-tokens 400 \
		--concurrency $at
	if "${PYTHON:-python3}" -c 'import aiohttp' 2>/dev/null; then
		# -I: a file here is called as a module of the library is
		measure "aiohttp" $at "${PYTHON:-python3}" -I "$top/tests/bench/infer_aiohttp.py" "$u" $at
	else
		echo "# no aiohttp for ${PYTHON:-python3}: PYTHON names one that has it"
	fi
done
