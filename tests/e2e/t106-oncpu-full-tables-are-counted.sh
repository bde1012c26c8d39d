#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables that are full, far too small or not emptied in time: the total stays exact, and each loss has its name, in every
# output.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog many_stacks

check_losses() { # NAME, which is also the name of the loss
	check_grep "warning: .* samples lost: .*raise --max-" "$ERR"
	check "$1: the ledger closes and the folded lines add up to it" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
lines = sum(int(l.rsplit(" ", 1)[1]) for l in open(sys.argv[2]))
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert lines == s["recorded"] + s["lost"], (lines, s)
assert s["lost"] > 100 and s["recorded"] > 10, s
assert s["lost_by"][sys.argv[3]] > 100, s' "$TMP/x.json" "$TMP/x.folded" "$1"
	check_grep "^\[lost\];\[$1\] [0-9]+$" "$TMP/x.folded"
	check_grep "LOST: .*raise --max-" "$TMP/x.txt"
}

args=(oncpu --call-graph fp -U -F 4999 -o "$TMP/x.json" -o "$TMP/x.txt" -o "$TMP/x.folded")
check "16 slots" "$BPFPROF" "${args[@]}" --max-stacks 16 1 -- "$PROGS/many_stacks" 3 28
check_losses stack-table-full

# While the recorder is stopped nobody empties the log.
"$BPFPROF" "${args[@]}" --stack-mem 1 --max-stacks 16384 60 -- "$PROGS/many_stacks" 60 28 >"$OUT" 2>"$ERR" &
recorder=$!
loads=${IN_GUEST:+8} # seconds, until the programs run
sleep "${loads:-2}"
kill -STOP $recorder
sleep 4
kill -CONT $recorder
kill -INT $recorder
wait $recorder
check_near $? 0 0 "1 MB in all, and stopped for a while: exit status"
check_losses frame-arena-full
finish
