#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Binaries that were deleted, replaced, stripped, moved into a mount namespace: the right name, or module and offset.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need unshare
need_prog exiter exiter-stripped demo

cp "$PROGS/exiter" "$TMP/prog"
start "$TMP/prog" 60
deleted=$PID
rm "$TMP/prog"
check "a deleted binary" "$BPFPROF" oncpu -p "$deleted" -U -F 999 -f 0.5
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named though deleted"
stop "$deleted"

# Replaced by a program whose functions stand elsewhere, under the same path.
cp "$PROGS/exiter" "$TMP/prog"
start "$TMP/prog" 60
replaced=$PID
rm "$TMP/prog"
cp "$PROGS/demo" "$TMP/prog"
check "a replaced binary" "$BPFPROF" oncpu -p "$replaced" -U -F 999 -f 0.5
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named by the file that is mapped"
stop "$replaced"

# Gone before anybody could open it: only the path is known, and it leads to another file.
cp "$PROGS/exiter" "$TMP/short"
check "a replaced binary of an ended process" "$BPFPROF" oncpu -n short -U -F 4999 -f 10 -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8; do cp "$0/exiter" "$1"; "$1" 0.02; rm "$1"; cp "$0/demo" "$1"; done' "$PROGS" "$TMP/short"
check_no_grep '^short;(.*;)?(tokenize|checksum|rank_terms|parse_line|index_word)' "$OUT" "no name of the other program"

cp "$PROGS/exiter-stripped" "$TMP/prog"
start "$TMP/prog" 60
check "a stripped binary" "$BPFPROF" oncpu -p "$PID" -U -F 999 -f 0.5
stop "$PID"
check_near "$(folded_pct "$OUT" ';\[prog\+0x[0-9a-f]+\]$')" 98 3 "shown as module and offset"
check_near "$(sed 's/.*;//; s/ [0-9]*$//' "$OUT" | grep -c '^\[prog+')" 2 1 "all addresses of a function are one frame"

mkdir "$TMP/ns"
cp "$PROGS/exiter" "$TMP/hidden"
start unshare -m sh -c 'mount -t tmpfs none "$0/ns" && cp "$0/hidden" "$0/ns/prog" && exec "$0/ns/prog" 60' "$TMP"
in_ns() { [ "$(cat "/proc/$PID/comm")" = prog ]; }
wait_until 3 in_ns
check "a binary of another mount namespace" "$BPFPROF" oncpu -p "$PID" -U -F 999 -f 0.5
stop "$PID"
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 3 "named"

# The Makefile says how each is linked.
for layout in "$PROGS"/exiter "$PROGS"/exiter-*; do
	[ "${layout##*-}" != stripped ] || continue
	check "linked as ${layout##*/}" "$BPFPROF" oncpu -U -F 999 -f -- "$layout" 0.3
	check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 96 4 "named"
	nr_layouts=$((${nr_layouts:-0} + 1))
done
# A static C library is not everywhere.
check_near "${nr_layouts:-0}" 5 "$([ -n "${IN_GUEST:-}" ] && echo 0 || echo 1)" "layouts"
finish
