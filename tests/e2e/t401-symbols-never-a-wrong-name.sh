#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Binaries that were deleted, replaced, stripped, moved into a mount namespace: the right name, or module and offset.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need cc strip unshare
need_prog exiter

cp "$PROGS/exiter" "$TMP/prog"
start "$TMP/prog" 60
deleted=$PID
rm "$TMP/prog"
check "a deleted binary" "$BPFPROF" oncpu -p "$deleted" -F 499 -f 1
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named though deleted"

# Replaced by a program whose functions stand elsewhere, under the same path.
cp "$PROGS/exiter" "$TMP/prog"
start "$TMP/prog" 60
replaced=$PID
rm "$TMP/prog"
cp "$PROGS/demo" "$TMP/prog"
check "a replaced binary" "$BPFPROF" oncpu -p "$replaced" -F 499 -f 1
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named by the file that is mapped"

# Gone before anybody could open it: only the path is known, and it leads to another file.
cp "$PROGS/exiter" "$TMP/short"
check "a replaced binary of an ended process" "$BPFPROF" oncpu -n short -F 4999 -f 2 -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8; do cp "$0/exiter" "$1"; "$1" 0.02; rm "$1"; cp "$0/demo" "$1"; done' "$PROGS" "$TMP/short"
check_no_grep '^short;(.*;)?(tokenize|checksum|rank_terms|parse_line|index_word)' "$OUT" "no name of the other program"

cp "$PROGS/exiter" "$TMP/prog"
strip "$TMP/prog"
start "$TMP/prog" 60
check "a stripped binary" "$BPFPROF" oncpu -p "$PID" -F 499 -f 1
check_near "$(folded_pct "$OUT" ';\[prog\+0x[0-9a-f]+\]$')" 98 3 "shown as module and offset"
check_near "$(sed 's/.*;//; s/ [0-9]*$//' "$OUT" | grep -c '^\[prog+')" 2 1 "all addresses of a function are one frame"

mkdir "$TMP/ns"
cp "$PROGS/exiter" "$TMP/hidden"
start unshare -m sh -c 'mount -t tmpfs none "$0/ns" && cp "$0/hidden" "$0/ns/prog" && exec "$0/ns/prog" 60' "$TMP"
in_ns() { [ "$(cat "/proc/$PID/comm")" = prog ]; }
wait_until 3 in_ns
check "a binary of another mount namespace" "$BPFPROF" oncpu -p "$PID" -F 499 -f 1
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named"

for layout in "-no-pie" "-pie" "-static" "-no-pie -Wl,-Ttext-segment=0x10000000" "-pie -Wl,-z,separate-code"; do
	# shellcheck disable=SC2086
	cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE $layout "$ROOT/tests/progs/exiter.c" -o "$TMP/layout" 2>/dev/null || continue
	check "linked with $layout" "$BPFPROF" oncpu -F 999 -f -- "$TMP/layout" 0.5
	check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 96 4 "named"
done
finish
