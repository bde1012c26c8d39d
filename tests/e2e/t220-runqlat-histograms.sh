#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two threads that want one CPU wait for slices of the scheduler; the histogram says so, in us and ms, for all, by process,
# thread and CPU, and as JSON.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs

start_first "$PROGS/waits_hogs" 100
hogs=$PID
all_there() { [ "$(nr_threads "$hogs")" -eq 3 ]; }
wait_until 5 all_there

USECS='^ *usecs +: count +distribution'
BUCKET='^ *[0-9]+ -> [0-9]+ +: [0-9]+ +\|\**( *)\|$'

check "two times one second" "$BPFPROF" runqlat -p "$hogs" 1 2
check_near "$(grep -Ec "$USECS" "$OUT")" 2 0 "histograms"
check_grep "$BUCKET" "$OUT" "buckets"
check_grep "^cost +[0-9.]+ [nu]s per switch" "$OUT" "what it cost"
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
check "kept, of three intervals" "$BPFPROF" runqlat -p "$hogs" -P --json -o "$TMP/x.json" -o "$TMP/x.bpfprof" 0.5 3
cp "$OUT" "$TMP/intervals"
check "what is kept is the sum of all intervals" python3 -c 'import json, sys
whole = json.load(open(sys.argv[1]))
parts = [json.loads(line) for line in open(sys.argv[2])]
assert len(parts) >= 3 and "interval" not in whole["runqlat"], parts
for kind in "woken", "preempted", "both":
    for key in "count", "total_us":
        a, b = whole["waits"][kind][key], sum(p["waits"][kind][key] for p in parts)
        assert abs(a - b) < 0.01, (kind, key, a, b)
assert whole["waits"]["both"]["max_us"] == max(p["waits"]["both"]["max_us"] or 0 for p in parts)
assert [r["pid"] for r in whole["rows"]] == [int(sys.argv[3])]
assert whole["ledger"] == parts[-1]["ledger"], whole["ledger"]' "$TMP/x.json" "$TMP/intervals" "$hogs"
check "report of it" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/report"
check "is the same" cmp "$TMP/x.json" "$TMP/report"
check "with a file, a number alone is how long it takes" timeout 30 "$BPFPROF" runqlat -p "$hogs" -o "$TMP/x.txt" 0.5
check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
check_grep "^runqlat: [0-9]+ ms of" "$TMP/x.txt"
check "the whole machine" "$BPFPROF" runqlat 1 1
check_grep "$USECS" "$OUT"
check_grep "^cost +[0-9.]+ [nu]s per switch and [0-9.]+ [nu]s per wake-up in BPF, [0-9.]+ [num]?s of CPU in all" "$OUT" "what both cost"
finish
