#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a recording cost, its budget, and that this was exceeded is in JSON and in what report prints of a saved recording, for
# the commands with outputs of their own, too: timeline, sched, runqlat.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_bpf
need_prog waits_switcher
need python3
unset BPFPROF_MAX_OVERHEAD

start "$PROGS/waits_switcher" 200
for command in timeline sched runqlat; do
	rm -f "$TMP"/x.*
	check "$command" "$BPFPROF" "$command" --max-overhead 0.01 -p "$PID" -d 0.4 -o "$TMP/x.json" -o "$TMP/x.bpfprof"
	check_is "$(json "$TMP/x.json" cost max_overhead_pct)" 0.01 "budget in JSON of $command"
	check_between "$(json "$TMP/x.json" cost over_budget_s)" 0.1 30 "s above it, of $command"
	check_between "$(json "$TMP/x.json" cost bpf_share_of_cpus)" 0.0001 2 "of the CPUs in BPF, of $command"
	"$BPFPROF" report "$TMP/x.bpfprof" >"$TMP/text"
	check_grep "^cost  .* in BPF" "$TMP/text"
	check_grep "it cost more than --max-overhead 0.01% for " "$TMP/text"
	"$BPFPROF" report --json "$TMP/x.bpfprof" >"$TMP/report.json"
	check_is "$(json "$TMP/report.json" cost over_budget_s)" "$(json "$TMP/x.json" cost over_budget_s)" "s above it, by report of $command,"
done

# A variable that is empty says nothing.
BPFPROF_MAX_OVERHEAD='' run "$BPFPROF" oncpu -p "$PID" -d 0.2 -o "$TMP/x.json"
check_is "$STATUS" 0 "exit status with an empty BPFPROF_MAX_OVERHEAD"
check_is "$(json "$TMP/x.json" cost max_overhead_pct)" 1.0 "its budget"
finish
