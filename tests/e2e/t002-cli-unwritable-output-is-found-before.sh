#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What cannot be written is found before anything is recorded; what fails while it is written leaves no torn file.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog exiter

before() { # PATTERN PATH
	local from=$SECONDS

	check_status 1 "refused: -o $2" "$BPFPROF" oncpu -o "$2" 20
	check_grep "$1" "$ERR"
	check_near $((SECONDS - from)) 0 3 "seconds until the refusal"
}
before "No such file or directory" "$TMP/nowhere/x.svg"
mkdir "$TMP/dir.svg"
before "[Dd]irectory" "$TMP/dir.svg"
mkdir "$TMP/ro"
if mount -t tmpfs -o ro none "$TMP/ro" 2>/dev/null; then
	before "Read-only file system" "$TMP/ro/x.svg"
	umount "$TMP/ro"
fi

mkdir "$TMP/small"
mount -t tmpfs -o size=64k none "$TMP/small" || skip "cannot mount a tmpfs"
echo "an older result" >"$TMP/small/x.html"
dd if=/dev/zero of="$TMP/small/fill" bs=1k count=56 2>/dev/null
check_status 1 "disk full" "$BPFPROF" oncpu -U -F 999 -f -o "$TMP/small/x.html" -- "$PROGS/exiter" 0.5
check_grep "x.html.*No space left" "$ERR"
check_grep "^an older result$" "$TMP/small/x.html" "the older file is untouched"
check_near "$(find "$TMP/small" -type f | wc -l)" 2 0 "files left"
check_folded "$OUT"
umount "$TMP/small"
finish
