#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that burns 50/30/20 % in three functions is shown so, within 3 points, and with a sample for each ms that it ran.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc

check "oncpu records" "$BPFPROF" oncpu -F 999 -o "$TMP/x.json" -o "$TMP/x.folded" -- "$PROGS/spin_abc" 2
cp "$OUT" "$TMP/did"
did() { # KEY: what the target says of itself
	awk -v key="$1" '$1 == key { print $2 }' "$TMP/did"
}
check_folded "$TMP/x.folded"
for share in a=50 b=30 c=20; do
	check_pct "$TMP/x.folded" "spin_${share%=*}" "${share#*=}" 3
	check_pct "$TMP/x.folded" "spin_${share%=*}" "$(did "${share%=*}")" 3
done
check_pct "$TMP/x.folded" main 100 2
# Between the two, C libraries have functions of their own, with names or without.
check_grep '^spin_abc;([^;]+;)*main;spin_a' "$TMP/x.folded"
expected=$(samples_in "$(did ms)" 999)
check_near "$(folded_sum "$TMP/x.folded")" "$expected" $((expected / 20)) "samples for the CPU time of the target"
check "ledger and stacks" python3 -c 'import json,sys
d = json.load(open(sys.argv[1])); s = d["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"] and s["lost"] == 0, s
assert s["recorded"] == int(sys.argv[2]), s
assert d["profile"]["event"] == "cycles" or abs(s["period_sum"] / 1.001e6 - s["recorded"]) < 20, s
assert d["rooted_share"] > 0.95, d["rooted_share"]
assert d["profile"]["event"] in ("cpu-clock", "cycles") and d["profile"]["rate_hz"] == 999
assert 0 < d["cost"]["bpf_ns_per_sample"] < 50000, d["cost"]' "$TMP/x.json" "$(folded_sum "$TMP/x.folded")"
check_no_grep 'ffffffff[0-9a-f]{8}' "$TMP/x.folded" "no kernel address is printed"
finish
