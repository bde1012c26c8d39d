#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks without frame pointers are whole at perf events, where threads leave the CPU and at uprobes, and every event is
# counted: 2,300 calls, 50 sleeps; python3 with 5 threads, whose every malloc is an event.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog nofp_calls
walks=$ROOT/build/tests/e2e/walks
[ -x "$walks" ] || walks=${PROGS%/progs}/e2e/walks
[ -x "$walks" ] || lacks "walks is not built"

# Records in the background; returns when it has begun. An emulator takes seconds to verify the programs, before and behind
# the first event that is opened.
begin=1.5 seconds=4
[ -z "${IN_GUEST:-}" ] || begin=6 seconds=10
start_walks() { # EVENT PID SECONDS; sets $PID
	"$walks" "$@" "$TMP/folded" >"$TMP/json" 2>"$TMP/err" &
	PID=$!
	pids+=("$PID")
	wait_until 60 recording "$PID" || fail "no recording begins"
	sleep $begin
}

# Every event is in the sum, and of their weight so much reaches a root.
check_ledger() { # WHAT PCT FEWEST
	local seen recorded pct moved

	seen=$(json "$TMP/json" samples seen)
	recorded=$(json "$TMP/json" samples recorded)
	# Who was asleep at the start and went on before he could be read has no stack that a walk could have missed.
	moved=$(json "$TMP/json" stacks ends moved-on)
	pct=$(awk -v pct="$(json "$TMP/json" stacks rooted_pct)" -v moved="$moved" 'BEGIN { print pct + moved }')
	check_near "$(json "$TMP/json" samples lost)" 0 0 "$1: lost of $seen"
	check "$1: $recorded recorded" test "$recorded" -ge "$3"
	echo "# figure: rooted/$1 $(uname -m) $(uname -r | cut -d . -f 1,2) $pct % of $recorded events"
	check_between "$moved" 0 1 "$1: % of weight of threads that went on before they were read"
	check_near "$pct" 100 "$(awk -v pct="$2" 'BEGIN { print 100 - pct }')" "$1: weight that reaches the root"
}

count_of() { # PATTERN
	awk -v pattern="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ pattern) sum += n } END { print sum + 0 }' "$TMP/folded"
}

chain='^nofp_calls;_start;([^;]+;)?__libc_start[^;]*;([^;]+;)?main;outer;inner;'
for event in "$PROGS/nofp_calls:called" switches; do
	start "$PROGS/nofp_calls"
	target=$PID log=$LOG
	start_walks "$event" "$target" $seconds
	kill -USR1 "$target"
	wait_until 5 grep -q 'done' "$log" || fail "the target did not do its work"
	kill -INT "$PID"
	wait_for "$PID"
	check_near "$STATUS" 0 0 "recording of ${event##*/}"
	if [ "$event" = switches ]; then
		check_ledger calls-switches 99.9 50
		# What is counted is time. All of it that is in nap is below all of its callers.
		naps=$(count_of ';nap;.*nanosleep')
		check "sleeps: $naps us" test "$naps" -ge 50000
		check_near "$(count_of "${chain}nap;.*nanosleep")" "$naps" 0 "us of sleeps with their whole stack"
	else
		check_ledger calls-uprobe 99.9 2300
		check_near "$(count_of "${chain}called\$")" 2300 0 "calls with their whole stack"
	fi
	stop "$target"
done

cat >"$TMP/threads.py" <<-'PY'
	import json, threading, time
	def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
	def work():
	    while True:
	        fib(14)
	        json.dumps([{"a": i} for i in range(50)])
	        time.sleep(0.001)
	for i in range(5): threading.Thread(target=work, daemon=True).start()
	time.sleep(1000)
PY
start python3 "$TMP/threads.py"
target=$PID
wait_until 10 test "$(nr_threads "$target")" -ge 6
libc=$(awk '/libc\.so\.6|libc-2/ { print $NF; exit }' "/proc/$target/maps")
check "oncpu records python3" "$BPFPROF" oncpu -p "$target" -F 499 --json "$(by_day 2 4)"
cp "$OUT" "$TMP/json"
check_ledger python3-perf 99.9 100
for event in switches "$libc:malloc"; do
	start_walks "$event" "$target" $seconds
	wait_for "$PID"
	check_near "$STATUS" 0 0 "recording of ${event##*/}"
	check_ledger "python3-${event##*:}" 99.9 200
done
finish
