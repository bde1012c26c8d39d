#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""place_oracle.py OBJDUMP FILE PLACES...: checks what `places FILE` wrote against objdump's disassembly.

Of each place behind its entry: objdump has an instruction there, and one that kernels emulate; no branch in objdump's
output leads behind the entry up to the place; what is skipped are at most three instructions that follow each other,
have no memory operand, and have no argument register, nor with "return" in PLACES' name the stack pointer, as their
destination. Of Go it is the check of the stack that is skipped, as its compiler writes it, whose jump leads to a call of
runtime.morestack; what is behind may be dear. Prints one line for each mistake and a sum; exit status 1 when there is a mistake.
"""

import re
import subprocess
import sys

X86_ARGS = [r"[er]?ax|al|ah", r"[er]?cx|cl|ch", r"[er]?dx|dl|dh", r"[er]?si|sil", r"[er]?di|dil",
            r"r8[dwb]?", r"r9[dwb]?", r"r10[dwb]?"]
X86_ARG = re.compile("%(" + "|".join(X86_ARGS) + ")$")
X86_STACK = re.compile("%([er]?sp|spl)$")
X86_CHEAP = re.compile(r"(push|nop|xchg %ax,%ax|(bnd )?j[a-z]+(,p[nt])?|(bnd )?call)\b")
X86_NO_RESULT = ("test", "cmp", "nop", "endbr64", "data16", "cs")
ARM64_ARG = re.compile(r"[wx][0-8]$")
ARM64_STACK = re.compile(r"(sp|[wx]30)$")
ARM64_CHEAP = re.compile(r"(b|bl|br|blr|ret|b\.\w+|cbn?z|tbn?z|adrp?|ldr|ldrsw|nop)\b")
ARM64_NO_RESULT = ("tst", "cmp", "cmn", "nop", "bti", "hint", "paciasp", "pacibsp", "paciaz", "ccmp")
ARM64_TARGET = re.compile(r"(?:b|bl|b\.\w+|cbn?z|tbn?z)\b.*?\b(?:0x)?([0-9a-f]{3,})(?: <|$)")
# Of x86-64 and aarch64: what the check is made of, and its jumps.
GO_CHECK = re.compile(r"mov +%fs:0xfffffffffffffff8,%r14$|lea +-0x[0-9a-f]+\(%rsp\),%r12$|mov +%rsp,%r12$|sub +\$0x[0-9a-f]+,%r12$|"
                      r"cmp +0x1[08]\(%r14\),%(rsp|r12)$|jbe? |"
                      r"ldr\s+x16, \[x28, #(16|24)\]$|mov\w?\s+x27, |subs?\s+x17, sp, |sub\s+x17, x17, |cmp\s+(sp|x17), x16$|"
                      r"b\.(ls|lo|cc)\s")
GO_JUMP = re.compile(r"(?:jbe?|b\.(?:ls|lo|cc))\s+(?:0x)?([0-9a-f]+)")
LINE = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
X86_TARGET = re.compile(r"(?:j[a-z]+|call|loop[a-z]*|xbegin)q?(?:,p[nt])? +(?:0x)?([0-9a-f]+)\b")


class Code:
    """What objdump says of a file."""

    def __init__(self, path, objdump):
        self.text = {}
        self.follows = {}
        self.targets = set()
        self.arm64 = "aarch64" in subprocess.run([objdump, "-f", path], capture_output=True, text=True).stdout
        target = ARM64_TARGET if self.arm64 else X86_TARGET
        run = subprocess.Popen([objdump, "-d", "-w", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True)
        before = None
        for line in run.stdout:
            m = LINE.match(line)
            if not m:
                continue
            at = int(m[1], 16)
            self.text[at] = m[2]
            if before is not None:
                self.follows[before] = at
            before = at
            t = target.search(m[2])
            if t:
                self.targets.add(int(t[1], 16))
        if run.wait() or not self.targets:
            sys.exit(f"{objdump} cannot read {path}")

    def operands(self, text):
        """Mnemonic and operands, without prefixes, comments and symbols."""
        text = re.sub(r"\s+(#|//) .*|<.*", "", text).replace("\t", " ").strip()
        mnemonic, _, rest = text.partition(" ")
        return mnemonic, [o.strip() for o in rest.split(",") if o.strip()] if "(" not in rest else [rest]

    def writes(self, text, keep_stack):
        """Why an instruction must not be skipped, or None."""
        mnemonic, operands = self.operands(text)
        if mnemonic in (ARM64_NO_RESULT if self.arm64 else X86_NO_RESULT) or mnemonic.startswith(("nop", "test", "cmp")):
            if mnemonic.startswith("paci") and keep_stack:
                return "signs the return address"
            return None if "(" not in text or "nop" in text else "uses memory"
        if self.arm64:
            if "[" in text:
                return "uses memory"
            result, arg, stack = operands[0], ARM64_ARG, ARM64_STACK
        else:
            if "(" in text and not mnemonic.startswith("lea"):
                return "uses memory"
            result, arg, stack = re.split(r",(?![^(]*\))", operands[-1])[-1], X86_ARG, X86_STACK
        if not re.match(r"%?[a-z]", result):
            return f"has no register as result: {result}"
        if arg.match(result):
            return f"writes {result}"
        if keep_stack and stack.match(result):
            return f"writes {result}"
        return None

    def is_go_check(self, entry, place):
        """Is it that, and nothing else, what lies between?"""
        at, jumps = entry, []
        while at < place:
            text = re.sub(r"\s+(#|//) .*", "", self.text[at]).replace("\t", " ").strip()
            jump = GO_JUMP.match(text)
            if not GO_CHECK.match(text):
                return False
            if jump:
                jumps.append(int(jump[1], 16))
            at = self.follows[at]
        if at != place or len(set(jumps)) != 1:
            return False
        at = jumps[0]
        for _ in range(40):
            if re.match(r"(callq?|bl)\s", self.text[at]):
                return "<" not in self.text[at] or "<runtime.morestack" in self.text[at]
            at = self.follows[at]
        return False

    def check(self, entry, place, skipped, keep_stack):
        """The first mistake of a place, or None."""
        cheap = ARM64_CHEAP if self.arm64 else X86_CHEAP
        if place not in self.text:
            return "objdump has no instruction there"
        if self.is_go_check(entry, place):
            return None
        if not cheap.match(self.text[place]) or "*" in self.text[place].split("<")[0]:
            return f"not emulated: {self.text[place]}"
        at = entry
        for _ in range(skipped):
            why = self.writes(self.text[at], keep_stack)
            if why:
                return f"{self.text[at]}: {why}"
            at = self.follows[at]
        if at != place or skipped > 3:
            return f"{skipped} instructions lead to {at:x}"
        return None

    def entered(self, entry, place):
        """A branch that leads between them, or None."""
        for byte in range(entry + 1, place + 1):
            if byte in self.targets:
                return f"a branch leads to {byte:x}"
        return None


def check_places(code, places):
    """Prints the mistakes in a list; how many were checked, and how many are wrong."""
    checked = wrong = 0
    with open(places, encoding="utf-8") as rows:
        for row in rows:
            fields = row.split(" ")
            if fields[0] == "table:" or fields[2] == "0":
                continue
            entry, place = int(fields[0], 16), int(fields[1], 16)
            why = code.check(entry, place, int(fields[2]), "return" in places) or code.entered(entry, place)
            checked += 1
            if why:
                wrong += 1
                print(f"{fields[4]} at {entry:x}, placed at {place:x}: {why}")
    return checked, wrong


def main():
    code = Code(sys.argv[2], sys.argv[1])
    sums = [check_places(code, places) for places in sys.argv[3:]]
    checked, wrong = (sum(column) for column in zip(*sums))
    print(f"{checked} places behind their entries, {wrong} wrong; {len(code.text)} instructions, "
          f"{len(code.targets)} branch targets")
    sys.exit(1 if wrong or not checked else 0)


main()
