#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# However report -i ends or stops, the terminal is as it was: its modes, its screen, its cursor; and the shell sees why it ended.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3 tmux
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
cd "$TMP" || exit 1
export TMP PYTHONPATH=$ROOT/tests/e2e
check "a profile" "$GEN" small x.bpfprof

cat >common.py <<'P'
import os, re, signal, subprocess, sys, time
from screen import Screen
BPFPROF = os.environ["BPFPROF"]
ALL = "%s report -i x.bpfprof" % BPFPROF
# A shell gives up the rest of a line when its program ends by Ctrl-C; this one does not.
open("run", "w").write("trap : INT QUIT\nstty -a >before\necho still here\n%s\necho its status: $?\nstty -a >after\n" % ALL)
def pid_of(s):
    done = subprocess.run(["pgrep", "-t", s.value("pane_tty").removeprefix("/dev/"), "-x", "bpfprof"], check=True, capture_output=True)
    return int(done.stdout)
def begin(s):
    s.run("send-keys", "-t", "a", "-l", "--", "clear; bash run")
    s.run("send-keys", "-t", "a", "Enter")
    s.wait("^ *SELF.*FUNCTION")
    s.settle()
    assert s.value("alternate_on") == "1" and s.value("cursor_flag") == "0"
    return pid_of(s)
def ended(s, status, what):
    s.wait("^its status: ")
    lines = s.settle()
    assert "its status: %d" % status in lines, (what, lines)
    assert "still here" in lines, (what, "the screen is not back", lines)
    assert not any("FUNCTION" in line for line in lines), (what, lines)
    assert s.value("alternate_on") == "0" and s.value("cursor_flag") == "1", what
    assert open("before").read() == open("after").read(), what
    assert s.value("keypad_cursor_flag") == "0", what
P
cat >signals.py <<'P'
from common import *
with Screen() as s:
    s.command("ulimit -c 0")
    for name in "TERM HUP INT QUIT SEGV BUS FPE ILL ABRT PIPE ALRM".split():
        number = getattr(signal, "SIG" + name)
        pid = begin(s)
        os.kill(pid, number)
        ended(s, 128 + number, name)
    for key, status in ("q", 0), ("Q", 0), ("C-c", 130), ("C-\\", 131):
        begin(s)
        s.run("send-keys", "-t", "a", key)
        ended(s, status, key)
    # In the middle of a search, too.
    pid = begin(s)
    s.keys("/")
    s.text("serv")
    assert s.value("cursor_flag") == "1"
    os.kill(pid, signal.SIGTERM)
    ended(s, 143, "while typing")
print("signals")
P
cat >stops.py <<'P'
from common import *
def state(pid):
    return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]
def until(pid, wanted):
    end = time.time() + 10
    while state(pid) != wanted:
        assert time.time() < end, (wanted, state(pid))
        time.sleep(0.02)
with Screen() as s:
    before = s.command("stty -a >before; cat before")
    s.start(ALL, "^ *SELF.*FUNCTION")
    seen = s.lines()
    for _ in range(2):
        s.run("send-keys", "-t", "a", "C-z")
        s.wait("Stopped")
        assert s.value("alternate_on") == "0" and s.value("cursor_flag") == "1"
        s.command("stty -a >stopped")
        # The shell has its own modes while it reads; what stty says inside of a command is what it gave us.
        assert open("before").read() == open("stopped").read()
        s.start("fg", "^ *SELF.*FUNCTION")
        assert s.lines() == seen, s.lines()
        assert s.value("alternate_on") == "1" and s.value("cursor_flag") == "0"
    s.keys("Down")
    assert s.lines()[-1].startswith("2/")
    # Stopped by others, without a word, and woken again.
    pid = pid_of(s)
    os.kill(pid, signal.SIGSTOP)
    s.wait("Stopped")
    s.start("fg", "^ *SELF.*FUNCTION")
    assert s.lines()[-1].startswith("2/"), s.lines()
    s.keys("Up")
    assert s.lines() == seen
    # Sizes: from small to large and back, as many columns as fit, never a crash.
    assert len(s.resize(200, 50)) == 50
    assert sum("%" in line for line in s.lines()) > 40
    for columns, rows in (20, 5), (16, 3), (40, 10), (60, 20):
        lines = s.resize(columns, rows)
        assert any("dictScan" in line for line in lines), lines
        for key in "t", "Enter", "b", "m", "z", "u", "?", "q", "f":
            s.keys(key)
    assert "too small" in "".join(s.resize(10, 2))
    s.keys("t", "Down", "Enter", "f")
    assert s.resize(80, 24) == seen
    s.keys("q")
    assert s.value("alternate_on") == "0"
    # The terminal itself goes away.
    s.start(ALL, "^ *SELF.*FUNCTION")
    pid = pid_of(s)
    s.close()
    end = time.time() + 10
    while os.path.exists("/proc/%d" % pid):
        assert time.time() < end, "it is still there without a terminal"
        time.sleep(0.05)
print("stops and sizes")
P
for part in signals stops; do
	check "$part" timeout 80 python3 $part.py
	cat "$ERR"
done
finish
