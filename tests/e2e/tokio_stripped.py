# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Contexts and kinds that a stripped program was given, against the symbols that it was stripped of and what the program
says: tokio_stripped.py NAME SYMBOLS TRUTH FOLDED JSON. SYMBOLS is what nm -C prints of the file before. Reads them by
itself; a line "ok ..." or "not ok ..." for each check.
"""
import bisect
import collections
import json
import re
import sys

name, symbols, truth, folded, summary = sys.argv[1:]
FRAME = re.compile(r"^\[\w+\+0x([0-9a-f]+)\]$")
LEAF = re.compile(r"^tokio_waits::leaves::blocking::(\w+)$")
# v0 names have the type between angles.
PARK = re.compile(r"worker::Context>?::park|current_thread::Context>?::park|::Driver>?::park_internal$")
LOCK = re.compile(r"lock_contended$|lock_slow$")
QUEUE = ("[woken]", "[preempted]", "[spin]", "[throttled]", "[on-cpu]")
# By the system call and what the futex was waited for with, where no function has a name. What a channel, a future or
# a writer waits by looks like what it is built of.
# A condition variable that was notified twice so far is waited for as a mutex is.
ALSO = {
    "rwlock_write": "condvar",
    "channel_recv": "thread-park",
    "pl_mutex": "futex (parking_lot)",
}
LEAST_US = 200000
# As in tokio_waits.py: interrupts are nobody's time.
LESS = {"file_read": 25, "fsync": 25, "mmap_read": 25}
USUALLY_LESS, MORE = 6, {"child": 4}


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


starts, names = [], []
with open(symbols, encoding="utf8", errors="replace") as f:
    for line in sorted(f):
        at, kind, symbol = line[:16], line[17:18], line[19:].rstrip("\n")
        if kind in "tT":
            starts.append(int(at, 16))
            names.append(symbol)


def called(frame):
    m = FRAME.match(frame)
    i = bisect.bisect_right(starts, int(m.group(1), 16)) - 1 if m else -1
    return names[i] if i >= 0 else frame


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
with open(summary, encoding="utf8") as f:
    runtime = json.load(f)["runtime"]
contexts = collections.defaultdict(collections.Counter)
kinds = collections.defaultdict(collections.Counter)
parked, tasks = collections.Counter(), collections.Counter()
rooted = total = 0
with open(folded, encoding="utf8") as f:
    for line in f:
        stack, us = line.rstrip("\n").rsplit(" ", 1)
        frames, us = stack.split(";"), int(us)
        if not frames[0].startswith(("tokio-rt-worker", "tokio-runtime-w")):  # from Tokio 1.50 on, and before
            continue
        context = frames[2] if frames[1] == "[idle]" else frames[1] if frames[1].startswith("[") else ""
        users = [called(frame) for frame in frames]
        total += us
        rooted += us * ("[broken]" not in frames)
        leaf = next((m.group(1) for m in map(LEAF.match, users) if m), None)
        waits = frames[-1] not in QUEUE
        if leaf and context:
            contexts[leaf][context] += us
            if waits:
                kinds[leaf][frames[-1]] += us
                tasks["idle" if frames[1] == "[idle]" else "blocked"] += us
        elif any(map(PARK.search, users)) and waits and not any(map(LOCK.search, users)):
            parked["idle" if frames[1] == "[idle]" else context] += us

check(rooted >= 0.99 * total, f"{100 * rooted / total:.2f} % of workers' time is in stacks that reach the root")
right = 0
for leaf, row in truth["leaves"].items():
    us, found, blocked = row["ns"] / 1000, sum(contexts[leaf].values()), sum(kinds[leaf].values())
    if us < LEAST_US:
        print(f"# {name}: {leaf} took {us / 1000:.0f} ms only")
        continue
    check(
        -LESS.get(leaf, USUALLY_LESS) <= (found / us - 1) * 100 <= MORE.get(leaf, 2),
        f"{leaf}: {found / 1000:.0f} ms, {100 * found / us:.1f} % of what it measured",
    )
    share = 100 * contexts[leaf][f"[{row['context']}]"] / found if found else 0
    check(share >= 99, f"{leaf}: {share:.2f} % in context {row['context']} {dict(contexts[leaf]) if share < 99 else ''}")
    wanted = {row["kind"], ALSO.get(leaf)}
    wanted |= {"condvar", "lock", "futex (parking_lot)"} if leaf == "handle_block_on" else set()
    share = 100 * sum(kinds[leaf][f"[{kind}]"] for kind in wanted) / blocked if blocked else 0
    check(share >= 98, f"{leaf}: {share:.2f} % of kind {wanted} {dict(kinds[leaf]) if share < 98 else ''}")
    right += 1
check(right >= 18, f"{right} leaves were judged")
for what, of, wanted in (("idle", parked, "idle"), ("blocked in tasks and jobs", tasks, "blocked")):
    share = 100 * of[wanted] / sum(of.values()) if of else 0
    check(share >= 99, f"{share:.2f} % of {sum(of.values()) / 1e6:.2f} s that are {what} are said to be {dict(of)}")
workers = runtime["workers"]
check(runtime["by_form"] is True, "it is said that contexts are by the form of stacks")
check(
    truth["workers"] <= workers["threads"] <= truth["workers"] + 4,
    f"{workers['threads']} threads were workers, of {truth['workers']}",
)
