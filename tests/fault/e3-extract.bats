#!/usr/bin/env bats
# e3-extract killed at random moments, and on a disk that fills up. E3_KILLS: how many kills (30).

load ../cli/extract

@test "kill -9 at any moment: every record once, no orphan" {
	serve --latency 2
	records 200 60 >"$T/in"
	for l in speculators seed; do
		options $l
		n=0
		while [ $n -lt $((${E3_KILLS:-30} / 2)) ]; do
			e3-extract "${ARGS[@]}" --resume --concurrency 8 -j 2 "$T/in" 2>"$T/err" 3>&- &
			job=$!
			sleep 0.$(printf %03d $((RANDOM % 250)))
			kill -9 $job 2>/dev/null || true
			wait $job 2>/dev/null || true
			n=$((n + 1))
			# a run that is done is begun again
			[ ! -e "$T/$l.idx" ] || rm -rf "$T/$l" "$T/$l.idx"
		done
		extract $l --resume --sweep "$T/in"
		[ "$(wc -l <"$T/$l.idx")" -eq 200 ]
		[ "$(jq -r .id "$T/$l.idx" | sort | uniq | wc -l)" -eq 200 ]
		verify $l --records "$T/in"
		(cd "$T/$l" && find . -type f ! -name manifest.json | sed 's,^\./,,' | sort) >"$T/files"
		jq -r .file "$T/$l.idx" | sort | cmp - "$T/files"
		[ "$(jq .records "$T/$l/manifest.json")" = 200 ]
	done
	# what the killed runs left at the server was swept, but for what came later
	e3-extract "${ARGS[@]}" --resume --sweep "$T/in"
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
