#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Which modules break stacks, with known shares of weight and what helps, from a saved profile and without root.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"

check "a profile with known breaks" "$GEN" broken "$TMP/x.bpfprof"
check "report --broken" "$BPFPROF" report --broken "$TMP/x.bpfprof"
cp "$OUT" "$TMP/table"
row() { # SHARE SAMPLES MODULE FUNCTION KEY: extended regular expressions
	check_grep "^ *$1 +$2  $3 +$4 +$5 \[[0-9]+\]$" "$TMP/table" "the row of $3, $5"
}
row '7\.5%' 100 'libold\.so\.2' 'hot\(int\)' no-unwind-data
row '3\.0%' 25 '\[jit\] java' '\[jit\]' no-unwind-data
row '2\.0%' 20 app recurse too-deep
row '1\.5%' 30 '\[none\] setup\.exe\?\[31m' - 32-bit
row '0\.9%' 10 'libnew\.so \(deleted\)' late no-table
row '0\.1%' 5 'libnew\.so \(deleted\)' late unreadable
check "heaviest first" sh -c "sed -n '2,7p' '$TMP/table' | sort -c -k1,1nr"
check_grep '^15\.0% of the weight in broken stacks, 190 samples; 85\.0% in complete ones$' <(tail -n 1 "$TMP/table") "the last line is the sum"
check_grep '^ +-> .*-fasynchronous-unwind-tables or$' "$TMP/table" "what helps against missing tables"
check_grep 'PreserveFramePointer$' "$TMP/table" "what helps Java"
check_grep '^ +-> raise --max-depth \(it was 127\)$' "$TMP/table" "what helps against cut stacks"
check "80 columns are enough" awk 'length > 80 { exit 1 }' "$TMP/table"
check_no_grep $'[\x01-\x08\x0b-\x1f\x7f]' "$TMP/table" "no control bytes"

check "as JSON" "$BPFPROF" report --broken --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/broken.json"
check "JSON says the same" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert (d["rooted_pct"], d["guessed_pct"], d["broken_pct"]) == (85, 4, 15), d
rows = [(r["end"], r["pct"], r["samples"], r["weight"]) for r in d["broken"]]
assert rows == [("no-unwind-data", 7.5, 100, 750), ("no-unwind-data", 3, 25, 300), ("too-deep", 2, 20, 200),
                ("32-bit", 1.5, 30, 150), ("no-table", 0.9, 10, 90), ("unreadable", 0.1, 5, 10)], rows
assert all(r["remedy"] and r["why"] for r in d["broken"])' "$TMP/broken.json"

check "the summary" "$BPFPROF" report -s "$TMP/x.bpfprof"
check_grep '^stacks +85\.0% of the samples in complete stacks$' "$OUT"
check_grep '^ +10\.5% broken: code without unwind data' "$OUT"
check_grep '^ +4\.0% contains frames unwound by frame pointer' "$OUT"
check_grep 'bpfprof report --broken FILE' "$OUT" "the summary says how to go on"
check "the summary as JSON" "$BPFPROF" report --json "$TMP/x.bpfprof"
cp "$OUT" "$TMP/summary.json"
check "its shares make 100" python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["stacks"]
assert s["rooted_pct"] == 85 and s["guessed_pct"] == 4, s
assert abs(s["rooted_pct"] + sum(s["ends"].values()) - 100) < 1e-4, s' "$TMP/summary.json"
finish
