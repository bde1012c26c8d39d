#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Three counters are left, as on a virtual machine: many events take turns, each says how much of the time it was
# counted, and scaled numbers are right; what the PMU does not have is never a healthy 0.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_guest
need_root
need_prog spin_abc take_counters
need_instructions

check "undisturbed" "$BPFPROF" stat -e cycles --json 0.5
check_is "$(said "$OUT" counters)" 6 "the number of counters"
start "$PROGS/take_counters" 4
taken() { grep -q "took 4" "$LOG"; }
check "four of them taken" wait_until 5 taken
start "$PROGS/spin_abc" 60

# Events, duty and value of the JSON; scaled ones of cycles and instructions against the time.
truth() { # JSON MIN_DUTY MIN_NR: those with at least this duty, of which there are so many
	python3 - "$@" "$CYCLES_PER_INSTRUCTION" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
clock = d["seconds"]["mean"] * 1e9
if any(e["name"] == "task-clock" for e in d["all"]["events"]):
    clock = next(e["value"] for e in d["all"]["events"] if e["name"] == "task-clock")
nr = 0
for e in d["all"]["events"]:
    per = {"cycles": 1, "cpu_cycles": 1, "r0011": 1, "instructions": int(sys.argv[4]), "inst_retired": int(sys.argv[4]),
           "r0008": int(sys.argv[4])}.get(e["name"])
    if per is None or e["duty_pct"] < float(sys.argv[2]):
        continue
    nr += 1
    off = 100 * (e["value"] * per / clock - 1)
    print("%s counted %.2f %% of the time, off by %+.2f %%" % (e["name"], e["duty_pct"], off), file=sys.stderr)
    if abs(off) > 3:
        print("wrong: %s by %+.2f %%" % (e["name"], off))
print("right" if nr >= int(sys.argv[3]) else "only %d events" % nr)
EOF
}

# Six events that count, in turns: a generic name and a raw one are two counters.
check "six events, system-wide" "$BPFPROF" stat -s -e cycles,instructions,r0011,r0008,stall_frontend,stall_backend -o "$TMP/x.json" 2
check_grep '^ +[0-9]{1,3}(,[0-9]{3})+ +instructions +\([1-9][0-9]\.[0-9]{2}%\)' "$OUT" "the share of time has two decimals"
check_no_grep '\([0-9]+\.00%\).*\([0-9]+\.00%\)' <(tr '\n' ' ' <"$OUT") "decimals are no zeros"
check_is "$(truth "$TMP/x.json" 30 3)" right "what was scaled"
check_is "$(said "$TMP/x.json" counters)" 2 "the number of counters"
check_is "$(said "$TMP/x.json" 'event instructions state')" scaled "the state of instructions"

check "six events of a process" "$BPFPROF" stat -p "$PID" -e task-clock,cycles,instructions,r0011,r0008,stall_frontend,stall_backend \
	-o "$TMP/x.json" 2
check_is "$(truth "$TMP/x.json" 30 3)" right "what was scaled"

# Both terms of a ratio run together, so it is right whatever its terms are.
check "two events fit" "$BPFPROF" stat -M ipc -e cycles,instructions -o "$TMP/x.json" 1
check_within "$(said "$TMP/x.json" 'metric ipc mean')" 0.25 3 "instructions per cycle"

# Sets show what the PMU lists; events that it does not list can be opened all the same, and read 0.
missing=l1d_cache,l1d_cache_refill,dtlb_walk,br_retired,br_mis_pred_retired
check "sets of metrics" "$BPFPROF" stat -s -M topdown,cache,tlb,branch,ipc -e $missing,r0011,r0008,r0023 -o "$TMP/x.json" 2
cp "$OUT" "$TMP/text"
check_grep '\([0-9]+\.[0-9]{2}%\)' "$TMP/text" "the share of time is there"
check_within "$(said "$TMP/x.json" 'metric ipc mean')" 0.25 3 "instructions per cycle"
check_is "$(truth "$TMP/x.json" 36 0)" right "what was scaled"
for event in ${missing//,/ }; do
	check_grep "^ +<not advertised> +$event( |\$)" "$TMP/text"
	check_is "$(said "$TMP/x.json" "event $event state" "event $event value")" "not-advertised none" "$event in JSON"
done
for set in cache tlb branch; do
	check_grep "^- $set: nothing to show" "$TMP/text"
done
python3 - "$TMP/x.json" >"$TMP/verdicts" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
state = {e["name"]: e["state"] for e in d["all"]["events"]}
for name, s in state.items():
    print("event", name, s)
for m in d["all"]["metrics"]:
    there = m["mean"] is not None
    print("metric", m["set"], m["name"], "n/a" if not there else "%g" % m["mean"], m["verdict"] or "-")
    terms = m["formula"].replace("(", " ").replace(")", " ").split()
    missing = [name for name, s in state.items() if s == "not-advertised" and name in terms]
    if missing and there:
        print("wrong: %s is there without %s" % (m["name"], missing))
    if not there and m["verdict"]:
        print("wrong: %s has a verdict and no value" % m["name"])
EOF
check_no_grep '^wrong' "$TMP/verdicts" "no metric of what is missing has a value or a verdict"
check_no_grep '^metric (cache|tlb|branch) ' "$TMP/verdicts" "sets without events have no values"
check_grep '^metric topdown frontend_bound .* -$' "$TMP/verdicts" "zeros have no verdict"
check_no_grep ' ok$' "$TMP/verdicts" "nothing is called healthy"
check_is "$(said "$TMP/x.json" counters)" 2 "the number of counters"
finish
