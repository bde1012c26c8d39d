#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables far too small: the total stays exact, and each loss has its name, in every output.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog many_stacks

record() { # NAME OPTIONS...
	local name=$1

	shift
	check "$name" "$BPFPROF" oncpu --call-graph fp -U -F 4999 "$@" -f -o "$TMP/x.json" -o "$TMP/x.txt" 1 -- "$PROGS/many_stacks" 3 28
	cp "$OUT" "$TMP/x.folded"
	check_grep "warning: .* samples lost: .*raise --max-" "$ERR"
	check "$name: the ledger closes and the folded lines add up to it" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
lines = sum(int(l.rsplit(" ", 1)[1]) for l in open(sys.argv[2]))
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert lines == s["recorded"] + s["lost"], (lines, s)
assert s["lost"] > 100 and s["recorded"] > 10, s
assert s["lost_by"][sys.argv[3]] > 100, s' "$TMP/x.json" "$TMP/x.folded" "$lost"
	check_grep "^\[lost\];\[$lost\] [0-9]+$" "$TMP/x.folded"
	check_grep "LOST: .*raise --max-" "$TMP/x.txt"
}
lost=stack-table-full
record "16 slots" --max-stacks 16
lost=frame-arena-full
record "1 MB in all" --max-mem 1
finish
