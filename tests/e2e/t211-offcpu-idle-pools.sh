#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads that wait for work: shown, folded into one frame, or hidden; folding keeps the sum, and hiding says how much.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_pool

start "$PROGS/waits_pool" 60 4
pool=$PID
all_there() { [ "$(nr_threads "$pool")" -eq 6 ]; }
wait_until 5 all_there
sleep 0.3

for idle in show fold hide; do
	STATUS=0
	"$BPFPROF" offcpu -m 1 --idle=$idle -p "$pool" -f 1 >"$TMP/$idle" 2>"$TMP/$idle.err" || STATUS=$?
	check "--idle=$idle" test $STATUS -eq 0 -o "$idle $STATUS" = "hide 3"
done
check_stacks "$TMP/show"
check_stacks "$TMP/fold"
check_grep '^worker;(.*;)?idle_worker;' "$TMP/show" "shown: the stacks of workers"
check_grep '^reactor;(.*;)?idle_reactor;' "$TMP/show" "shown: the stack of the reactor"
check_no_grep '\[idle\]' "$TMP/show" "shown: nothing is folded"
all=$(folded_sum "$TMP/show")
check_between "$(pct_of "$(folded_sum "$TMP/fold")" "$all")" 90 110 "folded: % of what was shown"
check_between "$(pct_of "$(folded_sum "$TMP/hide")" "$all")" 0 110 "hidden: % of what was shown"
check_no_grep '\[idle\]' "$TMP/hide" "hidden: nothing is folded"
# What of it is idle is the same in both.
check_between "$(awk -v all="$all" -v idle="$(us_of "$TMP/fold" ';\[idle\]$')" -v hide="$(folded_sum "$TMP/hide")" \
	'BEGIN { printf "%.2f\n", 100 * (idle + hide) / all }')" 90 110 "idle and what is left, % of all"
finish
