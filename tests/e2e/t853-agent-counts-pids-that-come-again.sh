#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that have one PID, one after the other, at once or within the seconds in which counts of those that are gone find
# new owners: what they ran is in an agent's windows once, under the names that they had. So it is where windows are long and
# tables small, so that an agent looks more often.
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
for agent in "kept -i 1s" "long -i 10s --max-stacks 65536 -v"; do
	# shellcheck disable=SC2086
	env --default-signal=TERM "$BPFPROF" agent --keep $agent >"$OUT" 2>"${agent%% *}.log" &
	pids+=($!)
	agents+=($!)
done
has_windows() { [ -n "$(find kept -name '*.bpfprof' 2>/dev/null)" ] && [ -n "$(find long -name '*.bpfprof' 2>/dev/null)" ]; }
check "agents have windows" wait_until 30 has_windows
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
for agent in "${agents[@]}"; do
	stop "$agent"
	check_is "$STATUS" 0 "exit status of the agent"
done
stop "$CHURN"
cat >judge.py <<'P'
import sys
from windows import *
rows = [line.split() for line in open("runs")]
times, same, ms = (sum(float(r[i]) for r in rows) for i in range(3))
paths = windows(sys.argv[1])
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
for ring in kept long; do
	check "$ring: what they ran is in windows once" python3 judge.py $ring
	grep '^#' "$OUT"
done
check_between "$(grep -c 'another look:' long.log)" 2 1000 "looks within windows"
echo "# tables were renewed $(grep -c 'tables renewed' long.log) times"
finish
