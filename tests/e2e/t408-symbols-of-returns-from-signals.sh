#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a signal handler returns to has its name, whether the C library has symbols or not.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog nofp_signal

returns() { # NAME PROGRAM PATTERN
	check "$1: oncpu records" "$BPFPROF" oncpu -U -F 499 -f -- "$2" plain 1
	check_grep "$3" "$OUT" "$1"
}

returns "shared C library" "$PROGS/nofp_signal" ';first_instruction;(__restore_rt|__kernel_rt_sigreturn);on_signal;'
if [ "$(uname -m)" = x86_64 ] && command -v gcc >/dev/null; then
	check "gcc builds a static one" gcc -O2 -static -s "$ROOT/tests/progs/nofp_signal.c" -o "$TMP/static"
	returns "static and stripped" "$TMP/static" ';__restore_rt;\[static[+]0x[0-9a-f]+\]'
fi
finish
