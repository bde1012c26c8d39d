#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Waits above a threshold are told one by one, with who had the CPU meanwhile: of two hogs, the other one.
# alone: it measures waits for a CPU
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog waits_hogs waits_sleeper

start_first "$PROGS/waits_hogs" 100
hogs=$PID
all_there() { [ "$(nr_threads "$hogs")" -eq 3 ]; }
wait_until 5 all_there

check "waits of more than 1 ms" "$BPFPROF" runqlat -p "$hogs" --threshold 1000 2 1
check_grep 'hog_a.*hog_b' "$OUT" "hog_a waited while hog_b ran"
check_grep 'hog_b.*hog_a' "$OUT" "hog_b waited while hog_a ran"
check_between "$(grep -Ec 'hog_a.*hog_b|hog_b.*hog_a' "$OUT")" 10 10000 "outliers"

start "$PROGS/waits_sleeper" often 10000 10000
check "nobody waits for 10 s" "$BPFPROF" runqlat -p "$PID" --threshold 10000000 1 1
check_no_grep '^ +[0-9]+\.[0-9]+ .*waits_sleeper' "$OUT" "no outliers"
finish
