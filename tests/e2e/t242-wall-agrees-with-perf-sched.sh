#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What perf sched says of the same run: the time on a CPU and the time waiting for one, of two hogs on one CPU.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need perf
need_prog waits_hogs
perf sched record -o "$TMP/try" -- true >/dev/null 2>&1 || skip "perf sched cannot record here"

perf sched record -o "$TMP/perf.data" -- sleep 5 >"$TMP/perf.log" 2>&1 &
recorder=$!
pids+=("$recorder")
sleep 1
before=$(taken_us)
check "wall of the hogs" "$BPFPROF" wall -o "$TMP/x.folded" -- "$PROGS/waits_hogs" 2
taken=$(taken_since "$before")
wait_for "$recorder"
perf sched latency -i "$TMP/perf.data" >"$TMP/latency" 2>/dev/null

# "  hog_b:21706  |  990.666 ms |  253 | avg: 3.990 ms | …": us on a CPU, and switches times the average wait.
of_perf() { # THREAD
	awk -F '|' -v thread="$1" '$1 ~ "^ *" thread ":" { sub(/ms/, "", $2); sub(/avg:/, "", $4); printf "%.0f %.0f\n", $2 * 1000, $3 * $4 * 1000 }' \
		"$TMP/latency"
}
for hog in hog_a hog_b; do
	read -r ran waited < <(of_perf $hog)
	echo "# perf sched: $hog ran ${ran:-none} us, waited ${waited:-none} us"
	check_clock "$(us_of "$TMP/x.folded" "^$hog;\\[on-cpu\\](;|\$)")" "${ran:-0}" 1 3000 "$hog: us on CPU, as perf has it,"
	# perf leaves out waits whose beginning it did not see.
	check_clock "$(us_of "$TMP/x.folded" "^$hog;\\[runnable\\](;|\$)")" "${waited:-0}" 3 6000 "$hog: us runnable, as perf has it,"
done
finish
