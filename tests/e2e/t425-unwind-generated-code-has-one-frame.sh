#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A function generated at run time is one frame, whatever was looked up before: on aarch64 its link register, which is
# stale, is not taken for its caller.
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog nofp_anon

start "$PROGS/nofp_anon" 60
sleep 0.3
check "oncpu records" "$BPFPROF" oncpu -e cpu-clock -p "$PID" -U -F 499 -f 3
stop "$PID" KILL
awk '{ n = $NF; all += n; sub(/ [0-9]+$/, "") }
	/;\[jit\]/ { generated += n }
	/;main;run_generated;\[jit\]$/ { right += n }
	!/;main;run_generated;\[jit\]$/ && /;\[jit\]/ { print "#   " n, $0 }
	END { printf "%.2f %.2f\n", all ? 100 * generated / all : 0, generated ? 100 * right / generated : 0 }' "$OUT" >"$TMP/shares"
grep '^#' "$TMP/shares"
read -r generated right < <(tail -n 1 "$TMP/shares")
check_between "$generated" 90 100 "% of samples in generated code"
check_between "$right" 99.5 100 "% of those with the true stack"
finish
