#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sleeps of 1, 10 and 100 ms in random order: the sum is right to 2 %, for 3 seeds, and 50 nightly.
# timeout: 900
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_migrate

nr=3
[ -z "${NIGHTLY:-}" ] || nr=50
for ((seed = 1; seed <= nr; seed++)); do
	check_mix "$seed" 1 stay
done
finish
