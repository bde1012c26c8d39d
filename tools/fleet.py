#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a fleet of agents comes to, from windows that one of them kept: bytes, requests and series, of a host and of all.

fleet.py [--hosts N] [--days N] [--scrape SECONDS] [--metrics FILE] RING

RING       a folder of windows (bpfprof agent --keep RING): an hour of a usual host says more than a minute
--metrics  what this agent's /metrics answered (curl -s localhost:9100/metrics), for the series of Prometheus

Windows are pushed to engines that this script stands for, on loopback, so bytes are those that go by the wire; processes
have no services there: series are by the names of programs. What an engine makes of it is the engine's: sizes are
what is sent, before it is packed or compacted. BPFPROF=: which program.
"""
import argparse
import gzip
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

NAME = re.compile(r"\d{8}T\d{6}\.\d{3}Z-(\d+)ms\.bpfprof$")
ENGINES = {"/push.v1.PusherService/Push": "Pyroscope", "/api/profiles/writeraw": "Parca",
           "/v1development/profiles": "OpenTelemetry Collector"}
DAY = 86400
# Of Prometheus; its documentation has the bytes of a sample (1 to 2), the memory is what is usual for a series of its head.
SAMPLE_BYTES, HEAD_BYTES = 1.5, 4096


class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.setdefault(self.path, []).append((body, self.headers["Content-Encoding"]))
        answer = b"{}" if "writeraw" in self.path else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *args):
        pass


def fields(data):
    """Fields of a protobuf message that are messages or strings; others are left out."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            n |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return n
    while at < len(data):
        key = varint()
        if key & 7 == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        elif key & 7 == 0:
            varint()
        else:
            at += 8 if key & 7 == 1 else 4


def series(requests):
    """Sets of labels in requests to Pyroscope, and how many series all windows have in sum."""
    found, nr = set(), 0
    for body, encoding in requests:
        body = gzip.decompress(body) if encoding == "gzip" else body
        for field, one in fields(body):
            if field == 1:
                found.add(tuple(sorted(value for number, value in fields(one) if number == 1)))
                nr += 1
    return len(found), nr


def push(files):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.taken = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    program = os.environ.get("BPFPROF") or shutil.which("bpfprof") or os.path.join(os.path.dirname(__file__), "..", "bpfprof")
    for path in files:
        subprocess.run([program, "push", "--now", "--to", "pyroscope=" + url, "--to", "parca=" + url, "--to", "otlp=" + url, path],
                       check=True, stdout=subprocess.DEVNULL)
    server.shutdown()
    return server.taken


def text(n, unit=""):
    for prefix in "", "k", "M", "G", "T", "P":
        if n < 1000 or prefix == "P":
            return f"{n:.3g} {prefix}{unit}".strip() if n < 1000 else f"{n:.0f} {prefix}{unit}"
        n /= 1000
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ring")
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--days", type=int, default=7, help="that engines keep")
    parser.add_argument("--scrape", type=float, default=15, help="seconds between scrapes of Prometheus")
    parser.add_argument("--metrics")
    parser.add_argument("--windows", type=int, default=360, help="at most so many, the last ones")
    a = parser.parse_args()
    files = sorted(os.path.join(a.ring, n) for n in os.listdir(a.ring) if NAME.match(n))
    # What windows have in common, names and stacks, is beside them.
    names = [os.path.join(a.ring, n) for n in os.listdir(a.ring) if n.endswith(".names")]
    shared = sum(os.path.getsize(p) for p in names) / max(len(files), 1)
    files = files[-a.windows:]
    # What is shorter than half of the others is the first or the last one.
    length = {p: int(NAME.search(p)[1]) / 1000 for p in files}
    files = [p for p in files if length[p] > max(length.values()) / 2]
    if len(files) < 2:
        parser.error(f"{a.ring} has no two windows")
    seconds = sum(length[p] for p in files) / len(files)
    a_day = DAY / seconds
    kept = sum(os.path.getsize(p) for p in files) / len(files) + shared
    print(f"{len(files)} windows of {seconds:.1f} s, {a.hosts:,} hosts, {a.days} days\n")
    print("| | a host | all hosts |\n|---|---|---|")

    def row(name, one, unit="B"):
        print(f"| {name} | {text(one, unit)} | {text(one * a.hosts, unit)} |")
    row("kept, of a window", kept)
    row("kept, of a day", kept * a_day)
    taken = push(files)
    for path, engine in ENGINES.items():
        requests = taken.get(path, [])
        size = sum(len(body) for body, _ in requests) / len(files)
        row(f"{engine}: requests a second", len(requests) / len(files) / seconds, "")
        row(f"{engine}: sent a second", size / seconds)
        row(f"{engine}: sent, of a day", size * a_day)
        row(f"{engine}: sent, of {a.days} days", size * a_day * a.days)
    distinct, nr = series(taken["/push.v1.PusherService/Push"])
    row("series of a window", nr / len(files), "")
    row("series of all these windows", distinct, "")
    if a.metrics:
        with open(a.metrics, encoding="utf-8") as f:
            lines = [l for l in f if l.strip() and not l.startswith("#")]
        hists = sum("_seconds_bucket{" in l or "_seconds_sum{" in l or "_seconds_count{" in l for l in lines)
        row("Prometheus: series", len(lines), "")
        row("Prometheus: of these, of histograms", hists, "")
        row("Prometheus: samples a second", len(lines) / a.scrape, "")
        row("Prometheus: memory of the head (4 KiB a series)", len(lines) * HEAD_BYTES)
        row(f"Prometheus: disk, of {a.days} days (1.5 B a sample)", len(lines) / a.scrape * DAY * a.days * SAMPLE_BYTES)


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who reads it has seen enough
    except OSError as e:
        sys.exit(f"fleet.py: {e.filename}: {e.strerror}")
    except subprocess.CalledProcessError:
        sys.exit("fleet.py: these windows were not pushed")  # and bpfprof has said why
