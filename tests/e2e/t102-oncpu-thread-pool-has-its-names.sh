#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Named threads: each under its name with its own chain; filters by name and by thread; merged and told apart.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog pool

start "$PROGS/pool" 4 30
threads() { [ "$(nr_threads "$PID")" -eq 5 ]; }
wait_until 3 threads
check "all threads" "$BPFPROF" oncpu -p "$PID" -F 499 -f 2
for n in 0 1 2 3; do
	check_near "$(folded_pct "$OUT" "^worker-$n;(.*;)?worker_main;job_$n;step_$n;leaf_$n(;|\$)")" 25 8 "worker-$n in its own chain"
done
check "by name" "$BPFPROF" oncpu -n 'worker-[12]' -F 499 -f 1
check_near "$(folded_pct "$OUT" '^worker-[12];')" 100 0 "worker-1 and worker-2"
check_grep '^worker-1;' "$OUT"
check_grep '^worker-2;' "$OUT"
tid=$(grep -l worker-3 /proc/"$PID"/task/*/comm | cut -d / -f 5)
check "by thread" "$BPFPROF" oncpu -t "$tid" -F 499 -f --per-thread 1
check_near "$(folded_pct "$OUT" "^worker-3/$tid;")" 100 0 "worker-3 alone, with its number"
check "-L is -t" "$BPFPROF" oncpu -L "$tid" -F 499 -f --merge-threads 1
check_near "$(folded_pct "$OUT" '^worker-;')" 100 0 "merged name"
check "twice: the order of lines is stable" "$BPFPROF" oncpu -p "$PID" -F 99 -f -o "$TMP/x.bpfprof" 1
"$BPFPROF" report -f "$TMP/x.bpfprof" >"$TMP/a"
"$BPFPROF" report -f "$TMP/x.bpfprof" | sort -k1,1 -s | awk '{ print $NF, $0 }' | sort -k1,1nr -s | cut -d ' ' -f 2- >"$TMP/b"
check "heaviest first" cmp <(awk '{ print $NF }' "$TMP/a") <(awk '{ print $NF }' "$TMP/b")
finish
