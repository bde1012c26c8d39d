#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -p probes a process and what it starts, and nobody else; mistakes get one sentence that says what to type.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog called
called=$PROGS/called
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

calls_of() { # FUNCTION: all its rows
	python3 -c 'import csv, sys
print(sum(int(r["calls"]) for r in csv.DictReader(open(sys.argv[1])) if r["function"] == sys.argv[2]))' "$OUT" "$1"
}

record_one() { # OPTIONS...: of one of two that do the same
	local chosen other

	start "$called" wait
	other=$PID other_log=$LOG
	start "$called" wait
	chosen=$PID
	wait_until 5 grep -q ready "$other_log"
	wait_until 5 grep -q ready "$LOG"
	start_bpfprof uprobe --csv -p "$chosen" "$@" 4
	sleep 0.5
	kill -USR1 "$chosen" "$other"
	wait_for "${pids[-1]}"
	check_near "$STATUS" 0 0 "recording of one process${*:+ with $*}: status"
	stop "$chosen"
	stop "$other"
}
record_one called_23
check_near "$(calls_of called_23)" 46 0 "calls by the process and its child"
record_one --no-children called_23
check_near "$(calls_of called_23)" 23 0 "calls by the process alone"
record_one -P called_23
check_near "$(tail -n +2 "$OUT" | wc -l)" 2 0 "rows, one for each process"

# Children that are gone before anybody hears of them.
check "of a program that is started" "$BPFPROF" uprobe -o "$TMP/x.csv" "$called:called_23" -- sh -c "$called; $called; $called"
cp "$TMP/x.csv" "$OUT"
check_near "$(calls_of called_23)" 69 0 "calls by its children"
# What is about returns times calls, though nobody said --latency.
for word in "$called:called_23+return" "$called:called_23 --arg ret"; do
	# shellcheck disable=SC2086
	check "uprobe ${word##*/}" "$BPFPROF" uprobe -o "$TMP/x.csv" $word -- "$called"
	cp "$TMP/x.csv" "$OUT"
	check_near "$(calls_of called_23)" 23 0 "calls"
	check "with the time each takes" grep -qE '^"called_23".*,[0-9.]+,[0-9.]+,[0-9.]+$' "$TMP/x.csv"
done
# A field that has the name of that. /etc/passwd would not do: in guests it has 70 bytes.
check "a field called ret" "$BPFPROF" tracepoint syscalls:sys_exit_read --arg ret -o "$TMP/x.csv" -- \
	python3 -c 'import os, sys; os.read(os.open(sys.executable, 0), 77)'
check_grep '"77"' "$TMP/x.csv" "of what was read"
# More arguments than there is room for are a loss that is named.
check "little room" "$BPFPROF" uprobe --force --max-rows 16 --arg 1 -o "$TMP/x.json" libc:nanosleep libc:malloc -- \
	python3 -c 'x = [bytes(i) for i in range(1, 60000, 97)]'
lost=$(json "$TMP/x.json" samples lost_by row-table-full)
check "calls without room for their arguments: $lost" test "$lost" -gt 100
check_near "$(json "$TMP/x.json" samples seen)" "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(sum(r["calls"] for r in d["calls"]) + d["samples"]["lost"] + d["samples"]["filtered"])' "$TMP/x.json")" 0 "seen, in rows or lost or filtered"

says() { # PATTERN STATUS ARGUMENTS...
	local pattern=$1 status=$2

	shift 2
	check_status "$status" "uprobe $*" "$BPFPROF" uprobe "$@"
	check_grep "$pattern" "$ERR" "it says what is wrong"
	check_near "$(wc -l <"$ERR")" 1 0 "in one line"
}
says 'no function .called_24.*did you mean .called_23' 2 "$called:called_24" 1
says 'no such file|cannot find|does not exist|No such file' 2 /nonexistent/file:main 1
says 'no ELF file' 2 /etc/passwd:main 1
says 'nothing to probe' 2 1
says 'no instruction of many begins at' 2 "$called:many+0x3" 1
says 'only the first' 2 --arg 99 "$called:many" 1
says "no type 'strr'.*did you mean 'str'" 2 --arg 1:strr "$called:many" 1
says 'has no such form|csv|exclude' 2 --csv -f "$called:many" 1
libc=$(ldd "$called" | awk '/libc\.so/ { print $3 }')
says 'narrow it down, or give --all' 2 "$libc:*" 1
# pthread_spin_lock() begins with what no probe can stand on.
if [ "$(uname -m)" = x86_64 ] && nm -D "$libc" | grep -q ' pthread_spin_lock@'; then
	says 'no probe can stand on' 2 "$libc:pthread_spin_lock" 1
	check_status 3 "of several functions it is left out" "$BPFPROF" uprobe "$libc:pthread_spin_*" -o "$TMP/x.csv" -- true
	check_grep '1 of [0-9]+ functions are left out' "$ERR"
fi
says 'no USDT probe' 2 "$called:usdt:none:such" 1

cat >"$TMP/busy.c" <<'C'
__attribute__((noinline)) void busy(void) { __asm__ volatile("nop"); }
int main(void) { for (;;) busy(); }
C
if cc -O1 -o "$TMP/busy" "$TMP/busy.c" 2>/dev/null && [ -z "${IN_GUEST:-}" ]; then
	check_status 1 "what is called all the time ends the recording" "$BPFPROF" uprobe "$TMP/busy:busy" 2 -- "$TMP/busy"
	check_grep 'times a second.*--force' "$ERR" "it says how often, and what to do"
	check_grep 'at [1-9][0-9.,]* [nu]s each \([1-9][0-9.,]* [nu]s where' "$ERR" "and what each costs"
	check_grep 'that is [0-9.]+% of the program.s CPU time, and at most (25.0%|100,000 hits a second) is allowed' "$ERR" "and which share that is"
fi
finish
