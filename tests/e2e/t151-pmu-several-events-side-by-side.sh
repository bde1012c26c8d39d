#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several events are values of the same stacks: none gets what belongs to another, and one ledger closes over all.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog faulter waits_sleeper

self() { # FUNCTION EVENT: in $TMP/x.json
	python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["functions"]:
    if f["name"] == sys.argv[2]: print(f["self"][sys.argv[3]])' "$TMP/x.json" "$@"
}
leaf() { # FUNCTION FILE
	awk -v leaf="$1" '{ n = split($0, f, /[; ]/) } f[n - 1] == leaf { sum += $NF } END { print sum + 0 }' "$2"
}

check "three events" "$BPFPROF" pmu -e page-faults,context-switches -e cpu-clock -U -s -o "$TMP/x.json" -o "$TMP/x.folded" \
	-o "$TMP/x.bpfprof" -- "$PROGS/faulter" 20000 10
check_near "$(self touch_pages page-faults)" 200000 0 "page faults in touch_pages"
check_near "$(self touch_twice page-faults)" 20000 0 "page faults in touch_twice"
check_near "$(leaf touch_pages "$TMP/x.folded")" 200000 0 "stacks show the first event"
check_grep '^page-faults  context-switch(es|…)  cpu-clock  FUNCTION' "$OUT" "the summary has a column for each"
check "the ledger closes over all" python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); s = d["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert sum(e["samples"] for e in d["events"]) == s["recorded"], d["events"]
assert d["events"][2]["period"] == 0 and d["events"][2]["rate_hz"] == 99, d["events"]' "$TMP/x.json"

check "report --value" "$BPFPROF" report --value context-switches -f "$TMP/x.bpfprof"
check_near "$(leaf touch_twice "$OUT")" 0 50 "touch_twice is seldom switched away from"
check "report --value of the first" "$BPFPROF" report --value page-faults -f "$TMP/x.bpfprof"
check_near "$(leaf touch_pages "$OUT")" 200000 0 "page faults in touch_pages, as they were saved"
check_status 2 "report --value of none" "$BPFPROF" report --value page-fault -f "$TMP/x.bpfprof"
check_grep "no such event; did you mean 'page-faults'" "$ERR"

# 40 naps are 40 times off the CPU, each in nap_often(); the thread may be preempted besides, but not there.
check "context switches" "$BPFPROF" pmu -e context-switches,page-faults -f -- "$PROGS/waits_sleeper" often 40 10000
check_near "$(awk '/;nap_often(;| )/ { n += $NF } END { print n + 0 }' "$OUT")" 40 2 "context switches in nap_often"
finish
