# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What timelines say, against what the kernel counted and against each other.

    timeline.py known JSON LOG       threads of sched_known, as the kernel has counted them
    timeline.py whole JSON           spans of each thread follow each other, and rows are their sums
    timeline.py trace TRACE JSON     a trace is one, and has the spans of the JSON
    timeline.py csv CSV JSON         so has the CSV
    timeline.py threshold JSON US    the longest wait ends it
"""
import csv
import json
import sys

STATES = ["running", "runnable", "waiting", "throttled", "unknown"]
CPUS = 4194304  # where tracks of CPUs are


def near(a, b, share, slack):
    return abs(a - b) <= max(share * abs(b), slack)


def by_thread(doc):
    threads = {}
    for s in doc["spans"]:
        threads.setdefault((s["pid"], s["tid"]), []).append(s)
    return threads


def whole(doc):
    rows = {(r["pid"], r["tid"]): r for r in doc["rows"]}
    begin, end = doc["timeline"]["from_s"] * 1e6, doc["timeline"]["to_s"] * 1e6
    threads = by_thread(doc)
    assert set(rows) <= set(threads), set(rows) - set(threads)
    for key, spans in threads.items():
        for a, b in zip(spans, spans[1:]):
            assert near(a["from_us"] + a["us"], b["from_us"], 0, 0.0015), (key, a, b)
            assert a["state"] != "running" or b["state"] != "running", (key, a, b)
        assert all("open" not in s for s in spans[:-1]) and all("before" not in s for s in spans[1:]), key
        assert spans[0]["from_us"] >= begin - 1 and spans[-1]["from_us"] + spans[-1]["us"] <= end + 1, key
        if "before" in spans[0]:
            assert near(spans[0]["from_us"], begin, 0, 1), spans[0]
        last = spans[-1]
        assert near(last["from_us"] + last["us"], end, 0, 1) == ("open" in last), (last, end)
        assert "open" in last or last.get("then") == "exit", last
        if key in rows:
            r = rows[key]
            for state in STATES:
                total = sum(s["us"] for s in spans if s["state"] == state)
                assert near(total, r[state + "_us"], 0, 0.001 * len(spans)), (key, state, total, r)
            delays = [s for s in spans if s["state"] == "runnable"]
            assert len(delays) == r["delays"], (key, len(delays), r)
            assert sum("then" in s for s in spans) >= r["switches"], key
            if delays:
                longest = max(delays, key=lambda s: s["us"])
                assert near(longest["us"], r["max_delay_us"], 0, 0.002), (longest, r)
                assert near(sum(s["us"] for s in delays) / len(delays), r["avg_delay_us"], 0, 0.002), r
    # No CPU runs two threads at a time.
    cpus = {}
    for s in doc["spans"]:
        if s["state"] == "running":
            cpus.setdefault(s["cpu"], []).append((s["from_us"], s["from_us"] + s["us"], s["name"]))
    for cpu, runs in cpus.items():
        runs.sort()
        for a, b in zip(runs, runs[1:]):
            assert a[1] <= b[0] + 0.002, (cpu, a, b)
    ledger = doc["ledger"]
    assert ledger["seen"] == ledger["recorded"] + ledger["filtered"] + ledger["lost"], ledger
    return threads


BUSY = 3  # exit status: interrupts are charged to nobody, what wakes a thread is charged to it, or threads were hidden


def known(doc, log):
    rows = {r["tid"]: r for r in doc["rows"]}
    threads = {t: s for (_, t), s in by_thread(doc).items()}
    begin_ns = doc["timeline"]["begin_monotonic_s"] * 1e9
    told = [line.split() for line in open(log)]
    end = next(int(t[1]) for t in told if t[0] == "end")
    hog = next(([int(x) for x in t[1:]] for t in told if t[0] == "hog"), None)
    busy = []
    for t in told:
        if t[0] != "thread":
            continue
        name, tid, born, ran, blocked, preempted = t[1], *map(int, t[2:])
        r = rows[tid]
        unknown = r["unknown_us"]  # a host that hides threads of its own hides their switches too
        print("#", name, "ran", r["running_us"], "of", ran / 1e3, "switches", r["switches"], "of", blocked + preempted,
              "unknown", unknown)
        assert r["name"] == name, r
        if unknown or not near(r["running_us"], ran / 1e3, 0.01, 100 + 20 * (blocked + preempted) / 100):
            busy.append((name, r, ran))
        lived = sum(r[s + "_us"] for s in STATES)
        assert near(lived, (end - born) / 1e3, 0.01, 100000), (name, lived, end - born)
        assert near(threads[tid][0]["from_us"], (born - begin_ns) / 1e3, 0, 20000), (name, threads[tid][0], born - begin_ns)
        if not unknown:
            assert r["switches"] == blocked + preempted, (name, r, blocked, preempted)
            assert r["preempted"] == preempted, (name, r, preempted)
        waits = {s.get("class") for s in threads[tid] if s["state"] == "waiting"}
        want = {"naps": {"sleep"}, "ping": {"read"}, "pong": {"read"}, "held": {"read"}, "hog": {"sleep"}}[name]
        assert want <= waits, (name, waits)
        if name == "naps":
            naps = sum(s["us"] for s in threads[tid] if s.get("class") == "sleep" and s["state"] == "waiting")
            assert naps >= 20 * 15000 * 0.999 - unknown, (naps, unknown)
        if name in ("ping", "pong"):
            wakers = {s["waker"]["name"] for s in threads[tid] if "waker" in s}
            assert ("pong" if name == "ping" else "ping") in wakers, wakers
        if name == "held" and hog:
            start, stop = (hog[0] - begin_ns) / 1e3, (hog[1] - begin_ns) / 1e3
            longest = r["max_delay_from_s"] * 1e6, r["max_delay_to_s"] * 1e6
            print("# hog", start, stop, "held", longest)
            if unknown or longest[1] < start or longest[0] > stop:  # another wait was longer
                busy.append((name, r, ran))
                continue
            assert start <= longest[0] <= start + 5000 and longest[1] >= stop - 1000, (start, stop, longest)
            assert r["max_delay_us"] >= 0.99 * (stop - start), r
    assert len(rows) >= 6, rows
    if busy:
        print("# runtimes are not those of the kernel, or switches were hidden:", busy)
        sys.exit(BUSY)


def us(x):
    return round(x * 1000)


def trace(path, doc):
    t = json.load(open(path), parse_float=str)
    assert set(t) == {"displayTimeUnit", "otherData", "traceEvents"} and t["displayTimeUnit"] == "ms", set(t)
    names, last, running, ended, flows, slices, cpu_slices = {}, -1, {}, {}, {}, [], 0
    in_events = False

    def ns(text):  # "12.345": us, always with three digits
        whole_us, part = str(text).split(".")
        assert len(part) == 3 and whole_us.isdigit() and part.isdigit(), text
        return int(whole_us) * 1000 + int(part)

    for e in t["traceEvents"]:
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["pid"] > 0 and e["tid"] > 0, e
        track = e["pid"], e["tid"]
        if e["ph"] == "M":
            assert not in_events, e  # names come first
            if e["name"] == "process_sort_index":
                assert set(e) == {"ph", "name", "pid", "tid", "args"} and isinstance(e["args"]["sort_index"], int), e
                continue
            assert e["name"] in ("process_name", "thread_name") and set(e["args"]) == {"name"}, e
            assert (e["name"], track) not in names, e
            names[e["name"], track] = e["args"]["name"]
            continue
        in_events = True
        ts = ns(e["ts"])
        assert ts >= last, (last, e)
        last = ts
        assert ("thread_name", track) in names, e
        if e["ph"] == "B":
            assert set(e) == {"ph", "name", "pid", "tid", "cat", "ts", "args"}, e
            assert track not in running, (running[track], e)  # slices of a track lie side by side
            running[track] = ts, e["cat"], e["name"], e["args"]
            if e["pid"] == CPUS:
                assert e["cat"] == "cpu" and set(e["args"]) == {"pid", "tid"}, e
                cpu_slices += 1
            else:
                assert e["cat"] in STATES and ts == ended.get(track, ts), (ended, e)  # and leave no gap
        elif e["ph"] == "E":
            start, cat, *same = running.pop(track)
            assert same == [e["name"], e["args"]] and cat == e["cat"], (same, e)
            ended[track] = ts
            if e["pid"] != CPUS:
                slices.append((e["pid"], e["tid"], start, ts - start, cat))
        elif e["ph"] == "s":
            assert e["id"] not in flows and e["name"] == "wakes", e
            flows[e["id"]] = [e, None]
        elif e["ph"] == "f":
            assert e["bp"] == "e" and flows[e["id"]][1] is None and ns(flows[e["id"]][0]["ts"]) <= ts, e
            flows[e["id"]][1] = e
            begun = running[track]
            assert begun[0] == ts and begun[1] in ("running", "unknown"), (begun, e)  # it points to a run that begins
        else:
            raise AssertionError(e)
    assert not running, running
    assert all(f for s, f in flows.values()), "an arrow has no end"
    spans = sorted((s["pid"], s["tid"], us(s["from_us"]), us(s["us"]), s["state"]) for s in doc["spans"])
    assert sorted(slices) == spans, (len(slices), len(spans))
    assert cpu_slices == sum(s["state"] == "running" for s in doc["spans"]), cpu_slices
    print("#", len(slices), "slices,", cpu_slices, "on CPUs,", len(flows), "arrows")


def same_csv(path, doc):
    rows = list(csv.DictReader(open(path, newline="")))
    assert len(rows) == len(doc["spans"]), (len(rows), len(doc["spans"]))
    for r, s in zip(rows, doc["spans"]):
        assert us(float(r["from_us"])) == us(s["from_us"]) and int(r["tid"]) == s["tid"] and r["name"] == s["name"], (r, s)
        assert us(float(r["to_us"])) == us(s["from_us"]) + us(s["us"]) and r["state"] == s["state"], (r, s)
        assert r["class"] == s.get("class", s.get("then", "")) and r["cpu"] == str(s.get("cpu", "")), (r, s)
        assert r["waker"] == s.get("waker", {}).get("name", ""), (r, s)


def threshold(doc, least):
    whole(doc)
    longest = max(s["us"] for s in doc["spans"] if s["state"] == "runnable")
    assert longest >= least, longest


def main():
    what, files = sys.argv[1], sys.argv[2:]
    if what == "known":
        known(json.load(open(files[0])), files[1])
    elif what == "whole":
        whole(json.load(open(files[0])))
    elif what == "trace":
        trace(files[0], json.load(open(files[1])))
    elif what == "csv":
        same_csv(files[0], json.load(open(files[1])))
    elif what == "threshold":
        threshold(json.load(open(files[0])), float(files[1]))


main()
