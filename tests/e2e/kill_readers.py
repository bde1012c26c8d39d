# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""kill_readers.py PROFILER PROGRAM FOLDER KILLS SECONDS

Kills the processes that read files for bpfprof, one at random moments after the other, for so long, and then those that
read names until it ends. Meanwhile it starts four copies of a program a second, each another file of somebody who is
not root: so there is something to read. Prints how many it killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

STRANGER = 1234


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(") ", 1)[1][0] == "Z"
    except OSError:
        return True


def start(program, folder, nr):
    path = f"{folder}/victim{nr}"
    shutil.copy(program, path)
    os.chown(path, STRANGER, STRANGER)
    return subprocess.Popen([path, "1"])


def kill_one(profiler):
    """Whoever reads rather than whoever forks them, where there is one."""
    forking = children(profiler)
    reading = [child for parent in forking for child in children(parent)]
    chosen = reading or forking
    if not chosen:
        return False
    try:
        os.kill(random.choice(chosen + forking), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def main():
    profiler, program, folder, nr, seconds = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), float(sys.argv[5])
    random.seed(1)
    killed, victims, next_kill, next_victim = 0, [], 0, 0
    end = time.monotonic() + seconds
    while not has_ended(profiler):
        now = time.monotonic()
        if now > next_victim and now < end:
            victims.append(start(program, folder, len(victims)))
            next_victim = now + 0.25
        if now > next_kill and kill_one(profiler):
            killed += 1
            next_kill = now + random.uniform(0, 2 * seconds / nr)
        time.sleep(random.uniform(0, 0.002))
    for victim in victims:
        victim.terminate()
        victim.wait()
    print(killed)


main()
