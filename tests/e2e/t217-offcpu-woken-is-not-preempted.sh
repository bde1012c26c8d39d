#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread that gets its CPU late after it was woken, and one that has to make room, are told apart: in stacks, in the
# summary, and in the ledger of wall.
# alone: it measures waits for a CPU
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_cpu

runnable() { # THREAD PART FUNCTION
	us_of "$TMP/x.folded" "^$1;\\[runnable\\];\\[$2\\];(.*;)?$3(;|\$)"
}
# The program counts from when its timer should have fired, the kernel from when it did: 100 us later where the clock is
# a virtual one.
check_late() { # US DESC
	check_clock "$1" "$(did woken late)" 5 $((6000 + 150 * $(did woken late 4))) "$2"
}
check_parts() { # COMMAND
	check_late "$(runnable late woken come_late)" "$1: us late, as the thread says itself,"
	check_close "$(runnable hog preempted hog)" "$(truth hog)" 5 6000 "$1: us the hog was preempted, as it says itself,"
	check_close "$(runnable late preempted work)" "$(truth work)" 5 6000 "$1: us preempted at work, as it says itself,"
	check_near "$(runnable hog woken hog)" 0 0 "$1: us the hog was woken, since it never slept,"
	check_near "$(runnable late preempted come_late)" 0 20000 "$1: us late was preempted on its way to sleep"
}

record offcpu -m 1 --by-class --wakeups -- "$PROGS/waits_cpu" late 3
check_parts offcpu
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check "JSON has both, and their sum" python3 -c 'import json, sys
w = json.load(open(sys.argv[1]))["waits"]
c = w["classes"]
assert "preempt" not in c, c
assert c["woken"]["us"] > 100000 and c["preempted"]["us"] > 100000, c
assert abs(c["woken"]["us"] + c["preempted"]["us"] - w["runnable"]["us"]) <= 1, w
assert c["throttled"]["waits"] == 0, c' "$TMP/x.json"
check "a saved recording" "$BPFPROF" offcpu -m 1 -o "$TMP/x.bpfprof" -- "$PROGS/waits_cpu" late 1
check "its summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep '^  woken +[0-9.]+ m?s ' "$OUT"
check_grep '^  preempted +[0-9.]+ m?s ' "$OUT"
check "one of them" "$BPFPROF" report -f --by-class --class woken "$TMP/x.bpfprof"
check_grep '^late;\[runnable\];\[woken\];' "$OUT"
check_no_grep preempted "$OUT"

record wall -o "$TMP/wall.bpfprof" -- "$PROGS/waits_cpu" late 3
check_parts wall
check "the ledger" "$BPFPROF" report --table "$TMP/wall.bpfprof"
check_grep 'RUNNABLE +\(woken +preempted\)' "$OUT"
check "the ledger as JSON" "$BPFPROF" report --table --json "$TMP/wall.bpfprof"
cp "$OUT" "$TMP/ledger.json"
part() { # THREAD KEY: us
	python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    for t in p["by_thread"]:
        if t["thread"] == sys.argv[2]:
            assert t["runnable_ns"] == t["woken_ns"] + t["preempted_ns"], t
            print(t[sys.argv[3]] // 1000)' "$TMP/ledger.json" "$@"
}
check_late "$(part late woken_ns)" "JSON: us woken late"
check_close "$(part hog preempted_ns)" "$(truth hog)" 5 6000 "JSON: us the hog was preempted"
check_close "$(part late throttled_ns)" 0 0 0 "JSON: us throttled, without a quota"
finish
