#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of each thread, time on a CPU, waiting for one and blocked add up to its life, and agree with what the kernel counts.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_hogs waits_migrate

of() { # THREAD WHAT
	us_of "$TMP/x.folded" "^$1;\\[$2\\](;|\$)"
}
# The kernel's own count, up to the last tick. Of a thread that wakes up it counts as running how long an idle CPU takes to
# come, 100 us where that is a virtual one; guests are emulated and have none of that.
check_schedstat() { # THREAD ON_CPU RUNNABLE [WAKES]
	if [ "$(did schedstat "$1")" = none ]; then
		echo "# no schedstat here"
		return
	fi
	[ -n "${IN_GUEST:-}" ] || [ -z "${4:-}" ] || return 0
	check_clock "$2" "$(did schedstat "$1" 3)" 1 6000 "$1: us on CPU, as the kernel has it,"
	check_clock "$3" "$(did schedstat "$1" 4)" 1 6000 "$1: us runnable, as the kernel has it,"
}

record wall -- "$PROGS/waits_hogs" 3
for hog in hog_a hog_b; do
	oncpu=$(of $hog on-cpu) runnable=$(of $hog runnable) all=$(us_of "$TMP/x.folded" "^$hog;")
	check_clock "$oncpu" "$(did cpu $hog)" 1 6000 "$hog: us on CPU, as its own clock has it,"
	check_clock "$runnable" "$(truth $hog)" 1 6000 "$hog: us runnable, as it says itself,"
	check_schedstat $hog "$oncpu" "$runnable"
	# At a barrier before and after it may have waited for the other.
	check_between "$(pct_of $((oncpu + runnable)) "$(did wall $hog)")" 99 101.5 "$hog: on CPU and runnable, % of its wall time"
	check_between "$(pct_of "$all" "$(did wall $hog)")" 99 106 "$hog: all, % of its wall time"
	check_between "$(pct_of "$(us_of "$TMP/x.folded" "^$hog;\\[on-cpu\\];(.*;)?$hog(;|\$)")" "$oncpu")" 90 100 "$hog: % on CPU in its function"
done

record wall -- "$PROGS/waits_migrate" 1 2 stay
# Running counts too, and is more of the short ones.
check_truth block_1ms "" 93 115
check_truth block_10ms sleep
check_truth block_100ms sleep
wall=$(awk '$1 == "wall" { print $2 }' "$TMP/did")
check_between "$(pct_of "$(us_of "$TMP/x.folded" '^waits_migrate;')" "$wall")" 99 106 "sleeper: all, % of its wall time"
check_schedstat waits_migrate "$(of waits_migrate on-cpu)" "$(of waits_migrate runnable)" wakes

# What is held until the recording has begun (10 to 30 ms) is not yet the program.
record wall -o "$TMP/x.bpfprof" -- sleep 0.3
check "the table" "$BPFPROF" report --table --json "$TMP/x.bpfprof"
check_between "$(json "$OUT" all residual_ns)" -100000000 4000000 "a short program: ns of its life that nothing accounts for"
finish
