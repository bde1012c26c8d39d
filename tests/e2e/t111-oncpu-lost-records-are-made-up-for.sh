#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# When records of processes did not fit their ring, /proc is asked again: nobody keeps the names of what it was before.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 taskset
need_prog first_role second_role

# The ring of CPU 0 fills while bpfprof is stopped; what the exec says of itself finds no room. The rate is low, so that
# the first sample after it is hardly ever one of the dynamic loader, whose new address alone would tell.
start taskset -c 0 "$PROGS/first_role" "$PROGS/second_role"
target=$PID
# By frame pointers: with tables the rings would be read every few milliseconds at first, and nothing be lost.
"$BPFPROF" oncpu --call-graph fp -p "$target" -U -F 99 -f -o "$TMP/x.json" 60 >"$TMP/x.folded" 2>"$ERR" &
bpfprof=$!
pids+=("$bpfprof")
wait_until 10 recording "$bpfprof"
sleep 1
kill -STOP "$bpfprof"
# From the first record that found no room on, all counts as of the second program: so the first one does not run meanwhile.
kill -STOP "$target"
taskset -c 0 bash -c 'for ((i = 0; i < 600; i++)); do /bin/true; done'
kill -USR1 "$target"
kill -CONT "$target"
became() { [ "$(cat "/proc/$target/comm")" = "$1" ]; }
wait_until 5 became second_role
sleep 1
kill -CONT "$bpfprof"
sleep 1
# The kernel tells what was lost with the next record of that CPU, where else only the program runs.
taskset -c 0 /bin/true
sleep 0.2
stop "$bpfprof" TERM
check_near "$STATUS" 0 0 "exit status"
check "records were lost" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
assert s["sideband_records_lost"] > 0, s' "$TMP/x.json"
check_no_grep '^second_role;(.*;)?first_role' "$TMP/x.folded" "no name of the program before"
check_no_grep '^first_role;(.*;)?second_role' "$TMP/x.folded" "nor of the one after"
grep '^second_role;' "$TMP/x.folded" >"$TMP/second.folded"
check_near "$(folded_pct "$TMP/second.folded" ';main;(.*;)?second_role')" 97 3 "samples of the second one in its function"
grep '^first_role;' "$TMP/x.folded" >"$TMP/first.folded"
check_near "$(folded_pct "$TMP/first.folded" ';main;(.*;)?first_role')" 97 3 "samples of the first one in its function"
finish
