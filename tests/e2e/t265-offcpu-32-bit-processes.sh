#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A 32-bit process: its stacks end for that reason, and its system calls are not taken for those that have the same numbers
# in 64-bit programs (there 162 is sync, here nanosleep).
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need gcc
[ "$(uname -m)" = x86_64 ] || skip "makes a 32-bit program for x86-64"

cat >"$TMP/compat.S" <<'END'
.globl _start
.text
_start:
1:	mov $162, %eax		/* nanosleep(ts, NULL) */
	mov $ts, %ebx
	xor %ecx, %ecx
	int $0x80
	jmp 1b
.data
ts:	.long 0, 200000000
.section .note.GNU-stack, "", @progbits
END
gcc -m32 -nostdlib -static -o "$TMP/compat" "$TMP/compat.S" 2>"$ERR" || skip "no 32-bit programs can be made here"
timeout 1 "$TMP/compat"
[ $? -eq 124 ] || skip "no 32-bit programs run here"

start "$TMP/compat"
compat=$PID
sleep 0.3
for how in auto fp; do
	check "offcpu --call-graph $how" "$BPFPROF" offcpu -p "$compat" --idle=show --call-graph $how --by-class -o "$TMP/x.folded" -o "$TMP/x.json" 2
	check_between "$(json "$TMP/x.json" stacks ends 32-bit)" 99.9 100 "$how: % that ends as 32-bit"
	grep -vE ';\[(woken|preempted)\]' "$TMP/x.folded" >"$TMP/own" # a busy host makes it wait for a CPU
	mv "$TMP/own" "$TMP/x.folded"
	check_between "$(folded_pct "$TMP/x.folded" '^compat;.*nanosleep')" 99 100 "$how: % with the kernel's half"
	check_between "$(folded_pct "$TMP/x.folded" '^compat;\[sleep\]')" 99 100 "$how: % as sleep"
done
check "offcpu --no-stacks" "$BPFPROF" offcpu -p "$compat" --idle=show --no-stacks --by-class -f 2
grep -vE ';\[(woken|preempted)\]' "$OUT" >"$TMP/x.folded"
check_near "$(folded_pct "$TMP/x.folded" '^compat;\[io\]')" 0 0 "% as io, by a number of another list"
check_between "$(folded_pct "$TMP/x.folded" '^compat;\[other\]')" 98 100 "% as other"
stop "$compat" KILL
finish
