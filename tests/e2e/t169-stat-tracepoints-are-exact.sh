#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hits of tracepoints are counted one by one, of a program, a process and a CPU; what is wrong with a name is said.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog syscalls_known

ROUNDS=50

counted() { # EVENT: its count in x.json
	python3 -c 'import json, sys
rows = [e for e in json.load(open(sys.argv[1]))["all"]["events"] if e["name"] == sys.argv[2]]
print(round(rows[0]["value"]) if rows else "none")' "$TMP/x.json" "$1"
}

check "of a program" "$BPFPROF" stat -e 'task-clock,syscalls:sys_enter_getppid,syscalls:sys_enter_unlinkat' -o "$TMP/x.json" -- \
	"$PROGS/syscalls_known" $ROUNDS
check_near "$(counted syscalls:sys_enter_getppid)" $ROUNDS 0 "getppid()"
check_near "$(counted syscalls:sys_enter_unlinkat)" $((ROUNDS / 2)) 0 "unlinkat()"

check "a pattern" "$BPFPROF" stat -e 'syscalls:sys_*_getppid' -o "$TMP/x.json" -- "$PROGS/syscalls_known" $ROUNDS
check_near "$(counted syscalls:sys_enter_getppid)" $ROUNDS 0 "its entries"
check_near "$(counted syscalls:sys_exit_getppid)" $ROUNDS 0 "its exits"

start "$PROGS/syscalls_known" 500
check "of a process" "$BPFPROF" stat -e syscalls:sys_enter_getppid,syscalls:sys_enter_close -p "$PID" -o "$TMP/x.json" 1
check_near "$(counted syscalls:sys_enter_getppid)" "$(counted syscalls:sys_enter_close)" 1 "getppid() and close() of a process"

check "of a cpu" "$BPFPROF" stat -e syscalls:sys_enter_getppid -C 0 -o "$TMP/x.json" -- \
	taskset -c 0 "$PROGS/syscalls_known" $ROUNDS
check_near "$(($(counted syscalls:sys_enter_getppid) >= ROUNDS))" 1 0 "at least the program's, on its CPU"

check "rows of processes" "$BPFPROF" stat --per-process -e syscalls:sys_enter_getppid --csv -- "$PROGS/syscalls_known" $ROUNDS
check_grep "syscalls_known.*,$ROUNDS," "$OUT"

check "list" "$BPFPROF" list sched:sched_switch
check_grep 'sched:sched_switch +kernel +tracepoint' "$OUT"

check_status 2 "a typo" "$BPFPROF" stat -e sched:sched_swich 1
check_grep "did you mean 'sched:sched_switch'" "$ERR"
check_status 2 "no modifier" "$BPFPROF" stat -e task-clock:user 1
check_grep "modifiers u, k, h and p" "$ERR"
if command -v setpriv >/dev/null; then
	chmod 755 "$TMP"
	install -m 755 "$BPFPROF" "$TMP/bpfprof"
	check_status 77 "without root" setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$TMP/bpfprof" stat -e sched:sched_switch 1
	check_grep 'only root may read' "$ERR"
fi
finish
