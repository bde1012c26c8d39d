#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# When a recording has ended by itself, and somebody presses Ctrl-C just then, the result is written all the same. One
# who presses it again does not wait for a reader that reads nothing.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog waits_switcher
mkfifo "$TMP/pipe"
start "$PROGS/waits_switcher" 100
switcher=$PID

# A result that is larger than a pipe, and nobody reads it yet.
record() {
	tail -f /dev/null <"$TMP/pipe" & # so that it can be opened
	opener=$!
	pids+=("$opener")
	# What a shell starts behind & ignores it.
	env --default-signal=INT "$BPFPROF" timeline -p "$switcher" 0.3 >"$TMP/pipe" 2>"$TMP/err" &
	recorder=$!
	pids+=("$recorder")
	wait_until 30 waits_to_write || fail "the recording does not write"
}

# To standard output, by the number of that system call.
waits_to_write() {
	grep -q "^$write 0x1 " "/proc/$recorder/syscall"
}
case $(uname -m) in x86_64) write=1 ;; *) write=64 ;; esac

record
kill -INT "$recorder"
sleep 0.5
check "Ctrl-C does not end it" kill -0 "$recorder"
timeout 60 cat "$TMP/pipe" >"$TMP/out" &
reader=$!
wait_for "$recorder"
check_near "$STATUS" 0 0 "exit status"
wait_for "$reader"
check_between "$(stat -c %s "$TMP/out")" 100000 10000000000 "bytes of the result"

record
kill -INT "$recorder"
sleep 0.2
kill -INT "$recorder"
wait_for "$recorder"
check_near "$STATUS" 130 0 "after another Ctrl-C: exit status"
finish
