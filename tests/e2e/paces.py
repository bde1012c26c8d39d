# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
paces.py WINDOWS PID_A FILE_A PID_B FILE_B: how many rounds two programs (tests/progs/paces.c) make in each ms of CPU time,
in windows of 15 ms of CPU time that take turns, in which the other one is stopped. Prints the median of the first, of the second, and
of the quotient of each two windows that followed each other.
"""
import os
import signal
import statistics
import struct
import sys
import time

WINDOW_NS = 15e6
LIMIT_S = 20


def read(path):
    with open(path, "rb") as f:
        return struct.unpack("QQ", f.read(16))


def window(pid, path):
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.004)
    rounds, cpu_ns = read(path)
    rounds_then, cpu_ns_then, end = rounds, cpu_ns, time.monotonic() + LIMIT_S
    while cpu_ns_then - cpu_ns < WINDOW_NS:
        time.sleep(0.002)
        rounds_then, cpu_ns_then = read(path)
        if time.monotonic() > end:
            sys.exit(f"{path}: gets no CPU")
    os.kill(pid, signal.SIGSTOP)
    return (rounds_then - rounds) / (cpu_ns_then - cpu_ns) * 1e6


def main():
    nr, pids, paths = int(sys.argv[1]), (int(sys.argv[2]), int(sys.argv[4])), (sys.argv[3], sys.argv[5])
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    seen = [[window(pid, path) for pid, path in zip(pids, paths)] for _ in range(nr)]
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    print(f"{statistics.median(a for a, _ in seen):.2f} {statistics.median(b for _, b in seen):.2f} "
          f"{statistics.median(a / b for a, b in seen):.4f}")


main()
