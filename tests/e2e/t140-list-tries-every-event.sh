#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bpfprof list shows the events that there are, and which of them count; where there are no counters, it says so.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

# The state of an event in the table, without the meaning.
state() { # NAME
	awk -v name="$1" '$1 == name' "$TMP/all" | grep -oE 'counts(, :u only)?|0, :u only|opens, counted 0|no[a-z ]+ (free|supported|permission)' |
		head -n 1
}

check_state() { # NAME PATTERN
	if [[ $(state "$1") =~ ^($2)$ ]]; then
		pass "$1: $(state "$1")"
	else
		fail "$1: '$(state "$1")', not $2"
		sed 's/^/#   /' "$TMP/all"
	fi
}

begin=$(date +%s%N)
check "the whole list" "$BPFPROF" list
took=$((($(date +%s%N) - begin) / 1000000))
cp "$OUT" "$TMP/all"
# Emulated machines are some ten times slower.
if [ "$took" -lt $((${IN_GUEST:+9}000 + 1000)) ]; then pass "it took $took ms"; else fail "it took $took ms"; fi
check_grep '^CPU: .+ online' "$OUT"
check_grep '^NAME +PMU +SOURCE +STATE +MEANING$' "$OUT"
check_grep '^Branch stacks: ' "$OUT"
check_near "$(awk '/^[a-z].*kernel +software/ { print $1 }' "$OUT" | sort | uniq -d | wc -l)" 0 0 "names twice"
check_state page-faults 'counts'
check_state task-clock 'counts'
check_state context-switches 'counts'
check_state dummy 'opens, counted 0'

if has_pmu; then
	check_grep '^PMU: [a-z0-9_]+, [1-9][0-9]* counters free' "$OUT"
	check_state cycles 'counts'
	check_grep '^(cpu_cycles|cpu-cycles) .*counts' "$OUT"
else
	check_grep '^PMU: none. This machine shows no hardware counters' "$OUT"
	check_no_grep '^(cycles|instructions|cache-misses|LLC-loads) ' "$OUT"
	check_status 3 "an event of hardware that is not here" "$BPFPROF" list stall_frontend
	check_grep "'stall_frontend' needs a hardware counter, and this machine shows none" "$ERR"
	check_status 3 "a generic one" "$BPFPROF" list cache-misses
	check_grep "this machine shows no hardware counters" "$ERR"
fi

# Emulated Neoverses, which count cycles and nothing else.
if [ -n "${IN_GUEST:-}" ] && [ "$(uname -m)" = aarch64 ] && has_pmu; then
	check_grep '^PMU: armv8_pmuv3.*, 6 counters free for any event, and one for cycles$' "$TMP/all"
	check_grep '^cpu_cycles +armv8_pmuv3[_0-9]* +kernel.s list +counts +cycles of the core$' "$TMP/all"
	check_grep '^stall_frontend .*kernel.s list +opens, counted 0' "$TMP/all"
	check_grep '^SPE: none' "$TMP/all"
	check_status 0 "by number" "$BPFPROF" list r0011
	check_grep '^r0011 +armv8_pmuv3[_0-9]* +raw +counts' "$OUT"
fi

check "a part of a name" "$BPFPROF" list FAULTS
check_near "$(grep -c 'kernel  *software' "$OUT")" 5 0 "events with it"
check "a pattern" "$BPFPROF" list 'c*-switches'
check_near "$(grep -c 'kernel  *software' "$OUT")" 2 0 "events that match"
check "an alias" "$BPFPROF" list migrations
check_grep '^cpu-migrations ' "$OUT"
check "another alias, with a modifier" "$BPFPROF" list faults:u
check_grep '^faults:u +kernel +software +counts' "$OUT"
check_status 3 "nothing like it" "$BPFPROF" list page-fults
check_grep "^bpfprof: unknown event 'page-fults'; did you mean 'page-faults'[?]" "$ERR"
check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
check_status 3 "no match" "$BPFPROF" list 'nothing*'
check_grep "no event here matches 'nothing[*]'" "$ERR"
check_status 2 "two patterns" "$BPFPROF" list a b
check_grep 'one pattern at a time' "$ERR"
check "JSON" "$BPFPROF" list --json page-faults
check_grep '"name": ?"page-faults"' "$OUT"
check_grep '"state": ?"counts"' "$OUT"
check_near "$(grep -c '"name"' "$OUT")" 1 0 "events in it"

# Who may count programs only: where it was the kernel's part, 0 is no number.
need setpriv
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ]; then
	install -m 755 "$BPFPROF" "$TMP/bpfprof" && chmod 711 "$TMP"
	check "without privileges" setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bpfprof" list -- switches
	check_grep '^context-switches .* 0, :u only' "$OUT"
	check "faults of programs" setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bpfprof" list page-faults
	check_grep '^page-faults .* counts, :u only' "$OUT"
fi
finish
