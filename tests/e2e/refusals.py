# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs a command once for each system call of a kind and each error, with that call refused (tests/progs/refuses.c).

    refusals.py BPFPROF SHIM FOLDER CALL STEP COMMAND...

CALL is bpf or perf_event_open; each STEP-th of its calls is tried, with one error after the other, or with NIGHTLY set
with each. COMMAND writes its result to $OUTPUT, a name in FOLDER. A run must end by itself: with a result, or with one
sentence that names who refused and the way out. It leaves nothing behind but a complete result.
"""
import errno
import os
import re
import subprocess
import sys

from sessions import processes_of

# What a sentence must say of each error: the cause in words, and what to do.
REMEDIES = {
    "EPERM": r"CAP_BPF|CAP_PERFMON|perf_event_paranoid|seccomp",
    "ENOMEM": r"memory.*(--max-mem|limit)",
    "EMFILE": r"ulimit -n",
    "EINVAL": r"-v (shows|says) why|kernel|bpfprof list",
    "E2BIG": r"-v (shows|says) why|kernel",
    "ENOSPC": r"-v (shows|says) why|fewer|kernel",
}
# What perf_event_open() says besides: events that there are none of, or that somebody has.
MORE_OF_EVENTS = {
    "EACCES": r"CAP_PERFMON|perf_event_paranoid|seccomp",
    "ENFILE": r"fs\.file-max",
    "ENOENT": r"-v (shows|says) why|kernel|bpfprof list|PMU|-e ",
    "EOPNOTSUPP": r"-v (shows|says) why|kernel|bpfprof list|PMU|-e ",
    "EBUSY": r"-v (shows|says) why|others|another|kernel|fewer",
    "ENODEV": r"-v (shows|says) why|kernel|bpfprof list|PMU|-e ",
    "ESRCH": r"-v (shows|says) why|kernel|exited|no process|bpfprof list",
}
LIMIT_S = 20
ENDS = (0, 1, 3, 77)  # a result; a failure; nothing was counted; a host that cannot


class Refusal:
    def __init__(self, argv):
        self.bpfprof, self.shim, self.folder, self.call, step = argv[:5]
        self.step = int(step)
        self.all = bool(os.environ.get("NIGHTLY"))
        self.command = argv[5:]
        self.output = os.path.join(self.folder, "result.json")
        self.log = os.path.join(self.folder, ".log")
        self.remedies = REMEDIES | (MORE_OF_EVENTS if self.call == "perf_event_open" else {})
        self.bad = []
        self.runs = 0
        self.results = 0

    def run(self, at, name, on=False):
        """Exit status or None, what was said, calls seen."""
        env = dict(os.environ, LD_PRELOAD=self.shim, REFUSE_CALL=self.call, REFUSE_AT=str(at),
                   REFUSE_ERRNO=str(getattr(errno, name)), REFUSE_LOG=self.log)
        if on:
            env["REFUSE_ON"] = "1"
        for path in (self.output, self.log):
            if os.path.exists(path):
                os.unlink(path)
        words = [self.output if w == "OUTPUT" else w for w in self.command]
        self.runs += 1
        try:
            child = subprocess.Popen([self.bpfprof, *words], env=env, stdin=subprocess.DEVNULL, text=True,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace",
                                     start_new_session=True)
            said = child.communicate(timeout=LIMIT_S)[1]
            status = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            status, said = None, child.communicate()[1]
        self.orphans = processes_of(child.pid, 1)
        log = open(self.log).read() if os.path.exists(self.log) else ""
        found = re.match(r"(\d+) calls, (\d+) refused, (-?\d+) of", log)
        return status, said, [int(n) for n in found.groups()] if found else [0, 0, -1]

    def judge(self, name, status, said, refused):
        if status is None:
            return f"hangs: more than {LIMIT_S} s"
        if status not in ENDS:
            return f"exit status {status}"
        if self.orphans:
            return f"leaves processes {self.orphans}"
        left = [f for f in os.listdir(self.folder) if f not in (".log", "result.json")]
        if left:
            return f"leaves {left}"
        if status == 0:
            self.results += 1
            has = "OUTPUT" not in self.command or os.path.exists(self.output) and os.path.getsize(self.output)
            return None if has else "no result"
        if os.path.exists(self.output) and status != 3 and "'bpfprof list' shows what can" not in said:
            return "a result of a run that failed"
        if not refused:
            return "failed without a refusal"
        lines = [line for line in said.splitlines() if line.startswith("bpfprof: ") and
                 not line.startswith("bpfprof: warning: ")]
        if len(lines) != 1:
            return f"{len(lines)} sentences"
        if not re.search(self.remedies[name], lines[0]):
            return "no way out"
        return None

    def one(self, at, name, on=False):
        status, said, (_, refused, which) = self.run(at, name, on)
        why = self.judge(name, status, said, refused)
        if os.environ.get("SHOW"):
            print(f"# {at} {name} cmd={which} status={status} {why or 'fine'}: {said.strip()[-240:]!r}", flush=True)
        if why:
            self.bad.append(f"call {at} (command {which}) with {name}: {why}: {said.strip()[:300]!r}")


def main():
    r = Refusal(sys.argv[1:])
    what = f"{r.command[0]}: {r.call}()"
    status, said, (calls, _, _) = r.run(0, "EPERM")
    if status != 0 or not calls:
        print(f"not ok {what} fails without a refusal: status {status}, {calls} calls: {said.strip()[-300:]!r}")
        return
    names = list(r.remedies)
    for i, at in enumerate(range(1, calls + 1, r.step)):
        for name in names if r.all else [names[i % len(names)]]:
            r.one(at, name)
    for name in names if r.all else ["EPERM", "ENOMEM"]:
        r.one(1, name, on=True)
    for why in r.bad[:40]:
        print(f"# {why}")
    print(f"{'not ok' if r.bad else 'ok'} {what}: of {calls} calls, in {r.runs} runs, {len(r.bad)} wrong, "
          f"{r.results} with a result")


main()
