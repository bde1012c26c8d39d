#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The kernel's half of a sample, walked by the kernel's tables, is what the kernel itself finds: in system calls, page faults,
# interrupts and threads of the kernel; also below functions with a return probe, whose callers only the kernel knows.
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
[ "$(uname -m)" = x86_64 ] || skip "elsewhere than on x86-64 the kernel follows frame records"

# Files, pipes, faults, forks and reclaimed memory, without end.
busy() {
	while :; do
		ls -lR /usr/share /proc/self /sys/kernel >/dev/null 2>&1
		dd if=/dev/zero bs=64k count=300 2>/dev/null | cat | wc -c >/dev/null
		dd if=/dev/zero of="$TMP/file" bs=64k count=100 conv=fsync 2>/dev/null
		for _ in 1 2 3 4 5 6 7 8; do (:); done
	done
}
export -f busy
export TMP

audited() { # NAME OPTIONS...: sets $right, $asked and $wrong
	local name=$1

	shift
	check "$name" "$BPFPROF" oncpu --audit -e cpu-clock -F 1999 -v "$@" -o "$TMP/x.json" -o "$TMP/x.folded" 5
	grep -a 'unwind tables: it walks' "$ERR" && skip "this kernel does not show its tables"
	right=$(ledger "$TMP/x.json" verified)
	asked=$(ledger "$TMP/x.json" walked)
	wrong=$(ledger "$TMP/x.json" audit-wrong)
	echo "# $name: $right walked by the tables, $asked left to the kernel, $wrong wrong"
	sed -n '/found unchanged/,$p' "$ERR" | head -n 40 | sed 's/^/# /'
	check_near "$wrong" 0 0 "$name: stacks that the kernel walks otherwise"
	check_ledger_closes "$TMP/x.json"
}

start bash -c busy
load=$PID
audited "a busy kernel"
check_between "$right" 1000 100000000 "stacks that were compared"
check_between "$((100 * asked / (asked + right + 1)))" 0 30 "% of stacks left to the kernel"
echo "# figure: kernel stacks walked by the tables $(uname -m) $(uname -r | cut -d . -f 1,2) $((100 * right / (asked + right + 1))) %"
audited "threads of the kernel, too" -I

# Returns are caught at other places by kretprobes, rethooks and the tracer of functions.
if [ -r /sys/bus/event_source/devices/kprobe/type ]; then
	start_bpfprof kprobe --latency vfs_read vfs_write do_sys_openat2 vfs_getattr --all --force 30
	probes=$PID
	sleep 2
	audited "below return probes"
	check_grep 'vfs_(read|write|statx|getattr|open)|openat' "$TMP/x.folded" "code with probes was sampled"
	stop "$probes" INT
fi
stop "$load" KILL
finish
