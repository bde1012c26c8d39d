#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that burns 50/30/20 % in three functions is shown so, within 3 points, at 999 Hz over 5 s.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog spin_abc

start "$PROGS/spin_abc" 20
cpu_ms() { # of the target; the machine may be busy with other things too
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$PID/stat"
}
before=$(cpu_ms)
check "oncpu records" "$BPFPROF" oncpu -p "$PID" -F 999 -f -o "$TMP/x.json" 5
after=$(cpu_ms)
check_folded "$OUT"
cp "$OUT" "$TMP/x.folded"
check_pct "$OUT" spin_a 50 3
check_pct "$OUT" spin_b 30 3
check_pct "$OUT" spin_c 20 3
check_pct "$OUT" main 100 2
check_grep '^spin_abc;([^;]+;)?main;spin_a' "$OUT"
expected=$(awk -v a="$before" -v b="$after" 'BEGIN { print int((b - a) * 0.999) }')
check_near "$(folded_sum "$OUT")" "$expected" $((expected / 10)) "samples for the CPU time of the target"
check "ledger and stacks" python3 -c 'import json,sys
d = json.load(open(sys.argv[1])); s = d["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"] and s["lost"] == 0, s
assert s["recorded"] == int(sys.argv[2]), s
assert d["profile"]["event"] == "cycles" or abs(s["period_sum"] / 1.001e6 - s["recorded"]) < 20, s
assert d["rooted_share"] > 0.95, d["rooted_share"]
assert d["profile"]["event"] in ("cpu-clock", "cycles") and d["profile"]["rate_hz"] == 999
assert 0 < d["cost"]["bpf_ns_per_sample"] < 50000, d["cost"]' "$TMP/x.json" "$(folded_sum "$OUT")"
check_no_grep 'ffffffff[0-9a-f]{8}' "$TMP/x.folded" "no kernel address is printed"
finish
