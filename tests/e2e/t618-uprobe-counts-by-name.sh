#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls that are only counted are counted exactly, whoever makes them: threads that are renamed, that live for three calls, that
# call all at once, and children, of whom there are more than hints of where the count of a thread is; in all, by process, and by the thread's name.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog renames
renames=$PROGS/renames
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

calls() { # of the whole file, or of process NAME
	python3 -c 'import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(open(sys.argv[1])) if row["process"] in sys.argv[2:] or len(sys.argv) == 2))' \
		"$TMP/x.csv" "$@"
}

# Three times, as threads that meet do not meet each time; in a guest once by day.
runs=3
[ -z "${IN_GUEST:-}" ] || [ -n "${NIGHTLY:-}" ] || runs=1
for _ in $(seq $runs); do
	check "counted" "$BPFPROF" uprobe --force -P -o "$TMP/x.csv" -o "$TMP/x.json" "$renames:counted" -- "$renames"
	check_near "$(calls)" 28450 0 "calls in all"
	check_near "$(calls child)" 50 0 "calls of the child"
	check_near "$(grep -c '"brood",[0-9]*,3,' "$TMP/x.csv")" 1200 0 "children with 3 calls each"
	check_near "$(json "$TMP/x.json" samples recorded)" 28450 0 "of those seen, recorded"
	check_near "$(json "$TMP/x.json" samples seen)" 28450 0 "seen"
done
check "two functions" "$BPFPROF" uprobe --force -P -o "$TMP/x.csv" "$renames:counted" "$renames:call" -- "$renames"
check_near "$(calls)" $((28450 + 2905)) 0 "calls of both"
check_near "$(grep -c '"counted".*"brood",[0-9]*,3,' "$TMP/x.csv")" 1200 0 "children with 3 calls of one"
check_near "$(grep -c '"call".*",[0-9]*,1,' "$TMP/x.csv")" 1201 0 "... and 1 of the other"
for row in first:100 second:200 short:4500 much:20000 child:50 brood:3600; do
	check "only ${row%:*}" "$BPFPROF" uprobe --force -P -n "${row%:*}" -o "$TMP/x.csv" -o "$TMP/x.json" "$renames:counted" -- "$renames"
	check_near "$(calls)" "${row#*:}" 0 "calls of threads named ${row%:*}"
	check_near "$(json "$TMP/x.json" samples filtered_by other-name)" $((28450 - ${row#*:})) 0 "calls of others"
done
finish
