# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flame_in_chromium.py DIR [SHOTS]: what t503-flame-in-chromium.sh checks.

DIR has small.svg, small.html, large.svg and large.html of gen_profile, whose numbers are known. Prints one
line per check, "ok DESC" or "not ok DESC". Pictures for people go to the folder SHOTS.
"""

import os
import re
import sys

from browser import Browser

LIMIT_MS = 1000

# Share of all samples whose stack has a match; see small_rows in gen_profile.c.
SEARCHES = [
    ("serverCron", "60.00%", "nested matches count once"),
    ("servercron", "60.00%", "small letters match any case"),
    ("SERVERCRON", "0.00%", "capitals match as they are"),
    ("serverCron|memcpy", "85.00%", "a regular expression"),
    ("std::vector<int>", "17.00%", "a C++ name"),
    ("insert(", "17.00%", "what is no regular expression is plain text"),
    ("</script>", "1.00%", "markup is text"),
    ("nothing_like_this", "0.00%", "no match"),
]

LABELS = """return Array.from(document.querySelectorAll('.labels text'), t => t.textContent)"""
LABEL_AT = """
const found = Array.from(document.querySelectorAll('.labels text'))
    .find(t => t.textContent.startsWith(arguments[0]));
const box = found && found.getBoundingClientRect();
return box && [box.x + 4, box.y + box.height / 2];"""
ZOOM_MS = """
const [x, y] = arguments, chart = document.querySelector('.chart'), from = performance.now();
chart.dispatchEvent(new MouseEvent('click', {clientX: x, clientY: y, bubbles: true}));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));"""


class Checks:
    def __init__(self, browser, folder, shots):
        self.browser, self.folder, self.shots = browser, folder, shots
        self.file = ""

    def check(self, desc, good, found=""):
        print(f"{'ok' if good else 'not ok'} {self.file}: {desc}{'' if good else f': {found}'}", flush=True)

    def open(self, file):
        self.file = file
        self.browser.open(os.path.join(self.folder, file))
        return self.browser.painted()

    def shot(self, name):
        if self.shots:
            self.browser.painted()
            self.browser.screenshot(os.path.join(self.shots, f"{self.file}-{name}.png"))

    def text(self, selector):
        return self.browser.js("return document.querySelector(arguments[0]).textContent", selector)

    def at(self, label):
        point = self.browser.js(LABEL_AT, label)
        if not point:
            raise RuntimeError(f"no label {label}")
        return point

    def zoomed_to(self):
        label = self.browser.js("return document.querySelector('.chart').getAttribute('aria-label')")
        return re.fullmatch(r"Flame graph of (.*), \d+ frames\..*", label).group(1)

    def search(self, query):
        self.browser.js("const i = document.querySelector('input'); i.focus(); i.select();")
        self.browser.type(query)
        return self.text(".matched")


def check_quiet(c):
    messages = c.browser.console()
    c.check("nothing on the console", not messages, messages)
    loaded = c.browser.js("return performance.getEntriesByType('resource').map(e => e.name)")
    c.check("loads nothing else", not loaded, loaded)


def check_heading(c):
    title, note = c.text(".app h1"), c.text(".app p")
    c.check("title says command and target", title == "oncpu: process 1234 (redis-server)", title)
    c.check("note says event, rate, time, samples",
            note.startswith("cpu-clock at 99 Hz · 10.1 s · 1,000 samples"), note)


def check_hover(c):
    c.browser.move(*c.at("serverCron"))
    tip = c.browser.js("const t = document.querySelector('.tip');"
                       "return t.hidden ? [] : Array.from(t.children, e => e.textContent)")
    want = ["serverCron", "/usr/bin/redis-server, user code", "/src/redis/server.c:1320 (75% of it)", "600 samples, self 0",
            "60.00% of all samples", "77.92% of aeProcessEvents, the caller"]
    c.check("hover shows name, module, line, samples, shares", tip == want, tip)
    c.shot("hover")


def check_zoom(c):
    c.browser.click(*c.at("IOThreadMain"))
    labels = c.browser.js(LABELS)
    c.check("a click zooms in", c.zoomed_to() == "IOThreadMain", c.zoomed_to())
    c.check("its callees are shown", "tcp_sendmsg" in labels, labels)
    c.check("its callers stay", {"all", "io_thd_1"} <= set(labels), labels)
    c.check("other code is gone", "serverCron" not in labels, labels)
    c.shot("zoom")
    c.browser.click(*c.at("clone3"))
    c.check("a click on a caller zooms out to it", c.zoomed_to() == "clone3", c.zoomed_to())
    c.browser.press("Escape")
    c.check("Escape shows everything", c.zoomed_to() == "all" and "serverCron" in c.browser.js(LABELS),
            c.zoomed_to())


def check_search(c):
    for query, want, desc in SEARCHES:
        found = c.search(query)
        c.check(f"search {query}: {desc}", found == f"matched {want}", found)
    c.search("serverCron|memcpy")
    marked = c.browser.js("return document.querySelectorAll('path.match').length")
    c.check("matches are marked", marked == 1, marked)
    c.shot("search")
    c.browser.press("Escape")
    c.check("Escape ends the search", c.text(".matched") == "" and
            c.browser.js("return document.querySelectorAll('path.match').length") == 0, c.text(".matched"))


def check_address(c):
    c.search("memcpy")
    c.browser.click(*c.at("aeProcessEvents"))
    address = c.browser.js("return location.hash")
    c.check("the address has the zoom and the search",
            re.fullmatch(r"#zoom=\d+&search=memcpy", address), address)
    c.browser.press("Escape")
    c.browser.js("document.querySelector('input').focus()")
    c.browser.press("Escape")
    c.check("and nothing of them at the start", c.browser.js("return location.hash") == "",
            c.browser.js("return location.hash"))
    c.browser.js("location.hash = arguments[0]", address)
    c.browser.painted()
    c.check("an address is a view", c.zoomed_to() == "aeProcessEvents" and c.text(".matched").startswith("matched "),
            (c.zoomed_to(), c.text(".matched")))
    for bad in ("#zoom=99999999", "#zoom=-1&search=(", "#zoom=x&x", "#%"):
        c.browser.js("location.hash = arguments[0]", bad)
        c.browser.painted()
    c.check("any address is a page", "serverCron" in c.browser.js(LABELS), c.browser.js(LABELS))
    c.browser.js("location.hash = ''")
    c.browser.painted()


def check_copy(c):
    c.browser.js("document.activeElement.blur()")
    c.browser.move(*c.at("serverCron"))
    c.browser.press("c")
    c.browser.painted()
    said = c.text(".status")
    c.check("c copies a stack, root first", re.fullmatch(r"(copied|this browser does not copy): redis-server;.*;serverCron", said) and
            (said.startswith("copied") or c.file.endswith(".svg")), said)


def check_legend(c):
    said = c.browser.js("return Array.from(document.querySelectorAll('.legend span'), e => e.textContent)")
    c.check("colours are explained", said[:2] == ["user code, by module", "kernel"], said)
    drawn, boxes = (set(c.browser.js(f"return Array.from(document.querySelectorAll('{what}'), e => e.getAttribute('class'))"))
                    for what in [".chart path", ".legend rect"])
    hues = [{int(name[4:]) // 3 for name in names if name.startswith("user")} for names in (drawn, boxes)]
    c.check("user code has a box of each of its colours", len(hues[0]) > 1 and hues[0] <= hues[1], (drawn, boxes))
    c.browser.resize(500, 700)
    c.browser.js("document.activeElement.blur()")
    c.browser.press("?")
    c.browser.painted()
    said = c.browser.js("return Array.from(document.querySelectorAll('.keys span'),"
                        "e => e.getBoundingClientRect().width > 0 && e.textContent)")
    c.check("and among the keys, where there is no room below", said[:2] == ["user code, by module", "kernel"], said)
    c.shot("keys")
    c.browser.press("?")
    c.browser.resize(1200, 700)
    c.browser.painted()


def check_keys(c):
    focused = "return document.activeElement === document.querySelector(arguments[0])"
    c.browser.press("Escape")
    c.browser.press("/")
    c.check("/ goes to the search", c.browser.js(focused, "input"))
    c.browser.press("Escape")
    c.browser.press("Control", "f")
    c.check("Ctrl-F goes to the search", c.browser.js(focused, "input"))
    c.browser.press("Escape")
    c.browser.move(5, 5)
    c.browser.js("document.querySelector('.chart').focus()")
    for key in ["ArrowUp", "ArrowUp", "ArrowRight"]:
        c.browser.press(key)
    status = c.text(".status")
    c.check("arrow keys walk the frames", status.startswith("io_thd_1 · 150 samples"), status)
    c.browser.press("Enter")
    c.check("Enter zooms", c.zoomed_to() == "io_thd_1", c.zoomed_to())
    c.browser.press("Escape")


def check_looks(c):
    y_of_root = c.at("all")[1]
    c.browser.press("i")
    c.check("i puts the root on top", c.at("all")[1] < c.at("main")[1] < y_of_root)
    c.shot("icicle")
    c.browser.press("i")
    page = "return getComputedStyle(document.querySelector('.app')).backgroundColor"
    before = c.browser.js(page)
    c.browser.press("d")
    after = c.browser.js(page)
    c.check("d turns light to dark", (before, after) == ("rgb(255, 255, 255)", "rgb(22, 25, 29)"), after)
    c.shot("dark")
    c.browser.press("d")
    c.check("and back", c.browser.js(page) == before)
    width = "return document.querySelector('.chart > svg').getBoundingClientRect().width"
    c.browser.resize(1920, 700)
    c.browser.painted()
    c.check("takes the width of the window", 1880 < c.browser.js(width) < 1920, c.browser.js(width))
    c.shot("1920")
    c.browser.resize(1200, 700)
    c.browser.painted()


def check_hostile(c):
    found = c.browser.js("return ['script', '[onload], [onmouseover]']"
                         ".map(s => document.querySelectorAll(s).length)")
    c.check("names add no element", found == [2, 0], found)
    # They are too narrow for labels, and lie right of node, which ends at 97% of the width.
    y = c.at("node")[1]
    width = c.browser.js("return document.querySelector('.chart > svg').getBoundingClientRect().width")
    c.browser.click(10 + width * 0.975, y)
    c.check("a frame with a hostile name zooms", c.zoomed_to() in ("<script>alert", "a\"b'c&d"), c.zoomed_to())
    c.shot("hostile")
    c.browser.press("Escape")


def check_small(browser, folder, shots, file):
    c = Checks(browser, folder, shots)
    c.browser.resize(1200, 700)
    c.open(file)
    c.shot("light")
    for part in [check_quiet, check_heading, check_hover, check_zoom, check_search, check_address, check_copy,
                 check_legend, check_keys, check_looks, check_hostile]:
        part(c)
    messages = c.browser.console()
    c.check("still nothing on the console", not messages, messages)


def check_large(browser, folder, shots, file, width):
    """The best of three, or of six on a machine that is that busy: other work there is not what is measured."""
    c = Checks(browser, folder, shots)
    c.browser.resize(width, 900)
    opened, zoomed = [], []
    for i in range(6):
        if i >= 3 and min(opened) <= LIMIT_MS:
            break
        opened.append(browser.own_ms(lambda: c.open(file)))
        for label in ["worker-3", "all"]:
            point = c.at(label)
            zoomed.append(browser.own_ms(lambda: c.browser.js_async(ZOOM_MS, *point)))
    print(f"{file} at {width} px: opens in {min(opened):.0f} to {max(opened):.0f} ms, "
          f"zooms in {min(zoomed):.0f} to {max(zoomed):.0f} ms")
    c.check(f"opens within a second at {width} px", min(opened) <= LIMIT_MS, opened)
    c.check(f"zooms within a second at {width} px", max(zoomed) <= LIMIT_MS, zoomed)
    c.shot(f"{width}")


def check_picture(browser, folder, shots):
    """As an image the svg runs no script: what C drew is all there is."""
    c = Checks(browser, folder, shots)
    page = os.path.join(folder, "image.html")
    with open(page, "w", encoding="utf-8") as out:
        out.write("<!DOCTYPE html><meta charset=utf-8><title>t</title><style>body{margin:0}</style>"
                  "<img src=small.svg>")
    for scheme in ["light", "dark"]:
        browser.prefer(scheme)
        c.open("image.html")
        size = browser.js("const i = document.images[0]; return [i.naturalWidth, i.naturalHeight]")
        c.check(f"the svg is an image, {scheme}", size[0] == 1200 and size[1] > 200, size)
        c.shot(scheme)
    c.open("small.html")
    c.shot("dark-by-system")
    browser.prefer("light")


def check_policy(browser, folder, shots):
    c = Checks(browser, folder, shots)
    c.open("small.html")
    blocked = c.browser.js_async(
        "document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective));"
        "document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:1/x.png'}));"
        "setTimeout(() => done('nothing'), 2000)")
    c.check("the page may not use the network", blocked == "img-src", blocked)


def main():
    folder, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with Browser(os.path.join(folder, "chromium")) as browser:
        browser.prefer("light")
        for file in ["small.html", "small.svg"]:
            check_small(browser, folder, shots, file)
        check_picture(browser, folder, shots)
        sizes = [("large.html", 1200), ("large.svg", 1920)]
        if os.environ.get("NIGHTLY"):
            sizes += [("large.html", 1920), ("large.svg", 1200)]
        for file, width in sizes:
            check_large(browser, folder, shots, file, width)
        check_policy(browser, folder, shots)
    print("ok all checks ran")


main()
