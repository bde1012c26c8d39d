#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every call of a function is counted and timed: by name, pattern, offset and of four threads; with arguments and results;
# recursion, calls that longjmp() leaves, and functions that end by jumping to another one.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog called
called=$PROGS/called
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

# A column of the row of a function and arguments; rows are FUNCTION,WHERE,ARGUMENTS,….
column() { # NAME FUNCTION [ARGUMENTS]
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["function"] == sys.argv[3] and row["arguments"] == sys.argv[4]:
        print(row[sys.argv[2]])' "$TMP/x.csv" "$1" "$2" "${3:-}"
}
ledger_closes() { # WHAT
	local parts

	parts=$(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["samples"]
print(s["seen"] - s["recorded"] - s["filtered"] - s["lost"])' "$1")
	check_near "$parts" 0 0 "seen less recorded, filtered and lost"
}

check "calls are counted" "$BPFPROF" uprobe -o "$TMP/x.csv" -o "$TMP/count.json" "$called:called_*" "$called:many" -- "$called"
check_near "$(column calls called_23)" 23 0 "calls of called_23"
check_near "$(column calls many)" 4000 0 "calls of many, by four threads"
ledger_closes "$TMP/count.json"

for more in "" -l; do
	check "words that mean a function twice ${more}" "$BPFPROF" uprobe $more -o "$TMP/x.csv" "$called:called_23" "$called:called_*" \
		"$called:called_23" -- "$called"
	check_near "$(column calls called_23)" 23 0 "calls of called_23, in one row"
done

check "arguments tell calls apart" "$BPFPROF" uprobe -o "$TMP/x.csv" --arg 1:int --arg 2:str "$called:called_23" -- "$called"
for row in '0, even:4' '0, odd:4' '1, even:4' '1, odd:4' '2, even:4' '2, odd:3'; do
	check_near "$(column calls called_23 "${row%:*}")" "${row#*:}" 0 "calls of called_23 with ${row%:*}"
done
check "results, too" "$BPFPROF" uprobe -o "$TMP/x.csv" -l --arg ret:int "$called:called_23" -- "$called"
for row in 0:8 2:8 4:7; do
	check_near "$(column calls called_23 "${row%:*}")" "${row#*:}" 0 "calls of called_23 that return ${row%:*}"
done

check "calls are timed" "$BPFPROF" uprobe -l -o "$TMP/x.csv" -o "$TMP/timed.json" "$called:naps" "$called:deep" "$called:jumps" \
	"$called:ends" "$called:many" -- "$called"
check_near "$(column calls naps)" 20 0 "calls of naps"
took=$(sed -n 's/^naps took \([0-9]*\) us$/\1/p' "$OUT")
check_near "$(column total_us naps)" "$took" $((took / 50)) "us that naps take, and the program itself says"
check_near "$(column calls deep)" 41 0 "calls of deep in each other"
check_near "$(column calls jumps)" 5 0 "calls of jumps that return"
check_near "$(column calls ends)" 30 0 "calls of ends, which jumps to ended"
# With PREEMPT_RT the kernel may refuse the first ones of a thread (hazards.c), which are counted.
lost=$(json "$TMP/timed.json" samples lost_by no-thread-state)
[ "$lost" -eq 0 ] || [ -e /sys/kernel/realtime ] || fail "$lost calls without the state of their thread"
check_near "$(column calls many)" $((4000 - lost)) 0 "calls of many, but $lost that are counted as lost"
ledger_closes "$TMP/timed.json"
lost=$(json "$TMP/timed.json" samples lost_by no-return)
check "calls that longjmp() left: $lost of 5, one may not be known yet" test "$lost" -ge 4 -a "$lost" -le 5

check "only slow ones" "$BPFPROF" uprobe -o "$TMP/x.csv" --slower 5ms "$called:naps" "$called:called_23" -- "$called"
check_near "$(column calls naps)" 20 0 "naps above 5 ms"
check_near "$(column calls called_23 | wc -l)" 0 0 "rows of what is quicker"

check "one in four" "$BPFPROF" uprobe -o "$TMP/x.csv" --every 4 "$called:many" -- "$called"
check_near "$(column calls many)" 4000 600 "calls of many, made up from one in four"
# What is exact and what is made up is told apart: the sum in the first line, and rows with how far off they may be.
check "one in four, for people" "$BPFPROF" uprobe -s -o "$TMP/x.json" --every 4 "$called:many" -- "$called"
check_grep '; 4,000 calls of many, of which one in 4 was looked at, at random$' "$OUT" "the sum is exact"
check_grep '^ *~[34],[0-9]{3} +[56]\.[0-9]% +~[0-9,]+ +many' "$OUT" "the row is marked"
check_grep '^~ made up from the calls that were looked at' "$OUT" "the mark is explained"
off=$(python3 -c 'import json, sys; print("%.1f" % json.load(open(sys.argv[1]))["calls"][0]["calls_error_pct"])' "$TMP/x.json")
check_between "$off" 5.0 6.0 "% that it may be off"
check "each of them" "$BPFPROF" uprobe -s "$called:many" -- "$called"
check_no_grep '~|±' "$OUT" "what is exact has no mark"

# With sessions the program does not run at returns that nobody waits for.
check "one in a hundred, timed" "$BPFPROF" uprobe -l -o "$TMP/x.json" --every 100 "$called:many" -- "$called"
seen=$(json "$TMP/x.json" samples seen)
ended=$(json "$TMP/x.json" samples notes ended)
[[ $(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -n 1) == 6.13 ]] && returns=$ended || returns=$seen
check_near "$(json "$TMP/x.json" samples notes runs)" "$((seen + returns))" 0 "runs, of $seen calls of which $ended are timed"

# The place inside: by name, and by address.
check "an offset" "$BPFPROF" uprobe -o "$TMP/x.csv" "$called:called_23+0x0" -- "$called"
if command -v nm >/dev/null; then
	address=$(nm "$called" | awk '$3 == "many" { print $1 }')
	check "an address" "$BPFPROF" uprobe -o "$TMP/x.csv" "$called:+0x$address" -- "$called"
	check_near "$(column calls many)" 4000 0 "calls at an address"
fi
finish
