# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The machine code of one ELF file: where its functions begin, and of each what it calls and where it jumps. x86-64 by
objdump, aarch64 by itself. Only functions that are asked for are disassembled, so files may have any size.

Functions begin where symbols of functions, .eh_frame_hdr and the procedure linkage table say so. Of a call or jump is said
where it goes: ("direct", address), ("slot", address of the pointer, where an instruction names it) or ("pointer", None)."""
import bisect
import collections
import mmap
import re
import struct
import subprocess
import tempfile

ARM = 183
PADDING = 32
MOST_FUNCTION = 1 << 20
PREFIXES = r"(?:(?:notrack|bnd|repz|data16|cs|rex\.W) )*"
CALL = re.compile(PREFIXES + "l?call")
JUMP = re.compile(PREFIXES + "j[a-z]+")
ENDS = re.compile(PREFIXES + r"(?:ret|jmp|ud2|hlt|call)|\(bad\)")  # who ends with a call calls what ends
RESTORERS = (b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\x68\x11\x80\xd2\x01\0\0\xd4")  # call rt_sigreturn
SHF_EXECINSTR = 4
SHT_SYMTAB, SHT_RELA, SHT_DYNSYM = 2, 4, 11
STT_FUNC, STT_GNU_IFUNC = 2, 10
RELATIVE, GLOBAL = (8, 1027), (6, 7, 1025, 1026)  # types of relocations

Function = collections.namedtuple("Function", "calls jumps falls")
Slot = collections.namedtuple("Slot", "name address")


def words(data, kind):
    usable = len(data) - len(data) % struct.calcsize(kind)
    return struct.iter_unpack(kind, data[:usable])


class Code:
    def __init__(self, path, twin=None):
        """Symbols of twin count where path has the same code and none."""
        self.starts, self.dynamic, self.slots, self.read = [], {}, {}, {}
        try:
            with open(path, "rb") as f:
                self.image = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            self.read_headers()
            starts = set(self.frame_starts()) | set(self.plt_starts()) | set(self.symbol_starts())
            if twin and twin != path:
                starts |= set(Code(twin).starts)
            self.read_slots()
        except (OSError, ValueError, struct.error, IndexError):
            return
        self.starts = sorted(x for x in starts if self.offset(x) is not None)

    def read_headers(self):
        if self.image[:6] != b"\x7fELF\2\1":
            raise ValueError
        self.is_arm = struct.unpack_from("<H", self.image, 18)[0] == ARM
        phoff, shoff = struct.unpack_from("<QQ", self.image, 32)
        phsize, phnum, shsize, shnum, names = struct.unpack_from("<5H", self.image, 54)
        self.loads, self.sections = [], []
        for i in range(phnum):
            kind, flags, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", self.image, phoff + i * phsize)
            if kind == 1:
                self.loads.append((offset, vaddr, size, flags & 1))
        for i in range(shnum):
            self.sections.append(struct.unpack_from("<IIQQQQIIQQ", self.image, shoff + i * shsize))
        strings = self.sections[names] if names < shnum else None
        self.names = [self.string(strings, s[0]) for s in self.sections]

    def bytes_of(self, section):
        return self.image[section[4]:section[4] + section[5]] if section[1] != 8 else b""

    def string(self, section, at):
        at += section[4]
        return self.image[at:self.image.find(b"\0", at)].decode(errors="replace")

    def address(self, offset):
        for start, vaddr, size, executable in self.loads:
            if executable and start <= offset < start + size:
                return offset - start + vaddr
        return None

    def offset(self, address, executable=1):
        for start, vaddr, size, flags in self.loads:
            if flags >= executable and vaddr <= address < vaddr + size:
                return address - vaddr + start
        return None

    # Where functions begin.

    def symbol_starts(self):
        for section in self.sections:
            if section[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            for name, info, _, index, value, _ in words(self.bytes_of(section), "<IBBHQQ"):
                if info & 15 not in (STT_FUNC, STT_GNU_IFUNC) or not 0 < index < 0xff00:
                    continue
                yield value
                if section[1] == SHT_DYNSYM and info & 15 == STT_FUNC:
                    self.dynamic.setdefault(self.string(self.sections[section[6]], name), set()).add(value)

    def frame_starts(self):
        """The table of .eh_frame_hdr, as every linker writes it."""
        for section, name in zip(self.sections, self.names):
            data = self.bytes_of(section)
            if name == ".eh_frame_hdr" and data[:1] == b"\1" and data[2:4] == b"\3\x3b":
                for start, _ in words(data[12:12 + 8 * struct.unpack_from("<I", data, 8)[0]], "<ii"):
                    yield section[3] + start

    def plt_starts(self):
        for section, name in zip(self.sections, self.names):
            if name.startswith(".plt") and section[2] & SHF_EXECINSTR:
                yield from range(section[3], section[3] + section[5], section[9] or 16)

    def read_slots(self):
        """What the loader writes where: of a pointer, the function by name or by address."""
        for section in self.sections:
            if section[1] != SHT_RELA:
                continue
            symbols = self.sections[section[6]] if section[6] < len(self.sections) else None
            for at, info, addend in words(self.bytes_of(section), "<QQq"):
                if info & 0xffffffff in RELATIVE:
                    self.slots[at] = Slot(None, addend)
                elif info & 0xffffffff in GLOBAL and symbols and not addend:
                    name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.image, symbols[4] + 24 * (info >> 32))
                    self.slots[at] = Slot(self.string(self.sections[symbols[6]], name), value)

    def function(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.starts[i] if i >= 0 else None

    def end(self, start):
        i = bisect.bisect_right(self.starts, start)
        return min(self.starts[i] if i < len(self.starts) else start + 4096, start + MOST_FUNCTION)

    def restores(self, offset):
        """Is it what signal handlers return to? Whoever stands there was interrupted, and has called nobody."""
        return any(self.image[offset + 1:offset + 1 + len(x)] == x for x in RESTORERS)

    # What is in them.

    def prepare(self, addresses):
        """Disassembles the functions that hold these, which is much faster at once."""
        starts = sorted({self.function(x) for x in addresses if x is not None} - set(self.read) - {None})
        if not starts:
            return
        if self.is_arm:
            for start in starts:
                self.read[start] = self.decode_arm(start)
        else:
            self.objdump(starts)

    def get(self, start):
        if start not in self.read:
            self.prepare([start])
        return self.read[start]

    def text(self, start):
        offset = self.offset(start)
        return self.image[offset:offset + self.end(start) - start]

    def objdump(self, starts):
        """The functions one after the other, each behind NOPs, so that all begin with an instruction."""
        places, at = [], 0
        with tempfile.NamedTemporaryFile() as f:
            for start in starts:
                text = self.text(start)
                f.write(b"\x90" * PADDING + text)
                places.append((at + PADDING, at + PADDING + len(text), start))
                at += PADDING + len(text)
            f.flush()
            out = subprocess.run(["objdump", "-D", "-w", "--no-show-raw-insn", "-b", "binary", "-m", "i386:x86-64", f.name],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        insns = [line.split(":\t", 1) for line in out.splitlines() if ":\t" in line]
        del out
        ats = [int(x[0], 16) for x in insns]
        for begin, end, start in places:
            low, high = bisect.bisect_left(ats, begin), bisect.bisect_left(ats, end)
            self.read[start] = self.function_of(insns[low:high], ats[low:high] + [end], start - begin)

    def function_of(self, insns, ats, delta):
        calls, jumps = {}, []
        for (_, insn), after in zip(insns, ats[1:]):
            if CALL.match(insn):
                calls[after + delta] = self.goes(insn, delta)
            elif JUMP.match(insn):
                jumps.append(self.goes(insn, delta))
        last = next((x[1] for x in reversed(insns) if not re.match(r"(data16 |cs )*(nop|xchg +%ax,%ax|int3)", x[1])), "")
        return Function(calls, jumps, not ENDS.match(last))

    @staticmethod
    def goes(insn, delta):
        slot = re.search(r"\*[^#]*\(%rip\).*# 0x([0-9a-f]+)", insn)
        if slot:
            return "slot", (int(slot[1], 16) + delta) % (1 << 64)
        where = re.search(r"[ ,](?:0x)?([0-9a-f]+)$", insn)
        if where and "*" not in insn:
            return "direct", (int(where[1], 16) + delta) % (1 << 64)
        return "pointer", None

    def decode_arm(self, start):
        calls, jumps, last = {}, [], 0
        for i, (word,) in enumerate(words(self.text(start), "<I")):
            at = start + 4 * i
            if word >> 26 in (0x25, 0x05):  # bl, b
                goes = "direct", at + 4 * signed(word, 26)
                if word >> 31:
                    calls[at + 4] = goes
                else:
                    jumps.append(goes)
            elif word & 0xfedf0000 == 0xd61f0000:  # br, blr, with keys or without
                if word >> 21 & 1:
                    calls[at + 4] = "pointer", None
                else:
                    jumps.append(("pointer", None))
            elif word >> 24 == 0x54 or word >> 25 & 0x3f == 0x1a:  # b.cond, cbz, cbnz
                jumps.append(("direct", at + 4 * signed(word >> 5, 19)))
            elif word >> 25 & 0x3f == 0x1b:  # tbz, tbnz
                jumps.append(("direct", at + 4 * signed(word >> 5, 14)))
            if word not in (0xd503201f, 0):
                last = word
        ends = last >> 26 & 0x1f == 0x05 or last >> 25 == 0x6b or last >> 16 == 0
        return Function(calls, jumps, not ends)

    def call_to(self, after):
        """What the call goes to that returns there, or None."""
        start = self.function(after - 1)
        call = self.get(start).calls.get(after) if start is not None else None
        return call or self.call_before(after)

    def call_before(self, after):
        """Where nothing tells that a function begins, what was disassembled may be out of step with it."""
        offset = self.offset(after - 5)
        if self.is_arm or offset is None or self.image[offset] != 0xe8:
            return None
        return "direct", after + struct.unpack_from("<i", self.image, offset + 1)[0]

    def jumps(self, start):
        """Where a function goes on outside of itself, without a call."""
        function, end = self.get(start), self.end(start)
        out = [x for x in function.jumps if x[0] != "direct" or not start <= x[1] < end]
        return out + ([("direct", end)] if function.falls else [])


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
