#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a pair of processes loses that does nothing but switch, with waits below the threshold and with every wait recorded:
# by the CPU time of both, as the median of rounds in each of which one run follows the other.
# 10 is what we want; 20 to 25 is what was measured, for waits below the threshold have their stack verified, too.
# timeout: 600
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_nightly
need_prog waits_switcher
[ -z "${IN_GUEST:-}" ] || skip "needs real time"

ops() {
	"$PROGS/waits_switcher" 2 | awk '$1 == "ops_per_cpu_s" { print $2 }'
}
under() { # OPTIONS...
	start_bpfprof offcpu "$@" -o "$TMP/x.folded" 60
	ops
	stop "$PID" INT
}
# The loss in %, of what there was just before.
loss() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", 100 * (a - b) / a }'; }
for ((round = 0; round < 9; round++)); do
	loss "$(ops)" "$(under -m 1000)" >>"$TMP/short"
	loss "$(ops)" "$(under -m 1)" >>"$TMP/all"
done
for how in short all; do
	lost=$(sort -n "$TMP/$how" | sed -n 5p)
	echo "# figure: switcher-loss/$how $(uname -m) $(uname -r | cut -d . -f 1,2) $lost % of operations in a second of CPU time"
	check_between "$lost" -10 30 "% of throughput lost, $how"
done
finish
