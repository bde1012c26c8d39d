#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that end during the recording keep their names, even when they lived 50 ms, and end the recording early when no
# other is left. What a library was while it was loaded is known after it is gone.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog exiter forker dlopener libburn

# In a guest it takes seconds to begin.
life=${IN_GUEST:+10}
life=${life:-2}
start "$PROGS/exiter" "$life"
check "the target exits mid-run" "$BPFPROF" oncpu -p "$PID" -U -F 999 -f -o "$TMP/exits.json" 30
check_near "$(json "$TMP/exits.json" profile duration_s)" $((life / 2)) $((life / 2)).1 "seconds until the recording ended by itself"
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 2 "samples in doomed_spin"

# How much a fork costs, and what else runs, is the machine's affair.
spun_share() { # what part of its CPU time a forker let its children spin
	awk '$1 == "ms" { print 100 * $2 / $3 }' "$1"
}
check "short-lived children" "$BPFPROF" oncpu -U -F 999 -o "$TMP/children.folded" -- "$PROGS/forker" 1
check_near "$(folded_pct "$TMP/children.folded" ';child_spin')" "$(spun_share "$OUT")" 3 "samples in children that lived 50 ms"
expected=$(samples_in "$(awk '$1 == "ms" { print $2 }' "$OUT")" 999)
check_near "$(awk '/;child_spin/ { n += $NF } END { print n }' "$TMP/children.folded")" "$expected" $((expected / 20)) "their number"
# The parent alone hardly runs: there may be nothing to record.
run "$BPFPROF" oncpu --no-children -U -F 999 -o "$TMP/parent.folded" -- "$PROGS/forker" 0.5
: >>"$TMP/parent.folded"
check_no_grep 'child_spin' "$TMP/parent.folded" "--no-children leaves them out"
check_near "$(folded_sum "$TMP/parent.folded")" 15 15 "samples in the parent alone"

# A zombie is no process that could still be sampled: nobody reaps this one.
sh -c '"$0" 60 & echo $! >"$1"; exec sleep 60' "$PROGS/exiter" "$TMP/zombie" &
pids+=($!)
wait_until 3 test -s "$TMP/zombie"
zombie=$(cat "$TMP/zombie")
pids+=("$zombie")
start_bpfprof oncpu -p "$zombie" -U -F 499 -f 30
sleep 0.5
kill -KILL "$zombie"
from=$SECONDS
wait_for "$PID"
check_near "$STATUS" 0 0 "exit status with a target that becomes a zombie"
check_near $((SECONDS - from)) 1 1 "seconds until the recording ended by itself"
check_grep '^State:.*zombie' "/proc/$zombie/status"

start_bpfprof oncpu -n forker -U -F 999 -f
sleep 0.3
"$PROGS/forker" 1 >"$TMP/forker"
stop "$PID" INT
check_near "$STATUS" 0 0 "exit status of a system-wide recording"
check_near "$(folded_pct "$OUT" ';child_spin')" "$(spun_share "$TMP/forker")" 4 "samples in children, found without -p"

check "dlopen and dlclose" "$BPFPROF" oncpu -U -F 999 -f -- "$PROGS/dlopener" 0.25 0.5 0.25
check_near "$(folded_pct "$OUT" 'burn_in_library;(.*;)?library_inner')" 50 10 "samples in the library that is gone"
check_near "$(folded_pct "$OUT" 'before_dlopen')" 25 8 "samples before"
check_near "$(folded_pct "$OUT" 'after_dlclose')" 25 8 "samples after"
finish
