#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a pair of processes loses that does nothing but switch, with waits below the threshold and with every wait recorded:
# the best of rounds that take turns.
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
	"$PROGS/waits_switcher" 2 | awk '$1 == "ops_per_s" { print $2 }'
}
under() { # OPTIONS...
	start_bpfprof offcpu "$@" -o "$TMP/x.folded" 60
	ops
	stop "$PID" INT
}
for ((round = 0; round < 8; round++)); do
	ops >>"$TMP/without"
	under -m 1000 >>"$TMP/short"
	under -m 1 >>"$TMP/all"
done
best() { sort -n "$TMP/$1" | tail -n 1; }
for how in short all; do
	loss=$(awk -v a="$(best without)" -v b="$(best $how)" 'BEGIN { printf "%.1f", 100 * (a - b) / a }')
	echo "# figure: switcher-loss/$how $(uname -m) $(uname -r | cut -d . -f 1,2) $loss % of $(best without) operations/s"
	check_between "$loss" -10 "$([ $how = short ] && echo 8 || echo 40)" "% of throughput lost, $how"
done
finish
