#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# CPUs that leave and return during the recording: sampling goes on where they are, the ledger closes, and a program
# that starts while a CPU is away has its names.
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
json() { # EXPRESSION over d
	python3 -c 'import json,sys
d = json.load(open(sys.argv[1])); s = d["samples"]; print(eval(sys.argv[2]))' "$TMP/x.json" "$1"
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
	check_near "$(json 's["seen"] - s["recorded"] - s["filtered"] - s["lost"]')" 0 0 "what the ledger leaves open: $1"
	check_near "$(json 's["lost"]')" 0 0 "lost: $1"
}

start "$PROGS/spin_abc" 300
start "$PROGS/spin_abc" 300

# Four seconds away of eight.
record 8
sleep 2
cpu1 0
sleep 4
cpu1 1
recorded "away for a while"
whole=$(json 's["seen"]')
check_near "$(folded_pct "$TMP/x.folded" '^spin_abc;')" 90 10 "share of the two programs"

# For comparison: both there all the time.
record 8
recorded "both CPUs"
both=$(json 's["seen"]')
check_near $((100 * whole / both)) 75 12 "samples while one of two CPUs was away half of the time, in percent"

# So short that nobody may have seen it go: the event must be opened anew all the same.
record 6
sleep 1
for _ in 1 2 3; do
	cpu1 0
	cpu1 1
	sleep 0.3
done
recorded "away and back at once"
check_near $((100 * $(json 's["seen"]') / both)) 70 12 "samples of 6 s in percent of those of 8 s"

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

# It begins with one CPU; the other joins.
cpu1 0
record 6
sleep 2
cpu1 1
recorded "a CPU joins"
check_near $((100 * $(json 's["seen"]') / both)) 62 12 "samples, in percent of those of both in 8 s"
finish
