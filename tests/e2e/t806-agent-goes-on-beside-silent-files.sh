#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program runs a library from a file system that has stopped to answer: an agent's windows go on, and its tables can
# be renewed.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog attacks silent_fs waits_crowd
need gcc nm
[ -c /dev/fuse ] || skip "no FUSE here"
gcc -O1 -shared -fPIC -x c - -o "$TMP/lib.so" <<<'void burn(void) { for (;;) for (volatile int i = 0; i < 1000000; i++) ; }'
offset=0x$(nm "$TMP/lib.so" | awk '$3 == "burn" { print $1 }')
mkdir "$TMP/mnt"
start "$PROGS/silent_fs" "$TMP/mnt" "$TMP/lib.so"
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
at_exit="umount -l $TMP/mnt"
trap '$at_exit 2>/dev/null; cleanup' EXIT
start "$PROGS/attacks" library "$TMP/mnt/lib.so" "$offset"
TARGET=$PID
wait_until 10 grep -q ready "$LOG"
cd "$TMP" || exit 1
start "$PROGS/waits_crowd" 350 120 # more threads than the tables are for
CROWD=$PID
env --default-signal=TERM "$BPFPROF" agent -p "$TARGET,$CROWD" --keep kept -i 1s -v --max-stacks 4096 >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
windows() { [ "$(grep -c 'windows, the last' "$ERR")" -ge "$1" ]; }
renewed() { [ "$(grep -c 'tables renewed' "$ERR")" -ge "$1" ]; }
check "windows, as long as it answers" wait_until 30 windows 3
kill -USR1 "$fs"
check "windows, when it does not" wait_until 40 windows "$(($(grep -c 'windows, the last' "$ERR") + 8))"
check "tables are renewed meanwhile" wait_until 40 renewed "$(($(grep -c 'tables renewed' "$ERR") + 1))"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
longest=$(find kept -name '*.bpfprof' | sed 's/.*-\([0-9]*\)ms.*/\1/' | sort -n | tail -n 1)
check_between "$longest" 500 4000 "milliseconds of the longest window"
finish
