# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heat_model.py oncpu|offcpu|wall DIR: the heat map of tests/progs/heat_beats in a page, against what the program says.

Reads what the page carries, without the page's scripts. Times of day meet: the page says when its recording
began, the program when it ran.
"""

import json
import os
import sys

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def check(desc, good, found=""):
    print(f"{'ok' if good else 'not ok'} {sys.argv[1]}: {desc}{'' if good else f': {found}'}"[:600])


def unpack(text):
    numbers, value, shift = [], 0, 0
    for letter in text:
        digit = LETTERS.index(letter)
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            numbers.append(value)
            value = shift = 0
    return numbers


class Model:
    """Parts as (first, nr, path of names, value, amount), and the begin in ns."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        begin = text.index('id="flame-data">') + len('id="flame-data">')
        page = json.loads(text[begin:text.index("</script>", begin)])
        self.names, self.value_names = page["names"], [page["value"]] + [v["name"] for v in page["values"]]
        m = page["moments"]
        self.slice, self.nr, self.start, self.lost = m["slice"], m["nr"], m["start"] * 1000000, m["lost"]
        paths, stack = [], []
        for symbol, up in zip(unpack(page["frames"]), unpack(page["up"])):
            depth = len(stack) - up if stack else 0
            stack = stack[:depth] + [self.names[symbol]]
            paths.append(stack)
        self.parts, first = [], 0
        for gap, span, node, value, amount in zip(*(unpack(m[k]) for k in
                                                    ("gaps", "spans", "nodes", "values", "amounts"))):
            first += gap
            self.parts.append((first, span + 1, paths[node], value, amount))

    def by_slice(self, name):
        """Of stacks that have a name."""
        cells = [0] * (self.nr + 1)
        for first, nr, path, _, amount in self.parts:
            if name in path:
                for k in range(first, first + nr):
                    cells[k] += amount
        return cells

    def slice_of(self, ns):
        return (ns - self.start) / self.slice


def read_beats(path):
    with open(path, encoding="ascii") as file:
        return [(name, int(begin), int(end), int(cpu)) for name, begin, end, cpu in map(str.split, file)]


def folded_sum(path):
    with open(path, encoding="utf-8") as file:
        return sum(int(line.rsplit(" ", 1)[1]) for line in file if not line.startswith("[lost]"))


def check_running(model, beats, ns_each):
    """Each beat has the CPU time that it had, and nothing is between beats. A sample stands for ns_each."""
    for name in ["long_beat", "short_beat"]:
        cells, in_beats, off = model.by_slice(name), 0, []
        for beat, begin, end, cpu in beats:
            if beat != name:
                continue
            # the slices that it touches, and the next one: clocks and ends of recordings differ by a ms or two
            some = range(max(0, int(model.slice_of(begin - 3e6))), int(model.slice_of(end + 3e6)) + 1)
            found = sum(cells[k] for k in some if k < len(cells)) * ns_each
            in_beats += found
            if abs(found - cpu) > 6e6 + cpu / 8:
                off.append((begin, cpu, found))
        check(f"{name} is there when it ran, as long as it ran", len(off) <= len(beats) // 20, off)
        between = sum(cells) * ns_each - in_beats
        check(f"and at no other time: {name}", between <= 2 * ns_each, between)
        check(f"{name} has its samples", in_beats > 0)


def check_waits(model, beats):
    """Between its beats a thread waits: 20 ms in each slice, and never more of two threads."""
    cells = [0] * (model.nr + 1)
    for first, nr, _, value, amount in model.parts:
        if model.value_names[value] != "on-cpu":
            for k in range(first, first + nr):
                cells[k] += amount
    check("two threads wait 40 ms in 20 ms at most", max(cells) <= 2.02 * model.slice, max(cells))
    longs = [(begin, end) for name, begin, end, _ in beats if name == "long_beat"]
    full = 0
    for (_, end), (begin, _) in zip(longs, longs[1:]):
        some = range(int(model.slice_of(end + 20e6)) + 1, int(model.slice_of(begin - 20e6)))
        full += len(some)
        least = min(cells[k] for k in some)
        check("the sleeping thread waits all of each slice", least >= 0.98 * model.slice, least)
    check("there was sleep to see", full > 20, full)


def main():
    name, folder = sys.argv[1:3]
    model = Model(os.path.join(folder, name + ".html"))
    beats = read_beats(os.path.join(folder, name + ".beats"))
    check("slices of 20 ms, none lost", model.slice == 20000000 and model.lost == 0, (model.slice, model.lost))
    whole = sum(nr * amount for _, nr, _, _, amount in model.parts)
    folded = folded_sum(os.path.join(folder, name + ".folded")) * (1 if name == "oncpu" else 1000)
    if name == "oncpu":
        check("each sample is in it", whole == folded, (whole, folded))
        with open(os.path.join(folder, "oncpu.json"), encoding="utf-8") as file:
            rate = json.load(file)["profile"]["rate_hz"]
        check_running(model, beats, 1e9 / rate)
    else:
        # what was before the first slice is cut off, and views are rounded to us
        check("all time is in it", abs(whole - folded) < 60e6 + folded / 200, (whole, folded))
        check_waits(model, beats)


main()
