# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Windows of bpfprof agent, read without bpfprof: what their tables say, and the sums of all of them."""
import calendar
import gzip
import json
import lzma
import os
import re
import struct
import sys
import time
import zlib

KINDS = {1: "blocked", 2: "preempted", 3: "woken", 4: "running", 5: "on-cpu", 7: "throttled"}
NAME = re.compile(r"(\d{8}T\d{6})\.(\d{3})Z-(\d+)ms\.bpfprof$")


def times(name):
    """Begin and end of a window by its name, in seconds."""
    date, ms, length = NAME.match(os.path.basename(name)).groups()
    begin = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%S")) + int(ms) / 1000
    return begin, begin + int(length) / 1000


def windows(folder):
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if NAME.match(n))


def unpack(body, width, strings, begins):
    """Rows of a packed table: columns of differences in seven bits a byte; strings by number."""
    nr, at = struct.unpack_from("<I", body)[0], 4
    words = [0] * (nr * width)
    for column in range(width):
        word = 0
        for i in range(nr):
            value = shift = 0
            while body[at] > 127:
                value |= (body[at] & 127) << shift
                at, shift = at + 1, shift + 7
            value |= body[at] << shift
            at += 1
            word = word + (value >> 1 ^ -(value & 1)) & 0xFFFFFFFF
            words[i * width + column] = begins[word] if column in strings else word
    assert at == len(body)
    return struct.pack(f"<{nr * width}I", *words)


def sections(data, path):
    """The tables of a file by their tags, and whether they are packed."""
    data = lzma.decompress(data) if data[:2] == b"\xfd7" else gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    magic, _, nr = struct.unpack_from("<8sII", data)
    assert magic in (b"bpfprof\n", b"bpfprofp"), path
    at, tables = 16, {}
    for _ in range(nr):
        tag, crc, length = struct.unpack_from("<4sIQ", data, at)
        body = data[at + 16:at + 16 + length]
        assert zlib.crc32(body) == crc and len(body) == length, (path, tag)
        tables[tag.decode()] = body
        at += 16 + (length + 7 & ~7)
    return tables, magic == b"bpfprofp"


def beginnings(strings):
    return [m.end() for m in re.finditer(b"\\A|\0(?!\\Z)", strings)]


class Window:
    # Words of a row, and which of them are strings.
    WIDTHS = {"META": (4, (0,)), "CNTR": (4, (0,)), "SMPL": (12, (6, 7)), "THRD": (6, (2, 3)),
              "MODS": (7, (0,)), "FRMS": (6, (3, 4)), "SFRM": (1, ()), "STKS": (3, ())}

    def __init__(self, path):
        self.tables, packed = sections(open(path, "rb").read(), path)
        shared = self.names(path) if "SHRD" in self.tables else {}
        if packed:
            begins = beginnings(shared.get("STRS", self.tables.get("STRS")))
            for tag in self.WIDTHS.keys() & self.tables.keys():
                self.tables[tag] = unpack(self.tables[tag], *self.WIDTHS[tag], begins)
        self.tables.update(shared)
        self.meta, self.counters = self.pairs("META"), self.pairs("CNTR")

    def names(self, path):
        """What it shares with others: as much of the file of names beside it as it says."""
        name, need = struct.unpack("<64sQ", self.tables["SHRD"])
        data = open(os.path.join(os.path.dirname(path), name.rstrip(b"\0").decode()), "rb").read()
        all_tables, at = {"STRS": b""}, 0
        stream = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 18}])
        assert len(data) >= need, (path, len(data), need)
        while at < need:
            length, goes_on = struct.unpack_from("<II", data, at)
            part = data[at + 8:at + 8 + length]
            tables, _ = sections(stream.decompress(part) if goes_on else part, path)
            all_tables["STRS"] += tables["STRS"]
            begins = beginnings(all_tables["STRS"])
            for tag in self.WIDTHS.keys() & tables.keys():
                all_tables[tag] = all_tables.get(tag, b"") + unpack(tables[tag], *self.WIDTHS[tag], begins)
            at += 8 + length
        assert at == need, (path, at, need)
        return all_tables

    def string(self, at):
        strings = self.tables["STRS"]
        return strings[at:strings.index(0, at)].decode("utf-8", "replace")

    def pairs(self, tag):
        return {self.string(name): value for name, _, value in struct.iter_unpack("<IIQ", self.tables[tag])}

    def samples(self):
        for count, weight, pid, tid, process, thread, _, _, wait, _ in struct.iter_unpack("<QQ8I", self.tables["SMPL"]):
            yield count, weight, pid, tid, self.string(process), KINDS[wait >> 12 & 15]

    def by_name(self):
        """Count, weight, names of process and thread, kind."""
        for count, weight, _, _, process, thread, _, _, wait, _ in struct.iter_unpack("<QQ8I", self.tables["SMPL"]):
            yield count, weight, self.string(process), self.string(thread), KINDS[wait >> 12 & 15]

    def threads(self):
        for pid, tid, process, _, wall in struct.iter_unpack("<4IQ", self.tables["THRD"]):
            yield pid, tid, self.string(process), wall


def total(paths):
    """What all of them come to."""
    sums = {"windows": 0, "duration_ns": 0, "bpf_ns": 0, "cpu_ns": 0, "count": 0, "weight": 0, "wall": {}, "by": {}, "counters": {}}
    for path in paths:
        w = Window(path)
        sums["windows"] += 1
        for key in "duration_ns", "bpf_ns", "cpu_ns":
            sums[key] += w.meta[key]
        for key, value in w.counters.items():
            sums["counters"][key] = sums["counters"].get(key, 0) + value
        for count, weight, pid, _, _, kind in w.samples():
            sums["count"] += count
            sums["weight"] += weight
            by = sums["by"].setdefault(str(pid), {})
            by[kind] = by.get(kind, 0) + weight
        for pid, _, _, wall in w.threads():
            sums["wall"][str(pid)] = sums["wall"].get(str(pid), 0) + wall
    return sums


if __name__ == "__main__":
    json.dump(total(windows(sys.argv[1])), sys.stdout)
