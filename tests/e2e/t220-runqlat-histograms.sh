#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two threads that want one CPU wait for slices of the scheduler; the histogram says so, in us and ms, for all, by process,
# thread and CPU, and as JSON.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs

start "$PROGS/waits_hogs" 100
hogs=$PID
all_there() { [ "$(nr_threads "$hogs")" -eq 3 ]; }
wait_until 5 all_there

USECS='^ *usecs +: count +distribution'
BUCKET='^ *[0-9]+ -> [0-9]+ +: [0-9]+ +\|\**( *)\|$'

check "two times one second" "$BPFPROF" runqlat -p "$hogs" 1 2
check_near "$(grep -Ec "$USECS" "$OUT")" 2 0 "histograms"
check_grep "$BUCKET" "$OUT" "buckets"
awk '/^ *[0-9]+ -> [0-9]+ +: / {
		nr += $5
		least += $5 * $1
		most += $5 * ($3 + 1)
		if ($1 >= 512 && $3 < 131072)
			slices += $5
	}
	END { printf "%.0f %.0f %.0f %.2f\n", nr, least, most, nr ? 100 * slices / nr : 0 }' "$OUT" >"$TMP/hist"
read -r nr least most slices <"$TMP/hist"
check_between "$nr" 30 100000 "waits"
check_between "$slices" 50 100 "% of them as long as a slice"
# One of the two always waits, and both do where others want the CPU as well.
check_between "$least" 0 4400000 "us in all, at least"
check_between "$most" 1600000 100000000 "us in all, at most"

check "in ms" "$BPFPROF" runqlat -p "$hogs" -m 1 1
check_grep '^ *msecs +: count +distribution' "$OUT"
check "by process" "$BPFPROF" runqlat -p "$hogs" -P 1 1
check_grep "$hogs" "$OUT" "the process has its own"
check_near "$(grep -Ec "$USECS" "$OUT")" 1 0 "histograms"
check "by thread" "$BPFPROF" runqlat -p "$hogs" --per-thread 1 1
check_grep 'hog_a' "$OUT"
check_grep 'hog_b' "$OUT"
check_between "$(grep -Ec "$USECS" "$OUT")" 2 3 "histograms"
check "by CPU" "$BPFPROF" runqlat -p "$hogs" --per-cpu 1 1
check_grep '[Cc][Pp][Uu]' "$OUT"
check_near "$(grep -Ec "$USECS" "$OUT")" 1 0 "histograms"
check "JSON" "$BPFPROF" runqlat -p "$hogs" --json 1 1
cp "$OUT" "$TMP/json"
check "and it is some" python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))' "$TMP/json"
check "the whole machine" "$BPFPROF" runqlat 1 1
check_grep "$USECS" "$OUT"
finish
