# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Contexts and the summary of a Tokio server under load: tokio_servers.py NAME WORKERS FOLDED JSON. FOLDED has all frames and
idle stacks. What a stack waits in is decided here by rules of its own, from its frames: the innermost of a few functions
of Tokio. A line "ok ..." or "not ok ..." for each check.
"""
import collections
import json
import re
import sys

name, workers, contexts, summary = sys.argv[1:]
workers = int(workers)
# From the leaf on, the first that matches says where the thread is.
MARKERS = [
    ("park", r"tokio::runtime::scheduler::multi_thread::(worker::Context::park|park::(Parker|Inner)::park)"),
    ("driver", r"tokio::runtime::(time::Driver::park|io::driver::Driver::turn|driver::)"),
    ("block_on", r"tokio::runtime::park::(CachedParkThread|Inner)::(park|block_on)"),
    ("poll", r"tokio::runtime::(task::(raw|harness|core)::.*poll|scheduler::multi_thread::worker::Context::run_task)"),
    ("worker", r"tokio::runtime::scheduler::multi_thread::worker::(run|Context::run)$"),
    ("pool", r"tokio::runtime::blocking::pool::Inner::run"),
]
MARKERS = [(what, re.compile(r"(?:^|[< ])" + pattern)) for what, pattern in MARKERS]
LOCK = re.compile(r"lock_contended|lock_slow|(read|write)_contended")
QUEUE = ("[woken]", "[preempted]", "[throttled]")


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


def marks(frames):
    for i, frame in enumerate(reversed(frames)):
        for what, pattern in MARKERS:
            if pattern.search(frame):
                yield what, frame, len(frames) - 1 - i


def expected(frames):
    """Of a stack that waits for something: what its context must be called; None: not for these rules to say."""
    found = list(marks(frames))
    if not found:
        return None
    what, frame, at = found[0]
    if any(LOCK.search(f) for f in frames[at + 1 :]):
        return "[task]" if what == "poll" and "run_task" not in frame else None
    if what in ("park", "driver"):
        return "[idle];[driver]" if "epoll_wait" in frames or "epoll_pwait" in frames else "[idle];[park]"
    if what == "block_on" and not any(w in ("poll", "worker", "pool") for w, _, _ in found):
        return "[idle];[block_on]"
    if what == "poll" and "run_task" not in frame and any("run_task" in f for _, f, _ in found):
        return "[task]"
    if what == "poll" and "run_task" in frame:
        return "[runtime]"
    return None


def read(path):
    with open(path, encoding="utf8") as f:
        for line in f:
            stack, us = line.rstrip("\n").rsplit(" ", 1)
            yield stack.split(";"), int(us)


right = wrong = unjudged = 0
seen = collections.Counter()
for frames, us in read(contexts):
    head = [f for f in frames[1:3] if f.startswith("[")]
    head = ";".join(head if head[:1] == ["[idle]"] else head[:1])
    # Who waits for a CPU need not be idle, wherever it waits.
    if frames[-1] in QUEUE:
        continue
    want = expected(frames)
    if not want:
        unjudged += us
    elif want == head:
        right += us
        seen[head] += us
    else:
        wrong += us
        print(f"{name}: {us} us in {head}, should be {want}: {';'.join(frames)[-300:]}")
total = right + wrong + unjudged
check(total and not wrong, f"contexts are as the stacks say: {right} us are, {wrong} are not")
check(unjudged <= total / 100, f"{100 * unjudged / total:.2f} % of the time is not for these rules to judge")
print(f"figure: {name}: {dict(seen)}")
for context in ("[idle];[driver]", "[idle];[park]", "[idle];[block_on]"):
    check(seen[context] > 0, f"there is {context}")

with open(summary, encoding="utf8") as f:
    summary = json.load(f)
runtime, wall_us = summary["runtime"], summary["profile"]["duration_s"] * 1e6
w = runtime["workers"]
check(w["threads"] == workers, f"{w['threads']} threads are workers, of {workers}")
of_all = 100 * w["us"] / (workers * wall_us)
check(abs(of_all - 100) <= 1, f"their time is {of_all:.2f} % of workers x wall")
lines = w["running_us"] + w["run_queue"]["us"] + sum(c["us"] for c in w["contexts"].values())
check(w["running_measured"], "the running time is measured")
check(abs(lines / w["us"] - 1) <= 0.01, f"the lines add up to {100 * lines / w['us']:.2f} % of it")
# A wait that had begun before has no stack if it ended before that could be read: one of each worker at most.
unknown = [w["contexts"]["other"], w["contexts"]["not-sampled"]]
waits, us = (sum(c[key] for c in unknown) for key in ("waits", "us"))
check(waits <= workers, f"{waits} waits, {us} us, are in no context")
# Who waits for a lock of the runtime's waits longer when whoever holds it waits for a CPU.
task, queue = (100 * us / w["us"] for us in (w["contexts"]["task"]["us"], w["run_queue"]["us"]))
check(
    task < 1 + queue / 10,
    f"{task:.3f} % of it is blocked in tasks, which do not block; {queue:.3f} % is without a CPU",
)
