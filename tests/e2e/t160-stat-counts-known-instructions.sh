#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program of known instructions: counted as many, of itself, its threads and its children, by process, thread, cgroup,
# CPU and interval; and in guests as many cycles as they take there.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need_prog instructions pool spin_abc
need_instructions
million=1000000

check "a program" "$BPFPROF" stat -e instructions:u,cycles:u -M ipc --json -- "$PROGS/instructions" 100
cp "$OUT" "$TMP/x.json"
check_within "$(count_of "$TMP/x.json" instructions:u)" $((100 * million)) 0.5 "instructions"
if [ -n "${IN_GUEST:-}" ]; then
	check_within "$(count_of "$TMP/x.json" cycles:u)" $((CYCLES_PER_INSTRUCTION * 100 * million)) 0.5 "cycles in user mode"
	check_within "$(said "$TMP/x.json" 'metric ipc mean')" 0.25 0.05 "instructions per cycle"
	check_within "$(said "$TMP/x.json" 'metric cpi mean')" $CYCLES_PER_INSTRUCTION 0.05 "cycles per instruction"
fi
check_is "$(said "$TMP/x.json" 'event instructions:u state')" counted "state"
check_within "$(said "$TMP/x.json" 'event instructions:u raw')" "$(count_of "$TMP/x.json" instructions:u)" 0 "raw count"

check "as text" "$BPFPROF" stat -e instructions:u,cycles -- "$PROGS/instructions" 100
check_grep '^ +100,[0-9]{3},[0-9]{3} +instructions:u' "$OUT"
check_grep '^ +[0-9]{3},[0-9]{3},[0-9]{3} +cycles( |$)' "$OUT"
check_no_grep '%\)' "$OUT" "nothing is scaled"

check "twice as many" "$BPFPROF" stat -e instructions:u --json -- "$PROGS/instructions" 200
check_within "$(count_of "$OUT" instructions:u)" $((200 * million)) 0.5 "instructions"

check "with threads" "$BPFPROF" stat -e instructions:u --json -- "$PROGS/instructions" 50 0 3
check_within "$(count_of "$OUT" instructions:u)" $((200 * million)) 0.5 "instructions of four threads"
# shellcheck disable=SC2016
two='"$PROGS/instructions" 100 & "$PROGS/instructions" 100; wait'
check "with children" "$BPFPROF" stat -e instructions:u --json -- sh -c "$two"
check_within "$(count_of "$OUT" instructions:u)" $((200 * million)) 2 "instructions of two children and the shell"
check "without children" "$BPFPROF" stat -e instructions:u --no-children --json -- sh -c "$two"
check_near "$(count_of "$OUT" instructions:u)" 0 $((5 * million)) "instructions of the shell"

check "three times" "$BPFPROF" stat -r 3 -e instructions:u --json -- "$PROGS/instructions" 20
check_within "$(count_of "$OUT" instructions:u)" $((20 * million)) 1 "instructions of each run"
check_near "$(said "$OUT" 'all events 0 runs' | tr -cd , | wc -c)" 2 0 "commas between the runs"

check "in intervals" "$BPFPROF" stat -I 100 -e instructions:u --json -- "$PROGS/instructions" 200
check_within "$(python3 -c 'import json, sys
print(sum(json.loads(line)["all"]["events"][0]["value"] or 0 for line in open(sys.argv[1])))' "$OUT")" \
	$((200 * million)) 0.5 "sum of the intervals"
[ -z "${IN_GUEST:-}" ] || check_near "$(wc -l <"$OUT")" 8 2 "intervals of 100 ms in some 0.8 s"

# A process that waits until it is counted.
# shellcheck disable=SC2016
held='kill -STOP $$; exec "$PROGS/instructions" 100'
is_held() { grep -q '^State:.*stopped' "/proc/$1/status"; }
start bash -c "$held"
program=$PID
wait_until 10 is_held "$program"
start_bpfprof stat -p "$program" -e instructions:u -o "$TMP/x.json" 2
sleep 0.3
kill -CONT "$program"
wait_for "$PID"
check_is "$STATUS" 0 "exit status with -p"
check_within "$(count_of "$TMP/x.json" instructions:u)" $((100 * million)) 1 "instructions of the process"

start "$PROGS/pool" 2 60
two() { [ "$(nr_threads "$PID")" -eq 3 ]; }
wait_until 5 two
tid=$(grep -l worker-1 /proc/"$PID"/task/*/comm | cut -d / -f 5)
check "one thread" "$BPFPROF" stat -t "$tid" -e instructions:u,cycles,task-clock -o "$TMP/x.json" 1
if [ -n "${IN_GUEST:-}" ]; then
	read -r cycles clock seconds < <(said "$TMP/x.json" 'event cycles mean' 'event task-clock mean' 'seconds mean')
	check_within "$cycles" "$clock" 0.5 "cycles of the thread, and ns that it ran"
	check_within "$cycles" "$(awk -v s="$seconds" 'BEGIN { print s * 1e9 / 2 }')" 10 "cycles, and half of the time"
fi
stop "$PID"

start "$PROGS/spin_abc" 60
check "system-wide" "$BPFPROF" stat -e instructions,cycles,instructions:u,instructions:k --json 2
if [ -n "${IN_GUEST:-}" ]; then
	read -r all user kernel cycles seconds < <(said "$OUT" 'event instructions mean' 'event instructions:u mean' \
		'event instructions:k mean' 'event cycles mean' 'seconds mean')
	check_within "$cycles" "$(awk -v s="$seconds" 'BEGIN { print s * 1e9 }')" 0.5 "cycles of a busy CPU"
	check_within "$all" "$(awk -v c="$cycles" -v n=$CYCLES_PER_INSTRUCTION 'BEGIN { print c / n }')" 0.5 "instructions by cycles"
	check_within "$(awk -v u="$user" -v k="$kernel" 'BEGIN { print u + k }')" "$all" 0.5 "user and kernel together"
fi
stop "$PID"

# Of a cgroup, also when nothing of it runs for some seconds. (What a cgroup can do its parent has to allow, once.)
group=/sys/fs/cgroup/bpfprof-t160
if [ -n "${IN_GUEST:-}" ] && echo +pids >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$group"; then
	start bash -c "$held"
	program=$PID
	wait_until 10 is_held "$program"
	echo "$program" >"$group/cgroup.procs"
	start_bpfprof stat --cgroup "$group" -e instructions:u -o "$TMP/x.json" 4
	sleep 2.5
	kill -CONT "$program"
	wait_for "$PID"
	check_is "$STATUS" 0 "exit status with --cgroup"
	check_within "$(count_of "$TMP/x.json" instructions:u)" $((100 * million)) 1 "instructions of the cgroup"
	wait_for "$program"
	rmdir "$group"
fi
finish
