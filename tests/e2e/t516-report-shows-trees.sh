#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Trees and functions between their neighbours, of a profile whose folded stacks say what must stand there.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"

check "profiles" "$GEN" small "$TMP/x.bpfprof" "$TMP/x.folded"
check "2,000 stacks" "$GEN" 2000 "$TMP/many.bpfprof" "$TMP/many.folded"

# The same from folded stacks alone: each line of a tree, its share, and the path that its indent stands for.
cat >"$TMP/tree.py" <<'E2'
import re, sys
folded, shown, upwards = sys.argv[1], sys.argv[2], len(sys.argv) > 3
totals, own, every = {}, {}, 0
for line in open(folded):
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    path, count = tuple(stack.split(";")), int(count)
    path = path[::-1] if upwards else path
    every += count
    for depth in range(1, len(path) + 1):
        totals[path[:depth]] = totals.get(path[:depth], 0) + count
    own[path] = own.get(path, 0) + count
children = {}
for path in totals:
    children.setdefault(path[:-1], []).append(path)
at, lines = [], 0
_, head, *shown = open(shown).read().splitlines()
for line in shown:
    shares = line[:head.index("FUNCTION")].replace("%", "").split()
    share, self = shares[0], shares[1] if len(shares) > 1 else None
    m = re.match(r"( *)(\+ )?(.*)", line[head.index("FUNCTION"):])
    mark, name = m[2] or "  ", m[3]
    indent = len(m[1]) if m[2] else len(m[1]) - 2
    lines += 1
    if mark == "+ ": # beside others: below the last line that stands further left
        at = [a for a in at if a[0] < indent]
    rest = re.fullmatch(r"… ([0-9]+) more", name)
    path = tuple(a[1] for a in at)
    if rest:
        light = [p for p in children[path] if totals[p] < 0.02 * every]
        assert len(light) == int(rest[1]), (line, len(light))
        assert abs(sum(totals[p] for p in light) * 100 / every - float(share)) < 0.06, line
        continue
    found = [p for p in children[path] if name == p[-1] or name.startswith(p[-1] + "  ")]
    assert len(found) == 1, (line, path, found)
    if mark == "  ":
        assert len(children[path]) == 1 and not own.get(path), line
    assert abs(totals[found[0]] * 100 / every - float(share)) < 0.06, (line, totals[found[0]])
    if self is not None:
        assert abs(own.get(found[0], 0) * 100 / every - float(self)) < 0.06, line
    at.append((indent, found[0][-1]))
heavy = [p for p in totals if totals[p] >= 0.02 * every and all(totals[p[:k]] >= 0.02 * every for k in range(1, len(p)))]
light = {p[:-1] for p in totals if totals[p] < 0.02 * every and (len(p) == 1 or p[:-1] in heavy)}
assert lines == len(heavy) + len(light), (lines, len(heavy), len(light))
print(lines, "lines")
E2

for kind in x many; do
	check "--tree of $kind" "$BPFPROF" report --tree --percent-limit 2 "$TMP/$kind.bpfprof"
	cp "$OUT" "$TMP/tree"
	check "--tree of $kind: as its stacks say" python3 "$TMP/tree.py" "$TMP/$kind.folded" "$TMP/tree"
	check "--bottom-up of $kind" "$BPFPROF" report --bottom-up --percent-limit 2% "$TMP/$kind.bpfprof"
	cp "$OUT" "$TMP/tree"
	check "--bottom-up of $kind: as its stacks say" python3 "$TMP/tree.py" "$TMP/$kind.folded" "$TMP/tree" up
done
check_no_grep $'[\x01-\x08\x0b-\x1f\x7f]' "$TMP/tree" "no control bytes"

check "--bottom-up -f" "$BPFPROF" report -f --bottom-up "$TMP/x.bpfprof"
sort "$OUT" >"$TMP/up"
check "... turns each line" diff "$TMP/up" <(python3 -c 'import sys
for line in open(sys.argv[1]):
    stack, count = line.rsplit(" ", 1)
    print(";".join(stack.split(";")[::-1]), int(count))' "$TMP/x.folded" | sort)
check "--bottom-up -o x.svg" "$BPFPROF" report --bottom-up -o "$TMP/up.svg" "$TMP/x.bpfprof"
check "... is XML" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$TMP/up.svg"

check "--focus, --ignore" "$BPFPROF" report -f --focus 'Cron$' --ignore '^clients' "$TMP/x.bpfprof"
sort "$OUT" >"$TMP/kept"
check "... are as grep has it" diff "$TMP/kept" \
	<(grep -E '(^|;)[^; ]*Cron[; ]' "$TMP/x.folded" | grep -vE '(^|;)clients' | sort)
check_status 3 "--focus on nothing" "$BPFPROF" report --tree --focus 'no such function' "$TMP/x.bpfprof"

# serverCron is in 600 of 1,000 samples, in 150 of them twice.
check "--peek" "$BPFPROF" report --peek '^serverCron$' "$TMP/x.bpfprof"
cp "$OUT" "$TMP/peek"
check_grep '^60\.0%  +serverCron +redis-server$' "$OUT" "its total"
check "... callers add up to it, and so does what it has and calls" awk '
	/called by/ { callers += $1 } /calls|itself/ { callees += $1 }
	END { exit !(callers > 59.8 && callers < 60.2 && callees > 59.8 && callees < 60.2) }' "$TMP/peek"

check "--peek --json" "$BPFPROF" report --peek '^serverCron$' --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/got"
check "... adds up" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
(f,) = d["functions"]
assert d["total"] == 1000 and f["total"] == 600 and d["matching"] == 1
assert sum(e["weight"] for e in f["callers"]) == 600 == f["self"] + sum(e["weight"] for e in f["callees"])' "$TMP/got"

# Every stack of the tree, made of its nodes again, is a folded line.
for up in "" --bottom-up; do
	check "--tree $up --json" "$BPFPROF" report --tree $up --json --percent-limit 0 "$TMP/x.bpfprof"
	cp "$OUT" "$TMP/got"
	check "... is the folded stacks" python3 - "$TMP/got" "$TMP/x.folded" <<'E3'
import json, sys
d = json.load(open(sys.argv[1]))
want = {}
for line in open(sys.argv[2]):
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    path = stack.split(";")
    path = path[::-1] if d["bottom_up"] else path
    for i in range(len(path)):
        key = tuple(path[: i + 1])
        want[key] = want.get(key, 0) + int(count)
paths, got = [], {}
for i, n in enumerate(d["nodes"]):
    assert n["summed"] == 0 and (n["parent"] is None or n["parent"] < i)
    paths.append((() if n["parent"] is None else paths[n["parent"]]) + (n["name"],))
    got[paths[-1]] = n["total"]
    assert d["bottom_up"] == (n["self"] is None)
assert d["complete"] and got == want, (len(got), len(want))
E3
done
check "--tree --json, cut" "$BPFPROF" report --tree --json --percent-limit 10 "$TMP/many.bpfprof"
cp "$OUT" "$TMP/got"
check "... sums up the rest" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
roots = [n for n in d["nodes"] if n["parent"] is None]
assert any(n["summed"] for n in d["nodes"]) and all(n["total"] >= d["total"] / 10 for n in d["nodes"] if not n["summed"])
assert sum(n["total"] for n in roots) == d["total"]' "$TMP/got"

# Shares, from folded stacks again; serverCron is in 600 samples, and in a line of server.c that is known.
cat >"$TMP/shares.py" <<'E2'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[2])))
own, totals, every = {}, {}, 0
for line in open(sys.argv[1]):
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    path, count = stack.split(";"), int(count)
    if sys.argv[3] == "thread":
        own[path[0]] = own.get(path[0], 0) + count
        continue
    own[path[-1]] = own.get(path[-1], 0) + count
    for name in set(path[1:]):
        totals[name] = totals.get(name, 0) + count
if sys.argv[3] == "thread":
    assert {r["name"]: int(r["total"]) for r in rows} == own
else:
    assert {r["name"]: int(r["total"]) for r in rows} == totals
    assert {r["name"]: int(r["self"]) for r in rows if int(r["self"])} == own
values = [int(r["self" if "self" in r else "total"]) for r in rows]
assert values == sorted(values, reverse=True)
E2
for key in function thread; do
	check "--by $key --csv" "$BPFPROF" report --by $key --csv "$TMP/many.bpfprof"
	cp "$OUT" "$TMP/shares.csv"
	check "--by $key: as its stacks say" python3 "$TMP/shares.py" "$TMP/many.folded" "$TMP/shares.csv" $key
	check "--by $key --json" "$BPFPROF" report --by $key --json "$TMP/many.bpfprof"
	cp "$OUT" "$TMP/shares.json"
	check "the same in JSON" python3 - "$TMP/shares.csv" "$TMP/shares.json" $key <<'E2'
import csv, json, sys
d = json.load(open(sys.argv[2]))
rows = [(r["name"], int(r["self" if "self" in r else "total"])) for r in csv.DictReader(open(sys.argv[1]))]
assert d["by"] == sys.argv[3] and [(r["name"], r["self"]) for r in d["rows"]] == rows
assert sum(r["self"] for r in d["rows"]) == d["total"]
E2
done
check "--by module" "$BPFPROF" report --by module "$TMP/x.bpfprof"
check_grep '^ *37\.0% +94\.0% +/usr/bin/redis-server$' "$OUT" "its functions have 370 samples, and stand in 940"
check "--by process" "$BPFPROF" report --by process "$TMP/x.bpfprof"
check_grep '^77\.0% +redis-server/1234$' "$OUT"
check "--by line" "$BPFPROF" report --by line "$TMP/x.bpfprof"
check_grep '% is in code whose lines are not known$' "$OUT"

for kind in offcpu wall; do
	check "made-up waits of $kind" "${PROGS%/progs}/e2e/gen_profile" $kind "$TMP/$kind.bpfprof"
	check "their stacks by class" "$BPFPROF" report --by-class -f "$TMP/$kind.bpfprof"
	cp "$OUT" "$TMP/$kind.folded"
	check "--by class" "$BPFPROF" report --by class --csv "$TMP/$kind.bpfprof"
	cp "$OUT" "$TMP/$kind.csv"
	check "$kind by class: as stacks say that begin with it" python3 - "$TMP/$kind.folded" "$TMP/$kind.csv" <<'E2'
import collections, csv, sys
sums = collections.Counter()
for line in open(sys.argv[1]):
    path, us = line.rsplit(" ", 1)
    frames = path.split(";")[1:]
    if frames: # time that was lost has none
        sums[frames[1] if frames[0] == "[runnable]" else frames[0]] += int(us)
rows = {r["name"]: int(r["total"]) for r in csv.DictReader(open(sys.argv[2]))}
rows.pop("[lost]", None)
assert len(rows) > 2 and rows.keys() == sums.keys(), (rows, sums)
assert all(abs(rows[k] - sums[k]) <= 20 for k in rows), (rows, sums) # each line is rounded
E2
done

refused() { # PATTERN OPTIONS...
	check_status 2 "${*:2} is refused" "$BPFPROF" report "${@:2}" "$TMP/x.bpfprof"
	check_grep "$1" "$ERR"
}
refused 'no regular expression' --focus '('
refused 'no regular expression' --peek '[a'
refused "'x' is no number" --percent-limit x
refused "'101' is no number" --percent-limit 101
refused 'exclude each other' --tree -f
refused 'is for recordings of waits' --by class
refused "unknown mode 'lines'; did you mean 'line'" --by lines
refused "unknown key 'symbl'; did you mean 'symbol'" --sort symbl
refused "use self, total or name; of perf" --sort weight
refused "a table is by one thing: --by process or --by module" --sort pid,dso
refused "a table is by one thing: --by line or --by function" --by line --sort symbol

check "--sort dso,symbol" "$BPFPROF" report --sort dso,symbol "$TMP/x.bpfprof"
cp "$OUT" "$TMP/sorted"
check "... is --by function" "$BPFPROF" report --by function "$TMP/x.bpfprof"
cp "$OUT" "$TMP/got"
check "... byte for byte" cmp "$TMP/got" "$TMP/sorted"
check "--sort total" "$BPFPROF" report --sort total --csv "$TMP/x.bpfprof"
cp "$OUT" "$TMP/got"
check "... is sorted by it" python3 -c 'import csv, sys
totals = [int(r["total"]) for r in csv.DictReader(open(sys.argv[1]))]
assert len(totals) > 5 and totals == sorted(totals, reverse=True)' "$TMP/got"
check "--by module --sort name" "$BPFPROF" report --by module --sort name --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/got"
check "... is sorted by it" python3 -c 'import json, sys
names = [r["name"].encode() for r in json.load(open(sys.argv[1]))["rows"]]
assert len(names) > 1 and names == sorted(names)' "$TMP/got"
refused 'exclude each other' --tree --peek main
check "a stat result" "$BPFPROF" stat -o "$TMP/stat.json" -- true
check_status 2 "has no tree" "$BPFPROF" report --tree "$TMP/stat.json"
check_grep 'cannot be shown by --tree' "$ERR"
finish
