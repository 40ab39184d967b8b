#!/usr/bin/env bats
# e3-extract on finished sets: --verify, --convert; and --resume.

load extract
load long

# damage LAYOUT FILE OFFSET BYTE - changes one byte of a file
damage() {
	printf "\\x$4" | dd of="$T/$1/$2" bs=1 seek="$3" conv=notrunc status=none
}

# other_model - a folder like MODEL of another hidden size
other_model() {
	mkdir "$T/model"
	jq '.hidden_size = 32' $MODEL/config.json >"$T/model/config.json"
	echo "$T/model"
}

# norm_model TYPE WIDTH [WEIGHT] - a folder of a model with WIDTH weights of F32 in its final norm, all WEIGHT
norm_model() {
	rm -rf "$T/norm"
	mkdir "$T/norm"
	python3 - "$T/norm" "$1" "$2" "${3:-1}" <<-'END'
	import json, struct, sys
	folder, kind, n, w = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
	json.dump({"model_type": kind, "rms_norm_eps": 1e-6}, open(folder + "/config.json", "w"))
	head = json.dumps({"model.norm.weight": {"dtype": "F32", "shape": [n], "data_offsets": [0, 4 * n]}}).encode()
	open(folder + "/model.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack(f"<{n}f", *[w] * n))
	END
	echo "$T/norm"
}

@test "--convert: every layout to every other and back is the same set" {
	serve
	records 12 >"$T/in"
	for l in seed speculators modelopt compact; do extract $l "$T/in"; done
	for from in seed speculators modelopt compact; do
		for to in seed speculators modelopt compact; do
			rm -rf "$T/c" "$T/c.idx"
			e3-extract -q --convert "$T/$from" --layout $to --records "$T/in" --out-dir "$T/c" -o "$T/c.idx" "$T/$from.idx"
			cmp "$T/c.idx" "$T/$to.idx" || { echo "$from to $to"; false; }
			diff -r "$T/c" "$T/$to"
		done
	done
}

@test "compact: verified, damaged, and its masks are its own" {
	serve
	records 9 30 >"$T/in"
	extract compact "$T/in"
	extract seed "$T/in"
	[ "$(jq -r .file "$T/compact.idx" | tail -n 1)" = rows_0-2000/data_8.e3c ]
	verify compact --records "$T/in"
	e3-extract -q --convert "$T/compact" --layout seed --out-dir "$T/c" -o "$T/c.idx" "$T/compact.idx"
	diff -r "$T/c" "$T/seed"
	# each sum of the format on its own: the index says what the damaged file's hash is
	f=rows_0-2000/data_4.e3c
	cp "$T/compact/$f" "$T/whole"
	for at in 60 500 -20; do
		cp "$T/whole" "$T/compact/$f"
		[ $at -ge 0 ] || at=$(($(stat -c %s "$T/whole") + at))
		damage compact $f $at ee
		h=$(xxhsum -H64 "$T/compact/$f" | cut -d' ' -f1)
		sed "5s/\"xxh64\":\"[0-9a-f]*\"/\"xxh64\":\"$h\"/" "$T/compact.idx" >"$T/i"
		e3-extract -q --verify "$T/compact" "$T/i" >"$T/bad" 2>/dev/null || true
		[ "$(jq -r .id "$T/bad")" = d/4 ]
		grep -qE '"class":"(checksum|format)"' "$T/bad"
		run e3-extract -q --convert "$T/compact" --layout seed --out-dir "$T/d" -o "$T/d.idx" "$T/i"
		[ "$status" -eq 1 ]
		[[ "$output" == *"i:5: "*"data_4.e3c: "* ]]
	done
	# without masks it can be written, and read with --records
	extract speculators "$T/in"
	rm -rf "$T/c" "$T/c.idx"
	run e3-extract --convert "$T/speculators" --layout compact --out-dir "$T/c" -o "$T/c.idx" "$T/speculators.idx"
	[ "$status" -eq 0 ]
	# the sizes are those of the files
	share=$(jq -n --slurpfile c "$T/c.idx" --slurpfile s "$T/speculators.idx" -r '[$c, $s] | map(map(.bytes) | add) | @tsv' |
		awk '{printf "%.1f", 100 * $1 / $2}')
	[[ "$output" == *" files, "*" from "*" ($share %) in "* ]]
	run e3-extract -q --convert "$T/c" --layout seed --out-dir "$T/d" -o "$T/d.idx" "$T/c.idx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"give --records"* ]]
	e3-extract -q --convert "$T/c" --layout seed --records "$T/in" --out-dir "$T/e" -o "$T/e.idx" "$T/c.idx"
	diff -r "$T/e" "$T/seed"
}

@test "--dtype: there and back through a wider type is the same set, a narrower one refuses what it lacks" {
	serve
	records 4 30 >"$T/in"
	extract compact "$T/in"
	conv() {
		rm -rf "$T/$2" "$T/$2.idx"
		e3-extract -q --convert "$T/$1" --layout $3 --dtype $4 --out-dir "$T/$2" -o "$T/$2.idx" "$T/$1.idx"
	}
	conv compact wide seed f32
	[ "$(jq -r .dtype "$T/wide/manifest.json")" = f32 ]
	verify wide --records "$T/in"
	conv wide back compact bf16
	diff -r "$T/compact" "$T/back"
	# during extraction, too; another run's type is another set
	extract seed --dtype f32 "$T/in"
	diff -r "$T/seed" "$T/wide"
	records 6 30 >"$T/more"
	run extract seed --resume "$T/more"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the set holds f32, this run would write bf16" ]]
}

@test "--convert: what it refuses" {
	serve
	records 3 >"$T/in"
	extract speculators "$T/in"
	conv() {
		run e3-extract -q --convert "$T/speculators" --out-dir "$T/c" -o "$T/c.idx" "$@" "$T/speculators.idx"
		[ "$status" -eq 1 ]
		[ ! -e "$T/c.idx" ]
	}
	conv --layout seed
	[[ "$output" == *"--records"* ]]
	conv --layout specforge --records "$T/in"
	[[ "$output" == *"--apply-norm"* ]]
	head -n 2 "$T/in" >"$T/two"
	conv --layout seed --records "$T/two"
	[[ "$output" == *"speculators.idx:3: "*"no record of this id"* ]]
	[ -z "$(ls -A "$T/c" | grep new)" ]
	mkdir -p "$T/c"
	cp "$T/speculators/manifest.json" "$T/c"
	conv --layout seed --records "$T/in"
	[[ "$output" == *"holds a set already"* ]]
}

# convert_normed MODEL: refuses the set of $T/speculators, and leaves no file
convert_normed() {
	rm -rf "$T/c" "$T/c.idx"
	run e3-extract -q --convert "$T/speculators" --layout specforge --records "$T/in" --apply-norm \
		--model "$1" --out-dir "$T/c" -o "$T/c.idx" "$T/speculators.idx"
	[ "$status" -eq 1 ]
	[ -z "$(find "$T/c" -type f 2>/dev/null)" ]
}

@test "--convert: states of another width than the norm's or the set's" {
	serve
	records 3 >"$T/in"
	extract speculators "$T/in"
	hidden=$(jq .hidden_size $MODEL/config.json)
	convert_normed "$(norm_model llama $((hidden / 2)))"
	[[ "$output" == *"the norm of --model has $((hidden / 2)) weights, the states are $hidden wide" ]]
	# a manifest that is another set's, by whose width the norm fits
	m=$T/speculators/manifest.json
	cp "$m" "$T/m"
	jq -c ".hidden_size = $((hidden / 2))" "$T/m" >"$m"
	convert_normed "$T/norm"
	[[ "$output" == *"speculators.idx:1: "*" of hidden size $hidden, the set is "*" of $((hidden / 2))"* ]]
	jq -c '.dtype = "f16"' "$T/m" >"$m"
	convert_normed "$(norm_model llama "$hidden")"
	[[ "$output" == *" of hidden size $hidden, the set is f16 of $hidden"* ]]
}

@test "--convert makes no good file of a damaged one" {
	serve
	records 4 >"$T/in"
	for l in seed speculators compact; do
		extract $l "$T/in"
		f=$(sed -n 3p "$T/$l.idx" | jq -r .file)
		damage $l "$f" $(($(stat -c %s "$T/$l/$f") / 2)) 11
		run verify $l
		[ "$status" -eq 1 ]
		rm -rf "$T/c" "$T/c.idx"
		e3-extract -q --convert "$T/$l" --layout modelopt --records "$T/in" --out-dir "$T/c" -o "$T/c.idx" \
			--rejects "$T/bad" "$T/$l.idx"
		[ "$(jq -c '[.id,.reject.class]' "$T/bad")" = '["d/2","checksum"]' ]
		[ "$(wc -l <"$T/c.idx")" -eq 3 ]
	done
	grep -q 'data_2.e3c: ' "$T/bad"
}

@test "--apply-norm: weights that are no numbers, and what they make too large, come into no file" {
	serve
	records 3 >"$T/in"
	extract speculators "$T/in"
	hidden=$(jq .hidden_size $MODEL/config.json)
	convert_normed "$(norm_model llama "$hidden" nan)"
	[[ "$output" == *"/norm/model.safetensors: model.norm.weight[0]: NaN or Inf" ]]
	convert_normed "$(norm_model llama "$hidden" 3e38)"
	[[ "$output" == *"speculators.idx:1: "*"last layer (slot "*": NaN or Inf"* ]]
}

@test "--verify finds every kind of damage, and prints those lines" {
	serve
	records 9 30 >"$T/in"
	extract seed "$T/in"
	f() { echo "rows_0-2000/data_$1.pt"; }
	damage seed "$(f 1)" 3000 ff               # a value
	truncate -s -10 "$T/seed/$(f 2)"
	rm "$T/seed/$(f 3)"
	cp "$T/seed/$(f 5)" "$T/seed/$(f 4)"       # another record's file
	: >"$T/seed/$(f 6)"
	run verify seed --records "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"5 of 9 files are not good"* ]]
	e3-extract -q --verify "$T/seed" --records "$T/in" "$T/seed.idx" >"$T/bad" || true
	[ "$(jq -r .id "$T/bad" | xargs)" = "d/1 d/2 d/3 d/4 d/6" ]
	[ "$(jq -r .verify.class "$T/bad" | xargs)" = "checksum truncated system size truncated" ]
	e3-extract -q -j8 --verify "$T/seed" --records "$T/in" "$T/seed.idx" >"$T/bad8" || true
	cmp "$T/bad" "$T/bad8"
	# the bad ones are no index of the set, and no output replaces the masks
	cp "$T/seed.idx" "$T/was"
	run e3-extract --verify "$T/seed" -o "$T/seed.idx" "$T/seed.idx"
	[ "$status" -eq 2 ]
	[[ "$output" == *"seed.idx: is an input too; it would be lost"* ]]
	run e3-extract --verify "$T/seed" --records "$T/in" --stats "$T/in" "$T/seed.idx"
	[ "$status" -eq 2 ]
	[[ "$output" == *"in: is an input too; it would be lost"* ]]
	cmp "$T/was" "$T/seed.idx"
}

@test "--verify and --convert refuse what they would pass over" {
	for o in "--backend vllm" "--server http://a" "--dump-dir d" "--server-dump-dir d" "--layers 2" "--layer-ids in" \
		--resume "--redo f" --retry-rejects --sweep; do
		for set in --verify --convert; do
			# shellcheck disable=SC2086
			run e3-extract $set "$T" $o
			[ "$status" -eq 2 ]
			[ "${lines[0]}" = "e3-extract: ${o% *} is not for $set" ]
		done
	done
	for o in --no-last "--norm after" "--apply-norm --model m" "--layout seed" "--dtype f32" "--out-dir o" "--keep a"; do
		# shellcheck disable=SC2086
		run e3-extract --verify "$T" $o
		[ "$status" -eq 2 ]
		[ "${lines[0]}" = "e3-extract: ${o%% *} is not for --verify" ]
	done
}

@test "--verify: files that belong to other records" {
	serve
	records 4 >"$T/in"
	extract seed "$T/in"
	sed 's/"input_ids":\[[0-9]*/"input_ids":[1/' "$T/in" >"$T/other"
	run verify seed --records "$T/other"
	[ "$status" -eq 1 ]
	[[ "$output" == *"other ids than the record"* ]]
	sed 's/"loss_mask":\[0/"loss_mask":[1/' "$T/in" >"$T/other"
	run verify seed --records "$T/other"
	[ "$status" -eq 1 ]
	[[ "$output" == *"loss_mask[0]"* ]]
	head -n 3 "$T/in" >"$T/other"
	run verify seed --records "$T/other"
	[ "$status" -eq 1 ]
}

@test "--records: what extraction rejected or dropped is passed over, what has no line is told" {
	serve
	{
		records 4
		echo '{"id":"d/1","input_ids":[300],"loss_mask":[1]}'
		echo '{"id":"u","input_ids":[300],"loss_mask":[0]}'
		echo 'torn {'
	} >"$T/in"
	extract seed --rejects "$T/rej" "$T/in"
	run e3-extract --verify "$T/seed" --records "$T/in" "$T/seed.idx"
	[ "$status" -eq 0 ]
	[[ "$output" != *"no line"* ]]
	sed 2d "$T/seed.idx" >"$T/less"
	run e3-extract --verify "$T/seed" --records "$T/in" "$T/less"
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 of the 7 records of $T/in have no line in the index"* ]]
	e3-extract -q --convert "$T/seed" --layout compact --records "$T/in" --out-dir "$T/c" -o "$T/c.idx" "$T/seed.idx"
	run e3-extract --verify "$T/seed" --records "$T/seed.idx" "$T/seed.idx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"seed.idx:1: input_ids: missing" ]]
}

@test "--verify: values are looked at, not only checksums" {
	serve
	records 3 30 >"$T/in"
	extract seed "$T/in"
	# a NaN whose archive, size and hash are made to fit: only the values tell
	python3 - "$T/seed" "$T/seed.idx" <<-'END'
	import json, struct, sys, zlib
	folder, index = sys.argv[1:]
	lines = [json.loads(l) for l in open(index)]
	path = folder + "/" + lines[1]["file"]
	b = bytearray(open(path, "rb").read())
	at = b.find(b"archive/data/2")
	extra = struct.unpack_from("<H", b, at - 2)[0]
	start = at + 14 + extra
	cd = b.rfind(b"archive/data/2") - 46
	crc, size = struct.unpack_from("<I", b, cd + 16)[0], struct.unpack_from("<I", b, cd + 24)[0]
	b[start:start + 2] = b"\xc0\x7f"
	new = struct.pack("<I", zlib.crc32(b[start:start + size]))
	b[cd + 16:cd + 20] = new
	b[start + size + 4:start + size + 8] = new
	open(path, "wb").write(b)
	END
	h=$(xxhsum -H64 "$T/seed/rows_0-2000/data_1.pt" | cut -d' ' -f1)
	sed -i "2s/\"xxh64\":\"[0-9a-f]*\"/\"xxh64\":\"$h\"/" "$T/seed.idx"
	run verify seed
	[ "$status" -eq 1 ]
	[[ "$output" == *'"class":"nonfinite"'* ]]
}

@test "--verify: index lines that are none, no manifest" {
	serve
	records 2 >"$T/in"
	extract seed "$T/in"
	echo '{"id":"x","file":"../x","seq_len":1,"bytes":1,"xxh64":"0000000000000000"}' >"$T/i"
	run e3-extract --verify "$T/seed" "$T/i"
	[ "$status" -eq 1 ]
	[[ "$output" == *"not a path inside"* ]]
	run e3-extract --verify "$T" "$T/seed.idx"
	[ "$status" -eq 1 ]
	[[ "$output" == *manifest.json* ]]
}

@test "--verify, --convert: an index with nothing in it is an error, one that lacks lines is told" {
	serve
	records 4 >"$T/in"
	extract seed "$T/in"
	run e3-extract --verify "$T/seed" </dev/null
	[ "$status" -eq 1 ]
	[ "$output" = "e3-extract: 4 of the 4 files of $T/seed have no line in the index
e3-extract: 0 in = 0 out
e3-extract: no file was checked: the index has no record" ]
	run e3-extract -q --verify "$T/seed" --rejects "$T/rej" "$T/in"
	[ "$status" -eq 1 ]
	[ "$output" = "e3-extract: no file was checked: the index has no good record" ]
	run e3-extract --verify "$T/seed" --records "$T/in" </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"4 of the 4 records of $T/in have no line in the index"* ]]
	head -n 3 "$T/seed.idx" >"$T/less"
	run e3-extract --verify "$T/seed" "$T/less"
	[ "$status" -eq 0 ]
	[ "$output" = "e3-extract: 1 of the 4 files of $T/seed have no line in the index
e3-extract: 3 in = 0 out + 3 dropped (found good 3)
e3-extract: $T/seed: all 3 files of the index are good" ]
	run e3-extract --verify "$T/seed" "$T/seed.idx"
	[ "$output" = "e3-extract: 4 in = 0 out + 4 dropped (found good 4)
e3-extract: $T/seed: all 4 files of the index are good" ]
	run e3-extract --convert "$T/seed" --layout compact --out-dir "$T/c" -o "$T/c.idx" </dev/null
	[ "$status" -eq 1 ]
	[ "$output" = "e3-extract: no file was converted: the index has no record" ]
	[ ! -e "$T/c/manifest.json" ]
	[ ! -e "$T/c.idx" ]
}

@test "--resume starts, goes on, and finds all done" {
	serve
	records 20 >"$T/in"
	head -n 7 "$T/in" >"$T/first"
	extract seed --resume "$T/first"
	extract seed --resume --stats "$T/st" "$T/in"
	[ "$(jq -c '[.in,.out,.resumed]' "$T/st")" = '[20,13,7]' ]
	touch -d '1 hour ago' "$T/seed.idx"
	extract seed --resume --stats "$T/st" "$T/in"
	[ "$(jq -c '[.in,.out,.resumed]' "$T/st")" = '[20,0,20]' ]
	[ "$T/seed.idx" -nt "$T/in" ] # or make would start it again for ever
	verify seed --records "$T/in"
	[ "$(jq -r .id "$T/seed.idx" | sort | uniq -d)" = "" ]
	[ "$(jq -r .records "$T/seed/manifest.json")" = 20 ]
}

@test "--resume asks the servers when the first record is to be sent, and not before" {
	serve
	records 5 >"$T/in"
	echo '{"id":"empty","input_ids":[1],"loss_mask":[0]}' >>"$T/in"
	extract seed "$T/in"
	stop
	touch -d '1 hour ago' "$T/seed.idx"
	extract seed --resume "$T/in" # nothing is: this one has no supervised token
	[ "$T/seed.idx" -nt "$T/in" ]
	records 6 >"$T/in"
	run extract seed --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == "e3-extract: $U/v1/models: "* ]]
	[ "$(wc -l <"$T/seed.idx")" -eq 5 ]
	[ ! -e "$T/seed.idx.part" ]
	# a set of which there is nothing yet is not begun
	run extract compact --resume "$T/in"
	[ "$status" -eq 1 ]
	[ -z "$(find "$T/compact"* -type f)" ]
}

@test "--resume: other settings are refused, whether or not there is anything left to send" {
	serve
	records 5 >"$T/in"
	records 6 >"$T/more"
	extract modelopt "$T/in"
	for in in in more; do
		for no in "--no-last --layout seed:the set has layout modelopt, this run seed" \
			"--layers 2,4,6:the set has layers 2,4,5 (in), this run 2,4,6 (in)" \
			"--layers 1,3,4 --layer-ids out --backend sglang-dump:the set has layers 2,4,5 (in), this run 1,3,4 (out)" \
			"--norm after:the set has its last state before, this run after" \
			"--apply-norm:the set has its last state before, this run after" \
			"--dtype f32:the set holds bf16, this run would write f32"; do
			# shellcheck disable=SC2086
			run extract modelopt --resume ${no%%:*} "$T/$in"
			[ "$status" -eq 1 ]
			[[ "$output" == *"${no#*:}" ]] || { echo "$no: $output"; false; }
		done
	done
	stop
	serve --hidden-size 32
	run extract modelopt --resume "$T/more"
	[ "$status" -eq 1 ]
	[[ "$output" == *"128 values a token are not 4 layers of 64" ]]
	run extract modelopt --resume --model "$(other_model)" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the set is of hidden size 64, this run of 32" ]]
	stop
	serve
	extract modelopt --resume --dtype bf16 --layers 2,4,5 --layer-ids in --norm before "$T/more"
	verify modelopt --records "$T/more"
}

@test "--resume: other ids, a folder that is gone" {
	serve
	records 5 >"$T/in"
	extract seed "$T/in"
	sed 's/"input_ids":\[300/"input_ids":[301/' "$T/in" >"$T/changed"
	run extract seed --resume "$T/changed"
	[ "$status" -eq 1 ]
	[[ "$output" == *"the input has changed since"* ]]
	rm -r "$T/seed"
	run extract seed --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no manifest: was another --out-dir meant?" ]]
}

@test "--redo: what --verify lists is made again, and nothing else" {
	serve
	records 9 30 >"$T/in"
	for i in seed.idx seed.idx.zst; do
		rm -rf "$T/seed"
		extract seed -o "$T/$i" "$T/in"
		e3-extract -q --verify "$T/seed" -o "$T/bad" "$T/$i"
		damage seed rows_0-2000/data_3.pt 2500 7f
		truncate -s -1 "$T/seed/rows_0-2000/data_5.pt"
		rm "$T/seed/rows_0-2000/data_0.pt"
		touch -d '1 hour ago' "$T"/seed/rows_0-2000/*
		run extract seed -o "$T/$i" --resume "$T/in"
		[ "$status" -eq 1 ]
		[[ "$output" == *"2 of 9 files of the index are not there, or have another size than their line says, such as $T/seed/rows_0-2000/data_0.pt: --verify lists what is damaged, and --redo LIST makes it again" ]]
		run e3-extract -q --verify "$T/seed" -o "$T/bad" "$T/$i"
		[ "$status" -eq 1 ]
		# a list may hold more than what is bad
		if [ $i = seed.idx ]; then tail -n 1 "$T/$i"; else zstdcat "$T/$i" | tail -n 1; fi >>"$T/bad"
		run extract seed -o "$T/$i" --resume --redo "$T/bad" "$T/in"
		[ "$status" -eq 0 ]
		[[ "$output" == *"$T/bad: 3 of 4 files are not good and are made again"* ]]
		[ "$(find "$T/seed" -name '*.pt' -mmin -30 | wc -l)" -eq 3 ]
		e3-extract -q --verify "$T/seed" --records "$T/in" "$T/$i"
		[ "$(e3-extract --verify "$T/seed" "$T/$i" 2>&1 | grep -c '9 in')" -eq 1 ]
		# the same again finds nothing to do
		cp "$T/$i" "$T/before"
		run extract seed -o "$T/$i" --resume --redo "$T/bad" "$T/in"
		[ "$status" -eq 0 ]
		[[ "$output" == *"0 of 4 files are not good"* ]]
		cmp "$T/before" "$T/$i"
	done
	run extract seed --redo "$T/bad" "$T/in"
	[ "$status" -eq 2 ]
	run extract seed --resume --redo "$T/in" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"in:1: file: missing" ]]
	cmp "$T/before" "$T/seed.idx.zst"
}

@test "--redo gives up no file before the servers are there" {
	serve
	records 5 >"$T/in"
	extract speculators "$T/in"
	rm "$T/speculators/hidden_states/hs_1.safetensors"
	run verify speculators -o "$T/bad"
	[ "$status" -eq 1 ]
	stop
	find "$T/speculators" -type f | sort >"$T/was"
	run extract speculators --resume --redo "$T/bad" "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == "e3-extract: $U/v1/models: "* ]]
	find "$T/speculators" -type f | sort | cmp - "$T/was"
	[ "$(wc -l <"$T/speculators.idx")" -eq 5 ]
	[ ! -e "$T/speculators.idx.part" ]
}

@test "--redo: speculators' numbers stay those of the lines" {
	serve
	records 6 >"$T/in"
	extract speculators "$T/in"
	cp "$T/speculators.idx" "$T/want"
	rm "$T/speculators/hidden_states/hs_2.safetensors"
	e3-extract -q --verify "$T/speculators" -o "$T/bad" "$T/speculators.idx" 2>/dev/null || true
	run extract speculators --resume --redo "$T/bad" "$T/in"
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 of 1 files are not good and are made again, with the 3 behind them in the index"* ]]
	cmp "$T/want" "$T/speculators.idx"
	verify speculators --records "$T/in"
}

@test "--redo: killed before its records are made again, the index is none that was finished" {
	serve
	records 6 >"$T/in"
	extract seed "$T/in"
	: >"$T/seed/rows_0-2000/data_1.pt"
	e3-extract -q --verify "$T/seed" -o "$T/bad" "$T/seed.idx" 2>/dev/null || true
	stop
	serve --fault 500=1
	run extract seed --resume --redo "$T/bad" --max-attempts 1 "$T/in"
	[ "$status" -eq 1 ]
	[ ! -e "$T/seed.idx" ]
	[ "$(wc -l <"$T/seed.idx.part")" -eq 5 ]
	stop
	serve
	extract seed --resume --redo "$T/bad" "$T/in"
	verify seed --records "$T/in"
	[ "$(wc -l <"$T/seed.idx")" -eq 6 ]
}

@test "--resume: an output that is something else stays as it is" {
	serve
	records 3 >"$T/in"
	cp "$T/in" "$T/other"
	run extract seed -o "$T/other" --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"other:1: file: missing"* ]]
	cmp "$T/in" "$T/other"
	[ ! -e "$T/other.part" ]
	cp "$T/in" "$T/other.part"
	rm "$T/other"
	run extract seed -o "$T/other" --resume "$T/in"
	[ "$status" -eq 1 ]
	cmp "$T/in" "$T/other.part"
}

@test "--resume: another input is refused before it writes over a file that has its line" {
	serve
	records 8 >"$T/in"
	extract seed "$T/in"
	sum=$(cat "$T"/seed/rows_0-2000/*.pt | sha256sum)
	(records 10 | tail -n 2; cat "$T/in") >"$T/more"
	run extract seed --resume "$T/more"
	[ "$status" -eq 1 ]
	[[ "$output" == *'data_0.pt is to be the file of record "d/8"'*"the input has changed since"* ]]
	[ "$(cat "$T"/seed/rows_0-2000/*.pt | sha256sum)" = "$sum" ]
	# what only follows is no other input
	(cat "$T/in"; records 10 | tail -n 2) >"$T/more"
	extract seed --resume "$T/more"
	[ "$(wc -l <"$T/seed.idx")" -eq 10 ]
	verify seed --records "$T/more"
}

@test "--resume: records of the set that are not in the input are told of at the end, and kept" {
	serve
	records 8 >"$T/in"
	head -n 5 "$T/in" >"$T/less"
	for l in seed speculators; do
		extract $l "$T/in"
		cp "$T/$l.idx" "$T/want"
		cp "$T/$l/manifest.json" "$T/manifest"
		[ $l = seed ] && end=": their files go then, too" || end=" and --convert what is left"
		for _ in 1 2; do
			run extract $l --resume "$T/less"
			[ "$status" -eq 1 ]
			[[ "$output" == *"e3-extract: $T/$l.idx holds the states of 3 records that are not in the input, such as $T/$l/"*": give the whole input, or take their lines out of $T/$l.idx.part$end" ]] || { echo "$output"; false; }
			[ ! -e "$T/$l.idx" ]
			cmp "$T/want" "$T/$l.idx.part"
			[ "$(jq -c '[.complete,.records]' "$T/$l/manifest.json")" = '[false,8]' ]
		done
		extract $l --resume "$T/in"
		cmp "$T/want" "$T/$l.idx"
		cmp "$T/manifest" "$T/$l/manifest.json"
		verify $l --records "$T/in"
	done
	# without their lines their files go
	run extract seed --resume "$T/less"
	head -n 5 "$T/seed.idx.part" >"$T/kept" && mv "$T/kept" "$T/seed.idx.part"
	extract seed --resume "$T/less"
	verify seed --records "$T/less"
	[ "$(find "$T/seed" -name '*.pt' | wc -l)" -eq 5 ]
}

@test "--resume: another shard, or other records after the first, end the run, and nothing is lost" {
	serve
	records 8 >"$T/in"
	head -n 4 "$T/in" >"$T/first"
	tail -n 4 "$T/in" >"$T/second"
	extract modelopt "$T/first"
	run extract modelopt --resume "$T/second"
	[ "$status" -eq 1 ]
	[[ "$output" == *"modelopt.idx holds the states of 4 records that are not in the input, such as"* ]]
	[ "$(wc -l <"$T/modelopt.idx.part")" -eq 8 ]
	extract modelopt --resume --stats "$T/st" "$T/in"
	[ "$(jq -c '[.in,.out,.resumed]' "$T/st")" = '[8,0,8]' ]
	verify modelopt --records "$T/in"
	run extract modelopt --resume --shard 0/2 "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *" not in the input, or of another shard, such as"* ]]
	extract modelopt --resume "$T/in"
	cmp <(jq -r .id "$T/modelopt.idx" | sort) <(jq -r .id "$T/in" | sort)
}

@test "--resume: a record that has lost its mask is one that has changed" {
	serve
	records 3 >"$T/in"
	extract seed "$T/in"
	sed '2s/"loss_mask":\[[01,]*\]/"loss_mask":[0,0,0,0,0,0,0,0,0]/' "$T/in" >"$T/changed"
	run extract seed --resume "$T/changed"
	[ "$status" -eq 1 ]
	[[ "$output" == *'data_1.pt holds other ids or another mask than record "d/1" has now'* ]]
	[ -e "$T/seed.idx" ]
}

@test "rejected records are tried again" {
	serve --fault hs-nan@3
	records 6 >"$T/in"
	extract seed --concurrency 1 --rejects "$T/bad" "$T/in"
	[ "$(wc -l <"$T/bad")" -eq 1 ]
	extract seed --resume --rejects "$T/bad" "$T/in"
	[ ! -s "$T/bad" ]
	verify seed --records "$T/in"
	[ "$(tail -n 1 "$T/seed.idx" | jq -r .id)" = "$(head -n 3 "$T/in" | tail -n 1 | jq -r .id)" ]
}

@test "what the server refused is carried over; --retry-rejects sends it again" {
	serve --fault 400@3 --fault hs-nan@5
	records 8 >"$T/in"
	extract seed --concurrency 1 --rejects "$T/bad" "$T/in"
	[ "$(jq -c '[.id,.reject.class,.reject.permanent]' "$T/bad" | xargs -0)" = '["d/2","refused",true]
["d/4","nonfinite",null]' ]
	cp "$T/bad" "$T/before"
	extract seed --resume --rejects "$T/bad" --stats "$T/st" "$T/in"
	[ "$(jq -c '[.in,.out,.rejected,.resumed]' "$T/st")" = '[8,1,1,6]' ]
	head -n 1 "$T/before" | cmp - "$T/bad"
	[ "$(curl -s "$U/metrics" | grep '^e3sim:answered_total' | sed 's/.* //')" -le 8 ]
	# another record under the id is another matter
	sed '3s/"dataset":"d"/"dataset":"e"/' "$T/in" >"$T/other"
	cp "$T/seed.idx" "$T/idx" && cp -r "$T/seed" "$T/kept"
	extract seed --resume --rejects "$T/bad" "$T/other"
	[ ! -s "$T/bad" ]
	rm -rf "$T/seed" && mv "$T/kept" "$T/seed" && mv "$T/idx" "$T/seed.idx"
	head -n 1 "$T/before" >"$T/bad"
	extract seed --resume --retry-rejects --rejects "$T/bad" "$T/in"
	[ ! -s "$T/bad" ]
	[ "$(wc -l <"$T/seed.idx")" -eq 8 ]
	run extract seed --retry-rejects "$T/in"
	[ "$status" -eq 2 ]
}

@test "--resume with nothing left to do completes the manifest" {
	serve
	records 4 >"$T/in"
	extract seed "$T/in"
	cp "$T/seed/manifest.json" "$T/want"
	jq '.records = 0 | .complete = false | .tokens = 0 | .bytes = 0' "$T/want" >"$T/seed/manifest.json"
	mv "$T/seed.idx" "$T/seed.idx.part"
	extract seed --resume "$T/in"
	cmp "$T/want" "$T/seed/manifest.json"
}

@test "files that no manifest claims are another's: neither removed nor mixed with" {
	serve
	records 6 >"$T/in"
	mkdir -p "$T/seed/rows_0-2000"
	echo theirs >"$T/seed/rows_0-2000/data_1.ckpt"
	for how in "" --resume; do
		# shellcheck disable=SC2086
		run extract seed $how "$T/in"
		[ "$status" -eq 1 ]
		[[ "$output" == *"$T/seed holds files such as rows_0-2000/data_1.ckpt, and no manifest that says what they are: take another folder, or empty it" ]]
		[ ! -e "$T/seed.idx.part" ]
	done
	extract compact "$T/in"
	run e3-extract -q --convert "$T/compact" --layout modelopt --out-dir "$T/seed" -o "$T/c.idx" "$T/compact.idx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"take another folder, or empty it" ]]
	[ "$(cat "$T/seed/rows_0-2000/data_1.ckpt")" = theirs ]
	[ "$(find "$T/seed" -type f | wc -l)" -eq 1 ]
	# what is not named as a set's is no hindrance, and what a killed run began is ours
	rm "$T/seed/rows_0-2000/data_1.ckpt"
	touch "$T/seed/notes.txt" "$T/seed/.new-7.pt"
	extract seed "$T/in"
	[ -e "$T/seed/notes.txt" ]
	[ ! -e "$T/seed/.new-7.pt" ]
}

@test "--convert that fails leaves no files; the folder is one run's at a time" {
	serve
	records 40 >"$T/in"
	extract seed "$T/in"
	: >"$T/seed/rows_0-2000/data_30.pt"
	run e3-extract -q --convert "$T/seed" --layout compact --out-dir "$T/c" -o "$T/c.idx" "$T/seed.idx"
	[ "$status" -eq 1 ]
	[ -z "$(find "$T/c" -type f)" ]
	# one that is missing is no worse than one that is cut
	rm "$T/seed/rows_0-2000/data_7.pt"
	e3-extract -q --convert "$T/seed" --layout compact --out-dir "$T/r" --rejects "$T/rejects" -o "$T/r.idx" "$T/seed.idx"
	[ "$(jq -r '.id + " " + .reject.class' "$T/rejects" | xargs)" = "d/7 file d/30 truncated" ]
	[ "$(jq .records "$T/r/manifest.json")" -eq 38 ]
	e3-extract -q --verify "$T/r" "$T/r.idx"
	sed -i 8d "$T/seed.idx"
	rm "$T/seed/rows_0-2000/data_30.pt"
	sed -i 30d "$T/seed.idx"
	flock "$T/c" e3-extract -q --convert "$T/seed" --layout compact --out-dir "$T/c" -o "$T/c.idx" "$T/seed.idx" 2>"$T/err" && false
	grep -q "another run writes there" "$T/err"
	e3-extract -q --convert "$T/seed" --layout compact --out-dir "$T/c" -o "$T/c.idx" "$T/seed.idx"
	e3-extract -q --verify "$T/c" "$T/c.idx"
}

@test "many files without a line are one message" {
	serve
	records 6 >"$T/in"
	extract seed "$T/in"
	head -n 2 "$T/seed.idx" >"$T/seed.idx.part"
	rm "$T/seed.idx"
	run extract seed --resume "$T/in"
	[ "$status" -eq 0 ]
	[ "$(grep -c 'removed' <<<"$output")" -eq 1 ]
	[[ "$output" == *"4 files in "*"have no line in the index, such as rows_0-2000/data_"*": removed"* ]]
	verify seed --records "$T/in"
}

@test "speculators' numbers stay dense after rejects" {
	serve --fault hs-nan@3
	records 6 >"$T/in"
	extract speculators --concurrency 1 --rejects "$T/bad" "$T/in"
	[ "$(ls "$T/speculators/hidden_states" | sort -t_ -k2n | xargs)" = "$(seq -f 'hs_%g.safetensors' 0 4 | xargs)" ]
	extract speculators --resume "$T/in"
	verify speculators --records "$T/in"
	[ "$(jq -r .file "$T/speculators.idx" | tail -n 1)" = hidden_states/hs_5.safetensors ]
}

@test "speculators: an index with a gap is not gone on with; --convert numbers anew" {
	serve
	records 6 >"$T/all"
	extract speculators "$T/all"
	sed 3d "$T/all" >"$T/in"
	run extract speculators --resume "$T/in"
	[[ "$output" == *"/hs_2.safetensors: give the whole input, or take their lines out of $T/speculators.idx.part and --convert what is left" ]]
	sed -i 3d "$T/speculators.idx.part"
	find "$T/speculators" -type f | sort >"$T/was"
	for in in in all; do
		run extract speculators --resume "$T/$in"
		[ "$status" -eq 1 ]
		[[ "$output" == *"speculators.idx.part:3: its file is hidden_states/hs_3.safetensors, the line's number makes it hidden_states/hs_2.safetensors: "* ]]
	done
	find "$T/speculators" -type f | sort | cmp - "$T/was"
	e3-extract -q --convert "$T/speculators" --layout speculators --out-dir "$T/new" -o "$T/new.idx" "$T/speculators.idx.part"
	extract speculators --out-dir "$T/new" -o "$T/new.idx" --resume "$T/in"
	e3-extract -q --verify "$T/new" --records "$T/in" "$T/new.idx"
	[ "$(jq -r .file "$T/new.idx" | xargs)" = "$(seq -f 'hidden_states/hs_%g.safetensors' 0 4 | xargs)" ]
}

@test "a second run on the same folder is refused" {
	serve --latency 300
	records 6 >"$T/in"
	options seed
	e3-extract "${ARGS[@]}" --concurrency 1 "$T/in" 3>&- &
	job=$!
	while [ ! -e "$T/seed.idx.part" ]; do sleep 0.02; done
	run extract seed -o "$T/other" --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"another run writes there"* ]]
	wait $job
}

@test "SIGTERM: what is under way is finished, the rest is resumed" {
	serve --latency 100
	records 80 >"$T/in"
	options seed
	e3-extract "${ARGS[@]}" --concurrency 2 "$T/in" 3>&- 2>"$T/err" &
	job=$!
	while [ ! -s "$T/seed.idx.part" ]; do sleep 0.02; done
	kill -TERM $job
	status=0
	wait $job || status=$?
	[ "$status" -eq 143 ]
	[ -e "$T/seed.idx.part" ]
	[ ! -e "$T/seed.idx" ]
	[ -z "$(ls -A "$T/hs")" ]
	extract seed --concurrency 32 --resume "$T/in"
	verify seed --records "$T/in"
	[ "$(wc -l <"$T/seed.idx")" -eq 80 ]
}

@test "signals are seen whatever there is to wait for: servers, input, hours of records that are done" {
	serve
	records 5 >"$T/in"
	extract seed "$T/in"
	options seed
	mkfifo "$T/fifo"
	exec 4<>"$T/fifo"
	# input that does not come
	e3-extract "${ARGS[@]}" --resume <"$T/fifo" 3>&- 4>&- &
	started $!
	kill -TERM $!
	ended $!
	[ "$S" -eq 143 ]
	# one that ends by the same Ctrl-C
	e3-extract "${ARGS[@]}" --resume <"$T/fifo" 3>&- 4>&- &
	started $!
	kill -TERM $!
	exec 4>&-
	ended $!
	[ "$S" -eq 143 ]
	# one without end, in which nothing is to be sent
	(
		cat "$T/in"
		exec awk 'BEGIN { for (;; i++) printf "{\"id\":\"x/%d\",\"input_ids\":[1],\"loss_mask\":[0]}\n", i }'
	) 2>/dev/null 3>&- | e3-extract "${ARGS[@]}" --resume 3>&- &
	started $!
	sleep 0.2
	kill -TERM $!
	ended $!
	[ "$S" -eq 143 ]
	# a server that does not answer
	kill -STOP $PID
	records 6 >"$T/more"
	e3-extract "${ARGS[@]}" --resume "$T/more" 2>"$T/err" 3>&- &
	started $!
	sleep 0.2
	kill -TERM $!
	ended $!
	kill -CONT $PID
	[ "$S" -eq 143 ]
	[ ! -s "$T/err" ]
	# and nothing has changed
	extract seed --resume "$T/in"
	verify seed --records "$T/in"
}

@test "signals are heard while an index of many gigabytes is read; nothing of it changes" {
	serve
	records 3 >"$T/in"
	extract seed "$T/in"
	for o in "" --redo="$T/seed.idx"; do
		long_output >"$T/i.zst.part"
		cp "$T/i.zst.part" "$T/before"
		rc=0
		timeout -k 10 1 e3-extract "${ARGS[@]}" -o "$T/i.zst" --resume $o "$T/in" || rc=$?
		[ "$rc" -eq 124 ]
		cmp "$T/i.zst.part" "$T/before"
	done
}

@test "--resume looks at ids and masks, not at all the rest" {
	serve
	records 6 >"$T/in"
	for l in compact seed speculators; do
		extract $l "$T/in"
		f=$(sed -n 3p "$T/$l.idx" | jq -r .file)
		size=$(stat -c %s "$T/$l/$f")
		[ $l = compact ] && at=$((size - 20)) || at=$((size / 2))
		damage $l "$f" $at 7f
		verify $l >"$T/bad" 2>/dev/null && false
		[ "$(jq -r .id "$T/bad")" = d/2 ]
		extract $l --resume "$T/in"
	done
	# what it looks at it looks at
	damage compact "$(sed -n 2p "$T/compact.idx" | jq -r .file)" 54 7f
	run extract compact --resume "$T/in"
	[ "$status" -eq 1 ]
	[[ "$output" == *"data_1.e3c: its head has another xxh64 than it says" ]]
}

@test "a second signal stops at once, and what the server writes then goes with the next run" {
	serve --fault hs-late@2-100:60000
	records 20 >"$T/in"
	options seed
	e3-extract "${ARGS[@]}" "$T/in" 2>"$T/err" 3>&- &
	run=$!
	until [ "$(find "$T/hs" -name '*.lock' | wc -l)" -ge 8 ]; do
		kill -0 $run
		sleep 0.02
	done
	kill $run
	until grep -q 'once more to stop at once' "$T/err"; do sleep 0.02; done
	kill $run
	status=0
	wait $run || status=$?
	[ "$status" -eq 143 ] || { cat "$T/err"; false; }
	grep -q "still being written: --resume deletes" "$T/err"
	stop
	serve
	extract seed --resume "$T/in"
	verify seed --records "$T/in"
	[ -z "$(ls -A "$T/hs")" ]
}

@test "--shard: every record in one of them" {
	serve
	records 20 >"$T/in"
	for i in 0 1 2; do
		extract seed --shard $i/3 --out-dir "$T/s$i" -o "$T/s$i.idx" "$T/in"
	done
	[ "$(cat "$T"/s?.idx | jq -r .id | sort -V | xargs)" = "$(seq -f d/%g 0 19 | xargs)" ]
}

@test "--verify: a value of a file that has no checksum of its own; a norm that is not the set's" {
	serve
	records 2 >"$T/in"
	for l in speculators modelopt; do
		extract $l "$T/in"
		verify $l
	done
	f=$T/speculators/$(jq -r .file "$T/speculators.idx" | head -n 1)
	at=$(($(stat -c %s "$f") - 2)) # the low byte of a bf16: the value stays one
	damage speculators "${f#"$T/speculators/"}" $at "$(printf %02x $((0x$(od -An -tx1 -j $at -N 1 "$f" | tr -d ' ') ^ 1)))"
	run verify speculators
	[ "$status" -eq 1 ]
	[[ "$output" == *"the file's xxh64 is not that of its line"* ]]
	jq '.norm = if .norm == "before" then "after" else "before" end' "$T/modelopt/manifest.json" >"$T/m"
	cp "$T/m" "$T/modelopt/manifest.json"
	run verify modelopt
	[ "$status" -eq 1 ]
	[[ "$output" == *"hidden_states_prenorm is not what the manifest says"* ]]
}
