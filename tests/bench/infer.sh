#!/bin/sh
# What a request costs e3-infer, and how busy it keeps a server, beside other clients on the same
# stand-in server in one run: answers after one second, 200 tokens at the median and 400 at most,
# prompts of about 780 tokens (3.4 KB of record). Printed by client: CPU of its process alone, user and
# sys, a request, start-up taken off (a run of one request); of it sys, which is nearly all the
# kernel's work for a new connection, its bytes and its end; the most memory; the share of slots kept
# busy, by the server's own account, between the second and the last wave.
#	tests/bench/infer.sh [QUICK]	QUICK 4: a quarter of the requests
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${E3_BIN:=$PWD/bin}"
PATH=$E3_BIN:$PATH
top=$PWD
model=$PWD/pipelines/demo/model
less=${1:-1}
ORACLE=trainers
. tests/oracle/venv.sh || PYTHON=python3
dir=$(mktemp -d) || exit 1
trap '[ ! -s "$dir/server" ] || kill "$(cat "$dir/server")"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
command -v python3 >/dev/null || { echo "# skipped: no python3 to measure with"; exit 0; }
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

# serve MS - answers after so long
serve() {
	[ ! -s server ] || kill "$(cat server)"
	rm -f port
	e3-sim --model "$model" --port 0 --latency "$1" --answer-tokens 200 --served-model "$dir/tok" \
		>port 2>/dev/null &
	echo $! >server # a file: what a part of a pipeline sets is lost
	while [ ! -s port ]; do sleep 0.05; done
	u=http://127.0.0.1:$(head -n 1 port)
}

rows() {
	awk -v n="$1" 'BEGIN { s = "word of text "; for (i = 0; i < 8; i++) s = s s
		for (i = 1; i <= n; i++)
			printf "{\"id\":\"d/%d\",\"messages\":[{\"role\":\"user\",\"content\":\"question %d %s\"}]}\n", i, i, s }'
}

# measure NAME AT_ONCE REQUESTS COMMAND... - a command that reads in.jsonl, or standard input
measure() {
	name=$1 at=$2 n=$(($3 / less))
	shift 3
	rows 1 >in.jsonl
	python3 "$top/tests/bench/infer_measure.py" "$u" 1 1 in.jsonl out "$@" >one.json
	rm -f answers.jsonl
	rows $n >in.jsonl
	python3 "$top/tests/bench/infer_measure.py" "$u" "$at" $n in.jsonl out "$@" >all.json
	python3 - "$name" "$at" $n <<'EOF'
import json, sys
name, at, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
one, all = (json.load(open(f)) for f in ("one.json", "all.json"))
user, kernel = ((all[k] - one[k]) / (n - 1) for k in ("user", "sys"))
busy = f"{all['busy']:6.1f}" if all["busy"] is not None else "     -"
print(f"{name:26} {at:6} {n:6} {user + kernel:9.0f} {kernel:7.0f} {(one['user'] + one['sys']) / 1000:8.0f}"
      f" {all['mb']:7.1f} {busy}", "" if all["rc"] == 0 else "failed: " + open("err").read()[-300:], flush=True)
EOF
}

# ours and theirs AT_ONCE REQUESTS
ours() {
	measure "e3-infer, ids" "$1" "$2" e3-infer -q --server "$u" --api sglang --model "$model" \
		--max-new-tokens 400 --concurrency "$1"
	measure "e3-infer, messages" "$1" "$2" e3-infer -q --server "$u" --api vllm \
		--max-new-tokens 400 --concurrency "$1"
}

theirs() {
	# -I: a file here is called as a module of the library is
	for kind in aiohttp openai specforge; do
		if "$PYTHON" -c "import $kind" 2>/dev/null; then
			measure "$kind" "$1" "$2" "$PYTHON" -I "$top/tests/bench/infer_others.py" $kind "$u" "$1"
		else
			echo "# no $kind for $PYTHON"
		fi
	done
	if "$PYTHON" -c 'import speculators, tokenizers' 2>/dev/null; then
		measure "speculators regenerate" "$1" "$2" "$PYTHON" -m speculators regenerate-responses \
			--endpoint "$u/v1/chat/completions" --model "$dir/tok" --dataset "$dir/in.jsonl" \
			--max-tokens 400 --concurrency "$1" --outfile answers.jsonl
	else
		echo "# no speculators for $PYTHON"
	fi
}

# A tokenizer that speculators can load; it only decodes with it.
mkdir tok
"$PYTHON" - 2>/dev/null <<'EOF'
from tokenizers import Tokenizer, models, decoders
from transformers import PreTrainedTokenizerFast
t = Tokenizer(models.WordLevel({f"w{i}": i for i in range(4096)}, unk_token="w0"))
t.decoder = decoders.Fuse()
PreTrainedTokenizerFast(tokenizer_object=t).save_pretrained("tok")
EOF

# goals: of what measure printed
goals() {
	awk -v OFS='\t' '
		{ at = $(NF - 6); us = $(NF - 4); name = substr($0, 1, 26); sub(/ +$/, "", name) }
		name == "e3-infer, ids" {
			ids[at] = us
			print "=", "CPU a request, " at " at once", us, "us", (at > 1000 ? "" : "<=150")
			if (at == 1000)
				print "=", "memory, 1000 at once", $(NF - 1), "MB", "<=40"
			if (at == 150)
				print "=", "slots busy, 150 at once", $NF, "%", ">=99"
			next
		}
		name !~ /^e3-infer/ { print "=", "CPU a request, times less than " name ", " at " at once", sprintf("%.1f", us / ids[at]), "x", ">=10" }'
}

serve 1000
echo "client                    at once      n us/request  of sys start ms      MB  busy %"
{
	for t in 150:3000 1000:6000; do
		ours ${t%:*} ${t#*:}
		theirs ${t%:*} $((${t#*:} / 2))
	done
	# so many that they are all there before the first is answered
	if [ "$(ulimit -Hn)" -gt 10100 ]; then
		serve 15000
		less=1
		measure "e3-infer, ids" 10000 20000 e3-infer -q --server "$u" --api sglang --model "$model" \
			--max-new-tokens 400 --concurrency 10000
		echo "# at most $(jq .peak all.json) in flight at once" 2>/dev/null
	fi
} | tee rows
grep -v -e '^#' -e failed: rows | goals
