#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables too small for the threads there are: what finds no count, running time too, is seen as well as lost.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_crowd

check "recorded" "$BPFPROF" wall --per-thread --max-stacks 16 -f -o "$TMP/x.json" -- "$PROGS/waits_crowd" 60 1
check_grep "warning: .* waits lost: .*raise --max-" "$ERR"
check "the ledger closes" python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["samples"]
assert s["seen"] == s["recorded"] + s["filtered"] + s["lost"], s
assert s["lost_by"]["count-table-full"] > 60, s' "$TMP/x.json"
finish
