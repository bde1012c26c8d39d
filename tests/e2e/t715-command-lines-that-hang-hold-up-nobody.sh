#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Command lines are memory of their processes, and a process may have whoever looks at its memory wait for ever. doctor and
# -p NAME look at each process of the machine, and end in time all the same; doctor names who does not answer, and all that
# it prints fits 80 columns.
# alone: it needs the CPUs for itself
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog silent_fs silent_memory spin_abc
[ -c /dev/fuse ] || skip "no FUSE here"
cd "$TMP" || exit 1

mkdir mnt
head -c 65536 /dev/zero >file
start "$PROGS/silent_fs" mnt file
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
# Whatever waits for it ends with it.
trap 'kill -KILL $fs 2>/dev/null; umount -l $TMP/mnt 2>/dev/null; cleanup' EXIT
cp "$PROGS/silent_memory" node
cp "$PROGS/spin_abc" node20.1
start ./node mnt/lib.so
silent=$PID
wait_until 10 grep -q ready "$LOG"
start ./node20.1 100
kill -USR1 "$fs"
sleep 0.2
kill -USR1 "$silent"
sleep 0.5
cat "/proc/$silent/cmdline" >"$OUT" 2>"$ERR" &
reader=$!
sleep 1
check "whoever reads the command line waits" kill -0 "$reader"

took() { # LIMIT_MS DESC COMMAND...
	local began=$EPOCHREALTIME

	check "$2" timeout 20 "${@:3}"
	check_between "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 0 "$1" "$2, ms"
}
took 8000 "doctor" "$BPFPROF" doctor
check_grep "^runtimes: generated code has no names in .or they do not answer.: .*node \($silent\)" "$OUT"
check_grep "end node \($silent\)" "$OUT"
check "it fits 80 columns" awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$OUT"
took 8000 "oncpu -p NAME" "$BPFPROF" oncpu -p node20 -F 199 -o x.folded 1
check_pct x.folded spin_a 50 15
took 8000 "oncpu of all" "$BPFPROF" oncpu -F 199 -o y.folded 1
check_grep "spin_a" y.folded
check_status 1 "-p NAME that nobody has" "$BPFPROF" oncpu -p node20.2 -d 1
finish
