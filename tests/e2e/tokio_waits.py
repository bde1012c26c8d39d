# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What tests/progs/tokio says of its waits, against folded stacks and the summary in JSON: tokio_waits.py NAME TRUTH FOLDED
ALL JSON STOLEN TAKEN. ALL has all frames; us that the hypervisor took from all CPUs meanwhile, and that with those of
interrupts. TRUTH may be a folder, with a file *.truth of each of several programs that have one thread for their tasks.
Reads them by itself; a line "ok ..." or "not ok ..." for each check, and a last one of cells, which are this build with each
of the functions that block.
"""
import collections
import glob
import json
import os
import re
import sys

name, truth, folded, unabridged, summary, stolen, taken = sys.argv[1:]
LEAF = re.compile(r"^tokio_waits::leaves::blocking::(\w+)$")
# For a CPU: that is no kind of blocking.
QUEUE = ("[woken]", "[preempted]", "[spin]", "[throttled]")
# Percent of what a leaf measured, at least. Those of files run for much of their time, and what interrupts and a hypervisor
# do while they run is neither their time nor waiting; from what only waits a hypervisor can take, but not so much.
LEAST, MOST = 99, 102
FILES, LEAST_OF_FILES = ("file_read", "fsync", "mmap_read"), 90
LEAST_EVER = 94  # of what only waits, and of programs that begin twenty at a time
# What waits for a lock has a function that does so, in all of its stacks.
LOCKS = {
    "std_mutex": r"Mutex(<[^;]*)?>?::lock_contended$",
    "pl_mutex": r"RawMutex::lock_slow$",
    "rwlock_read": r"RwLock>?::read_contended$",
    "rwlock_write": r"RwLock>?::write_contended$",
}
# Workers' threads, if nobody names them: from Tokio 1.50 on, and before (cut to 15 characters).
WORKER = "tokio-runtime-w" if re.match(r"old|1[.]([0-9]|[1-4][0-9])[.]", name) else "tokio-rt-worker"
LEAST_US = 200000  # of what can be judged: where there is no network, names are not found at once


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


def read_truth(path):
    with open(path, encoding="utf8") as f:
        return json.load(f)


one_thread = os.path.isdir(truth)
if one_thread:
    truths = [read_truth(path) for path in glob.glob(f"{truth}/*.truth")]
    truth = {"leaves": {leaf: row for one in truths for leaf, row in one["leaves"].items()}}
else:
    truth = read_truth(truth)
with open(summary, encoding="utf8") as f:
    runtime = json.load(f)["runtime"]
contexts = collections.defaultdict(collections.Counter)
kinds = collections.defaultdict(collections.Counter)
by_context = collections.Counter()
idle_names = set()
with open(folded, encoding="utf8") as f:
    for line in f:
        stack, us = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        if frames[1:] in (["[idle]", "[park]"], ["[idle]", "[driver]"]):
            idle_names.add(frames[0])
        # Threads that tasks begin are not the runtime's.
        context = frames[1] if len(frames) > 1 and frames[1].startswith("[") else ""
        by_context[context] += int(us)
        leaf = next((m.group(1) for m in map(LEAF.match, frames) if m), None)
        if not leaf or not context:
            continue
        contexts[leaf][context] += int(us)
        if frames[-1] not in QUEUE:
            kinds[leaf][frames[-1]] += int(us)

cells, right_contexts, right_kinds, least_seen = 0, 0, 0, (1000, "")
for leaf, row in truth["leaves"].items():
    us = row["ns"] / 1000
    if us < LEAST_US:
        print(f"# {name}: {leaf} took {us / 1000:.0f} ms only")
        continue
    found, blocked = sum(contexts[leaf].values()), sum(kinds[leaf].values())
    if leaf in FILES:
        least = LEAST_OF_FILES - 100 * int(taken) / us
    else:
        least = LEAST_EVER if one_thread else max(LEAST - 100 * int(stolen) / us, LEAST_EVER)
    percent = 100 * found / us
    least_seen = min(least_seen, (percent, leaf)) if leaf not in FILES else least_seen
    check(least <= percent <= MOST, f"{leaf}: {found / 1000:.0f} ms, {percent:.2f} % of what it measured, at least {least:.1f}")
    share = 100 * contexts[leaf][f"[{row['context']}]"] / found if found else 0
    check(share == 100, f"{leaf}: {share:.2f} % in context {row['context']} {dict(contexts[leaf]) if share < 100 else ''}")
    right_contexts += share == 100
    share = 100 * kinds[leaf][f"[{row['kind']}]"] / blocked if blocked else 0
    check(share >= 99, f"{leaf}: {share:.2f} % of kind {row['kind']} {dict(kinds[leaf]) if share < 99 else ''}")
    right_kinds += share >= 99
    cells += 1
check(cells >= 18, f"{cells} leaves were judged")
of_files = {leaf: round(100 * sum(contexts[leaf].values()) / (truth["leaves"][leaf]["ns"] / 1000), 1) for leaf in FILES if leaf in truth["leaves"]}
print(f"figure: {name}: at least {least_seen[0]:.2f} % of what leaves that only wait measured ({least_seen[1]}); of files {of_files}")

in_lock = collections.defaultdict(collections.Counter)
with open(unabridged, encoding="utf8") as f:
    for line in f:
        stack, us = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        leaf = next((m.group(1) for m in map(LEAF.match, frames) if m), None)
        if leaf in LOCKS and frames[-1] == "[lock]":
            in_lock[leaf][any(re.search(LOCKS[leaf], frame) for frame in frames)] += int(us)
for leaf, row in in_lock.items():
    share = 100 * row[True] / sum(row.values())
    check(share == 100, f"{leaf}: {share:.3f} % of {sum(row.values())} us for a lock are in {LOCKS[leaf]}")
check(len(in_lock) == len(LOCKS), f"all locks were waited for: {sorted(in_lock)}")

print(f"cells: {name}: {right_contexts} contexts and {right_kinds} kinds of {cells} are right")
if one_thread:
    sys.exit()
check(idle_names == {WORKER}, f"threads that park or wait for events are {WORKER}: {idle_names}")
workers = runtime["workers"]
# Where a task blocks in place, another thread goes on as the worker.
check(
    truth["workers"] <= workers["threads"] <= truth["workers"] + 4,
    f"{workers['threads']} threads were workers, of {truth['workers']}",
)
total = workers["running_us"] + workers["run_queue"]["us"] + workers["residual_us"]
total += sum(c["us"] for c in workers["contexts"].values())
check(abs(total - workers["us"]) <= workers["us"] / 1000, f"its lines add up: {total:.0f} of {workers['us']} us")
wall = workers["threads"] * truth["wall_ns"] / 1000
print(f"figure: {name}: workers' lines add up to {100 * workers['us'] / wall:.2f} % of workers x wall")
check(abs(workers["us"] / wall - 1) < 0.05, f"to workers x wall: {100 * workers['us'] / wall:.1f} %")
other = workers["contexts"]["other"]["us"] + workers["contexts"]["not-sampled"]["us"]
check(other <= workers["us"] / 200, f"unclassified: {100 * other / workers['us']:.3f} %")
idle = sum(us for context, us in by_context.items() if context == "[idle]")
said = sum(c["us"] for context, c in runtime["contexts"].items() if context.startswith("idle"))
check(abs(idle - said) <= said / 1000, f"folded idleness {idle} us is that of the summary, {said} us")
