#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Named threads: each under its name with its own chain; filters by name and by thread; merged and told apart.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog pool

check "all threads" "$BPFPROF" oncpu -U -F 999 -o "$TMP/all.folded" -- sh -c 'exec "$0" 4 1 >"$1"' "$PROGS/pool" "$TMP/pool"
for n in 0 1 2 3; do
	# How much of it the scheduler gave to each is not ours to judge; the threads tell.
	share=$(awk -v name="worker-$n" '{ all += $2 } $1 == name { its = $2 } END { print 100 * its / all }' "$TMP/pool")
	check_near "$(folded_pct "$TMP/all.folded" "^worker-$n;(.*;)?worker_main;job_$n;step_$n;leaf_$n(;|\$)")" "$share" 5 "worker-$n in its own chain"
done

start "$PROGS/pool" 4 60
threads() { [ "$(nr_threads "$PID")" -eq 5 ]; }
wait_until 3 threads
check "by name" "$BPFPROF" oncpu -n 'worker-[12]' -U -F 999 -f 0.5
check_near "$(folded_pct "$OUT" '^worker-[12];')" 100 0 "worker-1 and worker-2"
check_grep '^worker-1;' "$OUT"
check_grep '^worker-2;' "$OUT"
tid=$(grep -l worker-3 /proc/"$PID"/task/*/comm | cut -d / -f 5)
check "by thread" "$BPFPROF" oncpu -t "$tid" -U -F 999 -f --per-thread 0.5
check_near "$(folded_pct "$OUT" "^worker-3/$tid;")" 100 0 "worker-3 alone, with its number"
check "-L is -t" "$BPFPROF" oncpu -L "$tid" -U -F 999 -f --merge-threads 0.5
check_near "$(folded_pct "$OUT" '^worker-;')" 100 0 "merged name"
check "twice: the order of lines is stable" "$BPFPROF" oncpu -p "$PID" -U -F 199 -f -o "$TMP/x.bpfprof" 0.5
"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/a"
"$BPFPROF" report -f "$TMP/x.bpfprof" | sort -k1,1 -s | awk '{ print $NF, $0 }' | sort -k1,1nr -s | cut -d ' ' -f 2- >"$TMP/b"
check "heaviest first" cmp <(awk '{ print $NF }' "$TMP/a") <(awk '{ print $NF }' "$TMP/b")
finish
