#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables that nobody reads any more end at once, not at the next look: neither after an interval of a minute, nor in an interval
# whose look a busy host would have to work for. Also where SIGPIPE is ignored.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

start "$PROGS/spin_abc" 60
ends() { # WHAT STATUS SHELL: the command of SHELL, whose standard output nobody reads
	local from=$EPOCHREALTIME

	{
		timeout 50 bash -c "$3" bash "$BPFPROF" "$PID" 2>"$ERR"
		echo $? >"$TMP/status"
	} | :
	check_between "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')" 0 15 "s until $1 ended, of 60"
	check_is "$(cat "$TMP/status")" "$2" "exit status of $1,"
	check_is "$(grep -vc '^bpfprof: warning: ' "$ERR")" 0 "lines on standard error of $1,"
}
# shellcheck disable=SC2016 # for the shell below
{
	ends "top -b" 141 'exec "$1" top -b -p "$2" 60'
	ends "top -b, without SIGPIPE," 1 'trap "" PIPE; exec "$1" top -b -p "$2" 60'
}
finish
