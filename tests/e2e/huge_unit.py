# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a program whose debug information is one unit: so many functions, each with four inlined calls. A compiler would
# take minutes for it. x86-64.
import struct
import subprocess
import sys

path, nr, inlined, size = sys.argv[1], int(sys.argv[2]), 4, 32
source = f"""
	.text
	.globl main
	.type main, @function
main:
	push %rbp
	mov %rsp, %rbp
1:	mov ${nr}, %ebx
	lea functions(%rip), %r12
2:	call *%r12
	add ${size}, %r12
	dec %ebx
	jnz 2b
	jmp 1b
	.size main, .-main
	.p2align 5
	.globl functions
functions:
	.rept {nr}
	.rept 8
	inc %rax
	.endr
	ret
	.p2align 5
	.endr
	.section .note.GNU-stack, "", @progbits
"""
subprocess.run(["gcc", "-no-pie", "-x", "assembler", "-o", path, "-"], input=source.encode(), check=True)
symbols = subprocess.check_output(["nm", path], text=True).splitlines()
base = next(int(line.split()[0], 16) for line in symbols if line.endswith(" functions"))

abbrev = bytes([1, 0x11, 1, 0x03, 8, 0x1b, 8, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0,  # unit
                2, 0x2e, 1, 0x03, 8, 0x11, 1, 0x12, 6, 0, 0,  # function
                3, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 6, 0x58, 0xb, 0x59, 5, 0, 0,  # inlined call
                4, 0x2e, 0, 0x03, 8, 0x20, 0xb, 0, 0, 0])  # what is inlined
head = b"\x01huge.c\0/tmp\0" + struct.pack("<QII", base, nr * size, 0)
origins = []
for i in range(inlined):
    origins.append(11 + len(head))
    head += b"\x04inlined%d\0\x01" % i
parts = [head]
for i in range(nr):
    at = base + i * size
    parts.append(b"\x02function%d\0" % i + struct.pack("<QI", at, size))
    for k in range(inlined):
        parts.append(b"\x03" + struct.pack("<IQIBH", origins[k], at + 6 * k, 6, 1, (i + k) & 0x7fff))
    parts.append(b"\0")
parts.append(b"\0")
dies = b"".join(parts)
info = struct.pack("<IHIB", len(dies) + 7, 4, 0, 8) + dies
files = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0huge.c\0\0\0\0\0"
program = b"\0\x09\x02" + struct.pack("<Q", base) + bytes([13 + 6 + 14 * 8]) * (nr * size // 8) + b"\0\x01\x01"
lines = struct.pack("<HI", 4, len(files)) + files + program
lines = struct.pack("<I", len(lines)) + lines
for name, section in (("info", info), ("abbrev", abbrev), ("line", lines)):
    with open(f"{path}.{name}", "wb") as f:
        f.write(section)
subprocess.run(["objcopy", *(f"--add-section=.debug_{n}={path}.{n}" for n in ("info", "abbrev", "line")), path],
               check=True)
