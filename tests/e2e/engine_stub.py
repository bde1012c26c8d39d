# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stands for engines that keep profiles: takes requests as Pyroscope, Parca and Collectors get them, decodes them by
itself, refuses what these refuse, and keeps sums.

engine_stub.py serve DIR [ANSWER...]  prints its port; the first requests get these answers, one each, then 200:
                                      a status, STATUS/RETRY_AFTER ("+N": the date in N seconds), close (nothing comes back), slow (3 s late), garbage
                                      a line of JSON for each request that was taken in DIR/taken
                                      TLS_CERT, TLS_KEY: by https; TLS_CA: from those who show a certificate of it
engine_stub.py sums DIR               sums by engine, type, service and class, of all that was taken
engine_stub.py of FILE                the same sums of a pprof that bpfprof wrote of a recording of waits
"""
import base64
import email.utils
import gzip
import http.server
import json
import os
import ssl
import struct
import sys
import time

import pprof


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return n, at


def fields(data):
    """Number, wire type and value of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert wire == 2, wire
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "truncated"
        yield key >> 3, wire, value


def all_of(data, number):
    return [v for n, _, v in fields(data) if n == number]


def one_of(data, number, default=0):
    found = all_of(data, number)
    assert len(found) <= 1
    return found[0] if found else default


def numbers(data):
    out, at = [], 0
    while at < len(data):
        n, at = varint(data, at)
        out.append(n)
    return out


def strings_of(m):
    return [s.decode() for s in m["string_table"]]


def pprof_sums(raw):
    """Sums of a pprof by type; refused as Parca refuses, or dies."""
    m = pprof.parse("profile", gzip.decompress(raw))
    names = [s if isinstance(s, str) else s.decode() for s in m["string_table"]]
    assert m.get("period_type"), "no period type"
    assert m.get("time_nanos") and m.get("duration_nanos"), "no time"
    for table in ("mapping", "location", "function"):
        assert [x["id"] for x in m.get(table, [])] == list(range(1, len(m.get(table, [])) + 1)), "gaps in ids"
    assert m["sample"] and len(m["sample"]) <= 16000
    seen = set()
    for s in m["sample"]:
        assert s["location_id"] and max(s["location_id"]) <= len(m["location"]), "no such location"
        assert not s.get("label"), "a label of a sample"
        assert tuple(s["location_id"]) not in seen, "a stack twice"
        seen.add(tuple(s["location_id"]))
    used = {i for s in m["sample"] for i in s["location_id"]}
    assert used == set(range(1, len(m["location"]) + 1)), "a location that nothing uses"
    types = [names[t["type"]] + ":" + names[t["unit"]] for t in m["sample_type"]]
    return {t: sum(s["value"][i] for s in m["sample"]) for i, t in enumerate(types)}


def series_sums(labels, raw):
    keys = dict(labels)
    assert len(keys) == len(labels) and keys["__name__"], "labels"
    for name in keys:
        assert name.replace("_", "a").isalnum(), name
    return [[t, keys["service_name"], keys.get("wait_class", ""), n] for t, n in pprof_sums(raw).items()]


def pyroscope(body):
    out = []
    for series in all_of(body, 1):
        labels = [(one_of(p, 1).decode(), one_of(p, 2).decode()) for p in all_of(series, 1)]
        for sample in all_of(series, 2):
            out += series_sums(labels, one_of(sample, 1))
    return out


def parca(body):
    out = []
    for series in json.loads(body)["series"]:
        labels = [(p["name"], p["value"]) for p in series["labels"]["labels"]]
        for sample in series["samples"]:
            out += series_sums(labels, base64.b64decode(sample["raw_profile"], validate=True))
    return out


def otlp(body):
    """With the checks that Parca and profcheck make of OTLP 1.10."""
    tables = one_of(body, 2)
    strings = [s.decode() for s in all_of(tables, 5)]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    mappings, locations, functions, links, attributes, stacks = (all_of(tables, n) for n in (1, 2, 3, 4, 6, 7))
    for table in (mappings, locations, functions, links, attributes, stacks):
        assert table[0] == b"", "entry 0 is not empty"
    assert len(set(stacks)) == len(stacks), "a stack twice"
    for x in locations:
        assert one_of(x, 1) < len(mappings)
        assert all(0 < one_of(line, 1) < len(functions) for line in all_of(x, 3))
    for x in functions:
        assert max(one_of(x, n) for n in (1, 2, 3)) < len(strings)
    for x in stacks[1:]:
        places = numbers(one_of(x, 1))
        assert places and 0 < min(places) and max(places) < len(locations)
    kept = [None] + [(strings[one_of(a, 1)], one_of(one_of(a, 2), 1).decode()) for a in attributes[1:]]
    out = []
    for resources in all_of(body, 1):
        pairs = [(one_of(p, 1).decode(), one_of(one_of(p, 2), 1).decode())
                 for p in all_of(one_of(resources, 1), 1)]
        keys = dict(pairs)
        assert len(keys) == len(pairs) and keys["service.name"]
        for scopes in all_of(resources, 2):
            assert one_of(one_of(scopes, 1), 1) == b"bpfprof" and all_of(scopes, 2)
            for p in all_of(scopes, 2):
                sample_type, period_type = one_of(p, 1), one_of(p, 5)
                assert sample_type and period_type and one_of(p, 3) and one_of(p, 4)
                name = strings[one_of(sample_type, 1)] + ":" + strings[one_of(sample_type, 2)]
                total, seen, wait_class = 0, set(), ""
                for s in all_of(p, 2):
                    (value,), (attribute,) = numbers(one_of(s, 4)), numbers(one_of(s, 2))
                    stack = one_of(s, 1)
                    assert 0 < stack < len(stacks) and stack not in seen, "a sample twice"
                    seen.add(stack)
                    total += value
                    key, text = kept[attribute]
                    wait_class = text if key == "wait_class" else ""
                assert seen, "a profile without samples"
                out.append([name, keys["service.name"], wait_class, total])
    return out


PATHS = {
    "/push.v1.PusherService/Push": ("pyroscope", pyroscope, "application/proto"),
    "/api/profiles/writeraw": ("parca", parca, "application/json"),
    "/v1development/profiles": ("otlp", otlp, "application/x-protobuf"),
}


class Stub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder, answers = "", []

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        word = self.answers.pop(0) if self.answers else "200"
        if word == "close":
            self.close_connection = True
            return
        if word == "slow":
            time.sleep(3)
        if word == "garbage":
            self.answer(500, b"\033[31m\n" + os.urandom(200000))
            return
        status, _, after = word.partition("/")
        if after.startswith("+"):
            after = email.utils.formatdate(time.time() + int(after), usegmt=True)
        if status.isdigit() and status != "200":
            self.answer(int(status), b"because\x1b[1m of the script\nsecond line",
                        [("Retry-After", after)] if after else [])
            return
        self.take(body)

    def take(self, body):
        engine, decode, kind = PATHS[self.path]
        try:
            assert self.headers["Content-Type"] == kind
            assert self.headers["User-Agent"].startswith("bpfprof/")
            if self.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            sums = decode(body)
        except Exception as e:  # whatever is wrong with a request, its sender is to know
            self.answer(400, f"{type(e).__name__}: {e}".encode())
            return
        with open(os.path.join(self.folder, "taken"), "a", encoding="utf-8") as f:
            print(json.dumps({"engine": engine, "sums": sums, "token": self.headers["Authorization"],
                              "tenant": self.headers["X-Scope-OrgID"], "bytes": len(body)}), file=f)
        self.answer(200, b"{}" if engine == "parca" else b"\x0a\x00" if engine == "otlp" else b"")


def serve(folder, *answers):
    Stub.folder, Stub.answers = folder, list(answers)
    port = int(os.environ.get("PORT", "0"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Stub)
    if os.environ.get("TLS_CERT"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
        if os.environ.get("TLS_CA"):
            context.load_verify_locations(os.environ["TLS_CA"])
            context.verify_mode = ssl.CERT_REQUIRED
        # The handshake is its thread's: one that fails costs nobody else.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open(os.path.join(folder, "port"), "w", encoding="utf-8") as f:
        print(server.server_address[1], file=f)
    server.serve_forever()


def show(sums):
    for key in sorted(sums):
        print(*key, sums[key])


def sums(folder):
    total = {}
    with open(os.path.join(folder, "taken"), encoding="utf-8") as f:
        for line in f:
            taken = json.loads(line)
            for kind, service, wait_class, n in taken["sums"]:
                key = (taken["engine"], kind, service, wait_class or "-")
                total[key] = total.get(key, 0) + n
    show(total)


def of(path):
    """A pprof of all samples has labels: process and wait_class; what was lost has none."""
    with open(path, "rb") as f:
        m = pprof.parse("profile", gzip.decompress(f.read()))
    names = [s if isinstance(s, str) else s.decode() for s in m["string_table"]]
    total = {}
    for s in m["sample"]:
        label = {names[x["key"]]: names[x["str"]] for x in s.get("label", []) if x.get("str")}
        if "process" in label:
            key = (label["process"], label.get("wait_class", "-"))
            total[key] = total.get(key, 0) + s["value"][-1]
    show(total)


if __name__ == "__main__":
    {"serve": serve, "sums": sums, "of": of}[sys.argv[1]](*sys.argv[2:])
