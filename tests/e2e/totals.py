# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""totals.py DIR [EVENT]: every view of a recording, written into DIR by t548, adds up to the same total; of several
events, that of one.

Units differ: pprof, HTML and annotate have ns of what is time, the others us. Where rows are rounded one by one, their sum
may be off by half a unit of each.
"""
import csv
import gzip
import json
import re
import sys

import pprof

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
folder = sys.argv[1]
event = sys.argv[2] if len(sys.argv) > 2 else None
bad = []


def load(name):
    with open(f"{folder}/{name}", encoding="utf-8") as f:
        return json.load(f)


def same(what, value, expected, slack):
    ok = abs(value - expected) <= slack
    print(f"{'' if ok else 'NOT '}{what}: {value:.1f} of {expected:.1f}, off by {value - expected:.1f}, {slack:.1f} allowed")
    if not ok:
        bad.append(what)


def unpack(text):
    value, factor = 0, 1
    for c in text:
        digit = LETTERS.index(c)
        value += (digit & 31) * factor
        factor *= 32
        if digit < 32:
            yield value
            value, factor = 0, 1


folded = []
for line in open(f"{folder}/x.folded", encoding="utf-8", errors="surrogateescape"):
    path, n = line.rstrip("\n").rsplit(" ", 1)
    folded.append((path.split(";"), int(n)))
tree = load("tree.json")
total, time = tree["total"], tree["unit"] == "us"
ns = 1000 if time else 1
ms = {"us": 1000, "ns": 1e6}.get(tree["unit"], 1)
rows = len(folded)
same("folded", sum(n for _, n in folded), total, rows + 1)

# What no function has: whole lines of notes. What is generated, or not known, is code.
note = re.compile(r"\[(?!unknown|jit|python)[a-z][a-z_ -]*\]$")
# Who woke it, behind "--", did not wait.
folded = [(path[: path.index("--")] if "--" in path else path, n) for path, n in folded]
notes = sum(n for path, n in folded if all(note.match(x) for x in path[1:]))
for by in ("function", "module"):
    d = load(f"by-{by}.json")
    same(f"--by {by}", sum(r["self"] for r in d["rows"]) + notes, total, rows + len(d["rows"]) + 1)
    same(f"--by {by}, its total", d["total"], total, 0)
    with open(f"{folder}/by-{by}.csv", encoding="utf-8", newline="") as f:
        table = list(csv.DictReader(f, strict=True))
    same(f"--csv --by {by}", sum(int(r["self"]) for r in table), sum(r["self"] for r in d["rows"]), 0)
for by in ("thread", "process", "class"):
    if by == "class" and not time:
        continue
    d = load(f"by-{by}.json")
    same(f"--by {by}", sum(r["total"] for r in d["rows"]), total, len(d["rows"]) + 1)
    with open(f"{folder}/by-{by}.csv", encoding="utf-8", newline="") as f:
        table = list(csv.DictReader(f, strict=True))
    same(f"--csv --by {by}", sum(int(r["total"]) for r in table), sum(r["total"] for r in d["rows"]), 0)
files, lines = load("by-file.json"), load("by-line.json")
same("--by line is --by file", sum(r["self"] for r in lines["rows"]), sum(r["self"] for r in files["rows"]),
     len(lines["rows"]) + 1)

nodes = tree["nodes"]
same("--tree", sum(n["total"] for n in nodes if n["parent"] is None), total, len(nodes) + 1)
down = load("up.json")
same("--bottom-up", sum(n["total"] for n in down["nodes"] if n["parent"] is None), total, len(down["nodes"]) + 1)
x = load("x.json")
own = [f["self"][event] if event else f["self"] for f in x["functions"]]
same("functions of --json", sum(own) + notes, total, rows + len(own) + 1)

speedscope = load("x.speedscope.json")
same("speedscope", sum(sum(p["weights"]) for p in speedscope["profiles"]), total, rows + 1)

with gzip.open(f"{folder}/x.pb.gz") as f:
    p = pprof.parse("profile", f.read())
text = p["string_table"]
text = [s if isinstance(s, str) else s.decode() for s in text]
types = [text[t["type"]] for t in p["sample_type"]]
sums = {kind: sum(s["value"][i] for s in p["sample"]) for i, kind in enumerate(types)}
shown = event or ("samples" if tree["unit"] == "samples" else text[p["default_sample_type"]])
same(f"pprof, {shown} of {types}", sums[shown.replace("-", "_")] / ns, total, 1)

# Of samples of the clock it has their time, as pprof has.
firefox = load("x.firefox.json")
weights = sum(w for t in firefox["threads"] for w in t["samples"]["weight"])
if tree["unit"] == "samples":
    same("firefox", weights * 1e6, sums["cpu"], 1e6)
else:
    same("firefox", weights * ms, total, rows + 1)

page = open(f"{folder}/x.html", encoding="utf-8").read()
data = re.search(r'"self":"([^"]*)"', page).group(1)
same("HTML", sum(unpack(data)) / ns, total, 1)
page = open(f"{folder}/x.svg", encoding="utf-8").read()
data = re.search(r'"self":"([^"]*)"', page).group(1)
same("SVG", sum(unpack(data)) / ns, total, 1)

# No line has what has no stack: threads that were idle, what was lost.
a = load("lines.json")
column = a["events"].index(event) if event else 0
what = "samples" if tree["unit"] == "samples" else "weights"
annotated = sum(r[what][column] for r in a["file_lines"])
same("annotate --file-lines", annotated / ns, total - notes, rows + 1)
if bad:
    for path, n in folded:
        if not any(re.match(r"[\w:<(]|\[.*\+0x", x) for x in path[1:]) or not note.match(path[-1]) and path[-1][0] == "[" and "+0x" not in path[-1]:
            print(f"# {n} {';'.join(path)[-200:]}")
sys.exit(1 if bad else 0)
