#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# top where there is no screen: functions have their shares, threads all of their time, a filter of processes keeps what it says.
# alone: it judges times
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
cd "$TMP" || exit 1
cat >tables.py <<'P'
import re, sys
def last(path):
    """The last look of a log: {page: [cells by head]}."""
    pages, head = {}, None
    for line in open(path):
        cells = line.split()
        if "SELF" in cells or "ON-CPU" in cells or "MEAN" in cells:
            head = cells if "STATE" not in cells else ["SHARE", "THREADS", "WAITS/s", "MEAN", "NAME"]
            page = {"SELF": "functions", "SHARE": "waits", "PID": "processes", "TID": "threads"}[head[0]]
            pages[page] = []
        elif not cells:
            head = None
        elif head:
            pages[page].append(dict(zip(head, re.sub(r"(?<=\d) (ns|us|ms|s)\b", r"\1", line).split())))
    return pages
def pct(cell):
    return 0.0 if cell == "-" else float(cell.rstrip("%"))
P
start "$PROGS/spin_abc" 30
SPIN=$PID
# It sleeps all the time but for a moment each second: waits that last longer than an interval are seen before they end.
start python3 -c 'import time
time.sleep(30)'
NAP=$PID
sleep 1 # its start is not what is looked at
check "three looks at two processes" timeout -s KILL 60 "$BPFPROF" top -p "$SPIN,$NAP" -F 499 -w 4 -r 100 1 4
cp "$OUT" log
check "four headers" test "$(grep -c '^the last ' log)" -eq 4
check_grep '^[0-9]+ samples/s( [(]1 in [0-9,]+ (taken|stacks)[)])?, none lost; CPU: own [0-9.]+%, BPF [0-9.]+%(, max [0-9.]+%)?$' log
check_grep '^[0-9.]+ of [0-9]+ CPUs; run queue (p50 .*, p99 .*, max .*|empty); uses [0-9.]+ MB$' log
check_no_grep "renewed" log
cat >shares.py <<'P'
from tables import *
spin, nap = sys.argv[1:]
t = last("log")
self_of = {r["FUNCTION"]: pct(r["TOTAL"]) for r in t["functions"] if "FUNCTION" in r}
for name, wanted in ("spin_a", 50), ("spin_b", 30), ("spin_c", 20):
    assert abs(100 * self_of[name] / self_of["main"] - wanted) < 9, (name, self_of)
assert self_of["main"] > 80, self_of # the other process starts, at first
threads = {r["TID"]: r for r in t["threads"]}
for tid in spin, nap:
    r = threads[tid]
    known = sum(pct(v) for k, v in r.items() if v.endswith("%"))
    assert abs(known - 100) < 3, r
assert pct(threads[nap]["SLEEP"]) > 97, threads[nap]
assert pct(threads[spin]["ON-CPU"]) > 5 and pct(threads[spin]["SLEEP"]) == 0, threads[spin]
processes = {r["PID"]: r for r in t["processes"]}
assert set(processes) == {spin, nap}, processes
assert abs(pct(processes[spin]["ON-CPU"]) - pct(threads[spin]["ON-CPU"])) < 0.2, processes
waits = {r["NAME"]: r for r in t["waits"]}
asleep = sum(float(r["THREADS"]) for name, r in waits.items() if name in ("sleep", "idle:"))
assert abs(asleep - 1) < 0.1, waits
assert abs(sum(pct(r["SHARE"]) for r in t["waits"]) - 100) < 1, waits
P
check "shares, times and classes" python3 shares.py "$SPIN" "$NAP"
grep '^ran ' "$LOG" || :

check "one page" timeout -s KILL 60 "$BPFPROF" top -p "$SPIN" --page threads 500ms 2
check_no_grep FUNCTION "$OUT"
check "two tables" test "$(grep -c TID "$OUT")" -eq 2
stop "$NAP"

# A program from start to end, with tables so small that they are renewed: it goes on, and is not started twice.
check "small tables" timeout -s KILL 60 "$BPFPROF" top --max-stacks 64 --page functions 500ms -- bash -c 'echo "begins $$" >>told; for ((i = 0; i < 40; i++)); do /bin/ls /usr >/dev/null; "$PROGS/spin_abc" 0.1 >/dev/null; done; echo "ends $$" >>told'
check_grep 'tables renewed: [1-9]' "$OUT"
check "it began once" test "$(grep -c '^begins ' told)" -eq 1
check "... and came to its end" test "$(grep -c '^ends ' told)" -eq 1

# Ended by a signal, and by its output.
start_bpfprof top -p "$SPIN" 500ms
wait_until 20 grep -q spin_a "$OUT"
stop "$PID" INT
check "Ctrl-C ends it" test "$STATUS" -eq 0
check "a reader that has enough" timeout -s KILL 60 bash -c '"$BPFPROF" top -p "$1" 200ms | head -3 >/dev/null; exit 0' - "$SPIN"
check "-d ends it" timeout -s KILL 60 "$BPFPROF" top -p "$SPIN" -d 1s 400ms

mistake() { # PATTERN OPTIONS...
	check_status 2 "refused: top ${*:2}" timeout -s KILL 20 "$BPFPROF" top "${@:2}"
	check_grep "$1" "$ERR"
}
mistake "is not an interval" x
mistake "at least 100 ms" 10ms
mistake "'0' is not a count" 1 0
mistake "an interval and a count are enough" 1 2 3
mistake "shorter than the interval" -w 1 2
mistake "at most 64 intervals" -w 60 100ms
mistake "did you mean 'threads'" --page thread
check_status 1 "nobody has that name" timeout -s KILL 20 "$BPFPROF" top -p no-such-name 1 1
finish
