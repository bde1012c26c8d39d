# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stops a recorder, or who reads files for it, in the middle of a recording:

    stopped.py WHOM AT SECONDS TARGET COMMAND...

WHOM: "recorder" goes on afterwards, "killed" is killed instead; "readers" are all processes that the recorder has
started by then, which go on. AT: so long after its events are there. The first line says how long the recording can
have taken, from the moment that its events were there, and what TARGET used of the CPU meanwhile, in s; each further
one what was left behind. The command's exit status is the last line's.
"""

import os
import signal
import subprocess
import sys
import time

from holdings import Holdings, stat_of

LEFT_S = 10  # others may have the CPUs


def records(pid):
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}") == "anon_inode:[perf_event]" or "bpf_link" in
                   os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def main():
    whom, at, seconds, target, command = sys.argv[1], *map(float, sys.argv[2:4]), int(sys.argv[4]), sys.argv[5:]
    recorder = subprocess.Popen(command)
    while recorder.poll() is None and not records(recorder.pid):
        time.sleep(0.002)
    begin, cpu = time.monotonic(), stat_of(target)[2]
    time.sleep(at)
    has = Holdings()
    has.add(recorder.pid)
    stopped = list(has.processes) if whom == "readers" else [recorder.pid]
    send(stopped, signal.SIGSTOP)
    has.add(recorder.pid)
    time.sleep(seconds)
    send(stopped, signal.SIGKILL if whom == "killed" else signal.SIGCONT)
    status = recorder.wait()
    print(f"took {time.monotonic() - begin:.2f} used {stat_of(target)[2] - cpu:.2f} stopped {len(stopped)} "
          f"had {len(has.loaded)}")
    for what in has.left_after(LEFT_S):
        print(f"left: {what}")
    print(f"status {status}")


main()
