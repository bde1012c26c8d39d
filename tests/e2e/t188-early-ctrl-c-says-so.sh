#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ctrl-C at whatever moment gives the result that is there, or one sentence that says that nothing was recorded; never
# nothing at all. The shell sees by which signal it ended, and no started program runs on.
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

start "$PROGS/spin_abc" 200
target=$PID
early=0
nothing='^bpfprof: interrupted before the recording began: nothing was recorded$'
interrupted() { # SECONDS COMMAND...: x.folded
	rm -f "$TMP/x.folded"
	env --default-signal=INT,TERM,HUP "${@:2}" >"$OUT" 2>"$ERR" &
	pids+=($!)
	recorder=$!
	wait_until 5 runs "$recorder"
	sleep "$1"
	stop "$recorder" INT
	if [ -s "$TMP/x.folded" ]; then
		check_is "$STATUS" 0 "$2 $3 after $1 s: exit status with a result"
	elif [ "$STATUS" -eq 130 ]; then
		check_is "$(grep -c "$nothing" "$ERR")" 1 "$2 $3 after $1 s: told once"
		early=$((early + 1))
	else
		check_is "$STATUS" 3 "$2 $3 after $1 s: exit status without samples"
		check_grep 'nothing was recorded|no call|no sample' "$ERR" "$2 $3 after $1 s: is told"
	fi
}
runs() { # PID: the program itself, whose handlers are there
	[ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$BPFPROF")" ] &&
		[ $((0x$(awk '/^Sig(Cgt|Blk)/ { print $2; exit }' <(grep SigCgt "/proc/$1/status")) & 2)) -ne 0 ]
}

for seconds in 0 0.02 0.05 0.1 0.2 0.5 1.5; do
	interrupted $seconds "$BPFPROF" oncpu -p "$target" -F 199 -o "$TMP/x.folded" 20
	interrupted $seconds "$BPFPROF" offcpu -o "$TMP/x.folded" 20
done
interrupted 0 "$BPFPROF" uprobe -p "$target" -g libc:clock_gettime -o "$TMP/x.folded" 20
interrupted 0 "$BPFPROF" pmu -e page-faults -p "$target" -o "$TMP/x.folded" 20
check_between "$early" 2 100 "of which so many were early"

# With a program, which gets the signal as well: it is told once, and the program never runs.
for seconds in 0 0.05 0.1; do
	setsid env --default-signal=INT "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 150 >"$OUT" 2>"$ERR" &
	pids+=($!)
	recorder=$!
	wait_until 5 runs "$recorder"
	sleep $seconds
	kill -INT -- "-$recorder"
	wait_for "$recorder"
	check_between "$(grep -c "$nothing" "$ERR")" 0 1 "a program after $seconds s: told at most once"
	check_between "$(cat "$ERR" "$TMP/x.folded" 2>/dev/null | wc -l)" 1 1000 "a program after $seconds s: something is said"
	check_fail "a program after $seconds s: is gone" pgrep -s "$recorder" spin_abc
	rm -f "$TMP/x.folded"
done

# Somebody ends the program while it is held until the recording begins: the recorder is stopped meanwhile, as the
# program may be let go at any moment.
is_held() { # sets $held
	local children child name

	read -ra children <"/proc/$recorder/task/$recorder/children" 
	for child in "${children[@]}"; do
		read -r name <"/proc/$child/comm" || continue
		held=$child
		[ "$name" != bpfprof/start ] || return 0
	done
	return 1
}
early=0
for ((try = 0; try < 20 && early < 3; try++)); do
	env --default-signal=INT "$BPFPROF" oncpu -o "$TMP/x.folded" -- "$PROGS/spin_abc" 150 >"$OUT" 2>"$ERR" &
	pids+=($!)
	recorder=$!
	# It may be for less than a tenth of a second.
	began=$EPOCHREALTIME
	until is_held || [ $((${EPOCHREALTIME/./} - ${began/./})) -gt 2000000 ]; do :; done 2>/dev/null
	kill -STOP "$recorder"
	if is_held 2>/dev/null; then
		kill -KILL "$held"
		kill -CONT "$recorder"
		wait_for "$recorder"
		check_is "$STATUS" 1 "a held program that is killed: exit status"
		check_grep 'spin_abc was ended before it began' "$ERR" "a held program that is killed: is told"
		early=$((early + 1))
	else
		kill -CONT "$recorder"
		stop "$recorder" INT
	fi
done
echo "# $try tries"
check_is "$early" 3 "programs that were killed while they were held,"
finish
