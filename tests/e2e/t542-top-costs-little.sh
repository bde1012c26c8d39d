#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Once it has names, top at 1 Hz takes about one hundredth of a CPU of a busy machine, as /proc says.
# timeout: 180
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need_prog spin_abc
start "$PROGS/spin_abc" 100
SPIN=$PID
ticks() { # PID: its own and those of its children that have ended
	awk '{ print $14 + $15, $16 + $17 }' "/proc/$1/stat"
}
start_bpfprof top -b -p "$SPIN" 1
TOP=$PID
sleep 10
read -r own children < <(ticks "$TOP")
sleep 20
read -r own_then children_then < <(ticks "$TOP")
stop "$TOP" INT
hz=$(getconf CLK_TCK)
echo "# in 20 s: $((own_then - own)) ticks of its own, $((children_then - children)) of its children, of $hz a second"
grep 'CPU: own' "$OUT" | tail -1 | sed 's/^/# /'
check "its own process takes at most 1 %" test "$((own_then - own))" -le $((20 * hz / 100))
check "with its children at most 2 %" test "$((own_then - own + children_then - children))" -le $((40 * hz / 100))
finish
