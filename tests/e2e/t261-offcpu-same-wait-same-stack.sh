#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that was asleep when the recording began, and sleeps there again, does so with one stack: one tower.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_sleeper waits_pool

# Where it sleeps, and not where it was preempted on its way there or back.
nr_stacks() { # FILE
	grep -Ec ';hrtimer_nanosleep(;do_nanosleep;schedule;__schedule)? [0-9]+$' "$1"
}

# But where the thread was woken before its stack had been read, and waited for a CPU: of both only the innermost function
# is known.
check_one_stack() { # FILE DESC
	check_near "$(nr_stacks "$1")" "$((1 + ($(json "$TMP/x.json" broken_by moved-on) > 0)))" 0 "$2"
}

start "$PROGS/waits_sleeper" often 100 700000
sleeper=$PID
sleep 0.5
for how in auto fp; do
	check "offcpu --call-graph $how" "$BPFPROF" offcpu -p "$sleeper" --idle=show --call-graph $how \
		-o "$TMP/x.folded" -o "$TMP/x.json" 3
	check_stacks "$TMP/x.folded"
	check_grep ';schedule;__schedule [0-9]+$' "$TMP/x.folded" "with the scheduler's functions"
	check_one_stack "$TMP/x.folded" "$how: stacks of the same wait"
done
check "offcpu -o file" "$BPFPROF" offcpu -p "$sleeper" --idle=show -o "$TMP/x.json" -o "$TMP/x.bpfprof" 2
check_between "$(json "$TMP/x.json" waits begun_before waits)" 1 2 "waits that had begun before, and for a CPU after them"
check "report" "$BPFPROF" report -f "$TMP/x.bpfprof"
check_one_stack "$OUT" "stacks in a report"
stop "$sleeper"

# Some of its threads wait all the time, some go to sleep again.
start "$PROGS/waits_pool" 60 3
pool=$PID
all_there() { [ "$(nr_threads "$pool")" -eq 5 ]; }
wait_until 5 all_there
sleep 0.3
check "offcpu of a pool" "$BPFPROF" offcpu -p "$pool" --idle=show -f 3
cp "$OUT" "$TMP/x.folded"
# Without the functions of the scheduler a stack may stand alone, but not beside the same one with them.
awk '{ sub(/ [0-9]+$/, ""); line[$0] } END {
	for (a in line)
		for (b in line)
			if (a != b && index(b, a ";") == 1 && substr(b, length(a) + 1) ~ /;schedule(;|$)/)
				print a " | " b
}' "$TMP/x.folded" >"$TMP/towers"
check_no_grep . "$TMP/towers" "no stack is there with and without the scheduler's functions"
stop "$pool"
finish
