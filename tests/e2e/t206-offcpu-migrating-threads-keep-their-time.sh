#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that is sent from CPU to CPU in its sleep has slept for as long as it did: 3 seeds, and 50 nightly.
# timeout: 900
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_migrate
[ "$(nproc)" -ge 2 ] || skip "needs 2 CPUs"

nr=3
[ -z "${NIGHTLY:-}" ] || nr=50
for ((seed = 1; seed <= nr; seed++)); do
	check_mix "$seed" 1.5
	check_between "$(awk '$1 == "migrated" { print $2 }' "$TMP/did")" 20 1000000 "seed $seed: wakes on another CPU"
	check_between "$(pct_of "$(us_of "$TMP/x.folded" '^waits_migrate;.*;block_')" "$(awk '$1 == "wall" { print $2 }' "$TMP/did")")" \
		0 100 "seed $seed: % of the life of the thread"
	check_near "$(ledger "$TMP/x.json" impossible-time)" 0 0 "seed $seed: impossible times"
done
finish
