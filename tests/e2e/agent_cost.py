# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What an agent costs by what is left of the host's throughput, beside what it says itself: agent_cost.py LOAD PAIRS MOST TMP.
LOAD is redis or compile, which both keep two CPUs busy; MOST is the percentage of the CPUs that the agent may say. Pairs of
neighbouring times without and with an agent, which had time to learn the host; in turns the one and the other first. Both
figures agree if they differ by no more than a fifth, or than what the pairs differ among themselves allows to tell.
"""
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from windows import Window, windows

load, pairs, most, tmp = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
SECONDS, WARM = 20, 12
FILES = 24
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def check(good, text):
    print("ok" if good else "not ok", f"{load}: {text}", flush=True)


class Redis:
    """Commands a second, by the server's own count."""

    def __init__(self):
        os.symlink(os.path.realpath(shutil.which("redis-check-rdb")), f"{tmp}/redis-server")
        socket = f"{tmp}/redis.sock"
        self.server = subprocess.Popen([f"{tmp}/redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", tmp],
                                       **quiet)
        self.cli = ["redis-cli", "-s", socket, "info", "stats"]
        while not os.path.exists(socket):
            time.sleep(0.1)
        self.client = subprocess.Popen(["redis-benchmark", "-s", socket, "-c", "16", "-n", "2000000000", "-t", "get", "-q"], **quiet)

    def done(self):
        text = subprocess.run(self.cli, stdout=subprocess.PIPE, check=True, text=True).stdout
        return int(text.split("total_commands_processed:")[1].split()[0])

    def rate(self):
        begin, had = time.monotonic(), self.done()
        time.sleep(SECONDS)
        return (self.done() - had) / (time.monotonic() - begin)

    def warm(self):
        time.sleep(WARM)

    def close(self):
        for child in self.client, self.server:
            child.terminate()
            child.wait()


class Compile:
    """Files a second, two at a time."""

    def __init__(self):
        for i in range(FILES):
            with open(f"{tmp}/f{i}.c", "w", encoding="utf8") as f:
                f.write("#include <stdio.h>\n#include <stdlib.h>\n")
                f.writelines(f"int f{i}_{k}(int x) {{ char b[99]; snprintf(b, 99, \"%d\", x); return atoi(b) * {k}; }}\n"
                             for k in range(200))

    def one(self, i):
        subprocess.run(["gcc", "-O1", "-c", f"{tmp}/f{i % FILES}.c", "-o", f"{tmp}/f{i % FILES}.o"], check=True)

    def batch(self):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self.one, range(FILES)))

    def rate(self):
        begin, nr = time.monotonic(), 0
        while time.monotonic() < begin + SECONDS:
            self.batch()
            nr += FILES
        return nr / (time.monotonic() - begin)

    def warm(self):
        begin = time.monotonic()
        while time.monotonic() < begin + WARM:
            self.batch()

    def close(self):
        pass


class Agent:
    def __init__(self, nr):
        self.kept = f"{tmp}/kept-{load}-{nr}"
        self.child = subprocess.Popen([os.environ["BPFPROF"], "agent", "--keep", self.kept, "--max-overhead", "0.5"], **quiet)

    def stop(self, begin, end):
        """What it says that it cost between two times, in percent of the CPUs: itself and its programs."""
        self.child.send_signal(signal.SIGTERM)
        assert self.child.wait() == 0
        cost = of = 0
        for path in windows(self.kept):
            m = Window(path).meta
            if begin <= m["start_ns"] / 1e9 + m["duration_ns"] / 2e9 <= end:
                cost += m["cpu_ns"] + m["bpf_ns"] + m["interrupts_ns"]
                of += m["duration_ns"] * m["nr_cpus"]
        return 100 * cost / of


def with_agent(work, nr):
    agent = Agent(nr)
    work.warm()
    begin = time.time()
    rate = work.rate()
    return rate, agent.stop(begin, time.time())


def main():
    work = {"redis": Redis, "compile": Compile}[load]()
    lost, said = [], []
    work.warm()
    for nr in range(pairs):
        if nr & 1:
            rate, own = with_agent(work, nr)
            bare = work.rate()
        else:
            bare = work.rate()
            rate, own = with_agent(work, nr)
        lost.append(100 * (1 - rate / bare))
        said.append(own)
        print(f"# {load}: {bare:.1f} a second without, {rate:.1f} with: {lost[-1]:.2f} % lost, it says {own:.2f} %", flush=True)
    work.close()
    own, loss = statistics.median(said), statistics.median(lost)
    low, _, high = statistics.quantiles(lost, n=4)
    error = 1.57 * (high - low) / pairs ** 0.5 # of the median
    print(f"# {load}: {loss:.2f} % lost, +- {error:.2f}; it says {own:.2f} %", flush=True)
    check(own <= most, f"it says that it costs {own:.2f} % of the CPUs, at most {most} %")
    if error > 0.2 * own:
        print(f"# {load}: not judged whether both agree, the pairs differ too much for that")
    else:
        check(abs(loss - own) <= 0.2 * own, f"that agrees with the {loss:.2f} % of the throughput that are lost")


main()
