#!/usr/bin/env bats
# e3-extract killed at random moments, and on a disk that fills up. E3_KILLS: how many kills (12).

load ../cli/extract
load each

@test "kill -9 at any moment: every record once, no orphan" {
	tests/fault/extract-chaos "${E3_KILLS:-12}" $RANDOM
}

# room SIZE - the dump directory becomes a tmpfs of that size
room() {
	mount -t tmpfs -o size=$1 tmpfs "$T/hs" 2>/dev/null || skip "may not mount a tmpfs"
}

teardown() {
	[ -z "$PID" ] || stop
	umount "$T/hs" 2>/dev/null || true
}

@test "no more is sent than the dump directory holds, also when files come after the reply" {
	room 128k
	# 40 records of 30 KB each, eight at once: four fit
	serve --hidden-size 64 --fault hs-late=1:60
	awk 'BEGIN { for (i = 0; i < 40; i++) { printf "{\"id\":\"d/%d\",\"input_ids\":[%d", i, 300 + i
		for (t = 1; t < 58; t++) printf ",%d", 400 + (i * 7 + t) % 900
		printf "],\"loss_mask\":[1"; for (t = 1; t < 58; t++) printf ",1"
		print "],\"seq_len\":58}" } }' >"$T/in"
	extract seed --max-attempts 1 "$T/in"
	verify seed --records "$T/in"
	[ "$(wc -l <"$T/seed.idx")" -eq 40 ]
	[ ! -s "$T/sim.err" ]
	[ "$(curl -s "$U/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" -eq 40 ]
}

@test "a dump directory that others filled stops the run clean" {
	room 256k
	serve
	records 40 60 >"$T/in"
	head -c 250000 /dev/zero >"$T/hs/foreign"
	run extract seed "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$T/hs has "*"make room, then go on with --resume"* ]]
	rm "$T/hs/foreign"
	extract seed --resume "$T/in"
	verify seed --records "$T/in"
}

@test "a dump directory that this set's own forgotten files filled is made free" {
	room 128k
	serve --hidden-size 64 --latency 600000
	records 30 40 >"$T/in"
	options seed
	e3-extract "${ARGS[@]}" --concurrency 1 "$T/in" 3>&- &
	run=$!
	until lock=$(ls "$T/hs" | grep lock); do
		kill -0 $run
		sleep 0.01
	done
	# a file that a lost request of this run would have left, as far as there is room
	head -c 110000 /dev/zero >"$T/hs/$(sed 's/-0-.*/-0-aaaaaaaa.safetensors/' <<<"${lock%%$'\n'*}")" || true
	stop
	serve --hidden-size 64 --port "${U##*:}"
	wait $run
	verify seed --records "$T/in"
	[ -z "$(ls -A "$T/hs")" ]
}

@test "a full disk stops clean and is resumed after room is made" {
	mkdir "$T/small"
	mount -t tmpfs -o size=600k tmpfs "$T/small" 2>/dev/null || skip "may not mount a tmpfs"
	serve
	records 60 60 >"$T/in"
	options seed
	run e3-extract "${ARGS[@]}" --out-dir "$T/small/set" --min-free 0 "$T/in"
	umount_later() { umount "$T/small"; }
	[ "$status" -eq 1 ] || { umount_later; false; }
	[[ "$output" == *"make room"* ]] || [[ "$output" == *"No space"* ]] || { umount_later; false; }
	[ -e "$T/seed.idx.part" ]
	mount -o remount,size=10M "$T/small"
	e3-extract "${ARGS[@]}" --out-dir "$T/small/set" --min-free 0 --resume "$T/in"
	e3-extract -q --verify "$T/small/set" --records "$T/in" "$T/seed.idx"
	[ "$(wc -l <"$T/seed.idx")" -eq 60 ]
	[ -z "$(ls -A "$T/hs")" ]
	umount_later
}

@test "a page that can't be read is a bad file, and no signal" {
	room 3M
	serve --hidden-size 2048
	awk 'BEGIN { printf "{\"id\":\"a\",\"input_ids\":[7"; for (i = 0; i < 19; i++) printf ",%d", i + 9
		printf "],\"loss_mask\":[0"; for (i = 0; i < 19; i++) printf ",1"; print "],\"seq_len\":20}" }' >"$T/in"
	e3-extract -q --backend vllm --server "$U" --dump-dir "$T/hs" --layers 2,4,5 --min-free 1M --layout seed \
		--out-dir "$T/hs/set" -o "$T/seed.idx" "$T/in"
	# a hole that a full tmpfs can't fill is a page that fails, as a bad sector is
	fallocate --punch-hole --offset 40960 --length 200000 "$T/hs/set/rows_0-2000/data_0.pt"
	head -c 4M /dev/zero >"$T/hs/fill" || true
	run e3-extract -q --verify "$T/hs/set" "$T/seed.idx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"data_0.pt: not all of it can be read"* ]]
	# --resume does not look there; but at the ids
	resume() {
		e3-extract -q --backend vllm --server "$U" --dump-dir "$T/hs" --layers 2,4,5 --min-free 0 --layout seed \
			--out-dir "$T/hs/set" -o "$T/seed.idx" --resume "$T/in"
	}
	truncate -s -16384 "$T/hs/fill" # for the manifest
	resume
	rm "$T/hs/fill"
	fallocate --punch-hole --offset 0 --length 4096 "$T/hs/set/rows_0-2000/data_0.pt"
	head -c 4M /dev/zero >"$T/hs/fill" || true
	run resume
	[ "$status" -eq 1 ]
	[[ "$output" == *"data_0.pt: not all of it can be read"* ]]
}

@test "an index that can't have its first line leaves nothing in the way" {
	room 40k
	mkdir "$T/srv"
	e3-sim --model $MODEL --port 0 --dump-dir "$T/srv" >"$T/port" 2>/dev/null 3>&- &
	PID=$!
	until [ -s "$T/port" ]; do sleep 0.02; done
	U=http://127.0.0.1:$(head -n 1 "$T/port")
	records 20 >"$T/in"
	options seed
	head -c 40k /dev/zero >"$T/hs/fill" || true
	run e3-extract "${ARGS[@]}" --dump-dir "$T/srv" -o "$T/hs/idx" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"idx.part: No space left on device"* ]]
	[ -z "$(find "$T/seed" -type f)" ]
	[ "$(ls "$T/hs")" = fill ]
	rm "$T/hs/fill"
	e3-extract "${ARGS[@]}" --dump-dir "$T/srv" -o "$T/hs/idx" --resume "$T/in"
	e3-extract -q --verify "$T/seed" --records "$T/in" "$T/hs/idx"
}

@test "rejects in the set's folder are not taken for what a run left, without unnamed files either" {
	build_fault
	export ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-}
	serve
	options seed
	mkdir "$T/seed"
	for n in 3 6; do
		records $n >"$T/in"
		echo '{"id":"bad"}' >>"$T/in"
		E3_FAULT=tmpfile LD_PRELOAD=$FAULT e3-extract "${ARGS[@]}" --resume \
			--rejects "$T/seed/rejects" "$T/in" 2>"$T/err"
		[ ! -s "$T/err" ]
		[ "$(jq -r .id "$T/seed/rejects")" = bad ]
	done
	verify seed --records "$T/in"
	[ -z "$(find "$T/seed" -name '.*')" ]
}
