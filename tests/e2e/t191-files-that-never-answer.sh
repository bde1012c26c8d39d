#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program runs a library from a file system that has stopped to answer: recordings end in time, with what else there
# is, and say so; and whoever reads files for them may be killed at any moment.
# alone: it judges times
# long
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
# It is slow, but waits neither for a CPU nor for the disk on which it tells who asks.
told=$(mktemp -p /dev/shm bpfprof-told.XXXXXX 2>/dev/null) || told=$TMP/told
trap 'rm -f "$told"; cleanup' EXIT
start bash -c 'exec "$@" >"$0"' "$told" "$PROGS/silent_fs" "$TMP/mnt" "$TMP/lib.so" tells
fs=$PID
renice -n -19 "$fs" >"$OUT"
wait_until 10 grep -q ready "$told" || skip "FUSE cannot be mounted here"
at_exit="umount -l $TMP/mnt"
trap '$at_exit 2>/dev/null; rm -f "$told"; cleanup' EXIT
start "$PROGS/attacks" library "$TMP/mnt/lib.so" "$offset"
target=$PID
wait_until 10 grep -q ready "$LOG"

timed() { # LIMIT_MS DESC COMMAND...; sets $took
	local began

	began=$(date +%s%N)
	check "${@:2}"
	took=$((($(date +%s%N) - began) / 1000000))
	check_between $took 1000 "$1" "$2: ms"
}

# Stacks come in while others wait for what is read.
kill -USR2 "$fs"
for program in "$BPFPROF" build-san/bpfprof; do
	[ -x "$program" ] || continue
	rm -f "$TMP"/x.*
	check "while it is slow, $program" "$program" oncpu -F 997 -o "$TMP/x.folded" -o "$TMP/x.json" 2
	check_grep '^attacks;.*;burn [0-9]*' "$TMP/x.folded" "while it is slow, $program: has names"
	sed 's/^/# /' "$ERR"
	check_ledger_closes "$TMP/x.json"
done

check "while it answers" "$BPFPROF" oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/answers.bpfprof" 1
check "annotate, while it answers" "$BPFPROF" annotate "$TMP/answers.bpfprof" burn
check_no_grep 'instructions are not shown' "$OUT"
check_grep ';burn ' "$TMP/x.folded" "while it answers: has names"
sed 's/^/# /' "$ERR"
# What all the others take to be read, on this machine and beside what else it does.
timed 60000 "offcpu of all, while it answers" "$BPFPROF" offcpu -o "$TMP/x.folded" 1
slow=$((took > 2500 ? took - 2500 : 0))

# Somebody else than the program has asked for the library since then, and nobody has for half a second.
tables_are_read() { # LINES
	local now

	now=$(wc -l <"$told")
	[ "$now" -gt "$1" ] && tail -n "+$(($1 + 1))" "$told" | grep -qvx "asked $target" || return 1
	sleep 0.5
	[ "$(wc -l <"$told")" -eq "$now" ]
}

# It goes silent when the tables are built, and names are still to be read.
lines=$(wc -l <"$told")
start_bpfprof oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 4
profiler=$PID
began=$(date +%s%N)
wait_until 1 tables_are_read "$lines" || fail "the tables are read"
kill -USR1 "$fs"
wait_for "$profiler"
took=$((($(date +%s%N) - began) / 1000000))
check_is "$STATUS" 0 "silent before names are read: exit status"
check_grep 'lib.so: no names: reading it took too long' "$ERR"
check_between $took 3500 $((6000 + slow)) "... ms of which it records 4000"
check_grep 'lib.so[+]0x' "$TMP/x.folded" "its frames have their addresses"
check_grep 'main' "$TMP/x.folded" "others have their names"
check_ledger_closes "$TMP/x.json"

timed 4000 "oncpu -p" "$BPFPROF" oncpu -p "$target" -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 1
check_grep 'lib.so: its file system does not answer' "$ERR"
check_ledger_closes "$TMP/x.json"
check_grep '^attacks;.*lib.so' "$TMP/x.folded" "the samples are there"
timed $((4000 + slow)) "offcpu of all" "$BPFPROF" offcpu -o "$TMP/x.folded" 1
timed $((6000 + slow)) "annotate" "$BPFPROF" annotate "$TMP/answers.bpfprof" burn
check_grep 'instructions are not shown: to read the files took too long' "$OUT"

# Others have all they should, and Ctrl-C is answered.
start "$PROGS/nofp_libc" 20
start_bpfprof oncpu -F 199 -o "$TMP/x.folded" 60
profiler=$PID
sleep 2
began=$(date +%s%N)
stop "$profiler" INT
took=$((($(date +%s%N) - began) / 1000000))
check_is "$STATUS" 0 "Ctrl-C: exit status"
check_between $took 0 $((1500 + slow)) "... answers after so many ms"
whole=$(awk '/^nofp_libc;/ { all += $NF; if (/;main;/) whole += $NF } END { print all ? 100 * whole / all : 0 }' "$TMP/x.folded")
check_near "$whole" 100 2 "others' stacks are whole"
awk '/^nofp_libc;/ && !/;main;/' "$TMP/x.folded" | cut -c 1-200 | sed 's/^/#   /'

# Killed at random, again and again, the reader costs names at most.
start_bpfprof oncpu -F 199 -o "$TMP/x.folded" -o "$TMP/x.json" 3
profiler=$PID
for i in $(seq 20); do
	pkill -KILL -f -P "$profiler" . 2>/dev/null
	sleep 0.05
	[ "$i" -ne 10 ] || start "$PROGS/nofp_libc" 20
done
wait_for "$profiler"
check_is "$STATUS" 0 "a reader that is killed: exit status"
check_ledger_closes "$TMP/x.json"
whole=$(awk '/^nofp_libc;/ { all += $NF; if (/;main;/) whole += $NF } END { print all ? 100 * whole / all : 0 }' "$TMP/x.folded")
check_near "$whole" 98 3 "what starts meanwhile has whole stacks"

kill -KILL "$fs"
stop "$target" KILL
finish
