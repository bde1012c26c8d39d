#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two threads that wait for each other are a deadlock: whether it came about during the recording or before it, and in
# a report without root as well. A chain that ends is none, and locks that are free are nothing.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog locks_held

check_ring() { # JSON DESC
	check "$2: a ring of first and second" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["locks"]
assert len(d["deadlocks"]) == 1, d["deadlocks"]
ring = d["deadlocks"][0]
assert {t["thread"] for t in ring} == {"first", "second"} and len(ring) == 2, ring
assert {t["address"] for t in ring} == {r["address"] for r in d["locks"] if r["deadlock"]}, d
assert {r["holder"] for r in d["locks"] if r["deadlock"]} == {"first", "second"}, d' "$1"
}

start "$PROGS/locks_held" dead
wait_until 10 grep -q "lock rwlock" "$LOG"
sleep 0.5
check "before the recording" "$BPFPROF" lock -p "$PID" -s -o "$TMP/x.json" -o "$TMP/x.bpfprof" -o "$TMP/x.folded" -d 1
check_grep '^DEADLOCK in locks_held \([0-9]+\)' "$OUT"
check_grep '^  first/[0-9]+ waits for 0x[0-9a-f]+ in want_b, held by second/[0-9]+$' "$OUT"
check_grep '^  second/[0-9]+ waits for 0x[0-9a-f]+ in want_a, held by first/[0-9]+$' "$OUT"
check_ring "$TMP/x.json" "before the recording"
check_grep '^first;.*;want_b;.*--;\[deadlock\];(.*;)?want_a;second;.*;second;--;\[deadlock\];(.*;)?want_b;first;.*;first [0-9]+$' \
	"$TMP/x.folded" "the ring in the stack"
check "the report" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/report.json"
check_ring "$TMP/report.json" "the report"

"$BPFPROF" lock -o "$TMP/y.json" -d 2 -- "$PROGS/locks_held" dead >/dev/null 2>"$ERR"
check_ring "$TMP/y.json" "during the recording"

start "$PROGS/locks_held" chain 100000
check "a chain" "$BPFPROF" lock -p "$PID" -s -d 1
check_no_grep DEADLOCK "$OUT" "a chain that ends is none"

record lock -- "$PROGS/locks_held" free 20
check_no_grep ';owner;(.*;)?pthread_mutex_lock' "$TMP/x.folded" "free locks are not there"
finish
