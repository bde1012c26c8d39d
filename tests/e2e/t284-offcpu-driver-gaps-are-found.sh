#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 300
# Time in which nobody polls the driver of a Tokio runtime is as long as its timers are late by the program's own clock,
# and it is the fault of the function that blocks or computes; where the driver is polled there is none.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
[ $? -ne 77 ] || skip "$(cat "$ERR")"

# NAME OPTIONS...: recorded, with the program's truth.
record() {
	local name=$1
	shift
	check "$name is recorded" "$BPFPROF" offcpu --gaps -o "$TMP/$name.bpfprof" -o "$TMP/$name.json" -- \
		"$app" 3 --workers 4 --truth "$TMP/$name.truth" "$@"
}

record alone --leaves driver_hog
[ -z "${NIGHTLY:-}" ] || record ticks --leaves driver_hog --ticks
record current --current --leaves driver_hog --ticks
[ -z "${NIGHTLY:-}" ] || record lock --leaves std_mutex,driver_hog --ticks
record burn --leaves cpu_burn --ticks
record none --leaves pool_job,block_in_place --ticks
check "two runtimes of one name are recorded" "$BPFPROF" offcpu --gaps -o "$TMP/twins.json" -- "$app" 3 --twins --truth "$TMP/twins.truth"
# NAME LEAST FUNCTION
compare() {
	drive tokio_gaps.py "$1" "$TMP/$1.json" "$TMP/$1.truth" "$2" "$3"
}
compare alone 20 calls
compare current 20 driver_hog
compare burn 5 cpu_burn
compare twins 3 driver_hog
compare none 0 ''
if [ -n "${NIGHTLY:-}" ]; then
	compare ticks 3 driver_hog
	compare lock 3 ''
fi

check "tasks that never block" "$BPFPROF" offcpu --gaps -o "$TMP/quiet.json" -- "$app" "$(by_day 2 3)" --quiet
check_is "$(json "$TMP/quiet.json" runtime driver_gaps gaps)" 0 "gaps in echoes, timers and messages"

saved=$TMP/alone.bpfprof
us=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["runtime"]["driver_gaps"]["us"])' "$TMP/alone.json")
"$BPFPROF" report --gaps -f "$saved" >"$TMP/folded"
check_folded "$TMP/folded"
check_near "$(folded_sum "$TMP/folded")" "$us" 100 "--gaps: stacks have the time of gaps"
check_no_grep '.' <(grep -vE '^tokio-rt-worker;\[task\];.*blocking::driver_hog;.*\[(sleep|preempted|on-cpu)\] ' "$TMP/folded") "and nothing else"
check "the summary" "$BPFPROF" report -s "$saved"
check_grep '^  driver gap: .* in [0-9]+ of 20 ms or more, longest ' "$OUT"
check_grep '(100[.]0|9[0-9][.][0-9])%  sleep  .*blocking::driver_hog' "$OUT"
check "longer ones" "$BPFPROF" report -s --gap 90ms "$saved"
check_grep '^  driver gap: .* of 90 ms or more' "$OUT"
check "a page" "$BPFPROF" report --gaps -o "$TMP/x.html" "$saved"
check_grep 'driver gaps' "$TMP/x.html"

check_status 2 "shorter ones than were recorded" "$BPFPROF" report -s --gap 1ms "$saved"
check_grep 'has gaps of 20 ms or more' "$ERR"
# What computes is named by its samples, and that it is the most is said.
check "the summary of computing" "$BPFPROF" report -s "$TMP/burn.bpfprof"
check_grep '^  .* of it while workers ran: at most' "$OUT"
check_grep ' (on-cpu|preempted)  blocking::cpu_burn in tasks::cpu_burn$' "$OUT"
"$BPFPROF" report --gaps -f "$TMP/burn.bpfprof" >"$TMP/folded"
check_grep '^tokio-rt-worker;\[task\];.*blocking::cpu_burn.*;\[on-cpu\] ' "$TMP/folded"
check_no_grep '\[on-cpu\]' <("$BPFPROF" report -f "$TMP/burn.bpfprof") "without --gaps, waits alone are shown"
check "no gaps" "$BPFPROF" offcpu --gaps -s -o "$TMP/none.bpfprof" -- "$app" 1 --quiet
check_grep '^  driver gap: (none of 20 ms or more|.* in [0-9]+ of 20 ms or more, longest .*)$' "$OUT"

check_status 2 "gaps that nobody can measure" "$BPFPROF" offcpu --gaps --gap 999ns -- true
check_grep "'--gap 999ns': must be a time from 1 us" "$ERR"
check "a recording without" "$BPFPROF" offcpu -o "$TMP/plain.bpfprof" -- "$app" 0.3 --leaves blocking_sleep
check_status 2 "--gaps of it" "$BPFPROF" report --gaps -f "$TMP/plain.bpfprof"
check_grep 'bpfprof offcpu --gaps does' "$ERR"
check "--runtime=tokio looks for them unasked" "$BPFPROF" offcpu --runtime=tokio -s -- "$app" 1 --leaves driver_hog
check_grep '^  driver gap: ' "$OUT"
finish
