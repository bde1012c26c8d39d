#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and tracepoints of the kernel are counted and timed, with arguments and stacks.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog called
called=$PROGS/called

sum_of() { # COLUMN [FUNCTION]: over all rows
	python3 -c 'import csv, sys
print(sum(float(r[sys.argv[2]]) for r in csv.DictReader(open(sys.argv[1])) if len(sys.argv) < 4 or r["function"] == sys.argv[3]))' \
		"$TMP/x.csv" "$@"
}

# From one to another, against what the program itself has measured.
check "naps by tracepoints" "$BPFPROF" tracepoint syscalls:sys_enter_clock_nanosleep --until \
	syscalls:sys_exit_clock_nanosleep -o "$TMP/x.csv" -o "$TMP/x.folded" -- "$called"
took=$(sed -n 's/^naps took \([0-9]*\) us$/\1/p' "$OUT")
check_near "$(sum_of calls)" 20 0 "naps"
check_near "$(sum_of total_us)" "$took" $((took / 50)) "us that they take, and the program itself says"
check_near "$(folded_pct "$TMP/x.folded" ';main;(work;)?naps;')" 100 1 "share of it with whole stacks"
check "programs that are started" "$BPFPROF" tracepoint --arg filename:str sched:sched_process_exec -o "$TMP/x.csv" -- \
	sh -c '/bin/true; /bin/true; /bin/echo >/dev/null'
check_near "$(grep -c '/bin/true"' "$TMP/x.csv")" 1 0 "rows of /bin/true"
check_near "$(sum_of calls)" 4 0 "programs"
check "a category" "$BPFPROF" tracepoint 'sched:sched_process_*' -o "$TMP/x.csv" -- /bin/true
check_near "$(sum_of calls sched:sched_process_exec)" 1 0 "one exec"
check_status 2 "no such tracepoint" "$BPFPROF" tracepoint sched:sched_swich 1
check_grep "did you mean 'sched:sched_switch'" "$ERR"
check_status 2 "one without its category" "$BPFPROF" tracepoint sched_switch 1
check_grep "did you mean 'sched:sched_switch'" "$ERR"
check_status 2 "no such field" "$BPFPROF" tracepoint --arg fname sched:sched_process_exec 1
check_grep 'has the fields filename, pid, old_pid' "$ERR"

if [ ! -r /sys/bus/event_source/devices/kprobe/type ]; then
	check_status 77 "no kprobes" "$BPFPROF" kprobe do_nanosleep 1
	check_grep 'this kernel has no kprobes' "$ERR"
	finish
fi
check "naps by a function" "$BPFPROF" kprobe -l -P hrtimer_nanosleep -o "$TMP/x.csv" -o "$TMP/x.folded" -- "$called"
took=$(sed -n 's/^naps took \([0-9]*\) us$/\1/p' "$OUT")
check_near "$(sum_of calls)" 20 0 "naps"
check_near "$(sum_of total_us)" "$took" $((took / 50)) "us that they take, and the program itself says"
check_near "$(folded_pct "$TMP/x.folded" ';main;(work;)?naps;.*;hrtimer_nanosleep$')" 100 1 "share of it with whole stacks"
check "an argument that is a string" "$BPFPROF" kprobe --arg 2:str do_sys_openat2 -o "$TMP/x.csv" -- cat /etc/hostname
check_grep '"/etc/hostname"' "$TMP/x.csv" "the file is named"
check "those that cannot be probed are passed over" "$BPFPROF" kprobe 'hrtimer_*' -o "$TMP/x.csv" -- "$called"
check "calls of $(wc -l <"$TMP/x.csv") functions" test "$(wc -l <"$TMP/x.csv")" -gt 3
check_status 2 "no such function" "$BPFPROF" kprobe do_nanosleeep 1
check_grep "did you mean 'do_nanosleep'" "$ERR"
finish
