# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads a profile of pprof by the rules of its strictest reader, and compares it with folded stacks.

pprof.py dump FILE             the message as text, for comparing bytes
pprof.py same FILE FOLDED DIV  the stacks of FILE, of the type that it shows first, are those of
                               FOLDED; DIV: values by folded unit (1000: ns shown as us)
pprof.py types FILE            its value types, the period, and sums
"""
import gzip
import sys

FIELDS = {
    "profile": {1: "sample_type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: "string_table",
                9: "time_nanos", 10: "duration_nanos", 11: "period_type", 12: "period", 13: "comment",
                14: "default_sample_type"},
    "type": {1: "type", 2: "unit"},
    "sample": {1: "location_id", 2: "value", 3: "label"},
    "label": {1: "key", 2: "str", 3: "num"},
    "mapping": {1: "id", 2: "start", 3: "limit", 4: "offset", 5: "file", 6: "build_id", 7: "has_functions",
                8: "has_filenames", 9: "has_line_numbers", 10: "has_inline_frames"},
    "location": {1: "id", 2: "mapping_id", 3: "address", 4: "line"},
    "line": {1: "function_id", 2: "line"},
    "function": {1: "id", 2: "name", 3: "system_name", 4: "filename"},
}
MESSAGES = {"sample_type": "type", "period_type": "type", "sample": "sample", "mapping": "mapping",
            "location": "location", "function": "function", "label": "label", "line": "line"}
PACKED = {"location_id", "value", "comment"}
LISTS = {"sample_type", "sample", "mapping", "location", "function", "string_table", "label", "line"} | PACKED


def varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            assert shift <= 70 and (byte or shift == 7), "a varint is longer than it need be"
            return n, at


def parse(kind, data):
    m, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        name, wire = FIELDS[kind][key >> 3], key & 7
        if wire == 0:
            value, at = varint(data, at)
            assert value, f"{kind}.{name} is 0 and there"
        else:
            assert wire == 2, (kind, name, wire)
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
            if name in MESSAGES:
                value = parse(MESSAGES[name], value)
            elif name in PACKED:
                numbers, k = [], 0
                while k < len(value):
                    n, k = varint(value, k)
                    numbers.append(n)
                m.setdefault(name, []).extend(numbers)
                continue
            else:
                value = value.decode("utf-8")
        if name in LISTS and kind != "line":
            m.setdefault(name, []).append(value)
        else:
            assert name not in m, name
            m[name] = value
    return m


def read(path):
    raw = open(path, "rb").read()
    assert raw[:4] == b"\x1f\x8b\x08\0" and raw[4:8] == b"\0\0\0\0", "gzip with a time or a name"
    p = parse("profile", gzip.decompress(raw))
    check(p)
    return p


def check(p):
    strings = p["string_table"]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    for name in ("mapping", "location", "function"):
        assert [x["id"] for x in p.get(name, [])] == list(range(1, len(p.get(name, [])) + 1)), name
    nr_mappings, nr_locations = len(p.get("mapping", [])), len(p.get("location", []))
    nr_types = len(p["sample_type"])
    for t in p["sample_type"] + [p["period_type"]]:
        assert strings[t["type"]].replace("_", "a").isalnum() and strings[t["unit"]].isalnum()
    assert len({strings[t["type"]] for t in p["sample_type"]}) == nr_types
    assert strings[p["default_sample_type"]] in {strings[t["type"]] for t in p["sample_type"]}
    for s in p.get("sample", []):
        assert len(s["value"]) == nr_types and s["location_id"], s
        assert all(0 < i <= nr_locations for i in s["location_id"])
        assert all(0 <= v < 1 << 63 for v in s["value"]) and any(s["value"])
        for label in s.get("label", []):
            assert strings[label["key"]] in ("thread", "tid", "process", "pid", "wait_class", "context", "kind", "role")
            assert ("str" in label) != ("num" in label) and label.get("str", 0) < len(strings)
    for x in p.get("location", []):
        assert x["line"] and x.get("mapping_id", 0) <= nr_mappings
        assert all(0 < line["function_id"] <= len(p["function"]) for line in x["line"])
        if "mapping_id" in x and x.get("address"):
            m = p["mapping"][x["mapping_id"] - 1]
            assert m.get("start", 0) <= x["address"] < m["limit"], (x, m)
    for f in p.get("function", []):
        assert strings[f["name"]] and strings[f["system_name"]] and f.get("filename", 0) < len(strings)
    keys = [(tuple(s["location_id"]), str(s.get("label"))) for s in p.get("sample", [])]
    assert len(set(keys)) == len(keys), "a sample is there twice"


def labels(p, s):
    strings = p["string_table"]
    return {strings[x["key"]]: strings[x["str"]] if "str" in x else x["num"] for x in s.get("label", [])}


def path_of(p, s):
    strings = p["string_table"]
    names = []
    for i in s["location_id"]:
        for line in p["location"][i - 1]["line"]:
            names.append(strings[p["function"][line["function_id"] - 1]["name"]])
    names.reverse()
    thread = labels(p, s).get("thread")
    return ";".join(names if thread is None or names == [thread] else [thread] + names)


def shown(p):
    strings = p["string_table"]
    return [strings[t["type"]] for t in p["sample_type"]].index(strings[p["default_sample_type"]])


def same(path, folded, div, column=None):
    p = read(path)
    column = shown(p) if column is None else int(column)
    ours, theirs = {}, {}
    for s in p.get("sample", []):
        stack = path_of(p, s)
        ours[stack] = ours.get(stack, 0) + s["value"][column]
    # Folded weights are rounded, halves up, and what is nothing then is left out.
    ours = {k: (v + div // 2) // div for k, v in ours.items() if (v + div // 2) // div}
    for line in open(folded, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        theirs[stack] = theirs.get(stack, 0) + int(weight)
    assert ours == theirs, [(k, ours.get(k), theirs.get(k)) for k in set(ours) | set(theirs)
                            if ours.get(k) != theirs.get(k)][:3]
    print(len(ours), "stacks", sum(ours.values()), "in all")


def types(path):
    p = read(path)
    strings = p["string_table"]
    words = []
    for i, t in enumerate(p["sample_type"]):
        total = sum(s["value"][i] for s in p.get("sample", []))
        words.append(f"{strings[t['type']]}/{strings[t['unit']]}={total}")
    t = p["period_type"]
    print(*words, f"every {p.get('period', 0)} {strings[t['type']]}/{strings[t['unit']]}",
          "first", strings[p["default_sample_type"]],
          "of", strings[p["mapping"][0]["file"]] if p.get("mapping") else "nothing")


def dump(path):
    p = read(path)
    for name in sorted(p):
        for value in p[name] if isinstance(p[name], list) else [p[name]]:
            print(name, value)


if __name__ == "__main__":
    if sys.argv[1] == "same":
        same(sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
    else:
        {"types": types, "dump": dump}[sys.argv[1]](sys.argv[2])
