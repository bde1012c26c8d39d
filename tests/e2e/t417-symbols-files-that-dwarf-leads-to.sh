#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What debug files share (dwz) is found by a path that is relative to the file; where it is missing, and where the other half
# of a split unit (.dwo) is, the summary says which file that is, and inlined calls without a name do not count as named.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need gcc python3
need_prog inlines
source=$ROOT/tests/progs/inlines.c
[ -r "$source" ] || skip "needs $source"
mkdir "$TMP/build" && cd "$TMP/build" || exit 1
spare=$([ -n "${IN_GUEST:-}" ] && echo 14 || echo 8)
record=("$BPFPROF" oncpu -U -F 999 --no-symbol-cache)

named() { # FILE
	json "$1" names named_pct
}

missing() { # FILE; the first one
	python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))["names"]["missing"][0]
print(*(row[key] for key in ("file", "missing", "kind", "files", "remedy")))' "$1"
}

# --- split DWARF ---

check "it compiles" gcc -O2 -g -gsplit-dwarf "$source" -o split
dwo=$(echo "$PWD"/*.dwo)
check "split DWARF" "${record[@]}" -s -o x.folded -- ./split 0.3
check_near "$(folded_pct x.folded ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
check_no_grep 'dwo' "$OUT" "nothing is missing"
rm "$dwo"
check "... without its other half" "${record[@]}" -s -o x.folded -o x.json -o x.bpfprof -- ./split 0.3
check_no_grep 'inner' x.folded "there are no inlined calls"
check_grep "/split: inlined calls and lines of who makes them are missing: there is no $dwo " "$OUT" "the summary says why"
check_grep "there is no $dwo .split DWARF., nor a package with it, .*/split.dwp: keep it there" "$OUT" "and where a package would be"
missing x.json >told
check "JSON: $(cat told)" cmp told - <<<"$PWD/split $dwo dwo 1 keep it there, or its package beside the program, or build without -gsplit-dwarf"
grep "there is no $dwo" "$OUT" >said
check "a report" "$BPFPROF" report -s x.bpfprof
check_grep "$(sed 's/[().]/./g' said)" "$OUT" "says so, too"

# --- DWARF that is not read ---

if objcopy --compress-debug-sections=zstd "$PROGS/inlines" packed 2>/dev/null && readelf -tW packed | grep -q COMPRESSED; then
	check "compressed with zstd" "${record[@]}" -s -o x.folded -o x.json -- ./packed 0.3
	check_grep "/packed: inlined calls and lines are missing: its DWARF is compressed with zstd, which is not read: objcopy " "$OUT" "it is told"
	check_no_grep 'no time was left' "$OUT" "it is no matter of time"
	missing x.json >told
	check "JSON: $(cat told)" cmp told - <<<"$PWD/packed $PWD/packed zstd 1 objcopy --decompress-debug-sections"
fi

# --- dwz ---

if command -v dwz >/dev/null; then
	cp "$PROGS/inlines" one && cp one two && mkdir shared
	check "dwz" dwz -m shared/names.dwz -M shared/names.dwz one two
	cd /
	check "a relative path" "${record[@]}" -s -o "$TMP/y.folded" -o "$TMP/y.json" -- "$TMP/build/one" 0.3
	check_near "$(folded_pct "$TMP/y.folded" ';main;outer;middle;inner')" 66.7 "$spare" "share of the inlined call"
	check "named: $(named "$TMP/y.json") %" awk -v p="$(named "$TMP/y.json")" 'BEGIN { exit !(p > 95) }'
	rm "$TMP/build/shared/names.dwz"
	check "... to nothing" "${record[@]}" -s -A -o "$TMP/y.folded" -o "$TMP/y.json" -- "$TMP/build/one" 0.3
	check_grep ';outer;\[inlined\]_\[i\]' "$TMP/y.folded" "inlined calls without a name"
	check_near "$(named "$TMP/y.json")" 33.3 "$spare" "share that is named"
	check_grep '^ +[0-9.]+% .*/one: calls that the compiler put into others, whose names are in a file that is missing' "$OUT"
	check_grep "/one: names of inlined calls are in $TMP/build/shared/names.dwz .dwz., which is not there" "$OUT" "the file"
	missing "$TMP/y.json" >"$TMP/told"
	check "JSON: $(cat "$TMP/told")" cmp "$TMP/told" - \
		<<<"$TMP/build/one $TMP/build/shared/names.dwz dwz 1 install it with the debug symbols, or put it there"
fi
finish
