#!/usr/bin/env bats
# What is made to do harm, given to every program: it ends with an error in little memory and no time,
# and nothing is written but where it was asked for.

bats_require_minimum_version 1.5.0

setup() {
	LIMIT='ulimit -v 400000;'
	# a sanitizer needs all the address space
	case $E3_BUILD in *asan* | *tsan*) LIMIT= ;; esac
	PATH=$E3_BIN:$PATH
	MODEL=$BATS_TEST_DIRNAME/../../pipelines/demo/model
	cd "$BATS_TEST_TMPDIR"
	PID=
}

teardown() {
	[ -z "$PID" ] || { kill -9 "$PID"; wait "$PID"; } 2>/dev/null || true
}

serve() {
	mkdir dump
	e3-sim --model "$MODEL" --port 0 --dump-dir dump "$@" >port 2>sim.err 3>&- &
	PID=$!
	for _ in $(seq 1000); do
		[ -s port ] && break
		sleep 0.02
	done
	U=http://127.0.0.1:$(head -n 1 port)
}

# extract LAYOUT OPTION...: into the folder LAYOUT, its index beside it
extract() {
	local layout=$1
	shift
	e3-extract -q --backend vllm --server "$U" --dump-dir dump --layers 2,4,5 --min-free 1M --layout "$layout" \
		--out-dir "$layout" -o "$layout.idx" "$@"
}

# refused WANT COMMAND...: says WANT and ends, in 400 MB of memory and a minute
refused() {
	local want=$1
	shift
	run -1 timeout 60 bash -c "$LIMIT"' exec "$@"' - "$@"
	[[ $output == *$want* ]] || { echo "$*: got '$output'"; return 1; }
}

# each_reader WANT FILE: every program, and every option of one that reads records or lines
each_reader() {
	local want=$1 f=$2 o
	rm -rf new new.*
	local states=(e3-extract -q -j1 --backend vllm --server "$U" --dump-dir dump --layers 2,4,5 --layout seed)
	refused "$want" e3-prep -j1 --dataset openai "$f"
	refused "$want" e3-infer -q --server "$U" --model "$MODEL" "$f"
	refused "$want" e3-infer -q --servers "$f" --model "$MODEL" in
	refused "$want" e3-tokenize -j1 --no-cache --model "$MODEL" "$f"
	for o in --text --count --pieces --decode; do
		refused "$want" e3-tokenize -j1 --no-cache --model "$MODEL" $o "$f"
	done
	refused "$want" e3-merge -j1 "$f"
	refused "$want" e3-vocabmap -j1 --target-vocab 10 --draft-vocab 2 "$f"
	refused "$want" e3-vocabmap -j1 --target-vocab 10 --draft-vocab 2 --counts "$f"
	refused "$want" e3-vocabmap -j1 --target-vocab 10 --draft-vocab 2 --include "$f" in
	refused "$want" "${states[@]}" --out-dir new -o new.idx "$f"
	refused "$want" "${states[@]}" --out-dir seed -o seed.idx --resume --redo "$f" in
	refused "$want" e3-extract -q -j1 --verify seed "$f"
	refused "$want" e3-extract -q -j1 --verify seed --records "$f" seed.idx
	refused "$want" e3-extract -q -j1 --convert seed --layout modelopt --out-dir new2 "$f"
}

@test "zstd frames of kilobytes that hold gigabytes, or want a window of two" {
	[ -n "$LIMIT" ] || skip "a sanitizer needs all the address space"
	serve
	printf '{"id":"a","dataset":"d","input_ids":[300,301,302],"loss_mask":[0,1,1]}\n' >in
	extract seed in
	# blocks of one byte, repeated 128 KiB times
	python3 - <<'END'
def frame(name, size, window_log):
    block = 128 << 10
    with open(name, "wb") as f:
        f.write(b"\x28\xb5\x2f\xfd\0" + bytes([(window_log - 10) << 3]))
        for i in range(size // block):
            f.write((block << 3 | 1 << 1 | (i == size // block - 1)).to_bytes(3, "little") + b"x")
frame("bomb.zst", 10 << 30, 17)
frame("window.zst", 3 << 30, 31)
END
	[ "$(wc -c <bomb.zst)" -lt 400000 ]
	each_reader "bomb.zst:1: " bomb.zst
	each_reader "not enough memory" window.zst
	refused "not enough memory" e3-tokenize -j1 --no-cache --model "$MODEL" --whole window.zst
	e3-extract -q --verify seed seed.idx
}

@test "ids that are paths, hold a NUL or are a megabyte long go through the whole flow" {
	serve
	big=$(head -c 1048576 /dev/zero | tr '\0' x)
	ids() { jq -c .id "$1" | sort; }
	for id in '../../../x' '/etc/x' '..' '.' 'a\u0000/../b' "$big" "../$big"; do
		printf '{"id":"%s","dataset":"d","messages":[{"role":"user","content":"hi"}]}\n' "$id"
	done >prompts
	e3-infer -q --server "$U" --model "$MODEL" --max-new-tokens 16 -o answers prompts
	e3-tokenize -q --model "$MODEL" -o ids answers
	e3-merge -q -o merged ids
	for layout in seed modelopt speculators compact; do
		extract $layout merged
		e3-extract -q --verify $layout --records merged $layout.idx
		diff <(ids prompts) <(ids $layout.idx)
		[ "$(find $layout -type f ! -name manifest.json | wc -l)" -eq 7 ]
		while read -r file; do
			[ -f "$layout/$file" ]
		done < <(jq -r .file $layout.idx)
	done
	e3-vocabmap -q --model "$MODEL" --draft-vocab 100 --out-dir map merged >report
	rm -r seed modelopt speculators compact map dump
	[ "$(ls | tr '\n' ' ')" = "answers compact.idx ids merged modelopt.idx port prompts report seed.idx sim.err speculators.idx " ]
	[ ! -e ../x ]
}

@test "files of states that claim, or hold, more than there is" {
	serve
	printf '{"id":"a","dataset":"d","input_ids":[300,301,302],"loss_mask":[0,1,1]}\n' >in
	for layout in seed speculators; do
		extract $layout in
		why="a header of 2147483648 bytes"
		[ $layout = speculators ] || why="zip record archive/data.pkl is compressed"
		file=$layout/$(jq -r .file $layout.idx)
		python3 - "$file" <<'END'
import struct, sys, zipfile
if sys.argv[1].endswith(".pt"):
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
        for name in "data.pkl", "byteorder", "data/0":
            z.writestr("archive/" + name, bytes(100 << 20))
else:
    with open(sys.argv[1], "wb") as f:
        f.write(struct.pack("<Q", 2 << 30) + b"{")
        f.truncate(100 << 20)
END
		refused "1 of 1 files are not good" e3-extract -q -j1 --verify $layout -o bad $layout.idx
		jq -r .verify.reason bad | grep -F "$why"
		refused "$file" e3-extract -q -j1 --backend vllm --server "$U" --dump-dir dump --layers 2,4,5 --min-free 1M \
			--layout $layout --out-dir $layout -o $layout.idx --resume in
	done
}

@test "a tokenizer file of 2 GB, for every program that reads one" {
	mkdir m
	cp "$MODEL"/*.json "$MODEL"/*.jinja m
	truncate -s 2G m/tokenizer.json
	printf '{"id":"a","dataset":"d","messages":[{"role":"user","content":"hi"}]}\n' >in
	for file in tokenizer.json tiktoken.model; do
		truncate -s 2G m/$file
		refused "$file: more than " e3-tokenize -j1 --model m in
		refused "$file: more than " e3-infer --server http://127.0.0.1:1 --model m in
		refused "$file: more than " e3-sim --model m --port 0
	done
}
