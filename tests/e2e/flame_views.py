# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flame_views.py DIR [SHOTS]: what t530-flame-views.sh checks.

DIR has KIND.html, KIND.svg, KIND.folded and KIND.csv of some kinds. Trees are computed here, from the folded stacks
alone, and compared with the rectangles of the picture. Prints "ok DESC" or "not ok DESC".
"""

import csv
import json
import os
import sys

from browser import Browser
from flame_page import Page

LEAST = 0.5     # px; narrower frames are not drawn


class Tree:
    """Stacks merged by name."""

    def __init__(self, name):
        self.name, self.total, self.kids = name, 0, {}

    def add(self, names, weight):
        self.total += weight
        node = self
        for name in names:
            node = node.kids.setdefault(name, Tree(name))
            node.total += weight

    def rows(self, width):
        """By depth (x, width, name), of what is wide enough."""
        rows, level = [], [(0.0, self)]
        while level:
            rows.append([(x, node.total * width / self.total, node.name) for x, node in level])
            below = []
            for x, node in level:
                for kid in sorted(node.kids.values(), key=lambda k: (-k.total, k.name)):
                    if kid.total * width / self.total >= LEAST:
                        below.append((x, kid))
                    x += kid.total * width / self.total
            level = below
        return rows


def read_folded(path):
    stacks = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            stacks.append((stack.split(";"), int(weight)))
    return stacks


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def same_rows(want, found, near):
    """What is about as wide as the least may be there or not."""
    for depth, cells in enumerate(want):
        drawn = found[depth] if depth < len(found) else []
        sure = [c for c in cells if c[1] >= LEAST + 0.1]
        for x, w, name in sure:
            shown = w - 0.7 if w > 1.5 else w
            if not any(abs(x - a) <= near and abs(shown - b) <= near for a, b in drawn):
                return f"row {depth}: no {name} at {x:.2f}, {w:.2f} wide"
        if not len(sure) <= len(drawn) <= len(cells) + 3:
            return f"row {depth}: {len(drawn)} frames, not {len(cells)}"
    return "" if len(found) <= len(want) + 1 else f"{len(found)} rows, not {len(want)}"


def compare(page, desc, tree, pane, upwards, near=0.06):
    width, rows, labels = page.pane(pane)
    rows = rows[::-1] if upwards else rows
    want = tree.rows(width)
    wrong = same_rows(want, rows, near)
    page.check(f"{desc}: {sum(map(len, rows))} frames are as wide as the stacks say", not wrong, wrong)
    named = {(round(x), len(rows) - 1 - row if upwards else row): text for text, x, row in labels}
    bad = [(name, named.get((round(x), depth))) for depth, cells in enumerate(want) for x, w, name in cells
           if w > 200 and abs(x - round(x)) < 0.4 and len(name) < 20 and named.get((round(x), depth)) != name]
    page.check(f"{desc}: they have their names", not bad, bad[:3])


def inverted_of(stacks):
    tree = Tree("all")
    for names, weight in stacks:
        tree.add(names[::-1], weight)
    return tree


def sandwich_of(stacks, f):
    """Callers and callees of a function by its outermost call."""
    callers, callees = Tree(f), Tree(f)
    for names, weight in stacks:
        if f in names[1:]:
            at = names.index(f, 1)
            callers.add(names[:at][::-1], weight)
            callees.add(names[at + 1:], weight)
    return callers, callees


def share(text):
    """Of '60.00% 600' or '13.20% 1.3 s'."""
    return float(text.split("%")[0])


def by_name_alone(rows):
    """Rows of names that one module has, and the other names: the picture goes by name, report by name and module."""
    names = [r["name"] for r in rows]
    return [r for r in rows if names.count(r["name"]) == 1], {n for n in names if names.count(n) > 1}


def check_table(page, kind, rows, whole):
    page.press("t")
    rows, shared = by_name_alone(rows)
    shown = page.table()
    want = rows[:500]
    page.check("the table has each function", len(shown) == min(500, len(want) + len(shared)),
               (len(shown), len(want), shared))
    by_name = {r[2]: r for r in shown}
    wrong = [r["name"] for r in want if r["name"] in by_name and (
        any(abs(share(by_name[r["name"]][k]) - 100 * int(r[key]) / whole) > 0.011
            for k, key in enumerate(("self", "total"))) or by_name[r["name"]][3] != r["module"])]
    page.check("shares of self and total and modules are those of report --csv", not wrong, wrong[:3])
    page.check("and the names", {r["name"] for r in want} | shared == set(by_name) or len(rows) > 500,
               sorted(({r["name"] for r in want} | shared) ^ set(by_name))[:4])
    if kind != "offcpu" and kind != "wakeup":
        wrong = [r["name"] for r in want if r["name"] in by_name and
                 (by_name[r["name"]][0].split()[1], by_name[r["name"]][1].split()[1]) !=
                 (f"{int(r['self']):,}", f"{int(r['total']):,}")]
        page.check("counts are those of report --csv", not wrong, wrong[:3])
    page.check("most self comes first", [share(r[0]) for r in shown] == sorted((share(r[0]) for r in shown), reverse=True))
    page.shot("table")
    page.press("t")


def check_sorting(page):
    page.press("t")
    page.press("2")
    totals = [share(r[1]) for r in page.table()]
    page.check("2 sorts by total", totals == sorted(totals, reverse=True), totals[:5])
    page.press("2")
    totals = [share(r[1]) for r in page.table()]
    page.check("2 again turns it around", totals == sorted(totals), totals[:5])
    page.browser.js("document.querySelectorAll('.table th button')[2].click()")
    names = [r[2] for r in page.table()]
    page.check("a head sorts by name", names == sorted(names), names[:5])
    said = page.browser.js("return Array.from(document.querySelectorAll('.table th'), h => h.getAttribute('aria-sort'))")
    page.check("and says so", said == ["none", "none", "ascending", "none"], said)
    page.press("1")
    page.search("server|memcpy")
    names = {r[2] for r in page.table()}
    page.check("the search filters", "serverCron" in names and "memcpy" in " ".join(names) and
               all("server" in n.lower() or "memcpy" in n.lower() for n in names), names)
    page.browser.press("Escape")
    page.leave_search()
    page.press("t", "t")
    first = page.table()
    page.press("ArrowDown", "ArrowDown", "Enter")
    page.check("Enter on the third row opens that function", page.text(".middle b") == first[2][2],
               (page.text(".middle b"), first[2][2]))
    page.press("Escape")
    page.check("Escape leads back to the table", len(page.table()) == len(first))
    page.browser.js("document.querySelectorAll('.table tbody tr')[1].click()")
    page.check("a click on a row opens its function", page.text(".middle b") == first[1][2], page.text(".middle b"))
    page.press("Escape", "t")


def check_sandwich(page, stacks, functions, near):
    for f in functions:
        callers, callees = sandwich_of(stacks, f)
        page.open(page.file, "#view=function&function=" + f.replace("&", "%26").replace("+", "%2B"))
        said, whole = page.text(".middle span"), sum(w for _, w in stacks)
        part = f"{100 * callers.total / whole:.2f}%"
        page.check(f"{f} has its total", f", {part} · " in said, (said, part))
        compare(page, f"callers of {f}", callers, 0, True, near)
        compare(page, f"callees of {f}", callees, 1, False, near)


def check_kind(page, kind):
    folder = page.folder
    stacks = read_folded(os.path.join(folder, kind + ".folded"))
    rows = read_csv(os.path.join(folder, kind + ".csv"))
    near = 0.06 if kind in ("small", "2000") else 0.5     # folded stacks are in us, the page in ns
    page.open(page.file)
    tree = Tree("all")
    for names, weight in stacks:
        tree.add(names, weight)
    compare(page, "the tree", tree, 0, True, near)
    check_table(page, kind, rows, tree.total)
    page.press("u")
    compare(page, "inverted", inverted_of(stacks), 0, True, near)
    page.shot("inverted")
    page.press("i")
    compare(page, "inverted icicle", inverted_of(stacks), 0, False, near)
    page.check("the address has both", page.address() == "#view=inverted&icicle=1", page.address())
    address = page.address()
    page.open(page.file, address)
    compare(page, "the same by its address", inverted_of(stacks), 0, False, near)
    by_total = sorted(rows, key=lambda r: -int(r["total"]))
    names = [r["name"] for r in by_total[:3]] + [r["name"] for r in rows[:2]]
    check_sandwich(page, stacks, list(dict.fromkeys(names)), near)
    page.shot("function")
    page.quiet()


def check_walk(page):
    """Zooms of merged trees, by mouse, keys and address."""
    page.open("small.html")
    page.browser.move(*page.at("serverCron"))
    page.press("s")
    page.check("s opens the function under the cursor", page.text(".middle b") == "serverCron", page.text(".middle b"))
    page.check("and the address has it", page.address() == "#view=function&function=serverCron", page.address())
    page.browser.js("document.querySelector('.chart').focus()")
    page.browser.move(2, 2)
    page.press("ArrowUp", "ArrowUp", "Enter")
    address = page.address()
    page.check("callers zoom, and the address has the zoom", "callers=" in address, address)
    width, rows, labels = page.pane(0)
    page.open("small.html", address)
    page.check("an address is a view of a function", page.pane(0) == (width, rows, labels), labels)
    page.browser.js("document.querySelector('.chart').focus()")
    page.press("Escape")
    page.check("Escape zooms out first", page.address() == "#view=function&function=serverCron", page.address())
    page.press("Escape")
    page.check("then leaves the function", page.address() == "", page.address())
    for bad in ("#view=function&function=none", "#view=function&callers=9.9.9", "#view=inverted&zoom=1.2.x",
                "#view=x&value=77", "#view=table&function=%00"):
        page.open("small.html", bad)
    page.press("?")
    keys = page.browser.js("return Array.from(document.querySelectorAll('.keys kbd'), k => k.textContent)")
    page.check("? shows the keys", {"t", "s", "u", "i", "?", "Esc"} <= set(keys), keys)
    page.shot("keys")
    page.press("Escape")
    page.check("Escape hides them", page.browser.js("return document.querySelector('.keys').hidden"))
    page.quiet()


def check_narrow(page, views):
    """Nothing is wider than a telephone, light and dark."""
    for scheme in ["light", "dark"]:
        page.browser.prefer(scheme)
        for width in [375, 1400]:
            page.browser.resize(width, 800)
            for file, name, address in views:
                page.open(file, address)
                page.check(f"{name} fits {width} px, {scheme}", not page.overflows(), page.overflows()[:4])
                page.shot(f"{name}-{width}-{scheme}")
            page.press("?")
            page.check(f"keys fit {width} px, {scheme}", not page.overflows(), page.overflows()[:4])
            page.shot(f"keys-{width}-{scheme}")
    page.browser.prefer("light")
    page.browser.resize(1200, 700)


def check_hostile(page):
    page.open("small.html", "#view=table")
    names = [r[2] for r in page.table()]
    page.check("hostile names are text in the table", any("<script>" in n for n in names) and
               page.browser.js("return document.querySelectorAll('script').length") == 2, names)
    hostile = next(n for n in names if "<script>" in n)
    page.browser.js("Array.from(document.querySelectorAll('.table tbody tr'))"
                    ".find(r => r.children[2].textContent === arguments[0]).click()", hostile)
    page.check("and over callers and callees", page.text(".middle b") == hostile and
               page.browser.js("return document.querySelectorAll('script').length") == 2, page.text(".middle b"))
    again = page.address()
    page.open("small.html", again)
    page.check("and in the address", page.text(".middle b") == hostile, again)


def check_changes(page):
    page.open("diff.html", "#view=table")
    shown = page.table()
    page.check("of two recordings the table has what changed", len(shown[0]) == 5 and
               {r[2][0] for r in shown} <= set("+-"), shown[0])
    page.shot("table")
    page.open("diff.html", "#view=inverted")
    page.press("b")
    width, rows, labels = page.pane()
    page.check("inverted, widths before: 30% of it was dictScan", any(
        text == "dictScan" and any(abs(a - x) < 0.1 and abs(w - 0.3 * width + 0.7) < 0.1 for a, w in rows[row])
        for text, x, row in labels), labels)
    classes = page.browser.js("return Array.from(document.querySelectorAll('path'), p => p.getAttribute('class'))")
    page.check("and it has the colour of what is gone", "less3" in classes, classes)
    page.shot("inverted")


def choose(page, name):
    """A value by its name, as people do."""
    page.browser.js("const s = document.querySelector('select'); s.value = Array.from(s.options)"
                    ".find(o => o.textContent === arguments[0]).value; s.dispatchEvent(new Event('change'));", name)
    page.browser.painted()


def names_of_values(page):
    return page.browser.js("return Array.from(document.querySelectorAll('select option'), o => o.textContent)")


def classes_of(stacks, split):
    """By class, stacks that have it behind the thread; the page shows it there only where views are split by it."""
    by_class = {}
    for names, weight in stacks:
        at = 2 if names[1:2] == ["[runnable]"] else 1
        if names[0] == "[lost]":
            continue
        rest = names if split or names[1] == "[idle]" else names[:1] + names[at + 1:]
        if rest[1:] == ["[not sampled]"] and not split:
            rest = rest + [names[at]]
        by_class.setdefault(names[at].strip("[]"), []).append((rest, weight))
    return by_class


def check_classes(page, kind):
    by_class = classes_of(read_folded(os.path.join(page.folder, kind + ".by-class")), kind == "wall")
    page.open(kind + ".html", "#view=inverted")
    names = names_of_values(page)
    page.check("each class of waits is a value", names[0] == "all time" and set(names[1:-1]) == set(by_class) and
               names[-1] == "waits", (names, sorted(by_class)))
    for name in names[1:-1]:
        choose(page, name)
        compare(page, f"inverted, of {name}", inverted_of(by_class[name]), 0, True, 0.5)
    page.check("the address has the value", page.address() == f"#view=inverted&value={len(names) - 2}", page.address())
    page.shot("value")
    page.browser.js("document.querySelector('.chart').focus()")
    page.press("m")
    page.check("m is the next value", page.address() == f"#view=inverted&value={len(names) - 1}", page.address())
    with open(os.path.join(page.folder, kind + ".json"), encoding="utf-8") as summary:
        whole = json.load(summary)["waits"]["all"]["waits"]
    page.open(kind + ".html", f"#value={len(names) - 1}")
    page.browser.move(*page.at("all"))
    page.check("waits are counted", f"all · {whole:,} waits, " in page.text(".status"), (page.text(".status"), whole))
    page.quiet()


def check_events(page):
    page.open("pmu.html")
    page.check("events are values", names_of_values(page) == ["cycles", "branch-misses"], names_of_values(page))
    for nr, event in enumerate(["cycles", "branch-misses"]):
        page.open("pmu.html", f"#value={nr}")
        stacks = read_folded(os.path.join(page.folder, f"pmu.{event}"))
        tree = Tree("all")
        for names, weight in stacks:
            tree.add(names, weight)
        compare(page, event, tree, 0, True)
        page.press("u")
        compare(page, f"{event} inverted", inverted_of(stacks), 0, True)
    for address, want in [("", " · 500 samples, "), ("#value=1", " · 10 us, ")]:
        page.open("broken.html", address)
        page.browser.move(*page.at("all"))
        page.check(f"of samples and what they stand for:{want}", want in page.text(".status"), page.text(".status"))
    page.quiet()


def main():
    folder, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with Browser(os.path.join(folder, "chromium")) as browser:
        page = Page(browser, folder, shots)
        browser.prefer("light")
        for kind in ["small", "offcpu", "2000"] + ["wakeup"] * bool(os.environ.get("NIGHTLY")):
            page.file = kind + ".html"
            check_kind(page, kind)
        page.file = "small.svg"
        check_kind(page, "small")
        page.open("small.html")
        check_sorting(page)
        check_walk(page)
        check_hostile(page)
        check_changes(page)
        for kind in ["offcpu", "wall"]:
            check_classes(page, kind)
        check_events(page)
        check_narrow(page, [("small.html", "tree", ""), ("small.html", "table", "#view=table"),
                            ("2000.html", "table", "#view=table"), ("diff.html", "table", "#view=table"),
                            ("small.html", "inverted", "#view=inverted"), ("wall.html", "values", ""),
                            ("small.html", "function", "#view=function&function=serverCron")])
    print("ok all checks ran")


main()
