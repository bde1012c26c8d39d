#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where a program calls functions for the first time, the code that asks the dynamic linker for them has its caller, though
# its frame is told by a register that only what it calls has kept: 99 % of such stacks are complete.
# timeout: 60
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog binds

linker='(_dl_runtime_resolve[a-z0-9_]*|_dl_fixup|\[ld-linux[^;]*\])'
start "$PROGS/binds" 60
check "oncpu records what binds" "$BPFPROF" oncpu -n binds -F 997 --max-overhead 0 -o "$TMP/x.folded" -f 4
stop "$PID" KILL
awk -v linker="$linker" '{ n = $NF; sub(/ [0-9]+$/, "") }
	!/_dl_start/ && $0 ~ ";" linker "(;|$)" { all += n; if ($0 ~ ";main;(bind_some;)?" linker) left += n; else print n, $0 > "/dev/stderr" }
	END { printf "%d %.2f\n", all, all ? 100 * left / all : 0 }' "$TMP/x.folded" >"$TMP/left" 2>"$TMP/others"
cut -c 1-200 "$TMP/others" | sort -rn | head -5 | sed 's/^/#   /'
read -r all left <"$TMP/left"
check_between "$all" 20 1000000 "samples in the dynamic linker"
check_between "$left" 99 100 "% of these called by main or bind_some"
finish
