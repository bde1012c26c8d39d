# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An engine that takes everything at once, and what an agent's windows cost and how late they come.

sink.py serve DIR                  prints its port to DIR/port; a line for each request in DIR/taken: when it was taken
                                   whole (seconds of the clock), its path and bytes
sink.py late DIR FOLDER LIMIT      milliseconds from the end of each window in FOLDER to its last request, by path; fails
                                   when the median, or more than one in ten, is above LIMIT
sink.py cost FOLDER...             of all windows in each folder, in the same order: CPU time of the agent, of its programs, and its
                                   memory, as a line
"""
import http.server
import os
import statistics
import sys
import time

import windows


class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        self.rfile.read(size)
        with open(os.path.join(self.folder, "taken"), "a", encoding="utf-8") as f:
            print(time.time(), self.path, size, file=f)
        body = b"{}" if "writeraw" in self.path else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *args):
        pass


def serve(folder):
    Sink.folder = folder
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    with open(os.path.join(folder, "port.new"), "w", encoding="utf-8") as f:
        print(server.server_address[1], file=f)
    os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
    server.serve_forever()


def late(folder, kept, limit):
    ends, ms, sizes = [windows.times(p)[1] for p in windows.windows(kept)], {}, {}
    for line in open(os.path.join(folder, "taken")):
        at, path, size = line.split()
        # A window's name has milliseconds.
        nr = sum(end <= float(at) + 0.001 for end in ends) - 1
        if nr >= 0:
            ms.setdefault(path, {})[nr] = (float(at) - ends[nr]) * 1000
            sizes.setdefault(path, []).append(int(size))
    assert ms, "nothing was delivered"
    bad = []
    for path, by in sorted(ms.items()):
        of = sorted(by.values())
        print(f"# {path}: {len(of)} of {len(ends)} windows, {len(sizes[path])} requests of {statistics.mean(sizes[path]) / 1e3:.1f} KB; "
              f"end to delivered {of[0]:.0f} / {statistics.median(of):.0f} / {of[-1]:.0f} ms (least, median, most)")
        # The last one may be on its way yet.
        assert len(of) >= len(ends) - 1, (path, len(of), len(ends))
        if statistics.median(of) > float(limit) or sum(x > float(limit) for x in of) > max(1, len(of) / 10):
            bad.append((path, of))
    assert not bad, bad


def cost(*folders):
    for folder in folders:
        of = [windows.Window(p).meta for p in windows.windows(folder)]
        ns = sum(m["duration_ns"] * m["nr_cpus"] for m in of)
        print(sum(m["cpu_ns"] for m in of) / ns, sum(m["bpf_ns"] for m in of) / ns, max(m["rss_bytes"] for m in of), len(of))


if __name__ == "__main__":
    {"serve": serve, "late": late, "cost": cost}[sys.argv[1]](*sys.argv[2:])
