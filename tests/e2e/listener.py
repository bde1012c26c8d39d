# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Asks the agent's HTTP server as Prometheus, go tool pprof, browsers and those that mean ill do.

listener.py answers URL       what it answers, with the metrics judged by a parser of our own
listener.py hostile URL [all] names, requests and connections of those that mean ill
listener.py token URL TOKEN   answers to those who know the token, and to others
listener.py unix PATH         over a Unix socket
"""
import base64
import http.client
import json
import re
import socket
import sys
import time
import urllib.parse

import pprof

SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
KINDS = {"counter", "gauge", "histogram"}
PARTS = ("_bucket", "_sum", "_count")


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def connect(url):
    if url.startswith("/"):
        return Unix(url)
    u = urllib.parse.urlsplit(url)
    return http.client.HTTPConnection(u.hostname, u.port, timeout=60)


def get(url, path, method="GET", **headers):
    c = connect(url)
    c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, r.headers, body


def labels_of(text):
    found, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        assert m, "no label: " + text[at:]
        assert m[1] not in found, "a label twice: " + text
        found[m[1]] = m[2]
        at = m.end()
    return found


def check_histogram(name, rows):
    """Buckets by labels: they rise to +Inf, which is the count."""
    groups = {}
    for (series, labels), value in rows.items():
        if series.removesuffix("_bucket") != name and series.removesuffix("_count") != name:
            continue
        rest = frozenset((k, v) for k, v in labels if k != "le")
        g = groups.setdefault(rest, {"buckets": []})
        if series.endswith("_bucket"):
            g["buckets"].append((float(dict(labels)["le"]), value))
        else:
            g["count"] = value
    for rest, g in groups.items():
        edges, counts = zip(*g["buckets"])
        assert list(edges) == sorted(set(edges)) and edges[-1] == float("inf"), (name, edges)
        assert list(counts) == sorted(counts), (name, rest, "buckets fall", counts)
        assert counts[-1] == g["count"], (name, rest, counts[-1], g["count"])
    return len(groups)


def metrics(text):
    """Series by name and labels. As strict as the reader in Prometheus, and promtool's rules for names."""
    kinds, helps, rows, current, done = {}, set(), {}, None, set()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            assert word in ("HELP", "TYPE"), line
            if word == "HELP":
                assert name not in helps, "a second head of " + name
                helps.add(name)
            else:
                assert name not in kinds and rest in KINDS, line
                kinds[name] = rest
                assert (rest == "counter") == name.endswith("_total"), line
            continue
        m = SERIES.fullmatch(line)
        assert m, "no series: " + line
        name = m[1]
        base = name
        for part in PARTS:
            if name.endswith(part) and kinds.get(name.removesuffix(part)) == "histogram":
                base = name.removesuffix(part)
        assert base in kinds and base in helps, "no head: " + line
        if base != current:
            assert base not in done, "not together: " + line
            done.add(base)
            current = base
        key = name, frozenset(labels_of(m[2] or "").items())
        assert key not in rows, "twice: " + line
        rows[key] = float(m[3])
        assert rows[key] >= 0, line
    for name, kind in kinds.items():
        if kind == "histogram":
            assert check_histogram(name, rows), name
    return kinds, rows


def value_of(rows, name, **labels):
    return sum(v for (n, l), v in rows.items() if n == name and labels.items() <= dict(l).items())


def scrape(url, **headers):
    status, head, body = get(url, "/metrics", **headers)
    assert status == 200 and head["Content-Type"].startswith("text/plain; version=0.0.4"), (status, head)
    return metrics(body.decode())


def running_in(body):
    """Nanoseconds, and names of functions, of a profile that pprof's strictest reader takes."""
    with open("asked.pb.gz", "wb") as f:
        f.write(body)
    p = pprof.read("asked.pb.gz")
    strings = p["string_table"]
    types = [strings[t["unit"]] for t in p["sample_type"]]
    total = sum(s["value"][types.index("nanoseconds")] for s in p["sample"])
    return total, {strings[f["name"]] for f in p["function"]}


def wait_for_windows(url, nr):
    for _ in range(300):
        kinds, rows = scrape(url)
        if value_of(rows, "bpfprof_windows_total") >= nr:
            return kinds, rows
        time.sleep(0.1)
    raise AssertionError("no window ends")


def never_falls(kinds, before, after):
    for (name, labels), value in before.items():
        base = next((name.removesuffix(p) for p in PARTS if name.endswith(p)), name)
        if kinds.get(name, kinds.get(base)) != "gauge":
            assert after[name, labels] >= value, (name, labels, value, after[name, labels])


def answers(url):
    kinds, first = wait_for_windows(url, 1)
    kinds, rows = wait_for_windows(url, value_of(first, "bpfprof_windows_total") + 2)
    never_falls(kinds, first, rows)
    assert value_of(rows, "bpfprof_windows_kept_total") >= 2
    names = {dict(l)["service_name"] for n, l in rows if n == "bpfprof_cpu_seconds_total"}
    print("# services:", sorted(n[:20] for n in names))
    assert any(n.startswith('a\\"b\\\\c') for n in names), names
    assert any(n.startswith("xxx") and len(n) < 1000 for n in names), names
    # All of the time of both is in one of two numbers: they ran or they waited.
    seconds = value_of(rows, "bpfprof_recorded_seconds_total")
    did = value_of(rows, "bpfprof_cpu_seconds_total") + value_of(rows, "bpfprof_offcpu_seconds_total")
    print(f"# {seconds:.3f} s in windows, of which two threads have {did:.3f} s")
    assert abs(did / (2 * seconds) - 1) < 0.02, (did, seconds)
    for path in "/debug/pprof/profile?seconds=1", "/debug/pprof/profile?seconds=2", "/debug/pprof/profile?seconds=3":
        began = time.monotonic()
        status, head, body = get(url, path)
        assert status == 200 and head["Content-Type"] == "application/octet-stream", (path, status, body[:200])
        total, names = running_in(body)
        print(f"# {path}: {total / 1e9:.3f} s of running code after {time.monotonic() - began:.1f} s")
        # Beside load two seconds of a clock may be a tenth of a second of a CPU, in one of the three.
        assert 0 < total < 2e9 * 2 * 10 and names & {"spin_a", "spin_b", "spin_c"}, (total, names)
        # Functions without names are told apart by where they are.
        assert any(re.fullmatch(r"\[stripped\+0x[0-9a-f]+\]", n) for n in names), names
        assert not any(n.endswith("+0x]") for n in names), names
    status, _, body = get(url, "/debug/pprof/offcpu?seconds=1")
    assert status == 200 and body[:2] == b"\x1f\x8b", (status, body[:200])
    assert get(url, "/healthz")[::2] == (200, b"ok\n")
    assert json.loads(get(url, "/status")[2])["window"] >= 3
    page = get(url, "/")
    assert page[0] == 200 and b"<iframe" in page[2] and "default-src 'none'" in page[1]["Content-Security-Policy"]
    flame = get(url, "/flame/cpu")
    assert flame[0] == 200 and re.search(rb"spin_[abc]", flame[2])
    head = get(url, "/metrics", "HEAD")
    assert head[0] == 200 and head[2] == b""


def hostile(url, everything=""):
    u = urllib.parse.urlsplit(url)
    for host in "evil.example", "localhost.evil.example", "127.evil.example", "", "[::1].evil.example":
        assert get(url, "/metrics", Host=host)[0] in (400, 403), host
    for host in "localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]:9":
        assert get(url, "/healthz", Host=host)[0] == 200, host
    for seconds in "-1", "0", "", "1x", "301", "1e2", "99999999999999999999999", "%00", " 2":
        assert get(url, "/debug/pprof/profile?seconds=" + urllib.parse.quote(seconds, "%"))[0] == 400, seconds
    for path in "/../../etc/passwd", "//etc/passwd", "/flame/../metrics", "/metrics/", "/%2e%2e/", "/nothing":
        assert get(url, path)[0] == 404, path
    for method in "POST", "PUT", "DELETE", "OPTIONS", "TRACE":
        assert get(url, "/metrics", method)[0] in (405, 501), method
    began = time.monotonic()
    assert get(url, "/healthz", X="y" * 100000)[0] in (413, 431, 414)
    assert time.monotonic() - began < 5, "what comes in at once is taken in parts, one each turn"

    def open_one():
        return socket.create_connection((u.hostname, u.port), timeout=60)
    slow = [open_one() for _ in range(60)]
    for s in slow:
        s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
    assert get(url, "/healthz")[0] == 200, "slow ones keep others out"
    askers = [open_one() for _ in range(3)]
    for s in askers:
        s.send(b"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        s.close()
    if not everything:
        for s in slow:
            s.close()
        wait_for_windows(url, 1)
        return
    # However slowly one sends, it has ten seconds.
    began = time.monotonic()
    while slow and time.monotonic() < began + 40:
        for s in list(slow):
            try:
                s.send(b"y")
            except OSError:
                slow.remove(s)
        time.sleep(0.5)
    assert not slow, f"{len(slow)} are still there"
    print(f"# slow ones were sent away after {time.monotonic() - began:.0f} s")
    wait_for_windows(url, 1)


def token(url, secret):
    basic = base64.b64encode(b"anybody:" + secret.encode()).decode()
    for path in "/", "/metrics", "/status", "/flame/cpu", "/debug/pprof/profile?seconds=1", "/nothing":
        for wrong in {}, {"Authorization": "Bearer " + secret[:-1]}, {"Authorization": "Bearer " + secret + "0"}, \
                {"Authorization": "Bearer"}, {"Authorization": secret}, {"Authorization": "Basic ===="}:
            status, head, _ = get(url, path, **wrong)
            assert status == 401 and "Basic" in head["WWW-Authenticate"], (path, wrong, status)
    scrape(url, Authorization="Bearer " + secret, Host="machine.example:9100")
    scrape(url, Authorization="Basic " + basic)
    assert get(url, "/healthz")[0] == 200


def unix(path):
    assert get(path, "/healthz", Host="anything")[0] == 200
    wait_for_windows(path, 1)


{"answers": answers, "hostile": hostile, "token": token, "unix": unix}[sys.argv[1]](*sys.argv[2:])
