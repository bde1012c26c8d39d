#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is not freed is the first line of --live, with its bytes; what is freed is in no line. --older leaves out what is
# younger.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog allocates

leak=640000
check "alloc --live" "$BPFPROF" alloc --live --every 64 -o "$TMP/x.bpfprof" -o "$TMP/x.json" -- "$PROGS/allocates" 100000
check "report" "$BPFPROF" report -f "$TMP/x.bpfprof"
head -n 1 "$OUT" >"$TMP/first"
check_grep ';one_round;leaks;[^;]*malloc [0-9]+$' "$TMP/first" "the leak is the first line"
check_near "$(awk '{ print $NF }' "$TMP/first")" $leak $((leak * 3 / 100)) "its bytes"
check_no_grep ';(small|mixed|zeroed|grown|aligned|large|mapped);' "$OUT" "what was freed is in no line"
check "objects" "$BPFPROF" report -f --value live-objects "$TMP/x.bpfprof"
check_near "$(awk '/;leaks;/ { print $NF }' "$OUT")" 10000 300 "leaked objects"
check "all bytes" "$BPFPROF" report -f --value bytes "$TMP/x.bpfprof"
check_grep ';large;' "$OUT" "freed ones are among all"
check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
check_near "$(json "$TMP/x.json" samples notes live-full)" 0 0 "sampled ones without room"

# It leaks at once, and sleeps for four seconds.
check "--older" "$BPFPROF" alloc --older 2s --every 64 -f -- "$PROGS/allocates" 2000 4
check_grep '^allocates;.*;leaks;' "$OUT" "what is older than 2 s"
check "--older than the recording" "$BPFPROF" alloc --older 1m --every 64 -f -- "$PROGS/allocates" 2000
check_no_grep ';leaks;' "$OUT" "nothing is older than the recording"

check "--max-live" "$BPFPROF" alloc --live --max-live 100 --every 64 -o "$TMP/x.json" -- "$PROGS/allocates" 20000
check "what finds no room is counted" test "$(json "$TMP/x.json" samples notes live-full)" -gt 0

# Of a process that runs already, with its children.
start "$PROGS/allocates" 0 20
# The trial takes 100 ms: in these it has to run, whatever else wants the CPUs.
renice -n -10 -p "$PID" >/dev/null
check "alloc -p" "$BPFPROF" alloc -p "$PID" -f 1
check_grep ';forever;thousand;[^;]*malloc [0-9]+$' "$OUT"
# The trial needs links to many places in one process (6.10).
uname -r | awk -F . '{ exit $1 * 100 + $2 < 610 }' || finish
check_grep '^bpfprof: warning: [0-9,]+ calls of allocators a second, at [0-9.]+ us each: ' "$ERR" "the price is told"
finish
