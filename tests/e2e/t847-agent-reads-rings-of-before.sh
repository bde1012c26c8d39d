#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A ring that began before windows shared names, or before what they share went on from window to window, is read as ever, by
# itself and with new windows beside the old ones. tests/data/ring-before has, in this order, a window of version 2 as it is in
# memory, two of the same version that are packed, and three of version 7 with their file of names.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1 BPFPROF TZ=UTC
cp -r "$ROOT/tests/data/ring-before" kept
chmod 700 kept
all=kept@2026-11-27T18:00:00..2099-01-01T00:00:00

cat >judge.py <<'P'
import json, subprocess, sys
from windows import *
where, old, new = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def report(*args):
    return subprocess.run([os.environ["BPFPROF"], "report", *args], capture_output=True, text=True, check=True)
paths = windows("kept")
def waits(samples):
    return sum(ns for _, ns, _, _, _, kind in samples if kind not in ("running", "on-cpu")) / 1000
def reported(lines): # code that ran stands for the time that its thread ran
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines if ";[on-cpu];" not in line)
assert len(paths) >= old + new, paths
us = sum(waits(Window(path).samples()) for path in paths)
of_all = report("-f", where)
assert not of_all.stderr, of_all.stderr
lines = of_all.stdout.splitlines()
got = reported(lines)
print(f"# {len(paths)} windows, {us:.0f} us of waits in them, {got} reported in {len(lines)} stacks")
assert abs(got - us) <= len(lines), (got, us)
for path in paths[:old]: # each by itself, too
    w, text = Window(path), report("-f", path).stdout
    assert "main;outer;inner" in text and w.string(w.meta["command"]) == "agent", text
    got = reported(text.splitlines())
    assert abs(got - waits(w.samples())) <= len(text.splitlines()), path
names = {n for n in os.listdir("kept") if n.endswith(".names")}
assert len(names) == 1 + (new > 0), names
P
check "old windows are read" python3 judge.py "$all" 6 0
grep '^#' "$OUT"
(cd "$ROOT/tests/data/ring-before" && sha256sum -- *) >sums

need_bpf
need_prog spin_abc
start "$PROGS/spin_abc" 30
check_status 0 "an agent goes on with it" "$BPFPROF" agent -p "$PID" --keep kept -i 1s -d 4
check "new windows beside them, too" python3 judge.py "$all" 6 3
grep '^#' "$OUT"
cd kept || exit 1
check "the old ones stay as they are" sha256sum --quiet -c ../sums
cd ..
check_status 0 "old and new are compared" "$BPFPROF" diff kept@2026-11-27T18:57 "kept@-2s"
check_grep inner "$OUT"
finish
