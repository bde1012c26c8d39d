#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Every BPF program passes the verifier in every configuration of its filters, by day with every pair of them, below 50,000
# instructions and not above what it took before by more than 20 %.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
verify=$ROOT/build/tests/e2e/verify
[ -x "$verify" ] || skip "$verify is not built"
# A guest takes half a second for each load.
few=$(by_day --pairs "")
[ -z "${IN_GUEST:-}" ] || few=$(by_day --few --pairs)
# shellcheck disable=SC2086
check "all configurations load" "$verify" $few
cp "$OUT" "$TMP/verified"
# The scheduler's needs most with slow polls: 48,163 on Linux 7.2, 48,025 on 6.1 for aarch64.
while read -r program most; do
	# Of small programs 20 % is less than what another compiler makes of them (clang 19: 102 more in sched_rename).
	check_kept "verifier/$program" "$most" "instructions" 20 50000 150
done <"$TMP/verified"
check_near "$(grep -cE '^(oncpu_sample|hits_sample|calls_(entry|return|leave|event|until|sysenter|sysexit)|filter_fork|sched_(switch|wakeup|waking|fork|rename|tasks)|accounts_(switch|flush|fork)|timeline_(switch|waking|born)) ' "$TMP/verified")" 22 0 \
	"programs that were looked at"
finish
