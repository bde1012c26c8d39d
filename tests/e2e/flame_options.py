# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flame_options.py DIR [SHOTS]: the part of t532-flame-options.sh that needs a browser."""

import os
import sys

from browser import Browser
from flame_page import Page

CLASSES = """return Array.from(document.querySelectorAll('.chart path'), p => p.getAttribute('class')).sort();"""
FILLS = """return Array.from(document.querySelectorAll('.chart path, .legend rect'), p => getComputedStyle(p).fill);"""
LEGEND = """return Array.from(document.querySelectorAll('.legend span'), e => e.textContent);"""


def main():
    folder, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with Browser(os.path.join(folder, "chromium"), 1400, 700) as browser:
        page = Page(browser, folder, shots)
        for scheme in ["light", "dark"]:
            browser.prefer(scheme)
            for colors in ["cpu", "io", "class", "module"]:
                page.open(colors + ".html")
                with open(os.path.join(folder, colors + ".classes"), encoding="utf-8") as lines:
                    want = lines.read().split()
                found = browser.js(CLASSES)
                page.check("the picture and the page have the same colours",
                           set(found) ^ set(want) <= {"none"}, (found, want))  # by a width, what was lost is there
                fills = browser.js(FILLS)
                page.check(f"each has a fill, {scheme}", "rgb(0, 0, 0)" not in fills, fills)
                said = browser.js(LEGEND)
                page.check("and a legend", len(said) > 0 and (colors != "class" or {"lock", "io", "idle"} <= set(said)),
                           said)
                page.shot(scheme)
        browser.prefer("light")
        page.open("class.html", "#view=inverted")
        found = browser.js(CLASSES)
        page.check("inverted has colours by class", "class4" in found and "class13" in found, found)
        page.open("title.html")
        page.check("the title is text", page.text("h1").startswith("<script>alert(1)</script> & \"a\"") and
                   browser.js("return document.querySelectorAll('script').length") == 2, page.text("h1"))
        for px in [0.01, 3, 40]:
            page.open(f"min{px}.html")
            _, rows, _ = page.pane()
            widths = [w for row in rows for _, w in row]
            page.check(f"no frame is narrower than {px} px", px - 0.72 <= min(widths) < 2 * px + 2, min(widths))
        page.quiet()
    print("ok all checks ran")


main()
