#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# top has the names of generated code that its runtime writes down, of what begins after top did, too; and inlined calls where
# time is given for them.
# alone: it removes maps of generated code from /tmp, of whomever
# timeout: 60
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog generates mixes
cd "$TMP" || exit 1
touch begin

# What the last look has of a function: its share of SELF.
self() { # NAME
	awk -v name="$1" '/^the last / { pct = "" } substr($0, length($0) - length(name) + 1) == name && $1 ~ /%$/ { pct = $1 + 0 } END { print pct + 0 }' "$OUT"
}

for how in map dump; do
	check "generated code, $how" timeout -s KILL 30 "$BPFPROF" top -b -F 499 --page functions -w 3 500ms -- "$PROGS/generates" $how 1500
	check_between "$(self 'generated:often (1)')" 60 90 "% in the one"
	check_between "$(self 'generated seldom')" 10 40 "% in the other"
done
find /tmp -maxdepth 1 -name 'perf-*.map*' -newer "$TMP/begin" -delete

start "$PROGS/mixes" 30
check "without time for them" timeout -s KILL 30 "$BPFPROF" top -b -p "$PID" -F 499 --page functions 1 2
check_between "$(self ' often')" 60 100 "% in the function as the linker has it"
check_no_grep ' mix$' "$OUT"
check "with time" timeout -s KILL 30 "$BPFPROF" top -b -p "$PID" -F 499 --page functions --symbol-time 2s 1 3
check_between "$(self ' mix')" 60 100 "% in what was inlined"
finish
