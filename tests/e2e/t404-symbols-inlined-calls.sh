#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls that the compiler put into a function are frames; --no-inline leaves them out, --symbol-time limits the work.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need_prog inlines
cd "$TMP" || exit 1
# What an instruction takes on an emulated CPU is up to the emulator.
spare=$([ -n "${IN_GUEST:-}" ] && echo 14 || echo 8)

check "inlined calls" "$BPFPROF" oncpu -U -F 999 -f -A -o x.bpfprof -o x.json -- "$PROGS/inlines" 1
check_near "$(folded_pct "$OUT" ';main;outer;middle_\[i\];inner_\[i\]')" 66.7 $((spare - 2)) "share of the inlined call"
check_near "$(folded_pct "$OUT" ';main;outer(;|$)')" 98 3 "share of its function"
kept=("$CACHE_DIRECTORY"/*)
check "it keeps what it read" test -s "${kept[0]}"
check "and reads that" "$BPFPROF" oncpu -U -F 999 -f -- "$PROGS/inlines" 0.3
check_near "$(folded_pct "$OUT" ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
rm -r "$CACHE_DIRECTORY"
check "nothing is kept" "$BPFPROF" oncpu -U -F 999 -f --no-symbol-cache -- "$PROGS/inlines" 0.3
check_near "$(folded_pct "$OUT" ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
check "there is no folder" test ! -e "$CACHE_DIRECTORY"

# Each function has the line that most of it was at, and the share of what has a name.
of() { # FUNCTION: its source code at the line
	python3 -c 'import json, linecache, sys
f = next(f for f in json.load(open(sys.argv[1]))["functions"] if f["name"].split("_[")[0] == sys.argv[2])
print(linecache.getline(f["file"], f["line"]) if f["file"] else "none")' x.json "$1" >"$TMP/line"
}
if command -v python3 >/dev/null && [ -r "$ROOT/tests/progs/inlines.c" ]; then
	of inner
	check_grep 'burn_until' "$TMP/line" "inner has the line that calls burn_until()"
	of main
	check_grep 'outer\(' "$TMP/line" "main has the line that calls outer()"
	check "a report says the same" "$BPFPROF" report --json -U -A -o again.json x.bpfprof
	check "... of lines and names" python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a["functions"] != b["functions"] or a["names"] != b["names"] or a["names"]["named_pct"] < 99
         or not 55 < a["names"]["inlined_pct"] < 77)' x.json again.json
fi
check "a report without them" "$BPFPROF" report -f -A --no-inline x.bpfprof
check_near "$(folded_pct "$OUT" ';main;outer(;|$)')" 98 3 "share of the function"
check_no_grep 'inner|middle|_\[i\]' "$OUT" "no inlined call"
check "a report with them" "$BPFPROF" report -s x.bpfprof
check_grep '^ *[0-9.]+% +[0-9.]+% +inner +inlines' "$OUT" "the inlined call has the time that it takes itself"

check "a recording without them" "$BPFPROF" oncpu -U -F 999 -f --no-inline -o y.bpfprof -- "$PROGS/inlines" 0.3
check_no_grep 'inner|middle' "$OUT" "no inlined call"

check "without DWARF" "$BPFPROF" oncpu -U -F 999 -f --symbol-time 0 -- "$PROGS/inlines" 0.3
check_near "$(folded_pct "$OUT" ';main;outer(;|$)')" 98 3 "share of the function"
check_no_grep 'inner|middle' "$OUT" "no inlined call"
check "no time for it" "$BPFPROF" oncpu -U -F 999 -s --symbol-time 1ns -- "$PROGS/inlines" 0.3
check_grep '[0-9]+ frames without source lines and inlined calls: no time was left \(--symbol-time\)' "$OUT" "the summary says so"
check_grep '^ *[0-9.]+% +[0-9.]+% +outer +inlines' "$OUT" "names of functions are there"
finish
