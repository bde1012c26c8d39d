#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A host that cannot run bpfprof gets one sentence that names the missing thing, and exit status 77.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv setarch taskset unshare
need_prog spin_abc

chmod 755 "$TMP"
cp "$BPFPROF" "$TMP/bpfprof"
refused() { # PATTERN CMD...
	local pattern=$1

	shift
	check_status 77 "cannot: $*" "$@"
	check_grep "$pattern" "$ERR"
}
refused "CAP_BPF is missing.*sudo" setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bpfprof" oncpu 1
refused "CAP_PERFMON is missing" setpriv --bounding-set -sys_admin,-perfmon "$TMP/bpfprof" oncpu 1
refused "CAP_BPF is missing" setpriv --bounding-set -sys_admin,-bpf "$TMP/bpfprof" oncpu 1
refused "kernel 2\.6.* is too old: bpfprof needs 5.15" setarch --uname-2.6 "$TMP/bpfprof" oncpu 1
refused "no kernel type information at /sys/kernel/btf/vmlinux" \
	unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" oncpu 1' "$TMP/bpfprof"
refused "/proc is not mounted here" unshare -m sh -c 'mount -t tmpfs none /proc && exec "$0" oncpu 1' "$TMP/bpfprof"
refused "inside a PID namespace.*--pid=host" unshare --pid --fork --mount-proc "$TMP/bpfprof" oncpu -p 1 1

if has_pmu; then
	check "-e cycles, which this machine has" "$BPFPROF" oncpu -e cycles -U -F 999 -f -- "$PROGS/exiter" 0.1
	check_grep '^exiter;(.*;)?doomed_spin ' "$OUT"
else
	refused "shows no hardware cycle counter .-e cpu-clock" "$BPFPROF" oncpu -e cycles 1
fi
check_status 1 "no such process" "$BPFPROF" oncpu -p 4194000 1
check_grep "no process 4194000" "$ERR"
check_status 1 "no such thread" "$BPFPROF" oncpu -t 4194000 1
check_grep "no thread 4194000" "$ERR"

# No CPU is taken away: a private mount shows another list.
possible=$(sed 's/.*[-,]//' /sys/devices/system/cpu/possible)
if [ "$possible" -gt 0 ]; then
	echo 0 >"$TMP/online"
	with_cpu_0() {
		unshare -m sh -c 'mount --bind "$0" /sys/devices/system/cpu/online && exec "$@"' "$TMP/online" "$BPFPROF" oncpu "$@"
	}
	check_status 1 "a CPU that is offline" with_cpu_0 -C "$possible" 1
	check_grep "^bpfprof: -C $possible: no such CPU is online; those online are 0$" "$ERR"
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check "offline CPUs beside others are passed over" with_cpu_0 -C "0-$possible" -e cpu-clock -f 0.5 -- taskset -c 0 "$PROGS/spin_abc" 1
fi

# A process that calls itself 77777 in a namespace of its own.
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	unshare --pid --fork --mount-proc sh -c 'echo 29998 >/proc/sys/kernel/ns_last_pid; sleep 20 & wait' &
	pids+=($!)
	inner() { grep -lE '^NSpid:.*[[:space:]]29999$' /proc/[0-9]*/status 2>/dev/null; }
	if wait_until 2 inner >/dev/null && [ ! -d /proc/29999 ]; then
		outer=$(inner | cut -d / -f 3)
		check_status 1 "a PID of another namespace" "$BPFPROF" oncpu -p 29999 1
		check_grep "process $outer calls itself 29999 inside its PID namespace: use -p $outer" "$ERR"
		kill -KILL "$outer"
	fi
fi

if command -v strace >/dev/null; then
	samples=$(($(getconf _NPROCESSORS_ONLN) + 1)) # the first event that samples; before it, one per CPU reports processes
	refused "may not open the cycles event on CPU 0 .kernel.perf_event_paranoid is" \
		strace -f -o /dev/null -e inject=perf_event_open:error=EACCES:when=$samples+ "$BPFPROF" oncpu 1
	for first in 1 "$samples"; do
		check_status 1 "a kernel that finds fault is no mistake on the command line" \
			strace -f -o /dev/null -e inject=perf_event_open:error=EINVAL:when=$first+ "$BPFPROF" oncpu 1
		check_grep "cannot open the .*event.*: Invalid argument" "$ERR"
	done
	check_status 1 "out of descriptors" \
		strace -f -o /dev/null -e inject=perf_event_open:error=EMFILE "$BPFPROF" oncpu 1
	check_grep "Too many open files" "$ERR"
fi
finish
