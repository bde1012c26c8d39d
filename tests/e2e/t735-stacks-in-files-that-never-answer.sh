#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads sleep with their stacks in a file of a file system that has stopped to answer. Whoever reads such a stack waits,
# and not even SIGKILL ends that: those children of bpfprof are left behind, a bounded number of them, and are gone when
# the file system is. Recordings end in time, with what others do.
# alone: it needs the CPUs for itself
# timeout: 120
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv
need_prog waits_asleep
# shellcheck source=silent.sh
. "${0%/*}/silent.sh"

# Left behind are those that wait where no signal reaches them.
nr_left() {
	local dir nr=0

	for dir in /proc/[0-9]*; do
		[ "$(cat "$dir/comm" 2>/dev/null)" = bpfprof-reader ] && grep -q '^State:.D' "$dir/status" 2>/dev/null && nr=$((nr + 1))
	done
	echo $nr
}

start "$PROGS/waits_asleep" 200
asleep=$PID
wait_until 20 grep -q '^threads' "$LOG"
before=$(nr_left)
mkdir mnt
start "$PROGS/silent_fs" mnt file
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
(sleep 25 && kill -KILL "$fs") 2>/dev/null &
pids+=($!)
for _ in 1 2 3 4; do
	start setpriv --reuid=65534 --clear-groups "$PROGS/silent_memory" mnt/lib.so stack
	wait_until 10 grep -q ready "$LOG"
	sleepers+=("$PID")
done
kill -HUP "$fs"
sleep 0.2
kill -USR1 "${sleepers[@]}"
sleep 0.5
for i in 1 2; do
	begin=$EPOCHREALTIME
	check "offcpu $i" timeout -s KILL 15 "$BPFPROF" offcpu -p "$(IFS=,; echo "$asleep,${sleepers[*]}")" --idle=show -o x.folded -o x.json -d 1
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 1000 4000 "offcpu $i: ms"
	check_grep "does not let its memory be read" "$ERR" "offcpu $i: it is told"
	check_between "$(json x.json stacks ends silent)" 0.0001 100 "offcpu $i: % that it cost"
	check_between "$(grep '^asleep;' x.folded | awk '{ all += $NF; if (/;asleep_for_good;/) whole += $NF } END { print all ? 100 * whole / all : 0 }')" \
		99.9 100 "offcpu $i: % of the others' time with its stack"
done
there=$(nr_left)
echo "# figure: left behind $((there - before))"
# For a user two stacks are tried, by each recording; and the file may have been tried to be opened.
check_between "$((there - before))" 4 10 "children that were left behind by both"
kill -KILL "$fs"
for pid in "${sleepers[@]}"; do
	stop "$pid" KILL
done
none_left() {
	[ "$(nr_left)" -le "$before" ]
}
check "none is left when the file system is gone" wait_until 5 none_left
fs=''
stop "$asleep"
finish
