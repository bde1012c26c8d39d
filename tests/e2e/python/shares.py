# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Burns 50, 30 and 20 % of its time in three functions, or sleeps for as long as it then says; for some seconds.

    shares.py burn|sleep SECONDS [SECONDS BEFORE IT BEGINS]

burn counts CPU time of its thread. sleep prints, for each place where it slept, the name of the function and how many
microseconds it was off the CPU: by the clock, less its CPU time. Any Python from 3.8 on.
"""
import sys
import threading
import time


def spend(until):
    x = 0
    while time.thread_time() < until:
        for i in range(200):
            x += i * i
    return x


def burn_half(now):
    return spend(now + 0.010)


class Third:
    def burn_third(self, now):
        return spend(now + 0.006)


def burn_fifth(now):
    # A generator that C calls, which calls the evaluator once more.
    return sum(x for x in [spend(now + 0.004)])


def burn(seconds):
    third = Third()
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        burn_half(time.thread_time())
        third.burn_third(time.thread_time())
        burn_fifth(time.thread_time())


slept = {}


def measured(function, *args):
    begin = time.perf_counter_ns() - time.thread_time_ns()
    function(*args)
    return time.perf_counter_ns() - time.thread_time_ns() - begin


def nap(seconds):
    time.sleep(seconds)


def short():
    nap(0.020)


def deep(n):
    if n:
        deep(n - 1)
    else:
        nap(0.050)


def sleeper(name, seconds):
    sums = [0, 0]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sums[0] += measured(short)
        sums[1] += measured(deep, 12)
    slept[name] = sums


def sleep(seconds):
    threads = [threading.Thread(target=sleeper, args=(i, seconds)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, name in enumerate(("short", "deep")):
        print(name, sum(sums[i] for sums in slept.values()) // 1000, flush=True)


if __name__ == "__main__":
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    {"burn": burn, "sleep": sleep}[sys.argv[1]](float(sys.argv[2]))
