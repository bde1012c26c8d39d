#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""edges.py SAVED_STACKS FILE.bpfprof [NAME=TWIN ...]: checks every caller -> callee pair of the user
stacks of a recording against machine code (machine_code.py): right before a return address stands a
call; and where it leads is the function of the frame below, or code from which jumps lead there.
Of a pointer in a register or in data that the program writes, nothing more can be checked.

Where functions begin is said by symbols; for a stripped file NAME also by those of TWIN, which has
the same code. Prints "LABEL WEIGHT SHARE EDGES" lines and the worst pairs that are wrong:

  direct     the call leads to the function
  tail       it leads to code that jumps there
  slot       it goes by a pointer that the loader writes, and that is the function's
  pointer    it goes by another pointer, or into a file where only the loader knows which function
  jumped     it leads to code that jumps by a pointer, perhaps there
  entered    nobody called: a goroutine was started, a signal or the Go runtime interrupted the code
  landing    an exception was just going over to its handler
  nocode     the caller is generated code, or its file cannot be read
  WRONG      it leads elsewhere
  NOTCALL    there is no call

The weight of a label is that of the stacks that have it. Exit status 0 when the weight of stacks with
a WRONG or NOTCALL pair is at most --most PERCENT (0.1) of all."""
import collections
import subprocess
import sys

from machine_code import Code

MOST_JUMPS = 6
USER = "1"
ENTERED = ("runtime.goexit", "runtime.asyncPreempt", "runtime.sigpanic", "runtime.sigtramp",
           "runtime.sigreturn__sigaction", "runtime.sigreturn", "__restore_rt", "__kernel_rt_sigreturn")
# At their end they put in the registers of a handler's frame: then the frame above them is the handler's function, which goes
# on at its landing pad and not behind a call. No unwind data describes these few instructions.
LANDS = ("_Unwind_Resume", "_Unwind_RaiseException", "_Unwind_ForcedUnwind", "_Unwind_Resume_or_Rethrow",
         "uw_install_context", "uw_install_context_1")


class Checker:
    def __init__(self, twins):
        self.twins, self.files, self.known = twins, {}, {}
        self.modules = {}

    def code(self, module):
        path = self.modules[module]
        if path not in self.files:
            self.files[path] = Code(path, self.twins.get(path.rsplit("/", 1)[-1]))
        return self.files[path]

    def prepare(self, stacks):
        """Has the files disassemble all that returns lead into, and all that is called there."""
        addresses = collections.defaultdict(set)
        for frames in stacks:
            for frame in frames[1:]:
                if frame[0] == USER:
                    addresses[frame[1]].add(int(frame[2], 16))
        for module, offsets in addresses.items():
            code = self.code(module)
            if code.starts:
                returns = [code.address(x) for x in offsets]
                code.prepare(returns)
                front = [code.call_to(x + 1) for x in returns if x is not None]
                for _ in range(MOST_JUMPS):
                    starts = {code.function(x[1]) for x in front if x and x[0] == "direct" and code.offset(x[1]) is not None}
                    code.prepare(starts)
                    front = [x for start in starts for x in code.jumps(start)]

    def restores(self, frame):
        code = self.code(frame[1])
        return code.starts and code.restores(int(frame[2], 16))

    def edge(self, caller, callee):
        if (caller, callee) not in self.known:
            self.known[caller, callee] = self.look(caller, callee)
        return self.known[caller, callee]

    def look(self, caller, callee):
        (kind, module, offset, name), (kind2, _, _, name2) = caller, callee
        if kind != USER:
            return "nocode"
        if name in ENTERED or name2 in ENTERED:
            return "entered"
        code = self.code(module)
        if not code.starts:
            return "nocode"
        if code.restores(int(offset, 16)) or (kind2 == USER and self.restores(callee)):
            return "entered"
        after = code.address(int(offset, 16))
        call = code.call_to(after + 1) if after is not None else None
        label = self.leads(code, call, callee) if call else "NOTCALL"
        return "landing" if label in ("WRONG", "NOTCALL") and name2 in LANDS else label

    def leads(self, code, goes, callee):
        """Do a call, and jumps behind it, lead to a function? Files whose callee is in another one do so by pointers."""
        best, seen = 0, set()
        labels = "WRONG", "jumped", "pointer", "slot", "tail", "direct"
        front = [(goes, "direct")]
        for depth in range(MOST_JUMPS):
            following = []
            for one, label in front:
                answer, start = self.step(code, one, callee)
                if answer:
                    answer = {"direct": label, "pointer": "jumped" if depth else "pointer"}.get(answer, answer)
                    best = max(best, labels.index(answer))
                elif start is not None and start not in seen:
                    seen.add(start)
                    following += [(x, "slot" if one[0] == "slot" else "tail") for x in code.jumps(start)]
            front = following
        return labels[best]

    def step(self, code, goes, callee):
        """A label when it is there, or cannot be followed; else the function that it leads to."""
        how, at = goes
        if how == "pointer":
            return "pointer", None
        if how == "slot":
            slot = code.slots.get(at)
            if not slot:
                return "pointer", None
            if slot.name:
                return self.by_name(code, slot, callee), None
            at = slot.address
        start = code.function(at) if code.offset(at) is not None else None
        if start is not None and self.is_in(code, start, callee):
            return "slot" if how == "slot" else "direct", None
        return None, start

    def is_in(self, code, start, callee):
        kind, module, offset, _ = callee
        if kind != USER or self.code(module) is not code:
            return False
        return code.function(code.address(int(offset, 16))) == start

    def by_name(self, code, slot, callee):
        """The loader decided which file's function of that name it is. Where the callee's file has none, or the name leads
        on from there, only the loader knows."""
        kind, module, _, _ = callee
        other = self.code(module) if kind == USER else None
        if other and other.starts:
            for at in other.dynamic.get(slot.name, ()):
                if self.is_in(other, other.function(at), callee):
                    return "slot"
        return "pointer"


def main():
    words = sys.argv[1:]
    most = 0.1
    if "--most" in words:
        i = words.index("--most")
        most = float(words[i + 1])
        del words[i:i + 2]
    checker = Checker(dict(w.split("=", 1) for w in words[2:]))
    edges, weights, wrong = collections.Counter(), collections.Counter(), collections.Counter()
    bad = total = rooted = 0
    stacks = []
    for line in subprocess.run(words[:2], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, rest = line[0], line[2:]
        if kind == "m":
            number, _, path = rest.partition(" ")
            checker.modules[number] = path
            continue
        weight, end, *frames = rest.split(" ")
        stacks.append((int(weight), end, [tuple(f.split(":", 3)) for f in frames]))
    checker.prepare(x[2] for x in stacks)
    for weight, end, frames in stacks:
        labels = set()
        for callee, caller in zip(frames, frames[1:]):
            label = checker.edge(caller, callee)
            edges[label] += 1
            if label not in labels:
                weights[label] += weight
            labels.add(label)
            if label in ("WRONG", "NOTCALL"):
                wrong[label, caller, callee] += weight
        total += weight
        rooted += weight * (end == "r")
        bad += weight * bool(labels & {"WRONG", "NOTCALL"})
    for label, weight in weights.most_common():
        print("%-8s %16d %7.3f %% %8d" % (label, weight, 100.0 * weight / max(total, 1), edges[label]))
    for (label, caller, callee), weight in wrong.most_common(12):
        print("# %s %.3f %% %s -> %s (%s:%s %s)" % (label, 100.0 * weight / total, caller[3], callee[3],
                                                checker.modules[caller[1]], caller[2], callee[2]))
    print("stacks %d rooted %.3f %% verified %.3f %%" % (total, 100.0 * rooted / max(total, 1),
                                                     100.0 * (total - bad) / max(total, 1)))
    sys.exit(0 if total and 100.0 * bad <= most * total else 1)


main()
