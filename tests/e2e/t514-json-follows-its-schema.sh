#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every JSON output, of made-up results of every kind and of calls of a program, follows docs/json.schema.json; one that
# is broken in any of many ways does not.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
SCHEMA=$ROOT/docs/json.schema.json
TOOL=$ROOT/tests/e2e/schema.py
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_pmu gen_runqlat gen_stat gen_timeline; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
[ -r "$SCHEMA" ] || lacks "$SCHEMA is not there"
python3 "$TOOL" "$SCHEMA" 2>"$ERR"
[ $? -ne 77 ] || skip "$(cat "$ERR")"
cd "$TMP" || exit 1

files=()
writes() { # FILE FORMAT ARGS...: a JSON output, which says what it is
	check "$1: bpfprof ${*:3}" "$BPFPROF" "${@:3}"
	cp "$OUT" "$1"
	check_grep "^ *\"format\": ?\"bpfprof-$2\"," "$1"
	files+=("$1")
}

check "a recording with all there is" "$GEN/gen_pmu" pmu.bpfprof
for kind in small broken offcpu wakeup lock wall 50; do
	check "a profile, $kind" "$GEN/gen_profile" $kind $kind.bpfprof
done
for kind in pmu small broken offcpu wakeup lock wall 50; do
	writes $kind.json profile report --json $kind.bpfprof
	writes $kind.broken.json broken report --broken --json $kind.bpfprof
done
for part in events branches columns audit; do
	check "$part are in it" python3 -c 'import json, sys; assert json.load(open("pmu.json"))[sys.argv[1]]' $part
done
for kind in pmu small wall; do
	writes $kind.annotate.json annotate annotate --json --hottest 20 $kind.bpfprof
done
writes lines.annotate.json annotate annotate --json --file-lines pmu.bpfprof
for key in function module thread; do
	writes $key.shares.json shares report --by $key --json small.bpfprof
done
writes class.shares.json shares report --by class --json wall.bpfprof
for kind in small wall pmu; do
	writes $kind.tree.json tree report --tree --json $kind.bpfprof
	writes $kind.up.json tree report --bottom-up --json --percent-limit 5 $kind.bpfprof
	writes $kind.peek.json peek report --peek . --json $kind.bpfprof
done
check "with how long waits were" python3 -c 'import json
assert all("lengths" in r for r in json.load(open("class.shares.json"))["rows"] if r["name"] in ("[lock]", "[idle]"))
assert all("lengths" in c for name, c in json.load(open("wall.json"))["waits"]["classes"].items() if name != "on-cpu")'
writes table.json table report --table --json wall.bpfprof

# Calls are those of a program: descend() calls itself, and its first argument says how deep it still has to go.
can_probe() {
	[ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] && [ -r /sys/bus/event_source/devices/uprobe/type ]
}

calls() { # NAME FACT OPTIONS...: a recording, of which a sentence of python about its rows is true
	check "$1: a recording" "$BPFPROF" uprobe "${@:3}" --json -o "$1.bpfprof" "$PROGS/deep_fp:descend" \
		-- "$PROGS/deep_fp" 5 0.1
	cp "$OUT" "$1.recorded"
	writes "$1.json" profile report --json "$1.bpfprof"
	check "$1: the report has the same calls" python3 -c '
import json, sys
assert json.load(open(sys.argv[1]))["calls"] == json.load(open(sys.argv[2]))["calls"]' "$1.recorded" "$1.json"
	check "$1: $2" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["calls"]
assert eval(sys.argv[2]), rows' "$1.json" "$2"
}

made_of_calls=()
if can_probe; then
	need_prog deep_fp
	calls calls '[(r["function"], r["calls"], r["arguments"], r["pid"]) for r in rows] == [("descend", 5, None, None)]'
	check_no_grep '"total_us"' calls.json "calls that are not timed have no times"
	calls calls-args 'sorted(r["arguments"] for r in rows) == [*"12345"] and all(r["calls"] == 1 for r in rows)' \
		--arg 1:int
	calls calls-timed 'rows[0]["calls"] == 5 and rows[0]["max_us"] >= 1e5 and rows[0]["total_us"] >= 5e5' -l -g
	calls calls-all '[(r["arguments"], r["process"]) for r in rows] == [(n, "deep_fp") for n in "54321"] and rows[0]["pid"]' \
		-l -P --arg 1:int
	made_of_calls=(calls.json calls-all.json)
else
	[ -z "${IN_GUEST:-}" ] || fail "this guest takes no probes"
	echo "# skip: no documents about calls: that needs root and uprobes"
fi
for by in all process thread cpu; do
	check "runqlat, $by" "$GEN/gen_runqlat" $by q.bpfprof
	writes runqlat-$by.json runqlat report --json q.bpfprof
done
for kind in timeline sched; do
	check "a recording of $kind" "$GEN/gen_timeline" $kind $kind.bpfprof
	writes $kind.json timeline report --json $kind.bpfprof
done
check "runqlat, an interval" "$GEN/gen_runqlat" interval interval.json
for what in runs=5 runs=1 threads=5 hotspots=4; do
	"$GEN/gen_stat" json $what >s.json
	writes stat-$what.json stat report --json s.json
done
"$GEN/gen_stat" json interval=1 >lines.json
"$GEN/gen_stat" json interval=2 >>lines.json
"$GEN/gen_stat" json time=1.1 >b.json
writes diff.json diff diff --json s.json b.json
writes rules.json diff diff --json --fail-on 'ipc<-90%' stat-runs=1.json b.json
writes events.json events list --json 'page-faults'
writes doctor.json doctor doctor --json report
writes who.json who who --json $$

check "all follow the schema, intervals in lines too" python3 "$TOOL" "$SCHEMA" "${files[@]}" interval.json lines.json

# Of each document copies that are wrong in one place, everywhere: none of them follows. A list that may be empty, a map
# whose keys may grow and what may be left out are not wrong without a part; all else is.
check "what is wrong is found" python3 - "$SCHEMA" pmu.json pmu.broken.json offcpu.json table.json runqlat-thread.json \
	runqlat-cpu.json timeline.json stat-hotspots=4.json diff.json events.json doctor.json pmu.annotate.json "${made_of_calls[@]}" <<'PY'
import copy, json, sys
from jsonschema import Draft202012Validator

valid = Draft202012Validator(json.load(open(sys.argv[1]))).is_valid
OPTIONAL = {("calls",), "waits", "lengths", "audit", "events", "branches", "columns", "period_sum", "filtered_us", "lost_us", "by",
            "threshold_us", "rows", "outliers", "outliers_lost", "ledger", "cpu", "pid", "tid", "name",
            "short_cpu", "then", "class", "waker", "before", "open", "avg_delay_us", "max_delay_us", "max_delay_from_s",
            "max_delay_to_s", "spans"}
OPTIONAL_OF = {"bpfprof-runqlat": {("cost",)}}
MAPS = {"filtered_by", "lost_by", "notes", "broken_by", "ends", "classes", "blocked_ns", "columns", "self", "total"}

def places(o, at=()):
    """Every value: the keys that lead to it."""
    yield at
    items = list(o.items()) if isinstance(o, dict) else list(enumerate(o)) if isinstance(o, list) else []
    # Of a list, or a map by words, one value is like the others.
    for key, value in items[:1] if isinstance(o, list) or at and at[-1] in MAPS else items:
        yield from places(value, at + (key,))

def holder(document, at):
    for key in at[:-1]:
        document = document[key]
    return document

tried = 0
for path in sys.argv[2:]:
    document = json.load(open(path))
    assert valid(document), path
    for at in places(document):
        wrong = [lambda d: holder(d, at).__setitem__(at[-1], {"no": ["such", "thing"]})] if at else []
        if at and isinstance(holder(document, at), dict) and at[-1] not in OPTIONAL and \
                at not in OPTIONAL and at not in OPTIONAL_OF.get(document["format"], ()) and not (len(at) > 1 and at[-2] in MAPS):
            wrong.append(lambda d: holder(d, at).pop(at[-1]))
        value = holder(document, at)[at[-1]] if at else document
        if isinstance(value, dict) and (not at or at[-1] not in MAPS):
            wrong.append(lambda d: (holder(d, at)[at[-1]] if at else d).__setitem__("surplus", None))
        for change in wrong:
            copied = copy.deepcopy(document)
            change(copied)
            tried += 1
            assert not valid(copied), (path, at)
assert tried > 300, tried
PY
echo '{"format": "bpfprof-nosuch", "version": 1}' >bad.json
check_status 1 "a format that there is not" python3 "$TOOL" "$SCHEMA" bad.json
sed 's/"version": 1/"version": 2/' diff.json >bad.json
check_status 1 "a version that there is not" python3 "$TOOL" "$SCHEMA" bad.json
check_grep "version" "$OUT"
sed 's/"failed": [0-9]*/"failed": "0"/' diff.json >bad.json
check_status 1 "a text for a number" python3 "$TOOL" "$SCHEMA" bad.json
finish
