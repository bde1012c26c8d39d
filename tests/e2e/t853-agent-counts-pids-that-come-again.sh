#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that have one PID, one after the other, at once or within the seconds in which counts of those that are gone find
# new owners: what they ran is in an agent's windows once, under the names that they had.
# alone: it compares CPU times
# timeout: 400
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog same_pid execs
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1
"$PROGS/same_pid" 1 1 >/dev/null
[ $? -ne 77 ] || skip "this kernel gives no PID that is asked for"
env --default-signal=TERM "$BPFPROF" agent --keep kept -i 1s >"$OUT" 2>"$ERR" &
AGENT=$!
pids+=("$AGENT")
has_window() { [ -n "$(find kept -name '*.bpfprof' 2>/dev/null)" ]; }
check "an agent has a window" wait_until 30 has_window
start "$PROGS/execs" 400 /bin/true
CHURN=$PID
: >runs
for run in "300 10 0" "20 100 150" "6 300 2500" "4 300 4500"; do
	# shellcheck disable=SC2086
	start_first "$PROGS/same_pid" $run
	wait "$PID" || fail "same_pid $run"
	echo "${run%% *} $(cat "$LOG")" >>runs
done
sleep 1.5
stop "$AGENT"
check_is "$STATUS" 0 "exit status of the agent"
stop "$CHURN"
cat >judge.py <<'P'
from windows import *
rows = [line.split() for line in open("runs")]
times, same, ms = (sum(float(r[i]) for r in rows) for i in range(3))
paths = windows("kept")
by = {"same_pid": 0} # by the name of the thread: a process has that of who made it, first
for p in paths:
    for count, weight, _, name, kind in Window(p).by_name():
        if name.startswith("same") and kind == "running":
            by[name] = by.get(name, 0) + weight / 1e6
ran = by["same-odd"] + by["same-even"]
print(f"# {len(paths)} windows, {times:.0f} processes, of which {same:.0f} had the one before's; they ran for "
      f"{ran:.1f} ms, by the kernel {ms:.1f} ({ran / ms:.4f}): {by}")
assert same > times * 0.8, (same, times)
assert 0.98 < ran / ms < 1.02, (ran, ms)
assert abs(by["same-odd"] / by["same-even"] - 1) < 0.05, by
P
check "what they ran is in windows once" python3 judge.py
grep '^#' "$OUT"
finish
