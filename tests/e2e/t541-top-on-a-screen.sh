#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# top on a real terminal: pages, sorting, filter, freezing, zoom, and what is saved; however it ends, the terminal is as it was.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 tmux
need_prog spin_abc
cd "$TMP" || exit 1
export TMP PYTHONPATH=$ROOT/tests/e2e
start "$PROGS/spin_abc" 120
SPIN=$PID
start python3 -c 'import time
while True:
    time.sleep(0.01)'
NAP=$PID
export SPIN NAP

cat >common.py <<'P'
import glob, os, re, signal, subprocess, time
from screen import Screen
BPFPROF, SPIN, NAP = os.environ["BPFPROF"], os.environ["SPIN"], os.environ["NAP"]
TOP = "%s top -p %s,%s -F 499 500ms" % (BPFPROF, SPIN, NAP)
def begin(s):
    s.run("send-keys", "-t", "a", "-l", "--", "clear; stty -a >before; %s; echo its status: $?; stty -a >after" % TOP)
    s.run("send-keys", "-t", "a", "Enter")
    s.wait("spin_a")
    return int(subprocess.run(["pgrep", "-t", s.value("pane_tty").removeprefix("/dev/"), "-x", "bpfprof", "-o"], check=True, capture_output=True).stdout)
def ended(s, status, what):
    s.wait("^its status: %d" % status)
    s.settle()
    assert s.value("alternate_on") == "0" and s.value("cursor_flag") == "1", what
    assert open("before").read() == open("after").read(), what
def press(s, *keys):
    """Keys, where the picture never settles."""
    for key in keys:
        s.run("send-keys", "-t", "a", key)
    time.sleep(0.3)
    return s.lines()
def typed(s, text):
    s.run("send-keys", "-t", "a", "-l", "--", text)
    time.sleep(0.3)
    return s.lines()
def row(lines, name):
    found = [line for line in lines[5:-1] if re.search(r"\b%s\b" % name, line)]
    return found[0] if found else None
P
cat >pages.py <<'P'
from common import *
with Screen() as s:
    begin(s)
    lines = s.wait(r"the last [3-5](\.[0-9]+)? s ") # not 3 ms
    assert re.match(r"the last .* of .*, every 500 ms: process", lines[0]), lines[0]
    assert "none lost; CPU: own" in lines[1] and len(lines[1]) < 80, lines[1]
    assert "CPUs; run queue" in lines[2] and lines[2].endswith("MB"), lines[2] # not cut
    assert row(lines, "spin_a") == lines[5], lines
    # The other pages.
    lines = press(s, "t")
    assert "SLEEP" in lines[4] and SPIN in row(lines, "spin_abc"), lines
    assert float(re.search(r"([0-9.]+)%", row(lines, "spin_abc")).group(1)) > 5, lines
    lines = press(s, "w")
    assert row(lines, "sleep") and row(lines, "on-cpu"), lines
    lines = press(s, "p")
    assert SPIN in row(lines, "spin_abc") and NAP in row(lines, "python3"), lines
    # Sorted by name, which is the last column.
    press(s, ">", ">", ">", ">", ">")
    s.until("sorted by name", lambda: NAP in s.lines()[5] and SPIN in s.lines()[6])
    # Only one process.
    lines = press(s, "<", "<", "<", "<", "Home", "Enter")
    assert "only spin_abc/" + SPIN in lines[3] and row(lines, "spin_a"), lines
    lines = press(s, "t")
    assert not row(lines, "python3"), lines
    lines = press(s, "Escape")
    time.sleep(0.5)
    assert row(s.lines(), "python3"), s.lines()
    # A filter as one types.
    press(s, "f", "/")
    lines = typed(s, "spin_[bc]")
    assert row(lines, "spin_b") and not row(lines, "spin_a"), lines
    lines = typed(s, "[")
    assert "not a regular expression" in lines[-1] and row(lines, "spin_b"), lines
    lines = press(s, "BSpace", "Enter")
    assert "/spin_[bc]/ leaves out" in lines[3] and row(lines, "spin_c"), lines
    press(s, "Escape")
    time.sleep(0.5)
    assert row(s.lines(), "spin_a"), s.lines()
    # Frozen: nothing changes.
    lines = press(s, "Space")
    assert "FROZEN" in lines[3], lines
    time.sleep(1.2)
    assert s.lines() == lines, s.lines()
    # What is saved is what is shown.
    lines = press(s, "s")
    path = re.search(r"saved: (\S+)", lines[-1]).group(1)
    assert os.path.exists(path) and path.endswith(".bpfprof"), path
    shown = {}
    for line in lines[5:-1]:
        m = re.match(r" *(\S+) +(\S+) +(\d+) +(\S+) +(\S+)", line)
        if m and m.group(3) != "0":
            shown[m.group(5)] = int(m.group(3))
    report = subprocess.run([BPFPROF, "report", "--tree", "--bottom-up", "--percent-limit", "0", path], check=True, capture_output=True, text=True).stdout
    assert "spin_a" in report, report
    saved = subprocess.run([BPFPROF, "report", "-o", "x.json", path], check=True, capture_output=True, text=True)
    budget = subprocess.run([BPFPROF, "report", "--table", path], check=True, capture_output=True, text=True).stdout
    assert SPIN in budget and NAP in budget, budget
    residual = float(re.search(r"([0-9.-]+)%$", budget.strip().splitlines()[-1]).group(1))
    assert abs(residual) < 3, budget
    # What is looked into; and back.
    lines = press(s, "Enter")
    assert any("itself" in line and "spin_a" in line for line in lines), lines
    press(s, "Q")
    lines = press(s, "Space")
    assert "FROZEN" not in lines[3], lines
    assert any("Space" in line and "freezes" in line.lower() for line in press(s, "?")), s.lines()
    press(s, "x")
    # A screen so small that only rows are left, and back.
    for columns, rows in (20, 5), (16, 3), (10, 2), (80, 24):
        s.run("resize-window", "-t", "a", "-x", str(columns), "-y", str(rows))
        time.sleep(0.8)
        lines = s.lines()
        assert any("spin" in line or "too small" in line for line in lines), (columns, lines)
    press(s, "q")
    ended(s, 0, "q")
print("pages")
P
cat >ends.py <<'P'
from common import *
with Screen() as s:
    s.command("ulimit -c 0")
    for name, status in (("TERM", 0), ("HUP", 0), ("SEGV", 139)) + (("INT", 0), ("QUIT", 131)) * bool(os.environ.get("NIGHTLY")):
        pid = begin(s)
        began = time.time()
        os.kill(pid, getattr(signal, "SIG" + name))
        ended(s, status, name)
        assert time.time() - began < 3, name
    begin(s)
    s.run("send-keys", "-t", "a", "C-c")
    ended(s, 0, "Ctrl-C")
    # The terminal goes away: so does top.
    pid = begin(s)
    s.close()
    end = time.time() + 10
    while os.path.exists("/proc/%d" % pid) and open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.time() < end, "it is still there without a terminal"
        time.sleep(0.05)
print("ends")
P
check "pages and keys" python3 pages.py
check "ends" python3 ends.py

# No screen: one sentence, and tables.
check "TERM=dumb" on_terminal 100 30 env TERM=dumb NO_COLOR=1 "$BPFPROF" top -p "$SPIN" --page functions 500ms 2
check_grep 'TERM is dumb.*; these are tables, one after the other' "$OUT"
check_grep 'spin_a' "$OUT" "... and tables"
finish
