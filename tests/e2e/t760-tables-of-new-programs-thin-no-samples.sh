#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Beside programs that start all the time bpfprof itself costs more than its budget, in tables of theirs: samples that are left
# out would make that no cheaper, and cost next to nothing, so all that were asked for are taken. That it costs more is said.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog execs exiter
[ -z "${IN_GUEST:-}" ] || skip "an interrupt costs far too much here"
unset BPFPROF_MAX_OVERHEAD

start "$PROGS/execs" 30 "$PROGS/exiter" 0
# 9 samples take 0.06 % of a CPU, by 70 us each in caches that others have emptied, and 0.15 are the kernel's part. Own time
# counts from the third second, smoothed over five: where starting a program takes long it passes 0.3 % only after eight.
run "$BPFPROF" oncpu -e cpu-clock -F 9 --max-overhead 0.3 -o "$TMP/x.json" 20
check_is "$STATUS" 0 "exit status"
stop "$PID"
own=$(json "$TMP/x.json" cost own_cpu_s)
cpus=$(json "$TMP/x.json" profile cpus)
length=$(json "$TMP/x.json" profile duration_s)
echo "# $own s of its own in $length s on $cpus CPUs: $(json "$TMP/x.json" cost)"
# Else this is too easy for it.
check_between "$(awk -v o="$own" -v c="$cpus" -v l="$length" 'BEGIN { print 100 * o / c / l }')" 0.5 30 "% of the CPUs for itself"
check_is "$(json "$TMP/x.json" cost thinned_to_one_in)" 1 "= one sample in how many was taken"
check_is "$(json "$TMP/x.json" unit)" samples "unit of the values"
check_between "$(json "$TMP/x.json" cost over_budget_s)" 1 20 "s above the budget"
check_ledger_closes "$TMP/x.json"
finish
