# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What is left of a Tokio program's throughput while bpfprof looks at it: throughput.py PROGRAM PAIRS LEAST SERVERS WAITS TMP.
PROGRAM is axum_echo, mini_redis or pingpong. Pairs of neighbouring runs with and without, in turns the one and the other
first. A line "ok ..." or "not ok ..." for each check.

A busy host gives a run more or less of its CPUs, which says nothing of what bpfprof costs. So what was done in a second of
the CPU time of both the program and its load is judged, too, where that is what the throughput follows; the client of
mini-redis waits. What pairs do not agree on is not judged.
"""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

program, pairs, least, servers, waits, tmp = sys.argv[1:]
pairs, least = int(pairs), float(least)
AGREE = 8  # points between quartiles
SECONDS = 2
REQUESTS = 300000  # of mini-redis, some two seconds of them


def check(good, text):
    print("ok" if good else "not ok", f"{program}: {text}", flush=True)


def run_ns(pid):
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="utf8") as f:
            total += int(f.read().split()[0])
    return total


def finish(child):
    """Its output, and CPU seconds."""
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    assert status == 0, (child.args, status, text)
    return text, usage.ru_utime + usage.ru_stime


def spawn(*args, **more):
    return subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more)


class Server:
    def __init__(self):
        self.child = spawn(f"{servers}/{program}", "2")
        self.port = self.child.stdout.readline().strip()
        self.pid = self.child.pid

    def load(self):
        if program == "axum_echo":
            return spawn("wrk", "-t1", "-c16", f"-d{SECONDS}s", f"http://127.0.0.1:{self.port}/hello")
        return spawn("redis-benchmark", "-p", self.port, "-c", "16", "-n", str(REQUESTS), "-t", "set", "--csv")

    def run(self, ready):
        """How much was done in a second, and in one of CPU time."""
        ready(self.pid)
        cpu, begin = run_ns(self.pid), time.monotonic()
        text, load_cpu = finish(self.load())
        took, cpu = time.monotonic() - begin, (run_ns(self.pid) - cpu) / 1e9
        found = re.search(r"(\d+) requests in", text)
        done = int(found[1]) if found else REQUESTS
        return done / took, done / (cpu + load_cpu)

    def end(self):
        self.child.kill()
        self.child.wait()


class PingPong:
    """It becomes the program when bpfprof looks at it."""

    def run(self, ready):
        truth = f"{tmp}/truth"
        command = f'read x; exec "$0" {SECONDS} --pingpong --workers 2 --truth "$1"'
        child = spawn("sh", "-c", command, waits, truth, stdin=subprocess.PIPE)
        ready(child.pid)
        child.stdin.write("\n")
        child.stdin.flush()
        _, cpu = finish(child)
        with open(truth, encoding="utf8") as f:
            done = json.load(f)["turns"]
        return done / SECONDS, done / cpu

    def end(self):
        pass


def is_recording(pid):
    fds = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(f"{fds}/{fd}") == "anon_inode:[perf_event]" for fd in os.listdir(fds))
    except FileNotFoundError:  # closed meanwhile
        return False


def watched(target):
    recorder = None

    def ready(pid):
        nonlocal recorder
        args = [os.environ["BPFPROF"], "offcpu", "--runtime=tokio", "-p", str(pid), "-o", f"{tmp}/x.bpfprof", "60"]
        recorder = spawn(*args)
        while not is_recording(recorder.pid):
            time.sleep(0.05)
        time.sleep(0.4)

    try:
        return target.run(ready)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()


# As users have it.
os.environ.pop("BPFPROF_MAX_OVERHEAD", None)
target = PingPong() if program == "pingpong" else Server()
target.run(lambda pid: None)
ratios = []
for i in range(pairs):
    runs = {}
    for with_it in (True, False) if i % 2 else (False, True):
        runs[with_it] = watched(target) if with_it else target.run(lambda pid: None)
    ratios.append([100 * a / b for a, b in zip(runs[True], runs[False])])
    print(f"{program}: a second: {runs[True][0]:.0f} of {runs[False][0]:.0f}, one of CPU time: {runs[True][1]:.0f} of {runs[False][1]:.0f}")
target.end()

for name, v in zip(("throughput", "work in a second of CPU time"), zip(*ratios)):
    low, half, high = statistics.quantiles(v, n=4, method="inclusive")
    text = f"keeps {half:.1f} % of its {name}, quartiles {low:.1f} and {high:.1f}, {pairs} pairs"
    print(f"figure: {program} {text}")
    if high - low > AGREE:
        print(f"{program}: pairs do not agree on its {name}: the host is too busy")
    elif name == "throughput" or program != "mini_redis":
        check(half >= least, text)
