#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No limit on the length of -p, and none on the filter's cost: 400 processes in one list.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

list=
mkfifo "$TMP/never"
for _ in {1..400}; do
	read -r <"$TMP/never" & # waits for a writer
	pids+=($!)
	list+=$!,
done
start "$PROGS/spin_abc" 20
check "401 processes" "$BPFPROF" oncpu -p "$list$PID" -U -F 499 -f 1
check_near "$(folded_pct "$OUT" '^spin_abc;')" 100 1 "the last one"
finish
