# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs a recording once for each of many allocations, with that one refused (tests/progs/starves.c).

    starved.py BPFPROF SHIM FOLDER WHOM TRIES STACK COMMAND...

WHOM: "children" of the recorder, or "main". By day TRIES allocations, spread over all that there are, the first ones
closest; with NIGHTLY ten times as many. COMMAND writes FOLDER/x.folded and FOLDER/x.json. A run must end by itself.
When a child has no memory there is a result: its ledger closes, STACK (a pattern) has the weight that it has without
a refusal, and what is missing is named. When the main process has none, there is a result, or one sentence. It
leaves neither processes nor files but a whole result.
"""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

from sessions import processes_of

LIMIT_S = 60
SENTENCE = r"no names|no memory|[Mm]emory|died|broke|walked by frame pointer|read|hung or were ended|missing"


class Starved:
    def __init__(self, argv):
        self.bpfprof, self.shim, self.folder, self.whom, tries, self.stack = argv[:6]
        self.tries = int(tries) * (10 if os.environ.get("NIGHTLY") else 1)
        self.command = argv[6:]
        self.folded, self.json = (os.path.join(self.folder, name) for name in ("x.folded", "x.json"))
        self.usual = self.usual_lines = 0
        self.runs = self.told = self.refusals = self.results = 0

    def run(self, at, on):
        """Exit status or None, what was said, the most allocations of one process, refusals."""
        counts = os.path.join(self.folder, ".counts")
        with open(counts, "wb") as f:
            f.write(bytes(16))
        for path in (self.folded, self.json):
            if os.path.exists(path):
                os.unlink(path)
        env = dict(os.environ, LD_PRELOAD=self.shim, STARVE_WHOM=self.whom, STARVE_AT=str(at), STARVE_COUNTS=counts)
        if on:
            env["STARVE_ON"] = "1"
        child = subprocess.Popen([self.bpfprof, *self.command], env=env, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace", start_new_session=True)
        self.runs += 1
        try:
            said, status = child.communicate(timeout=LIMIT_S)[1], child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            said, status = child.communicate()[1], None
        self.orphans = processes_of(child.pid, 3)
        return (status, said, *struct.unpack("QQ", open(counts, "rb").read()))

    def weight(self):
        """Of the stack that is looked for, as a share of all."""
        rows = [line.rsplit(" ", 1) for line in open(self.folded, errors="replace")]
        total = sum(int(n) for _, n in rows)
        return sum(int(n) for stack, n in rows if re.search(self.stack, stack)) / total if total else 0

    def judge_result(self):
        samples = json.load(open(self.json))["samples"]
        if samples["seen"] != samples["recorded"] + samples["filtered"] + samples["lost"]:
            return "the ledger is open"
        if not samples["recorded"] or not os.path.getsize(self.folded):
            return "an empty result"
        self.results += 1
        return None

    def judge(self, status, said, refused, on):
        sentences = [line for line in said.splitlines() if line.startswith("bpfprof: ")]
        if status is None:
            return f"hangs: more than {LIMIT_S} s"
        if self.orphans:
            return f"leaves processes {self.orphans}"
        left = [f for f in os.listdir(self.folder) if f not in (".counts", "x.folded", "x.json")]
        if left:
            return f"leaves {left}"
        if status == 0:
            why = self.judge_result()
            lost = self.weight() < self.usual - 0.1
            self.told += bool(sentences)
            if lost and refused and not re.search(SENTENCE, said):
                return f"only {self.weight():.2f} instead of {self.usual:.2f} have {self.stack}, and nothing is said"
            return why
        if self.whom == "children" or status not in (1, 77):
            return f"exit status {status}"
        if os.path.exists(self.folded) or os.path.exists(self.json):
            return "a result of a run that failed"
        errors = [line for line in sentences if not line.startswith("bpfprof: warning: ")]
        self.told += 1
        return None if len(errors) == 1 and re.search("[Mm]emory", errors[0]) else f"{len(errors)} sentences"

    def one(self, at, on=False):
        status, said, _, refused = self.run(at, on)
        self.refusals += refused > 0
        why = self.judge(status, said, refused, on)
        if os.environ.get("SHOW"):
            print(f"# {at}{' on' if on else ''}: {status} {refused} {why or 'fine'}: {said.strip()[:300]!r}", flush=True)
        return f"allocation {at}{' and all after it' if on else ''}: {why}: {said.strip()[:400]!r}" if why else None


def spread(most, tries):
    """The first ones one by one, then further and further apart."""
    at, found = 1, []
    ratio = max(1.0, most) ** (1 / max(1, tries))
    while len(found) < tries and at <= most:
        found.append(at)
        at = max(at + 1, int(at * ratio))
    return found


def main():
    s = Starved(sys.argv[1:])
    status, said, most, _ = s.run(0, False)
    what = f"{s.command[0]}, {s.whom}"
    if status != 0 or not most:
        print(f"not ok {what}: without a refusal: status {status}, {most} allocations: {said.strip()[-300:]!r}")
        return
    s.usual = s.weight()
    print(f"{'ok' if s.usual > 0.5 else 'not ok'} {what}: without a refusal {s.usual:.2f} have {s.stack}")
    some = spread(most, s.tries)
    bad = [s.one(at) for at in some] + [s.one(at, True) for at in some[:: max(1, len(some) // 5)]]
    bad = [why for why in bad if why]
    for why in bad[:40]:
        print(f"# {why}")
    print(f"{'not ok' if bad else 'ok'} {what}: of {most} allocations, in {s.runs} runs, {len(bad)} wrong; "
          f"{s.results} with a result, {s.told} said something")
    print(f"{'ok' if s.refusals >= s.runs / 2 else 'not ok'} {what}: {s.refusals} runs had a refusal")


main()
