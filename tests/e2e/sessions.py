# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes of a session: what a command that ended has left behind."""
import os
import time


def processes_of(session, seconds):
    """Those that are still there so long after its first one has ended. The dead ones wait for the host's init alone."""
    until = time.monotonic() + seconds
    while True:
        there = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = open(f"/proc/{pid}/stat", errors="replace").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                there.append(int(pid))
        if not there or time.monotonic() > until:
            return there
        time.sleep(0.1)
