# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Contexts and kinds of some blocking functions of tests/progs/tokio, from folded stacks: tokio_subset.py NAME TRUTH FOLDED
CELLS. Unlike tokio_waits.py it judges what has a stack: where a machine is slow, waits begin before there are tables to walk
them by. A line "ok ..." or "not ok ..." for each check.
"""
import collections
import json
import re
import sys

name, truth, folded, least = sys.argv[1:]
LEAF = re.compile(r"^tokio_waits::leaves::blocking::(\w+)$")
QUEUE = ("[woken]", "[preempted]", "[spin]", "[throttled]")
LEAST_US = 100000  # of what can be judged
LEAST_FOUND = 60  # percent of what the program measured


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


contexts = collections.defaultdict(collections.Counter)
kinds = collections.defaultdict(collections.Counter)
with open(folded, encoding="utf8") as f:
    for line in f:
        stack, us = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        leaf = next((m.group(1) for m in map(LEAF.match, frames) if m), None)
        if not leaf or len(frames) < 2 or not frames[1].startswith("["):
            continue
        contexts[leaf][frames[1]] += int(us)
        if frames[-1] not in QUEUE:
            kinds[leaf][frames[-1]] += int(us)
with open(truth, encoding="utf8") as f:
    rows = json.load(f)["leaves"]
cells = 0
for leaf, row in rows.items():
    us, found, blocked = row["ns"] / 1000, sum(contexts[leaf].values()), sum(kinds[leaf].values())
    if us < LEAST_US:
        print(f"# {name}: {leaf} took {us / 1000:.0f} ms only")
        continue
    cells += 1
    check(100 * found >= LEAST_FOUND * us and 100 * found <= 103 * us, f"{leaf}: {100 * found / us:.1f} % of what it measured")
    right = contexts[leaf][f"[{row['context']}]"]
    check(found and right == found, f"{leaf}: context {row['context']} {dict(contexts[leaf])}")
    right = kinds[leaf][f"[{row['kind']}]"]
    check(blocked and right >= 0.99 * blocked, f"{leaf}: kind {row['kind']} {dict(kinds[leaf])}")
print(f"figure: {name}: {cells} cells")
check(cells >= int(least), f"{cells} cells were judged")
