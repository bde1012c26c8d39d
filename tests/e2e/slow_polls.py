# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What bpfprof polls --slower-polls found within slow polls, against what tests/progs/tokio timed itself:

    slow_polls.py polls NAME TRUTH JSON FOLDED   of --polls, whose tasks know how many of their polls took 10 ms
    slow_polls.py leaves NAME TRUTH JSON FOLDED  of blocking functions, each polled for hardly more than its call
"""
import json
import sys

what, name, truth, found, folded = sys.argv[1:]


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


def near(value, expected, pct):
    return abs(value - expected) <= expected * pct / 100


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
with open(found, encoding="utf8") as f:
    found = json.load(f)
stacks = []
with open(folded, encoding="utf8") as f:
    for line in f:
        stack, us = line.rsplit(" ", 1)
        stacks.append((stack.split(";"), int(us)))


def time_with(frame):
    return sum(us for frames, us in stacks if frame in frames)


def check_ledger():
    s = found["slow_polls"]
    c = found["samples"]
    parts = s["waiting_us"] + s["running_sampled_us"] + s["running_not_sampled_us"] + c["lost_us"]
    check(abs(parts - s["total_us"]) <= 1, f"parts add up: {parts:.1f} us of {s['total_us']:.1f} us")
    check(s["not_covered_us"] <= 0.01 * s["total_us"], f"{s['not_covered_us']:.0f} us are not covered")
    check(near(sum(us for _, us in stacks), s["total_us"], 1), "stacks are all of that time")
    check(c["seen"] == c["recorded"] + c["filtered"] + c["lost"], "seen = recorded + filtered + lost")
    check(c["lost"] == 0, f"nothing is lost {c['lost_by']}")
    check(sum(r["calls"] for r in found["calls"]) == s["polls"], f"{s['polls']} polls are in rows")


# Our poll begins before theirs and ends after it, and who is preempted between two looks at the clock has a longer one:
# by what it waited for a CPU, and hardly anything else. A short one may so become slow.
def check_longer(kind, t, polls, us, runnable):
    more = polls - t["slow"]
    check(0 <= more <= runnable["waits"], f"{kind}: {polls} slow polls of {t['slow']}, {runnable['waits']} waits for a CPU")
    longer = us - t["slow_ns"] / 1e3 - more * 10000 - polls * 200
    check(longer <= runnable["us"], f"{kind}: {longer:.0f} us longer, {runnable['us']} us of waits for a CPU")


def check_polls():
    rows = {}
    for r in found["calls"]:
        rows.setdefault(r["function"].rstrip("?"), []).append(r)
    for kind, t in truth.items():
        mine = rows.pop(kind, [])
        polls = sum(r["calls"] for r in mine)
        us = sum(r["total_us"] for r in mine)
        check_longer(kind, t, polls, us, found["waits"]["runnable"])
        if kind.endswith("inner"): # within others, and not on their stacks
            continue
        if not polls:
            check(time_with(kind) == 0, f"{kind}: its short polls leave nothing")
        elif kind.endswith(("sleeper", "burner")):
            within = time_with(kind)
            print(f"# {name}: {kind}: {within} us of {us:.0f} us in {polls} polls, by itself {t['slow_ns'] / 1e3:.0f} us")
            check(0.95 * t["slow_ns"] / 1e3 <= within <= 1.05 * us, f"{kind}: the time in its slow polls, {within} us")
    check(not rows, f"nothing else was slow {sorted(rows)}")
    check_function("sleeper", "block", 0.99 * 20000)
    check_function("burner", "burn", 0.9 * 12000)


# What was asked for in each slow poll is in the function that does it, and not more than the task took in all.
def check_function(task, function, least_us):
    t = truth[f"tokio_waits::polls::tasks::{task}"]
    us = sum(us for f, us in stacks if f"tokio_waits::polls::{function}" in f and f"tokio_waits::polls::tasks::{task}" in f)
    check(t["slow"] * least_us <= us <= 1.1 * t["slow_ns"] / 1e3, f"{us} us in {function}() of {t['slow']} polls")


def check_leaves():
    # Of files, most calls are short; the others wait for 10 ms or more, or hardly at all.
    for leaf, t in truth["leaves"].items():
        within = time_with(f"tokio_waits::leaves::blocking::{leaf}")
        if t["context"] != "task":
            check(within == 0, f"{leaf}: no poll ({t['context']})")
        elif t["kind"] not in ("file", "pagefault"):
            print(f"# {name}: {leaf}: {within} us of {t['ns'] / 1e3:.0f} us")
            check(near(within, t["ns"] / 1e3, 5), f"{leaf}: {within / 1e3:.0f} ms of {t['ns'] / 1e6:.0f} ms")


check_ledger()
if what == "polls":
    check_polls()
else:
    check_leaves()
