#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A worker that the kernel makes of a thread (io_uring) belongs to it: -t and -p of one that has none yet show what it
# does later.
# alone: it changes, or asks, what holds for the whole host
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_uring
"$PROGS/waits_uring" 1 100 read >"$TMP/did" || { [ $? -ne 77 ] || skip "this kernel has no io_uring"; }
check_grep '^read [1-9]' "$TMP/did" "the worker reads"

for option in -t -p; do
	start "$PROGS/waits_uring" 60 2000 read
	thread=$PID
	check "oncpu $option of a thread whose worker comes later" "$BPFPROF" oncpu $option "$thread" -e cpu-clock -F 499 -f 4
	check_folded "$OUT"
	# It does nothing but wait for the worker.
	share=$(folded_pct "$OUT" '^iou-wrk-[0-9]+;')
	if awk -v v="$share" 'BEGIN { exit !(v > 60) }'; then pass "$share % of the time is the worker's"; else fail "$share % of the time is the worker's"; fi
	stop "$thread"
done
start "$PROGS/waits_uring" 60 2000 read
thread=$PID
check "--no-children leaves it out" "$BPFPROF" oncpu -t "$thread" --no-children -e cpu-clock -F 499 -f 4
check_no_grep '^iou-wrk' "$OUT"
finish
