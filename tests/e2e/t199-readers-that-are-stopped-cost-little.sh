#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Whoever reads for bpfprof is stopped, each of them, some before they did anything: the recording ends some seconds after
# its time at most, and says what is missing.
# alone: it judges times
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
need_prog nofp_libc

chmod 755 "$TMP"
for i in {1..12}; do
	cp "$PROGS/nofp_libc" "$TMP/program$i"
	chown 1234 "$TMP/program$i"
	start nice -n 19 "$TMP/program$i" 170
done

timed() { # COMMAND...; sets $took, in ms
	local begin=$EPOCHREALTIME

	timeout 60 "$@" >"$OUT" 2>"$ERR"
	STATUS=$?
	took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", 1000 * (b - a) }')
}

for command in oncpu offcpu; do
	record=("$BPFPROF" "$command" --no-symbol-cache -o "$TMP/x.folded" -o "$TMP/x.json" 1)
	timed "${record[@]}"
	check_is "$STATUS" 0 "$command: exit status"
	usual=$took
	timed python3 "${0%/*}/stop_readers.py" "${record[@]}"
	echo "# figure: $command took $usual ms, and $took ms when $(cat "$OUT") readers were stopped"
	check_is "$STATUS" 0 "$command, all stopped: exit status"
	check_between "$took" 1000 $((usual + 4000)) "$command, all stopped: ms"
	check_grep 'the process that read it died|hung or were ended|were ended' "$ERR" "$command: it is told"
	check_grep '^program[0-9]*;' "$TMP/x.folded" "$command: the samples are there"
	check_ledger_closes "$TMP/x.json"
done
finish
