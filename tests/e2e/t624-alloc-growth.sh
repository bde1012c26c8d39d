#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What makes a process larger: memory that is touched first, in bytes, by stack and kind of memory, but not that of files.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog faulter fault_kinds
page=$(getconf PAGESIZE)

of() { # PATTERN: weight of the stacks that match, in $TMP/x.folded
	awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { printf "%.0f\n", sum }' "$TMP/x.folded"
}

check "each page" "$BPFPROF" alloc --growth --every "$page" -o "$TMP/x.folded" -o "$TMP/x.json" -o "$TMP/x.txt" -o "$TMP/x.bpfprof" -- \
	"$PROGS/fault_kinds" "$TMP/pages"
cp "$OUT" "$TMP/truth"
check_folded "$TMP/x.folded"
while read -r memory function minor _; do
	[ "$memory" != file ] || minor=0
	check_near "$(of ";\\[${memory}\\];.*;${function}[; ]")" $((minor * page)) $((3 * page)) "bytes of $function in $memory"
done <"$TMP/truth"
check_near "$(of '\[file\]')" 0 0 "bytes in files"
check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
check_near "$(json "$TMP/x.json" samples seen)" $(($(json "$TMP/x.json" samples recorded) + \
	$(json "$TMP/x.json" samples filtered))) 0 "the ledger closes"
check_grep '"unit": "bytes"' "$TMP/x.json"
check_grep '^growth: .* of memory touched first, .*anonymous .*%' "$TMP/x.txt"
check "report" "$BPFPROF" report -o "$TMP/saved.folded" "$TMP/x.bpfprof"
check "as it was saved" cmp "$TMP/x.folded" "$TMP/saved.folded"

check "one page in 16" "$BPFPROF" alloc --growth --every $((16 * page)) -o "$TMP/x.folded" -- "$PROGS/faulter" 10000 2
check_near "$(of ';touch_pages [0-9]+$')" $((20000 * page)) $((600 * page)) "bytes of touch_pages, of every 16th page"
check_fail "--live" "$BPFPROF" alloc --growth --live -d 1
finish
