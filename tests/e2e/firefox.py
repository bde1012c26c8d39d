# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""firefox.py FILE FOLDED SCALE: every table, index and unit of a file for the Firefox Profiler (version 60)
is right, and its stacks are those of FOLDED; SCALE: folded units for one of weight (1000: us in a ms)."""
import json
import sys

TABLES = {
    "stackTable": {"prefix", "frame"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID",
                   "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"address", "functionSize", "libIndex", "name"},
    "sources": {"uuid", "filename"},
}


def strict(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), "a key is there twice"
    return dict(pairs)


def table(t, columns):
    assert set(t) == columns | {"length"}, set(t) ^ columns
    assert all(len(t[c]) == t["length"] for c in columns), {c: len(t[c]) for c in columns}


def below(values, nr, null=False, minus=False):
    for v in values:
        ok = null if v is None else isinstance(v, int) and (0 <= v < nr or minus and v == -1)
        assert ok, (v, nr)


d = json.load(open(sys.argv[1], encoding="utf-8"), object_pairs_hook=strict)
scale = float(sys.argv[3])
assert set(d) == {"meta", "libs", "shared", "threads", "pages", "profilerOverhead", "counters"}
m, sh = d["meta"], d["shared"]
assert m["preprocessedProfileVersion"] == 60 and m["processType"] == 0 and m["interval"] > 0
assert m["sampleUnits"]["time"] in ("ms", "bytes") and m["extensions"]["length"] == 0
assert all(set(c) == {"name", "color", "subcategories"} for c in m["categories"])
for lib in d["libs"]:
    assert set(lib) == {"name", "path", "debugName", "debugPath", "breakpadId", "codeId", "arch"}
assert set(sh) == set(TABLES) | {"stringArray"}
for name, columns in TABLES.items():
    table(sh[name], columns)
strings = sh["stringArray"]
assert len(set(strings)) == len(strings) and all(isinstance(s, str) for s in strings)
st, fr, fn, res = sh["stackTable"], sh["frameTable"], sh["funcTable"], sh["resourceTable"]
below(st["prefix"], st["length"], null=True)
assert all(p is None or p < i for i, p in enumerate(st["prefix"])), "a caller stands behind"
assert len(set(zip(st["prefix"], st["frame"]))) == st["length"], "a stack is there twice"
below(st["frame"], fr["length"])
below(fr["func"], fn["length"])
below(fr["category"], len(m["categories"]))
assert all(a >= -1 for a in fr["address"]) and all(0 <= x < 32 for x in fr["inlineDepth"])
assert all(x is None or x > 0 for x in fr["line"])
below(fn["name"], len(strings))
below(fn["resource"], res["length"], minus=True)
below(fn["source"], sh["sources"]["length"], null=True)
assert len(set(zip(fn["name"], fn["resource"], fn["source"]))) <= fn["length"]
below(res["lib"], len(d["libs"]))
below(res["name"], len(strings))
below(sh["sources"]["filename"], len(strings))


def path(stack):
    names = []
    while stack is not None:
        names.append(strings[fn["name"][fr["func"][st["frame"][stack]]]])
        stack = st["prefix"][stack]
    return names[::-1]


ours, theirs = {}, {}
for t in d["threads"]:
    s = t["samples"]
    table({k: v for k, v in s.items() if k != "weightType"}, {"stack", "time", "weight"})
    assert s["weightType"] == ("tracing-ms" if scale != 1 else "samples"), s["weightType"]
    assert isinstance(t["pid"], str) and isinstance(t["tid"], int) and t["markers"]["length"] == 0
    below(s["stack"], st["length"])
    at = 0
    for time, weight, stack in zip(s["time"], s["weight"], s["stack"]):
        assert abs(time - at) < 1e-3 * max(1, s["length"]) and weight >= 0, "times are not side by side"
        at += weight
        names = path(stack)
        key = ";".join(names if t["name"] == "[lost]" or names == [t["name"]] else [t["name"]] + names)
        ours[key] = ours.get(key, 0) + weight * scale
ours = {k: int(v + .5) for k, v in ours.items() if int(v + .5)}
for line in open(sys.argv[2], encoding="utf-8"):
    key, weight = line.rstrip("\n").rsplit(" ", 1)
    theirs[key] = theirs.get(key, 0) + int(weight)
assert ours == theirs, [(k, ours.get(k), theirs.get(k)) for k in set(ours) | set(theirs)
                        if ours.get(k) != theirs.get(k)][:3]
print(len(ours), "stacks", st["length"], "nodes", len(d["threads"]), "threads")
