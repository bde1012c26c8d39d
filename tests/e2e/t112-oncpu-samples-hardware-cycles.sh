#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# With a hardware counter: cycles by default, by its overflow interrupts; shares of functions, per process, per thread
# and system-wide; the periods of the samples add up to the cycles that were counted.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog count spin_abc pool
has_pmu || skip "no hardware counters here"

interrupts() { # of the counters, on all CPUs
	awk '/arm-pmu|NMI:|PMI:/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts
}
shares() {
	check_pct "$1" spin_a 50 10
	check_pct "$1" spin_b 30 10
	check_pct "$1" spin_c 20 10
}

before=$(interrupts)
check "a process and its children" "$BPFPROF" oncpu -F 199 -U -o "$TMP/x.json" -o "$TMP/x.folded" -- "$PROGS/count" "$PROGS/spin_abc" 2.5
check_near "$(json "$TMP/x.json" profile event | grep -cx cycles)" 1 0 "the event is cycles by default"
shares "$TMP/x.folded"
counted=$(awk '$1 == "cycles" { print $2 }' "$ERR")
check_near "$(json "$TMP/x.json" samples period_sum)" "$counted" $((counted / 20)) "sum of periods, and cycles counted"
recorded=$(json "$TMP/x.json" samples recorded)
check_near $(($(interrupts) - before)) "$recorded" $((recorded * 9 / 10)) "interrupts of the counter, and samples"

start "$PROGS/spin_abc" 60
check "system-wide" "$BPFPROF" oncpu -e cycles -F 299 -f -o "$TMP/x.json" 1
grep '^spin_abc;' "$OUT" >"$TMP/folded"
shares "$TMP/folded"
check_near "$(json "$TMP/x.json" samples recorded)" 300 200 "samples"
stop "$PID"

start "$PROGS/pool" 2 60
two() { [ "$(nr_threads "$PID")" -eq 3 ]; }
wait_until 5 two
tid=$(grep -l worker-1 /proc/"$PID"/task/*/comm | cut -d / -f 5)
check "one thread" "$BPFPROF" oncpu -e cycles -t "$tid" -U -F 199 -f 0.5
check_near "$(folded_pct "$OUT" '^worker-1;(.*;)?worker_main;job_1;')" 98 2 "samples of that thread alone"
finish
