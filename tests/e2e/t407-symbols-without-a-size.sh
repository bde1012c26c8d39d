#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A symbol without a size does not name the functions without symbols behind it: with unwind tables and without.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc
[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"

cat >"$TMP/work.c" <<'C'
__asm__(".text\n.p2align 4\n.globl labelled\nlabelled: mov $20000, %ecx\n1: dec %ecx\njnz 1b\nret\n"
	".p2align 4\n.Lbare: mov $20000, %ecx\n1: dec %ecx\njnz 1b\nret\n"
	".p2align 4\n.Ltables: .cfi_startproc\nmov $20000, %ecx\n1: dec %ecx\njnz 1b\nret\n.cfi_endproc\n"
	".p2align 4\n.skip 8192, 0x90\n.Lfar: mov $20000, %ecx\n1: dec %ecx\njnz 1b\nret\n"
	".data\n.globl hidden\nhidden: .quad .Lbare, .Ltables, .Lfar\n.text\n");
extern void (*hidden[3])(void);
void labelled(void);
int main(void)
{
	for (;;) {
		labelled();
		for (int i = 0; i < 3; i++)
			hidden[i]();
	}
}
C
check "gcc builds it" gcc -O1 -o "$TMP/work" "$TMP/work.c"
start "$TMP/work"
check "oncpu records" "$BPFPROF" oncpu -p "$PID" -U -F 2999 -f 2
stop "$PID" KILL
check_near "$(folded_pct "$OUT" ';labelled$')" 25 6 "its own share"
check_near "$(folded_pct "$OUT" ';\[work\+0x[0-9a-f]+\]$')" 75 6 "without a name"
finish
