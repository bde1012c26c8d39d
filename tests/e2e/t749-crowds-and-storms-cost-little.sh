#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 20,000 threads, 10,000 threads that start in a second, and programs that start as fast as two CPUs can: bpfprof itself takes a
# tenth of one CPU at most, whichever of them the whole machine is full of. What the two say of it is what the kernel says.
# alone: it judges times
# timeout: 600
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_nightly
need_prog waits_crowd waits_churn execs exiter-static
unset BPFPROF_MAX_OVERHEAD
TIMES=3 LENGTH=10

# The median of some recordings of the whole machine: so a moment of other load does not decide.
check_own() { # COMMAND DESC [SECONDS]
	local i shares=() s=${3:-$LENGTH}

	for ((i = 0; i < TIMES; i++)); do
		rm -f "$TMP/x.json"
		run "$BPFPROF" "$1" -o "$TMP/x.json" -d "$s"
		check_is "$STATUS" 0 "$1 beside $2: exit status"
		check_ledger_closes "$TMP/x.json"
		shares+=("$(awk -v s="$(json "$TMP/x.json" cost own_cpu_s)" -v d="$(json "$TMP/x.json" profile duration_s)" \
			'BEGIN { printf "%.2f", 100 * s / d }')")
	done
	echo "# $1 beside $2: ${shares[*]} % of one CPU"
	check_between "$(printf '%s\n' "${shares[@]}" | sort -n | sed -n $((TIMES / 2 + 1))p)" 0.1 10 "% of one CPU, $1 beside $2"
}

length=$((2 * TIMES * (LENGTH + 4)))
start "$PROGS/waits_crowd" 20000 $((3 * length))
wait_until 60 grep -q '^threads' "$LOG"
echo "# $(grep '^threads' "$LOG")"
# Each has its stack read once, after the beginning.
check_own offcpu "20,000 threads" 30
check_own oncpu "20,000 threads"
stop "$PID"

start "$PROGS/waits_churn" 10000 $((length + 20))
check_own offcpu "10,000 starts a second"
check_own oncpu "10,000 starts a second"
stop "$PID"

for _ in 1 2; do
	start "$PROGS/execs" $length "$PROGS/exiter-static" 0
	logs+=("$LOG")
done
check_own offcpu "programs that start"
check_own oncpu "programs that start"
wait
check_between "$(awk -v s=$length '{ n += $2 } END { print n / s }' "${logs[@]}")" 500 100000 "starts of programs a second"
finish
