#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# "-- PROGRAM ARGS", Ctrl-C, SIGTERM.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc exiter

check "ends with the program" "$BPFPROF" oncpu -U -F 999 -f -o "$TMP/ends.json" 30 -- "$PROGS/exiter" 0.5
check_near "$(json "$TMP/ends.json" profile duration_s)" 0.5 0.3 "seconds of recording"
check_near "$(folded_pct "$OUT" '^exiter;')" 97 3 "samples under the program's own name"
check "ends the program with the recording" "$BPFPROF" oncpu -U -f 0.5 -- "$PROGS/spin_abc" 33.125
check_fail "the program is gone" pgrep -f 'spin_abc 33\.125'

# Between fork and exec the child runs our code; at this rate several samples of each start fall there.
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
rate=$((rate < 20000 ? rate : 20000))
for i in {1..3}; do
	run "$BPFPROF" oncpu -U -F "$rate" -f -o "$TMP/start-$i.json" -- /bin/true
	cat "$OUT" >>"$TMP/starts"
done
check "the ledger of each start closes" python3 -c 'import json,sys
for f in sys.argv[1:]:
    s = json.load(open(f))["samples"]
    assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
    assert s["filtered"] == sum(s["filtered_by"].values()), s' "$TMP"/start-{1..3}.json
check_grep '^true;' "$TMP/starts" "the program is recorded"
check_no_grep '^bpfprof' "$TMP/starts" "bpfprof on its way there is not"
run "$BPFPROF" oncpu -U -F 4999 -o "$TMP/nested.folded" -- "$BPFPROF" oncpu -U -F 49 -f 0.3
check_grep '^bpfprof;' "$TMP/nested.folded" "another bpfprof is a program like others"

check "options of the program are its own" "$BPFPROF" oncpu -U -F 999 -f -- "$PROGS/exiter" 0.1 -p x
check_status 1 "no such program" "$BPFPROF" oncpu -f -- /no/such/program
check_grep "cannot start /no/such/program: No such file" "$ERR"
check "a program that fails is told" "$BPFPROF" oncpu -U -F 999 -f -- sh -c '"$0" 0.1; exit 9' "$PROGS/exiter"
check_grep "sh exited with status 9" "$ERR"

from=$SECONDS
check "a program that ignores SIGTERM" "$BPFPROF" oncpu -U -F 999 -f 0.5 -- sh -c 'trap "" TERM; "$0" 0.3; exec sleep 60' "$PROGS/exiter"
check_near $((SECONDS - from)) 3 2 "seconds until it was killed"
from=$SECONDS
check "--no-children does not wait for them" "$BPFPROF" oncpu --no-children -U -F 999 -f -- sh -c 'sleep 20 & exec "$0" 0.2' "$PROGS/exiter"
check_near $((SECONDS - from)) 2 3 "seconds"

start "$PROGS/spin_abc" 60
target=$PID
for signal in INT TERM HUP; do
	start_bpfprof oncpu -p "$target" -U -F 999 -f
	sleep 0.5
	stop "$PID" "$signal"
	check_near "$STATUS" 0 0 "exit status after SIG$signal"
	check_pct "$OUT" spin_a 50 12
done
check "the target is unharmed" kill -0 "$target"
finish
