#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Commands that have nothing to leave out say when they cost more than 1 % of the CPUs, and go on. With --max-overhead they end
# within a few seconds of that, with the result so far, and say so; a load that costs less ends none. By day one of each kind.
# alone: it judges times
# timeout: 240
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=io.sh
. "${0%/*}/io.sh"
need_bpf
need_prog waits_switcher waits_sleeper locks_held faulter io_known
[ -z "${IN_GUEST:-}" ] || skip "there a switch costs far too much whatever is done"
unset BPFPROF_MAX_OVERHEAD

took() { # COMMAND...: runs it, and sets s to the seconds that it took
	local from=$EPOCHREALTIME

	run timeout 60 "$BPFPROF" "$@"
	s=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	check_is "$STATUS" 0 "exit status of $*,"
}

ends() { # LEAST ARGUMENTS...: with so many events until then
	local least=$1

	shift
	took "$@" --max-overhead 0.1 -o "$TMP/x.json" -d 20
	check_between "$s" 1.9 12 "s until $* ended, of 20"
	check_grep "warning: ended after .* more than --max-overhead 0.1 % for two seconds" "$ERR"
	check_grep '"ended_by": ?"overhead"' "$TMP/x.json" "$*: the result says so"
	check_between "$(ledger "$TMP/x.json" recorded)" "$least" 1000000000 "$*: recorded"
}

start "$PROGS/waits_switcher" 200
busy=$PID
# Some hosts have no probes of the kernel. (--force: else so many hits end it before.)
if [ -z "${NIGHTLY:-}" ]; then
	echo "# kprobe runs nightly"
elif [ -e /sys/bus/event_source/devices/kprobe ]; then
	ends 1000 kprobe --force -p "$busy" vfs_read
else
	echo "# no kprobes here: kprobe is not tried"
fi
for command in wakeup ${NIGHTLY:+sched timeline} syscalls runqlat; do
	ends 1000 "$command" -p "$busy"
done
# What costs are switches; those of the other program wait for a lock.
start "$PROGS/locks_held" two 100000
locks=$PID
ends 50 lock -p "$busy,$locks"
stop "$locks"
[ -z "${NIGHTLY:-}" ] || ends 1000 tracepoint --force -p "$busy" sched:sched_switch
# shellcheck disable=SC2016 # for the shell below
if need_disk; then
	start bash -c 'while "$0" read "$1" 20000; do :; done' "$PROGS/io_known" "$folder"
	reads=$PID
	ends 500 io -n io_known
	stop "$reads"
fi

# Without the option it is told, and goes on.
took wakeup -p "$busy" -o "$TMP/x.json" -d 3
check_between "$s" 3 20 "s that wakeup took, of 3"
check_grep "warning: this costs .* nothing can be left out of it .with --max-overhead PCT it ends above PCT %" "$ERR"
check_no_grep "ended after" "$ERR"
BPFPROF_MAX_OVERHEAD=0 took wakeup -p "$busy" -o "$TMP/x.json" -d 3
check_no_grep "this costs" "$ERR"
stop "$busy"
if [ -n "${NIGHTLY:-}" ]; then
	start "$PROGS/faulter" 1000 100000000
	ends 1000 faults -p "$PID"
	stop "$PID"
fi

# What costs little goes on.
start "$PROGS/waits_sleeper" often 100000 5000
took wakeup --max-overhead 5 -p "$PID" -o "$TMP/x.json" -d 4
check_between "$s" 4 20 "s that wakeup of a quiet thread took, of 4"
check_no_grep "ended after" "$ERR"
mistake 2 "--max-overhead" lock --max-overhead 200 1
finish
