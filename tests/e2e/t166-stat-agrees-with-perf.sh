#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What Debian's perf stat counts, bpfprof counts as well: of a program, of a whole machine, and when events take turns.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need perf
need_root
need_prog instructions spin_abc faulter
perf stat -e task-clock true >/dev/null 2>&1 || skip "perf stat cannot count here"
need_instructions

# A line of perf: value, unit, event, time counted in ns, its share in percent, …
of_perf() { # FILE EVENT FIELD
	awk -F , -v event="$2" -v field="$3" '$3 == event { print $field; exit }' "$1"
}
events=cycles,instructions,context-switches,page-faults,task-clock
compare() { # DESC TOLERANCE_PCT SLACK EVENT: $TMP/perf.csv, and $TMP/x.json
	local perf ours

	perf=$(of_perf "$TMP/perf.csv" "$4" 1)
	ours=$(count_of "$TMP/x.json" "$4")
	# perf has ms of time.
	[ "$4" != task-clock ] || perf=$(awk -v v="$perf" 'BEGIN { printf "%.0f\n", v * 1e6 }')
	check_near "$ours" "$perf" "$(awk -v v="$perf" -v pct="$2" -v slack="$3" 'BEGIN {
		tolerance = v * pct / 100
		print(tolerance > slack ? tolerance : slack) }')" "$1: $4"
}

check "perf of a program" perf stat -x, -o "$TMP/perf.csv" -e $events "$PROGS/instructions" 200
check "ours" "$BPFPROF" stat -e $events -o "$TMP/x.json" -- "$PROGS/instructions" 200
for event in cycles instructions task-clock; do
	compare "a program" 2 0 $event
done
# Of some few: it matters what else runs on the only CPU, and what of the program is in memory yet.
compare "a program" 2 8 context-switches
compare "a program" 2 4 page-faults

check "perf of page faults" perf stat -x, -o "$TMP/perf.csv" -e page-faults,minor-faults,instructions:u "$PROGS/faulter" 5000 4
check "ours" "$BPFPROF" stat -e page-faults,minor-faults,instructions:u -o "$TMP/x.json" -- "$PROGS/faulter" 5000 4
for event in page-faults minor-faults instructions:u; do
	compare "page faults" 2 0 $event
done

start "$PROGS/spin_abc" 600
check "perf of the machine" perf stat -a -x, -o "$TMP/perf.csv" -e $events sleep 2
check "ours" "$BPFPROF" stat -e $events -o "$TMP/x.json" 2
for event in cycles instructions task-clock; do
	compare "the machine" 2 0 $event
done

# Twelve events on seven counters.
events=cycles,r11,instructions,r08,instructions:u,cycles:u,cycles:k,instructions:k,stall_backend,stall_frontend,r08:u,r11:u
check "perf with more events than counters" perf stat -a -x, -o "$TMP/perf.csv" -e $events sleep 2
check "ours" "$BPFPROF" stat -e $events -o "$TMP/x.json" 2
for event in cycles r11 instructions r08 instructions:u cycles:u; do
	compare "in turns" 3 0 $event
done
for event in cycles instructions:u cycles:k stall_frontend; do
	check_near "$(said "$TMP/x.json" "event $event duty_pct")" "$(of_perf "$TMP/perf.csv" $event 5)" 6 "share of the time in which $event was counted"
done
stop "$PID"

start bash -c 'kill -STOP $$; exec "$PROGS/instructions" 400'
program=$PID
is_held() { grep -q '^State:.*stopped' "/proc/$program/status"; }
wait_until 10 is_held
# Both at once count the same process.
perf stat -x, -o "$TMP/perf.csv" -e instructions:u,cycles:u -p "$program" -- sleep 4 &
perf=$!
pids+=("$perf")
start_bpfprof stat -p "$program" -e instructions:u,cycles:u -o "$TMP/x.json" 4
wait_until 10 recording "$perf"
sleep 0.5
kill -CONT "$program"
wait_for "$PID"
wait_for "$perf"
for event in instructions:u cycles:u; do
	compare "a process, at the same time" 0.5 0 $event
done
finish
