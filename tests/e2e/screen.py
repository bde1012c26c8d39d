# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program on a real terminal emulator (tmux), for tests: keys go in, what is seen comes out."""
import os
import re
import subprocess
import time


class Screen:
    def __init__(self, columns=80, rows=24, folder=None):
        self.tmux = ["tmux", "-S", os.path.join(folder or os.environ["TMP"], "tmux"), "-f", "/dev/null"]
        self.run("new-session", "-d", "-s", "a", "-x", str(columns), "-y", str(rows),
                 "env -u TMUX PS1='ready$ ' bash --norc --noprofile")
        self.wait("^ready")

    def run(self, *words):
        done = subprocess.run(self.tmux + list(words), check=True, capture_output=True, text=True)
        return done.stdout

    def close(self):
        subprocess.run(self.tmux + ["kill-server"], capture_output=True, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def lines(self, colours=False):
        shown = self.run("capture-pane", "-p", *(["-e"] if colours else []), "-t", "a")
        return [line.rstrip() for line in shown.split("\n")][:-1]

    def value(self, name):
        return self.run("display-message", "-p", "-t", "a", "#{%s}" % name).strip()

    def until(self, what, good, seconds=15):
        end = time.time() + seconds
        while not good():
            assert time.time() < end, "%s: not seen in\n%s" % (what, "\n".join(self.lines()))
            time.sleep(0.03)

    def wait(self, pattern):
        """Until a line matches; returns all."""
        self.until(pattern, lambda: any(re.search(pattern, line) for line in self.lines()))
        return self.lines()

    def settle(self):
        """Until nothing changes any more."""
        before, same = None, 0
        while same < 3:
            now = self.lines(True)
            same = same + 1 if now == before else 0
            before = now
            time.sleep(0.05)
        return self.lines()

    def keys(self, *keys):
        for key in keys:
            self.run("send-keys", "-t", "a", key)
        return self.settle()

    def text(self, text):
        self.run("send-keys", "-t", "a", "-l", "--", text)
        return self.settle()

    def start(self, command, pattern):
        self.keys("C-l")
        self.run("send-keys", "-t", "a", "-l", "--", command)
        self.run("send-keys", "-t", "a", "Enter")
        self.wait(pattern)
        return self.settle()

    def command(self, command):
        """Of the shell: what it prints, once it is ready again."""
        self.run("send-keys", "-t", "a", "-l", "--", "clear; " + command + "; echo its status: $?")
        self.run("send-keys", "-t", "a", "Enter")
        self.wait("^its status: [0-9]")
        return self.settle()

    def resize(self, columns, rows):
        self.run("resize-window", "-t", "a", "-x", str(columns), "-y", str(rows))
        time.sleep(0.2)
        return self.settle()

    def selected(self):
        """The row that is shown the other way round."""
        rows = [line for line in self.lines(True)[3:] if re.search(r"\x1b\[(?:\d+;)*7m", line)]
        assert rows, "nothing is selected"
        return re.sub(r"\x1b\[[0-9;]*m|[\x0e\x0f]", "", rows[0]).rstrip()
