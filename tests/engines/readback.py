# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What engines have kept, as they say themselves, and what a recording holds, read without bpfprof.

readback.py parca URL         sums of all that Parca has of the last two hours, by its own queries
readback.py pyroscope URL     the same of Pyroscope
readback.py collector FILE    the same of the lines of JSON that a Collector's file exporter has written
readback.py kept TIMES FILE...     sums of recordings of `wall`, from their tables
readback.py classes TIMES FILE...  sums of the pprof of recordings that bpfprof report wrote, for the classes

Each line is TYPE SERVICE CLASS SUM, without a class "-". The sums of all files are multiplied by TIMES. A recording's
service is the name of the process, but for those in SERVICES ("PID=NAME ...").
"""
import base64
import gzip
import json
import os
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import pprof
import windows

SERVICE, CLASS = "service_name", "wait_class"
HOURS = 2
# Kinds of samples that wait for a CPU; what else is no running time is off the CPU.
RUNNABLE = {"preempted", "woken", "throttled"}


def add(sums, kind, service, wait_class, n):
    key = kind, service, wait_class or "-"
    if n:
        sums[key] = sums.get(key, 0) + n


def http(url, body=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as f:
        return json.load(f)


def by_selectors(types, services, classes, total_of):
    """What an engine answers for each service and class. What has no class is the rest; nothing is in no service."""
    sums = {}
    for name, kind in types:
        everything = 0
        for service in services:
            whole = rest = total_of(name, {SERVICE: service})
            for wait_class in classes if whole else []:
                n = total_of(name, {SERVICE: service, CLASS: wait_class})
                add(sums, kind, service, wait_class, n)
                rest -= n
            add(sums, kind, service, "", rest)
            everything += whole
        assert everything == total_of(name, {}), (kind, "is not the sum of its services")
    return sums


def selector(labels):
    return "{" + ",".join(f"{k}={json.dumps(v)}" for k, v in labels.items()) + "}"


# --- Parca ---

def parca(url):
    def stamp(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    span = {"start": stamp(time.time() - HOURS * 3600), "end": stamp(time.time() + 60)}

    def total_of(name, labels):
        query = {"mode": "MODE_MERGE", "merge.query": name + selector(labels), "report_type": "REPORT_TYPE_PPROF",
                 **{"merge." + k: v for k, v in span.items()}}
        answer = http(url + "/api/profiles/query?" + urllib.parse.urlencode(query))
        # Its pprof has gaps that ours must not have: no checks here.
        samples = pprof.parse("profile", gzip.decompress(base64.b64decode(answer["pprof"]))).get("sample", [])
        return sum(sum(s["value"]) for s in samples)

    def values(label):
        query = urllib.parse.urlencode(span)
        return http(f"{url}/api/profiles/labels/{label}/values?{query}").get("labelValues", [])

    types = []
    for t in http(url + "/api/profiles/types")["types"]:
        assert t["name"] == "bpfprof", t
        words = [t["name"], t["sampleType"], t["sampleUnit"], t["periodType"], t["periodUnit"]]
        types.append((":".join(words + ["delta"] * t.get("delta", False)), t["sampleType"] + ":" + t["sampleUnit"]))
    return by_selectors(types, values(SERVICE), values(CLASS), total_of)


# --- Pyroscope ---

def pyroscope(url):
    def ask(method, **more):
        span = {"start": int((time.time() - HOURS * 3600) * 1000), "end": int((time.time() + 60) * 1000)}
        return http(url + "/querier.v1.QuerierService/" + method, {**span, **more})

    def total_of(name, labels):
        answer = ask("SelectMergeProfile", profile_typeID=name, label_selector=selector(labels), max_nodes=1 << 20)
        return sum(int(v) for s in answer.get("sample", []) for v in s["value"])

    types = [(t["ID"], t["sampleType"] + ":" + t["sampleUnit"]) for t in ask("ProfileTypes")["profileTypes"]]
    values = [ask("LabelValues", name=label).get("names", []) for label in (SERVICE, CLASS)]
    return by_selectors(types, *values, total_of)


# --- Collector ---

def collector(path):
    sums = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            collector_request(json.loads(line), sums)
    return sums


def collector_request(m, sums):
    tables = m["dictionary"]
    strings = tables["stringTable"]

    def pair(a):
        value = a.get("value", {})
        text = strings[value["stringValueStrindex"]] if "stringValueStrindex" in value else value.get("stringValue")
        return strings[a["keyStrindex"]] if "keyStrindex" in a else a.get("key"), text

    attributes = [pair(a) for a in tables["attributeTable"]]
    for resource in m["resourceProfiles"]:
        service = dict(pair(a) for a in resource["resource"]["attributes"])["service.name"]
        for p in (p for scope in resource["scopeProfiles"] for p in scope["profiles"]):
            kind = ":".join(strings[p["sampleType"][k]] for k in ("typeStrindex", "unitStrindex"))
            for s in p["samples"]:
                known = dict(attributes[i] for i in s.get("attributeIndices", []))
                add(sums, kind, service, known.get(CLASS), sum(int(v) for v in s["values"]))


# --- recordings ---

NAMED = dict(word.split("=") for word in os.environ.get("SERVICES", "").split())


def kept(times, *paths):
    """Waits have no class yet: only who waited is in the tables, and in what state."""
    sums = {}
    for path in paths:
        w = windows.Window(path)
        for _, weight, pid, _, process, kind in w.samples():
            process = NAMED.get(str(pid), process)
            if kind == "running":
                add(sums, "cpu:nanoseconds", process, "", weight * int(times))
            elif kind in RUNNABLE:
                add(sums, "runq:nanoseconds", process, kind, weight * int(times))
            elif kind == "blocked":
                add(sums, "off_cpu:nanoseconds", process, "", weight * int(times))
        add(sums, "ledger:count", "bpfprof", "", w.counters.get("seen", 0) * int(times))
        cost = sum(w.meta.get(key, 0) for key in ("bpf_ns", "interrupts_ns", "cpu_ns"))
        add(sums, "cost:nanoseconds", "bpfprof", "", cost * int(times))
    return sums


def classes(times, *paths):
    sums = {}
    for path in paths:
        with open(path, "rb") as f:
            p = pprof.parse("profile", gzip.decompress(f.read()))
        for s in p["sample"]:
            of = pprof.labels(p, s)
            if "process" not in of:  # what was lost: only the ledger has it
                continue
            service = NAMED.get(str(of["pid"]), of["process"])
            if of.get(CLASS) in RUNNABLE:
                kind = "runq"
            else:
                kind = "cpu" if of.get(CLASS) in (None, "on-cpu") else "off_cpu"
            add(sums, kind + ":nanoseconds", service, of.get(CLASS), s["value"][-1] * int(times))
    return sums


if __name__ == "__main__":
    read = {f.__name__: f for f in (parca, pyroscope, collector, kept, classes)}[sys.argv[1]](*sys.argv[2:])
    for key in sorted(read):
        print(*(word.replace(" ", "_") for word in key), read[key])
