#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# Every caller in the stacks of C, C++ and an interpreter did call: 99.9 % of the weight, checked against machine code.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
# edges.py reads machine code of aarch64 by itself.
[ "$(uname -m)" = aarch64 ] || need objdump
need_prog nofp_libc

stacks=${PROGS%/progs}/e2e/saved_stacks
edges=$ROOT/tests/e2e/edges.py

verified() { # NAME COMMAND...
	start "${@:2}"
	sleep 0.3
	# Of fewer than a thousand samples one alone would be more than a thousandth.
	check "$1: oncpu records" "$BPFPROF" oncpu -F 1999 -p "$PID" -o "$TMP/x.bpfprof" 2
	stop "$PID" KILL
	check "$1: callers did call" python3 "$edges" "$stacks" "$TMP/x.bpfprof"
	sed 's/^/#   /' "$OUT"
}

verified nofp_libc "$PROGS/nofp_libc" 60
[ ! -x "$PROGS/nofp_throw" ] || verified nofp_throw "$PROGS/nofp_throw" 60
verified python3 python3 -c 'while True: sorted(str(x * 7919 % 1000) for x in range(1000))'
finish
