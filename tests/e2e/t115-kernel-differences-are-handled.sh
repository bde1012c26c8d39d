#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Through bpf/kernel.bpf.h: why a thread left its CPU, and the registers it entered the kernel with, as /proc has them.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
KERNEL=$ROOT/build/tests/e2e/kernel
[ -x "$KERNEL" ] || skip "$KERNEL is not built"

value() { # NAME
	awk -v name="$1" '$1 == name { print $2 }' "$TMP/seen"
}

# It sleeps a while and again and again, always in the same system call.
cat >"$TMP/sleeper.py" <<'P'
import time
while True:
    time.sleep(0.05)
P
start python3 "$TMP/sleeper.py"
asleep() { grep -q '^[0-9]' "/proc/$PID/syscall" && [ "$(wc -w <"/proc/$PID/syscall")" -eq 9 ]; }
wait_until 5 asleep
sleep 1
check "a thread that sleeps" "$KERNEL" "$PID" 1
cp "$OUT" "$TMP/seen"
cat "$OUT"
check_near "$(value state)" 1 0 "state TASK_INTERRUPTIBLE"
check_near "$(value blocked)" 14 7 "times it went to sleep"
check_near $(($(value argument) + $(value no-argument))) 1 0 "forms of sched_switch that this kernel has"
wait_until 5 asleep
read -r _ _ _ _ _ _ _ sp pc <"/proc/$PID/syscall"
check "program counter as in /proc" [ "$(value pc)" = "$pc" ]
check "stack pointer as in /proc" [ "$(value sp)" = "$sp" ]

start taskset -c 0 "$PROGS/spin_abc" 60
spin=$PID
start taskset -c 0 "$PROGS/spin_abc" 60
# What starts a program, and its first moments, may wait for something.
spinning() { [[ $(readlink "/proc/$spin/exe") == */spin_abc ]]; }
wait_until 5 spinning
sleep 0.5
check "a thread that is preempted" "$KERNEL" "$spin" 1
cp "$OUT" "$TMP/seen"
check_near "$(value blocked)" 0 0 "times it blocked"
check_grep '^preempted [1-9]' "$TMP/seen"
finish
