#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# A worker that always has a task polls its driver without waiting (epoll_wait of no time): that is the runtime's running
# time, and no idleness. Where waits come faster than they can be read, no gap of the driver is made of what is missing.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

# Two tasks that wake each other, on one worker: one of them is always ready.
check "wall" "$BPFPROF" wall -F 997 -o "$TMP/wall.bpfprof" -o "$TMP/wall.json" -- "$app" 3 --pingpong --workers 1
"$BPFPROF" report -f --frames=all --idle=show "$TMP/wall.bpfprof" >"$TMP/folded"
check_folded "$TMP/folded"
in_driver='Driver::turn;.*epoll_wait'
all=$(us_of "$TMP/folded" "^tokio-rt-worker;.*$in_driver")
runtime=$(us_of "$TMP/folded" "^tokio-rt-worker;\\[runtime\\];.*$in_driver")
idle=$(us_of "$TMP/folded" '^tokio-rt-worker;\[idle\];')
worker=$(us_of "$TMP/folded" '^tokio-rt-worker;')
echo "# figure: $runtime of $all us in a driver that never waits are the runtime's, $idle us of $worker idle"
check_between "$all" 5000 3000000 "us in the driver"
check_between "$((all - runtime))" 0 $((all / 50)) "us in the driver that are not the runtime's"
check_between "$idle" 0 $((worker / 50)) "us of the worker that are idle"
check_between "$(us_of "$TMP/folded" '^tokio-rt-worker;\[task\];')" $((worker / 4)) "$worker" "us in its tasks"

# On two they wake each other through the driver, more often than a recorder that stands still for a while can read.
start "$BPFPROF" offcpu --gaps -o "$TMP/x.json" -o "$TMP/x.bpfprof" -- "$app" 4 --pingpong --workers 2
recorder=$PID
sleep 1
for ((i = 0; i < 4; i++)); do
	kill -STOP "$recorder"
	sleep 0.3
	kill -CONT "$recorder"
	sleep 0.2
done
wait "$recorder"
lost=$(json "$TMP/x.json" samples notes moments-lost)
us=$(json "$TMP/x.json" runtime driver_gaps us)
echo "# figure: $lost waits missing of a recorder that stood still for 1.2 s, and $us us of gaps"
[ "$lost" -gt 0 ] || skip "nothing was missing: the host is too busy"
# Of load beside it: while both workers wait for a CPU, nobody can poll.
check_between "$us" 0 300000 "us of gaps"
check "the summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep '^  [0-9,]+ waits came too fast to be noted; no gap is looked for meanwhile$' "$OUT"
finish
