#!/usr/bin/env bats
# e3-extract: what it writes, what it checks, and in which order.

load extract
load fast

@test "each layout: the index in input order, the manifest, every file good, nothing left at the server" {
	serve
	records 30 >"$T/in"
	for l in seed speculators modelopt compact; do
		extract $l "$T/in"
		[ "$(jq -r .id "$T/$l.idx" | xargs)" = "$(seq -f d/%g 0 29 | xargs)" ]
		verify $l --records "$T/in"
		[ "$(jq -c '[.layout,.layers,.layer_ids,.last,.norm,.hidden_size,.dtype,.records,.complete]' "$T/$l/manifest.json")" = \
			"[\"$l\",[2,4,5],\"in\",true,\"before\",64,\"bf16\",30,true]" ]
	done
	extract specforge --apply-norm "$T/in"
	verify specforge --records "$T/in"
	[ "$(jq -c '[.norm,.options.apply_norm]' "$T/specforge/manifest.json")" = '["after",true]' ]
	[ -z "$(ls -A "$T/hs")" ]
	[ "$(sed -n 3p "$T/seed.idx" | jq -r .file)" = rows_0-2000/data_2.pt ]
	[ "$(sed -n 3p "$T/specforge.idx" | jq -r .file)" = rows_0-2000/data_2.ckpt ]
	[ "$(sed -n 3p "$T/speculators.idx" | jq -r .file)" = hidden_states/hs_2.safetensors ]
	[[ "$(sed -n 3p "$T/modelopt.idx" | jq -r .file)" =~ ^[0-9a-f]{2}/d%2F2.pt$ ]]
}

@test "the same bytes at any -j and concurrency" {
	serve
	records 40 >"$T/in"
	extract seed -j1 --concurrency 1 "$T/in"
	mv "$T/seed" "$T/one"
	mv "$T/seed.idx" "$T/one.idx"
	extract seed -j8 --concurrency 16 "$T/in"
	cmp "$T/one.idx" "$T/seed.idx"
	diff -r "$T/one" "$T/seed"
}

@test "index on standard output, --keep, zstd, CRLF, no last newline" {
	serve
	records 5 | sed 's/$/\r/' | head -c -2 >"$T/in"
	extract seed -o - --keep dataset,nothing <"$T/in" >"$T/idx"
	[ "$(jq -c '[.id,.dataset]' "$T/idx" | tail -n 1)" = '["d/4","d"]' ]
	rm -r "$T/seed"
	extract seed -o "$T/i.zst" "$T/in"
	[ "$(zstdcat "$T/i.zst" | wc -l)" -eq 5 ]
	for o in "--keep bytes" "--keep dataset,dataset" "--keep dataset, --keep x" "--layers 1,,2"; do
		# shellcheck disable=SC2086
		run extract seed $o "$T/in"
		[ "$status" -eq 2 ] || { echo "$o: $status"; false; }
	done
}

@test "a reader of the index that goes away ends the run as SIGPIPE does" {
	serve
	records 5 >"$T/in"
	{
		until [ -e "$T/gone" ]; do sleep 0.01; done
		extract seed -o - "$T/in" 2>"$T/err" || echo $? >"$T/status"
	} | {
		exec <&-
		: >"$T/gone"
	}
	[ "$(cat "$T/status")" -eq 141 ]
	[ ! -s "$T/err" ]
	[ -z "$(ls -A "$T/hs")" ]
	# what has no line by then has no file
	stop
	rm -r "$T/seed"
	serve --latency 500
	{ extract seed -o - --concurrency 1 "$T/in" || echo $? >"$T/status"; } | head -n 1 >"$T/first"
	[ "$(cat "$T/status")" -eq 141 ]
	[ "$(cd "$T/seed" && find . -name 'data_*')" = "./$(jq -r .file "$T/first")" ]
}

@test "states that are not good never become a file" {
	records 6 30 >"$T/in"
	while read -r fault class sentence; do
		serve --fault "$fault@3"
		rm -rf "$T/seed" "$T/seed.idx"
		extract seed --concurrency 1 --rejects "$T/bad" "$T/in"
		stop
		[ "$(jq -r .reject.class "$T/bad")" = "$class" ] || { echo "$fault: $(cat "$T/bad")"; false; }
		jq -r .reject.reason "$T/bad" | grep -q "$sentence" || { echo "$fault: $(cat "$T/bad")"; false; }
		[ "$(wc -l <"$T/seed.idx")" -eq 5 ]
		[ "$(find "$T/seed" -name '*.pt' | wc -l)" -eq 5 ]
		[ -z "$(find "$T/hs" -type f -name '*.safetensors*' ! -name '*.real')" ] || { echo "$fault: $(ls -A "$T/hs")"; false; }
		rm -f "$T/hs/"*
	done <<-'END'
	hs-short rows rows for 16 ids
	hs-long rows 17 rows for 16 ids
	hs-nan nonfinite last layer (slot 3), row 15 of 16: NaN or Inf
	hs-inf nonfinite layer 2 (slot 0), row 0 of 16: NaN or Inf
	hs-zero zero layer 2 (slot 0), row 0 of 16: all values are 0
	hs-zero-row zero row 8 of 16
	hs-zero-slot zero layer 2 (slot 0)
	hs-constant constant all rows are equal
	hs-twice twice layer 4 (slot 1)
	hs-slot-less layers 3 layers, 4 were asked for
	hs-slot-more layers 5 layers, 4 were asked for
	hs-ids ids token_ids
	hs-f16 dtype f16, those before were bf16
	hs-link dump-dir no regular file
	wrong-ids ids ids
	400 refused 400
	END
}

@test "a file that is late, cut or missing: waited for, or made again" {
	records 6 30 >"$T/in"
	for fault in hs-late@3 hs-cut@3 hs-missing@3; do
		serve --fault $fault
		rm -rf "$T/seed" "$T/seed.idx"
		extract seed "$T/in"
		verify seed --records "$T/in"
		stop
		[ -z "$(ls -A "$T/hs")" ]
	done
	serve --fault hs-cut=1
	rm -rf "$T/seed" "$T/seed.idx"
	run extract seed --max-attempts 2 "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"in:1: "* ]]
	[ -z "$(ls -A "$T/hs")" ]
}

@test "vLLM's three generations: no lock, a lock and the file after the reply, locking off" {
	records 30 60 >"$T/in"
	for faults in hs-unlocked=1 hs-late=1:50 "hs-late=1:50 --fault hs-unlocked=1"; do
		# shellcheck disable=SC2086
		serve --fault $faults
		rm -rf "$T/seed" "$T/seed.idx"
		extract seed --max-attempts 1 "$T/in"
		verify seed --records "$T/in"
		[ "$(wc -l <"$T/seed.idx")" -eq 30 ]
		stop
		[ -z "$(ls -A "$T/hs")" ]
	done
}

@test "what is wrong with the server stops the run at the first record" {
	records 20 >"$T/in"
	serve --fault hs-slot-less=1
	run extract seed --rejects "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"started with other layer ids"* ]]
	[ ! -e "$T/seed.idx" ]
	stop
	serve --fault hs-eagle=1
	run extract speculators "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"EAGLE instead of EAGLE3"* ]]
	stop
	serve --fault missing-ids=1
	run extract speculators "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"prompt_token_ids"* ]]
	stop
	serve --fault hs-outside=1
	run extract speculators "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--server-dump-dir"* ]]
	stop
	serve
	run extract seed --layers 2,4 "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"4 layers, 3 were asked for"* ]]
	[ "$(grep -c . "$T/sim.err")" -le 1 ]
}

@test "layers and norm that a layout can't hold are refused before anything is sent" {
	serve
	records 3 >"$T/in"
	refuse() { # what the command line alone shows is misuse
		run extract "${@:2}" "$T/in"
		[ "$status" -eq "$1" ]
		[ ! -e "$T/manifest.json" ]
	}
	refuse 2 specforge
	[[ "$output" == *"after the final norm and it comes before: add --apply-norm"* ]]
	refuse 2 speculators --apply-norm
	[[ "$output" == *"before the final norm: leave out --apply-norm" ]]
	refuse 2 speculators --norm after
	[[ "$output" == *"no way back: write --layout specforge or modelopt" ]]
	refuse 2 specforge --apply-norm --norm after
	[[ "$output" == *"leave out --apply-norm"* ]]
	refuse 2 specforge --no-last
	[[ "$output" == *"--no-last"* ]]
	refuse 2 specforge --apply-norm --layers 2,4
	[[ "$output" == *"exactly 3 aux layers, not 2"* ]]
	refuse 1 seed --layers 2,4,9
	[[ "$output" == *"the model has 8 layers"* ]]
	refuse 2 seed --layers 4,2
	[[ "$output" == *"ascend"* ]]
	refuse 1 seed --layers 2,4,8
	[[ "$output" == *"leave it out of --layers"* ]]
	refuse 2 seed --layers 1,3,4 --layer-ids out
	[[ "$output" == *"vLLM counts layers by what enters them: leave out --layer-ids out, and give --layers as the server was started with"* ]]
	refuse 2 seed --layers x
	[[ "$output" == *"expected numbers of layers"* ]]
	refuse 2 seed --apply-norm --no-last
	[[ "$output" == *"--apply-norm is for the last layer, and --no-last leaves it out" ]]
	refuse 2 seed --server ftp://x
	[[ "$output" == *"--server: not a server's URL (http://HOST:PORT)"* ]]
}

@test "--no-last: aux alone, also from a server that delivers the last layer too" {
	serve
	records 4 >"$T/in"
	extract seed --no-last "$T/in"
	verify seed
	[ "$(jq -c '[.last,.norm]' "$T/seed/manifest.json")" = '[false,null]' ]
}

@test "sglang-dump: layers, convention and norm are the file's" {
	serve --norm after
	records 8 >"$T/in"
	extract specforge --backend sglang-dump "$T/in"
	verify specforge --records "$T/in"
	[ "$(jq -c '[.layers,.layer_ids,.norm,.options.apply_norm]' "$T/specforge/manifest.json")" = '[[2,4,5],"in","after",false]' ]
	[ -z "$(ls -A "$T/hs")" ]
	run extract speculators --backend sglang-dump "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no way back: write --layout specforge or modelopt" ]]
	run extract seed --backend sglang-dump --norm before "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the server says that the last state is after the norm, --norm says before"* ]]
	run extract seed --backend sglang-dump --layers 2,4,6 "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"captured layers 2,4,5, --layers says 2,4,6"* ]]
	run extract seed --backend sglang-dump --layer-ids out "$T/in"
	[ "$status" -eq 1 ]
	stop
	serve --fault hs-eagle=1
	run extract seed --backend sglang-dump "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"EAGLE, which captures the last layer only"* ]]
}

@test "sglang-dump: a server that has written no dump is not the record's fault" {
	records 3 >"$T/in"
	serve_json # no plug-in
	run extract seed --backend sglang-dump --rejects "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"e3-extract: $U: the server wrote no dump into $T/hs (e3x-"*" s): was it started with the plug-in and E3_DUMP_DIR (pipelines/sglang), and is --dump-dir that folder?" ]]
	[ ! -s "$T/bad" ]
	[ ! -e "$T/seed.idx" ]
	stop
	mkdir "$T/gone"
	serve --dump-dir "$T/gone"
	rmdir "$T/gone"
	run extract seed --backend sglang-dump --max-attempts 2 --rejects "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$U: no dump has come from it, can it write its folder (E3_DUMP_DIR)? after 2 attempts: server error: status 500: "* ]]
	[ ! -s "$T/bad" ]
	stop
	# one that has written before is asked again
	serve --fault hs-missing@2 --fault 500@4
	extract seed --backend sglang-dump --concurrency 1 "$T/in"
	verify seed --records "$T/in"
}

@test "sglang-dump: an answer that was aborted has no dump to be waited for" {
	records 30 >"$T/in"
	serve --fault abort@1-30
	options seed
	timeout 100 e3-extract "${ARGS[@]}" -j 1 --backend sglang-dump "$T/in" # 30 waits would take 300 s
	verify seed --records "$T/in"
}

@test "vllm: a file that is in another folder than --dump-dir is not the record's fault" {
	records 2 >"$T/in"
	serve --fault hs-unlocked=1
	mkdir "$T/other"
	run extract seed --dump-dir "$T/other" --server-dump-dir "$T/hs" --rejects "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$U: the server's file never came into $T/other ("*"is --dump-dir the folder that it writes, as this machine sees it?" ]]
	[ ! -s "$T/bad" ]
}

@test "sglang: other weights than the run began with, or than the set is of, end the run" {
	serve_json --latency 100
	records 200 >"$T/in"
	json() {
		ARGS=(--backend sglang-json --server "$U" --model $MODEL --layout seed --out-dir "$T/seed"
			--min-free 1M -q --no-last --layer-ids in --concurrency 2 --rejects "$T/rej" -o "$T/idx")
	}
	json
	e3-extract "${ARGS[@]}" "$T/in" 2>"$T/err" 3>&- &
	run=$!
	until [ -s "$T/idx.part" ]; do
		kill -0 $run
		sleep 0.02
	done
	kill -STOP $run
	stop
	serve_json --port "${U##*:}" --weight-version w2
	kill -CONT $run
	rc=0
	wait $run || rc=$?
	[ $rc -eq 1 ]
	grep -q "$U: has weights w2, the run is with default" "$T/err"
	[ ! -s "$T/rej" ]
	run e3-extract "${ARGS[@]}" --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the set is of weights default, this run of w2"* ]]
	stop
	serve_json
	json
	e3-extract "${ARGS[@]}" --resume "$T/in"
	[ "$(jq -r .id "$T/idx" | sort -u | wc -l)" -eq 200 ]
	[ "$(jq -r .server.weight_version "$T/seed/manifest.json")" = default ]
	a=$U first=$PID
	serve_json --weight-version w2
	run e3-extract "${ARGS[@]}" --server "$U" --out-dir "$T/two" -o "$T/two.idx" "$T/in"
	kill -9 "$first"
	wait "$first" 2>/dev/null || true
	[ "$status" -eq 1 ]
	[[ "$output" == *"$a has weights default, $U has w2: one set is of one model"* ]]
}

@test "sglang-json: aux alone, as f32" {
	serve_json
	records 4 >"$T/in"
	json() {
		e3-extract --backend sglang-json --server "$U" --model $MODEL --layout seed --out-dir "$T/seed" \
			--min-free 1M -q -o "$T/seed.idx" "$@" "$T/in"
	}
	json --no-last --layer-ids in
	verify seed
	[ "$(jq -c '[.dtype,.hidden_size,.last]' "$T/seed/manifest.json")" = '["f32",64,false]' ]
	# 64 values could be one layer, or two of 32
	run e3-extract --backend sglang-json --server "$U" --layers 2,4 --layout seed --out-dir "$T/x" "$T/in"
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "e3-extract: sglang-json needs --model DIR, --layer-ids in|out, --no-last" ]
	mkdir "$T/bare"
	echo '{"num_hidden_layers":7}' >"$T/bare/config.json"
	run json --no-last --layer-ids in --model "$T/bare"
	[ "$status" -eq 1 ]
	[[ "$output" == *"bare/config.json: no num_hidden_layers of 8 or more"*": give --layers" ]]
	run json --no-last --layer-ids in --model "$T/bare" --layers 2,4
	[ "$status" -eq 1 ]
	[[ "$output" == *"alone; $T/bare/config.json has no hidden_size" ]]
	stop
	serve_json --fault hs-eagle=1
	rm -r "$T/seed"*
	run json --no-last --layer-ids in
	[ "$status" -eq 1 ]
	[[ "$output" == *"EAGLE, which captures the last layer only"* ]]
}

@test "what is wrong with SGLang's settings is told before anything is sent" {
	cat >"$T/server.py" <<-'END'
	import sys
	from http.server import BaseHTTPRequestHandler, HTTPServer
	class Handler(BaseHTTPRequestHandler):
	    def do_GET(self):
	        body = open(sys.argv[1], "rb").read()
	        self.send_response(200)
	        self.send_header("Content-Length", str(len(body)))
	        self.end_headers()
	        self.wfile.write(body)
	    def log_message(self, *args):
	        pass
	server = HTTPServer(("127.0.0.1", 0), Handler)
	print(server.server_port, flush=True)
	server.serve_forever()
	END
	python3 "$T/server.py" "$T/settings" >"$T/port" 3>&- &
	PID=$!
	until [ -s "$T/port" ]; do sleep 0.02; done
	: >"$T/in"
	# of no records: none is sent
	while IFS=/ read -r settings want sentence; do
		echo "{\"model_path\":\"m\",$settings}" >"$T/settings"
		rm -rf "$T/seed"*
		run e3-extract --backend sglang-json --no-last --layer-ids in --server "http://127.0.0.1:$(cat "$T/port")" \
			--model $MODEL --layout seed --out-dir "$T/seed" -o "$T/seed.idx" "$T/in"
		[ "$status" -eq "$want" ]
		[[ "$output" == *"$sentence"* ]] || { echo "$settings: $output"; false; }
	done <<-'END'
	"speculative_algorithm":"EAGLE"/1/was started with speculative algorithm EAGLE, which captures the last layer only: start it with EAGLE3
	"enable_return_hidden_states":false/1/was started without --enable-return-hidden-states
	"disable_radix_cache":false/0/its prefix cache is on (--disable-radix-cache turns it off)
	"chunked_prefill_size":8192/0/it prefills in chunks of 8192 (--chunked-prefill-size -1 turns that off)
	"speculative_algorithm":"EAGLE3","disable_radix_cache":true,"chunked_prefill_size":-1/0/0 in = 0 out
	END
	[[ "$output" != *"turns "* ]]
}

@test "bad records: rejected, dropped, counted" {
	serve --context 30
	{
		records 2
		echo '{"id":"x","input_ids":[300,301],"loss_mask":[0,0]}'
		echo '{"id":"d/0","input_ids":[300,301],"loss_mask":[0,1]}'
		echo '{"id":"y","input_ids":[],"loss_mask":[]}'
		echo '{"id":"z","input_ids":[1],"loss_mask":[1,1]}'
		echo '{"input_ids":[1],"loss_mask":[1]}'
		echo 'torn {'
		printf '{"id":"l","input_ids":[%s300],"loss_mask":[%s1]}\n' "$(printf '300,%.0s' $(seq 29))" "$(printf '1,%.0s' $(seq 29))"
	} >"$T/in"
	extract seed --rejects "$T/bad" --stats "$T/st" "$T/in"
	[ "$(jq -c '[.in,.out,.rejected,.dropped]' "$T/st")" = '[9,2,6,1]' ]
	[ "$(jq -c .reasons.unsupervised "$T/st")" = 1 ]
	[ "$(jq -r .reject.class "$T/bad" | sort | xargs)" = "duplicate empty json length long missing" ]
}

@test "nothing comes through: a failure; many failures in a row: a stop" {
	serve --fault hs-nan=1
	records 4 >"$T/in"
	run extract seed --rejects "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$T/bad")" -eq 4 ]
	[ ! -e "$T/seed.idx" ]
	stop
	serve --fault hs-nan=1
	records 40 >"$T/in"
	rm -rf "$T/seed"*
	run extract seed --rejects "$T/bad" --concurrency 2 "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"8 records in a row have failed"* ]]
	stop
	# as many, but not in a row
	serve --fault hs-nan=0.25 --seed 1
	rm -rf "$T/seed"*
	records 60 >"$T/in"
	extract seed --rejects "$T/bad" --max-attempts 1 --concurrency 1 "$T/in"
	[ "$(wc -l <"$T/bad")" -ge 8 ]
}

@test "a server that fails now and then, or is away for a while" {
	records 60 20 >"$T/in"
	# which record meets which of them is open: none meets them so often
	serve --fault 500=0.1 --fault reset=0.05 --fault 503=0.1 --fault 429@9:0 --seed 3
	extract seed --max-attempts 12 "$T/in"
	verify seed --records "$T/in"
	stop
	rm -rf "$T/seed"* "$T/hs"/*
	serve --fault refused@10:600
	extract seed --concurrency 2 "$T/in"
	verify seed --records "$T/in"
}

# fast_extract OPTION... - a minute is a second
fast_extract() {
	options seed
	fast 60 e3-extract "${ARGS[@]}" "$@"
}

@test "a server that hangs is let go of while another works, and asked again" {
	# all that it has, and the one that it is asked again with
	serve --fault stall@3-11
	bad=$U other=$PID
	serve --latency 600
	records 200 >"$T/in"
	fast_extract --server "$bad" --max-attempts 1 "$T/in" 2>"$T/err"
	[ "$(wc -l <"$T/seed.idx")" -eq 200 ]
	verify seed --records "$T/in"
	# four times the half minute that an answer takes
	[ "$(grep -c "^e3-extract: $bad: no answer to 8 requests in 1[4-9][0-9] s; waiting for it\$" "$T/err")" -eq 1 ]
	grep -q "^e3-extract: $bad is back\$" "$T/err"
	[ "$(curl -s "$bad/metrics" | sed -n 's/^e3sim:clients_gone_total{.*} //p')" -eq 9 ]
	stop
	PID=$other
}

@test "a run whose only server hangs ends, and can be gone on with" {
	serve --fault stall@5-12
	records 20 >"$T/in"
	run fast_extract "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"e3-extract: $U: no answer to 8 requests in 600 s; away for ten minutes: resume when it is back" ]]
	extract seed --resume "$T/in"
	[ "$(wc -l <"$T/seed.idx")" -eq 20 ]
	verify seed --records "$T/in"
}

@test "servers that hang together end the run after ten minutes" {
	serve --latency 300
	one=$U other=$PID
	serve --latency 300
	records 400 >"$T/in"
	options seed
	fast 60 e3-extract "${ARGS[@]}" --server "$one" "$T/in" 2>"$T/err" 3>&- &
	job=$!
	until [ -s "$T/seed.idx.part" ]; do
		kill -0 $job
		sleep 0.05
	done
	kill -STOP "$PID" "$other"
	SECONDS=0
	ended $job
	kill -9 "$PID"
	PID=$other
	[ "$S" -eq 1 ]
	# ten seconds, and not the next ten in which one is asked again
	[ "$SECONDS" -lt 17 ]
	grep -q '; away for ten minutes: resume when it is back$' "$T/err"
}

@test "an answer that is still coming in after ten minutes is no hang" {
	serve_json --fault trickle@1:1
	records 8 | tail -n 1 >"$T/in"
	SECONDS=0
	fast 60 e3-extract --backend sglang-json --server "$U" --model $MODEL --layout seed --out-dir "$T/seed" --no-last \
		--layer-ids in --min-free 1M -q -o "$T/idx" "$T/in"
	[ "$SECONDS" -ge 11 ]
	[ "$(wc -l <"$T/idx")" -eq 1 ]
}

@test "a run ends when its servers are away for ten minutes, also where one was left out" {
	serve --fault 307@2-1000
	bad=$U other=$PID
	serve --latency 100 --fault refused@20:600000
	records 60 >"$T/in"
	run fast_extract --server "$bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"e3-extract: $bad: nothing more is sent to it: "* ]]
	[[ "$output" == *"e3-extract: $U: "*"; away for ten minutes: resume when it is back" ]]
	stop
	PID=$other
}

@test "never more at once than the server runs, and nobody leaves" {
	serve --slots 3 --latency 5
	records 30 >"$T/in"
	extract seed --concurrency 3 "$T/in"
	curl -s "$U/metrics" >"$T/m"
	grep -q '^e3sim:clients_gone_total{.*} 0$' "$T/m"
	[ "$(grep '^e3sim:running_peak' "$T/m" | sed 's/.* //')" -le 3 ]
}

@test "reads on while records are under way, however few lines a buffer holds" {
	serve --latency 500
	records 9 | awk 'BEGIN { for (x = "x"; length(x) < 300000;) x = x x }
		{ print substr($0, 1, length($0) - 1) ",\"x\":\"" x "\"}" }' >"$T/in"
	extract seed --concurrency 4 "$T/in"
	[ "$(curl -s "$U/metrics" | grep '^e3sim:running_peak' | sed 's/.* //')" -ge 2 ]
	[ "$(wc -l <"$T/seed.idx")" -eq 9 ]
}

@test "a full server is sent fewer at once, and no record pays" {
	serve --slots 2 --max-queued 2 --latency 10
	records 100 >"$T/in"
	extract seed --concurrency 32 --max-attempts 1 "$T/in" 2>"$T/err"
	verify seed --records "$T/in"
	grep -q ': turns requests away, fewer are sent at once: server busy: status 503: The request queue is full\.$' "$T/err"
	stop
	# one that has no place at all is waited for
	rm -rf "$T/seed"*
	records 5 >"$T/in"
	serve --fault 503@2-9
	extract seed --max-attempts 1 --concurrency 8 "$T/in" 2>"$T/err"
	verify seed --records "$T/in"
	grep -q ' is back$' "$T/err"
}

@test "two servers share the work" {
	serve --latency 10
	P1=$PID U1=$U
	serve --latency 10 --seed 1
	records 20 >"$T/in"
	extract seed --server "$U1" "$T/in"
	verify seed --records "$T/in"
	for u in $U $U1; do
		[ "$(curl -s "$u/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" -ge 5 ]
	done
	kill $P1
}

@test "a server that goes wrong in whatever way costs nothing that another one can do" {
	serve --latency 20
	good=$U other=$PID
	records 200 >"$T/in"
	for f in hs-nan hs-short hs-slot-less hs-f32 hs-outside wrong-ids wrong-count html 400 401 307 missing-ids; do
		rm -rf "$T/seed"* "$T/rejects"
		serve --fault $f@2-9999
		bad=$U U=$good
		extract seed --server "$bad" --concurrency 4 --rejects "$T/rejects" "$T/in" 2>"$T/err"
		stop
		[ ! -s "$T/rejects" ]
		verify seed --records "$T/in"
		grep -q "^e3-extract: $bad: .*" "$T/err" || { echo "$f: $(cat "$T/err")"; false; }
	done
	PID=$other
}

@test "states that two servers got wrong are a reject; those of one, where the other is away, too" {
	serve --fault hs-nan=1
	U1=$U other=$PID
	serve --fault hs-nan=1
	records 4 >"$T/in"
	run extract seed --server "$U1" --rejects "$T/rejects" "$T/in"
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$T/rejects")" -eq 4 ]
	for u in $U $U1; do
		[ "$(curl -s "$u/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" -eq 4 ]
	done
	stop
	rm -rf "$T/seed"*
	serve --fault refused@1:60000
	run extract seed --server "$U1" --rejects "$T/rejects" "$T/in"
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$T/rejects")" -eq 4 ]
	[[ "$output" == *"$U: "*"waiting for it"* ]]
	stop
	PID=$other
}

@test "a server that always fails does not take what another one can do" {
	serve --latency 100
	good=$U other=$PID
	records 60 >"$T/in"
	for fault in 404 500; do
		rm -rf "$T/seed"*
		serve --fault $fault=1
		bad=$U U=$good
		extract seed --server "$bad" --rejects "$T/rejects" "$T/in" 2>"$T/err"
		stop
		[ ! -s "$T/rejects" ]
		[ "$(wc -l <"$T/seed.idx")" -eq 60 ]
		grep -q "^e3-extract: $bad: .*: status $fault: .*; waiting for it$" "$T/err"
	done
	PID=$other
}

@test "a wrong key or address is not the records' fault" {
	records 5 >"$T/in"
	for fault in 401=1 status=1:403 404=1; do
		serve --fault $fault
		run extract seed --resume --rejects "$T/rejects" "$T/in"
		stop
		[ "$status" -eq 1 ]
		[[ "$output" == "e3-extract: $U: refused: status 40"* ]]
		[ ! -s "$T/rejects" ]
	done
	# also where it is so only for a while: what was tried too often is tried again
	serve --fault 404@3 --fault 404@4
	extract seed --max-attempts 1 --resume --rejects "$T/rejects" "$T/in"
	[ "$(jq -c '[.reject.class,.reject.permanent]' "$T/rejects" | xargs)" = "[server,null] [server,null]" ]
	extract seed --resume --rejects "$T/rejects" "$T/in"
	[ ! -s "$T/rejects" ]
	[ "$(wc -l <"$T/seed.idx")" -eq 5 ]
}

@test "a server that is given twice counts once" {
	serve --latency 20
	records 12 >"$T/in"
	U=http://localhost:${U##*:}
	extract seed --server "$U/" --server "http://LocalHost:${U##*:}//" --concurrency 2 "$T/in"
	[ "$(curl -s "$U/metrics" | grep '^e3sim:running_peak' | sed 's/.* //')" -le 2 ]
}

@test "dead server, missing files, full output" {
	records 2 >"$T/in"
	U=http://127.0.0.1:9
	run extract seed "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"127.0.0.1:9"* ]]
	serve
	run extract seed "$T/missing"
	[ "$status" -eq 1 ]
	[[ "$output" == *missing* ]]
	rm -rf "$T/seed"*
	run extract seed -o /dev/full "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"/dev/full: No space left on device"* ]]
	# which leaves nothing in the way of the next run
	[ -z "$(find "$T/seed" -type f)" ]
	extract seed "$T/in"
	rm -rf "$T/seed"*
	run extract seed --dump-dir "$T/nowhere" "$T/in"
	[ "$status" -eq 1 ]
	run extract seed --model "$T" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *config.json* ]]
	run e3-extract --backend vllm --server "$U" --dump-dir "$T/hs" --layers 2 --layout seed --out-dir "$T/x" --resume "$T/in"
	[ "$status" -eq 2 ]
	[[ "$output" == *"--resume needs -o"* ]]
}

@test "the server's folder by another way" {
	serve
	records 3 >"$T/in"
	ln -s "$T/hs" "$T/link"
	extract seed --dump-dir "$T/link" "$T/in"
	here=$PWD
	cd "$T"
	e3-extract -q --backend vllm --server "$U" --dump-dir hs/../hs --layers 2,4,5 --layout seed --out-dir c -o c.idx in
	cd "$here"
	[ "$(wc -l <"$T/c.idx")" -eq 3 ]
	[ -z "$(ls -A "$T/hs")" ]
}

@test "the server's folder is not the set's own" {
	serve
	records 3 >"$T/in"
	extract speculators "$T/in"
	cp "$T/speculators.idx" "$T/want"
	run extract speculators --resume --sweep --dump-dir "$T/speculators/hidden_states" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the server needs a folder of its own" ]]
	run extract seed --out-dir "$T/hs/../hs" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the server needs a folder of its own" ]]
	verify speculators
	cmp "$T/want" "$T/speculators.idx"
}

@test "links in the set's folder are replaced, not followed; one in the place of a folder is refused" {
	serve
	records 2 >"$T/in"
	mkdir -p "$T/seed/rows_0-2000" "$T/far"
	echo far >"$T/far/file"
	ln -s ../../far/file "$T/seed/rows_0-2000/data_0.pt"
	ln -s ../../far/none "$T/seed/rows_0-2000/data_1.pt"
	ln -s ../far/file "$T/seed/.new-0.pt"
	ln -s ../far/none "$T/seed/.new-1.pt"
	ln -s ../far/none "$T/seed/manifest.json"
	extract seed "$T/in"
	[ "$(find "$T/seed" ! -type d | sed "s,$T/seed/,," | sort | tr '\n' ' ')" = "manifest.json rows_0-2000/data_0.pt rows_0-2000/data_1.pt " ]
	[ -z "$(find "$T/seed" -type l)" ]
	verify seed
	for to in far none; do
		rm -rf "$T/seed"*
		mkdir "$T/seed"
		ln -s "../$to" "$T/seed/rows_0-2000"
		run extract seed "$T/in"
		[ "$status" -eq 1 ]
		[[ "$output" == *"$T/seed/rows_0-2000: is a symbolic link, which is not followed: remove it" ]]
		[ -z "$(find "$T/seed" -type f ! -name manifest.json)" ]
	done
	[ "$(ls "$T/far")" = file ]
	[ "$(cat "$T/far/file")" = far ]
}

@test "a folder that is replaced during the run is not written into" {
	serve --latency 50
	records 200 >"$T/in"
	mkdir "$T/far"
	options seed
	e3-extract "${ARGS[@]}" --concurrency 2 "$T/in" 2>"$T/err" 3>&- &
	run=$!
	until [ -e "$T/seed/rows_0-2000/data_3.pt" ]; do
		kill -0 $run
		sleep 0.02
	done
	mv "$T/seed" "$T/was"
	ln -s far "$T/seed"
	status=0
	wait $run || status=$?
	[ "$status" -eq 1 ]
	grep -qE "$T/seed(: is not the folder any more that the run began with: bring that back|/rows.*: No such file or directory)$" "$T/err"
	[ -z "$(ls -A "$T/far")" ]
	# brought back, the run goes on
	rm "$T/seed"
	mv "$T/was" "$T/seed"
	extract seed --resume --concurrency 20 "$T/in"
	verify seed --records "$T/in"
}

@test "ids that the model does not have are not sent" {
	serve
	{
		records 1
		echo '{"id":"x","input_ids":[300,99999999],"loss_mask":[0,1]}'
		jq -c '{id: "y", input_ids: [.vocab_size], loss_mask: [1]}' $MODEL/config.json
	} >"$T/in"
	extract seed --rejects "$T/bad" "$T/in"
	[ "$(jq -r .reject.class "$T/bad" | xargs)" = "range range" ]
	grep -q 'input_ids\[1\]: 99999999 is outside the model.s vocabulary of ' "$T/bad"
	[ "$(curl -s "$U/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" -eq 1 ]
}

@test "an existing set is not written over" {
	serve
	records 3 >"$T/in"
	extract seed "$T/in"
	run extract seed "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--resume goes on"* ]]
	run extract seed -o "$T/other" "$T/in"
	[ "$status" -eq 1 ]
}

@test "what a run will take is said: bytes before it, hours when its rate is known" {
	serve --latency 500
	records 300 >"$T/in"
	options seed
	set -- "${ARGS[@]}"
	# all but -q
	ARGS=()
	for a; do [ "$a" = -q ] || ARGS+=("$a"); done
	e3-extract "${ARGS[@]}" --concurrency 2 "$T/in" 2>"$T/err" 3>&- &
	run=$!
	until grep -q hours "$T/err"; do
		kill -0 $run
		sleep 0.05
	done
	kill $run
	wait $run || true
	[[ "$(sed -n 1p "$T/err")" =~ 300\ records,\ [0-9]+\ tokens\ will\ take\ [0-9.]+\ MiB\;\ the\ disk\ has ]]
	grep -qE '^e3-extract: [0-9]+ tokens/s: the rest takes 0\.[0-9] hours$' "$T/err"
}

@test "all that is missing on the command line is told at once" {
	lacks() {
		run e3-extract "${@:2}"
		[ "$status" -eq 2 ]
		[ "${lines[0]}" = "e3-extract: $1" ] || { echo "${lines[0]}"; false; }
	}
	layers="--layers K,... as the server captures them (or --model DIR for the usual three)"
	layout="--layout seed|specforge|modelopt|speculators|compact"
	lacks "extraction needs --backend vllm|sglang-dump|sglang-json, --server URL, --dump-dir DIR (not for sglang-json), $layers, $layout, --out-dir DIR"
	lacks "extraction needs --server URL, --dump-dir DIR, $layers, --out-dir DIR" --backend vllm --layout seed
	lacks "extraction needs --dump-dir DIR" --backend sglang-dump --server http://a --layout seed --out-dir x
	lacks "extraction needs $layers" --backend vllm --server http://a --dump-dir d --layout seed --out-dir x
	lacks "--convert needs $layout, --out-dir DIR" --convert x
}

@test "a file that can't be made is found before a server is asked" {
	records 3 >"$T/in"
	U=http://127.0.0.1:1
	for o in --stats --rejects; do
		run extract seed $o "$T/none/f" "$T/in"
		[ "$status" -eq 1 ]
		[[ "$output" == *"$T/none/f: no file can be made in $T/none: No such file or directory" ]]
	done
	for o in "--stats $T/seed/manifest.json" "-o $T/seed/manifest.json" "--stats $T/seed.idx.part"; do
		mkdir -p "$T/seed"
		# shellcheck disable=SC2086
		run extract seed $o "$T/in"
		[ "$status" -eq 2 ]
		[[ "$output" == *": named for two outputs" ]]
	done
	serve
	options seed
	run e3-extract "${ARGS[@]}" --out-dir /proc "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"/proc/manifest.json: no file can be made in /proc: "* ]]
	[ ! -e "$T/seed.idx.part" ]
	[ -z "$(ls "$T/hs")" ]
}

@test "--min-free stops before the disk is full" {
	serve
	records 3 >"$T/in"
	run extract seed --min-free 4000T "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$T/seed has "*" free, less than --min-free 3.9 PiB: make room, then go on with --resume" ]]
	rm -r "$T/seed"
	run e3-extract --backend vllm --server "$U" --dump-dir "$T/hs" --model $MODEL --min-free 4000T -q \
		--layout seed --out-dir "$T/seed" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *" free, less than --min-free 3.9 PiB: make room" ]]
	[ "$(find "$T/seed" -name '*.pt' | wc -l)" -le 1 ]
	extract seed --resume "$T/in"
	verify seed --records "$T/in"
}

@test "--sweep deletes what others left, once nobody writes it" {
	serve
	records 2 >"$T/in"
	touch "$T/hs/old.safetensors" "$T/hs/old.safetensors.lock" "$T/hs/alone.safetensors.lock" \
		"$T/hs/held.safetensors" "$T/hs/held.safetensors.lock" "$T/hs/foreign.txt"
	flock "$T/hs/held.safetensors.lock" sleep 60 3>&- &
	while flock -n "$T/hs/held.safetensors.lock" true; do
		kill -0 $!
		sleep 0.02
	done
	run extract seed "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 files"*"of no record of this run"* ]]
	[ -e "$T/hs/old.safetensors" ]
	rm -rf "$T/seed"*
	extract seed --sweep "$T/in"
	kill %% 2>/dev/null || true
	[ "$(ls "$T/hs" | xargs)" = "foreign.txt held.safetensors held.safetensors.lock" ]
}

@test "what a killed run's requests leave is gone at the end of the next one, and nothing else" {
	serve --latency 600
	records 12 >"$T/in"
	options seed
	e3-extract "${ARGS[@]}" --concurrency 4 "$T/in" 3>&- &
	run=$!
	# the first record goes alone: then four are under way
	until [ "$(find "$T/hs" -name '*.lock' | wc -l)" -ge 4 ]; do
		kill -0 $run
		sleep 0.02
	done
	kill -9 $run
	wait $run || true
	foreign=cmpl-e3x-0123456789abcdef-01234567-1-1-0-12345678.safetensors
	touch "$T/hs/$foreign"
	run e3-extract "${ARGS[@]/#-q/--no-progress}" --resume --concurrency 4 "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" == *"of this set's requests that nobody waited for: deleted"* ]]
	verify seed --records "$T/in"
	[ "$(ls -A "$T/hs")" = "$foreign" ]
}

@test "shards that share a dump directory leave each other's files alone" {
	serve --latency 30
	records 40 >"$T/in"
	shards=
	for i in 0 1; do
		options seed
		e3-extract "${ARGS[@]}" --concurrency 4 --shard $i/2 --out-dir "$T/s$i" -o "$T/s$i.idx" "$T/in" 3>&- &
		shards="$shards $!"
	done
	# runs that begin and end meanwhile
	for n in $(seq 6); do
		e3-extract "${ARGS[@]}" --out-dir "$T/x$n" -o "$T/x$n.idx" --shard $n/20 "$T/in"
	done
	for p in $shards; do
		wait $p
	done
	cat "$T/s0.idx" "$T/s1.idx" | jq -r .id | sort >"$T/got"
	jq -r .id "$T/in" | sort | cmp - "$T/got"
	[ -z "$(ls -A "$T/hs")" ]
	# none was sent twice
	[ "$(curl -s "$U/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" = \
		"$(cat "$T"/s?.idx "$T"/x?.idx | wc -l)" ]
}

@test "a retried request's first file is gone at the end, on either backend" {
	records 12 >"$T/in"
	serve --fault reset-body@5 --fault half-body@7
	extract seed "$T/in"
	[ -z "$(ls -A "$T/hs")" ]
	rm -rf "$T/seed"*
	stop
	serve --fault reset-body@5 --fault half-body@7
	extract seed --backend sglang-dump "$T/in"
	[ -z "$(ls -A "$T/hs")" ]
}

@test "--apply-norm is RMSNorm with the model's weight" {
	serve
	records 3 >"$T/in"
	extract modelopt --apply-norm "$T/in"
	verify modelopt
	# from a set that was captured before the norm the same files can be made
	rm -rf "$T/speculators"*
	extract speculators "$T/in"
	e3-extract -q --convert "$T/speculators" --records "$T/in" --layout modelopt --apply-norm --model $MODEL \
		--out-dir "$T/made" -o "$T/made.idx" "$T/speculators.idx"
	cmp "$T/made.idx" "$T/modelopt.idx"
}

@test "a norm that is said wrong is suspected" {
	records 30 60 >"$T/in"
	serve --norm after
	run extract seed --backend sglang-dump "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" != *"last state"* ]]
	stop
	serve
	rm -rf "$T/seed"*
	run extract seed "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" != *"last state"* ]]
	rm -rf "$T/seed"*
	run extract seed --norm after "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" == *"as before the final norm: is it really after?"* ]]
}
