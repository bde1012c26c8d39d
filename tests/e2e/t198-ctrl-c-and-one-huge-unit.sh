#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug information that is one huge unit: Ctrl-C gives a result all the same, without its lines. Whoever reads the result
# in a pipe has its end when it is complete: what is kept of names is written behind it, and Ctrl-C then costs nothing.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc
need gcc nm objcopy python3
[ "$(uname -m)" = x86_64 ] || skip "its program is x86-64"
python3 "${0%/*}/huge_unit.py" "$TMP/huge" 1000000 || skip "the program cannot be made here"
python3 "${0%/*}/huge_unit.py" "$TMP/large" 250000 || skip "the program cannot be made here"
start_first "$TMP/huge"
huge=$PID

ms_since() { # EPOCHREALTIME
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }'
}

# What takes longest is there before: tables, and pages of the file.
for i in 1 2 ${NIGHTLY:+3}; do
	start_bpfprof oncpu -p "$huge" -F 99 -o "$TMP/x.folded" -o "$TMP/x.txt"
	recorder=$PID
	sleep 1
	begin=$EPOCHREALTIME
	kill -INT "$recorder"
	wait_for "$recorder"
	took=$(ms_since "$begin")
	echo "# figure: $took ms to the result"
	check_near "$STATUS" 0 0 "try $i: exit status"
	check_between "$took" 0 2000 "try $i: ms from Ctrl-C to the result"
	check_no_grep 'huge: no names' "$ERR" "try $i: the file is read"
	check_grep '^huge;.*;main' "$TMP/x.folded" "try $i: functions have names"
done
check_grep 'without source lines and inlined calls: no time was left' "$TMP/x.txt" "what is missing is told"

# Who asks for time gets it.
stop "$huge"
start_first "$TMP/large"
large=$PID
check "with time" "$BPFPROF" oncpu -p "$large" --symbol-time 60 -F 99 -o "$TMP/x.folded" 1
check_grep ';function[0-9]*;inlined[0-3]' "$TMP/x.folded" "with time: inlined calls"

# An error that only closing tells, or only writing.
if [ -c /dev/full ]; then
	"$BPFPROF" oncpu -p "$large" -f 0.2 >/dev/full 2>"$TMP/err"
	check_near $? 1 0 "a full disk: exit status"
	check_grep 'cannot write to standard output: No space left' "$TMP/err" "a full disk is told"
fi
stop "$large"

# --- a pipe ---

# Who writes what is kept has the lowest priority, so beside others it goes on for long; when it is done all the same, that says
# nothing, and it is tried again.
hogs=()
for _ in $(seq "$(nproc)"); do
	start "$PROGS/spin_abc" 100
	hogs+=("$PID")
done
# A unit of more than 48 MB in memory would be written at once.
python3 "${0%/*}/huge_unit.py" "$TMP/small" 100000 || skip "the program cannot be made here"
start "$TMP/small"
small=$PID
mkfifo "$TMP/pipe"
writers=0
for ((i = 0; i < 6 && writers == 0; i++)); do
	rm -rf "${CACHE_DIRECTORY:?}"
	env --default-signal=INT "$BPFPROF" oncpu -p "$small" --symbol-time 60 -F 99 -f 1 >"$TMP/pipe" 2>"$TMP/err" &
	recorder=$!
	pids+=("$recorder")
	cat "$TMP/pipe" >"$TMP/out"
	writers=$(ps -o pid= --ppid "$recorder" | wc -l)
	kill -INT "$recorder" 2>/dev/null
	sleep 0.05
	kill -INT "$recorder" 2>/dev/null
	wait_for "$recorder"
	check_near "$STATUS" 0 0 "pipe: exit status after two Ctrl-C behind its end"
	check_grep '^small;.*;function' "$TMP/out" "pipe: the result is there"
done
for hog in "${hogs[@]}"; do stop "$hog"; done
check_between "$writers" 1 10 "pipe: children that go on when its end is read, try $i"
finish
