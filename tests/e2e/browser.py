# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A browser for tests: Chromium, driven over the WebDriver protocol with what python3 brings along.

with Browser(profile_dir) as browser: a chromedriver of our own on a free port, one headless window, gone
at the end. Mouse and keys are real input events. Coordinates are CSS pixels from the window's top left.
"""

import base64
import glob
import json
import os
import re
import subprocess
import urllib.request

CHROMEDRIVER = "/usr/bin/chromedriver"
CHROMIUM = "/usr/bin/chromium"
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"]
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Control": "\ue009", "Shift": "\ue008"}


def stat_fields(path):
    """Of a process or thread, from its state on; none when it is gone."""
    try:
        with open(path, encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return []


class Browser:
    def __init__(self, profile_dir, width=1200, height=700):
        self.driver = subprocess.Popen([CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        try:
            self.session = ""
            self.base = f"http://127.0.0.1:{self._port()}/session"
            args = ARGS + [f"--user-data-dir={profile_dir}", f"--window-size={width},{height}"]
            reply = self._call("POST", "", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"binary": CHROMIUM, "args": args},
                "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = "/" + reply["sessionId"]
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + self.session + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def open(self, path):
        """Returns when the file is loaded; none is an empty page."""
        self._call("POST", "/url", {"url": "file://" + path if path else "about:blank"})

    def js(self, body, *args):
        return self._call("POST", "/execute/sync", {"script": body, "args": list(args)})

    def js_async(self, body, *args):
        """As js(), for a body that calls done(value) at some time."""
        body = "const done = arguments[arguments.length - 1];" + body
        return self._call("POST", "/execute/async", {"script": body, "args": list(args)})

    def painted(self):
        """Waits for the next picture; returns the ms since the file was asked for."""
        return self.js_async("requestAnimationFrame(() => requestAnimationFrame(() =>"
                             "done(performance.now())));")

    def cpu_ms(self):
        """CPU time of each thread of all processes of the browser that live, by number."""
        children, ms = {}, {}
        for path in glob.glob("/proc/[0-9]*/stat"):
            fields = stat_fields(path)
            if fields:
                children.setdefault(int(fields[1]), []).append(int(path.split("/")[2]))
        todo = [self.driver.pid]
        while todo:
            pid = todo.pop()
            todo += children.get(pid, [])
            for path in glob.glob(f"/proc/{pid}/task/[0-9]*/stat"):
                fields = stat_fields(path)
                if fields:
                    ticks = int(fields[11]) + int(fields[12])
                    ms[int(path.split("/")[4])] = ticks * 1000 / os.sysconf("SC_CLK_TCK")
        return ms

    def own_ms(self, act):
        """What act() says it took, or what the busiest thread ran meanwhile, if that is less: the rest was for other
        programs, which also make threads wait that would run side by side."""
        before = self.cpu_ms()
        took = act()
        return min(took, max(ms - before.get(tid, 0) for tid, ms in self.cpu_ms().items()))

    def _act(self, kind, actions, **parameters):
        self._call("POST", "/actions", {"actions": [
            {"type": kind, "id": kind, "actions": actions, **parameters}]})

    def move(self, x, y):
        self._act("pointer", [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}],
                  parameters={"pointerType": "mouse"})

    def click(self, x, y):
        self.move(x, y)
        self._act("pointer", [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}],
                  parameters={"pointerType": "mouse"})

    def drag(self, x, y, to_x, to_y):
        self.move(x, y)
        self._act("pointer", [{"type": "pointerDown", "button": 0},
                              {"type": "pointerMove", "duration": 50, "x": round(to_x), "y": round(to_y)},
                              {"type": "pointerUp", "button": 0}], parameters={"pointerType": "mouse"})

    def press(self, *keys):
        """Keys by name or letter, held together: press("Control", "f")."""
        keys = [KEYS.get(key, key) for key in keys]
        self._act("key", [{"type": "keyDown", "value": key} for key in keys] +
                  [{"type": "keyUp", "value": key} for key in reversed(keys)])

    def type(self, text):
        for letter in text:
            self.press(letter)

    def resize(self, width, height):
        """The size of what the page sees."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        """dark or light, as the system would say."""
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def cdp(self, command, **params):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def console(self):
        """Messages since the last call: [(level, text)]."""
        return [(m["level"], m["message"]) for m in self._call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self._call("GET", "/screenshot")))
