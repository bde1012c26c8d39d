#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 200
#
# Counting costs next to nothing: at most 0.1 % of a CPU over 20 seconds, its start and its end among them, and counters
# run within 50 ms.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need python3
# An emulated CPU has some hundred million instructions a second.
[ -z "${IN_GUEST:-}" ] || skip "guests are too slow for times to tell"

cost() { # ARGS...: CPU time in us goes to $cpu_us; what it printed to $OUT and $ERR
	local TIMEFORMAT='%U %S'

	{ time run "$BPFPROF" "$@"; } 2>"$TMP/time"
	cpu_us=$(awk '{ printf "%.0f\n", ($1 + $2) * 1e6 }' "$TMP/time")
}
# What wakes once a second, and does nothing else, takes 0.1 ms at most; where a hypervisor takes memory away that is idle it
# takes ten times as much, and a program whose wake-ups touch more takes more.
start python3 -c 'import time
begin = time.thread_time()
for i in range(19): time.sleep(1)
print(round((time.thread_time() - begin) * 1e6))'
idle=$PID log=$LOG
cost stat -v -o "$TMP/x.json" 20
check_is "$STATUS" 0 "exit status"
wait_for "$idle"
idle_us=$(cat "$log")
more=$((idle_us > 2000 ? 20 * (idle_us - 2000) : 0))
[ $more -eq 0 ] || echo "# a program that sleeps took $idle_us us: $more us more are allowed"
check_near "$cpu_us" 0 $((20000 + more)) "us of CPU time in 20 s"
echo "# cpu: $cpu_us us in 20 s: $(awk -v us="$cpu_us" 'BEGIN { printf "%.3f\n", us / 200000 }') %"

ms() {
	sed -nE 's/.*opened ([0-9.]+) ms after the start.*/\1/p' "$ERR"
}
for args in "" "-M all" "-e page-faults,context-switches,cycles,instructions"; do
	# The best of three: others are at work on this machine.
	best=
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		run "$BPFPROF" stat -v $args 0.1
		best=$(printf '%s\n' "${best:-1000000}" "$(ms)" | sort -g | head -n 1)
	done
	check_near "${best:-none}" 0 50 "ms until 'stat $args' counts"
done
finish
