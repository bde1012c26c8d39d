#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two threads that want one CPU: each is preempted for about half of the time, where it burns.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs

record offcpu -m 1 --by-class -- "$PROGS/waits_hogs" 3
for hog in hog_a hog_b; do
	check_truth $hog preempted "$(pct_but_taken $hog 95)"
	# Elsewhere than in guests something else may want that CPU, too.
	check_between "$(pct_of "$(us_of "$TMP/x.folded" "^$hog;\[runnable\];\[preempted\];(.*;)?$hog(;|\$)")" "$(did wall $hog)")" 35 "$([ -n "${IN_GUEST:-}" ] && echo 65 || echo 97)" "$hog: % of its life preempted"
done

record offcpu -m 1 --by-class --state 0 -- "$PROGS/waits_hogs" 1
check_near "$(folded_pct "$TMP/x.folded" '^[^;]+;\[runnable\];\[preempted\]')" 100 0 "--state 0: % that is preempted"
check_truth hog_a preempted "$(pct_but_taken hog_a 95)"
finish
