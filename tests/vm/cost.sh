#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a guest of make check-cost runs: the cost of every BPF program, in instructions, against the numbers kept.
# shellcheck source=../e2e/lib.sh
. /bpfprof/tests/e2e/lib.sh
check "measured" "$ROOT/build/tests/e2e/cost" "$PROGS"
cp "$OUT" "$TMP/cost"
cat "$ERR"
# The clock of aarch64 guests ticks every 16 ns, and a workload may be in step with it.
while read -r name _ cost; do
	check_kept "cost/$name" "$cost" "instructions" 3 "" 16
done <"$TMP/cost"
check_near "$(wc -l <"$TMP/cost")" 22 0 "workloads"
echo "$((nr_checks - nr_failed)) passed, $nr_failed failed, 0 skipped"
finish
