#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Commands that have nothing to leave out say when they cost more than 1 % of the CPUs, and go on. With --max-overhead they end
# within a few seconds of that, with the result so far, and say so; a load that costs less ends none.
# alone: it judges times
# timeout: 240
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog waits_switcher waits_sleeper
[ -z "${IN_GUEST:-}" ] || skip "there a switch costs far too much whatever is done"
unset BPFPROF_MAX_OVERHEAD

took() { # COMMAND...: runs it, and sets s to the seconds that it took
	local from=$EPOCHREALTIME

	run timeout 60 "$BPFPROF" "$@"
	s=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	check_is "$STATUS" 0 "exit status of $*,"
}

start "$PROGS/waits_switcher" 200
busy=$PID
for command in wakeup syscalls runqlat sched; do
	how=(-p "$busy" -o "$TMP/x.json" -d 20)
	took "$command" --max-overhead 0.1 "${how[@]}"
	check_between "$s" 1.9 12 "s until $command ended, of 20"
	check_grep "warning: ended after .* more than --max-overhead 0.1 % for two seconds" "$ERR"
	check_between "$(ledger "$TMP/x.json" recorded)" 1000 1000000000 "$command: recorded"
done

# Without the option it is told, and goes on.
took wakeup -p "$busy" -o "$TMP/x.json" -d 4
check_between "$s" 4 20 "s that wakeup took, of 4"
check_grep "warning: this costs .* nothing can be left out of it .with --max-overhead PCT it ends above PCT %" "$ERR"
check_no_grep "ended after" "$ERR"
BPFPROF_MAX_OVERHEAD=0 took wakeup -p "$busy" -o "$TMP/x.json" -d 3
check_no_grep "this costs" "$ERR"
stop "$busy"

# What costs little goes on.
start "$PROGS/waits_sleeper" often 100000 5000
took wakeup --max-overhead 5 -p "$PID" -o "$TMP/x.json" -d 4
check_between "$s" 4 20 "s that wakeup of a quiet thread took, of 4"
check_no_grep "ended after" "$ERR"
mistake 2 "--max-overhead" lock --max-overhead 200 1
finish
