#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""chains.py CHAINS SYMBOLIZER NUMBER FILE [SYMBOLS]: random addresses inside the functions of FILE (by the symbol table
of SYMBOLS, where FILE has none): are names, inlined calls and lines of every frame those that llvm-symbolizer says?

Prints "FILE addresses N frames N inlined N equal N percent P", before that why addresses differ, and of each reason
that is not known the first examples. Its choices that are known, and are no difference:
- outermost names: one of several symbols at an address; a name from the table of symbols, DWARF's where we have it;
- a line of 0 where the compiler gives none.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys

chains, symbolizer, number, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
symbols_of = sys.argv[5] if len(sys.argv) > 5 else path
suffix = re.compile(r"(\.(isra|part|constprop|cold|lto_priv|llvm)(\.\d+)?)*(@.*)?$")


def read_symbols():
    functions, aliases = [], collections.defaultdict(set)
    text = subprocess.run(["nm", "-S", "--defined-only", symbols_of], capture_output=True, text=True).stdout
    for line in text.splitlines():
        fields = line.split(maxsplit=3)
        if len(fields) == 4 and re.fullmatch("[0-9a-f]+", fields[1]):
            start, size, kind, name = int(fields[0], 16), int(fields[1], 16), fields[2], fields[3]
            if kind in "tTwWi" and size > 16:
                functions.append((start, size, suffix.sub("", name)))
        else:
            start, name = int(fields[0], 16), line.split(maxsplit=2)[2]
        aliases[start].add(suffix.sub("", name))
    groups = collections.defaultdict(set)
    for names in aliases.values():
        for name in names:
            groups[name] |= names
    return sorted(functions), groups


def choose(functions):
    random.seed(7)
    places = sorted({(start, size) for start, size, _ in functions})
    count = min(number, sum(size for _, size in places) // 2)
    found = set()
    while len(found) < count:
        start, size = random.choice(places)
        found.add(start + random.randrange(size))
    return "".join(f"{address:#x}\n" for address in sorted(found))


def run_ours(addresses):
    text = subprocess.run([chains, path], input=addresses, capture_output=True, text=True, check=True).stdout
    answer = {}
    for line in text.splitlines():
        fields = line.split("\t")
        answer[int(fields[0], 16)] = list(zip(fields[1::2], fields[2::2]))
    return answer


def run_theirs(addresses):
    text = subprocess.run([symbolizer, "--inlining", "--no-demangle", "--output-style=JSON", "-e", path], input=addresses,
                          capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        row = json.loads(line)
        yield int(row["Address"], 16), row["Symbol"]


def place_of(symbol):
    if not symbol["FileName"]:
        return "?"
    return f'{os.path.normpath(symbol["FileName"])}:{symbol["Line"]}'


def our_place(place):
    name, colon, line = place.rpartition(":")
    return f"{os.path.normpath(name)}:{line}" if colon else place


def is_there(name, address, functions):
    """Does the table of symbols have that name for the address? Of a few addresses only, so it may take its time."""
    return any(start <= address < start + size and symbol == name for start, size, symbol in functions)


def difference(address, ours, theirs, aliases, functions):
    """"" when they are equal, else the reason."""
    if len(ours) != len(theirs):
        return "number of frames"
    for i, ((name, place), symbol) in enumerate(zip(ours, theirs)):
        last = i + 1 == len(ours)
        name, their_name = suffix.sub("", name), suffix.sub("", symbol["FunctionName"])
        if name != their_name and not (last and (name in aliases.get(their_name, ()) or is_there(name, address, functions))):
            return "name of the outermost frame" if last else "name of an inlined call"
        if our_place(place) != place_of(symbol):
            if place == "?" and symbol["Line"] == 0:
                continue
            return "line of the innermost frame" if i == 0 else "line of a call"
    return ""


def main():
    functions, aliases = read_symbols()
    addresses = choose(functions)
    ours = run_ours(addresses)
    reasons = collections.Counter()
    frames = inlined = total = 0
    for address, theirs in run_theirs(addresses):
        mine = ours.get(address, [])
        total += 1
        frames += len(mine)
        inlined += len(mine) > 1
        reason = difference(address, mine, theirs, aliases, functions)
        reasons[reason] += 1
        if reason and reasons[reason] <= 5:
            print(f"# {reason}: {address:#x}\n#   ours   {mine}\n#   theirs "
                  f'{[(s["FunctionName"], place_of(s)) for s in theirs]}')
    for reason, count in sorted(reasons.items()):
        if reason:
            print(f"#   {count:6} {reason}")
    equal = reasons[""]
    print(f"{path} addresses {total} frames {frames} inlined {inlined} equal {equal} percent {100 * equal / total:.2f}")


main()
