# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A flame graph page in a browser, as tests look at it: what it draws, says and does.

Frames come from the picture itself, as rows of (left edge, width) in pixels, root first or last as drawn, and
labels as (text, left edge, row).
"""

import os
import re

ROW = 17

RECTS = """
const svg = document.querySelectorAll('.chart > svg')[arguments[0]];
return [Number(svg.getAttribute('width')), Number(svg.getAttribute('height')),
    Array.from(svg.querySelectorAll('path'), p => p.getAttribute('d')),
    Array.from(svg.querySelectorAll('.labels text'),
        t => [t.textContent, Number(t.getAttribute('x')), Number(t.getAttribute('y'))])];"""
TABLE = """
return Array.from(document.querySelectorAll('.table tbody tr'),
    r => Array.from(r.children, c => c.textContent));"""
LABEL_AT = """
const found = Array.from(document.querySelectorAll('.labels text'))
    .find(t => t.textContent.startsWith(arguments[0]));
const box = found && found.getBoundingClientRect();
return box && [box.x + 4, box.y + box.height / 2];"""
OVERFLOW = """
const wide = innerWidth + 0.5, page = document.documentElement.scrollWidth;
return page > wide ? ['page ' + page] : Array.from(document.querySelectorAll('.app *'))
    .filter(e => !e.closest('.tip') && e.getBoundingClientRect().right > wide &&
        !e.closest('svg') && getComputedStyle(e).display !== 'none')
    .map(e => e.className + ' ' + e.textContent.slice(0, 20));"""


class Page:
    def __init__(self, browser, folder, shots=""):
        self.browser, self.folder, self.shots = browser, folder, shots
        self.file = ""

    def check(self, desc, good, found=""):
        print(f"{'ok' if good else 'not ok'} {self.file}: {desc}{'' if good else f': {found}'}"[:600], flush=True)

    def open(self, file, address=""):
        self.file = file
        self.browser.open("")  # the same file with another address is no new page
        self.browser.open(os.path.join(self.folder, file) + address)
        return self.browser.painted()

    def shot(self, name):
        if self.shots:
            self.browser.painted()
            self.browser.screenshot(os.path.join(self.shots, f"{self.file}-{name}.png"))

    def text(self, selector):
        return self.browser.js("return document.querySelector(arguments[0]).textContent", selector)

    def address(self):
        return self.browser.js("return location.hash")

    def at(self, label):
        point = self.browser.js(LABEL_AT, label)
        if not point:
            raise RuntimeError(f"no label {label}")
        return point

    def table(self):
        return self.browser.js(TABLE)

    def press(self, *keys):
        for key in keys:
            self.browser.press(key)
        self.browser.painted()

    def search(self, query):
        self.browser.js("const i = document.querySelector('input'); i.focus(); i.select();")
        self.browser.type(query)

    def leave_search(self):
        self.browser.js("document.querySelector('input').blur()")

    def pane(self, nr=0):
        """Width, rows by their place from the top as sorted lists of (x, width), and the labels."""
        width, height, paths, labels = self.browser.js(RECTS, nr)
        rows = [[] for _ in range(height // ROW)]
        for d in paths:
            for x, y, w in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v", d):
                rows[int(y) // ROW].append((float(x), float(w)))
        return width, [sorted(row) for row in rows], [(t, x - 3, (y - 12) // ROW) for t, x, y in labels]

    def overflows(self):
        return self.browser.js(OVERFLOW)

    def quiet(self):
        messages = self.browser.console()
        self.check("nothing on the console", not messages, messages)
