#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# System calls of a known number, length and error, seen by either kind of tracepoint; what others pay is told, and true.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog syscalls_known

row() { # NAME ERROR KEY
	python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["calls"]
        if r["function"] == sys.argv[2] and (r["arguments"] or "") == sys.argv[3]]
print("none" if not rows else round(rows[0][sys.argv[4]]))' "$TMP/x.json" "$1" "$2" "$3"
}

umask_ns() {
	"$PROGS/syscalls_known" others "$1" | awk '{ print $2 }'
}

check "all system calls" "$BPFPROF" syscalls -o "$TMP/x.json" -o "$TMP/x.folded" -s -- "$PROGS/syscalls_known" 100
cp "$OUT" "$TMP/summary"
check_near "$(row getppid "" calls)" 100 0 "getppid()"
check_near "$(row close EBADF calls)" 100 0 "close() that fails"
check_near "$(row unlinkat ENOENT calls)" 50 0 "unlinkat() that fails"
check_near "$(row clock_nanosleep "" calls)" 100 0 "nanosleep()"
[ -n "${IN_GUEST:-}" ] || check_near "$(row clock_nanosleep "" p50_us)" 10000 1700 "us of nanosleep(), by buckets of 25 %"
check_close "$(row clock_nanosleep "" total_us)" "$(awk '$1 == "rest" { print $2 }' "$TMP/summary")" 2 0 "us of nanosleep() in all"
check_ledger_closes "$TMP/x.json"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check_grep '^ +other processes paid [0-9.]+ [mun]s more for each system call$' "$TMP/summary"
check_grep '^syscalls_known;\[clock_nanosleep\];(.*;)?rest;.* [0-9]+$' "$TMP/x.folded" "stacks have the call, and the caller"
check_no_grep ';(bpf_|__bpf_|syscall_exit_work)' "$TMP/x.folded" "no frames of bpfprof itself"

# The way back from a handler is no call that returns, and no loss.
check "signals are handled" "$BPFPROF" syscalls -o "$TMP/x.json" -- "$PROGS/syscalls_known" signals 150
check_near "$(row tgkill "" calls)" 150 0 "tgkill()"
check_near "$(row getppid "" calls)" 150 0 "getppid() of the handler"
check_ledger_closes "$TMP/x.json"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "signals: lost"

# Without stacks a thread goes on adding to the rows that it found, unless its name, its CPU or the error is another one.
check "a thread that is renamed and moves" "$BPFPROF" syscalls -P -o "$TMP/x.json" -- "$PROGS/syscalls_known" moves 200
check_near "$(row getppid "" calls)" 2000 0 "moves: getppid()"
check_near "$(row close EBADF calls)" 2000 0 "moves: close() that fails"
check_near "$(row prctl "" calls)" 200 0 "moves: prctl()"
check_ledger_closes "$TMP/x.json"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "moves: lost"

check "some of them" "$BPFPROF" syscalls -o "$TMP/x.json" --only close,getppid -- "$PROGS/syscalls_known" 20
check_near "$(row getppid "" calls)" 20 0 "--only: getppid()"
check_near "$(row close EBADF calls)" 20 0 "--only: close() that fails"
check_near "$(row unlinkat ENOENT calls | grep -c none)" 1 0 "--only: others are not there"

check "slow ones" "$BPFPROF" syscalls -o "$TMP/x.json" --slower 5ms -- "$PROGS/syscalls_known" 20
check_near "$(row clock_nanosleep "" calls)" 20 0 "--slower: nanosleep()"
check_near "$(row getppid "" calls | grep -c none)" 1 0 "--slower: quick ones are not there"

check_status 2 "no such call" "$BPFPROF" syscalls --only opennat -d 1
check_grep "sys_enter_openat" "$ERR"

# Another process, before and during.
start "$PROGS/syscalls_known" 2000
before=$(umask_ns 500)
"$BPFPROF" syscalls -p "$PID" -s -d 4 >"$TMP/all" 2>/dev/null &
sleep 2
during=$(umask_ns 500)
wait $!
echo "# umask: $before ns before, $during ns during: $((during - before)) ns more"
check_grep '^ +other processes paid' "$TMP/all"
[ -n "${IN_GUEST:-}" ] || check_between $((during - before)) 0 1000 "ns that another process pays for a call"
finish
