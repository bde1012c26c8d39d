#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where the machine shows no hardware counter, the CPU clock takes its place, and every summary says so.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
! has_pmu || skip "this machine has hardware counters"

check "default" "$BPFPROF" oncpu -F 199 -s -o "$TMP/x.json" -o "$TMP/x.folded" 2 -- "$PROGS/spin_abc" 60
check_pct "$TMP/x.folded" spin_a 50 10
check_pct "$TMP/x.folded" spin_b 30 10
check_grep 'cpu-clock at 199 Hz' "$OUT" "the summary names the event"
check_grep '^ +\(this machine shows no hardware cycle counter\)$' "$OUT" "the summary says why"
check_grep '"event": "cpu-clock"' "$TMP/x.json"
check_grep '"event_note": "this machine shows no hardware cycle counter"' "$TMP/x.json"
check_status 77 "cycles asked for" "$BPFPROF" oncpu -e cycles 1
check_grep "no hardware cycle counter .-e cpu-clock always works" "$ERR"
finish
