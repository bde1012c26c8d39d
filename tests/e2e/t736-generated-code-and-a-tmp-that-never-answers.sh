#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program with generated code has a /tmp, where the names of that code would be, on a file system that has stopped to
# answer. Recordings end in time all the same, answer Ctrl-C, and have its waits, without names; others have theirs.
# alone: it needs the CPUs for itself
# timeout: 90
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need unshare
need_prog waits_jit waits_asleep
# shellcheck source=silent.sh
. "${0%/*}/silent.sh"

start "$PROGS/waits_asleep" 4
asleep=$PID
wait_until 20 grep -q '^threads' "$LOG"
mkdir mnt1
start "$PROGS/silent_fs" mnt1 file
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
(sleep 60 && kill -KILL "$fs") 2>/dev/null &
pids+=($!)
# shellcheck disable=SC2016
start unshare -m --propagation private sh -c 'mount --bind mnt1 /tmp && exec "$0" 100000' "$PROGS/waits_jit"
jit=$PID silent=$PID
has_tmp() {
	grep -q ' /tmp .* fuse ' "/proc/$jit/mountinfo"
}
check "the program's /tmp is that file system" wait_until 10 has_tmp

recorded() { # DESC FROM TO: ms
	local begin=$EPOCHREALTIME

	check "$1" timeout -s KILL 20 "$BPFPROF" offcpu -p "$jit,$asleep" --idle=show -o x.folded -o x.json -d 1
	check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" "$2" "$3" "$1: ms"
	check_ledger_closes x.json
	check_grep '^waits_jit;.*;nap' x.folded "$1: its waits are there"
	check_grep '^asleep;.*;asleep_for_good' x.folded "$1: and those of others"
}

begin=$EPOCHREALTIME
recorded "while it answers" 1000 9000
usual=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')
kill -USR1 "$fs"
recorded "when it does not" 1000 $((usual + 1000))
check_grep "/tmp.* does not answer" "$ERR" "it is told"
start_bpfprof offcpu -p "$jit,$asleep" --idle=show -o x.folded
sleep 1
begin=$EPOCHREALTIME
kill -INT "$PID"
wait_for "$PID"
check_between "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 0 $((usual + 1000)) "Ctrl-C: ms"
check_is "$STATUS" 0 "exit status"
speak
finish
