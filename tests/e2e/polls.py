# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What tests/progs/tokio counted of its polls, against JSON of bpfprof polls: polls.py NAME TRUTH JSON. Counts are exact, of
each task as well. Times of polls that take long are within 2 %, a fifth of a millisecond a poll, and one pause: on a busy
machine a thread may lose its CPU between its look at the clock and ours.
"""
import json
import sys

PAUSE_NS = 10e6
name, truth, found = sys.argv[1:]


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


with open(truth, encoding="utf8") as f:
    truth = json.load(f)
by_kind = {}
with open(found, encoding="utf8") as f:
    for row in json.load(f)["calls"]:
        # A name that was guessed is right, too.
        by_kind.setdefault(row["function"].rstrip("?"), []).append(row)
for kind, t in truth.items():
    if not t["polls"]:
        continue
    rows = by_kind.pop(kind, [])
    polls = sum(r["calls"] for r in rows)
    check(polls == t["polls"], f"{kind}: {polls} polls of {t['polls']}")
    if t["tasks"]:
        same = {r["arguments"]: r["calls"] for r in rows} == t["tasks"]
        check(same, f"{kind}: each of {len(t['tasks'])} tasks has its polls")
    ns = sum(r["total_us"] for r in rows) * 1e3
    if t["ns"] < 10e6 or not rows:
        continue
    print(f"# {name}: {kind}: {ns / 1e6:.3f} ms of {t['ns'] / 1e6:.3f} ms ({100 * ns / t['ns'] - 100:+.2f} %)")
    check(-1e5 <= ns - t["ns"] <= 0.02 * t["ns"] + 2e5 * polls + PAUSE_NS, f"{kind}: their time, {ns / 1e6:.0f} ms")
    longest = max(r["max_us"] for r in rows) * 1e3
    check(0 <= longest - t["max_ns"] <= 0.02 * longest + PAUSE_NS, f"{kind}: the longest, {longest / 1e6:.2f} ms")
    if kind.endswith(("sleeper", "burner")):
        over = sum(r["over_10ms"] for r in rows)
        check(over == polls - 1, f"{kind}: all but the last are longer than 10 ms ({over} of {polls})")
check(not by_kind, f"nothing else was polled {sorted(by_kind)}")
