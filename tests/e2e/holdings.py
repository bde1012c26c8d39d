# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a process has, and those that it started: BPF programs and links by their descriptors, and processes. Whoever has
seen it can wait until all of it is gone."""

import ctypes
import os
import platform
import time

BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
COMMANDS = {"prog_id": 13, "link_id": 30}  # BPF_PROG_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID
NAMES = {"prog_id": "program", "link_id": "link"}
libc = ctypes.CDLL(None, use_errno=True)


def is_loaded(kind, number):
    attr = ctypes.create_string_buffer(number.to_bytes(4, "little") + bytes(12), 16)
    fd = libc.syscall(BPF, COMMANDS[kind], attr, 16)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def children(pid):
    found = []
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as f:
                found += [int(child) for child in f.read().split()]
    except OSError:
        pass
    return found


def stat_of(pid):
    """State, when it started, and its CPU time in seconds; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rsplit(") ", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0], fields[19], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def runs(pid, start):
    now = stat_of(pid)
    return now is not None and now[1] == start and now[0] not in "ZX"


class Holdings:
    def __init__(self):
        self.loaded, self.processes = set(), {}

    def add(self, pid):
        """What it has now, besides what it had at earlier looks."""
        try:
            numbers = os.listdir(f"/proc/{pid}/fdinfo")
        except OSError:
            numbers = []
        for number in numbers:
            try:
                with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii", errors="replace") as f:
                    rows = [line.split() for line in f]
            except OSError:
                continue
            self.loaded |= {(row[0][:-1], int(row[1])) for row in rows if row and row[0][:-1] in COMMANDS}
        for child in children(pid):
            now = stat_of(child)
            if now:
                self.processes[child] = now[1]
            self.add(child)

    def left(self):
        return [f"{NAMES[kind]} {number}" for kind, number in sorted(self.loaded) if is_loaded(kind, number)] + \
            [f"process {pid}" for pid, start in self.processes.items() if runs(pid, start)]

    def left_after(self, seconds):
        """What is there still after so long; nothing as soon as there is nothing."""
        end = time.monotonic() + seconds
        while self.left() and time.monotonic() < end:
            time.sleep(0.01)
        return self.left()
