# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""terminal_gone.py IGNORES SEEN COMMAND...: runs it on a terminal of its own, and takes the terminal away a moment after it
has shown what SEEN matches. IGNORES: "nohup" ignores SIGHUP, so that only errors tell the command; "hup" does not.
What does not end is killed after GOES_ON_S, 20. Prints "ended SECONDS STATUS CPU_SECONDS", counted from then on, and what was left behind, each a line."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from holdings import Holdings, stat_of

LIMIT_S = 20
GOES_ON_S = int(os.environ.get("GOES_ON_S", LIMIT_S))
LEFT_S = 10  # others may have the CPUs


def start(ignores, command):
    pid, fd = pty.fork()
    if pid:
        return pid, fd
    os.environ["TERM"] = "xterm"
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    if ignores == "nohup":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execvp(command[0], command)


def read(fd, until_s, pattern=None):
    shown, end = b"", time.monotonic() + until_s
    while time.monotonic() < end and not (pattern and re.search(pattern, shown)):
        if select.select([fd], [], [], 0.05)[0]:
            try:
                shown += os.read(fd, 65536)
            except OSError:  # it has ended by itself
                break
    return shown


def main():
    ignores, pattern, command = sys.argv[1], sys.argv[2].encode(), sys.argv[3:]
    pid, fd = start(ignores, command)
    shown = read(fd, LIMIT_S, pattern)
    read(fd, 0.3)
    has, before = Holdings(), stat_of(pid)
    has.add(pid)
    if not re.search(pattern, shown) or before[0] == "Z":
        print(f"left: it has shown {shown[-300:]!r}")
    os.close(fd)
    began, ended, status = time.monotonic(), 0, -signal.SIGKILL
    while not ended and time.monotonic() - began < GOES_ON_S:
        has.add(pid)
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        time.sleep(0.01)
    took = time.monotonic() - began
    if not ended:
        print(f"left: it goes on, and has used {stat_of(pid)[2] - before[2]:.2f} s")
        os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    print(f"ended {took:.2f} {os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime - before[2]:.2f} "
          f"had {len(has.loaded)}")
    for what in has.left_after(LEFT_S):
        print(f"left: {what}")


main()
