#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# report -i on a real terminal: every view has the rows and figures that the printed report has, and keys do what they say.
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3 tmux
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_pmu; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1
export TMP PYTHONPATH=$ROOT/tests/e2e
for kind in small offcpu 2000; do
	check "a profile, $kind" "$GEN/gen_profile" $kind $kind.bpfprof
done
check "a profile of several events" "$GEN/gen_pmu" pmu.bpfprof

cat >common.py <<'P'
import csv, os, re, subprocess, sys
from screen import Screen
BPFPROF = os.environ["BPFPROF"]
def report(*words):
    return subprocess.run([BPFPROF, "report", *words], check=True, capture_output=True, text=True).stdout
def table(*words):
    return list(csv.DictReader(report("--csv", *words).splitlines()))
def rows_of(lines):
    """The rows below the heading, up to the status line: [cells]."""
    head = next(i for i, line in enumerate(lines) if re.match(r" *(SELF|TOTAL|SHARE)", line))
    return [line for line in lines[head + 1:-1] if line]
def begin(screen, *words):
    return screen.start(" ".join([BPFPROF, "report", "-i", *words]), r"^ *(SELF|TOTAL|SHARE).*(FUNCTION|PROCESS)")
def shares_are(lines, wanted, every, what):
    shown = rows_of(lines)
    assert len(shown) >= min(len(wanted), 5), (what, shown)
    for line, row in zip(shown, wanted):
        values = [int(row[k]) for k in ("self", "total", "share") if k in row]
        text = "".join(r" *%.1f%%" % (100 * v / every) for v in values)
        assert re.match(text + r" .*" + re.escape(row["name"][:20]), line), (what, line, row)
P

cat >views.py <<'P'
from common import *
every = sum(int(r["self"]) for r in table("--by", "function", "small.bpfprof"))
with Screen() as s:
    lines = begin(s, "small.bpfprof")
    assert lines[0] == report("-s", "small.bpfprof").split("\n")[0][:80], lines[0]
    assert lines[1].startswith("samples "), lines[1]
    shares_are(lines, table("--by", "function", "small.bpfprof"), every, "functions")
    for key, by in ("m", "module"), ("p", "process"), ("T", "thread"), ("l", "line"), ("F", "file"), ("f", "function"):
        wanted = table("--by", by, "small.bpfprof")
        shares_are(s.keys(key), wanted, every, by)
        assert re.match(r"%d/%d( |$)" % (min(1, len(wanted)), len(wanted)), s.lines()[-1]), (by, s.lines()[-1])
    s.keys("End")
    assert re.match(r"(\d+)/\1 ", s.lines()[-1]), s.lines()[-1]
    s.keys("Home", "Down", "Down", "j", "k")
    assert table("--by", "function", "small.bpfprof")[2]["name"] in s.selected(), s.selected()
    # Sorted by the total, and by the name.
    by_total = sorted(table("--by", "function", "small.bpfprof"), key=lambda r: (-int(r["total"]), -int(r["self"]), r["name"]))
    shares_are(s.keys("s", "Home"), by_total, every, "by total")
    shares_are(s.keys("<"), table("--by", "function", "small.bpfprof"), every, "by self again")
    # Views go round, in both directions.
    names = []
    for _ in range(8):
        s.keys("Tab")
        names.append(rows_of(s.lines())[0])
    assert len(set(names)) >= 7 and names[-1] == rows_of(lines)[0], names
    s.keys("q")
    assert s.value("alternate_on") == "0"
print("views agree")
P

cat >trees.py <<'P'
from common import *
def printed(*words):
    """[(share, name)] of a printed tree."""
    _, head, *rows = report(*words, "--percent-limit", "0").splitlines()
    at, end = head.index("FUNCTION"), head.find("MODULE")
    return [(r.split()[0], r[at:end if end > 0 else None].strip().lstrip("+ ").strip()) for r in rows]
def shown(s):
    """The same of all of the screen's pages."""
    found, nr = {}, int(s.lines()[-1].split("/")[1].split()[0])
    s.keys("Home")
    while True:
        lines = s.lines()
        head = next(line for line in lines if "FUNCTION" in line)
        at, rows = head.index("FUNCTION"), rows_of(lines)
        last = int(lines[-1].split("/")[0])
        first = max(0, last - len(rows)) if last > 1 else 0
        for i, r in enumerate(rows):
            found[first + i] = (r.split()[0], r[at:].lstrip(" +-·").strip())
        if last == nr:
            break
        s.keys("PageDown" if last + len(rows) - 1 <= nr else "End")
    return [found[i] for i in sorted(found)]
with Screen(200, 50) as s:
    for way, key in ("--tree", "t"), ("--bottom-up", "b"):
        begin(s, "small.bpfprof")
        s.keys(key, "End")
        while True: # from the last to the first: rows below do not move those above
            s.keys("e")
            if s.lines()[-1].startswith("1/"):
                break
            row = int(s.lines()[-1].split("/")[0])
            s.keys("Up")
            if int(s.lines()[-1].split("/")[0]) == row:
                break
        wanted, got = printed(way, "small.bpfprof"), shown(s)
        assert got == wanted, (way, next((g, w) for g, w in zip(got, wanted) if g != w), len(got), len(wanted))
        s.keys("Home", "c")
        roots = int(s.lines()[-1].split("/")[1].split()[0])
        assert roots < len(wanted)
        s.keys("Enter")
        opened = int(s.lines()[-1].split("/")[1].split()[0])
        s.keys("Enter")
        assert roots < opened and int(s.lines()[-1].split("/")[1].split()[0]) == roots
        s.keys("Right", "Right", "Left", "Left", "Left", "Left")
        assert int(s.lines()[-1].split("/")[1].split()[0]) == roots, "left goes out and collapses"
        s.keys("q")
    # A search finds what is collapsed, leaves all as it was when it is given up, and goes on with n.
    begin(s, "--tree", "small.bpfprof")
    before = s.lines()[-1]
    s.keys("/")
    s.text("servercron")
    assert "serverCron" in s.selected(), s.selected()
    s.keys("Escape")
    assert s.lines()[-1] == before, (before, s.lines()[-1])
    s.keys("/")
    s.text("SERVERCRON")
    assert "no name matches" in s.keys("Enter")[-1] or "serverCron" not in s.selected()
    s.keys("/")
    s.text("serverCron")
    s.keys("Enter")
    def at(): # what is expanded meanwhile has another mark
        return re.sub(r" [+-] ", "   ", s.selected())
    first = at()
    s.keys("n")
    assert "serverCron" in at() and at() != first, (first, at())
    s.keys("N")
    assert at() == first, (first, at())
    # Zoom into what is below, and out again.
    s.keys("z")
    rows = rows_of(s.lines())
    assert rows[0].split()[0] == first.split()[0] and "serverCron" in rows[0], rows[0]
    assert any("all › tree › serverCron" in line for line in s.lines())
    s.keys("BSpace")
    assert at() == first
    s.keys("q")
print("trees agree")
P

cat >deeper.py <<'P'
from common import *
with Screen() as s:
    begin(s, "small.bpfprof")
    s.keys("/")
    s.text("serverCron")
    s.keys("Enter", "Enter")
    peek = [re.sub(r" +", " ", line).strip() for line in report("--peek", "^serverCron$", "small.bpfprof").splitlines()[2:]]
    def of_peek(line): # the printed table has the module last
        m = re.match(r"([\d.]+%) (called by|itself|calls)? ?(.*?)( \S+)?$", line)
        return m[1], m[2] or ""
    rows = rows_of(s.lines())
    assert len(rows) == len(peek), (rows, peek)
    for row, line in zip(rows, peek):
        share, how = of_peek(line)
        assert row.split()[0] == share and how in row, (row, line)
    assert "serverCron" in s.selected()
    s.keys("Down", "Down", "Enter")
    assert any(re.search("functions › serverCron › databasesCron", line) for line in s.lines()), s.lines()
    s.keys("u", "u")
    # Zoomed into a function, all views are of its stacks.
    s.keys("z")
    assert any(re.search(r"serverCron  \(100% here is 60\.0% of all\)", line) for line in s.lines()), s.lines()
    inside = table("--by", "function", "--focus", "^serverCron$", "small.bpfprof")
    every = sum(int(r["self"]) for r in inside)
    shares_are(s.lines(), inside, every, "inside of serverCron")
    shares_are(s.keys("m"), table("--by", "module", "--focus", "^serverCron$", "small.bpfprof"), every, "its modules")
    s.keys("f", "u")
    assert not any("100% here" in line for line in s.lines())
    # Functions of a module, the tree of a process.
    s.keys("m", "Enter")
    module = "redis-server"
    wanted = [r for r in table("--by", "function", "small.bpfprof") if r["module"].endswith("/" + module)]
    assert re.match("1/%d " % len(wanted), s.lines()[-1]), s.lines()[-1]
    s.keys("q", "p", "Enter")
    assert "redis-server/1234" in rows_of(s.lines())[0]
    s.keys("Q")
    assert s.value("alternate_on") == "0"
    # Of several events each has its own figures.
    words = "pmu.bpfprof"
    begin(s, words)
    seen = []
    while True:
        event = next(line for line in s.lines() if re.match(r"[a-z-]+$", line) or " › " in line).split(" ")[0]
        if event in seen:
            break
        seen.append(event)
        wanted = table("--by", "function", "--value", event, words)
        shares_are(s.lines(), wanted, sum(int(r["self"]) for r in wanted), event)
        s.keys("v")
    assert len(seen) >= 2, seen
    s.keys("q")
    # Time, and what was lost: in red, unless colours are unwelcome.
    begin(s, "offcpu.bpfprof")
    top = [line for line in report("-s", "offcpu.bpfprof").splitlines() if re.match(r" *9\.4 s +34.5% +9", line)][0]
    assert rows_of(s.lines())[0].split()[:6] == top.split()[:6], (rows_of(s.lines())[0], top)
    lost = next(line for line in s.lines(True) if " lost" in line)
    assert re.search(r"\x1b\[(?:\d+;)*31(?:;\d+)*m", lost), lost
    s.keys("q")
    s.start("NO_COLOR=1 %s report -i offcpu.bpfprof" % BPFPROF, "FUNCTION")
    assert not re.search(r"\x1b\[(?:\d+;)*3[1-7]", "\n".join(s.lines(True)[:-1])), "NO_COLOR"
    s.keys("q")
print("what is behind rows agrees")
P
for part in views trees deeper; do
	check "$part" timeout 100 python3 $part.py
	cat "$ERR"
done
finish
