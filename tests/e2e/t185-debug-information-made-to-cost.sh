#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug information in which a parser does not come to an end costs its own lines, a bounded time and no name: functions
# have those of the symbol table, what is missing is told, and other programs have their lines.
# alone: it judges times
# timeout: 240
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog inlines

recorded() { # DESC OPTIONS...; sets $took, ms
	local began=$EPOCHREALTIME

	rm -rf "$CACHE_DIRECTORY"
	check "$1" "$BPFPROF" oncpu -A -F 199 -o "$TMP/x.folded" -o "$TMP/x.txt" -o "$TMP/x.json" "${@:2}" 1
	took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
	check_ledger_closes "$TMP/x.json"
}

start "$PROGS/inlines" 200
other=$PID
recorded "without any" -p "$other"
usual=$took
check_grep '^inlines;.*middle_\[i\]' "$TMP/x.folded" "inlined calls are seen"

for kind in plain blocks ${NIGHTLY:+ranges attributes}; do # by day one that costs
	python3 "${0%/*}/hostile_dwarf.py" "$kind" "$TMP/made_$kind"
	chmod 755 "$TMP/made_$kind"
	start "$TMP/made_$kind"
	recorded "$kind" -p "$PID,$other"
	echo "# figure: $kind: $took ms, of which $usual without it"
	if [ "$kind" = plain ]; then
		check_grep '^made_plain;dwarf_burn' "$TMP/x.folded" "$kind: debug information is read"
	else
		check_between "$took" 0 $((usual + 5500)) "$kind: ms"
		check_grep "^made_$kind;burn" "$TMP/x.folded" "$kind: the symbol names the function"
		check_grep 'frames? without source lines and inlined calls: no time was left' "$TMP/x.txt" "$kind: is told"
	fi
	check_grep '^inlines;.*middle_\[i\]' "$TMP/x.folded" "$kind: the other program has its inlined calls"
	stop "$PID" KILL
done

# Ctrl-C while that is read.
start "$TMP/made_blocks"
start_bpfprof oncpu -p "$PID" -F 199 -o "$TMP/x.folded" 1
sleep 2.2
began=$EPOCHREALTIME
stop "$PID" INT
took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
check_is "$STATUS" 0 "Ctrl-C meanwhile: exit status"
check_between "$took" 0 1500 "Ctrl-C meanwhile: ms"
check_grep '^made_blocks;burn' "$TMP/x.folded" "Ctrl-C meanwhile: the function has its name"
finish
