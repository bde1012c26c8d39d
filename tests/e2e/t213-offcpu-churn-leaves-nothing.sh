#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads that live for a millisecond: each wait is there, none is lost, and memory does not grow with them. Nightly 10,000 a
# second for a minute.
# timeout: 300
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_churn

rate=${IN_GUEST:+200}
rate=${rate:-2000}
seconds=2
if [ -n "${NIGHTLY:-}" ]; then
	rate=${IN_GUEST:+500}
	rate=${rate:-10000}
	seconds=60
fi
peak() {
	sed -n 's/.*peak memory \([0-9.]*\) MB.*/\1/p' "$ERR"
}
record offcpu -v -m 1 --idle=show -- "$PROGS/waits_churn" "$rate" 1
before=$(peak)
record offcpu -v -m 1 --idle=show -- "$PROGS/waits_churn" "$rate" "$seconds"
started=$(awk '$1 == "started" { print $2 }' "$TMP/did")
check_between "$started" $((rate * seconds / 4)) $((rate * seconds)) "threads started"
check_truth brief_nap
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_between "$(ledger "$TMP/x.json" recorded)" "$started" 100000000 "waits recorded"
check_near "$(peak)" "$before" 8 "peak memory in MB after $seconds s, as after 1 s"
finish
