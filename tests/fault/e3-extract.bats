#!/usr/bin/env bats
# e3-extract killed at random moments, and on a disk that fills up. E3_KILLS: how many kills (12).

load ../cli/extract

@test "kill -9 at any moment: every record once, no orphan" {
	tests/fault/extract-chaos "${E3_KILLS:-12}" $RANDOM
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
