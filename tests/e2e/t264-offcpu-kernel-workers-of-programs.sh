#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Workers that the kernel makes of a program's threads (io_uring): their waits are there, whether they were born before the
# recording or in it, with the kernel's stack; a user stack they have not, and none is missed.
# alone: it looks at all programs of the host
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_uring waits_sleeper
"$PROGS/waits_uring" 1 100 >"$TMP/did" || { [ $? -ne 77 ] || skip "this kernel has no io_uring"; }
grep -q '^opened' "$TMP/did" || fail "waits_uring does what it should"

check_workers() { # LOW_US
	check_between "$(us_of "$TMP/x.folded" '^iou-wrk-[0-9]+;(.*;)?(fifo_open|wait_for_partner)(;|$)')" "$1" 100000000 "us of workers in the kernel's fifo_open()"
	check_near "$(us_of "$TMP/x.folded" '^iou-wrk-[0-9]+;.*not sampled')" 0 0 "us of workers without stacks"
	check_near "$(json "$TMP/x.json" stacks ends unreadable)" 0 0.1 "% of stacks that could not be read"
	check_near "$(ledger "$TMP/x.json" no-thread-state)" 0 0 "waits of threads whose state is not known"
}

record offcpu --idle=show -- "$PROGS/waits_uring" 2 100
check_workers 1500000

start "$PROGS/waits_uring" 60 60000
uring=$PID
sleep 1
check "offcpu of one that waits already" "$BPFPROF" offcpu -p "$uring" --idle=show -o "$TMP/x.folded" -o "$TMP/x.json" 2
check_workers 1900000
stop "$uring"
rm -f "/tmp/waits_uring.$uring"

lost=0
hidden=0
runs=$(by_day 5 10)
for ((i = 0; i < runs; i++)); do
	"$BPFPROF" offcpu -o "$TMP/x.json" 0.3 >"$OUT" 2>"$ERR"
	lost=$((lost + $(ledger "$TMP/x.json" no-thread-state)))
	hidden=$((hidden + $(ledger "$TMP/x.json" hidden-thread)))
done
check_near "$lost" 0 0 "waits of threads whose state is not known, in $runs runs of the whole machine"
# Elsewhere there may be threads that the host hides from all that looks for them.
[ -z "${IN_GUEST:-}" ] || check_near "$hidden" 0 0 "waits of threads that nobody hides"
finish
