#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a process ran is in an agent's windows once, though threads that are not its first call exec, which gives them another
# number, and counts of numbers that are gone find new owners meanwhile.
# alone: it compares CPU times
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog execs_threads execs
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
env --default-signal=TERM "$BPFPROF" agent --keep kept -i 1s >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
has_window() { [ -n "$(find kept -name '*.bpfprof' 2>/dev/null)" ]; }
check "an agent has a window" wait_until 30 has_window
start "$PROGS/execs" 300 /bin/true
CHURN=$PID
start_first "$PROGS/execs_threads" 30 300
RUN=$PID
wait "$RUN"
ms=$(cat "$LOG")
sleep 1.5
stop "$AGENT"
check_is "$STATUS" 0 "exit status of the agent"
stop "$CHURN"
cat >judge.py <<'P'
import sys
from windows import *
ms = float(sys.argv[1])
# In a window, threads that come and go are one by their names.
ran, names, c = 0, set(), {}
for p in windows("kept"):
    w = Window(p)
    for key, value in w.counters.items():
        c[key] = c.get(key, 0) + value
    for count, weight, process, thread, kind in w.by_name():
        if process == "execs_threads":
            names.add(thread)
            ran += weight / 1e6 if kind == "running" else 0
lost = c["count-table-full"] + c["stack-table-full"]
print(f"# {len(windows('kept'))} windows, {len(names)} names of threads: ran for {ran:.1f} ms, by the kernel {ms:.1f} ({ran / ms:.4f}); {lost} lost")
assert len(names) >= 31, names
assert c["seen"] >= c["recorded"] > 0, c
assert 0.98 < ran / ms < 1.02, (ran, ms)
P
check "what it ran is in windows once" python3 judge.py "$ms"
grep '^#' "$OUT"
finish
