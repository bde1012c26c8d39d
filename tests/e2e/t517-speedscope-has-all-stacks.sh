#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The file for speedscope says what folded stacks say, by thread, in the form that its schema asks for.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"

cat >"$TMP/same.py" <<'E2'
import json, sys
def strict(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
d = json.load(open(sys.argv[1]), object_pairs_hook=strict)
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert set(d) == {"$schema", "exporter", "name", "shared", "profiles"}, set(d)
frames = d["shared"]["frames"]
assert all(set(f) <= {"name", "file"} and f["name"] for f in frames)
assert len({(f["name"], f.get("file")) for f in frames}) == len(frames)
stacks = {}
for p in d["profiles"]:
    assert set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert (p["type"], p["unit"], p["startValue"]) == ("sampled", sys.argv[3], 0), p["unit"]
    assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]
    for sample, weight in zip(p["samples"], p["weights"]):
        path = ";".join([p["name"]] + [frames[i]["name"] for i in sample])
        stacks[path] = stacks.get(path, 0) + weight
assert len({p["name"] for p in d["profiles"]}) == len(d["profiles"])
folded = {}
for line in open(sys.argv[2]):
    path, weight = line.rstrip("\n").rsplit(" ", 1)
    folded[path] = folded.get(path, 0) + int(weight)
assert stacks == folded, [k for k in set(stacks) ^ set(folded)][:3]
print(len(stacks), "stacks", len(frames), "frames")
E2

for kind in small=none 2000=none offcpu=microseconds wakeup=microseconds wall=microseconds; do
	check "$kind" "$GEN" "${kind%=*}" "$TMP/x.speedscope.json" "$TMP/x.folded"
	check "$kind: as its folded stacks" python3 "$TMP/same.py" "$TMP/x.speedscope.json" "$TMP/x.folded" "${kind#*=}"
done
check "a view of it" "$GEN" small "$TMP/x.bpfprof"
check "... has what it shows" "$BPFPROF" report --focus memcpy -o "$TMP/x.speedscope.json" -o "$TMP/x.folded" "$TMP/x.bpfprof"
check "... and nothing else" python3 "$TMP/same.py" "$TMP/x.speedscope.json" "$TMP/x.folded" none
check_status 3 "nothing at all" "$BPFPROF" report --focus 'no such name' -o "$TMP/y.speedscope.json" "$TMP/x.bpfprof"
check "... is no file" test ! -e "$TMP/y.speedscope.json"
finish
