#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that sleeps when the recording begins, ends, or all the time, is there with its stack for just as long.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_sleeper waits_pool

# In us, of the recording.
duration() {
	json "$TMP/x.json" profile duration_s | awk '{ printf "%.0f\n", $1 * 1e6 }'
}

open() { # FUNCTION TIMES PID
	check "offcpu of process $3" "$BPFPROF" offcpu -m 1 --idle=show -p "$3" -o "$TMP/x.json" -f 2
	cp "$OUT" "$TMP/x.folded"
	check_stacks "$TMP/x.folded"
	check_ledger_closes "$TMP/x.json"
	check_between "$(pct_of "$(us_of "$TMP/x.folded" ";$1;")" $(($(duration) * $2)))" 97 101 "$1: % of $2 times the recording"
}

start "$PROGS/waits_sleeper" once 60
sleeper=$PID
sleep 0.5
open nap_once 1 "$sleeper"
check_near "$(folded_pct "$TMP/x.folded" '^waits_sleeper;(.*;)?main;nap_once;')" 100 0 "% of that with its whole stack"
check_near "$(duration)" 2000000 100000 "us of recording"
stop "$sleeper"

# Begun before, and not ended in time.
start "$PROGS/waits_sleeper" often 100 700000
sleeper=$PID
sleep 0.5
open nap_often 1 "$sleeper"
stop "$sleeper"

start "$PROGS/waits_pool" 60 3
pool=$PID
all_there() { [ "$(nr_threads "$pool")" -eq 5 ]; }
wait_until 5 all_there
sleep 0.3
open idle_worker 3 "$pool"
check_between "$(pct_of "$(us_of "$TMP/x.folded" ";idle_reactor;")" "$(duration)")" 97 101 "idle_reactor: % of the recording"
finish
