#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A host that makes 1,100 processes a second makes as many while it is recorded, in pairs that take turns; of 650 a second
# that are sampled 999 times a second nothing is lost, and their stacks are complete.
# timeout: 300
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_nightly
need_prog forks
[ -z "${IN_GUEST:-}" ] || skip "a guest makes fewer"

forks() { "$PROGS/forks" 8 "$1" 0.3; }
for ((round = 0; round < 5; round++)); do
	alone=$(forks 1100)
	start_bpfprof oncpu -F 99 -f -o "$TMP/churn.folded" 60
	recorded=$(forks 1100)
	stop "$PID" INT
	awk -v a="$alone" -v b="$recorded" 'BEGIN { printf "%.1f\n", 100 * b / a }' >>"$TMP/kept"
done
kept=$(sort -n "$TMP/kept" | sed -n 3p)
echo "# figure: churn/forks-kept $(uname -m) $(uname -r | cut -d . -f 1,2) $kept % of forks while it records"
check_between "$kept" 97 1000 "% of forks while it records, median of 5"

start_bpfprof oncpu --comm forks -F 999 --max-overhead 0 -f -o "$TMP/fast.json" 60
forks 650 >/dev/null
stop "$PID" INT
seen=$(json "$TMP/fast.json" samples seen)
lost=$(json "$TMP/fast.json" samples lost)
check_between "$lost" 0 $((seen / 200)) "samples lost, at most 0.5 % of $seen"
rooted=$(json "$TMP/fast.json" rooted_share)
echo "# figure: churn/rooted $(uname -m) $(uname -r | cut -d . -f 1,2) $rooted of the samples in complete stacks"
check_between "$rooted" 0.99 1 "share in complete stacks"
finish
