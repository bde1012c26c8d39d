#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A thread of a cgroup with a CPU quota is throttled for as long as the cgroup says, and what it waits for a CPU besides
# is no part of that.
# alone: it measures waits for a CPU
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog waits_cpu

# shellcheck source=quota.sh
. "${0%/*}/quota.sh"

recorded() { # COMMAND OPTIONS...; sets $told: what the cgroup says, us
	local before

	before=$(throttled)
	# shellcheck disable=SC2016
	record "$@" -- bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" alone 3' bash "$group" "$PROGS/waits_cpu"
	told=$(($(throttled) - before))
	check_between "$told" 500000 3000000 "us throttled, says the cgroup"
}
classes() { # us in the classes of these names, by JSON
	python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))["waits"]["classes"]
print(sum(c[name]["us"] for name in sys.argv[2:]))' "$TMP/x.json" "$@"
}

# An emulator takes so long for the shell and for the end that one period of the quota may fall there.
period=${IN_GUEST:+100000}
period=${period:-0}
recorded offcpu -m 1 --by-class
check_close "$(us_of "$TMP/x.folded" '^alone;\[throttled\];(.*;)?alone(;|$)')" "$told" 2 "$period" "us throttled, where it burns"
# All that it was off the CPU is one or the other.
check_clock "$(us_of "$TMP/x.folded" '^alone;(\[throttled\]|\[runnable\];\[(woken|preempted)\]);(.*;)?alone(;|$)')" \
	"$(truth alone)" 1 6000 "us without a CPU, as it says itself"
check_near "$(ledger "$TMP/x.json" lost)" 0 0 "lost"

recorded offcpu --no-stacks -m 1
check_close "$(classes throttled)" "$told" 2 "$period" "us throttled, without stacks"

recorded wall -o "$TMP/wall.bpfprof"
check_close "$(us_of "$TMP/x.folded" '^alone;\[throttled\](;|$)')" "$told" 2 "$period" "us throttled, of all time"
check "the ledger" "$BPFPROF" report --table "$TMP/wall.bpfprof"
check_grep 'preempted\) +throttled' "$OUT"
check "the ledger as JSON" "$BPFPROF" report --table --json "$TMP/wall.bpfprof"
cp "$OUT" "$TMP/ledger.json"
check_close "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["all"]["throttled_ns"] // 1000)' "$TMP/ledger.json")" "$told" 2 "$period" "us throttled, in the ledger"

# One that is throttled when the recording begins or ends is so then, too. What the cgroup says is of a longer time: a
# guest takes seconds to begin.
( # shellcheck disable=SC2031
	echo "$BASHPID" >"$group/cgroup.procs"
	exec "$PROGS/waits_cpu" alone 100
) >"$TMP/alone" 2>&1 &
pids+=("$!")
PID=$!
wait_until 5 grep -qx alone "/proc/$PID/comm"
before=$(throttled)
check "a thread that runs already" "$BPFPROF" offcpu -p "$PID" -o "$TMP/x.json" -f 2
told=$(($(throttled) - before))
check_between "$(classes throttled)" 500000 1900000 "us throttled, of 2 s of a thread that ran already"
check_between "$(pct_of "$(classes throttled)" "$told")" 10 105 "% of $told us that the cgroup says"
kill "$PID"
wait "$PID"
finish
