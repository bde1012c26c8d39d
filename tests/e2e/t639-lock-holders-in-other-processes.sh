#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who holds a lock that processes share is named with its process: plain, PI and robust mutexes, whether that process is
# recorded or not, and when the wait is older than the recording.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog locks_held

finds=yes # kernel < 6.2: it does not find the holder by its number. Who frees the lock stands there.
! uname -r | awk -F . '{ exit $1 * 100 + $2 >= 602 }' || finds=

# Of the time of the lock that the program printed as "shared", who holds it.
check_keeper() { # FILE-OF-THE-PROGRAM DESC
	check "$2: the keeper holds it" python3 -c 'import json, sys
said = dict(l.split()[-2:] for l in open(sys.argv[2]) if l.split()[0] in ("lock", "keeper"))
d = json.load(open(sys.argv[1]))["locks"]
rows = [r for r in d["locks"] if r["address"] == said["shared"] and r["process"] == "locks_held"]
assert len(rows) == 1, d
assert rows[0]["holder"] == rows[0]["holder_process"] == "keeper", rows
assert rows[0]["holder_pid"] == int(said["keeper"]) != rows[0]["pid"], rows
assert rows[0]["holder_role"] != "wakes" or not sys.argv[3], rows
assert d["known_us"] >= 0.98 * d["us"], d' "$TMP/x.json" "$1" "$finds"
}

# Both are recorded.
for kind in shared shared-pi shared-robust; do
	record lock -- "$PROGS/locks_held" $kind 60
	check_keeper "$TMP/did" "$kind"
	told=$(truth want_shared)
	check_between "$(pct_of "$(us_of "$TMP/x.folded" ";want_shared;.*--;.*keeper( |\$)")" "$(us_of "$TMP/x.folded" ";want_shared;")")" \
		98 100 "$kind: want_shared: keeper holds it, % of the time"
	[ -z "$finds" ] || check_between "$(pct_of "$(us_of "$TMP/x.folded" ";want_shared;.*--;.*work_a;keep;")" "$(us_of "$TMP/x.folded" ";want_shared;")")" \
		75 100 "$kind: asleep in work_a"
	check_close "$(us_of "$TMP/x.folded" ";want_shared;")" "$told" 2 "$((20 * $(did truth want_shared 4) + taken))" "$kind: us in want_shared"
done

# Only the waiter is.
start "$PROGS/locks_held" shared 1000000
wait_until 10 grep -q keeper "$LOG"
cp "$LOG" "$TMP/said"
keeper=$(awk '$1 == "keeper" { print $2 }' "$TMP/said")
check "the waiter alone" "$BPFPROF" lock -p "$PID" --no-children -s -d 1 -o "$TMP/x.json" -o "$TMP/x.folded"
cp "$OUT" "$TMP/table"
check_keeper "$TMP/said" "the waiter alone"
check_grep ' kee(per \([0-9]+\)|per \([0-9]*…|per …|…) ' "$TMP/table" "the table has it"
check_grep '^locks_held;.*;want_shared;.*--;(.*;)?keep;.*keeper [0-9]+$' "$TMP/x.folded" "where it frees the lock"

# The wait is older than the recording: the keeper is stopped at a time at which it has the lock.
switches() {
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$PID/status"
}
for _ in 1 2 3 4 5 6 7 8; do
	kill -STOP "$keeper"
	sleep 0.3
	before=$(switches)
	sleep 0.2
	[ "$(switches)" != "$before" ] || break
	kill -CONT "$keeper"
	sleep 0.0"$RANDOM"
done
check "a wait from before" "$BPFPROF" lock -p "$PID" --no-children -s -d 0.5 -o "$TMP/x.json"
check_keeper "$TMP/said" "a wait from before"
kill -CONT "$keeper"
finish
