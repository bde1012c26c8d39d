# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""stop_readers.py COMMAND...: runs it, and stops each process that it starts, and each that those start, as soon as it
is seen or up to 30 ms later, until the command ends. Prints how many it stopped; ends those that are left of them."""

import os
import random
import signal
import subprocess
import sys
import time


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def send(number, pid):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return 0
    return 1


def started(pid):
    """When: its number may be another's later."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(") ", 1)[1].split()[19]
    except OSError:
        return None


def main():
    random.seed(1)
    command = subprocess.Popen(sys.argv[1:])
    seen, due, stopped = {}, [], 0
    while command.poll() is None:
        now = time.monotonic()
        some = children(command.pid)
        for pid in some + [grandchild for child in some for grandchild in children(child)]:
            if pid not in seen:
                seen[pid] = started(pid)
                due.append((now + random.choice((0, 0, 0.03)) * random.random(), pid))
        for at, pid in due:
            if at <= now:
                stopped += send(signal.SIGSTOP, pid)
        due = [(at, pid) for at, pid in due if at > now]
        time.sleep(0.0003)
    for pid, start in seen.items():
        if start and started(pid) == start:
            send(signal.SIGKILL, pid)
    print(stopped)
    sys.exit(command.returncode)


main()
