#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# "-- PROGRAM ARGS", Ctrl-C, SIGTERM.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc exiter

from=$SECONDS
check "ends with the program" "$BPFPROF" oncpu -F 499 -f 30 -- "$PROGS/exiter" 1
check_near $((SECONDS - from)) 1 2 "seconds"
check_near "$(folded_pct "$OUT" '^exiter;')" 97 3 "samples under the program's own name"
check "ends the program with the recording" "$BPFPROF" oncpu -f 1 -- "$PROGS/spin_abc" 33.125
check_fail "the program is gone" pgrep -f 'spin_abc 33\.125'

# Between fork and exec the child runs our code; at this rate some samples of ten such starts fall there.
: >"$TMP/starts"
for _ in {1..10}; do
	run "$BPFPROF" oncpu -F 4999 -f -o "$TMP/start.json" -- /bin/true
	cat "$OUT" >>"$TMP/starts"
	python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert s["filtered"] == sum(s["filtered_by"].values()), s' "$TMP/start.json" || fail "the ledger of a start"
done
check_grep '^true;' "$TMP/starts" "the program is recorded"
check_no_grep '^bpfprof' "$TMP/starts" "bpfprof on its way there is not"
run "$BPFPROF" oncpu -F 4999 -o "$TMP/nested.folded" -- "$BPFPROF" oncpu -F 49 -f 0.3
check_grep '^bpfprof;' "$TMP/nested.folded" "another bpfprof is a program like others"

check "options of the program are its own" "$BPFPROF" oncpu -f -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' -p x
check_status 1 "no such program" "$BPFPROF" oncpu -f -- /no/such/program
check_grep "cannot start /no/such/program: No such file" "$ERR"
check "a program that fails is told" "$BPFPROF" oncpu -F 999 -f -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 9'
check_grep "sh exited with status 9" "$ERR"

from=$SECONDS
check "a program that ignores SIGTERM" "$BPFPROF" oncpu -F 499 -f 1 -- bash -c 'trap "" TERM; for i in {1..60}; do for j in {1..20000}; do :; done; sleep 0.2; done'
check_near $((SECONDS - from)) 3 2 "seconds until it was killed"
from=$SECONDS
check "--no-children does not wait for them" "$BPFPROF" oncpu --no-children -F 999 -f -- sh -c 'sleep 20 & i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
check_near $((SECONDS - from)) 2 3 "seconds"

start "$PROGS/spin_abc" 30
target=$PID
for signal in INT TERM HUP; do
	# A background job of a shell ignores SIGINT; env puts it back.
	env --default-signal="$signal" "$BPFPROF" oncpu -p "$target" -F 499 -f >"$TMP/$signal" 2>"$TMP/err" &
	pids+=($!)
	sleep 1.2
	stop $! "$signal"
	check_near "$STATUS" 0 0 "exit status after SIG$signal"
	check_pct "$TMP/$signal" spin_a 50 12
done
check "the target is unharmed" kill -0 "$target"
finish
