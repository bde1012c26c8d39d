# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A program of Tokio whose tasks never block (tests/progs/tokio --quiet): tokio_quiet.py NAME TRUTH FOLDED HIDDEN JSON. FOLDED
has all frames and idle stacks, HIDDEN is what --idle=hide leaves. Times in which a thread waits for a CPU are the host's
and not judged, but for their place. A line "ok ..." or "not ok ..." for each check.
"""
import collections
import json
import re
import sys

name, truth, folded, hidden, summary = sys.argv[1:]
QUEUE = ("[woken]", "[preempted]", "[spin]", "[throttled]")
PARK = re.compile(r"worker::Context::park|park::(Parker|Inner)::park|CachedParkThread|::Driver::(turn|park)|pool::Inner::run")
STEPS = ("timers", "turns", "locks", "echoes")


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


def read(path):
    with open(path, encoding="utf8") as f:
        for line in f:
            stack, us = line.rstrip("\n").rsplit(" ", 1)
            yield stack.split(";"), int(us)


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
with open(summary, encoding="utf8") as f:
    runtime = json.load(f)["runtime"]
wall = truth["wall_ns"] / 1000
for step in STEPS:
    check(truth[step] >= 10, f"there were {truth[step]} {step}")

# Blocked: off the CPU, and not for want of one.
blocked, queued, unrooted = collections.Counter(), 0, 0
for frames, us in read(folded):
    if frames[-1] in QUEUE:
        queued += us
        continue
    context = frames[1] if len(frames) > 1 and frames[1].startswith("[") else "other"
    blocked[context] += us
    if context == "[idle]" and "rt-worker" in frames[0] and not any(map(PARK.search, frames)):
        unrooted += us
total = sum(blocked.values())
idle, task = (100 * blocked[c] / total for c in ("[idle]", "[task]"))
of_all = 100 * blocked["[idle]"] / (total + queued)
print(f"figure: {name}: idle {idle:.3f} %, in tasks {task:.3f} % of {total / 1e6:.2f} s of waiting, besides {queued / 1e6:.3f} s for a CPU ({of_all:.2f} % with it)")
check(idle >= 98, f"{idle:.3f} % of what is waited is idle")
check(task < 1, f"{task:.3f} % is in tasks")
# In fat programs the pool has no function of Tokio.
check(unrooted <= total / 1000, f"{unrooted} us are idle without a function that parks")

left = collections.Counter()
for frames, us in read(hidden):
    left["queue" if frames[-1] in QUEUE else "blocked"] += us
check(left["blocked"] <= total / 50, f"--idle=hide leaves {left['blocked']} us, and {left['queue']} us for a CPU")

workers, contexts = runtime["workers"], runtime["contexts"]
check(workers["threads"] == truth["workers"], f"{workers['threads']} workers of {truth['workers']}")
for context in ("idle-park", "idle-driver"):
    check(workers["contexts"][context]["us"] > wall / 20, f"workers are in {context}: {workers['contexts'][context]['us']} us")
block_on = contexts["idle-block_on"]["us"]
check(abs(block_on / wall - 1) < 0.1, f"the main thread is in block_on for {100 * block_on / wall:.1f} % of the time")
check(not runtime["task_kinds"] or task < 1, f"kinds of waits in tasks: {runtime['task_kinds']}")
