#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that end during the recording keep their names, even when they lived 50 ms, and end the recording early when no
# other is left. What a library was while it was loaded is known after it is gone.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog exiter forker dlopener libburn

start "$PROGS/exiter" 2
from=$SECONDS
check "the target exits mid-run" "$BPFPROF" oncpu -p "$PID" -F 999 -f 30
check_near $((SECONDS - from)) 2 2 "seconds until the recording ended by itself"
check_near "$(folded_pct "$OUT" ';main;(.*;)?doomed_spin')" 98 2 "samples in doomed_spin"

check "short-lived children" "$BPFPROF" oncpu -F 999 -f -- "$PROGS/forker" 3
check_near "$(folded_pct "$OUT" ';child_spin')" 96 4 "samples in children that lived 50 ms"
# The parent alone hardly runs: there may be nothing to record.
run "$BPFPROF" oncpu --no-children -F 999 -f -o "$TMP/x.json" -- "$PROGS/forker" 1
check_no_grep 'child_spin' "$OUT" "--no-children leaves them out"
check_near "$(awk '/^[a-z].* [0-9]+$/ { n += $NF } END { print n + 0 }' "$OUT")" 15 15 "samples in the parent alone"

# A zombie is no process that could still be sampled: nobody reaps this one.
python3 -c 'import os, sys, time
pid = os.fork()
if not pid:
    end = time.time() + 1
    while time.time() < end: pass
    os._exit(0)
print(pid, flush=True)
time.sleep(60)' >"$TMP/zombie" &
pids+=($!)
wait_until 3 test -s "$TMP/zombie"
from=$SECONDS
check "a target that becomes a zombie" "$BPFPROF" oncpu -p "$(cat "$TMP/zombie")" -F 499 -f 30
check_near $((SECONDS - from)) 2 2 "seconds until the recording ended by itself"

start "$PROGS/forker" 60
check "system-wide" "$BPFPROF" oncpu -n forker -F 999 -f 2
check_near "$(folded_pct "$OUT" ';child_spin')" 96 4 "samples in children, found without -p"

check "dlopen and dlclose" "$BPFPROF" oncpu -F 499 -f -- "$PROGS/dlopener" 0.5 1 0.5
check_near "$(folded_pct "$OUT" 'burn_in_library;(.*;)?library_inner')" 50 10 "samples in the library that is gone"
check_near "$(folded_pct "$OUT" 'before_dlopen')" 25 8 "samples before"
check_near "$(folded_pct "$OUT" 'after_dlclose')" 25 8 "samples after"
finish
