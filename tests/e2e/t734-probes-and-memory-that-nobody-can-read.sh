#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# To place a probe the kernel takes the lock of each process that has the file mapped, and no signal ends that, while nobody
# on the machine can fork. So where a process keeps its lock, no probe is placed, and that process is named.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
# shellcheck source=silent.sh
. "${0%/*}/silent.sh"

start "$PROGS/spin_abc" 300
spinner=$PID
silence "$PROGS/silent_memory"
refused() { # OPTIONS...
	local begin=$EPOCHREALTIME

	check_status 1 "uprobe $*" timeout -s KILL 12 "$BPFPROF" uprobe "$@" -d 1
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 0 4000 "uprobe $*: ms"
	check_grep "keeps the mappings of process $silent locked" "$ERR" "uprobe $*: it is named"
}
refused_alloc() { # it tries its probes out first
	check_status 1 "alloc" timeout -s KILL 12 "$BPFPROF" alloc -p "$spinner" -d 1
	check_grep "keeps the mappings of process $silent locked" "$ERR" "alloc: it is named"
}
refused libc:malloc
refused_alloc
refused -p "$spinner" spin_a
check_status 2 "uprobe of the process itself" timeout -s KILL 12 "$BPFPROF" uprobe -p "$silent" main -d 1
check "others can fork" /bin/true
speak
check "then a probe is placed" "$BPFPROF" uprobe -p "$spinner" spin_a -o x.folded -d 1
check_grep spin_a x.folded

# Beside load a lock is held for longer, while who has it waits for a CPU: nothing is refused for that.
for words in 'uprobe spin_a' alloc; do
	silence "$PROGS/silent_memory"
	(sleep 0.6 && kill -KILL "$fs") &
	status=0
	[ "$words" != alloc ] || status=3
	# shellcheck disable=SC2086
	check_status "$status" "$words while a process keeps its lock for a moment" "$BPFPROF" $words -p "$spinner" -d 1
	check_no_grep "keeps the mappings" "$ERR" "$words is not refused"
	wait $!
	speak
done
finish
