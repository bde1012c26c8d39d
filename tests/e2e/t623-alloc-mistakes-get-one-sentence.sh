#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What alloc cannot do, it says in one sentence, before it records anything.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc strip
need_prog allocates

refused() { # STATUS PATTERN ARGS...
	local status=$1 pattern=$2

	shift 2
	check_status "$status" "alloc $*" "$BPFPROF" alloc "$@"
	check_grep "$pattern" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
}

refused 2 'whose allocations' 1
refused 2 'whose allocations' -n 'x*' 1
refused 2 '--every' --every 0 -p $$ 1
refused 1 'no process|does not exist|process 4194303' -p 4194303 1
refused 1 'nosuchprogram' 1 -- nosuchprogram
printf 'int main(void) { for (;;) __asm__ volatile("pause"); }\n' | sed 's/pause/nop/' >"$TMP/spin.c"
if gcc -static -nostdlib -Wl,-e,main -s -o "$TMP/spin" "$TMP/spin.c" 2>/dev/null; then
	start "$TMP/spin"
	refused 1 'has malloc\(\)|static program' -p "$PID" 1
fi
start sleep 20
check_status 3 "a process that does nothing" "$BPFPROF" alloc -p "$PID" 1
check_no_grep 'times their CPU time' "$ERR" "costs nothing"
check_status 2 "no such value" "$BPFPROF" alloc --value nosuch -- "$PROGS/allocates" 100
finish
