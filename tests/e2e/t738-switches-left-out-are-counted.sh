#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where most switches of busy threads are not looked at (--max-overhead), sums are what the kernel and the program say:
# how long each function was off the CPU, how many switches there were, and long waits between very many short ones are
# not shown as short ones. In wall, running and waiting add up to all of the time.
# alone: it judges times
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need_prog waits_bursts
[ -z "${IN_GUEST:-}" ] || skip "a switch costs so much in an emulator that the recording is refused"
unset BPFPROF_MAX_OVERHEAD

record offcpu -v --per-thread --max-overhead 0.5 -- "$PROGS/waits_bursts" 6
cp "$ERR" "$TMP/err"
ops=$(awk '$1 == "operations" { print $2 }' "$TMP/did")
if [ "$ops" -lt 40000 ]; then
	skip "this machine is too slow: $ops operations"
fi
check_between "$(sed -n 's/.*so less is taken (level \([0-9]*\)).*/\1/p' "$TMP/err" | tail -n 1)" 7 9 "is the level (from 7 on switches are left out)"
# Both functions are of the first process.
check_clock "$(us_of "$TMP/x.folded" ';nap(;|$)')" "$(truth nap)" 2 5000 "us in nap, as the program says"
check_clock "$(us_of "$TMP/x.folded" ';chat(;|$)')" "$(truth chat)" 4 5000 "us off the CPU in chat, as the program says"
check_between "$(folded_pct "$TMP/x.folded" 'not sampled')" 0 1 "% without a stack"
check_between "$(ledger "$TMP/x.json" lost)" 0 10 "lost waits"
# Each operation is a wait of both processes at least; where one is preempted by the other, two more.
check_between "$(ledger "$TMP/x.json" seen)" $((ops * 19 / 10)) $((ops * 5)) "waits in $ops operations"

# Threads that never block: all of their time is waiting for a CPU. Above ten times the limit it would be refused.
record offcpu --per-thread --max-overhead 2 -- "$PROGS/waits_bursts" 4 yield
check_clock "$(us_of "$TMP/x.folded" ';give_way(;|$)')" "$(truth give_way)" 2 5000 "us off the CPU in give_way, as the program says"
check_between "$(folded_pct "$TMP/x.folded" 'not sampled')" 0 1 "% without a stack"

# In wall, where wake-ups have a program of their own: a row each for the two processes, WALL, ON-CPU and at the end RESIDUAL.
record wall --per-thread --max-overhead 0.5 -o "$TMP/x.bpfprof" -- bash -c 'times; "$0" 6; times' "$PROGS/waits_bursts"
cpu=$(awk '/^[0-9]+m/ && NR > 2 { split($1 "m" $2, t, /[ms]+/); s = 60 * t[1] + t[2] + 60 * t[3] + t[4] } END { print s }' "$TMP/did")
"$BPFPROF" report --table "$TMP/x.bpfprof" >"$TMP/table"
check_clock "$(us_of "$TMP/x.folded" ';nap(;|$)')" "$(truth nap)" 2 5000 "us in nap, as the program says"
check_between "$(json "$TMP/x.json" cost thinned_to_one_in)" 128 4096 "= one wait in how many, at worst: switches were left out"
check_is "$(grep -c '^waits_bursts ' "$TMP/table")" 2 "rows of the program"
check_between "$(awk '$1 == "waits_bursts" { r = $NF + 0; r = r < 0 ? -r : r; most = r > most ? r : most } END { print most }' \
	"$TMP/table")" 0 2 "% of a thread's time that nothing accounts for"
check_near "$(awk '$1 == "waits_bursts" { s += 1000 * $4 } END { printf "%d", s }' "$TMP/table")" \
	"$(awk -v s="$cpu" 'BEGIN { printf "%d", 1000 * s }')" 200 "ms on the CPU, as the kernel says"
finish
