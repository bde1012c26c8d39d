# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
More busy tasks than CPUs (tests/progs/tokio --leaves cpu_burn): tokio_queue.py NAME TRUTH FOLDED JSON ONCPU. A line "ok ..."
or "not ok ..." for each check.
"""
import collections
import json
import sys

name, truth, folded, summary, oncpu = sys.argv[1:]
QUEUE = ("[woken]", "[preempted]", "[throttled]")
BURN = "tokio_waits::leaves::blocking::cpu_burn"


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


def read(path):
    with open(path, encoding="utf8") as f:
        for line in f:
            stack, n = line.rstrip("\n").rsplit(" ", 1)
            yield stack.split(";"), int(n)


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
with open(summary, encoding="utf8") as f:
    workers = json.load(f)["runtime"]["workers"]
waits = collections.Counter()
for frames, us in read(folded):
    if BURN in frames:
        waits[frames[-1] if frames[-1] in QUEUE else "blocked"] += us
        waits["not in a task"] += us * (frames[1] != "[task]")
queued = sum(waits[q] for q in QUEUE)
us = truth["leaves"]["cpu_burn"]["ns"] / 1000
print(f"figure: {name}: queued in cpu_burn: {queued / 1e6:.3f} s, {100 * queued / us:.2f} % of what it measured {dict(waits)}")
check(us > 500000, f"it was kept off the CPU for {us / 1e6:.3f} s")
check(abs(queued / us - 1) <= 0.1, f"waits for a CPU are {100 * queued / us:.2f} % of what it measured")
check(not waits["blocked"] and not waits["not in a task"], f"nothing of it is blocked, and all is in tasks: {dict(waits)}")
check(waits["[preempted]"] >= 0.9 * queued, f"it was preempted for {100 * waits['[preempted]'] / queued:.1f} % of that")

# What workers did not run, they queued or were idle.
idle = sum(c["us"] for context, c in workers["contexts"].items() if context.startswith("idle"))
rest = truth["workers"] * truth["wall_ns"] / 1000 - truth["cpu_ns"] / 1000 - idle
queue = workers["run_queue"]["us"]
print(f"figure: {name}: run queue {queue / 1e6:.3f} s, workers x wall - CPU used - idle {rest / 1e6:.3f} s: {100 * queue / rest:.2f} %")
check(abs(queue / rest - 1) <= 0.1, f"the run queue is {100 * queue / rest:.2f} % of workers x wall - CPU used - idle")

ran = collections.Counter()
for frames, n in read(oncpu):
    ran[BURN in frames] += n
share = 100 * ran[True] / sum(ran.values())
print(f"figure: {name}: {share:.1f} % of what ran is in cpu_burn")
check(share >= 90, f"oncpu: {share:.1f} % of what ran is in cpu_burn")
