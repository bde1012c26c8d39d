#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Windows of an agent add up to what programs did, also where its tables were renewed, and report to what its windows say.
# alone: it judges times
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc waits_crowd
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1 TZ=UTC
start "$PROGS/spin_abc" 200
SPIN=$PID
start python3 -c 'import time
time.sleep(200)'
NAP=$PID
# More threads than the tables are for, and what comes and goes: the two that stay are to be followed all the same.
start "$PROGS/waits_crowd" 640 200
CROWD=$PID
start bash -c 'exec 3<> <(:); while :; do /bin/ls /usr >/dev/null; read -rt 0.03 -u 3; done'
CHURN=$PID
env --default-signal=TERM "$BPFPROF" agent -p "$SPIN,$NAP,$CROWD,$CHURN" --keep kept -i 2s -v --max-stacks 8192 >"$OUT" 2>log &
AGENT=$!
pids+=("$AGENT")
renewed() { [ "$(grep -c 'tables renewed' log)" -ge "$1" ]; }
check "tables are renewed" wait_until 120 renewed 1
sleep 5
stop "$AGENT"
check_is "$STATUS" 0 "exit status of the agent"
stop "$CHURN"
stop "$CROWD"
cat >judge.py <<'P'
import re, sys
from windows import *
folder, log, spin, nap = sys.argv[1:5]
small = folder == "small"
paths = windows(folder)
assert len(paths) >= 6, paths
t = total(paths)
c = t["counters"]
left_out = sum(c[k] for k in c if k in ("idle", "self", "hidden-thread", "other-process"))
assert c["seen"] >= c["recorded"] + left_out and c["recorded"] > 0, c
# All of the time is in a window, but for the moments that the agent says: no two overlap.
scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
gaps = [float(n) * scale[u] for n, u in re.findall(r"tables renewed for the \d+\. time: ([\d.]+) (ns|us|ms|s) in no window", open(log).read())]
assert gaps, "the tables were not renewed"
begin, end = times(paths[0])[0], times(paths[-1])[1]
missing = end - begin - t["duration_ns"] / 1e9
print(f"# {len(paths)} windows, tables renewed {len(gaps)} times; {sum(gaps) * 1e3:.3f} ms in no window, by the clock {missing * 1e3:.3f} ms")
assert abs(missing - sum(gaps)) < 0.003 * len(paths), (missing, gaps) # names have milliseconds
for a, b in zip(paths, paths[1:]):
    assert -0.002 < times(b)[0] - times(a)[1] < 0.5, (a, b)
# They lived all of the time, and what they did adds up to it.
lost = c["count-table-full"] + c["stack-table-full"]
assert small or lost < c["seen"] / 1000, (lost, c["seen"])
print(f"# {lost} found no room in the tables ({c['stack-table-full']} of them for their stack), {c['lost-ns'] / 1e9:.3f} s of waits")
for pid in spin, nap:
    wall = t["wall"][pid]
    did = sum(ns for kind, ns in t["by"][pid].items() if kind != "on-cpu")
    print(f"# {pid}: {wall / t['duration_ns']:.4f} of the time, of which {did / wall:.4f} is known: {t['by'][pid]}")
    assert abs(wall / t["duration_ns"] - 1) < 0.005, (pid, wall)
    # What found no room in tables that were too small is counted, but not by whom.
    assert -0.01 - (c["lost-ns"] / wall if small else 0) < did / wall - 1 < 0.01, (pid, did, wall, c["lost-ns"])
assert t["by"][nap]["blocked"] / t["wall"][nap] > 0.98, t["by"][nap]
assert t["by"][spin].get("blocked", 0) / t["wall"][spin] < 0.02, t["by"][spin]
P
check "windows add up" python3 judge.py kept log "$SPIN" "$NAP"
grep '^#' "$OUT"

# report says the same as its files, and its views work on all of them.
check "a report of all windows" "$BPFPROF" report --json kept
cp "$OUT" all.json
cat >same.py <<'P'
import json
from windows import *
r, t = json.load(open("all.json")), total(windows("kept"))
assert r["samples"]["seen"] == t["counters"]["seen"], r["samples"]
assert r["samples"]["recorded"] == t["counters"]["recorded"], r["samples"]
for key, value in r["samples"]["filtered_by"].items() | r["samples"]["lost_by"].items():
    assert t["counters"][key] == value, key
assert r["samples"]["notes"]["switches"] == t["counters"]["switches"]
assert abs(r["profile"]["duration_s"] - t["duration_ns"] / 1e9) < 0.0001, r["profile"]
assert r["samples"]["period_sum"] == t["weight"], (r["samples"], t["weight"])
P
check "it has the sums of its files" python3 same.py
check "folded stacks" "$BPFPROF" report -f kept
check_folded "$OUT"
for form in --table --tree --by\ thread -s; do
	# shellcheck disable=SC2086
	check "report $form" "$BPFPROF" report $form kept
done
check "a flame graph" "$BPFPROF" report -o x.html kept

# Parts of the time.
second=$(python3 -c 'from windows import *
print(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(times(windows("kept")[2])[0] + 1)))')
part() { "$BPFPROF" report --json "$@" >part.json && json part.json profile duration_s; }
one=$(python3 -c 'from windows import *
print(Window(windows("kept")[2]).meta["duration_ns"] / 1e9)')
check_near "$(part "kept@$second")" "$one" 0.01 "seconds of the window that has a second"
check_near "$(part --at "$second" kept)" "$one" 0.01 "the same by --at"
check_near "$(part --last 1h kept)" "$(json all.json profile duration_s)" 0.001 "seconds of the last hour"
before=$(part --to "$second" kept) after=$(part --from "$second" kept)
check_near "$(awk -v a="$before" -v b="$after" 'BEGIN { print a + b }')" "$(json all.json profile duration_s)" 0.001 \
	"seconds before and after"
check "two times compare" "$BPFPROF" diff "kept@$second" "kept@-4s"
check_grep 'spin_a' "$OUT"

# A clock that was years ahead for a window does not make it the last one.
cp -r kept ahead
for window in ahead/2*; do :; done
cp "$window" "ahead/2099${window#ahead/20??}"
check_near "$(part --last 4s ahead)" "$(part --last 4s kept)" 0.001 "seconds of the last four, beside a window of 2099"
check_between "$(part --from 2098-01-01 ahead)" 0.001 4 "seconds of that window"

# One that cannot be read is named, many are counted.
for names in ahead/*.names; do echo damaged >"$names"; done
check_status 1 "a folder whose names are damaged" "$BPFPROF" report ahead
check_near "$(wc -l <"$ERR")" 4 0 "lines that say so"
check_grep 'none of [0-9]+ windows of ahead could be read' "$ERR"

# Tables that are full in a second stay for ten all the same. The ledger says how much of waits was lost meanwhile, which is
# all that is missing.
start bash -c 'while :; do /bin/ls /usr >/dev/null; done'
CHURN=$PID
check "an agent, in small tables" timeout -s KILL 100 "$BPFPROF" agent -p "$SPIN,$NAP,$CHURN" --keep small -i 2s -v --max-stacks 512 -d 15
cp "$ERR" log2
stop "$CHURN"
check "windows and what was lost add up" python3 judge.py small log2 "$SPIN" "$NAP"
grep '^#' "$OUT"

mistake 2 "is no time: use 14:05" report kept@noon
mistake 2 "is no time: use 14:05" report --at 25:00 kept
mistake 2 "says when already" report --last 1m "kept@$second"
mistake 2 "exclude each other" report --at 14:05 --last 1m kept
mistake 1 "no window of that time: it has 20" report --at 2001-01-01 kept
mkdir none
mistake 1 "none has no windows" report none
finish
