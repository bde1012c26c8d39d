#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""edges.py SAVED_STACKS FILE.bpfprof [PATH=TWIN ...]: checks every caller -> callee pair of the user
stacks of a recording against machine code, by objdump: right before a return address stands a call;
and where a direct call leads is the function of the frame below, or code from which jumps lead there.
Of an indirect call, or a jump by a pointer, only that it is one can be checked. x86-64 and aarch64.

Where functions begin is said by symbols; for a stripped PATH by those of TWIN, which has the same
code; else by .eh_frame. Prints "LABEL WEIGHT SHARE EDGES" lines and the worst pairs that are wrong:

  direct     the call leads to the function
  tail       it leads to code that jumps there, also through the procedure linkage table
  pointer    it goes by a pointer, or by a jump by one
  entered    nobody called: a goroutine was started, a signal or the Go runtime interrupted the code
  nocode     generated code, no file, or one too large to read
  WRONG      it leads elsewhere
  NOTCALL    there is no call

The weight of a pair is that of the stacks that have it. Exit status 0 when the weight of stacks with
a WRONG or NOTCALL pair is at most --most PERCENT (0.1) of all."""
import bisect
import collections
import os
import re
import struct
import subprocess
import sys

MOST_TEXT = 64 << 20
MOST_JUMPS = 6
USER = "1"
RESTORERS = (b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\x68\x11\x80\xd2\x01\0\0\xd4")  # call rt_sigreturn
ENTERED = ("runtime.goexit", "runtime.asyncPreempt", "runtime.sigpanic", "runtime.sigtramp",
           "runtime.sigreturn__sigaction", "runtime.sigreturn", "__restore_rt")


class Code:
    """Functions and calls of one file."""

    def __init__(self, path, twin):
        self.starts, self.names, self.insns, self.good = [], {}, {}, False
        self.memory = {}
        try:
            self.image = open(path, "rb").read()
            self.read_segments()
            self.disassemble(twin or path)
        except (OSError, ValueError, struct.error):
            return
        self.good = bool(self.starts)

    def read_segments(self):
        if self.image[:4] != b"\x7fELF":
            raise ValueError
        self.is_arm = struct.unpack_from("<H", self.image, 18)[0] == 183
        at, = struct.unpack_from("<Q", self.image, 32)
        size, nr = struct.unpack_from("<HH", self.image, 54)
        self.loads = []
        for i in range(nr):
            kind, flags, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", self.image, at + i * size)
            if kind == 1 and flags & 1:
                self.loads.append((offset, vaddr, filesz))
        if sum(x[2] for x in self.loads) > MOST_TEXT:
            raise ValueError

    def restores(self, offset):
        """Is it what signal handlers return to? Whoever stands there was interrupted, and has called nobody."""
        return any(self.image.startswith(x, offset + 1) for x in RESTORERS)

    def address(self, offset):
        for start, vaddr, size in self.loads:
            if start <= offset < start + size:
                return offset - start + vaddr
        return None

    def disassemble(self, path):
        tool = "aarch64-linux-gnu-objdump" if self.is_arm and os.uname().machine != "aarch64" else "objdump"
        out = subprocess.run([tool, "-d", "-w", "--no-show-raw-insn", path], capture_output=True, text=True)
        self.order = []
        for line in out.stdout.splitlines():
            head = re.match(r"([0-9a-f]{8,16}) <(.*)>:$", line)
            if head:
                at = int(head[1], 16)
                self.starts.append(at)
                self.names[at] = head[2]
                continue
            insn = re.match(r" *([0-9a-f]+):\t(.*)", line)
            if insn:
                at = int(insn[1], 16)
                self.order.append(at)
                self.insns[at] = insn[2]
        if len(self.starts) < 100:
            self.add_starts(path)
        self.starts.sort()

    def add_starts(self, path):
        out = subprocess.run(["readelf", "--debug-dump=frames", path], capture_output=True, text=True)
        for at in re.findall(r" FDE .* pc=([0-9a-f]+)\.\.", out.stdout):
            if int(at, 16) not in self.names:
                self.starts.append(int(at, 16))
                self.names[int(at, 16)] = "?"

    def function(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.starts[i] if i >= 0 else None

    def call_to(self, after):
        """The call that returns there: ("direct", target), ("pointer", None), or None."""
        i = bisect.bisect_left(self.order, after) - 1
        if i < 0 or (i + 1 < len(self.order) and self.order[i + 1] != after):
            return None
        return kind_of(self.insns[self.order[i]], ("call", "notrack call", "bnd call", "lcall", "bl", "blr", "blraa", "blraaz"))

    def jumps(self, start):
        """Where a function jumps to outside of itself, and whether it jumps by a pointer."""
        if start in self.memory:
            return self.memory[start]
        i = bisect.bisect_right(self.starts, start)
        end = self.starts[i] if i < len(self.starts) else start + 4096
        targets, pointer = set(), False
        for at in self.order[bisect.bisect_left(self.order, start):bisect.bisect_left(self.order, end)]:
            jump = kind_of(self.insns[at], None)
            if jump and jump[0] == "pointer":
                pointer = True
            elif jump and not start <= jump[1] < end:
                targets.add(jump[1])
        # What falls through into the next function.
        if not targets and not pointer and i < len(self.starts):
            targets.add(end)
        self.memory[start] = targets, pointer
        return self.memory[start]

    def leads(self, target, to):
        """Do jumps lead from an address to a function? "direct", "tail", "pointer" or None."""
        if self.function(target) == to:
            return "direct"
        seen, front, pointer = set(), [target], False
        for _ in range(MOST_JUMPS):
            following = []
            for at in front:
                start = self.function(at)
                if start is None or start in seen:
                    continue
                seen.add(start)
                targets, by_pointer = self.jumps(start)
                pointer |= by_pointer
                following += targets
            if any(self.function(x) == to for x in following):
                return "tail"
            front = following
        return "pointer" if pointer else None


def kind_of(insn, calls):
    """Of a call (calls: its names) or a jump."""
    word = re.match(r"((?:notrack |bnd |repz )?\S+)\s*(.*)", insn)
    name, operand = word[1], word[2]
    if calls is None:
        if not re.match(r"(notrack |bnd )?(j[a-z]+|b|b\.\w+|br|braa\w*|cbn?z|tbn?z)$", name):
            return None
    elif name not in calls:
        return None
    where = re.search(r"(?:^|, *)([0-9a-f]+)(?: <.*>)?$", operand)
    if where and "*" not in operand and name not in ("br", "blr"):
        return "direct", int(where[1], 16)
    return "pointer", None


class Checker:
    def __init__(self, twins):
        self.twins, self.files, self.known = twins, {}, {}
        self.modules = {}

    def code(self, module):
        path = self.modules[module]
        if path not in self.files:
            self.files[path] = Code(path, self.twins.get(path.rsplit("/", 1)[-1]))
        return self.files[path]

    def restores(self, frame):
        code = self.code(frame[1])
        return code.good and code.restores(int(frame[2], 16))

    def edge(self, caller, callee):
        if (caller, callee) not in self.known:
            self.known[caller, callee] = self.look(caller, callee)
        return self.known[caller, callee]

    def look(self, caller, callee):
        (kind, module, offset, name), (kind2, module2, offset2, name2) = caller, callee
        if kind != USER:
            return "nocode"
        if name in ENTERED or name2 in ENTERED:
            return "entered"
        code = self.code(module)
        if not code.good:
            return "nocode"
        if code.restores(int(offset, 16)) or (kind2 == USER and self.restores(callee)):
            return "entered"
        after = code.address(int(offset, 16))
        call = code.call_to(after + 1) if after is not None else None
        if not call:
            return "NOTCALL"
        if call[0] == "pointer":
            return "pointer"
        if kind2 != USER or module != module2:
            start = code.function(call[1])
            return "tail" if code.jumps(start)[1] or code.jumps(start)[0] else "WRONG"
        to = code.address(int(offset2, 16))
        return code.leads(call[1], code.function(to)) or "WRONG"


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
    for line in subprocess.run(words[:2], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, rest = line[0], line[2:]
        if kind == "m":
            number, _, path = rest.partition(" ")
            checker.modules[number] = path
            continue
        weight, end, *frames = rest.split(" ")
        weight, frames = int(weight), [tuple(f.split(":", 3)) for f in frames]
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
