#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program runs a library from a file system that has stopped to answer: recordings end in time, with what else there
# is, and say so; and whoever reads files for them may be killed at any moment.
# alone: it judges times
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog attacks silent_fs nofp_libc
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
target=$PID
wait_until 10 grep -q ready "$LOG"

timed() { # LIMIT_MS DESC COMMAND...
	local began took

	began=$(date +%s%N)
	check "${@:2}"
	took=$((($(date +%s%N) - began) / 1000000))
	if [ $took -lt "$1" ]; then
		pass "$2 took $took ms"
	else
		fail "$2 took $took ms"
	fi
}

# Stacks come in while others wait for what is read.
kill -USR2 "$fs"
for program in "$BPFPROF" build-san/bpfprof; do
	[ -x "$program" ] || continue
	rm -f "$TMP"/x.*
	check "while it is slow, $program" "$program" oncpu -F 997 -o "$TMP/x.folded" -o "$TMP/x.json" 2
	check_grep '^attacks;.*;burn [0-9]*' "$TMP/x.folded" "while it is slow, $program: has names"
	check_ledger_closes "$TMP/x.json"
done

check "while it answers" "$BPFPROF" oncpu -p "$target" -F 199 -o "$TMP/x.folded" 1
check_grep ';burn ' "$TMP/x.folded" "while it answers: has names"

# It goes silent when the tables are built, and names are still to be read.
start_bpfprof oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 2
profiler=$PID
sleep 1
kill -USR1 "$fs"
began=$(date +%s%N)
wait_for "$profiler"
took=$((($(date +%s%N) - began) / 1000000))
check_grep 'lib.so: no names: reading it took too long' "$ERR"
check "silent before names are read: exit status $STATUS" [ "$STATUS" -eq 0 ]
check "... takes $took ms" [ $took -lt 2500 ]
check_grep 'lib.so[+]0x' "$TMP/x.folded" "its frames have their addresses"
check_grep 'main' "$TMP/x.folded" "others have their names"
check_ledger_closes "$TMP/x.json"

timed 4000 "oncpu -p" "$BPFPROF" oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 1
check_grep 'lib.so: its file system does not answer' "$ERR"
check_ledger_closes "$TMP/x.json"
check_grep '^attacks;.*lib.so' "$TMP/x.folded" "the samples are there"
timed 4000 "offcpu of all" "$BPFPROF" offcpu -o "$TMP/x.folded" 1

# Others have all they should, and Ctrl-C is answered.
start "$PROGS/nofp_libc" 20
start_bpfprof oncpu -F 199 -o "$TMP/x.folded" 60
profiler=$PID
sleep 2
began=$(date +%s%N)
stop "$profiler" INT
took=$((($(date +%s%N) - began) / 1000000))
check "Ctrl-C answers after $took ms" [ $took -lt 1500 ]
check "... with a result" [ "$STATUS" -eq 0 ]
whole=$(awk '/^nofp_libc;/ { all += $NF; if (/;main;/) whole += $NF } END { print all ? 100 * whole / all : 0 }' "$TMP/x.folded")
check_near "$whole" 100 2 "others' stacks are whole"

# Killed at random, again and again, the reader costs names at most.
start_bpfprof oncpu -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 3
profiler=$PID
for i in $(seq 20); do
	pkill -KILL -f -P "$profiler" . 2>/dev/null
	sleep 0.05
	[ "$i" -ne 10 ] || start "$PROGS/nofp_libc" 20
done
wait_for "$profiler"
check "a reader that is killed: exit status $STATUS" [ "$STATUS" -eq 0 ]
check_ledger_closes "$TMP/x.json"
whole=$(awk '/^nofp_libc;/ { all += $NF; if (/;main;/) whole += $NF } END { print all ? 100 * whole / all : 0 }' "$TMP/x.folded")
check_near "$whole" 98 3 "what starts meanwhile has whole stacks"

kill -KILL "$fs"
stop "$target" KILL
finish
