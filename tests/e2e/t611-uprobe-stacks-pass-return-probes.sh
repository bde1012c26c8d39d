#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of calls are whole, also where functions below return to the kernel's trampoline; their own frame is there though
# it is gone when the stack is taken. Samples of running code see through return probes as well.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog called
called=$PROGS/called
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

main='^called;_start;([^;]+;)?__libc_start[^;]*;([^;]+;)?main;'
check "stacks of calls" "$BPFPROF" uprobe -o "$TMP/folded.folded" "$called:called_23" -- "$called"
cp "$TMP/folded.folded" "$OUT"
check_pct "$OUT" called_23 100 0
check_near "$(folded_pct "$OUT" "${main}(work;)?called_23\$")" 100 0 "share of whole stacks"

# Of deep, 40 callers are in return probes.
check "stacks of timed calls" "$BPFPROF" uprobe -l -o "$TMP/folded.folded" "$called:deep" "$called:naps" -- "$called"
took=$(sed -n 's/^naps took \([0-9]*\) us$/\1/p' "$OUT")
cp "$TMP/folded.folded" "$OUT"
check_near "$(folded_pct "$OUT" "$main")" 100 0 "share of time in whole stacks"
deepest=$(awk '{ n = gsub(/;deep/, ""); if (n > most) most = n } END { print most }' "$OUT")
check_near "$deepest" 41 0 "frames of deep in the deepest stack"
grep naps "$OUT" >"$TMP/naps"
check_near "$(folded_pct "$TMP/naps" "${main}(work;)?naps\$")" 100 0 "share of naps with whole stacks"
naps=$(folded_sum "$TMP/naps")
check_near "$naps" "$took" $((took / 50)) "us of naps; so many took 20, the program says"

# An emulator takes seconds to verify the programs.
begin=1.5 seconds=6
[ -z "${IN_GUEST:-}" ] || begin=8 seconds=25
# What others sample meanwhile. A nap that has begun before is read by user space, which cannot see through.
start "$called" wait
target=$PID
start_bpfprof uprobe -l "$called:naps" "$called:deep" -p "$target" "$seconds"
env --default-signal=INT "$BPFPROF" offcpu -p "$target" -o "$TMP/waits.folded" >"$TMP/waits.log" 2>&1 &
waits=$!
pids+=("$waits")
wait_until 10 recording "$waits"
sleep "$begin"
kill -USR1 "$target"
wait_until 10 grep -q 'done' "$LOG"
stop "$waits" INT
check_near "$STATUS" 0 0 "waits under return probes"
cp "$TMP/waits.folded" "$OUT"
check_near "$(folded_pct "$OUT" ';naps;' | awk '{ print ($1 > 0) }')" 1 0 "naps are there"
broken=$(awk '/;naps;/ && !/;main;(work;)?naps;/ { n += $NF } END { print n + 0 }' "$OUT")
check "naps whose callers are missing: $broken us" test "$broken" -le 22000
finish
