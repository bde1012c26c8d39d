# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""hostile_dwarf.py KIND FILE: a static program that spins in burn(), with debug information that is made to cost.

blocks: blocks within blocks, 200 million deep, of which a parser looks for the end of each;
ranges: 2,000 units, each with 50 million ranges of nothing;
attributes: 3,000 functions of 300,000 attributes each;
plain: a function dwarf_burn() from line to line, as a compiler would write it."""
import random
import struct
import sys
import zlib

BASE, CODE = 0x400000, 0x401000
BURN = CODE + 0x100
MACHINE = {"x86_64": 62, "aarch64": 183}[__import__("platform").machine()]
LOOP = b"\xf3\x90\xeb\xfc" if MACHINE == 62 else struct.pack("<I", 0x14000000)
STRING, ADDRESS, OFFSET, FLAG = 0x08, 0x01, 0x17, 0x19
NAME, LOW, HIGH, RANGES, TYPE = 0x03, 0x11, 0x12, 0x55, 0x49
REACH = struct.pack("<QQ", CODE, CODE + 0x1000)


def uleb(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def abbreviation(code, tag, children, *attributes):
    return uleb(code) + bytes([tag, children]) + b"".join(uleb(a) + uleb(f) for a, f in attributes) + b"\0\0"


def packed(parts, total):
    """A compressed section of some bytes, given one by one."""
    z = zlib.compressobj(9)
    return struct.pack("<IIQQ", 1, 0, total, 1) + b"".join(z.compress(p) for p in parts) + z.flush()


def unit(dies, total=None):
    return struct.pack("<IHIB", 7 + (total or len(dies)), 4, 0, 8) + dies


def repeated(piece, nr):
    per = max(1, (1 << 20) // len(piece))
    return [piece * per] * (nr // per) + [piece * (nr % per)]


FUNCTION = b"\2" + REACH + b"dwarf_burn\0"
UNIT = b"\1a.c\0" + REACH
ABBREVIATIONS = (
    abbreviation(1, 0x11, 1, (NAME, STRING), (LOW, ADDRESS), (HIGH, ADDRESS))
    + abbreviation(2, 0x2E, 1, (LOW, ADDRESS), (HIGH, ADDRESS), (NAME, STRING))
    + abbreviation(3, 0x11, 0, (RANGES, OFFSET))
    + abbreviation(4, 0x0B, 1)
)


def sections(kind):
    """Names and contents, packed."""
    abbreviations, info, total = ABBREVIATIONS, None, 0
    if kind == "blocks":
        blocks = repeated(b"\4", 200 << 20)
        total = len(UNIT + FUNCTION) + (200 << 20)
        info = [unit(UNIT + FUNCTION, total)] + blocks
        total += 11
    elif kind == "ranges":
        info = [unit(b"\3" + bytes(4))] * 2000
        yield ".debug_ranges", packed(repeated(struct.pack("<QQ", 0, 5), 50000000), 16 * 50000000)
    elif kind == "attributes":
        many = ((TYPE, FLAG),) * 300000 + ((LOW, ADDRESS), (HIGH, ADDRESS), (NAME, STRING))
        abbreviations = abbreviation(1, 0x11, 1, (NAME, STRING), (LOW, ADDRESS), (HIGH, ADDRESS))
        abbreviations += abbreviation(2, 0x2E, 1, *many)
        info = [unit(UNIT + (FUNCTION + b"\0") * 3000 + b"\0")]
    else:
        info = [unit(UNIT + FUNCTION + b"\0\0")]
    yield ".debug_info", packed(info, total or sum(map(len, info)))
    yield ".debug_abbrev", packed([abbreviations + b"\0"], len(abbreviations) + 1)
    # What is unpacked must be paid for by what lies on the disk.
    yield ".ballast", struct.pack("<IIQQ", 1, 0, 1, 1) + random.Random(1).randbytes(17 << 20)


def main(kind, path):
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, BURN, 16)
    parts = [(".symtab", 2, 0, bytes(24) + symbol, 3, 1, 24), (".strtab", 3, 0, b"\0burn\0", 0, 0, 0)]
    parts += [(name, 1, 0x800, bytes_, 0, 0, 0) for name, bytes_ in sections(kind)]
    out = bytearray(0x1000) + (bytes(0x100) + LOOP).ljust(0x1000, b"\0")
    names = b"\0.text\0"
    headers = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 6, CODE, 0x1000, 0x1000, 0, 0, 16, 0)
    for name, type_, flags, contents, link, info, size in parts:
        out += bytes(-len(out) % 8)
        headers += struct.pack("<IIQQQQIIQQ", len(names), type_, flags, 0, len(out), len(contents), link, info, 8, size)
        names += name.encode() + b"\0"
        out += contents
    headers += struct.pack("<IIQQQQIIQQ", len(names), 3, 0, 0, len(out), len(names) + 10, 0, 0, 1, 0)
    out += names + b".shstrtab\0"
    out += bytes(-len(out) % 8)
    nr = len(headers) // 64
    head = struct.pack("<HHIQQQIHHHHHH", 2, MACHINE, 1, BURN, 64, len(out), 0, 64, 56, 1, 64, nr, nr - 1)
    out[:64] = b"\x7fELF\x02\x01\x01" + bytes(9) + head
    out[64:120] = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, 0x2000, 0x2000, 0x1000)
    with open(path, "wb") as f:
        f.write(out + headers)


main(*sys.argv[1:])
