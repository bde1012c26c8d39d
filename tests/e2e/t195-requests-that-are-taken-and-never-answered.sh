#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A file system takes requests and answers none. The kernel lets nobody go who waits for it, not even by SIGKILL: whoever
# reads names for a recording is left behind, few of them, and the recording ends all the same.
# alone: it looks at all programs of the host
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog attacks silent_fs nofp_libc
need gcc nm
[ -c /dev/fuse ] || skip "no FUSE here"
fs=
mounted=
end() {
	[ -z "$fs" ] || kill -KILL "$fs" # lets go who waits for it
	[ -z "$mounted" ] || umount -l "$TMP/mnt"
	cleanup
}
trap 'end 2>/dev/null' EXIT

# So many instructions that each window has some without a name: what was named once is not read again.
printf 'void burn(void) { volatile int i = 0; for (;;) { %s } }' "$(printf 'i += %d; ' {1..5000})" |
	gcc -O1 -shared -fPIC -x c - -o "$TMP/lib.so"
offset=0x$(nm "$TMP/lib.so" | awk '$3 == "burn" { print $1 }')
mkdir "$TMP/mnt"
start "$PROGS/silent_fs" "$TMP/mnt" "$TMP/lib.so"
fs=$PID
wait_until 10 grep -q ready "$LOG" || skip "FUSE cannot be mounted here"
mounted=yes
start "$PROGS/attacks" library "$TMP/mnt/lib.so" "$offset"
target=$PID
wait_until 10 grep -q ready "$LOG"

start "$PROGS/nofp_libc" 200
env --default-signal=TERM "$BPFPROF" agent --keep "$TMP/kept" -i 1s >"$TMP/agent.out" 2>"$TMP/agent.err" &
agent=$!
pids+=("$agent")
nr_windows() { find "$TMP/kept" -name '*.bpfprof*' 2>/dev/null | wc -l; }
has_windows() { [ "$(nr_windows)" -ge "$1" ]; }
check "windows come" wait_until 60 has_windows 2

# The mapping is known, and its table built; then names are to be read.
start_bpfprof oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 60
profiler=$PID
sleep 1
kill -HUP "$fs"
began=$EPOCHREALTIME
kill -INT "$profiler"
(sleep 20 && kill -KILL "$profiler") 2>/dev/null &
guard=$!
wait_for "$profiler"
kill "$guard" 2>/dev/null
check_is "$STATUS" 0 "exit status after Ctrl-C"
took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')
echo "# figure: $took ms from Ctrl-C to the result"
check_between "$took" 0 5000 "Ctrl-C: ms to the result"
check_grep 'lib.so: no names: reading it took too long' "$ERR"
check_grep '^attacks;.*lib.so[+]0x' "$TMP/x.folded" "its frames have their addresses"
check_ledger_closes "$TMP/x.json"

# The agent asks when a window has samples of the program, which may get little of a CPU; and on, as long as the kernel holds
# few of those who did.
nr_left() { ps -o state= --ppid "$agent" | awk '/^D/ { n++ } END { print n + 0 }'; }
asks() { [ "$(nr_left)" -ge 1 ]; }
check "it asks" wait_until 30 asks
check "windows follow each other" wait_until 60 has_windows $(($(nr_windows) + 5))
nr_left=$(nr_left)
echo "# figure: $nr_left children wait after $(nr_windows) windows"
check_between "$nr_left" 1 2 "children that wait for an answer"
check_status 0 "it is reported" "$BPFPROF" report -f "$TMP/kept"
check_grep '^nofp_libc;.*;main;' "$OUT" "others have their names"
check_grep 'lib.so[+]0x' "$OUT" "its frames have their addresses"
grep -a '^attacks' "$OUT" | cut -c 1-200 | sed 's/^/# /'
tail -n 5 "$TMP/agent.err" | sed 's/^/# /'
began=$EPOCHREALTIME
stop "$agent" TERM
check_is "$STATUS" 0 "exit status of the agent"
check_between "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')" 0 5000 "SIGTERM: ms to its end"
finish
