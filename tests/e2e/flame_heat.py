# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flame_heat.py DIR [SHOTS]: the part of t538-heatmap-shows-when.sh that needs a browser."""

import os
import sys

from browser import Browser
from flame_page import Page

CELLS = """return Array.from(document.querySelectorAll('.heat-map path[class^=heat]:not(.heat-picked)'),
    p => (p.getAttribute('d').match(/M/g) || []).length);"""
BOX = """const b = document.querySelector('.heat-back').getBoundingClientRect(); return [b.x, b.y, b.width, b.height];"""
ENTER_MS = """const box = document.querySelector('.heat-map'), begin = performance.now();
box.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', shiftKey: true, bubbles: true}));
return performance.now() - begin;"""
PICKED = """return document.querySelector('.heat-picked').getAttribute('d');"""


def cells_of(path):
    """Samples in each slice, of what gen_profile heat makes up: 8 CPUs at each tick of 99 Hz."""
    cells = [0] * 3000
    for tick in range(5940):
        cells[tick * 1000 // 99 // 20] += 8
    return cells


def total(page):
    page.browser.move(*page.at("all"))
    return page.text(".status")


def check_large(page):
    want = cells_of(page.file)
    took = [page.browser.own_ms(lambda: page.open("heat.html")) for _ in range(3)]
    page.check("a minute of 8 CPUs opens within a second", min(took) < 1000, took)
    size = os.path.getsize(os.path.join(page.folder, page.file))
    page.check("its page is below 1.5 MB", size < 1500000, size)
    page.check("each slice with samples has its cell", sum(page.browser.js(CELLS)) == sum(1 for n in want if n))
    x, y, width, height = page.browser.js(BOX)
    page.check("a column for each second", abs(width % 60) < 0.01, width)
    column, row = width / 60, height / 50

    def at(second, nr):
        return x + (second + 0.5) * column, y + height - (nr + 0.5) * row

    page.shot("all")
    page.browser.drag(*at(10, 5), *at(12, 30))
    page.browser.painted()
    page.check("the address has the range", page.address() == "#range=505-631", page.address())
    some = sum(want[505:631])
    page.check("the graph is of what was selected", f"all · {some:,} samples" in total(page), (total(page), some))
    page.check("the caption says which time", page.text(".heat-caption").startswith("10.10–12.62 s · "),
               page.text(".heat-caption"))
    page.shot("selected")
    page.browser.drag(*at(12, 30), *at(10, 5))
    page.check("backwards is the same", page.address() == "#range=505-631", page.address())
    page.browser.js("document.querySelector('.heat-map').focus()")
    page.press("Escape")
    page.check("Escape is all time", page.address() == "" and f"all · {sum(want):,} samples" in total(page), total(page))
    page.browser.move(5, 5)
    page.browser.js("document.querySelector('.chart').focus()")
    page.press("h", "ArrowRight", "ArrowUp", "ArrowUp", "Enter")
    page.check("keys select a cell", page.address() == "#range=52-53", page.address())
    page.browser.press("Shift", "ArrowUp")
    page.check("with Shift they select more", page.address() == "#range=52-54", page.address())
    times = sorted(page.browser.js(ENTER_MS) for _ in range(15))
    page.check("a range is drawn within 100 ms", times[7] < 100, times)
    print(f"# from the key to the graph: median {times[7]:.1f} ms, most {times[-1]:.1f} ms; page {size} bytes")
    for key in ["u", "t"]:
        page.press(key)
    page.check("other views are of the range too", "range=" in page.address() and len(page.table()) > 0, page.address())
    page.open("heat.html", "#range=505-631&view=inverted")
    page.check("a link has the range", page.browser.js(PICKED) != "" and f"all · {some:,} samples" in total(page))
    for wrong in ["x", "5", "9-5", "-1-4", "0-99999", "1.5-3"]:
        page.open("heat.html", f"#range={wrong}")
        page.check(f"range={wrong} is none", page.browser.js(PICKED) == "", page.browser.js(PICKED))
    page.quiet()


def check_looks(page):
    looks = [("light", 375), ("dark", 1400)]
    if os.environ.get("NIGHTLY"):
        looks += [("light", 1400), ("dark", 375)]
    for scheme, width in looks:
        page.browser.prefer(scheme)
        page.browser.resize(width, 800)
        for file in ["heat.html", "oncpu.html", "offcpu.html", "wall.html"]:
            if os.path.exists(os.path.join(page.folder, file)):
                page.open(file)
                wide = [w for w in page.overflows() if not w.startswith("heat")]
                page.check(f"nothing hangs over at {width}, {scheme}", not wide, wide)
                page.shot(f"{width}-{scheme}")
    page.quiet()


def main():
    folder, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with Browser(os.path.join(folder, "chromium"), 1400, 800) as browser:
        page = Page(browser, folder, shots)
        browser.prefer("light")
        check_large(page)
        check_looks(page)
    print("ok all checks ran")


main()
