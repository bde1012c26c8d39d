#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A switch at which the kernel gives no stack is counted, and its time still is: where a program that takes stacks loses its
# CPU in the middle of one, the next is refused. Kernels that take no CPU from code of their own have no such moment.
# alone: it changes, or asks, what holds for the whole host
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
holder=$ROOT/build/tests/e2e/chain_holder
[ -x "$holder" ] || skip "$holder is not built"
mounted=
[ -r /sys/kernel/debug/sched/preempt ] || { mount -t debugfs none /sys/kernel/debug 2>/dev/null && mounted=1; }
mode=$(sed -n 's/.*(\(.*\)).*/\1/p' /sys/kernel/debug/sched/preempt 2>/dev/null)
restore() {
	[ -z "$mode" ] || echo "$mode" >/sys/kernel/debug/sched/preempt
	[ -z "$mounted" ] || umount /sys/kernel/debug
}
if [ -z "$mode" ] || ! echo full 2>/dev/null >/sys/kernel/debug/sched/preempt; then
	mode=
	restore
	skip "the kernel cannot be told to take the CPU from code of its own"
fi

start "$holder" 30
sleep 0.3
"$BPFPROF" offcpu -p "$PID" -o "$TMP/x.json" -f 5 >"$TMP/x.folded" 2>"$TMP/err"
status=$?
stop "$PID" TERM
restore
sed 's/^/# /' "$TMP/err"
failed=$(ledger "$TMP/x.json" kernel-stack-failed)
# Linux 6.1 refuses some. On 7.2 none was seen to be refused, and others were not tried.
[ "$failed" != 0 ] || [ "$(uname -r | cut -d . -f 1,2)" = 6.1 ] || skip "this kernel was not seen to refuse a stack"
echo "# $failed kernel stacks failed, of $(ledger "$TMP/x.json" recorded) waits"
check_near "$status" 0 0 "exit status of offcpu"
check_between "$failed" 1 1000000 "kernel stacks that failed"
check_between "$failed" 1 "$(ledger "$TMP/x.json" recorded)" "of waits that were recorded"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_ledger_closes "$TMP/x.json"
finish
