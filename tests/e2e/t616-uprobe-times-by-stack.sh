#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Timed calls with stacks have a row for each stack: calls, sum and percentiles as the program saw them; also from a saved
# file, of functions, system calls, and from one tracepoint to another.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog callers
callers=$PROGS/callers
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

# KEY of the stack of a function that has a frame, in FILE.json.
of() { # FILE FUNCTION FRAME KEY
	python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1])).get("call_stacks", [])
        if r["function"] == sys.argv[2] and sys.argv[3] in r["stack"]]
print(round(rows[0][sys.argv[4]]) if len(rows) == 1 else "%d rows" % len(rows))' "$@"
}
saw() { # CALLER FIELD: what the program printed
	awk -v name="$1" -v field="$2" '$1 == name { print $field }' "$TMP/saw"
}
rows_are_right() { # FILE FUNCTION
	local caller

	for caller in quick:1000 slow:20000; do
		check_near "$(of "$1" "$2" "${caller%:*}" calls)" "$(saw "${caller%:*}" 2)" 0 "$2 by ${caller%:*}: calls"
		# A sleep is no shorter than it was to be. What the program saw has the cost of probes as well, on one CPU
		# also that of bpfprof.
		check "$2 by ${caller%:*}: us in all are what it slept, and no more than it saw" test \
			"$(of "$1" "$2" "${caller%:*}" total_us)" -ge "$(($(saw "${caller%:*}" 2) * ${caller#*:}))" -a \
			"$(of "$1" "$2" "${caller%:*}" total_us)" -le "$(($(saw "${caller%:*}" 3) + 1000))"
		check "$2 by ${caller%:*}: half take at least 7/8 of what was asked for" \
			test "$(of "$1" "$2" "${caller%:*}" p50_us)" -ge $((${caller#*:} * 7 / 8))
		check "$2 by ${caller%:*}: percentiles grow" test "$(of "$1" "$2" "${caller%:*}" p50_us)" -le \
			"$(of "$1" "$2" "${caller%:*}" p90_us)" -a "$(of "$1" "$2" "${caller%:*}" p99_us)" -le \
			"$(of "$1" "$2" "${caller%:*}" max_us)"
		check "$2 by ${caller%:*}: the longest is not above, and at most a fifth below" test \
			"$(of "$1" "$2" "${caller%:*}" max_us)" -le "$(($(saw "${caller%:*}" 4) + 1000))" -a \
			"$(of "$1" "$2" "${caller%:*}" max_us)" -ge "$(($(saw "${caller%:*}" 4) * 4 / 5 - 1000))"
	done
}

check "a function" "$BPFPROF" uprobe -l -o "$TMP/x.json" -o "$TMP/x.stacks.csv" -o "$TMP/x.bpfprof" -s "$callers:nap" -- "$callers"
grep -E '^(quick|slow) [0-9]' "$OUT" >"$TMP/saw"
cp "$OUT" "$TMP/summary"
rows_are_right "$TMP/x.json" nap
check_grep '^ *CALLS +P50 .*TOTAL +STACK' "$TMP/summary"
check_grep '^ +10 .* nap < slow < main' "$TMP/summary"
check_grep '^"?nap"?,10,.*;main;slow;nap"?$' "$TMP/x.stacks.csv" "calls of that stack in CSV"
check_ledger_closes "$TMP/x.json"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"
check "its file" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/y.json"
rows_are_right "$TMP/y.json" nap
check "few rows" "$BPFPROF" report -s --rows 1 "$TMP/x.bpfprof"
check_grep '1 more stacks: ' "$OUT"
if python3 -c 'import jsonschema' 2>/dev/null; then
	check "schema" python3 "$ROOT/tests/e2e/schema.py" "$ROOT/docs/json.schema.json" "$TMP/x.json"
fi

check "system calls" "$BPFPROF" syscalls -g --only clock_nanosleep -o "$TMP/x.json" -- "$callers"
grep -E '^(quick|slow) [0-9]' "$OUT" >"$TMP/saw"
rows_are_right "$TMP/x.json" clock_nanosleep

check "tracepoints" "$BPFPROF" tracepoint -g --until syscalls:sys_exit_clock_nanosleep syscalls:sys_enter_clock_nanosleep \
	-o "$TMP/x.json" -- "$callers"
grep -E '^(quick|slow) [0-9]' "$OUT" >"$TMP/saw"
rows_are_right "$TMP/x.json" syscalls:sys_enter_clock_nanosleep

if [ -r /sys/bus/event_source/devices/kprobe/type ]; then
	check "a function of the kernel" "$BPFPROF" kprobe -l -g hrtimer_nanosleep -o "$TMP/x.json" -- "$callers"
	grep -E '^(quick|slow) [0-9]' "$OUT" >"$TMP/saw"
	rows_are_right "$TMP/x.json" hrtimer_nanosleep
fi

check_status 2 "stacks of calls that are not timed" "$BPFPROF" uprobe -o "$TMP/y.stacks.csv" "$callers:nap" -- "$callers"
check_grep "not timed" "$ERR"
check "without -g" "$BPFPROF" uprobe -l -o "$TMP/x.json" "$callers:nap" -- "$callers"
check_near "$(grep -c call_stacks "$TMP/x.json")" 0 0 "rows of stacks that were not taken"
finish
