#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 240
# The price that alloc says before it records has all hits in it: what the kernel single-steps, and returns. It is what the program
# needs at least, and not far below.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog allocates
# The trial needs links to many places in one process (6.10).
uname -r | awk -F . '{ exit $1 * 100 + $2 < 610 }' || skip "this kernel has no links to many places"
[ "$(uname -m)" = x86_64 ] || skip "elsewhere returns are not single-stepped"

turns=10000
each() { # FILE: CPU time of a pair of calls
	sed -n 's/^all .* each //p' "$1"
}

# What a pair of malloc() and free() costs more while it is probed, held against what is said of so many calls. A stranger's program
# was told 1.19 times and took 13. What is said leaves out what bpfprof's own programs take, and a hit on a function of our own
# finds all caches warm. Both are times, of which either may fall on a busy moment: the third try has to hold. Where probes are so
# cheap that what a pair takes without them, before and after, differs by a third of what is said, nothing can be told.
measure_price() { # LIBRARY CALLS ARGS...
	local library=$1 calls=$2 what

	shift 2
	what="${library##*/} ${*}"
	LD_PRELOAD=$library "$PROGS/allocates" 0 1 "$turns" >"$TMP/without"
	LD_PRELOAD=$library "$PROGS/allocates" 0 "$(by_day 6 8)" "$turns" >"$TMP/with" &
	PID=$!
	pids+=("$PID")
	wait_until 10 grep -q "${library:-libc}" "/proc/$PID/maps"
	check "alloc $what" "$BPFPROF" alloc -v -p "$PID" "$@" -o "$TMP/x.folded" 20
	wait_for "$PID"
	LD_PRELOAD=$library "$PROGS/allocates" 0 1 "$turns" >"$TMP/after"
	said=$(sed -n 's/.*calls of allocators a second, at \([0-9.]*\) us each.*/\1/p' "$ERR")
	took=$(awk -v with="$(each "$TMP/with")" -v without="$(each "$TMP/without")" -v after="$(each "$TMP/after")" \
		'BEGIN { printf "%.2f", (with - (without + after) / 2) / 1000 }')
	tells=$(awk -v a="$(each "$TMP/without")" -v b="$(each "$TMP/after")" -v said="$said" -v calls="$calls" \
		'BEGIN { d = a > b ? a - b : b - a; print d < 300 * said * calls }')
	pct=$(awk -v said="$said" -v calls="$calls" -v took="$took" 'BEGIN { printf "%.0f", 100 * said * calls / took }')
	echo "# figure: $what: $said us said for each of $calls calls, $took us taken"
}

check_price() { # LIBRARY CALLS ARGS...
	for _ in 1 2 3; do
		measure_price "$@"
		if [ "$tells" = 1 ] && [ "$pct" -ge 35 ] && [ "$pct" -le 125 ]; then
			break
		fi
	done
	if [ "$tells" = 0 ]; then
		echo "# not judged, ${1##*/} ${*:3}: the host is too busy, or its probes are too cheap"
		return
	fi
	check_near "$pct" 80 45 "percent of what it takes is said, ${1##*/} ${*:3}"
}

check_price "" 1
check_price "" 2 --live
for name in jemalloc ${NIGHTLY:+tcmalloc_minimal mimalloc}; do # one by day
	library=$(library "lib$name.so")
	[ -n "$library" ] || continue
	check_price "$library" 2 --live
done
finish
