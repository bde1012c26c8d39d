#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of a process that runs already: the ledger of each thread closes over the recording, and the table shows it.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs

start "$PROGS/waits_hogs" 100
hogs=$PID
all_there() { [ "$(nr_threads "$hogs")" -eq 3 ]; }
wait_until 5 all_there
sleep 0.2

stat_of() { # THREAD: us on CPU, us runnable; since its start
	awk '{ printf "%.0f %.0f\n", $1 / 1000, $2 / 1000 }' "$(dirname "$(grep -lx "$1" /proc/"$hogs"/task/*/comm)")/schedstat" 2>/dev/null
}
stat_of hog_a >"$TMP/hog_a.before"
stat_of hog_b >"$TMP/hog_b.before"
check "wall" "$BPFPROF" wall -p "$hogs" -o "$TMP/x.json" -f 3
cp "$OUT" "$TMP/x.folded"
stat_of hog_a >"$TMP/hog_a.after"
stat_of hog_b >"$TMP/hog_b.after"
check_stacks "$TMP/x.folded"
us=$(json "$TMP/x.json" profile duration_s | awk '{ printf "%.0f\n", $1 * 1e6 }')
for hog in hog_a hog_b; do
	oncpu=$(us_of "$TMP/x.folded" "^$hog;\\[on-cpu\\]") runnable=$(us_of "$TMP/x.folded" "^$hog;\\[runnable\\]")
	check_close "$(us_of "$TMP/x.folded" "^$hog;")" "$us" 1 6000 "$hog: us in all, of the recording"
	# The kernel's counts are of a little more time than the recording; the shares are the same, unless bpfprof's start
	# takes the only CPU.
	if [ -s "$TMP/$hog.before" ] && [ "$(nproc)" -gt 1 ]; then
		share=$(paste -d ' ' "$TMP/$hog.before" "$TMP/$hog.after" | awk '{ ran = $3 - $1; waited = $4 - $2; printf "%.2f\n", 100 * ran / (ran + waited) }')
		check_near "$(pct_of "$oncpu" $((oncpu + runnable)))" "$share" 2 "$hog: % on CPU, as the kernel has it,"
	fi
done
# The main thread sleeps all the time.
check_close "$(us_of "$TMP/x.folded" '^waits_hogs;')" "$us" 1 6000 "main thread: us in all, of the recording"
check_between "$(pct_of "$(us_of "$TMP/x.folded" '^waits_hogs;\[lock\];')" "$us")" 97 101 "main thread: % asleep in pthread_join"

check "the table" "$BPFPROF" wall --table -p "$hogs" 1
for word in hog_a hog_b ON-CPU RUNNABLE WALL; do
	check_grep "$word" "$OUT" "the table has $word"
done
finish
