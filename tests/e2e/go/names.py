#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""names.py GO_NAMES PROGRAM WITH_SYMBOLS NR: what GO_NAMES says of NR addresses of PROGRAM is what go
tool addr2line says of WITH_SYMBOLS (the outermost function, the innermost line). names.py GO_NAMES
PROGRAM: what it says of PROGRAM's callers is what PROGRAM prints."""
import os
import random
import re
import subprocess
import sys


def run(*words, given=""):
    return subprocess.run(words, input=given, capture_output=True, text=True, check=True).stdout.splitlines()


def chains(addresses):
    """Per address [(function, file:line), ...], innermost first. Names may hold blanks."""
    lines = run(sys.argv[1], sys.argv[2], given="".join("%x\n" % a for a in addresses))
    return [re.findall(r"(\S.*?) ((?:/|<|_)\S*:\d+)(?: |$)", line.partition(" ")[2]) for line in lines]


def some_addresses(path, nr):
    rows = [line.split(None, 3) for line in run("nm", "-S", path)]
    functions = [(int(r[0], 16), int(r[1], 16)) for r in rows
                 if len(r) == 4 and r[2] in "tT" and "." in r[3] and int(r[1], 16) > 8]
    random.seed(1)
    for _ in range(nr):
        start, size = random.choice(functions)
        yield start + random.randrange(size) // 4 * 4


def against_addr2line(path, nr):
    addresses = list(some_addresses(path, nr))
    says = run("go", "tool", "addr2line", path, given="".join("%x\n" % a for a in addresses))
    wrong = inlined = 0
    for i, chain in enumerate(chains(addresses)):
        name = re.sub(r"\.abi(0|internal)$", "", says[2 * i])
        inlined += len(chain) > 1
        if "." not in name:  # of C
            continue
        if not chain or chain[-1][0] != name or chain[0][1] != says[2 * i + 1]:
            wrong += 1
            print("%x: %s, not %s %s" % (addresses[i], chain, name, says[2 * i + 1]))
    print("# %d addresses, %d with inlined calls, %d wrong" % (nr, inlined, wrong))
    return wrong == 0 and inlined > nr / 20


def against_itself():
    says = [(int(a, 16), function, line) for a, function, line in (x.split() for x in run(os.path.abspath(sys.argv[2])))]
    i = inlined = 0
    while i < len(says):
        chain = chains([says[i][0]])[0]
        if not chain or chain != [(f, line) for _, f, line in says[i:i + len(chain)]]:
            print("%s, not %s" % (chain, says[i:]))
            return False
        inlined += len(chain) - 1
        i += len(chain)
    return inlined >= 3


good = against_addr2line(sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else against_itself()
sys.exit(0 if good else 1)
