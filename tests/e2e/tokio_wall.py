# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Lines of the table of a Tokio program's workers against workers x wall: tokio_wall.py NAME WORKERS JSON. A line "ok ..." or
"not ok ..." for each check.
"""
import json
import sys

name, threads, summary = sys.argv[1:]


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


with open(summary, encoding="utf8") as f:
    summary = json.load(f)
w = summary["runtime"]["workers"]
contexts = {context: c["us"] for context, c in w["contexts"].items()}
wall = summary["profile"]["duration_s"] * 1e6 * w["threads"]
lines = w["running_us"] + w["run_queue"]["us"] + sum(contexts.values())
unclassified = contexts["other"] + contexts["not-sampled"]
print(f"figure: {name}: lines add up to {100 * lines / wall:.3f} % of {w['threads']} workers x wall, unclassified {100 * unclassified / wall:.3f} %")
check(w["threads"] == int(threads), f"{w['threads']} threads are workers, of {threads}")
check(w["running_measured"], "the running time is measured")
check(abs(lines / wall - 1) <= 0.01, f"lines add up to {100 * lines / wall:.3f} % of workers x wall")
check(unclassified < wall / 200, f"unclassified is {100 * unclassified / wall:.3f} % of it")
check(contexts["task"] > wall / 20, f"there is something to classify: {contexts['task']} us in tasks")
