#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# CPUs that leave and return during the recording: sampling goes on where they are, the ledger closes, and a program
# that starts while a CPU is away has its names.
# timeout: 300
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_guest
need_bpf
need_prog spin_abc pool
CPU1=/sys/devices/system/cpu/cpu1/online
[ -w "$CPU1" ] || skip "needs a second CPU that can be switched off"

cpu1() { # 0|1
	echo "$1" >"$CPU1"
}
record() { # SECONDS: in the background, over all that runs
	"$BPFPROF" oncpu -F 99 -I -f -o "$TMP/x.json" "$1" >"$TMP/x.folded" 2>"$ERR" &
	recorder=$!
	pids+=("$recorder")
}
recorded() { # DESC
	wait_for "$recorder"
	check_near "$STATUS" 0 0 "exit status: $1"
	check_folded "$TMP/x.folded"
	seen=$(json "$TMP/x.json" samples seen)
	check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost: $1"
	check_near $(($(json "$TMP/x.json" samples recorded) + $(json "$TMP/x.json" samples filtered))) "$seen" 0 "the ledger: $1"
}

start "$PROGS/spin_abc" 300
start "$PROGS/spin_abc" 300

# Away for one second of eight. In real time an emulated CPU misses samples, so the bounds are wide, but not as wide as
# what is to be told apart: without a new event the CPU would be missing for seven of eight.
record 8
sleep 1
cpu1 0
sleep 1
cpu1 1
recorded "away for a while"
whole=$seen
check_near "$(folded_pct "$TMP/x.folded" '^spin_abc;')" 90 10 "share of the two programs"

# For comparison: both there all the time.
record 8
recorded "both CPUs"
both=$seen
interrupts=$(json "$TMP/x.json" cost interrupts_share_of_cpus)
check_near $((100 * whole / both)) 94 19 "samples, in percent of those of both (56 if it stayed away)"

# So short that nobody may have seen it go: the event must be opened anew all the same.
record 6
sleep 1
for _ in 1 2 3; do
	cpu1 0
	cpu1 1
	sleep 0.3
done
recorded "away and back at once"
check_near $((100 * seen / both)) 75 18 "samples of 6 s, in percent of those of both in 8 s (44 if it stayed away)"

# What starts while a CPU is away, and then runs there.
cpu1 0
record 6
sleep 1
"$PROGS/pool" 2 60 >/dev/null &
pids+=($!)
sleep 1
cpu1 1
sleep 1
taskset -apc 1 $! >/dev/null
recorded "new programs"
check_near "$(folded_pct <(grep '^worker-' "$TMP/x.folded") 'worker_main;job_[01];step_[01];leaf_[01]')" 97 3 "stacks with all names"

# It begins with one CPU; the other joins, and counts in what it costs.
cpu1 0
record 6
sleep 1
cpu1 1
recorded "a CPU joins"
check_near $((100 * seen / both)) 70 20 "samples of 6 s, in percent of those of both in 8 s (37 if it never joined)"
check_near "$(awk -v a="$(json "$TMP/x.json" cost interrupts_share_of_cpus)" -v b="$interrupts" 'BEGIN { printf "%d", 100 * a / b }')" 90 15 "interrupts, in percent of those (50 without it)"
finish
