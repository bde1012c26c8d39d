# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Several runtimes of Tokio in one process (tests/progs/tokio --several): tokio_several.py NAME TRUTH FOLDED JSON. A line
"ok ..." or "not ok ..." for each check.
"""
import collections
import json
import re
import sys

name, truth, folded, summary = sys.argv[1:]
LEAF = re.compile(r"^tokio_waits::leaves::blocking::(\w+)$")
QUEUE = ("[woken]", "[preempted]", "[spin]", "[throttled]")
# Which runtime each leaf runs in: names of threads. Tokio up to 1.49 has its default name cut.
WHERE = {
    "blocking_sleep": r"tokio-r(t-worker|untime-w)",
    "sleep_named": "named",
    "pool_job": "named",
    "sleep_driverless": "driverless",
    "sleep_local": "local",
}


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
with open(summary, encoding="utf8") as f:
    runtime = json.load(f)["runtime"]
leaves = collections.defaultdict(collections.Counter)
threads, idle = collections.Counter(), collections.defaultdict(collections.Counter)
for line in open(folded, encoding="utf8"):
    stack, us = line.rstrip("\n").rsplit(" ", 1)
    frames, us = stack.split(";"), int(us)
    context = frames[1] if len(frames) > 1 and frames[1].startswith("[") else "other"
    leaf = next((m.group(1) for m in map(LEAF.match, frames) if m), None)
    if leaf:
        leaves[leaf][frames[0], context, "queue" if frames[-1] in QUEUE else frames[-1]] += us
    # Those without a way to park are born or end: some 20 us.
    if context == "[idle]" and len(frames) > 2:
        idle[frames[0]][frames[2]] += us

check(sorted(truth["leaves"]) == sorted(WHERE), f"each runtime ran its leaf: {sorted(truth['leaves'])}")
for leaf, row in truth["leaves"].items():
    us, found = row["ns"] / 1000, sum(leaves[leaf].values())
    check(us > 200000, f"{leaf} took {us / 1000:.0f} ms")
    print(f"figure: {name}: {leaf}: {100 * found / us:.2f} % of what it measured")
    check(-5 <= 100 * (found / us - 1) <= 2, f"{leaf}: {100 * found / us:.2f} % of what it measured")
    right = sum(v for (who, context, _), v in leaves[leaf].items() if context == f"[{row['context']}]" and re.fullmatch(WHERE[leaf], who))
    check(right == found, f"{leaf}: {right} of {found} us are in {row['context']} in its runtime")
    blocked = sum(v for (_, _, kind), v in leaves[leaf].items() if kind != "queue")
    kind = sum(v for (_, _, kind), v in leaves[leaf].items() if kind == "[sleep]")
    check(kind >= 0.99 * blocked, f"{leaf}: {kind} of {blocked} us are of kind sleep")

# Whoever sleeps in a worker leaves the rest of two workers' time to the parks of that runtime.
wall = truth["wall_ns"] / 1000
parks = idle["driverless"]
rest = 2 * wall - truth["leaves"]["sleep_driverless"]["ns"] / 1000
print(f"figure: {name}: parks of the runtime without a driver: {dict(parks)} us, {rest:.0f} us to be expected")
check(set(parks) <= {"[park]", "[pool]"}, f"a runtime without a driver for events parks, and does nothing else: {dict(parks)}")
check(0.93 <= parks["[park]"] / rest <= 1.02, f"its parks are {100 * parks['[park]'] / rest:.1f} % of what its task leaves")
for who, kinds in idle.items():
    if who == "named" or re.fullmatch(WHERE["blocking_sleep"], who):
        check(kinds["[driver]"] > 0 and kinds["[park]"] > 0, f"{who} parks, and waits for events: {dict(kinds)}")
share = 100 * idle["local"]["[driver]"] / sum(idle["local"].values())
check(share >= 99.9, f"the LocalSet's thread waits for events: {dict(idle['local'])}")

workers = runtime["workers"]
check(workers["threads"] == truth["workers"], f"{workers['threads']} threads are workers, of {truth['workers']}")
check(runtime["block_on_threads"] == 2, f"{runtime['block_on_threads']} threads are in block_on, of 2")
of_workers = ("blocking_sleep", "sleep_named", "sleep_driverless")
measured = sum(truth["leaves"][leaf]["ns"] / 1000 for leaf in of_workers)
# Whoever was woken waits for a CPU: in the table that is the run queue's.
queued = sum(us for leaf in of_workers for (_, _, kind), us in leaves[leaf].items() if kind == "queue")
task = workers["contexts"]["task"]["us"] + queued
check(abs(task / measured - 1) <= 0.05, f"workers are blocked in tasks for {100 * task / measured:.2f} % of what those measured, with {queued} us for a CPU")
