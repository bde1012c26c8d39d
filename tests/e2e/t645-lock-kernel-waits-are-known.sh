#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Locks of the kernel: waits of a known number and length for the lock of a file; names of locks, and no address.
# alone: it needs the CPUs for itself
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need python3
need_prog klocks_known
[ -d /sys/kernel/tracing/events/lock/contention_begin ] || skip "this kernel does not show who waits for its locks"
run "$PROGS/klocks_known" wait "$TMP" 1
[ "$STATUS" -ne 77 ] || skip "this kernel has no userfaultfd"

# The lock of the process with most waits.
most() { # KEY
	python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["calls"] if r["function"] == "rwsem (write)"]
print(round(max(rows, key=lambda r: r["total_us"])[sys.argv[2]]))' "$TMP/x.json" "$1"
}

no_addresses() {
	check_near "$(cat "$TMP/said" "$TMP/x.json" "$TMP/x.folded" | grep -ciE 'ffff[0-9a-f]{12}')" 0 0 "addresses of the kernel in texts"
	check_near "$(python3 -c 'import re, sys
data = open(sys.argv[1], "rb").read()
print(sum(1 for i in range(0, len(data) - 7) if data[i + 6:i + 8] == b"\xff\xff" and data[i:i + 6] != b"\xff" * 6
          and data[i + 5] in (0x88, 0x89, 0xc0, 0xc9)))' "$TMP/x.bpfprof")" 0 0 "what looks like one in the saved recording"
}

NR=30
record_ops "waits for a file" lock --kernel -- "$PROGS/klocks_known" wait "$TMP" $NR
check_near "$(most calls)" $NR 0 "waits for the lock of the file"
check_close "$(most total_us)" "$(said waiting)" 2 0 "us of them, against the program's clock"
check_close "$(us_of "$TMP/x.folded" '^klocks_known;\[rwsem \(write\)\];(.*;)?waiter;waiting;')" "$(said waiting)" 2 0 "us in waiting()"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_near "$(without_end)" 0 0 "without an end"
check_near "$(grep -cE ';(bpf_|__traceiter_|__bpf_|trace_contention)' "$TMP/x.folded")" 0 0 "lines with frames of bpfprof itself"
no_addresses

record_ops "long ones only" lock --kernel -m 5ms -- "$PROGS/klocks_known" wait "$TMP" 10
check_near "$(most calls)" 10 0 "-m keeps them"

if [ "$(nproc)" -gt 1 ]; then # they wait for each other only if they run side by side
	record_ops "memory" lock --kernel -- "$PROGS/klocks_known" mmap 1000
	check_between "$(row "rwsem (write)" calls mmap_lock)" 1 1000000 "waits for mmap_lock"
	no_addresses
	if grep -qE ' [a-zA-Z] uts_sem$' /proc/kallsyms; then
		record_ops "a variable of the kernel" lock --kernel -- "$PROGS/klocks_known" host 1000
		check_between "$(row "rwsem (write)" calls uts_sem)" 1 1000000 "waits for uts_sem"
	fi
fi
finish
